"""What training minimises: the cross-entropy of the target given visible features, and costs of masks."""

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

    Inside, `log mean p`, is low if the average prediction is correct (the IWAE bound for several masks). Outside, `mean log p`, is low if
    each prediction is correct, whatever the hidden features are. With one mask and one imputation both are the usual cross-entropy.

    Args:
        masks: Masks joined in one cost (L).
        imputations: Imputations of each mask (K).
        masks_inside: Average over masks inside the log.
        imputations_inside: Average over imputations inside the log.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, equations 5 and 6, appendix E.1.
    """

    masks: int = 1
    imputations: int = 1
    masks_inside: bool = True
    imputations_inside: bool = True

    @property
    def model_rows_per_row(self) -> int:
        """Number of predictions in one cost of a row."""
        return self.masks * self.imputations

    def __call__(self, batch: Batch) -> Tensor:
        """Cost (M, b) of a batch whose predictions have batch shape (M, L, K, b)."""
        assert batch.predicted is not None
        terms, weights = log_terms(batch.target, batch.predicted)  # (M, L, K, b, c), (b, c)
        joined = _join(_join(terms, 2, self.imputations_inside), 1, self.masks_inside)
        return -(weights * joined).sum(-1)


def log_terms(target: Distribution, predicted: Distribution) -> tuple[Tensor, Tensor]:
    """Log-probabilities (..., b, c) of the possible values of the target, and their weights (b, c).

    With class probabilities the weighted sum is the exact expectation; a real-valued target has its mean as the only value.
    """
    if isinstance(predicted, Categorical) and isinstance(target, Categorical):
        return predicted.logits, target.probs
    if isinstance(predicted, Normal) and isinstance(target, Normal):
        density: Tensor = predicted.log_prob(target.loc)  # type: ignore[no-untyped-call]  # torch.distributions is untyped
        return density[..., None], torch.ones_like(target.loc)[..., None]
    raise TypeError(f"A {type(target).__name__} target needs a prediction of the same type, got {type(predicted).__name__}.")


def cross_entropy(target: Distribution, predicted: Distribution) -> Tensor:
    """Cross-entropy (..., b) of predictions under the target."""
    terms, weights = log_terms(target, predicted)
    return -(weights * terms).sum(-1)


def _join(terms: Tensor, dim: int, inside: bool) -> Tensor:
    if terms.shape[dim] == 1:
        return terms.squeeze(dim)
    return terms.logsumexp(dim) - log(terms.shape[dim]) if inside else terms.mean(dim)


def opposite(target: Distribution) -> Distribution:
    """The target of an adversary without information: the flipped probabilities, or the mean of all real values.

    For c classes, 1 - y is divided by its sum c - 1.

    Reference:
        Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 3.3.
    """
    if isinstance(target, Categorical):
        return as_target((1 - target.probs) / (target.probs.shape[-1] - 1), real=False)
    assert isinstance(target, Normal)
    return as_target(torch.zeros_like(target.loc), real=True)


def complement(mask: Tensor) -> Tensor:
    """The mask with visible and hidden features exchanged."""
    return ~mask if mask.dtype == torch.bool else 1 - mask


@dataclass(frozen=True)
class Objective:
    """Cross-entropy of the target given the visible features, and costs of masks.

    Args:
        likelihood: Cost of a row over its masks and imputations.
        penalties: Costs (b,) of the mask distribution, such as `Sparsity`.
        mask_costs: Costs (M, b) of masks, such as `Continuity`.
    """

    likelihood: Likelihood = Likelihood()
    penalties: tuple[Term, ...] = ()
    mask_costs: tuple[Term, ...] = ()

    def cost(self, batch: Batch) -> Tensor:
        """The cost (M, b) of the masks of a batch with predictions."""
        total = self.likelihood(batch)
        for term in self.mask_costs:
            total = total + term(batch)
        return total

    def penalty(self, batch: Batch) -> Tensor:
        """The cost of the mask distribution of a batch, averaged over rows."""
        total = torch.zeros((), device=batch.x.device)
        for term in self.penalties:
            total = total + term(batch).mean()
        return total

    @property
    def burn_in(self) -> float:
        """Share of the training in which prices increase."""
        return max((getattr(term, "warmup", 0.0) for term in self.penalties), default=0.0)
