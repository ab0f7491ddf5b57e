"""Imputation from rows of the nearest cluster."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .. import check
from .fill import fill
from .mixture import FIT_ROWS, limit_components, sample_component, seed, subsample, visible_part

CHUNK = 4096  # background rows that are assigned to clusters at once


class KMeansRows(nn.Module):
    """Impute from a random row of the cluster whose centre is nearest to the visible values.

    If several centres are equally near, as with no visible values, clusters are sampled in proportion to their number of rows.

    Args:
        centres: Cluster centres (K, ...); those without a row are dropped.
        background: Background rows (N, ...).

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix B.5 ("KMeans dataset").
    """

    smooth = False  # the nearest centre is not continuous in a soft mask
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
        self.register_buffer("background", background[cluster.argsort(stable=True)])  # rows of a cluster are contiguous
        self.register_buffer("counts", counts[counts > 0])
        self.register_buffer("starts", self.counts.cumsum(0) - self.counts)

    @classmethod
    def fit(cls, x: Tensor, *, background: Tensor | None = None, components: int = 20, rows: int = FIT_ROWS) -> KMeansRows:
        """Learn centres from training rows.

        Args:
            x: Encoded rows (n, ...).
            background: Background rows, such as validation rows; None: x itself.
            components: Maximum number of clusters; fewer if fewer rows are distinct.
            rows: Maximum number of rows to learn from, sampled at random.
        """
        from sklearn.cluster import KMeans

        check.counts(components=components, rows=rows)
        flat = subsample(x, rows)
        fitted = KMeans(limit_components(flat, components), n_init=1, random_state=seed()).fit(flat)
        centres = torch.as_tensor(fitted.cluster_centers_, dtype=x.dtype, device=x.device).reshape(-1, *x.shape[1:])
        return cls(centres, x if background is None else background)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it."""
        with torch.no_grad():
            distance = _distances(*visible_part(x, mask), self.centres)
            cluster = sample_component(torch.where(distance <= distance.amin(1, keepdim=True), self.counts.to(x.dtype).log(), -torch.inf))
            within = (torch.rand(cluster.shape, dtype=torch.float64, device=x.device) * self.counts[cluster]).long()
            rows = self.background[(self.starts[cluster] + within).clamp_max(len(self.background) - 1)]
        return fill(x, mask, rows)


def _distances(x: Tensor, on: Tensor, centres: Tensor) -> Tensor:
    """Squared distances (n, K) at visible values of rows (n, D), up to a constant per row; needs no (n, K, D) tensor."""
    centres, x, on = centres.flatten(1).double(), x.double(), on.double()
    middle = centres.mean(0)
    centres, x = centres - middle, x - middle
    return on @ (centres**2).T - 2 * (on * x) @ centres.T
