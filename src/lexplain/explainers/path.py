"""How much to keep: the regularisation path, and the point on it that a tolerance chooses."""

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
TOLERANCE = 0.0065  # nats by which predictions may change by default,
MAX_INFORMATION_SHARE = 0.045  # but at most this share of the predictor's information
EVALUATOR_STEPS = 1500  # optimiser steps of the evaluator of the path; other evaluators decide the verdict
MIN_VALIDATION_ROWS, FOLDS = 1000, 5  # with fewer validation rows, points of accuracy are measured on folds of all rows
EXTRA_ROUNDS = 3  # training rounds at the price that points of accuracy choose
TOLERANCE_USED = 0.9  # share of tolerance_points that is used, because accuracy differs on new rows
PathEvaluator = Callable[[Batch, Tensor, int], Tensor]  # rows, masks (n, d) and maximum rows at once to class probabilities (n, c)


def choose_price(
    method: Method,
    splits: Splits,
    settings: Settings,
    fabric: Fabric,
    *,
    tolerance: tuple[float | None, float | None],
    price: float | None = None,
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Move the selector's threshold to the price that the tolerance chooses; return the path and the history of further training.

    Points of accuracy may choose a price far above the one at which gains were measured. Gains are then measured again at this price, and
    the path is computed again, as long as that saves features.

    Args:
        method: Trained method. Its threshold changes, and its weights if further rounds save features.
        splits: Training rows, and validation rows for the choice.
        settings: Settings of the training.
        fabric: Device and precision.
        tolerance: Nats, and points of accuracy. Both None: the default in nats.
        price: Price of a feature, instead of a tolerance. It becomes a point of the path.
    """
    nats, points = tolerance
    train, validation = splits.train, splits.validation
    evaluator, rows = path_evaluator(method, train, validation, decides=points is not None, fabric=fabric, seed=settings.seed)

    def set_price() -> pd.DataFrame:
        table = compute_path(method, rows, evaluator, max_rows=settings.max_rows, price=price)
        if price is None:
            path = choose_point(table, method, rows, nats=nats, points=points)
        else:
            path = table.assign(chosen=table["price"] == price)
        method.selector.offset.fill_(-log(chosen_value(path, "price")))
        return path

    path, history = set_price(), list[dict[str, Any]]()
    for _ in range(EXTRA_ROUNDS if points is not None else 0):
        before = copy.deepcopy(method.state_dict())
        phases = method.plan.extra_round(method, chosen_value(path, "price"))
        history += fit(method, phases, train, validation, settings, fabric=fabric)
        method.eval()
        new_path = set_price()
        if chosen_value(new_path, "kept") >= chosen_value(path, "kept"):
            method.load_state_dict(before)
            break
        path = new_path
    return path, history


def chosen_value(path: pd.DataFrame, column: str) -> float:
    """The value of a column at the chosen point of a path."""
    return float(path.loc[path["chosen"], column].item())


def required_path(path: pd.DataFrame | None) -> pd.DataFrame:
    """The path of a fit. Raise if the fit has none."""
    if path is None:
        raise ValueError("This fit has no path. Only the default method with keep='auto' computes one; leave keep and penalty out.")
    return path


@torch.no_grad()
def compute_path(
    method: Method, batch: Batch, evaluator: PathEvaluator | None, *, max_rows: int, price: float | None = None
) -> pd.DataFrame:
    """Features kept and cost at each price, on these rows: one row per price, from low to high. Masks are nested.

    The cost is the KL divergence, in nats, between predictions from full rows and from rows with the other features imputed. Predictions
    are compared for each imputation, and the divergences are averaged. With an evaluator, eacc is its accuracy from the kept features,
    and eacc_of_all its accuracy from all features.
    """
    prices = np.geomspace(MIN_GAIN, MAX_GAIN, POINTS)
    if price is not None:
        prices = np.sort(np.append(prices, price))
    gains = torch.cat([method.selector.logits(part.x, part.context) for part in batch.chunks(max_rows)]) - method.selector.offset
    masks = torch.stack([gains > log(price) for price in prices])  # (P, n, d)
    masks = masks if batch.valid is None else masks & batch.valid
    step = max(1, max_rows // len(prices))
    chunks = masks.split_with_sizes([len(part) for part in batch.chunks(step)], 1)
    costs = torch.cat([_cost(method, part, mask) for part, mask in zip(batch.chunks(step), chunks, strict=True)], 1)
    table = pd.DataFrame({"price": prices, "kept": masks.sum(-1).double().mean(1).cpu().numpy()})
    table = table.join(_columns("cost", [bootstrap(cost) for cost in costs]))
    if evaluator is None:
        return table
    table = table.join(_columns("eacc", [_accuracy(evaluator, batch, mask, max_rows) for mask in masks]))
    full = torch.ones_like(masks[0]) if batch.valid is None else batch.valid
    return table.assign(eacc_of_all=_accuracy(evaluator, batch, full, max_rows).mean)


def choose_point(
    table: pd.DataFrame, method: Method, batch: Batch, *, nats: float | None = None, points: float | None = None
) -> pd.DataFrame:
    """Mark the sparsest point of a path within a tolerance: of cost in nats, or of lost accuracy in points."""
    from sklearn.isotonic import IsotonicRegression

    if points is not None:
        # Hiding more features cannot increase the true accuracy, so a rise is noise of the sample.
        falling = IsotonicRegression(increasing=False).fit_transform(np.arange(len(table)), table["eacc"])
        good = pd.Series(falling >= table["eacc_of_all"] - TOLERANCE_USED * points / 100 - 1e-9)
    else:
        with torch.no_grad():
            good = table["cost"] <= (
                min(TOLERANCE, MAX_INFORMATION_SHARE * prediction_information(method, batch)) if nats is None else nats
            )
    chosen = int(np.flatnonzero(good)[-1]) if good.any() else 0  # no point is within the tolerance: the densest
    return table.assign(chosen=np.arange(len(table)) == chosen)


def _cost(method: Method, batch: Batch, masks: Tensor) -> Tensor:
    """Costs (P, b) of masks (P, b, d), averaged over imputations that are the same for all masks."""
    return torch.stack([method.kl_to_full(batch, masks[:, None]) for _ in range(DRAWS)]).mean(0).cpu()


def path_evaluator(
    method: Method, train: Batch, validation: Batch, *, decides: bool, fabric: Fabric, seed: int
) -> tuple[PathEvaluator | None, Batch]:
    """The evaluator of the path, None for real values, and the rows to evaluate.

    Points of accuracy cannot be measured on few validation rows. If the evaluator decides, each fifth of all rows is then evaluated by a
    network trained on the others.
    """
    outputs = method.predictor.outputs
    if outputs.real:
        return None, validation.to(fabric.device)
    if not decides or len(validation) >= MIN_VALIDATION_ROWS:
        steps = None if decides else EVALUATOR_STEPS  # an evaluator that decides is trained as long as those of audits
        evaluator = train_evaluator(method.features, outputs, train, validation, steps=steps, fabric=fabric, seed=seed)
        return combine_evaluators([(torch.arange(len(validation)), evaluator)]), validation.to(fabric.device)
    rows, evaluators = concat_batches(train, validation), []
    parts = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed)).chunk(FOLDS)
    for index, part in enumerate(parts):
        rest = torch.cat([other for j, other in enumerate(parts) if j != index])
        learn, held = rows.take(rest[len(rest) // 10 :]), rows.take(rest[: len(rest) // 10])
        evaluators.append((part, train_evaluator(method.features, outputs, learn, held, steps=EVALUATOR_STEPS, fabric=fabric, seed=seed)))
    return combine_evaluators(evaluators), rows.to(fabric.device)


def combine_evaluators(evaluators: Sequence[tuple[Tensor, Evaluator]]) -> PathEvaluator:
    """Combine evaluators, each with the indices of the rows that it evaluates."""

    def predict(batch: Batch, mask: Tensor, max_rows: int) -> Tensor:
        parts = [(part, each) for rows, each in evaluators for part in torch.split(rows.to(mask.device), max_rows)]
        x, valid = batch.x, batch.valid
        outputs = torch.cat([each.probabilities(x[rows], mask[rows], None if valid is None else valid[rows]) for rows, each in parts])
        return outputs[torch.cat([rows for rows, _ in parts]).argsort()]

    return predict


def _accuracy(evaluator: PathEvaluator, batch: Batch, mask: Tensor, max_rows: int) -> Estimate:
    labels = target_values(batch.target).argmax(1)
    return bootstrap(accuracy(evaluator(batch, mask, max_rows), labels).cpu())


def _columns(name: str, estimates: list[Estimate]) -> pd.DataFrame:
    return pd.DataFrame({name: e.mean, f"{name}_low": e.low, f"{name}_high": e.high} for e in estimates)
