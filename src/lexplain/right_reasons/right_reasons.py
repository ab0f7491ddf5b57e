"""Train a network to be right for the right reasons: the scikit-learn face."""

from __future__ import annotations

import copy
import hashlib
import logging
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from torch import Tensor, nn

from .. import check
from ..core import Explanation, Trial, as_target, seeded, target_values
from ..methods import Phase, Step
from ..predictors import Target, from_labels
from ..training.checkpoint import Checkpoint
from ..training.device import fabric_of
from ..training.fit import fit
from ..training.settings import Settings, constant
from .annotation import mask_of_rows
from .learner import Learner, Variant
from .penalty import input_gradients

log = logging.getLogger("lexplain")
USED = 0.1  # share of answers that change with marked inputs from which it is said
CUTOFF = 0.67  # of a row's largest slope, above which an input counts as used (the paper's c)
PROBE = 1000  # most steps that are spent on finding a strength; a network that has not begun to learn has no slopes to measure
MAX_ROWS = 8192  # of a forward pass outside training


class RightReasons(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Train a differentiable network on labels and on what people say must not decide them.

    Its slopes along inputs that the annotation marks are penalised; of rows without annotation only the answers count. With no mark at
    all it is plain training. `network` is copied by `fit`, and starts from the weights that it has.

    Args:
        network: rows (b, ...) to logits (b, c), or to values (b, 1) where y is real. For text, rows are embedded tokens.
        strength: what the reasons cost beside the answers (the paper's lambda_1), or "auto": both terms are kept of one order of
            magnitude, from the training rows alone.
        scale: "log" or "linear" probabilities have the slopes that are penalised.
        target: "sum" over the classes, "max", "label", or the index of a class; see `right_reasons_loss`, as for normalise.
        normalise: divide by the number of marks; False: the published sums over the rows of a batch.
        l2: price of the squared weights and biases (the paper's lambda_2, for its sums: a batch of b rows costs l2 / b).
        epochs: passes over the rows.
        batch_size: rows of an optimiser step.
        learning_rate: of Adam.
        held_out: share of the rows on which the best epoch is chosen; there marked inputs take the values of other rows, so that who
            uses them is found out. 0: the last epoch is kept, as in the paper.
        device: "auto", "cpu", "cuda", "cuda:1" or a Fabric.
        random_state: of the order of rows and of every draw.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons: Training Differentiable Models by Constraining their Explanations,
        2017, equation 1.
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        strength: float | str = "auto",
        scale: str = "log",
        target: str | int = "sum",
        normalise: bool = True,
        l2: float = 0.0,
        epochs: int = 64,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        held_out: float = 0.1,
        device: Any = "auto",
        random_state: Any = 0,
    ) -> None:
        self.network = network
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
        X: Any,
        y: Any,
        *,
        irrelevant_mask: Any = None,
        annotated_rows: Any = None,
        always_include: Any = None,
        checkpoint: str | Path | None = None,
    ) -> RightReasons:
        """Learn.

        Args:
            X: (n, ...) inputs as the network eats them; a DataFrame gives its columns' names to explanations.
            y: (n,) labels or real values, or (n, c) probabilities.
            irrelevant_mask: 1 = must not be used; (n, ...) as X, where rows of NaN are not annotated; the shape of one input, for all
                rows; or (m, ...) for the m `annotated_rows`.
            annotated_rows: (m,) numbers of the rows that irrelevant_mask is of; None: all.
            always_include: numbers of rows that are in each batch, such as the few that are annotated.
            checkpoint: a file to keep the state of the training in, and to go on from after an interruption.
        """
        self._check()
        x = check.inputs(X)
        target = from_labels(y)
        check.same_length(x, target.values)
        seed = (
            self.random_state if isinstance(self.random_state, (int, np.integer)) else check_random_state(self.random_state).randint(2**31)
        )
        marks = None if irrelevant_mask is None else torch.from_numpy(mask_of_rows(irrelevant_mask, x.shape, annotated_rows).copy())
        rows = Trial(torch.from_numpy(x), as_target(target.values, target.outputs.real), irrelevant=marks)
        with seeded(int(seed)):
            self._train(rows, target, int(seed), always_include, checkpoint)
        self.target_, self.outputs_ = replace(target, values=target.values[:0]), target.outputs
        self.n_features_in_ = x.shape[1]
        self.input_shape_ = x.shape[1:]
        if target.classes is not None:
            self.classes_ = target.classes
        named = isinstance(X, pd.DataFrame)
        self.names_ = tuple(map(str, X.columns)) if named else tuple(_place(index) for index in np.ndindex(*x.shape[1:]))
        return self

    def _check(self) -> None:
        check.right_reasons_variant(self.scale, self.target)
        check.strength_fits(self.strength)
        check.counts(epochs=self.epochs, batch_size=self.batch_size)
        check.positive(learning_rate=self.learning_rate)

    def _train(self, rows: Trial, target: Target, seed: int, always_include: Any, checkpoint: Any) -> None:
        fabric = fabric_of(self.device)
        network = copy.deepcopy(self.network).to(fabric.device).requires_grad_(True)
        with torch.no_grad():
            few = rows.take(slice(0, 4)).to(fabric.device)
            check.network_output(network.eval()(few.x), len(few), target.outputs.count, target.outputs.real)
        train, held = self._split(rows)
        marked = train.irrelevant is not None and self.strength != 0 and bool(train.irrelevant.any())
        if not marked:
            train, held = replace(train, irrelevant=None), replace(held, irrelevant=None)
        always = None if always_include is None else rows.take(torch.as_tensor(check.as_array(always_include))).to(fabric.device)
        variant = Variant(self.scale, self.target, self.normalise, self.l2)
        learner = Learner(network, variant, None if self.strength == "auto" else float(self.strength), always)
        if marked and self.strength == "auto":
            learner.find_strength(train.to(fabric.device), rate=self.learning_rate, steps=PROBE, batch=self.batch_size)
        step = Step("network", learner, learner.loss, learner.judge, copies=3 if marked else 1)
        phase = Phase("right reasons" if marked else "network", (step,), settle=0.0 if self.held_out else 1.0)
        settings = Settings(self.epochs, self.batch_size, self.learning_rate, schedule=constant, seed=seed)
        kept = None if checkpoint is None else Checkpoint(checkpoint, self._fingerprint(rows, seed))
        self.history_ = pd.DataFrame(fit(learner, [phase], train, held, settings, fabric=fabric, checkpoint=kept))
        self.network_ = network.eval().requires_grad_(False)
        self.strength_ = learner.last_strength
        self.still_used_ = learner.still_used((held if self.held_out else train).to(fabric.device)) if marked else 0.0
        if self.still_used_ > USED:
            log.warning(
                "%.0f %% of the answers still change with inputs that were marked: the others may not tell the answer, or strength=%.3g is "
                "too low",
                100 * self.still_used_,
                self.strength_,
            )

    def _split(self, rows: Trial) -> tuple[Trial, Trial]:
        if not self.held_out:
            return rows, rows.take(slice(0, 1))
        check.enough_rows(len(rows))
        order, held = torch.randperm(len(rows)), max(5, ceil(self.held_out * len(rows)))
        return rows.take(order[held:]), rows.take(order[:held])

    def _fingerprint(self, rows: Trial, seed: int) -> str:
        told = {name: repr(value) for name, value in self.get_params(deep=False).items() if name not in ("network", "device")}
        digest = hashlib.blake2b(repr([seed, sorted(told.items())]).encode(), digest_size=16)
        for tensor in (rows.x, target_values(rows.target), rows.irrelevant, *self.network.state_dict().values()):
            digest.update(b"" if tensor is None else tensor.detach().cpu().numpy().tobytes())
        return digest.hexdigest()

    # ---- what it says ----

    def _ready(self, X: Any) -> Tensor:
        check.fitted_network(self)
        x = check.inputs(X)
        check.same_input_shape(x.shape[1:], self.input_shape_)
        return torch.from_numpy(x)

    @torch.no_grad()
    def _outputs(self, X: Any) -> Tensor:
        x = self._ready(X)
        device = next(self.network_.parameters()).device
        return torch.cat([self.network_(part.to(device)).cpu() for part in torch.split(x, MAX_ROWS)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities (n, c)."""
        output = self._outputs(X)
        check.classes_there(self.outputs_.real)
        return np.asarray(output.softmax(1))

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class (n,), or the value."""
        output = self._outputs(X)
        if self.outputs_.real:
            values: np.ndarray = output.reshape(len(output)).numpy() * self.target_.scale + self.target_.mean
            return values
        labels: np.ndarray = self.classes_[output.argmax(1).numpy()]
        return labels

    def score(self, X: Any, y: Any) -> float:
        """Accuracy, or R² of real values."""
        return float((r2_score if self.outputs_.real else accuracy_score)(check.as_array(y), self.predict(X)))

    def input_gradients(self, X: Any, *, scale: str | None = None, target: str | int | None = None) -> np.ndarray:
        """The slopes (n, ...) of what the network says, by default of what was penalised; `"linear"` and `"max"` for the paper's pictures.

        "label" explains the predicted class here, since rows come without labels.
        """
        x = self._ready(X)
        scale, target = scale or self.scale, self.target if target is None else target
        check.right_reasons_variant(scale, target)
        asked = "max" if target == "label" else target
        device = next(self.network_.parameters()).device
        parts = [input_gradients(self.network_, part.to(device), scale=scale, target=asked)[0] for part in torch.split(x, MAX_ROWS)]
        return np.asarray(torch.cat(parts).cpu())

    def explain(self, X: Any, *, scale: str | None = None, target: str | int | None = None) -> Explanation:
        """How much each input matters: the size of its slope; kept are those above 0.67 of the row's largest.

        Reference:
            Ross, Hughes and Doshi-Velez, 2017, section 3.3 (the mask of the largest input gradients).
        """
        sizes = torch.from_numpy(np.abs(self.input_gradients(X, scale=scale, target=target)).reshape(len(X), -1))
        return Explanation(
            scores=sizes,
            mask=largest(sizes),
            feature_names=self.names_,
            data=X if isinstance(X, pd.DataFrame) else check.as_array(X),
            method="input gradients",
            predict=partial(self._say, X),
            classes=tuple(self.classes_.tolist()) if hasattr(self, "classes_") and not self.outputs_.real else None,
        )

    def _say(self, X: Any) -> Tensor:
        return torch.from_numpy(self.predict(X)[:, None] if self.outputs_.real else self.predict_proba(X))


def largest(sizes: Tensor, cutoff: float = CUTOFF) -> Tensor:
    """(b, d) of bool: where sizes (b, d) are above a share of the row's largest."""
    return sizes > cutoff * sizes.amax(1, keepdim=True)


def _place(index: tuple[int, ...]) -> str:
    return f"x{index[0] + 1}" if len(index) == 1 else f"x[{','.join(map(str, index))}]"
