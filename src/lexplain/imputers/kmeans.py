"""Rows of the nearest cluster."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .. import check
from .fill import fill
from .mixture import FIT_ROWS, limit_components, sample_component, seed, subsample, visible_part

CHUNK = 4096  # stored rows that are given to their clusters together


class KMeansRows(nn.Module):
    """Put a row of the cluster whose centre is nearest to what is on, each of its rows as often.

    Where several centres are equally near, as all are when nothing is visible, clusters are drawn by how many rows they have.

    Args:
        centres: (K, ...); those without a row are dropped.
        background: rows (N, ...) to draw from.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.5 ("KMeans dataset").
    """

    smooth = False  # the nearest centre changes at once as a soft mask moves
    centres: Tensor
    background: Tensor
    counts: Tensor
    starts: Tensor

    def __init__(self, centres: Tensor, background: Tensor) -> None:
        super().__init__()
        parts = [_distances(*visible_part(part, torch.ones_like(part)), centres).argmin(1) for part in torch.split(background, CHUNK)]
        cluster = torch.cat(parts)
        counts = torch.bincount(cluster, minlength=len(centres))
        self.register_buffer("centres", centres[counts > 0])
        self.register_buffer("background", background[cluster.argsort(stable=True)])  # a cluster's rows lie side by side
        self.register_buffer("counts", counts[counts > 0])
        self.register_buffer("starts", self.counts.cumsum(0) - self.counts)

    @classmethod
    def fit(cls, x: Tensor, *, background: Tensor | None = None, components: int = 20, rows: int = FIT_ROWS) -> KMeansRows:
        """Learn centres from training rows.

        Args:
            x: rows (n, ...).
            background: rows to draw from, such as validation rows; None: x itself.
            components: at most so many clusters; fewer where fewer rows differ.
            rows: learn from at most so many, drawn at random.
        """
        from sklearn.cluster import KMeans

        check.counts(components=components, rows=rows)
        flat = subsample(x, rows)
        found = KMeans(limit_components(flat, components), n_init=1, random_state=seed()).fit(flat)
        centres = torch.as_tensor(found.cluster_centers_, dtype=x.dtype, device=x.device).reshape(-1, *x.shape[1:])
        return cls(centres, x if background is None else background)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Fill x (n, ...) where mask (n, ...) is off."""
        with torch.no_grad():
            far = _distances(*visible_part(x, mask), self.centres)
            cluster = sample_component(torch.where(far <= far.amin(1, keepdim=True), self.counts.to(x.dtype).log(), -torch.inf))
            within = (torch.rand(cluster.shape, dtype=torch.float64, device=x.device) * self.counts[cluster]).long()
            rows = self.background[(self.starts[cluster] + within).clamp_max(len(self.background) - 1)]
        return fill(x, mask, rows)


def _distances(x: Tensor, on: Tensor, centres: Tensor) -> Tensor:
    """Squared distances (n, K) on what is visible of rows (n, D), but for a constant of each row; never (n, K, D)."""
    centres, x, on = centres.flatten(1).double(), x.double(), on.double()
    middle = centres.mean(0)
    centres, x = centres - middle, x - middle
    return on @ (centres**2).T - 2 * (on * x) @ centres.T
