"""Does an explanation change when what it explains does? Randomise the model or the labels, explain again, and compare."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import torch
from torch import Generator, Tensor, nn

from .. import check
from ..core import seeded
from .metric import metric
from .ranking import centred_ranks

SALT = 7_368_787  # so that a model that began from some seed does not begin there again


@metric(
    label="Mask cosine",
    higher_is_better=False,
    reads="overlap with the mask of a randomised model; the share of features kept is chance, 1 says that the model does not matter",
)
def mask_cosine(mask: Tensor, other: Tensor) -> Tensor:
    """Cosine of two masks (b, d) of the same rows: |S and S'| / k where both keep k. Two empty masks are alike, 1.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (sanity checks).
    """
    mask, other = check.hard_mask(mask), check.hard_mask(other)
    check.paired(mask, other)
    sizes = mask.sum(-1) * other.sum(-1)
    shared = (mask & other).sum(-1).double() / sizes.clamp(min=1).double().sqrt()
    return torch.where(mask.any(-1) | other.any(-1), shared, 1.0)


@metric(
    label="Rank correlation",
    higher_is_better=False,
    reads="Spearman's, with the scores of a randomised model; 0 is chance, 1 says that the model does not matter",
)
def rank_correlation(scores: Tensor, other: Tensor) -> Tensor:
    """Spearman's rank correlation of two rows' scores (b, d); NaN where all features of a row score the same.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 3.
    """
    check.paired(scores, other)
    return (centred_ranks(scores) * centred_ranks(other)).sum(-1).clamp(-1, 1)


def reinitialised(module: nn.Module, *, layers: Sequence[str] | None = None, seed: int = 0) -> nn.Module:
    """A copy of a module whose parameters are drawn anew; the module itself is left alone.

    A layer that can reset itself does. Parameters of any other are drawn from a normal of the size they had.

    Args:
        module: with any weights.
        layers: names of those to draw anew, as in `named_modules`; None: all.
        seed: of the draws.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 3 (model parameter randomisation).
    """
    fresh = copy.deepcopy(module)
    chosen = parametrised(fresh) if layers is None else layers
    with seeded(SALT + seed), torch.no_grad():
        for name in chosen:
            layer = fresh.get_submodule(name)
            reset = getattr(layer, "reset_parameters", None) or getattr(layer, "_reset_parameters", None)
            if reset is not None:
                reset()
                continue
            for weight in layer.parameters(recurse=False):
                weight.copy_(torch.randn_like(weight) * weight.square().mean().sqrt())
    return fresh


def parametrised(module: nn.Module) -> list[str]:
    """Names of the layers that own parameters, in the order in which they were added."""
    return [name for name, layer in module.named_modules() if next(layer.parameters(recurse=False), None) is not None]


def cascade(module: nn.Module, *, seed: int = 0) -> Iterator[tuple[str, nn.Module]]:
    """Copies of a module whose last layer, last two, ... and at the end all are drawn anew, each with the lowest such layer's name.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 3 (cascading randomisation).
    """
    names = parametrised(module)
    for first in reversed(range(len(names))):
        yield names[first], reinitialised(module, layers=names[first:], seed=seed)


def permuted(labels: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Labels (n, ...) dealt out to rows at random: as many of each, and none about its row.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 4 (data randomisation).
    """
    return labels[torch.randperm(len(labels), generator=generator).to(labels.device)]
