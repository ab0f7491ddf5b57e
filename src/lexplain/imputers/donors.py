"""Imputation from similar rows: donors are background rows that are near a row on its kept columns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .fill import fill

NEAR = 16  # donors are drawn from this many nearest background rows, and from ties with the last of them
ROWS_AT_ONCE = 1000  # limits memory: distances to all background rows are held
UNITS = 256  # distances are whole numbers of (1 / UNITS) ** 2, so that sums in doubles are exact in any order


class Donors(nn.Module):
    """Impute hidden values from one of the background rows that are nearest on the visible values.

    Distances are Euclidean. Numbers are compared by their rank among the background rows, as normal scores; values of a column with two
    distinct values, such as those of a category, differ by 1. Identical rows are not used as donors, unless all rows are identical.
    """

    smooth = False
    background: Tensor
    scores: Tensor  # (m, D) of the background rows, in units
    ordered: Tensor  # (D, m) sorted values of each column
    two: Tensor  # (D,) of bool: columns with two distinct values

    def __init__(self, background: Tensor) -> None:
        super().__init__()
        flat = background.flatten(1)
        self.register_buffer("background", background.clone())
        ordered = flat.T.sort(1).values.contiguous()
        self.register_buffer("ordered", ordered, persistent=False)
        low, high = ordered[:, :1], ordered[:, -1:]
        two = ((ordered == low) | (ordered == high)).all(1) & (low < high)[:, 0]
        self.register_buffer("two", two, persistent=False)
        self.register_buffer("scores", self._scores(flat), persistent=False)

    @classmethod
    def fit(cls, x: Tensor) -> Donors:
        """Use training rows as background rows."""
        return cls(x)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it; each call draws other donors."""
        draws = torch.rand(len(x), 1, dtype=torch.float64, device=x.device)
        parts = zip(*(torch.split(each, ROWS_AT_ONCE) for each in (x, mask, draws)), strict=True)
        return fill(x, mask, self.background[torch.cat([self.draw(*part)[:, 0] for part in parts])])

    def draw(self, x: Tensor, mask: Tensor, draws: Tensor) -> Tensor:
        """Indices (n, m) of background rows for rows x (n, ...), encoded masks (n, ...) and numbers (n, m) in [0, 1).

        The result for a row does not depend on the other rows.
        """
        own, kept, scores = self._scores(x.flatten(1)), mask.flatten(1).double(), self.scores.double()
        squares = scores.square()
        distance = kept @ squares.T - (kept * own * 2) @ scores.T  # plus a constant per row
        same = squares.sum(1) - own @ scores.T * 2 == -own.square().sum(1, keepdim=True)
        same &= ~same.all(1, keepdim=True)
        distance.masked_fill_(same, torch.inf)
        last = distance.kthvalue(min(NEAR, len(self.background)), dim=1, keepdim=True).values
        near = (distance <= last) & ~same
        count = near.cumsum(1, dtype=torch.int32)
        position = (draws * count[:, -1:]).int() + 1
        return torch.searchsorted(count, position)

    def _scores(self, flat: Tensor) -> Tensor:
        """Normal scores (n, D) of values by rank, in units; 0 and 1 for columns with two values."""
        columns = flat.T.contiguous()
        ranks = torch.searchsorted(self.ordered, columns) + torch.searchsorted(self.ordered, columns, right=True)
        normal = torch.special.ndtri((ranks.double() / 2 + 0.5) / (self.ordered.shape[1] + 1))
        low, high = self.ordered[:, :1].double(), self.ordered[:, -1:].double()
        share = ((columns.double() - low) / (high - low).clamp_min(1e-30)).nan_to_num().clamp(0, 1)
        return (torch.where(self.two[:, None], share, normal) * UNITS).round().T.contiguous()
