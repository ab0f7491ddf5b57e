"""What an interrupted training is resumed from: one safetensors file, no pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..core.files import read_file, write_atomically


class Checkpoint:
    """The file an interrupted fit goes on from.

    Args:
        path: where it lies.
        fingerprint: of the data and the settings; another fit's checkpoint is refused.
        seconds: least time between two writes.
    """

    file_format = "lexplain.checkpoint/1"

    def __init__(self, path: str | Path, fingerprint: str, *, seconds: float = 10.0) -> None:
        self.path, self.fingerprint, self.seconds = Path(path), fingerprint, seconds

    def write(self, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        """Keep the state of a training."""
        write_atomically(self.path, tensors, {"format": self.file_format, "fingerprint": self.fingerprint, **record})

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The state kept, or None where there is none yet."""
        if not self.path.exists():
            return None
        tensors, record = read_file(self.path, self.file_format)
        if record["fingerprint"] != self.fingerprint:
            raise ValueError(f"{self.path} is the checkpoint of another fit (other data or settings); give another path, or delete it")
        return tensors, record


def pack(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Name the tensors of a state below a prefix."""
    return {f"{prefix}/{name}": tensor for name, tensor in state.items()}


def unpack(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that `pack` named."""
    return {name.removeprefix(f"{prefix}/"): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}/")}


def pack_optimiser(prefix: str, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The tensors of an optimiser's state, named by parameter and slot."""
    state = optimiser.state_dict()["state"]
    return {f"{prefix}/{index}/{slot}": value for index, slots in state.items() for slot, value in slots.items()}


def unpack_optimiser(prefix: str, tensors: Mapping[str, Tensor], optimiser: torch.optim.Optimizer) -> None:
    """Give an optimiser the state that `pack_optimiser` read."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in unpack(prefix, tensors).items():
        index, slot = name.split("/")
        state.setdefault(int(index), {})[slot] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
