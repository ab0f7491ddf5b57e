"""How much to keep: the path of prices, and the point on it that a tolerance chooses."""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd
import torch
from sklearn.isotonic import IsotonicRegression
from torch import Tensor

from ..core import Trial
from ..evaluation import Estimate, accuracy, bootstrap
from ..methods import LEAST, MOST, Method, knowledge
from ..training import Evaluator

POINTS = 81  # prices on the path
DRAWS = 8  # imputations that a cost is averaged over
TOLERANCE = 0.0065  # nats that predictions may move, unless told,
SHARE = 0.045  # but no more than this share of what the predictor knows


@torch.no_grad()
def walk(method: Method, trial: Trial, judge: Evaluator | None, *, max_rows: int) -> pd.DataFrame:
    """What each price keeps and costs on given rows: one row a price, from low to high; masks are nested.

    The cost is how far predictions from kept features, the others imputed, lie from those of full rows: KL in nats, outside the log.
    With a judge, eacc is its accuracy from what is kept, and eacc_of_all from every feature.
    """
    prices = np.geomspace(LEAST, MOST, POINTS)
    gains = torch.cat([method.selector.logits(part.x, part.context) for part in trial.parts(max_rows)]) - method.selector.offset
    masks = torch.stack([gains > log(price) for price in prices])  # (P, n, d)
    step = max(1, max_rows // POINTS)
    shown = masks.split_with_sizes([len(part) for part in trial.parts(step)], 1)
    costs = torch.cat([_cost(method, part, mask) for part, mask in zip(trial.parts(step), shown, strict=True)], 1)
    table = pd.DataFrame({"price": prices, "kept": masks.sum(-1).double().mean(1).cpu().numpy()})
    table = table.join(_columns("cost", [bootstrap(cost) for cost in costs]))
    if judge is None:
        return table
    table = table.join(_columns("eacc", [_judged(judge, trial, mask, max_rows) for mask in masks]))
    return table.assign(eacc_of_all=_judged(judge, trial, torch.ones_like(masks[0]), max_rows).mean)


def choose(table: pd.DataFrame, method: Method, trial: Trial, *, nats: float | None = None, points: float | None = None) -> pd.DataFrame:
    """Mark the sparsest point of a path within a tolerance: of cost in nats, or of accuracy in points below that of all features."""
    if points is not None:
        # Hiding more cannot help in truth, so that a rise is luck of the few rows judged.
        falling = IsotonicRegression(increasing=False).fit_transform(np.arange(len(table)), table["eacc"])
        good = pd.Series(falling >= table["eacc_of_all"] - points / 100 - 1e-9)
    else:
        with torch.no_grad():
            good = table["cost"] <= (min(TOLERANCE, SHARE * knowledge(method, trial)) if nats is None else nats)
    chosen = int(np.flatnonzero(good)[-1]) if good.any() else 0  # nothing is within it: the densest
    return table.assign(chosen=np.arange(len(table)) == chosen)


def _cost(method: Method, trial: Trial, masks: Tensor) -> Tensor:
    """Costs (P, b) of masks (P, b, d), averaged over imputations that all masks share."""
    return torch.stack([method.change(trial, masks[:, None]) for _ in range(DRAWS)]).mean(0).cpu()


def _judged(judge: Evaluator, trial: Trial, mask: Tensor, max_rows: int) -> Estimate:
    said = [judge.probabilities(trial.x[at : at + max_rows], mask[at : at + max_rows]) for at in range(0, len(trial), max_rows)]
    labels: Tensor = trial.target.probs.argmax(1)  # type: ignore[attr-defined]  # Categorical
    return bootstrap(accuracy(torch.cat(said), labels).cpu())


def _columns(name: str, estimates: list[Estimate]) -> pd.DataFrame:
    return pd.DataFrame({name: e.mean, f"{name}_low": e.low, f"{name}_high": e.high} for e in estimates)
