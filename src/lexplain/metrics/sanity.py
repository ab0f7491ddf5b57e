"""Does an explanation change when what it explains does? Randomise the model or the labels, explain again, and compare."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from .. import check
from .metric import metric
from .statistics import refuse_unpaired


@metric(
    label="Mask cosine",
    higher_is_better=False,
    description="overlap with the mask of a randomised model; the share of features kept is chance, 1 says that the model does not matter",
)
def mask_cosine(mask: Tensor, other: Tensor) -> Tensor:
    """Cosine of two masks (b, d) of the same rows: |S and S'| / k where both keep k. Two empty masks are alike, 1.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (sanity checks).
    """
    mask, other = check.hard_mask(mask), check.hard_mask(other)
    refuse_unpaired(mask, other)
    sizes = mask.sum(-1) * other.sum(-1)
    shared = (mask & other).sum(-1).double() / sizes.clamp(min=1).double().sqrt()
    return torch.where(mask.any(-1) | other.any(-1), shared, 1.0)


def permuted(labels: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Labels (n, ...) dealt out to rows at random: as many of each, and none about its row.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 4 (data randomisation).
    """
    return labels[torch.randperm(len(labels), generator=generator).to(labels.device)]
