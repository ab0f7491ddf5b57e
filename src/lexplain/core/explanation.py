"""Explanations, as plain data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check
from .contracts import Features, Json, Labels, Names, RawRows
from .rows import take_rows

FORMAT = "lexplain.explanation/2"
OPTIONAL = ("unexplained", "holds", "holds_se", "verified", "model_rows")  # tensors that the JSON text has if they are not None


@dataclass(frozen=True, eq=False)
class Explanation:
    """Scores and kept features of b rows with d features each, for one class or output per row."""

    scores: Tensor  # (b, d) importance; higher is more important
    mask: Tensor  # (b, d) of bool: True = kept
    names: Names  # d feature names, or one tuple per row if rows differ
    data: RawRows = None  # the explained rows, as passed in
    method: str = ""
    features: Features | None = None  # maps feature masks to encoded inputs
    target_index: Tensor | None = None  # (b,) explained class if one was requested; None: the predicted class
    compute_prediction: Callable[[], Tensor] | None = field(default=None, repr=False, compare=False)
    compute_kept_prediction: Callable[[], Tensor] | None = field(default=None, repr=False, compare=False)
    classes: tuple[Labels, ...] | None = None  # c class labels; None for a real-valued output
    additive: bool = False  # True if base_values plus scores equal the prediction (Shapley values)
    base_values: Tensor | None = None  # (b,) starting value of additive scores
    valid: Tensor | None = None  # (b, d) of bool: False is padding; None: no padding
    unexplained: Tensor | None = None  # (b,) number of features beyond those of the fit, which stay visible; None: no row has any
    perturbation_based: bool | None = None  # True if the model was queried on rows with hidden features; None: unknown
    holds: Tensor | None = None  # (b,) share of draws of the hidden features in which the model's answer holds; None: not measured
    holds_se: Tensor | None = None  # (b,) its standard error
    verified: Tensor | None = None  # (b,) of bool: the answer holds as often as required
    model_rows: Tensor | None = None  # (b,) number of queries of the model that verifying the row took

    def __post_init__(self) -> None:
        shape, names, own = self.scores.shape, self.names, self.names_per_row
        fits = self.scores.ndim == 2 and shape == self.mask.shape and (self.valid is None or self.valid.shape == shape)
        if not fits or not (len(names) == shape[0] and all(len(row) <= shape[1] for row in names) if own else len(names) == shape[1]):
            raise ValueError(
                f"Scores of shape {tuple(shape)}, a mask of shape {tuple(self.mask.shape)} and {len(names)} names of "
                f"{'rows' if own else 'features'} do not fit. Scores and mask must both be (rows, features)."
            )
        if self.valid is not None and bool((self.mask & ~self.valid).any()):
            raise ValueError("The mask keeps padding (valid is False there).")
        if self.base_values is not None and tuple(self.base_values.shape) != shape[:1]:
            raise ValueError(
                f"base_values has shape {tuple(self.base_values.shape)}, but one value per explained row is needed: ({shape[0]},)."
            )

    def __len__(self) -> int:
        return len(self.scores)

    def __eq__(self, other: object) -> bool:
        """Whether scores, masks and names are equal; the rows and the predictor are not compared."""
        if not isinstance(other, Explanation):
            return NotImplemented
        plain, own, others = ("names", "method", "classes", "additive"), self._tensors(), other._tensors()
        same = own.keys() == others.keys() and all(torch.equal(own[name].cpu(), others[name].cpu()) for name in own)
        return same and all(getattr(self, name) == getattr(other, name) for name in plain)

    __hash__ = None  # type: ignore[assignment]  # no cheap hash agrees with this equality

    def __getitem__(self, rows: int | slice | Sequence[int] | Tensor) -> Explanation:
        """The explanation of some rows only."""
        index = np.arange(len(self))[rows if not isinstance(rows, Tensor) else rows.cpu().numpy()].reshape(-1)
        chosen = torch.as_tensor(index)
        some: dict[str, Any] = {name: value[chosen] for name, value in self._tensors().items()}
        return replace(
            self,
            **some,
            names=self._names_of(index),
            data=take_rows(self.data, index),
            compute_prediction=None if self.compute_prediction is None else lambda: self.prediction[chosen],
            compute_kept_prediction=None if self.compute_kept_prediction is None else lambda: self.kept_prediction[chosen],
        )

    def _tensors(self) -> dict[str, Tensor]:
        """The tensors of the explanation that are not None, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Tensor)}

    def _names_of(self, index: np.ndarray) -> Names:
        """The names of some rows; without rows, the column names."""
        some: Names = tuple(self.names[i] for i in index) if self.names_per_row else self.names
        return some or self.column_names

    @property
    def names_per_row(self) -> bool:
        """Whether feature names differ between rows."""
        return len(self.names) > 0 and not isinstance(self.names[0], str)

    def row_names(self, row: int) -> tuple[str, ...]:
        """The feature names of one row; padding, if any, has empty names."""
        names = self.names[row] if self.names_per_row else self.names
        return (*(str(name) for name in names), *[""] * (self.scores.shape[1] - len(names)))

    @property
    def column_names(self) -> tuple[str, ...]:
        """One name per column of the scores: the feature's or, if names differ between rows, its position, counted from 1."""
        if not self.names_per_row:
            return self.row_names(0) if len(self) else tuple(map(str, self.names))
        known = None if self.features is None else self.features.names
        return known if known is not None and len(known) == self.scores.shape[1] else tuple(map(str, range(1, self.scores.shape[1] + 1)))

    @property
    def feature_counts(self) -> Tensor:
        """(b,) number of features of each row; padding does not count."""
        return torch.full((len(self),), self.scores.shape[1]) if self.valid is None else self.valid.sum(1)

    @cached_property
    def prediction(self) -> Tensor:
        """The explained output of the model: class probabilities (b, c), or values (b, 1). Computed on first access."""
        if self.compute_prediction is None:
            raise AttributeError("This explanation has no model. Explanations of a fitted Explainer have one.")
        return self.compute_prediction()

    @cached_property
    def kept_prediction(self) -> Tensor:
        """(b, c) class probabilities, or (b, 1) values, predicted from the kept features alone; computed on first access."""
        if self.compute_kept_prediction is None:
            raise AttributeError("This explanation has no predictor. Explanations of a fitted Explainer have one.")
        return self.compute_kept_prediction()

    @cached_property
    def target(self) -> Tensor:
        """(b,) index of the explained class: the requested one, otherwise the predicted one (0 for a real-valued output)."""
        return self.target_index if self.target_index is not None else self.prediction.argmax(1)

    @property
    def _index(self) -> pd.Index[Any]:
        return self.data.index if isinstance(self.data, (pd.DataFrame, pd.Series)) else pd.RangeIndex(len(self))

    def to_frame(self) -> pd.DataFrame:
        """One row per explained row. `frame["score"]`, `frame["kept"]` and, if names differ, `frame["name"]` have a column per feature."""
        columns = list(self.column_names)
        parts = {
            "score": pd.DataFrame(self.scores.cpu().numpy(), columns=columns, index=self._index),
            "kept": pd.DataFrame(self.mask.cpu().numpy(), columns=columns, index=self._index),
        }
        if self.names_per_row:
            parts["name"] = pd.DataFrame([self.row_names(row) for row in range(len(self))], columns=columns, index=self._index)
        if self.holds is not None:
            measured = {name: value.cpu().numpy() for name, value in self._tensors().items() if name in OPTIONAL[1:]}
            parts["answer"] = pd.DataFrame(measured, index=self._index)
        return pd.concat(parts, axis=1)

    def as_list(self, row: int, *, kept_only: bool = True) -> list[tuple[str, float]]:
        """(name, score) of the kept features of one row, most important first."""
        scores, kept, names = self.scores[row], self.mask[row], self.row_names(row)
        listed = kept if kept_only else torch.ones_like(kept) if self.valid is None else self.valid[row]
        order = scores.argsort(descending=True, stable=True).tolist()
        return [(names[j], float(scores[j])) for j in order if bool(listed[j])]

    def to_json(self) -> str:
        """The explanation as JSON text, without the rows and the predictor; `Explanation.from_json` reads it.

        The predictor is not called. The explained class is included only if `target_index` is set, such as by `as_explanation(target=...)`,
        or if `prediction` was read before.
        """
        optional = {name: value.tolist() for name, value in self._tensors().items() if name in OPTIONAL}
        return json.dumps(
            {
                "format": FORMAT,
                "method": self.method,
                "names": list(self.names),
                "classes": None if self.classes is None else [getattr(c, "item", lambda c=c: c)() for c in self.classes],
                "target": self.target.tolist() if self.target_index is not None or "prediction" in vars(self) else None,
                "scores": self.scores.tolist(),
                "mask": self.mask.int().tolist(),
                "valid": None if self.valid is None else self.valid.int().tolist(),
                "additive": self.additive,
                "base": None if self.base_values is None else self.base_values.tolist(),
                "asks_off_data": self.perturbation_based,
                **optional,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """Read the output of `to_json`; raises for other text."""
        record = _record_in(text)
        names: Json = tuple(name if isinstance(name, str) else tuple(name) for name in record["names"])
        width = len(record["scores"][0]) if record["scores"] else len(names)
        optional: dict[str, Any] = {name: torch.tensor(record[name]) for name in OPTIONAL if record.get(name) is not None}
        return cls(
            scores=torch.tensor(record["scores"], dtype=torch.float32).reshape(-1, width),
            mask=torch.tensor(record["mask"]).bool().reshape(-1, width),
            names=names,
            method=record["method"],
            target_index=None if record["target"] is None else torch.tensor(record["target"]),
            classes=None if record["classes"] is None else tuple(record["classes"]),
            additive=record.get("additive", False),
            base_values=None if record.get("base") is None else torch.tensor(record["base"]),
            perturbation_based=record.get("asks_off_data"),
            valid=None if record.get("valid") is None else torch.tensor(record["valid"]).bool().reshape(-1, width),
            **optional,
        )

    def to_shap(self) -> Any:
        """A `shap.Explanation` for shap's beeswarm, bar, scatter and heatmap plots; waterfall and force need an additive method.

        `data` contains categories as numbers and `display_data` as text; both are None if a feature has several values.
        """
        shap = check.require("shap", extra="peers")
        numbers, text = self._values()
        base = self.base_values.cpu().numpy() if self.additive and self.base_values is not None else NoBaseValue(self.method)
        names = list(self.column_names)
        return shap.Explanation(self.scores.cpu().numpy(), base_values=base, data=numbers, display_data=text, feature_names=names)

    def cell_values(self, row: int) -> list[object]:
        """The value of each feature in one row; None if it is unknown or the feature has several values."""
        columns = self._columns(take_rows(self.data, np.array([row])))
        return [None if column is None else column[0] for column in columns]

    def _columns(self, data: RawRows) -> list[pd.Series[Any] | None]:
        """The values of rows, one column per feature."""
        count = self.scores.shape[1]
        if data is None:
            return [None] * count
        if self.features is not None:
            return [None if column is None else pd.Series(column).reset_index(drop=True) for column in self.features.cell_values(data)]
        table = pd.DataFrame(data) if np.ndim(data) == 2 else pd.DataFrame()
        return [table.iloc[:, j].reset_index(drop=True) for j in range(count)] if table.shape[1] == count else [None] * count

    def _values(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Values (b, d) of the features as numbers and, if some are not numeric, unchanged; None if a feature is not one value."""
        columns = self._columns(self.data)
        if any(column is None for column in columns):
            return None, None
        table = pd.DataFrame(dict(enumerate(columns)))
        numeric = {j: pd.api.types.is_numeric_dtype(dtype) for j, dtype in table.dtypes.items()}
        numbers = {j: table[j] if numeric[j] else table[j].astype("category").cat.codes for j in numeric}
        return pd.DataFrame(numbers).to_numpy(dtype=np.float64), None if all(numeric.values()) else table.to_numpy(dtype=object)

    def to_html(self) -> str:
        """A self-contained HTML page with the explanations of these rows."""
        from ..report import explanation_page

        return explanation_page(self)

    def _repr_html_(self) -> str:
        from ..report import explanation_table

        return explanation_table(self)


def _record_in(text: str) -> dict[str, Any]:
    """The record that `to_json` wrote; raises for other text."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as broken:
        raise ValueError(f"This is not JSON ({broken}). Pass the output of Explanation.to_json.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f"This JSON is not a lexplain explanation (format {FORMAT}). Pass the output of Explanation.to_json.")
    missing = {"names", "scores", "mask", "method", "target", "classes"} - set(record)
    if missing:
        raise ValueError(f"This explanation lacks {sorted(missing)}. Pass the output of Explanation.to_json.")
    return record


class NoBaseValue:
    """Replaces the base value in shap's plots of scores that do not add up: shap can copy it, but using it as a number raises."""

    shape = ()  # shap reads the shape of base values

    def __init__(self, method: str) -> None:
        self.method = method

    def __repr__(self) -> str:
        return "none: these scores do not add up to a prediction"

    def __float__(self) -> float:
        raise ValueError(
            f"Scores of {self.method or 'this method'} rank features and do not add up to the prediction, so waterfall and force plots "
            "would mislead. Use beeswarm, bar or scatter plots, or an additive method."
        )

    def __radd__(self, other: float) -> float:  # shap's force plots add the scores first
        return other + float(self)

    def __add__(self, other: object) -> NoBaseValue:  # shap's arithmetic on explanations, such as e * 2, includes base values
        return self

    __sub__ = __mul__ = __truediv__ = __add__
