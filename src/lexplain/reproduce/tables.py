"""Results as pages: numbers, where they came from, figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from .. import __version__
from ..metrics.statistics import decimals
from .cells import Cell, machine

DIGITS = {4: ("price", "cost", "ms"), 3: ("AUROC", "eAUROC", "encoding", "median rank"), 2: ("wrong panel %",)}  # else 1
LEAST = "_seconds"  # ends the names of times, of which the least is shown: the others waited for what ran beside them


def mean_and_spread(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """The mean over seeds of each group, with the standard deviation in brackets where there are several; of times, the least."""
    groups = frame.groupby(list(by), sort=False)
    means, spreads = groups[list(columns)].mean(), groups[list(columns)].std()
    text = {name: [_text(name, mean, spread) for mean, spread in zip(means[name], spreads[name], strict=True)] for name in columns}
    least = {name: [decimals(value, 1) for value in groups[name].min()] for name in columns if name.endswith(LEAST)}
    return pd.DataFrame({"seeds": groups.size(), **text, **least}, index=means.index).reset_index()


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
    folder: Path,
    *,
    title: str,
    command: str,
    notes: str,
    frame: pd.DataFrame,
    sections: Sequence[tuple[str, pd.DataFrame]],
    figures: dict[str, Any],
    asked: Sequence[Cell] = (),
) -> Path:
    """Write README.md, results.csv and the figures of one reproduction; the page names the command, seeds, machine and date.

    Of the cells asked for, those that are not in the frame are named, too: an interrupted command writes a page all the same.
    """
    from ..report import save, write_page

    seeds = sorted({int(seed) for seed in frame["seed"]})
    machines = "; ".join(sorted(set(frame["machine"])))
    dates = sorted(set(frame["date"]))
    head = [
        f"# {title}",
        f"Written by `{command}` (lexplain {__version__}).",
        f"Seeds: {', '.join(map(str, seeds))}. Machine: {machines}. Date: {dates[0]}" + (f" to {dates[-1]}." if len(dates) > 1 else "."),
        f"{notes} {_how_to_read(sections) if len(seeds) > 1 else ''}".strip(),
        *_unfinished(asked, frame),
    ]
    body = [f"## {heading}\n\n{markdown(table)}" for heading, table in sections]
    for name, figure in figures.items():
        save(figure, folder / f"{name}.svg")
    body += [f"![{name}]({name}.svg)" for name in figures]
    plain = frame.drop(columns=[name for name in ("options", "training") if name in frame])
    write_page(folder / "results.csv", plain.to_csv(index=False, float_format="%.6g"))
    return Path(write_page(folder / "README.md", "\n\n".join([*head, *body]) + "\n"))


def _how_to_read(sections: Sequence[tuple[str, pd.DataFrame]]) -> str:
    timed = any(str(name).endswith(LEAST) for _, table in sections for name in table.columns)
    return f"Mean over seeds, with the standard deviation in brackets{'; of seconds, the least' if timed else ''}."


def _unfinished(asked: Sequence[Cell], frame: pd.DataFrame) -> list[str]:
    """A line that names the cells asked for that a frame has not got."""

    def as_read(label: str, seed: int, options: Any) -> str:
        return json.dumps([label, int(seed), options], sort_keys=True)  # what is read from a file has lists for tuples

    there = set(map(as_read, frame["label"], frame["seed"], frame["options"])) if asked else set()
    seeds: dict[str, set[int]] = {}
    for cell in asked:
        if as_read(cell.label, cell.seed, cell.options) not in there:
            rate = cell.options.get("keep")
            name = f"{cell.label}, {100 * rate:g} %" if isinstance(rate, float) else cell.label
            seeds.setdefault(name, set()).add(cell.seed)
    named = [f"{name} (seed{'s'[: len(some) - 1]} {', '.join(map(str, sorted(some)))})" for name, some in seeds.items()]
    return [f"**Not finished:** {'; '.join(named)}. The command goes on with them."] if named else []
