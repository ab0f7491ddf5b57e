"""How long KernelSHAP takes for a row: what a fit has to be cheaper than."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

from .. import check
from ..core.contracts import Features
from ..core.seeding import numpy_seeded

BACKGROUND = 100  # rows that stand for what is hidden
PEER_ROWS = 5  # rows that are timed, after one that is not


def shap_there() -> bool:
    """Whether shap is installed."""
    return find_spec("shap") is not None


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


def one_by_one(explain: Callable[[np.ndarray], object], rows: np.ndarray, *, clock: Callable[[], float] = time.perf_counter) -> Tensor:
    """The seconds (b,) that each row's explanation takes by itself, after one of the first row that does not count."""
    explain(rows[0])
    seconds = []
    for row in rows:  # a row at a time is what is timed
        began = clock()
        explain(row)
        seconds.append(clock() - began)
    return torch.tensor(seconds, dtype=torch.float64)
