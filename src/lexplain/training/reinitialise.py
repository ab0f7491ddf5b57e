"""Networks with weights drawn anew."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import torch
from torch import nn

from ..core import seeded

SALT = 7_368_787  # so that a model that began from some seed does not begin there again


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
