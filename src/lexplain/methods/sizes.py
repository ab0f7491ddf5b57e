"""How much a recipe keeps, from what the user asked for."""

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
    """How much is kept of a row: k features, a rate of them on average, or whatever is worth its price. All None: nobody said."""

    k: int | None = None
    rate: float | None = None
    penalty: float | None = None  # of keeping every feature (the papers' lambda, which multiplies the MEAN)

    @classmethod
    def of(cls, keep: float | None, penalty: float | None, count: int) -> Size:
        """What keep and penalty say of `count` features; refuse what cannot be kept, and two ways of saying it."""
        check.keep_or_penalty(keep, penalty, count)
        if isinstance(keep, (int, np.integer)):
            return cls(k=int(keep))
        return cls(rate=None if keep is None else float(keep), penalty=penalty)

    def as_count(self, count: int) -> int:
        """The number of features, of which there are `count`, that a method of a fixed number keeps."""
        assert self.k is not None or self.rate is not None
        return self.k if self.k is not None else max(1, min(count - 1, round((self.rate or 0.0) * count)))

    def as_rate(self, count: int) -> float | None:
        """The rate that is asked for, if one is."""
        return self.k / count if self.k is not None else self.rate


@dataclass(frozen=True)
class MaskFactory:
    """A class of mask distributions with its settings, waiting for logits. A class, because explainers are pickled."""

    distribution: Callable[..., MaskDistribution]
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        if "temperature" in self.settings:
            check.above_zero(temperature=self.settings["temperature"])

    def __call__(self, logits: Tensor, valid: Tensor | None) -> MaskDistribution:
        """The distribution over masks of these logits (b, d)."""
        return self.distribution(logits, valid=valid, **self.settings)

    @property
    def fixed_size(self) -> bool:
        """Whether every mask keeps the same number of features, so that only their order matters."""
        return self.distribution is not Bernoulli


def bernoulli_masks(count: int, size: Size, *, temperature: float, warmup: float = 0.0) -> tuple[MaskFactory, tuple[Term, ...]]:
    """The mask family and the penalty of a method of independent coins: a price, or a rate to meet."""
    if size.penalty is not None:
        return MaskFactory(Bernoulli, {"temperature": temperature}), (Sparsity(size.penalty, warmup=warmup),)
    rate = size.as_rate(count)
    assert rate is not None
    return MaskFactory(Bernoulli, {"temperature": temperature, "k": size.k}), (TargetRate(rate),)
