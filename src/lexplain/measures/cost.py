"""Duration of an explanation, and the number of rows from which a fit is faster than KernelSHAP."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, inf
from statistics import median

import numpy as np
import torch
from torch import Tensor

from .. import check
from ..core.contracts import Features
from ..core.seeding import numpy_seeded
from ..evaluation import Evaluation
from .measure import measure
from .statistics import Estimate, bootstrap

BACKGROUND = 100  # background rows of KernelSHAP
PEER_ROWS = 5  # rows that are timed, after one warm-up row


def seconds_a_row(
    explain: Callable[[Tensor], Tensor], x: Tensor, *, repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds per row to explain rows (b, ...) in one call: the median of several repeats.

    A first call is not counted. Each call is timed until the device has finished.

    Args:
        explain: Function from rows to scores, including the model's output if the explainer reads it.
        x: Rows to explain in one call.
        repeats: Number of timed calls.
        clock: Function that returns the current time in seconds.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (time per sample).
    """
    check.counts(repeats=repeats, rows=len(x))
    timed = one_by_one(lambda rows: _finish(rows, explain(rows)), [x] * repeats, clock=clock)
    return float(median(timed.tolist())) / len(x)


def _finish(*tensors: Tensor) -> None:
    """Wait for the devices of tensors."""
    for device in {tensor.device for tensor in tensors}:
        if device.type != "cpu":
            torch.accelerator.synchronize(device)


def break_even(fit_seconds: float, seconds_a_row: float, peer_seconds_a_row: float) -> float:
    """Minimum number of rows for which a fit and its explanations take no longer than a peer without a fit; infinite if there is none.

    Example:
        >>> break_even(60.0, 0.0, 0.03)
        2000
    """
    saved = peer_seconds_a_row - seconds_a_row
    if fit_seconds <= 0:
        return 0 if saved >= 0 else inf
    return ceil(fit_seconds / saved) if saved > 0 else inf


def break_even_estimate(fit_seconds: float, seconds_a_row: float, peer_seconds: Tensor) -> Estimate:
    """The `break_even` against a peer that took `peer_seconds` (b,) for single rows, with the interval from that of their mean.

    Example:
        >>> break_even_estimate(60.0, 0.0, torch.tensor([0.03, 0.03], dtype=torch.double))
        Estimate(mean=2000, low=2000, high=2000, n=2, level=0.95)
    """
    peer = bootstrap(peer_seconds)
    rows, low, high = (break_even(fit_seconds, seconds_a_row, each) for each in (peer.mean, peer.high, peer.low))
    return Estimate(rows, low, high, peer.n, peer.level)


def kernel_shap_seconds(
    model: Callable[[Tensor], Tensor], features: Features, background: Tensor, x: Tensor, *, seed: int = 0, clock: Callable[[], float]
) -> Tensor:
    """Seconds (b,) that shap's KernelSHAP takes per row, with its default number of subsets: 2 d + 2,048, or all.

    Args:
        model: Function from encoded rows (n, ...) to outputs (n, c). As in shap, all copies of a row are passed in one call.
        features: Fitted features.
        background: Encoded rows (r, ...); a hundred of them are sampled.
        x: Encoded rows (b, ...). The first is explained once more before, which is not counted.
        seed: Seed of the random numbers.
        clock: Function that returns the current time in seconds.

    Reference: Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, 2017, theorem 2.
    """
    shap, legacy = check.require("shap", extra="peers"), check.require("shap.utils._legacy", extra="peers")
    sampled = background[torch.randperm(len(background), generator=torch.Generator().manual_seed(seed))[:BACKGROUND]]
    owner = features.expand(torch.arange(features.count)).reshape(-1).numpy()
    groups = [np.flatnonzero(owner == feature) for feature in range(features.count)]
    data = legacy.DenseData(sampled.flatten(1).double().cpu().numpy(), list(features.names), groups)

    def query(rows: np.ndarray) -> np.ndarray:
        output: np.ndarray = model(torch.as_tensor(rows, dtype=x.dtype, device=x.device).reshape(-1, *x.shape[1:])).cpu().numpy()
        return output

    with numpy_seeded(seed):
        explainer = shap.KernelExplainer(query, data)
        rows = x.flatten(1).double().cpu().numpy()
        return one_by_one(lambda row: explainer.shap_values(row[None], nsamples="auto", l1_reg=False, silent=True), rows, clock=clock)


def one_by_one(explain: Callable[..., object], rows: np.ndarray | list[Tensor], *, clock: Callable[[], float]) -> Tensor:
    """Seconds (b,) that each explanation takes by itself. The first row is explained once more before, which is not counted."""
    explain(rows[0])  # the first call compiles, allocates and fills caches
    seconds = []
    for row in rows:
        began = clock()
        explain(row)
        seconds.append(clock() - began)
    return torch.tensor(seconds, dtype=torch.float64)


@measure(
    "milliseconds_a_row",
    label="Milliseconds a row",
    better=False,
    description="milliseconds to explain one row, in a batch of many, without the fit",
    needs=("explainer",),
    group="cost",
    family="speed",
    included="usually",
)
def milliseconds_a_row(evaluation: Evaluation) -> Estimate:
    """Milliseconds to explain one row."""
    assert evaluation.callables.explain is not None  # a need of the measure
    x = evaluation.rows.x[evaluation.sampled]  # a sample, because some explainers take a second per row
    measured = 1000 * seconds_a_row(evaluation.callables.explain, x, repeats=3)
    return Estimate(measured, measured, measured, len(x))


@measure(
    "break_even_rows",
    label="Break-even rows, KernelSHAP",
    better=False,
    description=(
        f"number of rows from which the fit and its explanations take less time than shap's KernelSHAP ({BACKGROUND} background rows, its "
        "default number of subsets); the interval is that of the rows that were timed; inf: never"
    ),
    needs=("peer",),
    group="cost",
    family="break-even",
)
def break_even_rows(evaluation: Evaluation, clock: Callable[[], float] = time.perf_counter) -> Estimate:
    """Number of rows from which fitting and explaining takes less time than KernelSHAP on the same model."""
    callables = evaluation.callables
    assert callables.explain is not None and callables.predict is not None and callables.fit_seconds is not None
    x = evaluation.rows.x[evaluation.sampled]
    own = seconds_a_row(callables.explain, x, repeats=3, clock=clock)
    seed = evaluation.run.seed
    peer = kernel_shap_seconds(callables.predict, evaluation.features, evaluation.background, x[:PEER_ROWS], seed=seed, clock=clock)
    return break_even_estimate(callables.fit_seconds, own, peer)
