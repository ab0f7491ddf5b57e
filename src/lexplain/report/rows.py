"""What is to be said of one row of an explanation, whoever draws it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lexplain.core import Explanation
from lexplain.features import Columns

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
    values = _values(explanation, row)
    wanted = [j for j in range(len(scores)) if kept[j] or not kept_only]
    size = [-math.inf if math.isnan(s) else s for s in scores]
    chosen = sorted(wanted, key=lambda j: (not kept[j], -size[j] if kept[j] else -abs(size[j])))[:most]
    items = (Item(explanation.feature_names[j], values[j], scores[j], kept[j]) for j in sorted(chosen, key=lambda j: -size[j]))
    return Row(
        row_label(explanation, row),
        _outcome(explanation, row) if ask or "prediction" in vars(explanation) else "",
        tuple(items),
        left_out=len(scores) - len(chosen),
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
    """The row's index in its DataFrame, else its position."""
    data = explanation.data
    return str(data.index[row]) if isinstance(data, pd.DataFrame) else str(row % len(explanation))


def _values(explanation: Explanation, row: int) -> list[str]:
    """The raw value of each feature that is one column of a table; an empty text for any other."""
    data, many = explanation.data, len(explanation.feature_names)
    features = explanation.features
    if data is None or np.ndim(data) != 2 or not (features is None or isinstance(features, Columns)):
        return [""] * many
    owner = range(many) if features is None else features.owners
    if len(owner) != np.shape(data)[1]:
        return [""] * many
    cells = next(data.iloc[[row]].itertuples(index=False, name=None)) if isinstance(data, pd.DataFrame) else data[row].tolist()
    columns = Counter(owner)
    alone = {feature: cell for feature, cell in zip(owner, cells, strict=True) if columns[feature] == 1}
    return [number(alone[j]) if j in alone else "" for j in range(many)]


def _outcome(explanation: Explanation, row: int) -> str:
    if explanation.predict is None and explanation.asked is None:
        return ""
    if explanation.predict is not None and explanation.classes is None and explanation.prediction.shape[1] == 1:
        return f"predicted {number(float(explanation.prediction[row, 0]))}"
    target = int(explanation.target[row])
    name = f"class {target}" if explanation.classes is None else number(explanation.classes[target])
    if explanation.predict is None:
        return name
    return f"{'' if explanation.asked is not None else 'predicted '}{name} ({float(explanation.prediction[row, target]):.0%})"
