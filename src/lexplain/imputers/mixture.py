"""Mixtures: how one of several components is chosen for each row, and those of independent normal columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from .. import check
from .fill import fill

if TYPE_CHECKING:
    from typing import Self

FIT_ROWS = 20_000  # more rows change a mixture little and cost as much again
ROWS_EACH = 5  # to learn the spread of a component from
CHUNK = 4096  # stored rows whose responsibilities are computed together


def sample_component(logits: Tensor) -> Tensor:
    """Draw an index (n,) from unnormalised log-probabilities (n, K)."""
    # The Gumbel trick: Categorical looks at the numbers that it is given, which vmap forbids.
    return (logits - torch.log(-torch.log(torch.rand_like(logits)))).argmax(1)


def visible_part(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (n, D) with 0 where they are hidden, and how far (n, D) each entry is visible."""
    on = mask.to(x.dtype).flatten(1)
    return torch.where(on > 0, x.flatten(1), 0.0), on  # where: what is hidden may be NaN


def subsample(x: Tensor, most: int) -> np.ndarray:
    """At most so many rows, drawn at random, as a flat array (n, D) of doubles for scikit-learn."""
    flat = x.detach().flatten(1)
    if len(flat) > most:
        flat = flat[torch.randperm(len(flat))[:most].to(flat.device)]
    return flat.double().cpu().numpy()


def seed() -> int:
    """A seed for scikit-learn that torch's random state decides."""
    return int(torch.randint(2**31 - 1, ()))


