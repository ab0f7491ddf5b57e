"""Scores as ranks."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from .statistics import placement


def without_padding(scores: Tensor, valid: Tensor | None) -> Tensor:
    """Scores (..., d) in which padding lies below everything else."""
    return scores if valid is None else scores.masked_fill(~valid, -torch.inf)


def scores_of_rows(scores: Tensor, x: Tensor, count: int) -> Tensor:
    """Return scores; refuse those that are not one for each row and feature."""
    if scores.shape != (len(x), count) or scores.isnan().any():
        raise ValueError(
            f"scores of shape {tuple(scores.shape)} do not fit {len(x)} rows of {count} features; "
            "give one score, not NaN, for each feature of each row: (rows, features)"
        )
    return scores


def positions(scores: Tensor, generator: Generator | None = None, valid: Tensor | None = None) -> Tensor:
    """The place (..., d) of each feature by descending score, 0 being the first; tied features change places at random, padding is last.

    So that being first in the table is worth nothing where scores are zeros and ones.
    """
    scores = without_padding(scores, valid)
    shuffle = torch.rand(scores.shape, generator=generator, device=scores.device).argsort(-1)
    order = shuffle.gather(-1, scores.gather(-1, shuffle).argsort(dim=-1, descending=True, stable=True))  # the features, best first
    return order.argsort(-1)  # a permutation's inverse


def centred_ranks(scores: Tensor, valid: Tensor | None = None) -> Tensor:
    """Ranks (..., d) of mean 0 and length 1, tied scores sharing theirs and padding having none; NaN where all scores are equal.

    The inner product of two is Spearman's rank correlation.
    """
    if valid is None:
        ranks = placement(scores, scores)
        centred = ranks - ranks.mean(-1, keepdim=True)
    else:
        lowest = without_padding(scores, valid)  # padding shifts all other ranks of a row alike
        ranks = torch.where(valid, placement(lowest, lowest), 0.0)
        centred = torch.where(valid, ranks - ranks.sum(-1, keepdim=True) / valid.sum(-1, keepdim=True), 0.0)
    length: Tensor = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
    return centred / length
