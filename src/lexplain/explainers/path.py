"""How much to keep: the path of prices, and the point on it that a tolerance chooses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..core import Batch, concat_batches, target_values
from ..core.splits import Splits
from ..evaluation import Evaluator, train_evaluator
from ..measures import Estimate, bootstrap
from ..measures.prediction import accuracy
from ..methods import MAX_GAIN, MIN_GAIN, Method, prediction_information
from ..training import Settings, fit

if TYPE_CHECKING:
    from lightning_fabric import Fabric

POINTS = 81  # prices on the path
DRAWS = 8  # imputations that a cost is averaged over
TOLERANCE = 0.0065  # nats that predictions may move, unless told,
MAX_INFORMATION_SHARE = 0.045  # but no more than this share of what the predictor knows
EVALUATOR_STEPS = 1500  # optimiser steps of the judge that draws the path; it chooses, so that it never issues the verdict
MIN_VALIDATION_ROWS, FOLDS = 1000, 5  # validation rows that tell points of accuracy; else parts of all rows
EXTRA_ROUNDS = 3  # rounds at the price that points of accuracy choose
TOLERANCE_USED = 0.9  # share of a tolerance in points that is used, since the rows to come are others
PathEvaluator = Callable[[Batch, Tensor, int], Tensor]  # rows, masks (n, d) and most rows at a time to class probabilities (n, c)


def choose_price(
    method: Method, splits: Splits, settings: Settings, fabric: Fabric, *, tolerance: tuple[float | None, float | None]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Walk the path of prices, and move the selector's threshold to the one that the tolerance chooses; return the path and the epochs.

    Points of accuracy may be worth a price far above the one that gains were measured at. Then they are measured again in the
    company that this price keeps, and the path is walked anew, while that saves features.

    Args:
        method: trained; its threshold, and where more rounds pay its weights, are changed.
        splits: rows to learn from and to choose on.
        settings: of the training.
        fabric: where it runs.
        tolerance: nats, and points of accuracy; both None: the default in nats.
    """
    nats, points = tolerance
    train, validation = splits.train, splits.validation
    judge, rows = path_evaluator(method, train, validation, decides=points is not None, fabric=fabric, seed=settings.seed)

    def walked() -> pd.DataFrame:
        path = choose_point(compute_path(method, rows, judge, max_rows=settings.max_rows), method, rows, nats=nats, points=points)
        method.selector.offset.fill_(-log(chosen_value(path, "price")))
        return path

    path, history = walked(), list[dict[str, Any]]()
    for _ in range(EXTRA_ROUNDS if points is not None else 0):
        before = copy.deepcopy(method.state_dict())
        phases = method.plan.extra_round(method, chosen_value(path, "price"))
        history += fit(method, phases, train, validation, settings, fabric=fabric)
        method.eval()
        again = walked()
        if chosen_value(again, "kept") >= chosen_value(path, "kept"):
            method.load_state_dict(before)
            break
        path = again
    return path, history


def chosen_value(path: pd.DataFrame, column: str) -> float:
    """A number of the chosen point of a path."""
    return float(path.loc[path["chosen"], column].item())


def required_path(path: pd.DataFrame | None) -> pd.DataFrame:
    """The path that a fit walked; refuse a fit that walked none."""
    if path is None:
        raise ValueError("this fit has no path of prices, which only keep='auto' of the default method walks; leave keep and penalty out")
    return path


