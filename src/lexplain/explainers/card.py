"""The card of a fitted explainer, and the slow search over masks that measures its amortisation gap."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..auditing import Card, CardLine, make_card
from ..core import Batch, seeded, target_values
from ..evaluation import Evaluation, Evaluators, Others, Run
from ..measures import bootstrap
from ..methods import Method
from ..models import Target
from ..training import fabric_of
from .findings import fidelity

if TYPE_CHECKING:
    from .explainer import Explainer

SEARCH_ROWS = 100  # the search is slow
DRAWS = 32  # imputations that the cost of a mask is averaged over


def fit_card(explainer: Explainer) -> Card:
    """Evaluate an explainer on its test rows: verdict, fidelity of the surrogate, collapse and amortisation gap."""
    if getattr(explainer, "splits_", None) is None:
        raise ValueError("This explainer was loaded or copied and has no held-out rows. Use lx.audit with your own rows.")
    splits, method, fabric = explainer.splits_, explainer.method_, fabric_of(explainer.device)
    rows = splits.test
    explanation = explainer.explain(explainer.features_.decode(rows.x))
    parts = splits.train.to(fabric.device).chunks(explainer._max_rows())
    explained = [method.explain(part.x, part.context, part.valid) for part in parts]
    scores, mask = (torch.cat([each.cpu() for each in column]) for column in zip(*explained, strict=True))
    target = Target(target_values(rows.target), explainer.outputs_, getattr(explainer, "classes_", None), 0.0, 1.0)
    more = [_collapse(explanation.mask)]
    if method.plan.measures_gains:
        with seeded(splits.seed), torch.no_grad():
            more += [
                _fidelity(explainer, rows.to(fabric.device)),
                _amortisation(explainer, rows.take(slice(0, SEARCH_ROWS)).to(fabric.device)),
            ]
    run = Run(fabric, splits.seed + 1)  # not the seed of the evaluator that chose the price
    evaluators = Evaluators(explainer.features_, explainer.outputs_, seed=run.seed, fabric=fabric)
    others = Others(splits.train, lambda: (scores, mask))
    return make_card(Evaluation(explanation, explainer.features_, rows, target, run, evaluators, others), (), more=more)


def _fidelity(explainer: Explainer, rows: Batch) -> CardLine:
    """How well the predictor predicts the target of full rows."""
    values = bootstrap(fidelity(explainer.method_, rows).cpu())
    if explainer.outputs_.real:
        return CardLine("fidelity_r2", "Fidelity (R2)", values, True, "how well the predictor matches the target on full rows; 1 is exact")
    return CardLine(
        "fidelity", "Fidelity", values, True, "share of full rows for which the predictor predicts the class of the target", percent=True
    )


def _amortisation(explainer: Explainer, rows: Batch) -> CardLine:
    """How many nats a slow search over masks would save."""
    method = explainer.method_
    _, mask = method.explain(rows.x, rows.context, rows.valid)
    _, before, after = greedy_search(method, rows, mask, exp(-float(method.selector.offset)))
    description = "nats per row that a search over masks saves compared with one forward pass; 0 is optimal"
    return CardLine("amortisation_gap", "Amortisation gap", bootstrap((before - after).cpu()), False, description)


def _collapse(mask: Tensor) -> CardLine:
    """Share of rows with the most common mask."""
    _, position, counts = torch.unique(mask, dim=0, return_inverse=True, return_counts=True)
    description = "share of rows with the most common mask; 1 is one global set"
    return CardLine("commonest_mask", "Commonest mask", bootstrap((position == counts.argmax()).double()), None, description, percent=True)


@torch.no_grad()
def greedy_search(method: Method, batch: Batch, mask: Tensor, price: float) -> tuple[Tensor, Tensor, Tensor]:
    """Flip the feature that lowers the cost most, until no flip lowers it. The cost includes the price of the kept features.

    Args:
        method: Method whose predictions are compared.
        batch: Rows (b, ...).
        mask: Masks (b, d) to start from.
        price: Cost in nats per kept feature.

    Returns:
        The masks (b, d) at the end, and the costs (b,) in nats at the start and at the end.
    """
    count, rows = mask.shape[1], torch.arange(len(mask), device=mask.device)
    before = current = _costs(method, batch, mask[None], price)[0]
    for _ in range(2 * count):
        flipped = mask.expand(count, *mask.shape).clone()
        features = torch.arange(count, device=mask.device)
        flipped[features, :, features] = ~mask.T
        costs = _costs(method, batch, flipped, price)  # (d, b)
        if batch.valid is not None:  # padding stays hidden
            costs = costs.masked_fill(~batch.valid.T, torch.inf)
        best, feature = costs.min(0)
        better = best < current - 1e-6
        if not better.any():
            break
        mask = mask.clone()
        mask[rows[better], feature[better]] ^= True
        current = torch.where(better, best, current)
    return mask, before, current


def _costs(method: Method, batch: Batch, masks: Tensor, price: float) -> Tensor:
    """Costs (M, b) of masks (M, b, d). All calls use the same imputations, so that masks of different calls can be compared."""
    with seeded(0):
        changes = torch.stack([method.kl_to_full(batch, masks[:, None]) for _ in range(DRAWS)]).mean(0)
    return changes + price * masks.sum(-1)
