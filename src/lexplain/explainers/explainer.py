"""The scikit-learn face of every method."""

from __future__ import annotations

import copy
import hashlib
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import ceil, log, prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from lightning_fabric import Fabric
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from torch import Tensor, nn

from .. import check
from ..auditing import Card
from ..core import Explanation, Trial, as_target, joined, seeded
from ..features import features_for
from ..imputers import Marginal
from ..masks import Coins
from ..methods import DEFAULT, FILLED_FROM_ROWS, METHODS, Method, Rounds, default_for
from ..objectives import Continuity
from ..predictors import Remembering, Target, from_labels, from_model, frozen_predictor
from ..training import Checkpoint, Settings, fabric_of, fit, rise_for
from .card import own_card
from .evidence import Evidence, FitWarning, findings
from .imputing import fitted_imputer, known_imputer
from .path import choose, path_judge, walk
from .prediction import prediction_of

STEPS = 3000  # optimiser steps of a default fit
THOROUGH = 2  # times as many of a thorough one; the default method has more networks and rounds instead
SETTLINGS = 3  # rounds at the price that points of accuracy choose
BUDGETS = ("default", "thorough")
FLIGHT, NUMBERS = 100_000, 2**23  # model rows, and numbers in them, that are in flight unless told
IMAGE_BATCH = 256  # images of an optimiser step
CALIBRATION_ROWS = 20_000  # rows that a rate is met on; a tenth of a small table would miss it by more than training's own bias


