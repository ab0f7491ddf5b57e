"""A word for a device, as torch and Lightning know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .. import check

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def fabric_of(device: str | Fabric) -> Fabric:
    """The Fabric of "auto" (a GPU where there is one), "cpu", "cuda", "cuda:1" or "mps"; one that is given stays as it is."""
    from lightning_fabric import Fabric

    if isinstance(device, Fabric):
        return device
    kind, index = _named(device)
    return Fabric(accelerator=kind, devices=1 if index is None else [index])


def device_of(device: str | Fabric) -> torch.device:
    """The device of such a word, or of a Fabric; a word is read without loading Lightning."""
    if not isinstance(device, str):
        return fabric_of(device).device
    kind, index = _named(device)
    return torch.device(kind) if kind == "cpu" else torch.device(kind, index or 0)


def _named(device: object) -> tuple[str, int | None]:
    """The kind of device that a word names, and which of them."""
    name = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else str(device)
    kind, _, index = name.partition(":")
    check.one_of(kind, ["cpu", "cuda", "mps"], "device")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}[kind]
    if there == 0 or (index and not (index.isdecimal() and int(index) < there)):
        asked = f"{kind}:{index}" if index else kind
        raise ValueError(f"device={asked!r}, but torch sees {there} {kind.upper()} device(s) here; use device='auto' or 'cpu'")
    return kind, int(index) if index and kind != "cpu" else None
