"""Experiments as cells, and one call of `lexplain reproduce`, which computes those of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from .. import check
from ..auditing import means
from ..core import Part, Trial
from ..core.contracts import Features
from ..core.digest import short_digest
from ..evaluation import Evaluation
from ..experiments.code_digest import code_digest
from ..experiments.store import Prepare, run_cells
from ..models import Problem


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
        return f"{self.data}-{self.label}-{self.seed}-{short_digest(asdict(self))}".replace(" ", "_").replace("/", "_")

    def facts(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Run:
    """One call of `lexplain reproduce`.

    Args:
        name: of the table.
        quick: smaller sizes, in a folder of their own.
        seeds: how many times to repeat it.
        out: the folder of all results.
        workers: processes.
        again: compute cells anew that earlier code computed.
        only_read: compute nothing: write the page of the cells that are there, and leave its figures as they are.
    """

    name: str
    quick: bool = False
    seeds: int = 3
    out: Path = Path("docs/results")
    workers: int = 1
    again: bool = False
    only_read: bool = False

    @property
    def folder(self) -> Path:
        """Where the page and its cells lie."""
        return self.out / (f"{self.name}-quick" if self.quick else self.name)

    @property
    def command(self) -> str:
        """What to write on the command line for the same page."""
        return f"lexplain reproduce {self.name}{' --quick' if self.quick else ''} --seeds {self.seeds}"

    def cells(
        self, cells: Sequence[Cell], compute: Callable[[Cell], Mapping[str, Any]], *, prepare: Prepare[Cell] | None = None
    ) -> pd.DataFrame:
        """Compute what is missing of some cells, and return one row a finished cell; see `comparison.store.run_cells`."""
        records = run_cells(
            cells,
            compute,
            self.folder / "cells",
            code=code_digest(compute),
            workers=self.workers,
            again=self.again,
            only_read=self.only_read,
            prepare=prepare,
        )
        return check.some_cells(pd.DataFrame(records))


def trial_of(features: Features, part: Part, most: int | None = None) -> Trial:
    """Rows with their labels as targets; no more than so many of them."""
    rows = Problem.of(part.x, part.y, features=features).trial()
    return rows if most is None else rows.take(slice(0, most))


# What the columns of a cell are called, by the key of the measure that they hold.
COLUMNS = {
    "acc": "ACC",
    "auroc": "AUROC",
    "eacc": "eACC",
    "eauroc": "eAUROC",
    "encoding": "encoding",
    "mask_only_acc": "mask-only ACC",
    "kept": "kept",
    "empty": "empty",
    "tpr": "TPR",
    "fdr": "FDR",
    "truth_auroc": "truth AUROC",
    "median_rank": "median rank",
    "cfsr": "CFSR",
}


def measured(evaluation: Evaluation, keys: Sequence[str] = tuple(COLUMNS)) -> dict[str, float]:
    """The means of some measures of `auditing.MEASURES`, by column; those that lack what they need, such as the truth, are left out."""
    return {COLUMNS[key]: value for key, value in means(evaluation, keys).items()}
