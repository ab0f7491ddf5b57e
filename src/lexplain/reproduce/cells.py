"""Experiments as cells: each is computed once, kept as a small JSON file, and put together into tables and figures."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from .. import check
from ..comparison.running import finished, processes, write_json


@dataclass(frozen=True)
class Cell:
    """One fit and its evaluation: a data set, a recipe with its settings, a seed."""

    data: str
    label: str  # the row of the table it belongs to
    method: str  # a recipe's name
    seed: int
    options: dict[str, Any] = field(default_factory=dict)  # of the recipe, plain values
    training: dict[str, Any] = field(default_factory=dict)  # of the training

    @property
    def key(self) -> str:
        """A name that the same cell always has."""
        text = json.dumps(asdict(self), sort_keys=True)
        return f"{self.data}-{self.label}-{self.seed}-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}".replace(
            " ", "_"
        ).replace("/", "_")


def machine() -> str:
    """What computed a cell, in a few words."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        name = models[0] if models else name
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{name}, {os.cpu_count()} cores{gpu}, torch {torch.__version__}"


def run_cells(cells: Sequence[Cell], compute: Callable[[Cell], dict[str, float]], store: Path, *, workers: int = 1) -> pd.DataFrame:
    """Compute the cells that are not in the store yet, and return one row a finished cell.

    An interruption (Ctrl-C) leaves the finished ones, which are returned; the same call goes on with the rest.
    """
    store.mkdir(parents=True, exist_ok=True)
    missing = [cell for cell in cells if not (store / f"{cell.key}.json").exists()]
    with processes(workers) as pool:
        for cell, numbers in finished(missing, partial(_timed, compute), pool=pool, before=len(cells) - len(missing)):
            write_json(store / f"{cell.key}.json", {**asdict(cell), **numbers})
    done = [store / f"{cell.key}.json" for cell in cells]
    return check.some_cells(pd.DataFrame(json.loads(path.read_text()) for path in done if path.exists()))


def _timed(compute: Callable[[Cell], dict[str, float]], cell: Cell) -> dict[str, Any]:
    return {**compute(cell), "machine": machine(), "date": date.today().isoformat()}
