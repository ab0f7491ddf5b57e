"""Imputation from normal distributions, per column or given the visible values."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .fill import fill


class IndependentGaussian(nn.Module):
    """Sample hidden values from a normal distribution per column; the default is the standard normal of LEX.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, section 4.1.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: float | Tensor = 0.0, scale: float | Tensor = 1.0) -> None:
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.float32))

    @classmethod
    def fit(cls, x: Tensor) -> IndependentGaussian:
        """Learn the mean and scale of each column from training rows."""
        return cls(x.mean(0), x.std(0, correction=0))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it."""
        return fill(x, mask, self.mean + self.scale * torch.randn_like(x))


class Gaussian(nn.Module):
    """Sample hidden values from a joint normal distribution given the visible values: the full conditional.

    Rows of several axes are flattened.

    Args:
        mean: Mean (D,).
        covariance: Positive definite covariance (D, D).
    """

    mean: Tensor
    covariance: Tensor
    root: Tensor

    def __init__(self, mean: Tensor, covariance: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("covariance", covariance)
        self.register_buffer("root", torch.linalg.cholesky(covariance))

    @classmethod
    def fit(cls, x: Tensor, *, ridge: float = 1e-3) -> Gaussian:
        """Learn mean and covariance from training rows; the ridge keeps the covariance invertible."""
        x = x.flatten(1)
        covariance = torch.cov(x.T.double(), correction=0).reshape(x.shape[1], x.shape[1])
        level = ridge * covariance.diagonal().clamp_min(1e-6)
        return cls(x.mean(0), (covariance + level.diag()).to(x.dtype))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Impute x (n, ...) where mask (n, ...) hides it; a soft mask conditions in proportion, and mixes."""
        # Matheron's rule: a joint sample, corrected by regression on its errors at visible values. Smooth in the mask.
        flat, on = x.flatten(1), mask.to(x.dtype).flatten(1)
        draw = self.mean + torch.randn_like(flat) @ self.root.T
        eye = torch.eye(flat.shape[1], dtype=x.dtype, device=x.device)
        system = on[:, :, None] * on[:, None, :] * self.covariance + (1 - on**2)[:, :, None] * eye
        miss = on * torch.where(on > 0, flat - draw, 0.0)
        weights = on * torch.linalg.solve(system, miss)
        return fill(x, mask, (draw + weights @ self.covariance).reshape(x.shape))
