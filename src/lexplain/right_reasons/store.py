"""Files of `RightReasons` models: one safetensors file with JSON metadata, no pickle."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from ..core import outputs_of, seeded
from ..core.files import read_file, refuse_other_weights, write_atomically
from ..core.rows import plain
from ..models import Target
from ..training import device_of
from .fitting import Result, default_network
from .inputs import restored

if TYPE_CHECKING:
    from lightning_fabric import Fabric

    from .right_reasons import RightReasons

FORMAT = "lexplain.right_reasons/2"


def save(model: RightReasons, path: Path) -> None:
    """Write a fitted model."""
    target: Target = model.target_
    seed = model.random_state
    record = {
        "format": FORMAT,
        "user_network": model.network is not None,
        "inputs": model.inputs_.state(),
        "features_given": model.features is not None,
        "parameters": {name: plain(value) for name, value in model._settings().items() if name != "random_state"},
        "random_state": int(seed) if isinstance(seed, (int, np.integer)) else None,
        "outputs": {"count": target.outputs.count, "real": target.outputs.real},
        "target": {"mean": target.mean, "scale": target.scale},
        "classes": None if target.classes is None else target.classes.tolist(),
        "strength": model.strength_,
        "still_used": model.still_used_,
        "history": model.history_.to_dict("list"),
    }
    write_atomically(path, model.network_.state_dict(), record)


def load(path: Path, cls: type[RightReasons], network: nn.Module | None, device: str | Fabric) -> RightReasons:
    """Read a fitted model of class `cls`."""
    tensors, record = read_file(path, FORMAT)
    if record.get("user_network") and network is None:
        raise ValueError(f"{path} contains the weights of your own network. Build it again and use RightReasons.load(path, network=...).")
    try:
        model = cls(network, device=device, random_state=record["random_state"], **record["parameters"])
        return _fill(model, path, tensors, record)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: its metadata does not fit ({error!r}). Save the model again.") from error


def _fill(model: RightReasons, path: Path, tensors: dict[str, Tensor], record: dict[str, Any]) -> RightReasons:
    """Set the attributes that fit sets."""
    inputs, outputs = restored(record["inputs"]), outputs_of(**record["outputs"])
    model.features = inputs.features if record["features_given"] else None
    with seeded(0):  # keeps the caller's random state; all weights are read from the file
        trained = default_network(inputs.shape, outputs) if model.network is None else copy.deepcopy(model.network)
    refuse_other_weights(path, tensors, trained.state_dict(), "network")
    trained.load_state_dict(tensors)
    trained.to(device_of(model.device)).eval().requires_grad_(False)
    classes = None if record["classes"] is None else np.asarray(record["classes"])
    target = Target(torch.zeros(0), outputs, classes, **record["target"])
    model._set_fitted(inputs, target, Result(trained, pd.DataFrame(record["history"]), record["strength"], record["still_used"]))
    return model
