"""Results as pages: numbers, where they came from, figures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from .. import __version__
from ..core.files import write_bytes
from ..experiments.store import machine
from ..metrics.statistics import decimals
from .cells import Cell, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIGITS = {4: ("price", "cost", "ms"), 3: ("AUROC", "eAUROC", "encoding", "median rank"), 2: ("wrong panel %",)}  # else 1
LEAST = "_seconds"  # ends the names of times, of which the least is shown: the others waited for what ran beside them
MARK = " †"  # after the name of a row some of whose cells earlier code computed
MANY = 5  # seeds in a row that are still named one by one
Figures: TypeAlias = "Mapping[str, Callable[[], Figure | Axes | None]]"  # names of files to what draws them; None: nothing to draw


def mean_and_spread(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """The mean over seeds of each group, with the standard deviation in brackets where there are several; of times, the least.

    Groups with cells of earlier code are marked.
    """
    groups = frame.groupby(list(by), sort=False)
    means, spreads = groups[list(columns)].mean(), groups[list(columns)].std()
    text = {name: [_text(name, mean, spread) for mean, spread in zip(means[name], spreads[name], strict=True)] for name in columns}
    least = {name: [decimals(value, 1) for value in groups[name].min()] for name in columns if name.endswith(LEAST)}
    table = pd.DataFrame({"seeds": groups.size(), **text, **least}, index=means.index).reset_index()
    if "fresh" in frame:
        name = "label" if "label" in by else by[-1]
        fresh = groups["fresh"].all()
        table[name] = [f"{each}{'' if good else MARK}" for each, good in zip(table[name], fresh, strict=True)]
    return table


def mark_of(frame: pd.DataFrame) -> str:
    """The mark of a row that is made of these cells: nothing where all are of the present code."""
    return "" if "fresh" not in frame or frame["fresh"].all() else MARK


def _text(name: str, mean: float, spread: float) -> str:
    digits = next((count for count, names in DIGITS.items() if name in names), 1)
    return decimals(mean, digits) + ("" if pd.isna(spread) else f" ({decimals(spread, digits)})")


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown."""
    lines = [table.columns.tolist(), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def comparison_page(command: str, lead: str, tables: Mapping[str, pd.DataFrame]) -> str:
    """The tables of a comparison as a Markdown page that names the command, the machine and the date."""
    head = [
        "# Explainers compared",
        f"Written by `{command}` (lexplain {__version__}).",
        f"Machine: {machine()}. Date: {date.today().isoformat()}.",
        lead,
    ]
    return "\n\n".join([*head, *(f"## {title}\n\n{markdown(table)}" for title, table in tables.items())]) + "\n"


def write_result(
    run: Run,
    *,
    title: str,
    notes: str,
    frame: pd.DataFrame,
    asked: Sequence[Cell],
    sections: Sequence[tuple[str, pd.DataFrame]],
    figures: Figures,
    beside: Sequence[pd.DataFrame] = (),
) -> Path:
    """Write README.md, results.csv and the figures of one reproduction; return the page.

    The page names the command, seeds, machine and date; how many of the cells asked for are computed, since an interrupted command writes
    a page all the same; and which of them earlier code computed.

    Args:
        run: which table, and where.
        title: of the page.
        notes: how to read the numbers.
        frame: one row a finished cell, for results.csv.
        asked: the cells that the page should be made of.
        sections: titles and tables.
        figures: drawn last; where nothing is to be computed, those that are there stay.
        beside: more finished cells, whose numbers are in some of the sections.
    """
    every = pd.concat([frame, *beside]).drop_duplicates("key")
    seeds = {int(seed) for seed in frame["seed"]}
    head = [
        f"# {title}",
        f"Written by `{run.command}` (lexplain {__version__}).",
        f"Seeds: {_listed(seeds)}. Machine: {'; '.join(sorted(set(every['machine'])))}. Date: {_dates(every)}.",
        f"{notes} {_how_to_read(sections) if len(seeds) > 1 else ''}".strip(),
        " ".join([_count(asked, every), *_unfinished(asked, every)]),
        *_older(every),
    ]
    body = [f"## {heading}\n\n{markdown(table)}" for heading, table in sections]
    body += [f"![{name}]({name}.svg)" for name, draw in figures.items() if _drawn(run, name, draw)]
    unknown = () if frame["code"].notna().any() else ("code",)
    plain = frame.drop(columns=[name for name in ("key", "options", "training", "fresh", *unknown) if name in frame])
    write_bytes(run.folder / "results.csv", plain.to_csv(index=False, float_format="%.6g").encode())
    return write_bytes(run.folder / "README.md", ("\n\n".join([*head, *body]) + "\n").encode())


def _drawn(run: Run, name: str, draw: Callable[[], Figure | Axes | None]) -> bool:
    """Draw a figure into its file; whether there is one."""
    from ..report import save

    path = run.folder / f"{name}.svg"
    if run.only_read:
        return path.exists()
    figure = draw()
    if figure is not None:
        save(figure, path)
    return figure is not None


def _how_to_read(sections: Sequence[tuple[str, pd.DataFrame]]) -> str:
    timed = any(str(name).endswith(LEAST) for _, table in sections for name in table.columns)
    return f"Mean over seeds, with the standard deviation in brackets{'; of seconds, the least' if timed else ''}."


def _dates(frame: pd.DataFrame) -> str:
    """When cells were computed: a day, or from when to when."""
    first, last = frame["date"].min(), frame["date"].max()
    return str(first) if first == last else f"{first} to {last}"


def _listed(numbers: Collection[int]) -> str:
    """Whole numbers in order; many in a row by the first and the last."""
    ordered = sorted(numbers)
    runs = [list(run) for _, run in groupby(ordered, key=lambda number: number - ordered.index(number))]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > MANY else ", ".join(map(str, run)) for run in runs)


