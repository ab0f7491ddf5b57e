"""The card that a fitted explainer carries, and the slow search over masks that it is compared with."""

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

SEARCH_ROWS = 100  # rows whose masks are searched for the slow way
DRAWS = 32  # imputations that the price of a mask is averaged over


def fit_card(explainer: Explainer) -> Card:
    """Judge an explainer on the rows it set aside: honesty, fidelity of the surrogate, collapse, and what amortisation costs."""
    if getattr(explainer, "splits_", None) is None:
        raise ValueError("this explainer came from a file or a copy, which hold no rows to judge it by; use lx.audit with rows of yours")
    splits, method, fabric = explainer.splits_, explainer.method_, fabric_of(explainer.device)
    rows = splits.test
    explanation = explainer.explain(explainer.features_.decode(rows.x))
    parts = splits.train.to(fabric.device).chunks(explainer._max_rows())
    learned = [method.explain(part.x, part.context, part.valid) for part in parts]
    scores, mask = (torch.cat([each.cpu() for each in column]) for column in zip(*learned, strict=True))
    target = Target(target_values(rows.target), explainer.outputs_, getattr(explainer, "classes_", None), 0.0, 1.0)
    more = [_collapse(explanation.mask)]
    if method.plan.measures_gains:
        with seeded(splits.seed), torch.no_grad():
            more += [
                _fidelity(explainer, rows.to(fabric.device)),
                _amortisation(explainer, rows.take(slice(0, SEARCH_ROWS)).to(fabric.device)),
            ]
    run = Run(fabric, splits.seed + 1)  # the seed is another than that of the judge that chose a price
    evaluators = Evaluators(explainer.features_, explainer.outputs_, seed=run.seed, fabric=fabric)
    others = Others(splits.train, lambda: (scores, mask))
    return make_card(Evaluation(explanation, explainer.features_, rows, target, run, evaluators, others), (), more=more)


def _fidelity(explainer: Explainer, rows: Batch) -> CardLine:
    """How well the predictor says the target of full rows."""
    values = bootstrap(fidelity(explainer.method_, rows).cpu())
    if explainer.outputs_.real:
        return CardLine("fidelity_r2", "Fidelity (R2)", values, True, "how well the predictor matches the target on full rows; 1 is exact")
    return CardLine(
        "fidelity", "Fidelity", values, True, "share of full rows on which the predictor names the target's class", percent=True
    )


def _amortisation(explainer: Explainer, rows: Batch) -> CardLine:
    """What a slow search over masks would save."""
    method = explainer.method_
    _, mask = method.explain(rows.x, rows.context, rows.valid)
    _, began, found = greedy_search(method, rows, mask, exp(-float(method.selector.offset)))
    reads = "nats a row that a slow search over masks saves on the one-pass answer, features paid; 0 is as good as searching"
    return CardLine("amortisation_gap", "Amortisation gap", bootstrap((began - found).cpu()), False, reads)


def _collapse(mask: Tensor) -> CardLine:
    """How many rows share the commonest mask."""
    _, place, counts = torch.unique(mask, dim=0, return_inverse=True, return_counts=True)
    reads = "share of rows with the commonest mask; 1 is one global set"
    return CardLine("commonest_mask", "Commonest mask", bootstrap((place == counts.argmax()).double()), None, reads, percent=True)


@torch.no_grad()
def greedy_search(method: Method, batch: Batch, mask: Tensor, price: float) -> tuple[Tensor, Tensor, Tensor]:
    """Turn over the feature that saves most, again and again, until none saves anything.

    Args:
        method: what says how far predictions move.
        batch: rows (b, ...).
        mask: where to start, (b, d).
        price: nats of each feature kept.

    Returns:
        the masks found (b, d), and the nats (b,) that the first masks and the found ones cost, features paid.
    """
    count, rows = mask.shape[1], torch.arange(len(mask), device=mask.device)
    began = current = _paid(method, batch, mask[None], price)[0]
    for _ in range(2 * count):
        turned = mask.expand(count, *mask.shape).clone()
        every = torch.arange(count, device=mask.device)
        turned[every, :, every] = ~mask.T
        costs = _paid(method, batch, turned, price)  # (d, b)
        if batch.valid is not None:  # padding can never be shown
            costs = costs.masked_fill(~batch.valid.T, torch.inf)
        best, feature = costs.min(0)
        better = best < current - 1e-6
        if not better.any():
            break
        mask = mask.clone()
        mask[rows[better], feature[better]] ^= True
        current = torch.where(better, best, current)
    return mask, began, current


def _paid(method: Method, batch: Batch, masks: Tensor, price: float) -> Tensor:
    """What masks (M, b, d) cost (M, b); every call meets the same draws, so that masks of different calls can be compared."""
    with seeded(0):
        moved = torch.stack([method.kl_to_full(batch, masks[:, None]) for _ in range(DRAWS)]).mean(0)
    return moved + price * masks.sum(-1)
