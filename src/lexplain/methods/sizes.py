"""How much a recipe keeps, from the user's `keep` or `penalty`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from .. import check
from ..core.contracts import MaskDistribution, Term
from ..masks import Bernoulli
from ..objectives import Sparsity, TargetRate


@dataclass(frozen=True)
class Size:
    """How much is kept per row: k features, a rate on average, or the features whose gain exceeds their price. All None: not set."""

    k: int | None = None
    rate: float | None = None
    penalty: float | None = None  # cost of keeping all features (the papers' lambda, which multiplies the MEAN)

    @classmethod
    def of(cls, keep: float | None, penalty: float | None, count: int) -> Size:
        """The size that keep or penalty sets for `count` features. Raises if it is out of range, or if both are given."""
        check.keep_or_penalty(keep, penalty, count)
        if isinstance(keep, (int, np.integer)):
            return cls(k=int(keep))
        return cls(rate=None if keep is None else float(keep), penalty=penalty)

    def as_count(self, count: int) -> int:
        """How many of `count` features a fixed-size method keeps."""
        assert self.k is not None or self.rate is not None
        return self.k if self.k is not None else max(1, min(count - 1, round((self.rate or 0.0) * count)))

    def as_rate(self, count: int) -> float | None:
        """The requested rate, if there is one."""
        return self.k / count if self.k is not None else self.rate


@dataclass(frozen=True)
class MaskFactory:
    """Builds mask distributions of one class from logits. It is a class, because explainers are pickled."""

    distribution: Callable[..., MaskDistribution]
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        if "temperature" in self.settings:
            check.above_zero(temperature=self.settings["temperature"])

    def __call__(self, logits: Tensor, valid: Tensor | None) -> MaskDistribution:
        """The distribution over masks for logits (b, d)."""
        return self.distribution(logits, valid=valid, **self.settings)

    @property
    def fixed_size(self) -> bool:
        """Whether all masks keep the same number of features, so that only the order of scores matters."""
        return self.distribution is not Bernoulli


def bernoulli_masks(count: int, size: Size, *, temperature: float, warmup: float = 0.0) -> tuple[MaskFactory, tuple[Term, ...]]:
    """Mask factory and penalty of a method that keeps each feature independently, with a price or a target rate."""
    if size.penalty is not None:
        return MaskFactory(Bernoulli, {"temperature": temperature}), (Sparsity(size.penalty, warmup=warmup),)
    rate = size.as_rate(count)
    assert rate is not None
    return MaskFactory(Bernoulli, {"temperature": temperature, "k": size.k}), (TargetRate(rate),)
