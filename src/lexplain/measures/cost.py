"""How long an explanation takes, and from how many rows on a fit is cheaper than KernelSHAP."""

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

BACKGROUND = 100  # rows that stand for what is hidden
PEER_ROWS = 5  # rows that are timed, after one that is not


def seconds_a_row(
    explain: Callable[[Tensor], Tensor], x: Tensor, *, repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The seconds for each of some rows (b, ...), explained at once, in the median repeat.

    The first explanation does not count, and each has taken until the device has really finished.

    Args:
        explain: rows to scores, with all that it needs: the model's output too, if it reads it.
        x: the rows explained at once.
        repeats: times to explain them all.
        clock: seconds since some moment.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (time per sample).
    """
    check.counts(repeats=repeats, rows=len(x))
    timed = one_by_one(lambda rows: _finish(rows, explain(rows)), [x] * repeats, clock=clock)
    return float(median(timed.tolist())) / len(x)


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


def break_even_estimate(fit_seconds: float, seconds_a_row: float, peer_seconds: Tensor) -> Estimate:
    """The `break_even` against a peer that took so many seconds (b,) for some rows, with the interval that their mean's gives.

    Example:
        >>> pays_from(60.0, 0.0, torch.tensor([0.03, 0.03]))
        Estimate(mean=2000, low=2000, high=2000, n=2, level=0.95)
    """
    peer = bootstrap(peer_seconds)
    rows, fewest, most = (break_even(fit_seconds, seconds_a_row, each) for each in (peer.mean, peer.high, peer.low))
    return Estimate(rows, fewest, most, peer.n, peer.level)


def kernel_shap_seconds(
    model: Callable[[Tensor], Tensor], features: Features, background: Tensor, x: Tensor, *, seed: int = 0, clock: Callable[[], float]
) -> Tensor:
    """The seconds (b,) that shap's KernelSHAP takes for each of some rows, with as many subsets as it chooses: 2 d + 2,048, or all.

    Args:
        model: encoded rows (n, ...) to (n, c); as in shap's own use, all copies of a row are asked for at once.
        features: what can be on or off.
        background: (r, ...) encoded rows, of which a hundred are drawn.
        x: (b, ...) encoded rows; the first is explained once before, which does not count.
        seed: of every draw.
        clock: seconds since some moment.

    Reference: Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, 2017, theorem 2.
    """
    shap, legacy = check.require("shap", extra="peers"), check.require("shap.utils._legacy", extra="peers")
    drawn = background[torch.randperm(len(background), generator=torch.Generator().manual_seed(seed))[:BACKGROUND]]
    owner = features.expand(torch.arange(features.count)).reshape(-1).numpy()
    groups = [np.flatnonzero(owner == feature) for feature in range(features.count)]
    few = legacy.DenseData(drawn.flatten(1).double().cpu().numpy(), list(features.names), groups)

    def ask(rows: np.ndarray) -> np.ndarray:
        said: np.ndarray = model(torch.as_tensor(rows, dtype=x.dtype, device=x.device).reshape(-1, *x.shape[1:])).cpu().numpy()
        return said

    with numpy_seeded(seed):
        explainer = shap.KernelExplainer(ask, few)
        rows = x.flatten(1).double().cpu().numpy()
        return one_by_one(lambda row: explainer.shap_values(row[None], nsamples="auto", l1_reg=False, silent=True), rows, clock=clock)


def one_by_one(explain: Callable[..., object], rows: np.ndarray | list[Tensor], *, clock: Callable[[], float]) -> Tensor:
    """The seconds (b,) that each explanation takes by itself, after one of the first that does not count."""
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
    description="milliseconds to explain a row, many at a time, the fit not counted",
    needs=("explainer",),
    group="cost",
    family="speed",
    included="usually",
)
def milliseconds_a_row(evaluation: Evaluation) -> Estimate:
    """Milliseconds of an explanation."""
    assert evaluation.callables.explain is not None  # `needs` says so
    x = evaluation.rows.x[evaluation.sampled]  # a few: some explainers take a second for each
    measured = 1000 * seconds_a_row(evaluation.callables.explain, x, repeats=3)
    return Estimate(measured, measured, measured, len(x))


@measure(
    "break_even_rows",
    label="Break-even rows, KernelSHAP",
    better=False,
    description=(
        f"from so many rows on, the fit and its explanations take less time than shap's KernelSHAP ({BACKGROUND} background rows, its "
        "own number of subsets), with the interval of the few rows that were timed; inf: never"
    ),
    needs=("peer",),
    group="cost",
    family="break-even",
)
def break_even_rows(evaluation: Evaluation, clock: Callable[[], float] = time.perf_counter) -> Estimate:
    """From how many rows on fitting and explaining is cheaper than KernelSHAP on the same model."""
    asked = evaluation.callables
    assert asked.explain is not None and asked.predict is not None and asked.fit_seconds is not None
    x = evaluation.rows.x[evaluation.sampled]
    own = seconds_a_row(asked.explain, x, repeats=3, clock=clock)
    seed = evaluation.run.seed
    peer = kernel_shap_seconds(asked.predict, evaluation.features, evaluation.background, x[:PEER_ROWS], seed=seed, clock=clock)
    return break_even_estimate(asked.fit_seconds, own, peer)
