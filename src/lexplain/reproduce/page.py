"""Results as pages: numbers, their origin, and figures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd

from .. import __version__
from ..core.files import write_bytes
from ..measures.statistics import decimals
from .table import Drawn, Results, Run, Table

DIGITS = {
    4: ("price", "cost", "ms"),
    3: ("AUROC", "eAUROC", "encoding", "median rank", "verified", "own holds"),
    2: ("wrong panel %",),
}  # else 1
TIME_SUFFIX = "_seconds"  # of columns with times; their minimum is shown, because parallel processes delay the other runs
MARK = " †"  # after the name of a row with cells that were computed by earlier code
MAX_LISTED = 5  # longer ranges of seeds are shortened


def mean_and_spread(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """The mean over seeds of each group, with the standard deviation in brackets if there are several; of times, the minimum.

    Groups with cells of earlier code are marked.
    """
    groups = frame.groupby(list(by), sort=False)
    means, spreads = groups[list(columns)].mean(), groups[list(columns)].std()
    text = {name: [_text(name, mean, spread) for mean, spread in zip(means[name], spreads[name], strict=True)] for name in columns}
    least = {name: [decimals(value, 1) for value in groups[name].min()] for name in columns if name.endswith(TIME_SUFFIX)}
    table = pd.DataFrame({"seeds": groups.size(), **text, **least}, index=means.index).reset_index()
    name = "label" if "label" in by else by[-1]
    table[name] = [f"{each}{mark_of(part)}" for each, (_, part) in zip(table[name], groups, strict=True)]
    return table


def mark_of(frame: pd.DataFrame) -> str:
    """The mark of a row with these cells; empty if all of them were computed by the present code."""
    return "" if "fresh" not in frame or frame["fresh"].all() else MARK


def strip_of_seeds(frame: pd.DataFrame, column: str, axis: str, *, line: float, title: str, called: str) -> Drawn:
    """Draw one point per cell, with one line per label, one colour per seed, and a number for comparison."""
    from ..report import strip

    points = frame.rename(columns={column: axis}).assign(seeds="seed " + frame["seed"].astype(str))
    return strip(points, value=axis, by="label", colour="seeds", line=line, title=title, called=called)


def _text(name: str, mean: float, spread: float) -> str:
    digits = next((count for count, names in DIGITS.items() if name in names), 1)
    return decimals(mean, digits) + ("" if pd.isna(spread) else f" ({decimals(spread, digits)})")


def write_page(run: Run, table: Table, results: Results) -> Path:
    """Write README.md, results.csv and the figures of one reproduction, and return the path of README.md.

    The page contains the command, seeds, machine and date, the number of finished cells (an interrupted command writes a page too), and
    the cells that were computed by earlier code. Figures are drawn last. With `render_only`, existing figures are kept.
    """
    from ..report.comparison_page import markdown

    page = table.page(results)
    frame, sections = page.frame, page.sections
    all_cells = pd.concat([frame, results.frame()]).drop_duplicates("key")
    seeds, requested = {int(seed) for seed in frame["seed"]}, {cell.key for cell in results.cells}
    timed = any(str(name).endswith(TIME_SUFFIX) for _, section in sections for name in section.columns)
    how_to_read = f"Numbers are means over seeds, with the standard deviation in brackets{'; seconds are minima' if timed else ''}."
    head = [
        f"# {table.title}",
        f"Written by `{run.command}` (lexplain {__version__}).",
        f"Seeds: {_listed(seeds)}. Machine: {'; '.join(sorted(set(all_cells['machine'])))}. Date: {_dates(all_cells)}.",
        " ".join(filter(None, [table.notes, page.notes, how_to_read if len(seeds) > 1 else ""])),
        " ".join([f"{len(requested & set(results.records))} of {len(requested)} cells are computed.", *_unfinished(results)]),
        *_older(all_cells),
    ]
    body = [f"## {heading}\n\n{markdown(section)}" for heading, section in sections]
    body += [f"![{name}]({name}.svg)" for name, draw in page.figures.items() if _drawn(run, name, draw)]
    plain = frame.drop(columns=[name for name in ("key", "options", "training", "fresh", "revision") if name in frame])
    write_bytes(run.folder / "results.csv", plain.to_csv(index=False, float_format="%.6g").encode())
    return write_bytes(run.folder / "README.md", ("\n\n".join([*head, *body]) + "\n").encode())


def _drawn(run: Run, name: str, draw: Callable[[], Drawn]) -> bool:
    """Draw a figure into its file, and return whether the file exists."""
    from ..report import save

    path = run.folder / f"{name}.svg"
    if run.render_only:
        return path.exists()
    figure = draw()
    if figure is not None:
        save(figure, path)
    return figure is not None


def _dates(frame: pd.DataFrame) -> str:
    """The date of cells, or the first and the last date."""
    first, last = frame["date"].min(), frame["date"].max()
    return str(first) if first == last else f"{first} to {last}"


def _listed(numbers: Collection[int]) -> str:
    """Integers in order; long ranges are written as their first and last number."""
    ordered = sorted(numbers)
    runs = [list(run) for _, run in groupby(ordered, key=lambda number: number - ordered.index(number))]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > MAX_LISTED else ", ".join(map(str, run)) for run in runs)


def _unfinished(results: Results) -> list[str]:
    """A sentence that lists the cells that are not finished."""
    cells = results.cells
    several = len({cell.data for cell in cells}) > 1
    sizes = {label: {cell.options.get("keep") for cell in cells if cell.label == label} for label in {cell.label for cell in cells}}
    seeds: dict[str, set[int]] = {}
    for cell in cells:
        if cell.key not in results.records:
            size = cell.options.get("keep")
            words = [cell.label, *([cell.data] if several and cell.data != cell.label else [])]
            if isinstance(size, float):
                words.append(f"{100 * size:g} %")
            elif size is not None and len(sizes[cell.label]) > 1:
                words.append(f"{size} kept")
            seeds.setdefault(", ".join(words), set()).add(cell.seed)
    named = [f"{name} (seed{'s'[: len(numbers) - 1]} {_listed(numbers)})" for name, numbers in seeds.items()]
    return [f"**Not finished:** {'; '.join(named)}. Run the command again to compute them."] if named else []


def _older(frame: pd.DataFrame) -> list[str]:
    """A line that lists the rows with cells of earlier code, and the dates of these cells."""
    if frame["fresh"].all():
        return []
    labels: dict[str, list[str]] = {}
    for label, cells in frame[~frame["fresh"].astype(bool)].groupby("label", sort=False):
        labels.setdefault(_dates(cells), []).append(f"`{label}`")
    named = "; ".join(f"{', '.join(names)} ({dates})" for dates, names in labels.items())
    return [f"† **Computed by earlier code:** {named}. `--recompute` computes these cells again."]