def limit_components(rows: np.ndarray, components: int, each: int = 1) -> int:
    """How many components rows can bear: there must be so many rows that differ for each, or its spread is that of nothing."""
    return max(1, min(components, len(np.unique(rows, axis=0)) // each))


class Mixture(nn.Module):
    """Draw a component k given what is visible and fill with what that component says: a leaf has `log_likelihoods` and `values`.

    With nothing visible, k follows the weights. A soft mask weighs the log-likelihood of each entry; the component chosen, and so the
    filled row, then jumps where another one overtakes it.
    """

    smooth = False  # the component is drawn, and changes at once as a soft mask moves

    weights: Tensor  # (K,)

    def log_likelihoods(self, x: Tensor, on: Tensor) -> Tensor:
        """Log-likelihoods (n, K) of what is visible of rows (n, D), but for a constant of each row."""
        raise NotImplementedError

    def values(self, component: Tensor) -> Tensor:
        """What the components (n,) put where rows are hidden, (n, ...)."""
        raise NotImplementedError

    def log_responsibilities(self, x: Tensor, mask: Tensor) -> Tensor:
        """Logarithms of p(k | what is visible), (n, K), of rows and masks (n, ...)."""
        return (self.weights.log() + self.log_likelihoods(*visible_part(x, mask))).log_softmax(1).to(x.dtype)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Fill x (n, ...) where mask (n, ...) is off."""
        with torch.no_grad():  # a choice has no slope, and what is put there is no function of the row
            values = self.values(sample_component(self.log_responsibilities(x, mask))).to(x.dtype)
        return fill(x, mask, values.reshape(x.shape))


class _Gaussians(Mixture):
    """The components that the leaves of this file share: normal columns, independent given the component."""

    means: Tensor
    variances: Tensor

    def __init__(self, weights: Tensor, means: Tensor, variances: Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights.clone())  # its own: loading a file must not write into what it was made of
        self.register_buffer("means", means.clone())
        self.register_buffer("variances", variances.clone())

    def log_likelihoods(self, x: Tensor, on: Tensor) -> Tensor:
        """Sum of log-densities over what is visible, by matrix products of (n, D) and (D, K): never (n, K, D)."""
        # Doubles and a common centre, since (x - m)^2 is multiplied out: columns that hardly vary have huge precisions.
        means, variances, x, on = (part.double() for part in (self.means.flatten(1), self.variances.flatten(1), x, on))
        centre = self.weights.double() @ means / self.weights.sum()
        x, means, precision = x - centre, means - centre, 1 / variances
        square = (on * x**2) @ precision.T - 2 * (on * x) @ (means * precision).T
        return -0.5 * (square + on @ (means**2 * precision + variances.log()).T)

    @classmethod
    def fit(cls, x: Tensor, *, components: int = 20, rows: int = FIT_ROWS, jitter: float = 0.0, ridge: float = 1e-6) -> Self:
        """Learn a mixture from training rows.

        Args:
            x: rows (n, ...).
            components: at most so many, and one for every 5 rows that differ.
            rows: learn from at most so many, drawn at random.
            jitter: width of the uniform noise around each value that the mixture learns from; 1/255 for images of 256 levels in [0, 1].
            ridge: added to all variances.
        """
        return cls(*fit_gaussians(x, components, rows, jitter, ridge))


def fit_gaussians(x: Tensor, components: int, rows: int, jitter: float, ridge: float) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (K,), means and variances (K, ...) by expectation maximisation from k-means, as scikit-learn does it."""
    from sklearn import mixture

    check.counts(components=components, rows=rows)
    flat = subsample(x, rows)
    count = limit_components(flat, components, ROWS_EACH)
    flat = flat + jitter * (torch.rand(flat.shape, dtype=torch.float64).numpy() - 0.5)
    found = mixture.GaussianMixture(count, covariance_type="diag", reg_covar=ridge, random_state=seed()).fit(flat)

    def tensor(values: np.ndarray) -> Tensor:
        return torch.as_tensor(values, dtype=x.dtype, device=x.device)

    shape = (count, *x.shape[1:])
    return tensor(found.weights_), tensor(found.means_).reshape(shape), tensor(found.covariances_).reshape(shape)


class GaussianMixture(_Gaussians):
    """Draw what is off from a mixture of normal distributions with diagonal covariances, given what is on.

    Args:
        weights: (K,), of sum 1.
        means: (K, ...).
        variances: (K, ...), positive.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.2; its equation 14 lacks the weights.
    """

    def values(self, component: Tensor) -> Tensor:
        """Normal draws (n, ...) of the components (n,)."""
        means = self.means[component]
        return means + self.variances[component].sqrt() * torch.randn_like(means)


class MixtureMeans(_Gaussians):
    """Put the means of a component that is drawn given what is on.

    Args: as of `GaussianMixture`, whose fitted one `MixtureMeans.of` takes.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.3.
    """

    @classmethod
    def of(cls, mixture: GaussianMixture) -> MixtureMeans:
        """Take the components of a fitted mixture."""
        return cls(mixture.weights, mixture.means, mixture.variances)

    def values(self, component: Tensor) -> Tensor:
        """Means (n, ...) of the components (n,)."""
        return self.means[component]


class MixtureRows(_Gaussians):
    """Put a stored row that fits a component which is drawn given what is on.

    A row x_i is drawn in proportion to its responsibility p(k | x_i). The paper's equation 17 has the density p(x_i | k) instead, which
    with many columns gives all to the one row that lies nearest to the mean, and so draws hardly more than the means do.

    Args:
        weights: (K,), of sum 1.
        means: (K, ...).
        variances: (K, ...), positive.
        background: rows (N, ...) to draw from.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.4 ("GMM dataset").
    """

    background: Tensor
    steps: Tensor

    def __init__(self, weights: Tensor, means: Tensor, variances: Tensor, background: Tensor) -> None:
        super().__init__(weights, means, variances)
        self.register_buffer("background", background.clone())
        parts = [self.log_responsibilities(part, torch.ones_like(part)) for part in torch.split(background, CHUNK)]
        shares = torch.cat(parts).double().softmax(0).cumsum(0).T  # (K, N) how likely one of the rows so far is
        shares = shares / shares[:, -1:]
        # One rising line for all components, so that one search serves all: component k's steps lie between k and k + 1.
        self.register_buffer("steps", (shares + torch.arange(len(weights), device=shares.device)[:, None]).flatten())  # (K N,)

    @classmethod
    def of(cls, mixture: GaussianMixture, background: Tensor) -> MixtureRows:
        """Take the components of a fitted mixture, and rows to draw from."""
        return cls(mixture.weights, mixture.means, mixture.variances, background)

    @classmethod
    def fit(
        cls,
        x: Tensor,
        *,
        background: Tensor | None = None,
        components: int = 20,
        rows: int = FIT_ROWS,
        jitter: float = 0.0,
        ridge: float = 1e-6,
    ) -> MixtureRows:
        """Learn a mixture from training rows, as `GaussianMixture.fit` does; draw from other rows where they are given."""
        return cls(*fit_gaussians(x, components, rows, jitter, ridge), x if background is None else background)

    def values(self, component: Tensor) -> Tensor:
        """Rows (n, ...) of the components (n,)."""
        count = len(self.background)
        height = component + torch.rand(component.shape, dtype=torch.float64, device=component.device)
        row = torch.searchsorted(self.steps.double(), height, right=True) - component * count
        return self.background[row.clamp(0, count - 1)]
