"""A word for a device, as Lightning knows it."""

from __future__ import annotations

import torch
from lightning_fabric import Fabric

from .. import check
from . import _check


def fabric_of(device: str | Fabric) -> Fabric:
    """The Fabric of "auto" (a GPU where there is one), "cpu", "cuda", "cuda:1" or "mps"; one that is given stays as it is."""
    if isinstance(device, Fabric):
        return device
    name = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else str(device)
    kind, _, index = name.partition(":")
    check.one_of(kind, ["cpu", "cuda", "mps"], "device")
    _check.device_there(kind, index)
    return Fabric(accelerator=kind, devices=[int(index)] if index and kind != "cpu" else 1)
