"""Shapley values of shap: by sampling, through the layers of a network, and of trees."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor

from .. import check
from ..core.contracts import Features, Labels, RandomState, RawRows
from ..core.seeding import numpy_seeded
from ..features import Columns
from .baseline import Baseline, EncodedNetwork, RowsToScore


class KernelSHAP(Baseline):
    """Shapley values by a weighted regression on subsets. Hidden features take their values from a summary of the training rows.

    Args:
        samples: Number of subsets per row. None: shap's default of 2 d + 2,048, or all subsets if there are fewer.
        background: Number of weighted rows (by k-means) that summarise the training rows. If there are fewer training rows, all.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, 2017, theorem 2.
    """

    name = "shap"
    fits_each_row = True

    def __init__(
        self,
        *,
        samples: int | None = None,
        background: int = 10,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.samples = samples
        self.background = background

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.counts(samples=self.samples, background=self.background)
        shap = check.require("shap", extra="peers")
        legacy = check.require("shap.utils._legacy", extra="peers")
        rows = x.flatten(1).double().numpy()
        summary = shap.kmeans(rows, self.background) if len(x) > self.background else legacy.DenseData(rows, list(range(rows.shape[1])))
        owner = self.features_.expand(torch.arange(self.features_.count)).flatten().numpy()
        groups = [np.flatnonzero(owner == feature) for feature in range(self.features_.count)]
        self.background_ = legacy.DenseData(summary.data, list(self.features_.names), groups, summary.weights)
        self.background_rows_ = self._decode(self._encoded(summary.data))
        self.explainer_ = shap.KernelExplainer(self._model, self.background_)

    def _background_rows(self) -> tuple[RawRows, ...]:
        return (self.background_rows_,)

    def _encoded(self, x: np.ndarray) -> Tensor:
        return torch.from_numpy(np.asarray(x, dtype=np.float32)).reshape(-1, *self.features_.shape)

    def _model(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._query_encoded(self._encoded(x)))

    def _scores(self, rows: RowsToScore) -> Tensor:
        samples: int | str = self.samples or "auto"
        values = []
        for row in rows.x.flatten(1).double().numpy():  # one row at a time, like shap
            with numpy_seeded(self.seed_):
                values.append(self.explainer_.shap_values(row[None], nsamples=samples, l1_reg=False, silent=True)[0])
        return _of_class(torch.from_numpy(np.stack(values)), rows.target_class)


class DeepSHAP(Baseline):
    """DeepLIFT's rescale rule, averaged over training rows. The network's output is explained unchanged.

    Args:
        background: Number of random training rows. The network gets twice as many rows at once.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, 2017, section 4.2.
    """

    name = "deepshap"
    needs = ("network",)

    def __init__(
        self,
        *,
        background: int = 100,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.background = background

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.counts(background=self.background)
        shap = check.require("shap", extra="peers")
        network = EncodedNetwork(self.model_, self.features_.as_network_input, self._count)
        self.background_ = x[torch.randperm(len(x))[: self.background]].to(network.device)
        self.explainer_ = shap.DeepExplainer(network, self.background_)

    def _scores(self, rows: RowsToScore) -> Tensor:
        try:
            values = self.explainer_.shap_values(rows.x.to(self.background_.device))
        except AssertionError as broken:
            raise ValueError(
                "deepshap's values do not add up to the network's output, because shap has no rule for one of its layers. It supports "
                "linear layers, pooling, ReLU, GELU, Sigmoid, Tanh and Softplus, each used once. Use integrated_gradients or shap instead."
            ) from broken
        scores = torch.as_tensor(values)
        scores = scores.reshape(len(rows), rows.x[0].numel(), -1) if scores.ndim > rows.x.ndim else scores.flatten(1)  # (b, D, c) or (b, D)
        return self.features_.gather(_of_class(scores, rows.target_class).reshape(rows.x.shape))


class TreeSHAP(Baseline):
    """Exact Shapley values of trees, in their units: probabilities of a forest, log-odds of boosted trees.

    Hidden features follow the shares of training rows in each branch, so background rows are not needed.

    Reference:
        Lundberg et al., From Local Explanations to Global Understanding with Explainable AI for Trees, 2020, algorithm 2.
    """

    name = "treeshap"
    kinds = ("columns",)

    def _learn(self, x: Tensor, y: Labels) -> None:
        shap = check.require("shap", extra="peers")
        trees = getattr(self.model_, "__self__", self.model_)  # of a bound method such as clf.predict_proba
        try:
            self.explainer_ = shap.TreeExplainer(trees, feature_perturbation="tree_path_dependent")
        except Exception as unknown:  # shap's own error is a bare Exception
            raise TypeError(
                f"treeshap needs trees, but shap finds none in a {type(trees).__name__} ({str(unknown)[:80]}). "
                "Pass a forest or boosted trees, or use shap, which works with any model."
            ) from unknown

    def _scores(self, rows: RowsToScore) -> Tensor:
        values = torch.as_tensor(np.asarray(self.explainer_.shap_values(rows.raw)), dtype=torch.double)
        columns = _of_class(values, rows.target_class, two_sided=self._target.outputs.count == 2)  # (b, raw columns)
        features = cast("Columns", self.features_)
        owners = torch.tensor(features.owners)
        return torch.zeros(len(rows), features.count, dtype=columns.dtype).index_add(1, owners, columns)


def _of_class(values: Tensor, target: Tensor, *, two_sided: bool = False) -> Tensor:
    """The target class's values (b, d) of those of all classes (b, d, c). If two_sided, values (b, d) are those of the second class."""
    if values.ndim == 2:
        return torch.where(target[:, None] == 0, -values, values) if two_sided else values
    if values.shape[2] == 1:
        return _of_class(values[:, :, 0], target, two_sided=two_sided)
    return values[torch.arange(len(values)), :, target.to(values.device)]
