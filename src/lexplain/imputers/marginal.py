"""Imputation from other rows, and the background rows of imputers."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor, nn

from .fill import fill

MAX_BACKGROUND = 2000  # maximum number of training rows that a fitted explainer, its file and its explanations keep


class Marginal(nn.Module):
    """Impute the values of a random background row; each call resamples."""

    background: Tensor

    def __init__(self, background: Tensor) -> None:
        super().__init__()
        self.register_buffer("background", background.clone())

    @classmethod
    def fit(cls, x: Tensor) -> Marginal:
        """Use training rows as background rows."""
        return cls(x)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it."""
        rows = torch.randint(len(self.background), (len(x),), device=x.device)
        return fill(x, mask, self.background[rows])


def background_of(imputer: nn.Module) -> Tensor | None:
    """The background rows (n, ...) of an imputer; None if it has none."""
    rows = getattr(imputer, "background", None)
    return rows if isinstance(rows, Tensor) else None


def limit_background(imputer: nn.Module, max_rows: int = MAX_BACKGROUND) -> nn.Module:
    """The same imputer with at most `max_rows` background rows, sampled at random; unchanged if it has none.

    An imputer stores what it learned in buffers named like the arguments of `__init__`, so that it can be rebuilt with fewer rows.
    """
    rows = background_of(imputer)
    if rows is None or len(rows) <= max_rows:
        return imputer
    some = rows[torch.randperm(len(rows))[:max_rows].to(rows.device)]
    learned = {name: getattr(imputer, name) for name in inspect.signature(type(imputer)).parameters}
    return type(imputer)(**{**learned, "background": some})


class NoBackground(nn.Module):
    """Replaces the imputer of an explainer that was saved without background rows; raises when called."""

    random = False

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Raise an error that explains how to get the rows."""
        raise ValueError(
            "This explainer was saved with background=0, so it has no rows to impute from. explain works; predictions and imputations "
            "do not. Save it with background rows, or fit again."
        )
