"""How long an explanation takes, and how many rows it takes for a fit to pay."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf
from statistics import median

import torch
from torch import Tensor

from .. import check
from .statistics import Estimate, bootstrap


@dataclass(frozen=True)
class Speed:
    """How long explaining some rows took, again and again."""

    rows: int
    seconds: tuple[float, ...]  # one a repeat

    @property
    def seconds_a_row(self) -> float:
        """The median repeat's seconds for each row."""
        return median(self.seconds) / self.rows

    def __str__(self) -> str:
        return f"{1e6 * self.seconds_a_row:.3g} µs a row ({self.rows} rows at once)"


def speed(explain: Callable[[Tensor], Tensor], x: Tensor, *, repeats: int = 5, clock: Callable[[], float] = time.perf_counter) -> Speed:
    """Time explanations of rows (b, ...) after one that does not count, each until the device has really finished.

    Args:
        explain: rows to scores, with all that it needs: the model's output too, if it reads it.
        x: the rows explained at once.
        repeats: times to explain them all.
        clock: seconds since some moment.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (time per sample).
    """
    check.counts(repeats=repeats, rows=len(x))
    _finish(x, explain(x))  # the first call compiles, allocates and fills caches
    seconds = []
    for _ in range(repeats):
        began = clock()
        _finish(x, explain(x))
        seconds.append(clock() - began)
    return Speed(len(x), tuple(seconds))


def _finish(*tensors: Tensor) -> None:
    """Wait for the devices that tensors lie on."""
    for device in {tensor.device for tensor in tensors}:
        if device.type != "cpu":
            torch.accelerator.synchronize(device)


def break_even(fit_seconds: float, seconds_a_row: float, peer_seconds_a_row: float) -> float:
    """Fewest rows for which a fit and its explanations take no longer than a peer that needs no fit; infinite if there are none.

    Example:
        >>> break_even(60.0, 0.0, 0.03)
        2000
    """
    saved = peer_seconds_a_row - seconds_a_row
    if fit_seconds <= 0:
        return 0 if saved >= 0 else inf
    return ceil(fit_seconds / saved) if saved > 0 else inf


def pays_from(fit_seconds: float, seconds_a_row: float, peer_seconds: Tensor) -> Estimate:
    """The `break_even` against a peer that took so many seconds (b,) for some rows, with the interval that their mean's gives.

    Example:
        >>> pays_from(60.0, 0.0, torch.tensor([0.03, 0.03]))
        Estimate(mean=2000, low=2000, high=2000, n=2, level=0.95)
    """
    peer = bootstrap(peer_seconds)
    rows, fewest, most = (break_even(fit_seconds, seconds_a_row, each) for each in (peer.mean, peer.high, peer.low))
    return Estimate(rows, fewest, most, peer.n, peer.level)