@torch.no_grad()
def compute_path(method: Method, batch: Batch, judge: PathEvaluator | None, *, max_rows: int) -> pd.DataFrame:
    """What each price keeps and costs on given rows: one row a price, from low to high; masks are nested.

    The cost is how far predictions from kept features, the others imputed, lie from those of full rows: KL in nats, outside the log.
    With a judge, eacc is its accuracy from what is kept, and eacc_of_all from every feature.
    """
    prices = np.geomspace(MIN_GAIN, MAX_GAIN, POINTS)
    gains = torch.cat([method.selector.logits(part.x, part.context) for part in batch.chunks(max_rows)]) - method.selector.offset
    masks = torch.stack([gains > log(price) for price in prices])  # (P, n, d)
    masks = masks if batch.valid is None else masks & batch.valid
    step = max(1, max_rows // POINTS)
    shown = masks.split_with_sizes([len(part) for part in batch.chunks(step)], 1)
    costs = torch.cat([_cost(method, part, mask) for part, mask in zip(batch.chunks(step), shown, strict=True)], 1)
    table = pd.DataFrame({"price": prices, "kept": masks.sum(-1).double().mean(1).cpu().numpy()})
    table = table.join(_columns("cost", [bootstrap(cost) for cost in costs]))
    if judge is None:
        return table
    table = table.join(_columns("eacc", [_judged(judge, batch, mask, max_rows) for mask in masks]))
    everything = torch.ones_like(masks[0]) if batch.valid is None else batch.valid
    return table.assign(eacc_of_all=_judged(judge, batch, everything, max_rows).mean)


def choose_point(
    table: pd.DataFrame, method: Method, batch: Batch, *, nats: float | None = None, points: float | None = None
) -> pd.DataFrame:
    """Mark the sparsest point of a path within a tolerance: of cost in nats, or of accuracy in points below that of all features."""
    from sklearn.isotonic import IsotonicRegression

    if points is not None:
        # Hiding more cannot help in truth, so that a rise is luck of the few rows judged.
        falling = IsotonicRegression(increasing=False).fit_transform(np.arange(len(table)), table["eacc"])
        good = pd.Series(falling >= table["eacc_of_all"] - TOLERANCE_USED * points / 100 - 1e-9)
    else:
        with torch.no_grad():
            good = table["cost"] <= (
                min(TOLERANCE, MAX_INFORMATION_SHARE * prediction_information(method, batch)) if nats is None else nats
            )
    chosen = int(np.flatnonzero(good)[-1]) if good.any() else 0  # nothing is within it: the densest
    return table.assign(chosen=np.arange(len(table)) == chosen)


def _cost(method: Method, batch: Batch, masks: Tensor) -> Tensor:
    """Costs (P, b) of masks (P, b, d), averaged over imputations that all masks share."""
    return torch.stack([method.kl_to_full(batch, masks[:, None]) for _ in range(DRAWS)]).mean(0).cpu()


def path_evaluator(
    method: Method, train: Batch, validation: Batch, *, decides: bool, fabric: Fabric, seed: int
) -> tuple[PathEvaluator | None, Batch]:
    """Who judges the path, if it is of classes, and on which rows.

    Few validation rows cannot tell points of accuracy: where the judge decides, each fifth of all rows is then judged by what learned from
    the others.
    """
    outputs = method.predictor.outputs
    if outputs.real:
        return None, validation.to(fabric.device)
    if not decides or len(validation) >= MIN_VALIDATION_ROWS:
        steps = None if decides else EVALUATOR_STEPS  # one that decides learns as long as any judge
        judge = train_evaluator(method.features, outputs, train, validation, steps=steps, fabric=fabric, seed=seed)
        return combine_evaluators([(torch.arange(len(validation)), judge)]), validation.to(fabric.device)
    rows, judges = concat_batches(train, validation), []
    parts = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed)).chunk(FOLDS)
    for place, part in enumerate(parts):
        rest = torch.cat([other for at, other in enumerate(parts) if at != place])
        learn, held = rows.take(rest[len(rest) // 10 :]), rows.take(rest[: len(rest) // 10])
        judges.append((part, train_evaluator(method.features, outputs, learn, held, steps=EVALUATOR_STEPS, fabric=fabric, seed=seed)))
    return combine_evaluators(judges), rows.to(fabric.device)


def combine_evaluators(judges: Sequence[tuple[Tensor, Evaluator]]) -> PathEvaluator:
    """A judge made of several, each of which is asked about the rows (indices) that it did not learn from."""

    def said(batch: Batch, mask: Tensor, max_rows: int) -> Tensor:
        parts = [(part, judge) for rows, judge in judges for part in torch.split(rows.to(mask.device), max_rows)]
        x, valid = batch.x, batch.valid
        answers = torch.cat([judge.probabilities(x[rows], mask[rows], None if valid is None else valid[rows]) for rows, judge in parts])
        return answers[torch.cat([rows for rows, _ in parts]).argsort()]

    return said


def _judged(judge: PathEvaluator, batch: Batch, mask: Tensor, max_rows: int) -> Estimate:
    labels = target_values(batch.target).argmax(1)
    return bootstrap(accuracy(judge(batch, mask, max_rows), labels).cpu())


def _columns(name: str, estimates: list[Estimate]) -> pd.DataFrame:
    return pd.DataFrame({name: e.mean, f"{name}_low": e.low, f"{name}_high": e.high} for e in estimates)
