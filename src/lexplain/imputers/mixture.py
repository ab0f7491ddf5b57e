"""Imputation from mixtures: the choice of a component per row, and mixtures of independent normal columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from .. import check
from .fill import fill

if TYPE_CHECKING:
    from typing import Self

FIT_ROWS = 20_000  # more rows change a mixture little and take longer
ROWS_EACH = 5  # needed to learn the variance of a component
CHUNK = 4096  # background rows whose responsibilities are computed at once


def sample_component(logits: Tensor) -> Tensor:
    """Sample an index (n,) from unnormalised log-probabilities (n, K)."""
    # The Gumbel trick: Categorical reads values, which vmap forbids.
    return (logits - torch.log(-torch.log(torch.rand_like(logits)))).argmax(1)


def visible_part(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (n, D) with 0 for hidden values, and the mask (n, D) as floats."""
    on = mask.to(x.dtype).flatten(1)
    return torch.where(on > 0, x.flatten(1), 0.0), on  # where: hidden values may be NaN


def subsample(x: Tensor, max_rows: int) -> np.ndarray:
    """At most `max_rows` random rows, as a flat array (n, D) of doubles for scikit-learn."""
    flat = x.detach().flatten(1)
    if len(flat) > max_rows:
        flat = flat[torch.randperm(len(flat))[:max_rows].to(flat.device)]
    return flat.double().cpu().numpy()


def seed() -> int:
    """A seed for scikit-learn, sampled from torch's random state."""
    return int(torch.randint(2**31 - 1, ()))


