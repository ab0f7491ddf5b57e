"""SENN: a self-explaining model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from .. import check
from ..core import Batch, as_target
from ..core.contracts import Features, Labels, RandomState, RawRows
from ..core.splits import tenth
from ..methods import Step
from ..networks import MLP
from ..objectives import cross_entropy
from .baseline import Baseline, RowsToScore


class _Network(nn.Module):
    """Logits that are a weighted sum of the inputs, with weights that depend on the row."""

    def __init__(self, shape: tuple[int, ...], outputs: int) -> None:
        super().__init__()
        self.weights, self.outputs = MLP(shape, shape[0] * outputs, hidden=(100, 100)), outputs
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (b, c), or values (b, 1), and weights (b, D, c) of rows (b, D)."""
        weights = self.weights(x).reshape(len(x), -1, self.outputs)
        return torch.einsum("bd,bdc->bc", x, weights) + self.bias, weights


class SENN(Baseline):
    """Train a model that is linear near each row; the score of a feature is its weight times its value.

    It explains itself, not another model. It is trained on the outputs of the model, or on the labels without one. The explained class is
    its predicted class, and its prediction uses all features, not only the kept ones. Concepts are the columns.

    Args:
        smooth: Weight of the penalty on differences between weights and input gradients.
        steps: Optimiser steps.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Alvarez-Melis and Jaakkola, Towards Robust Interpretability with Self-Explaining Neural Networks, 2018, equation 3, section 3.2.
        The penalty is a mean over rows rather than the norm over a batch, so that its weight does not depend on the batch.
    """

    name = "senn"
    perturbation_based = False
    kinds = ("columns",)
    needs = ("model", "y")

    def __init__(
        self,
        *,
        smooth: float = 0.01,
        steps: int = 3000,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.smooth = smooth
        self.steps = steps

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.enough_rows(len(x))
        check.counts(steps=self.steps)
        self.network_ = _Network(self.features_.shape, self._target.outputs.count)
        parts = tenth(Batch(x, as_target(self._target.values, self._target.outputs.real)), self.seed_)
        step = Step("senn", self.network_, self._loss, self._misfit)
        self._train(self.network_, step, parts, self.steps)

    def _misfit(self, batch: Batch) -> Tensor:
        return cross_entropy(batch.target, self._target.outputs.from_network(self.network_(batch.x)[0])).mean()

    def _loss(self, batch: Batch) -> Tensor:
        """Misfit, and squared differences between the weights and the input gradients of the logits."""
        x = batch.x.detach().requires_grad_()
        logits, weights = self.network_(x)
        gradients = [torch.autograd.grad(logits[:, c].sum(), x, create_graph=True)[0] for c in range(logits.shape[1])]
        difference = (torch.stack(gradients, 2) - weights).square().sum((1, 2)).mean()
        loss: Tensor = cross_entropy(batch.target, self._target.outputs.from_network(logits)).mean() + self.smooth * difference
        return loss

    def _explained_output(self, rows: RawRows, x: Tensor) -> Tensor:
        logits: Tensor = torch.cat([self.network_(part)[0] for part in torch.split(x, self._max_rows())])
        output: Tensor = logits * self._target.scale + self._target.mean if self._target.outputs.real else logits.softmax(1)
        return output

    def _predict(self, x: Tensor) -> Callable[[], Tensor]:
        return partial(self._explained_output, None, x)

    def _scores(self, rows: RowsToScore) -> Tensor:
        weights = self.network_(rows.x)[1][torch.arange(len(rows)), :, rows.target_class]
        return self.features_.gather(rows.x * weights) * self._target.scale
