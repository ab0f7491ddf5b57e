"""Checkpoints, to resume an interrupted training: one safetensors file, no pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..core.files import read_file, write_atomically


class Checkpoint:
    """The file from which an interrupted fit resumes.

    Args:
        path: Path of the file.
        fingerprint: Digest of the data and the settings. Reading the checkpoint of another fit raises.
        seconds: Minimum time between two writes.
    """

    file_format = "lexplain.checkpoint/1"

    def __init__(self, path: str | Path, fingerprint: str, *, seconds: float = 10.0) -> None:
        self.path, self.fingerprint, self.seconds = Path(path), fingerprint, seconds

    def write(self, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
        """Write the state of a training to the file."""
        write_atomically(self.path, tensors, {"format": self.file_format, "fingerprint": self.fingerprint, **record})

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The saved state, or None if the file does not exist."""
        if not self.path.exists():
            return None
        tensors, record = read_file(self.path, self.file_format)
        if record["fingerprint"] != self.fingerprint:
            raise ValueError(f"{self.path} is the checkpoint of another fit (other data or settings). Pass another path, or delete it.")
        return tensors, record


def pack(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a state, with a prefix before their names."""
    return {f"{prefix}/{name}": tensor for name, tensor in state.items()}


def unpack(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those of the tensors that `pack` named with the prefix, under their own names."""
    return {name.removeprefix(f"{prefix}/"): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}/")}


def pack_optimiser(prefix: str, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The tensors of an optimiser's state, named by parameter and entry."""
    state = optimiser.state_dict()["state"]
    return {f"{prefix}/{index}/{entry}": value for index, entries in state.items() for entry, value in entries.items()}


def unpack_optimiser(prefix: str, tensors: Mapping[str, Tensor], optimiser: torch.optim.Optimizer) -> None:
    """Load into an optimiser the state that `pack_optimiser` returned."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in unpack(prefix, tensors).items():
        index, entry = name.split("/")
        state.setdefault(int(index), {})[entry] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
