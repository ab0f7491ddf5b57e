"""The slow way: look for a better mask of each row, one feature at a time."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core import Trial, seeded
from ..methods import Method

DRAWS = 32  # imputations that the price of a mask is averaged over


@torch.no_grad()
def search(method: Method, trial: Trial, mask: Tensor, price: float, *, most: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Turn over the feature that saves most, again and again, until none saves anything.

    Args:
        method: what says how far predictions move.
        trial: rows (b, ...).
        mask: where to start, (b, d).
        price: nats of each feature kept.
        most: turns at the most; None: twice as many as there are features.

    Returns:
        the masks found (b, d), and the nats (b,) that the first masks and the found ones cost, features paid.
    """
    count, rows = mask.shape[1], torch.arange(len(mask), device=mask.device)
    began = current = _paid(method, trial, mask[None], price)[0]
    for _ in range(2 * count if most is None else most):
        turned = mask.expand(count, *mask.shape).clone()
        every = torch.arange(count, device=mask.device)
        turned[every, :, every] = ~mask.T
        costs = _paid(method, trial, turned, price)  # (d, b)
        if trial.valid is not None:  # padding can never be shown
            costs = costs.masked_fill(~trial.valid.T, torch.inf)
        best, feature = costs.min(0)
        better = best < current - 1e-6
        if not better.any():
            break
        mask = mask.clone()
        mask[rows[better], feature[better]] ^= True
        current = torch.where(better, best, current)
    return mask, began, current


def _paid(method: Method, trial: Trial, masks: Tensor, price: float) -> Tensor:
    """What masks (M, b, d) cost (M, b); every call meets the same draws, so that masks of different calls can be compared."""
    with seeded(0):
        moved = torch.stack([method.change(trial, masks[:, None]) for _ in range(DRAWS)]).mean(0)
    return moved + price * masks.sum(-1)
