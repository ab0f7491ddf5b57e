"""Rows of an explanation: what is to be said of one, in words and as HTML; padding is no feature, and counts nowhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from lexplain.core import Explanation

from .formatting import format_number, pluralise, shorten
from .page import TEMPLATES

TABLE_FEATURES = 12
PALE, SKY, PEACH = (238, 242, 246), (143, 196, 230), (246, 178, 128)  # red, green, blue; dark text can be read on all of them


def has_features(explanation: Explanation) -> bool:
    """Whether there is a row with a feature, and so something to draw."""
    return int(explanation.feature_counts.sum()) > 0


def valid_features(explanation: Explanation) -> Tensor:
    """(b, d) of bool: the features that each row has."""
    return torch.ones_like(explanation.mask, dtype=torch.bool) if explanation.valid is None else explanation.valid.bool()


def kept_rates(explanation: Explanation) -> Tensor:
    """(d,) the share of rows that keep each feature, among the rows that have it; NaN where none has."""
    return explanation.mask.float().sum(0) / valid_features(explanation).sum(0)


@dataclass(frozen=True)
class Item:
    """A feature of a row."""

    name: str
    value: str  # what the row holds there; empty where that is not one value
    score: float
    kept: bool

    @property
    def label(self) -> str:
        """The name and, where there is one, the value."""
        return f"{self.name} = {self.value}" if self.value else self.name


@dataclass(frozen=True)
class Row:
    """A row, ready to be drawn."""

    label: str  # its index in the data
    outcome: str  # the class or the value explained; empty where that is not known
    items: tuple[Item, ...]  # the highest score first
    left_out: int  # how many features are not among the items
    left_out_kept: int  # and how many of those are kept

    @property
    def title(self) -> str:
        """What to write above the row."""
        return f"Row {self.label}: {self.outcome}" if self.outcome else f"Row {self.label}"


def read_row(explanation: Explanation, row: int, *, most: int, kept_only: bool = False, ask: bool = True) -> Row:
    """Read one row.

    Args:
        explanation: Where it lies.
        row: Its position.
        most: How many features at most; kept ones come before others.
        kept_only: Leave out the features that are not kept.
        ask: Whether the predictor may be run to know the outcome.
    """
    scores = explanation.scores[row].detach().float().cpu().tolist()
    kept = explanation.mask[row].bool().tolist()
    there = valid_features(explanation)[row].tolist()
    names, values = explanation.row_names(row), ["" if cell is None else format_number(cell) for cell in explanation.cell_values(row)]
    wanted = [j for j in range(len(scores)) if there[j] and (kept[j] or not kept_only)]
    size = [-math.inf if math.isnan(s) else s for s in scores]
    chosen = sorted(wanted, key=lambda j: (not kept[j], -size[j] if kept[j] else -abs(size[j])))[:most]
    items = (Item(names[j], values[j], scores[j], kept[j]) for j in sorted(chosen, key=lambda j: -size[j]))
    return Row(
        row_label(explanation, row),
        _outcome(explanation, row) if ask or "prediction" in vars(explanation) else "",
        tuple(items),
        left_out=sum(there) - len(chosen),
        left_out_kept=sum(kept) - sum(kept[j] for j in chosen),
    )


def spread_rows(explanation: Explanation, most: int) -> list[int]:
    """Positions of rows from the whole range of predictions, or evenly spread where none is known; always the same ones."""
    order = np.arange(len(explanation))
    if explanation.compute_prediction is not None:
        outputs = explanation.prediction.detach().double().cpu().numpy()  # (b, c)
        first = outputs.argmax(1) if outputs.shape[1] > 2 else np.zeros(len(outputs))
        order = np.lexsort((outputs.max(1) if outputs.shape[1] > 2 else outputs[:, -1], first))
    places = np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)
    return [int(order[place]) for place in places]


def row_label(explanation: Explanation, row: int) -> str:
    """The row's index in its DataFrame or Series, else its position."""
    data = explanation.data
    return str(data.index[row]) if isinstance(data, (pd.DataFrame, pd.Series)) else str(row % len(explanation))


def _outcome(explanation: Explanation, row: int) -> str:
    if explanation.compute_prediction is None and explanation.target_index is None:
        return ""
    if explanation.compute_prediction is not None and explanation.classes is None and explanation.prediction.shape[1] == 1:
        return f"predicted {format_number(float(explanation.prediction[row, 0]))}"
    target = int(explanation.target[row])
    name = f"class {target}" if explanation.classes is None else format_number(explanation.classes[target])
    if explanation.compute_prediction is None:
        return name
    return f"{'' if explanation.target_index is not None else 'predicted '}{name} ({float(explanation.prediction[row, target]):.0%})"


def about_bars(explanation: Explanation) -> str:  # noqa: ARG001  the same for all
    """How to read the bars."""
    return "Bars show scores, the highest first. Kept features are blue, bold and ticked."


def bars_html(explanation: Explanation, rows: Sequence[int], *, most: int) -> str:
    """Rows side by side, a bar a feature, the kept ones ticked."""
    return TEMPLATES.get_template("rows.html").render(rows=[_drawn(read_row(explanation, row, most=most)) for row in rows])


def features_table(explanation: Explanation, rows: Sequence[int], *, summary: str, left_out: str) -> str:
    """An HTML fragment of a few rows: their kept features with value and score; the predictor is not run for it."""
    ask = explanation.compute_prediction is None
    shown = [read_row(explanation, row, most=TABLE_FEATURES, kept_only=True, ask=ask) for row in rows]
    return TEMPLATES.get_template("table.html").render(
        summary=summary, rows=[_drawn(row) for row in shown], left_out=left_out, outcomes=any(row.outcome for row in shown)
    )


def _drawn(row: Row) -> dict[str, object]:
    """A row as its template wants it; a bar's length is a share of the row's largest score."""
    sizes = [abs(item.score) for item in row.items if math.isfinite(item.score)]
    largest = max(sizes, default=0.0) or 1.0
    more = f"{pluralise(row.left_out, 'more feature')}, {row.left_out_kept or 'none'} of them kept." if row.left_out else ""
    items = [_bar(item, largest) for item in row.items]
    return {"title": row.title, "label": row.label, "outcome": row.outcome, "items": items, "more": more, "more_kept": row.left_out_kept}


def _bar(item: Item, largest: float) -> dict[str, object]:
    share = 0.0 if math.isnan(item.score) else min(1.0, abs(item.score) / largest)
    return {
        "full": item.label,
        "name": shorten(item.name, 40),
        "value": shorten(item.value, 24),
        "score": format_number(item.score),
        "kept": item.kept,
        "minus": item.score < 0,
        "share": round(100 * share, 1),
        "tint": ", ".join(f"{pale + (full - pale) * share:.0f}" for pale, full in zip(PALE, PEACH if item.score < 0 else SKY, strict=True)),
    }
