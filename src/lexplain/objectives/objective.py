"""All that a selector is to make small: how well the target is predicted from visible features, and the prices of masks."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Normal

from ..core import Batch, as_target
from ..core.contracts import Term


@dataclass(frozen=True)
class Likelihood:
    """Cross-entropy of the target under predictions from several masks and imputations, joined inside or outside the log.

    Inside, `log mean p`, asks that the average prediction fits (the IWAE bound for several masks); outside, `mean log p`, asks
    that every prediction fits, whatever the hidden features are. One mask and one imputation make both the plain cross-entropy.

    Args:
        masks: masks joined in one cost (L).
        imputations: imputations of each mask (K).
        masks_inside: average the masks inside the log.
        imputations_inside: average the imputations inside the log.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, equations 5 and 6, appendix E.1.
    """

    masks: int = 1
    imputations: int = 1
    masks_inside: bool = True
    imputations_inside: bool = True

    @property
    def model_rows_per_row(self) -> int:
        """Predictions that one cost of a row joins."""
        return self.masks * self.imputations

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (M, b) of a trial whose predictions have batch (M, L, K, b)."""
        assert batch.predicted is not None
        terms, weights = log_terms(batch.target, batch.predicted)  # (M, L, K, b, c), (b, c)
        joined = _join(_join(terms, 2, self.imputations_inside), 1, self.masks_inside)
        return -(weights * joined).sum(-1)


def log_terms(target: Distribution, predicted: Distribution) -> tuple[Tensor, Tensor]:
    """Log-probabilities (..., b, c) of the values the target can take, and their weights (b, c).

    A soft target is the exact expectation over classes; a real-valued one is its mean.
    """
    if isinstance(predicted, Categorical) and isinstance(target, Categorical):
        return predicted.logits, target.probs
    if isinstance(predicted, Normal) and isinstance(target, Normal):
        density: Tensor = predicted.log_prob(target.loc)  # type: ignore[no-untyped-call]  # torch.distributions is untyped
        return density[..., None], torch.ones_like(target.loc)[..., None]
    raise TypeError(f"a {type(target).__name__} target needs a prediction of the same kind, not a {type(predicted).__name__}")


def cross_entropy(target: Distribution, predicted: Distribution) -> Tensor:
    """Cross-entropy (..., b) of predictions under the target."""
    terms, weights = log_terms(target, predicted)
    return -(weights * terms).sum(-1)


def _join(terms: Tensor, dim: int, inside: bool) -> Tensor:
    if terms.shape[dim] == 1:
        return terms.squeeze(dim)
    return terms.logsumexp(dim) - log(terms.shape[dim]) if inside else terms.mean(dim)


def opposite(target: Distribution) -> Distribution:
    """What an adversary who knows nothing should say: the flipped probabilities, or the mean of all real values.

    For c classes 1 - y sums to c - 1, so it is divided by that.

    Reference:
        Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 3.3.
    """
    if isinstance(target, Categorical):
        return as_target((1 - target.probs) / (target.probs.shape[-1] - 1), real=False)
    assert isinstance(target, Normal)
    return as_target(torch.zeros_like(target.loc), real=True)


def complement(mask: Tensor) -> Tensor:
    """Show what is hidden and hide what is shown."""
    return ~mask if mask.dtype == torch.bool else 1 - mask


@dataclass(frozen=True)
class Objective:
    """How badly the target is predicted from what is visible, and the prices of masks.

    Args:
        likelihood: joins masks and imputations into the cost of a row.
        penalties: costs (b,) of the mask distribution, such as `Sparsity`.
        mask_costs: costs (M, b) of masks, such as `Continuity`.
    """

    likelihood: Likelihood = Likelihood()
    penalties: tuple[Term, ...] = ()
    mask_costs: tuple[Term, ...] = ()

    def cost(self, batch: Batch) -> Tensor:
        """The cost (M, b) of a trial's masks, whose predictions are known."""
        total = self.likelihood(batch)
        for term in self.mask_costs:
            total = total + term(batch)
        return total

    def penalty(self, batch: Batch) -> Tensor:
        """What a trial's mask distribution costs, averaged over rows."""
        total = torch.zeros((), device=batch.x.device)
        for term in self.penalties:
            total = total + term(batch).mean()
        return total

    @property
    def burn_in(self) -> float:
        """Share of the training in which prices still rise."""
        return max((getattr(term, "warmup", 0.0) for term in self.penalties), default=0.0)
