"""What is to be said of one row of an explanation, whoever draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexplain.core import Explanation

from .padding import valid_features
from .wording import number


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
    names, values = explanation.row_names(row), _values(explanation, row)
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
    if explanation.predict is not None:
        outputs = explanation.prediction.detach().double().cpu().numpy()  # (b, c)
        first = outputs.argmax(1) if outputs.shape[1] > 2 else np.zeros(len(outputs))
        order = np.lexsort((outputs.max(1) if outputs.shape[1] > 2 else outputs[:, -1], first))
    places = np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)
    return [int(order[place]) for place in places]


def row_label(explanation: Explanation, row: int) -> str:
    """The row's index in its DataFrame or Series, else its position."""
    data = explanation.data
    return str(data.index[row]) if isinstance(data, (pd.DataFrame, pd.Series)) else str(row % len(explanation))


def _values(explanation: Explanation, row: int) -> list[str]:
    """What the row holds at each feature; an empty text where that is not one value."""
    return ["" if cell is None else number(cell) for cell in explanation.cells(row)]


def _outcome(explanation: Explanation, row: int) -> str:
    if explanation.predict is None and explanation.target_index is None:
        return ""
    if explanation.predict is not None and explanation.classes is None and explanation.prediction.shape[1] == 1:
        return f"predicted {number(float(explanation.prediction[row, 0]))}"
    target = int(explanation.target[row])
    name = f"class {target}" if explanation.classes is None else number(explanation.classes[target])
    if explanation.predict is None:
        return name
    return f"{'' if explanation.target_index is not None else 'predicted '}{name} ({float(explanation.prediction[row, target]):.0%})"
