"""Tables of the papers: their cells, the function that computes a cell, and the page."""

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
Figures: TypeAlias = Mapping[str, Callable[[], Drawn]]  # file name → function that draws the figure


@dataclass(frozen=True)
class Run:
    """One call of `lexplain reproduce`. See `reproduce` for its fields."""

    name: str
    quick: bool = False
    seeds: int = 3
    out: Path = Path("docs/results")
    workers: int = 1
    recompute: bool = False
    render_only: bool = False

    @property
    def folder(self) -> Path:
        """The folder of the page and its cells."""
        return self.out / (f"{self.name}-quick" if self.quick else self.name)

    @property
    def command(self) -> str:
        """The command that writes the same page."""
        return f"lexplain reproduce {self.name}{' --quick' if self.quick else ''} --seeds {self.seeds}"


@dataclass(frozen=True)
class Results:
    """The finished cells of a run."""

    run: Run
    cells: Sequence[Cell]  # all cells of the page, finished or not
    records: Mapping[str, Record]  # of finished cells, by key

    def frame(self, cells: Iterable[Cell] | None = None, *, percent: Iterable[str] = ()) -> pd.DataFrame:
        """One row per finished cell, in the order of the cells, with some columns in percent. Raise if no cell is finished."""
        keys = {cell.key: None for cell in (self.cells if cells is None else cells)}
        frame = check.not_empty(pd.DataFrame([self.records[key] for key in keys if key in self.records]))
        return frame.assign(**{name: 100 * frame[name] for name in percent if name in frame})


@dataclass(frozen=True)
class Page:
    """The content of a page: its numbers, its sections and its figures."""

    frame: pd.DataFrame  # one row per finished cell, for results.csv
    sections: Sequence[Section]
    figures: Figures = field(default_factory=dict)
    notes: str = ""  # in addition to those of the table


@dataclass(frozen=True)
class Table:
    """One name of `lexplain reproduce`.

    Args:
        name: Name of the table and of its folder.
        about: One line for the list of tables.
        title: Title of the page.
        notes: Text that explains the numbers.
        cells: Function that returns the cells, given whether to be quick and the number of seeds.
        compute: Function that returns the numbers of a cell. It also gets the folder of the table, for files of the cell.
        page: Function that returns the page of the finished cells.
        revision: Number that is increased when the numbers of the table change.
        shares: Function of a cell and the folder that yields what the cell shares with others; see `experiments.store.run_cells`.
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
        """Compute the missing cells, and return all finished ones."""
        cells = self.cells(run.quick, run.seeds)
        records = run_cells(
            cells,
            partial(_in_folder, self.compute, run.folder),
            run.folder / "cells",
            revision=self.revision,
            workers=run.workers,
            recompute=run.recompute,
            render_only=run.render_only,
            shares=None if self.shares is None else partial(_in_folder, self.shares, run.folder),
        )
        return Results(run, cells, {record["key"]: record for record in records})


def _in_folder(function: Callable[[Cell, Path], Result], folder: Path, cell: Cell) -> Result:
    """Call a function of a cell and of the folder of its table."""
    return function(cell, folder)


# Names of the columns of a cell, by the key of the measure.
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
    """The means of some measures of `auditing.MEASURES`, by column. Measures that cannot be computed are left out."""
    return {COLUMNS[key]: value for key, value in means(evaluation, keys).items()}


def in_order(frame: pd.DataFrame, columns: list[str], order: Iterable[object]) -> pd.DataFrame:
    """The rows sorted by some columns, whose values are in a given order."""
    places = {name: place for place, name in enumerate(order)}
    return frame.sort_values(columns, key=lambda column: column.map(places), kind="stable")
