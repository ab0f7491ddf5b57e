"""What an explainer says: plain data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check


@dataclass(frozen=True)
class Explanation:
    """Which features made each prediction: plain data, one class (or output) at a time."""

    scores: Tensor  # (b, d) higher means more important
    mask: Tensor  # (b, d) of bool: the features the method keeps
    feature_names: tuple[str, ...]  # d names
    data: pd.DataFrame | np.ndarray | None = None  # the rows explained, as they were given
    method: str = ""
    features: Any = None  # the Features that turn a feature mask into a raw mask
    asked: Tensor | None = None  # (b,) the class asked for; None: the predicted one
    predict: Callable[[], Tensor] | None = field(default=None, repr=False, compare=False)
    classes: tuple[Any, ...] | None = None  # c class labels; None for a real-valued output
    additive: bool = False  # whether base and scores add up to the prediction, as Shapley values do and selections do not
    base: Tensor | None = None  # (b,) what the scores of an additive method add up from

    def __post_init__(self) -> None:
        check.explanation_fits(self.scores, self.mask, self.feature_names)
        check.base_fits(self.base, len(self.scores))

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, rows: int | slice | Sequence[int] | Tensor) -> Explanation:
        """The explanation of some rows only."""
        index = np.arange(len(self))[rows if not isinstance(rows, Tensor) else rows.cpu().numpy()].reshape(-1)
        at = torch.as_tensor(index)
        data = self.data.iloc[index] if isinstance(self.data, pd.DataFrame) else self.data
        return replace(
            self,
            scores=self.scores[at],
            mask=self.mask[at],
            data=data[index] if isinstance(data, np.ndarray) else data,
            asked=None if self.asked is None else self.asked[at],
            predict=None if self.predict is None else lambda: self.prediction[at],
            base=None if self.base is None else self.base[at],
        )

    @cached_property
    def prediction(self) -> Tensor:
        """(b, c) class probabilities, or (b, 1) values, from the kept features alone; computed when first read."""
        if self.predict is None:
            raise AttributeError("this explanation came without a predictor; explain with a fitted Explainer to have one")
        return self.predict()

    @cached_property
    def target(self) -> Tensor:
        """(b,) index of the class explained: the one asked for, else the predicted one (0 for a real-valued output)."""
        return self.asked if self.asked is not None else self.prediction.argmax(1)

    @property
    def _index(self) -> pd.Index[Any]:
        return self.data.index if isinstance(self.data, pd.DataFrame) else pd.RangeIndex(len(self))

    def to_frame(self) -> pd.DataFrame:
        """One row an instance; `frame["score"]` and `frame["kept"]` hold one column a feature."""
        names = list(self.feature_names)
        parts = {
            "score": pd.DataFrame(self.scores.cpu().numpy(), columns=names, index=self._index),
            "kept": pd.DataFrame(self.mask.cpu().numpy(), columns=names, index=self._index),
        }
        return pd.concat(parts, axis=1)

    def as_list(self, row: int, *, kept_only: bool = True) -> list[tuple[str, float]]:
        """(name, score) of one row's kept features, the most important first."""
        scores, kept = self.scores[row], self.mask[row]
        order = scores.argsort(descending=True, stable=True).tolist()
        return [(self.feature_names[j], float(scores[j])) for j in order if bool(kept[j]) or not kept_only]

    def to_json(self) -> str:
        """The explanation as JSON text; `Explanation.from_json` reads it back (without the rows and the predictor)."""
        return json.dumps(
            {
                "format": "lexplain.explanation/1",
                "method": self.method,
                "feature_names": list(self.feature_names),
                "classes": None if self.classes is None else [getattr(c, "item", lambda c=c: c)() for c in self.classes],
                "target": None if self.asked is None and self.predict is None else self.target.tolist(),
                "scores": self.scores.tolist(),
                "mask": self.mask.int().tolist(),
                "additive": self.additive,
                "base": None if self.base is None else self.base.tolist(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """Read what `to_json` wrote, or say why it cannot be read."""
        record = check.explanation_record(text)
        names = tuple(record["feature_names"])
        return cls(
            scores=torch.tensor(record["scores"], dtype=torch.float32).reshape(-1, len(names)),
            mask=torch.tensor(record["mask"]).bool().reshape(-1, len(names)),
            feature_names=names,
            method=record["method"],
            asked=None if record["target"] is None else torch.tensor(record["target"]),
            classes=None if record["classes"] is None else tuple(record["classes"]),
            additive=record.get("additive", False),
            base=None if record.get("base") is None else torch.tensor(record["base"]),
        )

    def to_shap(self) -> Any:
        """The `shap.Explanation` that shap's beeswarm, bar, scatter and heatmap plots draw; waterfall and force need an additive method.

        Categories are numbers in `data` and themselves in `display_data`; both are None where a feature is several columns.
        """
        shap = check.require("shap", extra="peers")
        numbers, shown = self._values()
        base = self.base.cpu().numpy() if self.additive and self.base is not None else check.NoBase(self.method)
        names = list(self.feature_names)
        return shap.Explanation(self.scores.cpu().numpy(), base_values=base, data=numbers, display_data=shown, feature_names=names)

    def _values(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The features' values (b, d) as numbers and, if some are none, as they were given; None where a feature is several columns."""
        flat = self.data.reshape(len(self), int(np.prod(self.data.shape[1:]))) if isinstance(self.data, np.ndarray) else self.data
        table, owners = pd.DataFrame(flat), range(len(self.feature_names)) if self.features is None else self.features.owners
        if not len(self.feature_names) == len(owners) == table.shape[1]:
            return None, None
        table = table.iloc[:, np.argsort(owners)].set_axis(range(len(owners)), axis=1)
        numeric = {j: pd.api.types.is_numeric_dtype(dtype) for j, dtype in table.dtypes.items()}
        numbers = {j: table[j] if numeric[j] else table[j].astype("category").cat.codes for j in numeric}
        return pd.DataFrame(numbers).to_numpy(dtype=np.float64), None if all(numeric.values()) else table.to_numpy(dtype=object)

    def to_html(self) -> str:
        """A self-contained HTML page of these rows' explanations."""
        from ..report import explanation_page

        return explanation_page(self)

    def _repr_html_(self) -> str:
        from ..report import explanation_table

        return explanation_table(self)
