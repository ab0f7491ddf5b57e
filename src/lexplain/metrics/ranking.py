"""Scores as ranks."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from .statistics import placement


def positions(scores: Tensor, generator: Generator | None = None) -> Tensor:
    """The place (..., d) of each feature by descending score, 0 being the first; tied features change places at random.

    So that being first in the table is worth nothing where scores are zeros and ones.
    """
    shuffle = torch.rand(scores.shape, generator=generator, device=scores.device).argsort(-1)
    order = shuffle.gather(-1, scores.gather(-1, shuffle).argsort(dim=-1, descending=True, stable=True))  # the features, best first
    return order.argsort(-1)  # a permutation's inverse


def centred_ranks(scores: Tensor) -> Tensor:
    """Ranks (..., d) of mean 0 and length 1, tied scores sharing theirs; NaN where all scores are equal.

    The inner product of two is Spearman's rank correlation.
    """
    ranks = placement(scores, scores)
    centred = ranks - ranks.mean(-1, keepdim=True)
    length: Tensor = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
    return centred / length