def limit_components(rows: np.ndarray, components: int, each: int = 1) -> int:
    """Limit the number of components, so that there are `each` distinct rows per component; otherwise variances could be 0."""
    return max(1, min(components, len(np.unique(rows, axis=0)) // each))


class Mixture(nn.Module):
    """Sample a component k given the visible values and impute its values. Subclasses define `log_likelihoods` and `values`.

    With no visible values, k follows the weights. A soft mask weights the log-likelihood of each entry. The imputed row is not continuous
    in the mask, because the sampled component changes.
    """

    smooth = False  # the sampled component is not continuous in a soft mask

    weights: Tensor  # (K,)

    def log_likelihoods(self, x: Tensor, on: Tensor) -> Tensor:
        """Log-likelihoods (n, K) of visible values of rows (n, D), up to a constant per row."""
        raise NotImplementedError

    def values(self, component: Tensor) -> Tensor:
        """Imputed values (n, ...) of the components (n,)."""
        raise NotImplementedError

    def log_responsibilities(self, x: Tensor, mask: Tensor) -> Tensor:
        """Logarithms of p(k | visible values), (n, K), of rows and masks (n, ...)."""
        return (self.weights.log() + self.log_likelihoods(*visible_part(x, mask))).log_softmax(1).to(x.dtype)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it."""
        with torch.no_grad():  # a choice has no gradient, and imputed values do not depend on the row otherwise
            values = self.values(sample_component(self.log_responsibilities(x, mask))).to(x.dtype)
        return fill(x, mask, values.reshape(x.shape))


class _Gaussians(Mixture):
    """Base of the mixtures in this file: normal columns, independent given the component."""

    means: Tensor
    variances: Tensor

    def __init__(self, weights: Tensor, means: Tensor, variances: Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights.clone())  # a copy, so that loading a file does not overwrite the arguments
        self.register_buffer("means", means.clone())
        self.register_buffer("variances", variances.clone())

    def log_likelihoods(self, x: Tensor, on: Tensor) -> Tensor:
        """Sum of log-densities of visible values, by matrix products of (n, D) and (D, K): needs no (n, K, D) tensor."""
        # Doubles and a common centre, because (x - m)^2 is expanded and nearly constant columns have huge precisions.
        means, variances, x, on = (part.double() for part in (self.means.flatten(1), self.variances.flatten(1), x, on))
        centre = self.weights.double() @ means / self.weights.sum()
        x, means, precision = x - centre, means - centre, 1 / variances
        square = (on * x**2) @ precision.T - 2 * (on * x) @ (means * precision).T
        return -0.5 * (square + on @ (means**2 * precision + variances.log()).T)

    @classmethod
    def fit(cls, x: Tensor, *, components: int = 20, rows: int = FIT_ROWS, jitter: float = 0.0, ridge: float = 1e-6) -> Self:
        """Learn a mixture from training rows.

        Args:
            x: Encoded rows (n, ...).
            components: Maximum number of components; at most one per 5 distinct rows.
            rows: Maximum number of rows to learn from, sampled at random.
            jitter: Width of uniform noise that is added to training values; 1/255 for images of 256 levels in [0, 1].
            ridge: Number added to all variances.
        """
        return cls(*fit_gaussians(x, components, rows, jitter, ridge))


def fit_gaussians(x: Tensor, components: int, rows: int, jitter: float, ridge: float) -> tuple[Tensor, Tensor, Tensor]:
    """Weights (K,), means and variances (K, ...) by scikit-learn's expectation maximisation, started from k-means."""
    from sklearn import mixture

    check.counts(components=components, rows=rows)
    flat = subsample(x, rows)
    count = limit_components(flat, components, ROWS_EACH)
    flat = flat + jitter * (torch.rand(flat.shape, dtype=torch.float64).numpy() - 0.5)
    fitted = mixture.GaussianMixture(count, covariance_type="diag", reg_covar=ridge, random_state=seed()).fit(flat)

    def tensor(values: np.ndarray) -> Tensor:
        return torch.as_tensor(values, dtype=x.dtype, device=x.device)

    shape = (count, *x.shape[1:])
    return tensor(fitted.weights_), tensor(fitted.means_).reshape(shape), tensor(fitted.covariances_).reshape(shape)


class GaussianMixture(_Gaussians):
    """Sample hidden values from a mixture of normal distributions with diagonal covariances, given the visible values.

    Args:
        weights: Weights (K,) with sum 1.
        means: Means (K, ...).
        variances: Positive variances (K, ...).

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.2; its equation 14 lacks the weights.
    """

    def values(self, component: Tensor) -> Tensor:
        """Normal samples (n, ...) of the components (n,)."""
        means = self.means[component]
        return means + self.variances[component].sqrt() * torch.randn_like(means)


class MixtureMeans(_Gaussians):
    """Impute the means of a component that is sampled given the visible values.

    Args: See `GaussianMixture`; `MixtureMeans.of` takes a fitted one.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.3.
    """

    @classmethod
    def of(cls, mixture: GaussianMixture) -> MixtureMeans:
        """Use the components of a fitted mixture."""
        return cls(mixture.weights, mixture.means, mixture.variances)

    def values(self, component: Tensor) -> Tensor:
        """Means (n, ...) of the components (n,)."""
        return self.means[component]


class MixtureRows(_Gaussians):
    """Impute from a background row that fits a component, which is sampled given the visible values.

    A row x_i is sampled in proportion to its responsibility p(k | x_i). The paper's equation 17 has the density p(x_i | k) instead: with
    many columns, the row nearest to the mean then has all the weight, and imputations vary hardly more than the means.

    Args:
        weights: Weights (K,) with sum 1.
        means: Means (K, ...).
        variances: Positive variances (K, ...).
        background: Background rows (N, ...).

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.4 ("GMM dataset").
    """

    background: Tensor
    steps: Tensor

    def __init__(self, weights: Tensor, means: Tensor, variances: Tensor, background: Tensor) -> None:
        super().__init__(weights, means, variances)
        self.register_buffer("background", background.clone())
        parts = [self.log_responsibilities(part, torch.ones_like(part)) for part in torch.split(background, CHUNK)]
        shares = torch.cat(parts).double().softmax(0).cumsum(0).T  # (K, N) cumulative probabilities of rows
        shares = shares / shares[:, -1:]
        # One increasing sequence for one search over all components: the steps of component k are between k and k + 1.
        self.register_buffer("steps", (shares + torch.arange(len(weights), device=shares.device)[:, None]).flatten())  # (K N,)

    @classmethod
    def of(cls, mixture: GaussianMixture, background: Tensor) -> MixtureRows:
        """Use the components of a fitted mixture, and background rows."""
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
        """Learn a mixture from training rows, as `GaussianMixture.fit`; they are the background rows unless `background` is given."""
        return cls(*fit_gaussians(x, components, rows, jitter, ridge), x if background is None else background)

    def values(self, component: Tensor) -> Tensor:
        """Rows (n, ...) of the components (n,)."""
        count = len(self.background)
        height = component + torch.rand(component.shape, dtype=torch.float64, device=component.device)
        row = torch.searchsorted(self.steps.double(), height, right=True) - component * count
        return self.background[row.clamp(0, count - 1)]
