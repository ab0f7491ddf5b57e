"""What a table of the papers is: its cells, what computes them, and the page that is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import pandas as pd

from .. import check
from ..evaluation import Evaluation
from ..experiments.cell import Cell
from ..experiments.store import Record, run_cells
from ..measures import means

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Result = TypeVar("Result")
Section: TypeAlias = tuple[str, pd.DataFrame]  # a heading, and the table below it
Drawn: TypeAlias = "Figure | Axes | None"  # None: nothing to draw
Figures: TypeAlias = Mapping[str, Callable[[], Drawn]]  # names of files to what draws them


@dataclass(frozen=True)
class Run:
    """One call of `lexplain reproduce`; see `reproduce` for what its fields mean."""

    name: str
    quick: bool = False
    seeds: int = 3
    out: Path = Path("docs/results")
    workers: int = 1
    recompute: bool = False
    render_only: bool = False

    @property
    def folder(self) -> Path:
        """Where the page and its cells lie."""
        return self.out / (f"{self.name}-quick" if self.quick else self.name)

    @property
    def command(self) -> str:
        """What to write on the command line for the same page."""
        return f"lexplain reproduce {self.name}{' --quick' if self.quick else ''} --seeds {self.seeds}"


@dataclass(frozen=True)
class Results:
    """The finished cells of a run."""

    run: Run
    asked: Sequence[Cell]  # all cells that the page should be made of
    records: Mapping[str, Record]  # of the finished ones, by their keys

    def frame(self, cells: Iterable[Cell] | None = None, *, percent: Iterable[str] = ()) -> pd.DataFrame:
        """One row a finished cell, of some cells or all, in their order; some columns in percent. None finished is refused."""
        wanted = {cell.key: None for cell in (self.asked if cells is None else cells)}
        frame = check.not_empty(pd.DataFrame([self.records[key] for key in wanted if key in self.records]))
        return frame.assign(**{name: 100 * frame[name] for name in percent if name in frame})


@dataclass(frozen=True)
class Page:
    """What a table writes: its numbers, its sections and its figures."""

    frame: pd.DataFrame  # one row a finished cell, for results.csv
    sections: Sequence[Section]
    figures: Figures = field(default_factory=dict)
    notes: str = ""  # beside those of the table


@dataclass(frozen=True)
class Table:
    """One name of `lexplain reproduce`.

    Args:
        name: of the table, and of its folder.
        about: one line for the menu.
        title: of the page.
        notes: how to read the numbers.
        cells: whether it is to be quick, and how many seeds, to the cells.
        compute: a cell, and the folder of the table for what is kept beside it, to what came out.
        page: the finished cells to the page.
        revision: raised when the numbers of the table change.
        shares: a cell and that folder to what it shares with others; see `experiments.store.run_cells`.
    """

    name: str
    about: str
    title: str
    notes: str
    cells: Callable[[bool, int], list[Cell]]
    compute: Callable[[Cell, Path], Record]
    page: Callable[[Results], Page]
    revision: int = 1
    shares: Callable[[Cell, Path], Iterable[tuple[str, Callable[[], object]]]] | None = None

    def results(self, run: Run) -> Results:
        """Compute the cells that are missing, and return all that are finished."""
        asked = self.cells(run.quick, run.seeds)
        records = run_cells(
            asked,
            partial(_beside, self.compute, run.folder),
            run.folder / "cells",
            revision=self.revision,
            workers=run.workers,
            recompute=run.recompute,
            render_only=run.render_only,
            shares=None if self.shares is None else partial(_beside, self.shares, run.folder),
        )
        return Results(run, asked, {record["key"]: record for record in records})


def _beside(function: Callable[[Cell, Path], Result], folder: Path, cell: Cell) -> Result:
    """Call a function of a cell and of the folder of its table."""
    return function(cell, folder)


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


def measure_means(evaluation: Evaluation, keys: Sequence[str] = tuple(COLUMNS)) -> dict[str, float]:
    """The means of some measures of `auditing.MEASURES`, by column; those that lack what they need, such as the truth, are left out."""
    return {COLUMNS[key]: value for key, value in means(evaluation, keys).items()}


def in_order(frame: pd.DataFrame, columns: list[str], order: Iterable[object]) -> pd.DataFrame:
    """The rows in the order in which the values of some columns are named."""
    places = {name: place for place, name in enumerate(order)}
    return frame.sort_values(columns, key=lambda column: column.map(places), kind="stable")
