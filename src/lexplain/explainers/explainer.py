"""`Explainer`: the scikit-learn estimator of all methods."""

from __future__ import annotations

import time
import warnings
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from torch import Tensor, nn

from .. import check
from ..auditing import Card
from ..auditing.verify import some_rows
from ..core import Explanation
from ..core.contracts import Encoded, Features, RawRows
from ..core.kinds import kind_of
from ..methods import Method, Recipe
from ..models import QueriedModel, Target, Trained
from ..training import device_of
from .card import fit_card
from .explained import output_of, rows_of, verified
from .findings import FitWarning, findings
from .fitting import Fitting
from .kept_predictor import KeptPredictor
from .one_pass import OnePass, kept_prediction
from .path import required_path
from .settings import check_no_target, context_of, needs_of, prepared

if TYPE_CHECKING:
    from lightning_fabric import Fabric


class Explainer(KeptPredictor):
    """Explain predictions with a trained selector: fit once, then explain any row in one forward pass.

    Args:
        method: Name from `lexplain.METHODS`, or your own recipe or `Method`. "default" is gains for tables and sufficient for images.
        keep: Number of features to keep, a share in (0, 1), or "auto" (for gains: as few as `tolerance` allows). None: for gains with a
            model, "auto"; for gains with labels, every feature with a gain of at least 0.0055 nats; for sufficient, 10 %; for other
            methods, their default. A gain is the change of the prediction when the feature is replaced.
        penalty: Instead of keep, for gains, realx, invase and basex: cost in nats of keeping all features (the papers' lambda).
        features: What can be kept or hidden, such as `Groups(...)` or `Patches(4)`. None: each column, or image patches (single pixels if
            there are at most 64 per side).
        selector: Network that returns one score per feature, (rows, features). None: chosen by the method.
        predictor: Network that predicts from imputed rows. None: chosen by the method.
        imputer: Fitted imputer, imputer class or its name (fitted to the rows), or a number for a constant. None: chosen by the method.
        regime: For labels: "free" (predictor and selector are trained together) or "fixed" (predictor first). For a model: "surrogate"
            (the predictor is trained on its outputs) or "self" (the predictor is the model itself). None: "free" with labels,
            "surrogate" with a model.
        epochs: Passes over the rows. None: about 3,000 optimiser steps; more for gains with over 32 features or with tolerance_points.
        batch_size: Rows per optimiser step. None: a tenth of the rows, between 32 and 1,000; 256 images.
        max_rows: Maximum number of rows per call of a network; changes memory use, not results. None: 100,000, fewer for images.
        learning_rate: Learning rate of Adam. None: 1e-3.
        tolerance: With keep="auto": average change of predictions, in nats, that is accepted when hidden features are resampled. None:
            0.0065, less if the predictor is hardly better than chance.
        tolerance_points: Instead of tolerance: points of accuracy, measured by EVAL-X, that may be lost.
        continuity: Cost in nats per pair of a kept and a hidden neighbouring feature. Higher values give connected masks.
        options: Parameters of the method by name, such as {"temperature": 0.3} for l2x.
        budget: "default" or "thorough" (gains: three times the networks, trained more often; other methods: twice the steps).
        device: "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1", or a `lightning_fabric.Fabric`.
        random_state: Random seed.

    Example:
        >>> import lexplain as lx
        >>> data = lx.load_data("s3", rows=200, seed=0)
        >>> explainer = lx.Explainer("realx", keep=5, epochs=2).fit(data.train.x, data.train.y)
        >>> explainer.explain(data.test.x).mask.shape
        torch.Size([200, 11])
    """

    def __init__(
        self,
        method: str | Recipe | Method = "default",
        *,
        keep: float | str | None = None,
        penalty: float | None = None,
        features: Features | None = None,
        selector: nn.Module | None = None,
        predictor: nn.Module | None = None,
        imputer: Any = None,
        regime: str | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        max_rows: int | None = None,
        learning_rate: float | None = None,
        tolerance: float | None = None,
        tolerance_points: float | None = None,
        continuity: float | None = None,
        options: dict[str, Any] | None = None,
        budget: str = "default",
        device: str | Fabric = "auto",
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.keep = keep
        self.penalty = penalty
        self.features = features
        self.selector = selector
        self.predictor = predictor
        self.imputer = imputer
        self.regime = regime
        self.epochs = epochs
        self.batch_size = batch_size
        self.max_rows = max_rows
        self.learning_rate = learning_rate
        self.tolerance = tolerance
        self.tolerance_points = tolerance_points
        self.continuity = continuity
        self.options = options
        self.budget = budget
        self.device = device
        self.random_state = random_state

    # ---- fit ----

    def fit(self, X: Any, y: Any = None, *, model: Any = None, checkpoint: str | Path | None = None) -> Explainer:
        """Train on labels (`fit(X, y)`) or on the outputs of a model (`fit(X, model=...)`).

        Args:
            X: Training rows: a 2-D array, a DataFrame (numeric, boolean, string or categorical columns), or images
                (n, channels, rows, columns), (n, rows, columns, channels) or (n, rows, columns).
            y: Labels, class probabilities (n, c) or real values.
            model: Model to explain: a scikit-learn estimator, an `nn.Module`, or a function from rows to class probabilities or values.
            checkpoint: File for the training state; an interrupted fit resumes from it.
        """
        began = time.perf_counter()
        fitting = Fitting(self, X, y, model)
        method, self.splits_, self.path_, self.history_ = fitting.run(checkpoint)
        self._set_fitted(X, method, fitting.target, fitting.regime, fitting.problem.targets.model)
        self.background_: Any = some_rows(self.features_.check(X), fitting.seed)
        self.fit_seconds_: float | None = time.perf_counter() - began
        rows = self.splits_.validation.to(device_of(self.device))
        self.findings_ = findings(method, rows, fitting.regime, max_rows=self._max_rows())
        for finding in self.findings_:
            warnings.warn(finding, FitWarning, stacklevel=2)
        return self

    def _set_fitted(self, X: RawRows, method: Method, target: Target, regime: str, model: QueriedModel | None) -> None:
        method.eval().requires_grad_(False)
        self.method_, self.features_, self.regime_, self.model_function_ = method, method.features, regime, model
        self.outputs_, self.target_mean_, self.target_scale_ = target.outputs, target.mean, target.scale
        self.n_features_in_ = len(method.features.input_names)
        for name in ("feature_names_in_", "classes_", "card_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(X, pd.DataFrame) and all(isinstance(c, str) for c in X.columns):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        if target.classes is not None:
            self.classes_ = target.classes

    def _max_rows(self) -> int:
        return self.max_rows or kind_of(self.features_).pace.max_rows(self.features_)

    # ---- explain ----

    def explain(self, X: Any, *, verify: bool = False, target: Any = None) -> Explanation:
        """Explain rows in one forward pass.

        Args:
            X: Rows with the same columns as in `fit`.
            verify: Also query the model about each row, and keep the fewest features under which its answer holds; see `verify`.
            target: Not supported; raises an error. To explain one class, use `lexplain.baselines.KernelSHAP`.
        """
        check.fitted(self)
        check_no_target(target, self.method_.name)
        encoded, scores, mask = self._one_pass(X)
        explanation = self._explanation(X, encoded, scores, mask)
        return verified(self, explanation, X) if verify else explanation

    def verify(
        self,
        explanation: Explanation,
        *,
        holds: float = 0.95,
        within: float | None = None,
        max_model_rows: int | None = None,
        background: Any = None,
    ) -> Explanation:
        """Find the fewest features of each row, by their scores, under which the answer of the queried model holds.

        See `lexplain.verify` for the method. Without a model, the explainer's own predictor is queried. If the explainer has a penalty
        or a fixed keep, such as keep=5, the kept features stay, and only `holds` is measured.

        Args:
            explanation: Explanation of this explainer.
            holds: Share of draws of the other features in which the answer must hold.
            within: How far the output may move; see `lexplain.verify`.
            max_model_rows: Maximum number of queries of the model per row. A row that reaches it is not verified. None: no limit.
            background: Rows that hidden values come from. None: training rows that the explainer holds (at most 2,000).

        Returns:
            The explanation with the new mask and `holds`, `holds_se`, `verified` and `model_rows`.
        """
        check.fitted(self)
        settings = {"background": background, "holds": holds, "within": within, "max_model_rows": max_model_rows}
        return verified(self, explanation, rows_of(self, explanation), **settings)

    def _explanation(self, X: RawRows, encoded: Encoded, scores: Tensor, mask: Tensor) -> Explanation:
        """An explanation with these scores and masks (b, d)."""
        method, max_rows = self.method_, self._max_rows()
        units = (self.target_scale_, self.target_mean_) if self.outputs_.real else None
        return Explanation(
            scores=scores,
            mask=mask,
            names=self.features_.row_names(X),
            data=self.features_.check(X),
            method=method.name,
            features=self.features_,
            compute_prediction=output_of(self, X, encoded),
            compute_kept_prediction=partial(kept_prediction, method, encoded, mask, units=units, max_rows=max_rows),
            classes=tuple(self.classes_) if hasattr(self, "classes_") else None,
            valid=None if encoded.valid is None else encoded.valid.cpu(),
            unexplained=None if encoded.unexplained is None else encoded.unexplained.cpu(),
            perturbation_based=not isinstance(method.predictor, Trained),  # a trained predictor replaces queries on imputed rows
        )

    def _one_pass(self, X: RawRows) -> tuple[Encoded, Tensor, Tensor]:
        """The encoded rows, and their scores and masks (b, d)."""
        context = partial(context_of, self) if self.method_.reads_output else None
        return OnePass(self.method_, self._max_rows(), context)(X)

    __call__ = explain

    def attribute(self, inputs: Any, target: Any = None) -> Any:
        """Return scores like captum's `attribute`: with the shape, type and device of the rows, and as a tuple if inputs is one.

        Args:
            inputs: Rows (n, columns) as a tensor, or a tuple with one tensor.
            target: Ignored; accepted because captum's metrics pass it.
        """
        from .interop import attribute

        return attribute(self, inputs)

    def plot_path(self, ax: Any = None) -> Any:
        """Plot the change of predictions against the number of features kept, and the choice of keep="auto". Returns matplotlib Axes.

        Args:
            ax: Axes to draw on. None: a new figure.
        """
        from ..report import path

        check.fitted(self)
        return path(required_path(self.path_), ax=ax)

    @cached_property
    def card_(self) -> Card:
        """Quality measures and verdict, on rows that `fit` was not trained or tuned on. Computed on first access."""
        check.fitted(self)
        return fit_card(self)

    # ---- comparisons ----

    fits_each_row: ClassVar[bool] = False  # one forward pass explains all rows

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method if isinstance(self.method, str) else self.method.name

    @property
    def model_rows_(self) -> int:
        """Number of rows sent to the model since `fit` began, also by `explain`. 0 without a model."""
        return 0 if self.model_function_ is None else self.model_function_.rows

    needs_of, prepared = needs_of, prepared

    # ---- save ----

    def save(self, path: str | Path, *, background: int | None = None) -> None:
        """Save the explainer, without the user's model, as one safetensors file.

        Args:
            path: File to write.
            background: Training rows to store for the imputer and for `verify`. None: all that the explainer holds (at most 2,000). 0:
                none; the loaded explainer can explain, but not predict, and `verify` needs background=.
        """
        from .store import save

        save(self, Path(path), background)

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle and copy: everything except the rows of the fit, which only `card_` and `verify` need."""
        state = {name: value for name, value in super().__getstate__().items() if name != "splits_"}
        return state | {"background_": None} if "background_" in state else state

    @staticmethod
    def load(path: str | Path, *, method: Method | None = None, model: Any = None, device: str | Fabric = "auto") -> Explainer:
        """Load a saved explainer. The explained model and your own `Method` are not in the file: pass them again."""
        from .store import load

        return load(Path(path), method, model, device)
