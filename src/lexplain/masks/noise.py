"""Noise that is always finite in float32."""

import torch
from torch import Tensor


def _uniform(like: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Uniform samples inside (0, 1), of shape (*shape, *like.shape)."""
    eps = torch.finfo(like.dtype).eps
    return torch.rand(shape + like.shape, dtype=like.dtype, device=like.device).clamp_(eps, 1 - eps)


def logistic(like: Tensor, shape: tuple[int, ...] = ()) -> Tensor:
    """Logistic(0, 1) samples: the logit of a uniform."""
    return torch.logit(_uniform(like, shape))


def exponential(like: Tensor, shape: tuple[int, ...] = ()) -> Tensor:
    """Exponential(1) samples."""
    return -torch.log(_uniform(like, shape))


def gumbel(like: Tensor, shape: tuple[int, ...] = ()) -> Tensor:
    """Gumbel(0, 1) samples."""
    return -torch.log(exponential(like, shape))
