"""Attributions of captum, one class each.

Gradient methods explain the network's output unchanged: if it returns logits, they explain logits, which do not saturate.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import ClassVar

import torch
from torch import Tensor

from .. import check
from ..core.contracts import Features, Labels, RandomState
from .baseline import Baseline, EncodedNetwork, RowsToScore


class GradientBaseline(Baseline):
    """Base class: scores from gradients of a network with respect to encoded rows."""

    needs = ("network",)
    method: ClassVar[str]  # name of captum's class
    settings: ClassVar[Mapping[str, bool]] = {}  # arguments of its `attribute`

    def _attribute(self, captum: ModuleType, x: Tensor, target: Tensor) -> Tensor:
        """Scores (b, ...) of encoded rows (b, ...) for the outputs (b,), on the network's device."""
        scores: Tensor = getattr(captum, self.method)(self.network_).attribute(x, target=target, **self.settings)
        return scores

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.require("captum.attr", extra="peers")  # fail in `fit`, not in `explain`
        self.network_ = EncodedNetwork(self.model_, self.features_.as_network_input, self._count)

    def _scores(self, rows: RowsToScore) -> Tensor:
        captum = check.require("captum.attr", extra="peers")
        device = self.network_.device
        with torch.backends.cudnn.flags(enabled=False):  # cuDNN's recurrent layers have no backward pass in evaluation mode
            raw = self._attribute(captum, rows.x.to(device).requires_grad_(), rows.target_class.to(device))
        return self.features_.gather(raw.detach())


class Saliency(GradientBaseline):
    """Input gradient of the output, with its sign.

    Reference:
        Simonyan et al., Deep Inside Convolutional Networks, 2014, section 3.
    """

    name = "saliency"
    perturbation_based = False
    method, settings = "Saliency", MappingProxyType({"abs": False})


class GradientXInput(GradientBaseline):
    """Input gradient times the distance from the mean: the contribution of the feature to a linear model.

    Reference:
        Shrikumar et al., Not Just a Black Box, 2016.
    """

    name = "gradient_x_input"
    perturbation_based = False
    method = "InputXGradient"


class IntegratedGradients(GradientBaseline):
    """Mean input gradient on the straight line from the mean row to the row, times the distance.

    Args:
        points: Number of points on the line.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Sundararajan et al., Axiomatic Attribution for Deep Networks, 2017, equation 1.
    """

    name = "integrated_gradients"

    def __init__(
        self,
        *,
        points: int = 50,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.points = points

    def _copies(self) -> int:
        check.counts(points=self.points)
        return int(self.points)

    def _attribute(self, captum: ModuleType, x: Tensor, target: Tensor) -> Tensor:
        batch = max(self._max_rows(), len(x))
        method = captum.IntegratedGradients(self.network_)
        parts: Tensor = method.attribute(x, target=target, n_steps=self.points, internal_batch_size=batch)
        return parts


class DeepLift(GradientBaseline):
    """Differences from the mean row, propagated through each layer by the rescale rule.

    Reference:
        Shrikumar et al., Learning Important Features Through Propagating Activation Differences, 2017, section 3.5.1.
    """

    name = "deeplift"
    method = "DeepLift"

    def _copies(self) -> int:
        return 2  # the row and the mean row


class SmoothGrad(GradientBaseline):
    """Mean input gradient at noisy copies of the row. The noise is the same for all rows, so scores do not depend on the other rows.

    Args:
        samples: Number of noisy copies.
        noise: Standard deviation of the noise, in standard deviations of the columns.
        keep, features, max_rows, random_state: See `Baseline`.

    Reference:
        Smilkov et al., SmoothGrad, 2017, section 2.1.
    """

    name = "smoothgrad"

    def __init__(
        self,
        *,
        samples: int = 50,
        noise: float = 0.2,
        keep: int | None = None,
        features: Features | None = None,
        max_rows: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(keep=keep, features=features, max_rows=max_rows, random_state=random_state)
        self.samples = samples
        self.noise = noise

    def _learn(self, x: Tensor, y: Labels) -> None:
        super()._learn(x, y)
        check.counts(samples=self.samples)
        self.noise_ = self.noise * torch.randn(self.samples, *x.shape[1:])

    def _copies(self) -> int:
        return len(self.noise_)

    def _attribute(self, captum: ModuleType, x: Tensor, target: Tensor) -> Tensor:
        method = captum.Saliency(self.network_)
        total = torch.zeros_like(x)
        for noise in torch.split(self.noise_.to(x.device), max(1, self._max_rows() // len(x))):
            copies = (x[None] + noise[:, None]).flatten(0, 1).detach().requires_grad_()  # (s b, ...)
            gradients = method.attribute(copies, target=target.repeat(len(noise)), abs=False)
            total = total + gradients.reshape(len(noise), *x.shape).sum(0)
        return total / len(self.noise_)


class Ablation(Baseline):
    """Decrease of the output when a feature is set to its mean. Works with any model.

    Reference:
        Zeiler and Fergus, Visualizing and Understanding Convolutional Networks, 2014, section 4.2.
    """

    name = "ablation"

    def _learn(self, x: Tensor, y: Labels) -> None:
        check.require("captum.attr", extra="peers")
        owner = self.features_.expand(torch.arange(self.features_.count))  # (...) feature of each encoded column
        self.owner_ = owner[None]
        self.first_ = (owner.flatten() == torch.arange(self.features_.count)[:, None]).int().argmax(1)  # (d,) one column per feature

    def _scores(self, rows: RowsToScore) -> Tensor:
        captum = check.require("captum.attr", extra="peers")
        at_once = max(1, self._max_rows() // len(rows))
        method = captum.FeatureAblation(self._query_encoded)
        changes = method.attribute(rows.x, target=rows.target_class, feature_mask=self.owner_, perturbations_per_eval=at_once)
        scores: Tensor = changes.flatten(1)[:, self.first_]  # all columns of a feature have the same score
        return scores