class Explainer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Learn which features make a prediction, then say so for any row in one forward pass.

    Args:
        method: a name from `lexplain.methods.METHODS`, or a `Method` built from parts; "default" is gains,
            and hold for images.
        keep: how many features to keep, a rate in (0, 1), or "auto": the fewest within a tolerance, which the default does unless told;
            of images it keeps a tenth.
        penalty: instead of keep, the price in nats of keeping every feature (the papers' lambda, which multiplies the MEAN).
        features: what can be on or off, such as `Groups(...)` or `Patches(4)`; None: each column, or each pixel (patches if they are many).
        selector: a network of scores (b, d); None: the method's own.
        predictor: a network that predicts from masked rows; None: the method's own.
        imputer: an imputer of encoded rows, or an imputer class or its name ("GaussianMixture"), which is fitted to them, or a number;
            None: the method's own.
        regime: "free" or "fixed" (explain labels, with a trained or a frozen predictor), "self" or "surrogate" (explain a model,
            with itself or with a trained predictor); None: "free" with labels, "surrogate" with a model.
        epochs: passes over the rows; None: about 3,000 optimiser steps, for the default method more where a table has over 32 features or
            points of accuracy are the tolerance.
        batch_size: rows of an optimiser step; None: a tenth of the rows, 32 to 1,000; 256 images.
        max_rows: most model rows in flight; None: 100,000, of images fewer.
        learning_rate: of Adam; None: 1e-3.
        tolerance: with keep="auto", nats by which predictions may move when what is not kept is drawn anew; None: 0.0065, but no more
            than 4.5 % of what the predictor knows.
        tolerance_points: instead, points of accuracy that an EVAL-X judge may lose (REAL-X, section 6.1).
        continuity: price in nats of each pair of neighbours of which one is kept and the other is not, for connected masks.
        options: settings of the method's own by name, such as {"own_share": 0.0} of hold or {"temperature": 0.3} of l2x.
        budget: "default", or "thorough": twice the steps; for the default method three times the networks and more rounds.
        device: "auto", "cpu", "cuda", "cuda:1", or a `lightning_fabric.Fabric` (mixed precision, several devices).
        random_state: seed of every draw.

    Example:
        >>> import lexplain as lx
        >>> data = lx.load_data("s3", rows=200, seed=0)
        >>> explainer = lx.Explainer("realx", keep=5, epochs=2).fit(data.train.x, data.train.y)
        >>> explainer.explain(data.test.x).mask.shape
        torch.Size([200, 11])
    """

    def __init__(
        self,
        method: str | Method = "default",
        *,
        keep: float | str | None = None,
        penalty: float | None = None,
        features: Any = None,
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
        """Learn from labels (`fit(X, y)`) or explain a model (`fit(X, model=...)`).

        Args:
            X: (rows, columns) numbers, a DataFrame of numbers, truths, text and categories, or images: (n, channels, rows, columns),
                (n, rows, columns, channels) or (n, rows, columns).
            y: labels, rows of probabilities, or real values.
            model: a scikit-learn estimator, an `nn.Module`, or a function of rows to class probabilities or values.
            checkpoint: a file to keep the state of the training in, and to go on from after an interruption.
        """
        began = time.perf_counter()
        blank = self._blank(X)
        rows = check.image_array(X) if getattr(blank, "images", False) else check.table(X)
        recipe = self._recipe(blank)
        regime = check.regime_fits(self.regime, y, model, recipe is METHODS["meed"] or getattr(recipe, "reads_output", False))
        if not isinstance(recipe, Method):
            check.method_options(self.options, recipe, self.get_params(deep=False), learns=regime in ("free", "surrogate"))
        features = blank if getattr(blank, "columns", ()) and isinstance(recipe, Method) else copy.deepcopy(blank).fit(X)
        self._flight = rows_in_flight(features.shape)
        check.enough_features(features.count)
        keep = self._keep(recipe)
        check.keep_or_penalty(keep, self.penalty, features.count)
        check.tolerances(keep, self.tolerance, self.tolerance_points, recipe is METHODS[DEFAULT] or isinstance(recipe, Method))
        check.one_of(self.budget, BUDGETS, "budget")
        known_imputer(self.imputer)
        check.networks_given(selector=self.selector, predictor=self.predictor)
        check.enough_rows(len(rows))
        if regime in ("free", "fixed"):
            check.same_length(rows, check.target_values(y))
        if isinstance(model, nn.Module):
            check.eaten_by_network(getattr(features, "categorical", ()))
        spoken, ask = (None, None) if model is None else from_model(model, X)
        target = from_labels(y) if regime in ("free", "fixed") else spoken
        assert target is not None
        if spoken is not None:
            check.outputs_fit(spoken.outputs, target.outputs, "the model")
        check.points_fit(self.tolerance_points, target.outputs.real)
        seed = _seed(self.random_state)
        with seeded(seed):
            encoded, fabric = features.encode(X), self._fabric()
            method = self._build(recipe, regime, features, target, ask, encoded, fabric.device)
            check.outputs_fit(getattr(method.predictor, "outputs", None), target.outputs, "the predictor")
            context = None if not method.reads_output or spoken is None else _context(spoken)
            trial = Trial(encoded, as_target(target.values, target.outputs.real), context=context)
            order = torch.randperm(len(rows))
            unseen, validation, train = (trial.take(part) for part in _split(order))
            settings = self._settings(recipe, features.shape, len(train), seed)
            method.to(fabric.device)
            method.refuse_misfit(train.take(slice(0, 4)).to(fabric.device))
            kept = None if checkpoint is None else Checkpoint(checkpoint, self._fingerprint(features, encoded, target.values, seed))
            history = list(fit(method, method.phases(), train, validation, settings, fabric=fabric, checkpoint=kept))
            self._calibrate(method, joined(validation, train).take(slice(0, CALIBRATION_ROWS)).to(fabric.device))
            history += self._walk(keep, method, train, validation, settings, fabric)
        self._remember(X, method, features, target, regime, ask)
        self.history_ = pd.DataFrame(history)
        self.evidence_ = Evidence(train, validation, unseen, seed)
        self._card: Any = None
        self.fit_seconds_ = time.perf_counter() - began
        self.findings_ = findings(method, validation.to(fabric.device), regime, max_rows=self._max_rows())
        for finding in self.findings_:
            warnings.warn(finding, FitWarning, stacklevel=2)
        return self

    def _keep(self, recipe: Callable[..., Method] | Method) -> Any:
        plan = getattr(recipe, "plan", None)
        open_ended = recipe is METHODS[DEFAULT] or (isinstance(plan, Rounds) and plan.price is None and plan.rate is None)
        return "auto" if open_ended and self.keep is None and self.penalty is None else _plain(self.keep)

    def _told(self, recipe: Callable[..., Method]) -> dict[str, Any]:
        """What a recipe is told about how much to keep, how hard to try, and settings of its own."""
        told = {"keep": None if self._keep(recipe) == "auto" else self.keep, "penalty": self.penalty}
        if recipe is METHODS[DEFAULT]:
            told["thorough"] = self.budget == "thorough"
        return {**told, **(self.options or {})}

    def _walk(self, keep: Any, method: Method, train: Trial, validation: Trial, settings: Settings, fabric: Fabric) -> list[Any]:
        """Walk the path of prices, and move the selector's threshold to the one that the tolerance chooses; return the epochs it took.

        Points of accuracy may be worth a price far above the one that gains were measured at. Then they are measured again in the
        company that this price keeps, and the path is walked anew, while that saves features.
        """
        self.path_: pd.DataFrame | None = None
        if keep != "auto":
            return []
        judge, rows = path_judge(method, train, validation, decides=self.tolerance_points is not None, fabric=fabric, seed=settings.seed)

        def walked() -> pd.DataFrame:
            path = walk(method, rows, judge, max_rows=self._max_rows())
            path = choose(path, method, rows, nats=self.tolerance, points=self.tolerance_points)
            method.selector.offset.fill_(-log(_chosen(path, "price")))
            return path

        path, plan, history = walked(), method.plan, list[Any]()
        for _ in range(SETTLINGS if self.tolerance_points is not None and isinstance(plan, Rounds) else 0):
            assert isinstance(plan, Rounds)
            before = copy.deepcopy(method.state_dict())
            history += fit(method, plan.settle(method, _chosen(path, "price")), train, validation, settings, fabric=fabric)
            method.eval()
            again = walked()
            if _chosen(again, "kept") >= _chosen(path, "kept"):
                method.load_state_dict(before)
                break
            path = again
        self.path_ = path
        return history

    def _recipe(self, features: Any) -> Callable[..., Method] | Method:
        if isinstance(self.method, Method):
            check.parts_given_once(self)
            return self.method
        if self.method == "default":
            return METHODS[default_for(features)]
        return METHODS[check.one_of(str(self.method), [*METHODS, "default"], "method")]

    def _blank(self, X: Any) -> Any:
        """What can be on or off, not fitted yet unless a Method brings it, whose imputer was fitted with it."""
        if isinstance(self.method, Method):
            return self.method.features
        return self.features if self.features is not None else features_for(X)

    def _build(
        self,
        recipe: Callable[..., Method] | Method,
        regime: str,
        features: Any,
        target: Target,
        ask: Remembering | None,
        encoded: Tensor,
        device: torch.device,
    ) -> Method:
        if isinstance(recipe, Method):
            given = copy.deepcopy(recipe)
            given.features = features
            return given
        predictor = copy.deepcopy(self.predictor)
        if ask is not None and (regime == "self" or regime == "fixed"):
            predictor = frozen_predictor(ask, target, features)
        wanted = Marginal if self.imputer is None and recipe in FILLED_FROM_ROWS else self.imputer
        imputer = None if wanted is None else fitted_imputer(wanted, encoded, device)
        method = recipe(
            features, target.outputs, selector=copy.deepcopy(self.selector), predictor=predictor, imputer=imputer, **self._told(recipe)
        )
        if regime == "fixed" and ask is None:  # learn a predictor of any mask first, then leave it as it is
            method.predictor_masks, method.own_share, method.predictor_first, method.predictor_rests = Coins, 0.0, 0.5, True
            if isinstance(method.plan, Rounds):
                method.plan = replace(method.plan, rests=True)
        if self.continuity is not None:
            check.continuity_fits(self.continuity, self.method, isinstance(method.plan, Rounds))
            grid = (features.layers, *features.grid) if getattr(features, "images", False) else None
            method.mask_costs += (Continuity(self.continuity, grid),)
        return method

    def _settings(self, recipe: Any, shape: tuple[int, ...], rows: int, seed: int) -> Settings:
        check.counts(epochs=self.epochs, batch_size=self.batch_size, max_rows=self.max_rows)
        check.positive(learning_rate=self.learning_rate)
        batch = self.batch_size or min(IMAGE_BATCH if len(shape) == 3 else 1000, max(32, rows // 10))
        steps = STEPS * (THOROUGH if self.budget == "thorough" and recipe is not METHODS[DEFAULT] else 1)
        epochs = self.epochs or max(5, ceil(steps / ceil(rows / batch)))
        rise, rate = rise_for(shape), self.learning_rate or 1e-3
        return Settings(epochs=epochs, batch_size=batch, learning_rate=rate, rise=rise, max_rows=self._max_rows(), seed=seed)

    def _max_rows(self) -> int:
        return self.max_rows or self._flight

    def _fabric(self) -> Fabric:
        return fabric_of(self.device)

    def _fingerprint(self, features: Any, encoded: Tensor, target: Tensor, seed: int) -> str:
        told = {name: repr(value) for name, value in self.get_params(deep=False).items() if name not in ("device", "max_rows")}
        told["random_state"] = repr(seed)
        told["options"] = repr(sorted((name, _plain(value)) for name, value in (self.options or {}).items()))
        digest = hashlib.blake2b(encoded.numpy().tobytes(), digest_size=16)
        digest.update(repr(features.state()).encode())  # rows in other units are encoded alike
        digest.update(target.numpy().tobytes())
        digest.update(repr(sorted(told.items())).encode())
        for part in (value for value in self.get_params(deep=False).values() if isinstance(value, nn.Module)):
            for weights in part.state_dict().values():  # an imputer's values are settings, and its name does not tell them
                digest.update(weights.cpu().numpy().tobytes())
        return digest.hexdigest()

    def _calibrate(self, method: Method, trial: Trial) -> None:
        """Move the selector's threshold so that a rate asked for is kept."""
        rate, offset = _plain(self.keep), getattr(method.selector, "offset", None)
        if not isinstance(rate, float) or not isinstance(offset, Tensor):
            return
        with torch.no_grad():
            drawn = [method.selector(rows, seen) for rows, seen in self._split(trial.x, trial.context)]
            if getattr(drawn[0], "k", None) is None:
                # NumPy's quantile: torch's refuses more than 16 million numbers.
                offset -= float(np.quantile(torch.cat([p.logits for p in drawn]).cpu().numpy(), 1 - rate))

    def _remember(self, X: Any, method: Method, features: Any, target: Target, regime: str, ask: Remembering | None) -> None:
        method.eval().requires_grad_(False)
        self.method_, self.features_, self.regime_, self.ask_ = method, features, regime, ask
        self.outputs_, self.target_mean_, self.target_scale_ = target.outputs, target.mean, target.scale
        self.n_features_in_, self._flight = len(features.columns), rows_in_flight(features.shape)
        if isinstance(X, pd.DataFrame) and all(isinstance(c, str) for c in X.columns):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if target.classes is not None:
            self.classes_ = target.classes
        elif hasattr(self, "classes_"):
            del self.classes_

    # ---- explain ----

    def explain(self, X: Any, *, target: Any = None) -> Explanation:
        """Say which features made each row's prediction.

        Args:
            X: rows with the columns of the fit.
            target: (rows,) or one label: the class to record as explained; None: the predicted one.
        """
        check.fitted(self)
        x, context, look = self._encoded(X)
        chunks = enumerate(self._split(x, context))
        parts = [self.method_.explain(rows, seen, to_cpu=True, meanwhile=None if at else look) for at, (rows, seen) in chunks]
        scores, mask = parts[0] if len(parts) == 1 else (torch.cat(column) for column in zip(*parts, strict=True))
        asked = None if target is None else torch.as_tensor(check.known_classes(target, getattr(self, "classes_", None), len(x)))
        units = (self.target_scale_, self.target_mean_) if self.outputs_.real else None
        return Explanation(
            scores=scores,
            mask=mask,
            feature_names=self.features_.names,
            data=X if isinstance(X, pd.DataFrame) else check.as_array(X),
            method=self.method_.name,
            features=self.features_,
            asked=asked,
            predict=partial(prediction_of, self.method_, x, mask, units=units, max_rows=self._max_rows()),
            classes=tuple(self.classes_) if hasattr(self, "classes_") else None,
        )

    __call__ = explain

    def attribute(self, inputs: Any, target: Any = None) -> Any:
        """Scores as captum's `attribute` gives them: of the shape, type and device of the rows, and a tuple for a tuple.

        Args:
            inputs: rows (n, columns) as a tensor, or a tuple of one.
            target: taken because captum's metrics pass it on; a selection is one of the prediction, of whatever class.
        """
        from .attribute import attribute

        return attribute(self, inputs)

    def plot_path(self, ax: Any = None) -> Any:
        """Draw what keeping fewer features costs, and the point that keep="auto" chose; returns the matplotlib Axes.

        Args:
            ax: where to draw; None makes a figure.
        """
        from ..report import path

        check.fitted(self)
        return path(check.path_there(self.path_), ax=ax)

    def _encoded(self, X: Any) -> tuple[Tensor, Tensor | None, Callable[[], None] | None]:
        """Rows as the networks eat them, what the selector may see of the model's output, and a look at the rows still to be taken."""
        device = self.method_.selector.offset.device
        unseen = getattr(self.features_, "encode_unseen", None)
        if unseen is not None and device.type != "cpu" and not self.method_.reads_output:
            x, look = unseen(X, device)
            return x, None, look
        x = self.features_.encode(X).to(device)
        if not self.method_.reads_output:
            return x, None, None
        ask = self.ask_
        check.model_there(ask)
        assert ask is not None
        # Images may have come in another type than that of the fit, which is the one that the model eats.
        other = getattr(self.features_, "images", False) and str(check.as_array(X).dtype) != self.features_.dtype
        rows = self.features_.decode(x) if other else X
        values = torch.as_tensor(ask(rows), dtype=torch.float32, device=device).reshape(len(x), -1)
        return x, (values - self.target_mean_) / self.target_scale_ if self.outputs_.real else values, None

    def _split(self, x: Tensor, other: Tensor | None) -> list[tuple[Tensor, Tensor | None]]:
        step = self._max_rows()
        if len(x) <= step:
            return [(x, other)]
        beside = torch.split(other, step) if other is not None else [None] * ceil(len(x) / step)
        return list(zip(torch.split(x, step), beside, strict=True))

    @property
    def card_(self) -> Card:
        """The fit's own card, from rows that neither the training nor the choice of a price has seen; computed when it is first read."""
        check.fitted(self)
        if getattr(self, "_card", None) is None:
            self._card = own_card(self)
        card: Card = self._card
        return card

    # ---- scikit-learn ----

    def transform(self, X: Any) -> np.ndarray:
        """The mask (rows, features): True = visible."""
        mask: np.ndarray = self.explain(X).mask.numpy()
        return mask

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """One name a feature."""
        check.fitted(self)
        return np.asarray(self.features_.names, dtype=object)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities from the kept features alone."""
        check.fitted(self)
        if self.outputs_.real:
            raise AttributeError("this explainer was fitted to a real-valued target, which has no probabilities; use predict")
        values = self.explain(X).prediction.numpy().astype(np.float64)
        shares: np.ndarray = values / values.sum(1, keepdims=True)
        return shares

    def predict(self, X: Any) -> np.ndarray:
        """The class, or the value, predicted from the kept features alone."""
        check.fitted(self)
        if self.outputs_.real:
            values: np.ndarray = self.explain(X).prediction[:, 0].numpy()
            return values
        labels: np.ndarray = self.classes_[self.predict_proba(X).argmax(1)]
        return labels

    def score(self, X: Any, y: Any) -> float:
        """Accuracy, or R2, of the prediction from the kept features alone."""
        check.fitted(self)
        return float((r2_score if self.outputs_.real else accuracy_score)(check.as_array(y), self.predict(X)))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # ---- keep ----

    def save(self, path: str | Path) -> None:
        """Write everything but a user's own model into one safetensors file."""
        from .store import save

        save(self, Path(path))

    @staticmethod
    def load(path: str | Path, *, method: Method | None = None, model: Any = None, device: str | Fabric = "auto") -> Explainer:
        """Read what `save` wrote, onto a device; networks and other objects of your own are passed in as a `Method` or a model again."""
        from .store import load

        return load(Path(path), method, model, device)


def rows_in_flight(shape: tuple[int, ...]) -> int:
    """Most model rows at a time unless told: of images, whose layers hold many numbers for each pixel, fewer."""
    return FLIGHT if len(shape) < 3 else max(1, min(FLIGHT, NUMBERS // prod(shape)))


def _context(spoken: Target) -> Tensor:
    """What the selector may see of a model's output (n, c)."""
    return spoken.values[:, None] if spoken.outputs.real else spoken.values


def _split(order: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows that nothing learns from or is chosen on, rows to choose on, and rows to learn from."""
    held, unseen = max(5, ceil(len(order) / 10), min(200, len(order) // 5)), max(5, ceil(len(order) / 20))
    return order[held : held + unseen], order[:held], order[held + unseen :]


def _chosen(path: pd.DataFrame, column: str) -> float:
    return float(path.loc[path["chosen"], column].item())


def _plain(number: Any) -> Any:
    """A NumPy number as Python's own, so that 3 is a whole number whoever counted it."""
    return number.item() if isinstance(number, np.generic) else number


def _seed(random_state: Any) -> int:
    return int(random_state) if isinstance(random_state, (int, np.integer)) else int(check_random_state(random_state).randint(2**31 - 1))
