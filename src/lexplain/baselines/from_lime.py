"""LIME: local linear models."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check
from ..core.contracts import Features, Labels, RandomState, RawRows
from ..features import Columns
from ..features.tables import known_categories
from .baseline import Baseline, RowsToScore


class LIME(Baseline):
    """Weights of a linear model fitted to the model's outputs on random rows near the explained one. Numbers are binned at quartiles.

    Args:
        num_samples: Number of random rows.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Ribeiro et al., "Why Should I Trust You?", 2016, equation 1 and algorithm 1.
    """

    name = "lime"
    fits_each_row = True
    kinds = ("columns",)

    def __init__(
        self,
        *,
        num_samples: int = 1000,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.num_samples = num_samples

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.counts(num_samples=self.num_samples)
        lime = check.require("lime.lime_tabular", extra="peers")
        types = self._columns.types
        self.explainer_ = lime.LimeTabularExplainer(
            self._codes(self.features_.decode(x)),
            mode="regression" if self._target.outputs.real else "classification",
            categorical_features=[j for j, each in enumerate(types) if each.categories is not None],
            feature_selection="none",
            random_state=self.seed_ % 2**32,
        )

    @property
    def _columns(self) -> Columns:
        return cast("Columns", self.features_)  # the only supported kind

    def _codes(self, rows: RawRows) -> np.ndarray:
        """Raw rows as numbers (n, columns). Categories are numbered."""
        if not isinstance(rows, pd.DataFrame):
            return np.asarray(rows, dtype=np.float64)
        columns = []
        for j, each in enumerate(self._columns.types):
            column = rows.iloc[:, j]
            known = each.categories
            columns.append(column.to_numpy(np.float64) if known is None else known_categories(column, known).astype(np.float64))
        return np.stack(columns, axis=1)

    def _rows(self, codes: np.ndarray) -> RawRows:
        """Raw rows of codes: the inverse of `_codes`."""
        features = self._columns
        if not features.frame:
            return features.types[0].decode(codes.reshape(-1, 1)).reshape(codes.shape)  # an array has one type
        cells = {}
        for j, (each, code) in enumerate(zip(features.types, codes.T, strict=True)):
            cells[j] = each.decode(code[:, None] if each.categories is None else np.eye(each.width)[code.astype(int)])
        return pd.DataFrame(cells).set_axis(list(features.labels), axis=1)

    def _scores(self, rows: RowsToScore) -> Tensor:
        codes, owners = self._codes(rows.raw), torch.tensor(self._columns.owners)
        scores = torch.zeros(len(rows), self.features_.count, dtype=torch.double)
        for row, (code, target) in enumerate(zip(codes, rows.target_class.tolist(), strict=True)):
            self.explainer_.random_state.seed(self.seed_ % 2**32)  # in place, because the discretiser uses the same object
            label = 1 if self._target.outputs.real else target  # in lime, real values have label 1
            local = self.explainer_.explain_instance(
                code, self._model, labels=(label,), num_features=len(owners), num_samples=self.num_samples
            )
            columns, weights = zip(*local.local_exp[label], strict=True)
            scores[row].index_add_(0, owners[list(columns)], torch.tensor(weights, dtype=torch.double))
        return scores

    def _model(self, codes: np.ndarray) -> np.ndarray:
        outputs: np.ndarray = self._query_raw(self._rows(codes)).numpy()
        return outputs[:, 0] if self._target.outputs.real else outputs
