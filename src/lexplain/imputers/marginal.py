"""Another row, and the rows that an imputer keeps to draw from."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor, nn

from .fill import fill

MAX_BACKGROUND = 2000  # rows of the training table that a fitted explainer, its file and its explanations keep at the most


class Marginal(nn.Module):
    """Put another row's values wherever a feature is off, a fresh row each call."""

    background: Tensor

    def __init__(self, background: Tensor) -> None:
        super().__init__()
        self.register_buffer("background", background.clone())

    @classmethod
    def fit(cls, x: Tensor) -> Marginal:
        """Keep training rows to draw from."""
        return cls(x)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Fill x (n, ...) where mask (n, ...) is off."""
        rows = torch.randint(len(self.background), (len(x),), device=x.device)
        return fill(x, mask, self.background[rows])


def background_of(imputer: nn.Module) -> Tensor | None:
    """The rows (n, ...) that an imputer draws from; None where it keeps none."""
    rows = getattr(imputer, "background", None)
    return rows if isinstance(rows, Tensor) else None


def limit_background(imputer: nn.Module, most: int = MAX_BACKGROUND) -> nn.Module:
    """The same imputer with at most so many of its rows, drawn at random; one without rows as it is.

    An imputer keeps what it learned in buffers named like the arguments of `__init__`, so that it can be made again from fewer rows.
    """
    rows = background_of(imputer)
    if rows is None or len(rows) <= most:
        return imputer
    some = rows[torch.randperm(len(rows))[:most].to(rows.device)]
    learned = {name: getattr(imputer, name) for name in inspect.signature(type(imputer)).parameters}
    return type(imputer)(**{**learned, "background": some})


class NoBackground(nn.Module):
    """Stands where an imputer stood whose rows a file does not hold: it refuses to draw."""

    random = False

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Refuse, and say how to bring the rows back."""
        raise ValueError(
            "this explainer was saved with background=0 and holds no rows to draw hidden values from: explain works, but predictions and "
            "imputed rows do not; save it with background rows, or fit it again"
        )