def _count(asked: Sequence[Cell], frame: pd.DataFrame) -> str:
    """How many of the cells asked for are there."""
    wanted = {cell.key for cell in asked}
    there = len(wanted & set(frame["key"]))
    return f"{there} of {len(wanted)} cells are computed."


def _unfinished(asked: Sequence[Cell], frame: pd.DataFrame) -> list[str]:
    """A sentence that names the cells asked for that a frame has not got."""
    there = set(frame["key"])
    several = len({cell.data for cell in asked}) > 1
    sizes = {label: {cell.options.get("keep") for cell in asked if cell.label == label} for label in {cell.label for cell in asked}}
    seeds: dict[str, set[int]] = {}
    for cell in asked:
        if cell.key not in there:
            size = cell.options.get("keep")
            words = [cell.label, *([cell.data] if several and cell.data != cell.label else [])]
            if isinstance(size, float):
                words.append(f"{100 * size:g} %")
            elif size is not None and len(sizes[cell.label]) > 1:
                words.append(f"{size} kept")
            seeds.setdefault(", ".join(words), set()).add(cell.seed)
    named = [f"{name} (seed{'s'[: len(some) - 1]} {_listed(some)})" for name, some in seeds.items()]
    return [f"**Not finished:** {'; '.join(named)}. The command goes on with them."] if named else []


def _older(frame: pd.DataFrame) -> list[str]:
    """A line that names the rows with cells of earlier code, and when these were computed."""
    if frame["fresh"].all():
        return []
    labels: dict[str, list[str]] = {}
    for label, cells in frame[~frame["fresh"].astype(bool)].groupby("label", sort=False):
        labels.setdefault(_dates(cells), []).append(f"`{label}`")
    named = "; ".join(f"{', '.join(some)} ({dates})" for dates, some in labels.items())
    return [f"† **Computed by earlier code:** {named}. `--again` computes these cells anew."]
