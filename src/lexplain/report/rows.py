"""Rows of an explanation, as text and as HTML. Padding does not count as a feature."""

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
    """Whether any row has a feature, so that there is something to draw."""
    return int(explanation.feature_counts.sum()) > 0


def valid_features(explanation: Explanation) -> Tensor:
    """The features of each row: (b, d) of bool, False for padding."""
    return torch.ones_like(explanation.mask, dtype=torch.bool) if explanation.valid is None else explanation.valid.bool()


def kept_rates(explanation: Explanation) -> Tensor:
    """The share of rows (d,) that keep each feature, among the rows that have it; NaN if no row has it."""
    return explanation.mask.float().sum(0) / valid_features(explanation).sum(0)


@dataclass(frozen=True)
class Item:
    """A feature of a row."""

    name: str
    value: str  # its value in the row; empty if that is not a single value
    score: float
    kept: bool

    @property
    def label(self) -> str:
        """The name, and the value if there is one."""
        return f"{self.name} = {self.value}" if self.value else self.name


@dataclass(frozen=True)
class Row:
    """A row, ready to be drawn."""

    label: str  # its index in the data
    outcome: str  # the explained class or value; empty if unknown
    items: tuple[Item, ...]  # the highest score first
    left_out: int  # number of features that are not in items
    left_out_kept: int  # number of kept features that are not in items
    holds: str = ""  # how far the model's answer holds; empty if it was not verified

    @property
    def title(self) -> str:
        """The heading of the row."""
        return ": ".join([f"Row {self.label}", *filter(None, [", ".join(filter(None, [self.outcome, self.holds]))])])


def read_row(explanation: Explanation, row: int, *, most: int, kept_only: bool = False, run_predictor: bool = True) -> Row:
    """Read one row.

    Args:
        explanation: Explanation that contains the row.
        row: Position of the row.
        most: Maximum number of features; kept features come first.
        kept_only: Leave out features that are not kept.
        run_predictor: Run the predictor for the outcome if necessary.
    """
    scores = explanation.scores[row].detach().float().cpu().tolist()
    kept = explanation.mask[row].bool().tolist()
    valid = valid_features(explanation)[row].tolist()
    names, values = explanation.row_names(row), ["" if cell is None else format_number(cell) for cell in explanation.cell_values(row)]
    eligible = [j for j in range(len(scores)) if valid[j] and (kept[j] or not kept_only)]
    size = [-math.inf if math.isnan(s) else s for s in scores]
    chosen = sorted(eligible, key=lambda j: (not kept[j], -size[j] if kept[j] else -abs(size[j])))[:most]
    items = (Item(names[j], values[j], scores[j], kept[j]) for j in sorted(chosen, key=lambda j: -size[j]))
    return Row(
        row_label(explanation, row),
        _outcome(explanation, row) if run_predictor or "prediction" in vars(explanation) else "",
        tuple(items),
        left_out=sum(valid) - len(chosen),
        left_out_kept=sum(kept) - sum(kept[j] for j in chosen),
        holds=holds_text(explanation, row),
    )


def spread_rows(explanation: Explanation, most: int) -> list[int]:
    """Positions of rows from the full range of predictions, or evenly spread if these are unknown. The result is deterministic."""
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


def holds_text(explanation: Explanation, row: int) -> str:
    """How far the model's answer holds under the kept features of a row; empty if it was not verified."""
    if explanation.holds is None or explanation.verified is None:
        return ""
    share, verified = float(explanation.holds[row]), bool(explanation.verified[row])
    if math.isnan(share):
        return "not verified: the limit of queries was reached"
    if bool((explanation.mask[row] | ~valid_features(explanation)[row]).all()):
        return "holds only with all features"
    return f"{'holds' if verified else 'not verified: holds'} in {share:.0%} of draws"


def about_bars(explanation: Explanation) -> str:  # noqa: ARG001  the same for all
    """A text that explains the bars."""
    return "Bars show scores, highest first. Kept features are blue, bold and ticked."


def bars_html(explanation: Explanation, rows: Sequence[int], *, most: int) -> str:
    """Rows next to each other as HTML, with one bar per feature; kept features are ticked."""
    return TEMPLATES.get_template("rows.html").render(rows=[_drawn(read_row(explanation, row, most=most)) for row in rows])


def features_table(explanation: Explanation, rows: Sequence[int], *, summary: str, left_out: str) -> str:
    """Rows as an HTML table: their kept features with value and score. The predictor is not run for it."""
    run_predictor = explanation.compute_prediction is None  # then the outcome needs no prediction
    shown = [read_row(explanation, row, most=TABLE_FEATURES, kept_only=True, run_predictor=run_predictor) for row in rows]
    return TEMPLATES.get_template("table.html").render(
        summary=summary, rows=[_drawn(row) for row in shown], left_out=left_out, outcomes=any(row.outcome for row in shown)
    )


def _drawn(row: Row) -> dict[str, object]:
    """The values of a row for its template. A bar's length is a share of the row's largest score."""
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
