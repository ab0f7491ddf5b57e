"""How much a recipe keeps, from what the user asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from .. import check
from ..core import Trial
from ..masks import Bernoulli
from ..objectives import Sparsity, TargetRate


@dataclass(frozen=True)
class Family:
    """A kind of mask distribution with its settings, waiting for logits. A class, because explainers are pickled."""

    kind: Callable[..., Any]
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        if "temperature" in self.settings:
            check.above_zero(temperature=self.settings["temperature"])

    def __call__(self, logits: Tensor, valid: Tensor | None) -> Any:
        """The distribution over masks of these logits (b, d)."""
        return self.kind(logits, valid=valid, **self.settings)


def subset_size(name: str, count: int, keep: float | None, penalty: float | None) -> int:
    """The k of a method that always keeps k features; a third of them unless told."""
    check.keep_or_penalty(keep, penalty, count)
    if penalty is not None:
        raise ValueError(f"{name} keeps a fixed number of features and has no penalty; give keep instead")
    if keep is None:
        return max(1, round(count / 3))
    return int(keep) if isinstance(keep, (int, np.integer)) else max(1, min(count - 1, round(keep * count)))


def coins(
    count: int, keep: float | None, penalty: float | None, *, temperature: float, warmup: float = 0.0
) -> tuple[Family, list[Callable[[Trial], Tensor]]]:
    """The mask family and the penalty of a method of independent coins: a price, or a rate to meet."""
    check.keep_or_penalty(keep, penalty, count)
    if keep is None:
        assert penalty is not None
        return Family(Bernoulli, {"temperature": temperature}), [Sparsity(penalty, warmup=warmup)]
    k = int(keep) if isinstance(keep, (int, np.integer)) else None
    return Family(Bernoulli, {"temperature": temperature, "k": k}), [TargetRate(keep / count if k else float(keep))]
