"""Train a network to be right for the right reasons: the scikit-learn estimator."""

from __future__ import annotations

import copy
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from torch import Tensor, nn

from .. import check
from ..core import Batch, Explanation, seeded
from ..core.contracts import Features, Labels, RandomState, RawRows
from ..core.rows import as_array
from ..core.seeding import seed_of
from ..models import Target
from ..training import Checkpoint, Settings, constant, fabric_of
from .fitting import BATCH_SIZE, Result, default_network, fingerprint, train
from .inputs import Inputs, read_training_rows
from .penalty import PenaltySettings, check_variant, input_gradients
from .store import load, save

if TYPE_CHECKING:
    from lightning_fabric import Fabric

log = logging.getLogger("lexplain")
MAX_STILL_USED = 0.1  # share of predictions that change with marked inputs, above which a warning is logged
CUTOFF = 0.67  # share of a row's largest input gradient above which an input counts as used (the paper's c)
MAX_ROWS = 8192  # rows per forward pass outside training


class RightReasons(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Train a differentiable network that must not use the inputs that you mark.

    Training penalises the gradients of the network's output with respect to marked inputs. Rows without marks contribute only their
    labels. If no row has marks, this is plain training. Shapes: n or b rows, c classes, d features.

    Args:
        network: Network from rows (b, ...) to logits (b, c), or to values (b, 1) if y is real. `fit` copies it with its weights. The
            network reads the inputs unchanged (images, embedded tokens), or encoded by `features` if you pass them. None: a default
            dense network.
        features: What to mark and explain, such as `Columns()` or `Groups(...)`; rows are checked and encoded by them, so a DataFrame may
            have categories. None: each input of your network; for the default network, the default features of the rows.
        strength: Weight of the gradient penalty (the paper's lambda_1), or "auto": makes the penalty about as large as the label loss.
        scale: Whether to penalise the gradients of "log" or "linear" probabilities.
        target: "sum" over the classes, "max" (the predicted class), "label" (the row's class), or the index of a class.
        normalise: Whether to divide the penalty by the number of marked values. False: by the number of rows; see `right_reasons_loss`.
        l2: Weight of the squared parameters (the paper's lambda_2); divided by the batch size.
        epochs: Passes over the rows.
        batch_size: Rows per optimiser step. None: 256; for the default network a tenth of the rows, from 16 to 256.
        learning_rate: Learning rate of Adam.
        held_out: Share of the rows for choosing the best epoch. Their marked inputs are swapped between rows, so that networks that use
            them score worse. 0: the last epoch is kept, as in the paper.
        device: "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1" or a `lightning_fabric.Fabric`.
        random_state: Seed.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"leak": ["a", "b"] * 30, "dose": [0.0, 1.0] * 30})
        >>> model = RightReasons(epochs=2).fit(table, [0, 1] * 30, irrelevant_mask=[1, 0])
        >>> model.explain(table.head(3)).names
        ('leak', 'dose')

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons: Training Differentiable Models by Constraining their Explanations,
        2017, equation 1.
    """

    def __init__(
        self,
        network: nn.Module | None = None,
        *,
        features: Features | None = None,
        strength: float | str = "auto",
        scale: str = "log",
        target: str | int = "sum",
        normalise: bool = True,
        l2: float = 0.0,
        epochs: int = 64,
        batch_size: int | None = None,
        learning_rate: float = 1e-3,
        held_out: float = 0.1,
        device: str | Fabric = "auto",
        random_state: RandomState = 0,
    ) -> None:
        self.network = network
        self.features = features
        self.strength = strength
        self.scale = scale
        self.target = target
        self.normalise = normalise
        self.l2 = l2
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.held_out = held_out
        self.device = device
        self.random_state = random_state

    def fit(
        self,
        X: RawRows,
        y: Labels,
        *,
        irrelevant_mask: object = None,
        annotated_rows: object = None,
        always_include: object = None,
        checkpoint: str | Path | None = None,
    ) -> RightReasons:
        """Train the network.

        Args:
            X: Inputs of the network (n, ...), or rows that `features` encode. Column names of a DataFrame are used in explanations.
            y: Labels or real values (n,), or probabilities (n, c).
            irrelevant_mask: 1 = must not be used. It has the shape of X (rows of NaN have no marks), or of one row of X, for all rows.
                With annotated_rows, it has one mask per such row. With features, a row has one entry per feature or per encoded input.
            annotated_rows: Indices of the rows that irrelevant_mask describes. None: all rows.
            always_include: Indices of rows to put into each batch, such as the few annotated ones.
            checkpoint: File for the training state; an interrupted fit resumes from it.
        """
        self._check()
        plain = self.network is not None and self.features is None
        inputs, encoded, target = read_training_rows(X, y, self.features, plain=plain)
        seed = seed_of(self.random_state, below=2**31)
        marks = None if irrelevant_mask is None else inputs.marks(irrelevant_mask, encoded, annotated_rows)
        rows = Batch(encoded.x, target.outputs.target(target.values), valid=encoded.valid, irrelevant=marks)
        always = None if always_include is None else rows.take(torch.as_tensor(as_array(always_include)))
        network = self._new_network(inputs, target, seed)
        state = None if checkpoint is None else Checkpoint(checkpoint, fingerprint(network, rows, seed, self._settings()))
        # The default network gets about ten steps per epoch even on a small table.
        default = min(BATCH_SIZE, max(16, len(rows) // 10)) if self.network is None else BATCH_SIZE
        batch = default if self.batch_size is None else self.batch_size
        with seeded(seed):
            result = train(
                network,
                rows,
                target.outputs,
                Settings(self.epochs, batch, self.learning_rate, schedule=constant, seed=seed),
                variant=PenaltySettings(self.scale, self.target, self.normalise, self.l2),
                strength=None if self.strength == "auto" else float(self.strength),
                held_out=self.held_out,
                always=always,
                fabric=fabric_of(self.device),
                checkpoint=state,
            )
        self._set_fitted(inputs, replace(target, values=target.values[:0]), result)
        self._warn()
        return self

    def _check(self) -> None:
        check_variant(self.scale, self.target)
        if self.strength != "auto" and not (isinstance(self.strength, (int, float, np.number)) and 0 <= self.strength < np.inf):
            raise ValueError(f"strength must be 'auto' or a number of at least 0, got {self.strength!r}.")
        check.counts(epochs=self.epochs, batch_size=self.batch_size)
        check.positive(learning_rate=self.learning_rate)

    def _new_network(self, inputs: Inputs, target: Target, seed: int) -> nn.Module:
        """A copy of the user's network, or a default one."""
        if self.network is not None:
            return copy.deepcopy(self.network)
        with seeded(seed):
            return default_network(inputs.shape, target.outputs)

    def _settings(self) -> dict[str, Any]:
        """The settings that determine a training, in addition to the rows, their marks and the network."""
        return {name: value for name, value in self.get_params(deep=False).items() if name not in ("network", "features", "device")}

    def _set_fitted(self, inputs: Inputs, target: Target, result: Result) -> None:
        """Set the attributes of a fitted object."""
        self.inputs_, self.target_, self.outputs_ = inputs, target, target.outputs
        self.features_, self.input_shape_, self.names_ = inputs.features, inputs.shape, inputs.names
        self.n_features_in_ = inputs.count
        if target.classes is not None:
            self.classes_ = target.classes
        self.network_, self.history_ = result.network, result.history
        self.strength_, self.still_used_ = result.strength, result.still_used

    def _warn(self) -> None:
        if self.still_used_ > MAX_STILL_USED:
            log.warning(
                "%.0f %% of the predictions still change with marked inputs: the other inputs may not predict the target, "
                "or strength=%.3g is too low",
                100 * self.still_used_,
                self.strength_,
            )

    # ---- predictions and explanations ----

    def _read(self, X: RawRows) -> tuple[RawRows, Tensor, Tensor | None]:
        """Raw rows, encoded rows, and which of their features are valid."""
        self._require_fit()
        rows, encoded = self.inputs_.read(X)
        return rows, encoded.x, encoded.valid

    def _require_fit(self) -> None:
        if not hasattr(self, "network_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call fit first.")

    @torch.no_grad()
    def _outputs(self, x: Tensor) -> Tensor:
        device = next(self.network_.parameters()).device
        return torch.cat([self.network_(part.to(device)).cpu() for part in torch.split(x, MAX_ROWS)])

    def _prediction(self, x: Tensor) -> Tensor:
        """Class probabilities (n, c), or values (n, 1)."""
        output = self._outputs(x)
        return output.reshape(-1, 1) * self.target_.scale + self.target_.mean if self.outputs_.real else output.softmax(1)

    def predict_proba(self, X: RawRows) -> np.ndarray:
        """Class probabilities (n, c)."""
        _, x, _ = self._read(X)
        if self.outputs_.real:
            raise AttributeError("A real-valued target has no class probabilities. Use predict.")
        return np.asarray(self._prediction(x))

    def predict(self, X: RawRows) -> np.ndarray:
        """The most probable classes (n,), or the predicted values."""
        output = self._outputs(self._read(X)[1])
        if self.outputs_.real:
            values: np.ndarray = output.reshape(len(output)).numpy() * self.target_.scale + self.target_.mean
            return values
        labels: np.ndarray = self.classes_[output.argmax(1).numpy()]
        return labels

    def score(self, X: RawRows, y: Labels) -> float:
        """Accuracy, or R² of real values."""
        from sklearn.metrics import accuracy_score, r2_score

        predicted = self.predict(X)
        return float((r2_score if self.outputs_.real else accuracy_score)(as_array(y), predicted))

    def input_gradients(self, X: RawRows, *, scale: str | None = None, target: str | int | None = None) -> np.ndarray:
        """Gradients (n, ...) of the network's output with respect to its inputs (encoded inputs, if it has features).

        By default they are the gradients that training penalised; `scale` and `target` choose others. The paper's figures use `"linear"`
        and `"max"`. Rows have no labels here, so `"label"` means the predicted class.
        """
        return np.asarray(self._input_gradients(self._read(X)[1], scale, target))

    def _input_gradients(self, x: Tensor, scale: str | None, target: str | int | None) -> Tensor:
        scale, target = scale or self.scale, self.target if target is None else target
        check_variant(scale, target)
        target = "max" if target == "label" else target
        device = next(self.network_.parameters()).device
        parts = [input_gradients(self.network_, part.to(device), scale=scale, target=target)[0] for part in torch.split(x, MAX_ROWS)]
        return torch.cat(parts).cpu()

    def explain(self, X: RawRows, *, scale: str | None = None, target: str | int | None = None) -> Explanation:
        """Score inputs by absolute gradient, or features by the norm of gradients. Keep scores above 67 % of the row's largest.

        Reference:
            Ross, Hughes and Doshi-Velez, 2017, section 3.3 (the mask of the largest input gradients).
        """
        rows, x, valid = self._read(X)
        scores = self.inputs_.scores(self._input_gradients(x, scale, target))
        scores = scores if valid is None else torch.where(valid, scores, 0.0)
        return Explanation(
            scores=scores,
            mask=largest(scores),
            names=self.inputs_.row_names(rows),
            data=rows,
            method="input gradients",
            features=self.features_,
            compute_prediction=partial(self._prediction, x),
            compute_kept_prediction=partial(self._prediction, x),
            classes=None if self.outputs_.real else tuple(self.classes_.tolist()),
            valid=valid,
        )

    # ---- files ----

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one safetensors file, without pickle or training rows."""
        self._require_fit()
        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, network: nn.Module | None = None, device: str | Fabric = "auto") -> RightReasons:
        """Load a saved model.

        Args:
            path: File that `save` wrote.
            network: Your network, built again, if you trained your own; its weights are read from the file.
            device: "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1" or a `lightning_fabric.Fabric`.
        """
        return load(Path(path), cls, network, device)


def largest(sizes: Tensor, cutoff: float = CUTOFF) -> Tensor:
    """Mask (b, d) of bool: where sizes (b, d) are above a share of the row's largest."""
    return sizes > cutoff * sizes.amax(1, keepdim=True)
