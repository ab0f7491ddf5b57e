"""The card that a fitted explainer carries."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .. import check
from ..auditing import Card, Line, card_of
from ..core import Trial, seeded, target_values
from ..methods import Rounds
from ..metrics import bootstrap
from ..predictors import Target
from .evidence import fidelity
from .search import search

if TYPE_CHECKING:
    from .explainer import Explainer

SEARCHED = 100  # rows whose masks are searched for the slow way


def own_card(explainer: Explainer) -> Card:
    """Judge an explainer on the rows it set aside: honesty, fidelity of the surrogate, collapse, and what amortisation costs."""
    check.evidence_there(getattr(explainer, "evidence_", None))
    evidence, method, fabric = explainer.evidence_, explainer.method_, explainer._fabric()
    rows = evidence.unseen
    explanation = explainer.explain(explainer.features_.decode(rows.x))
    parts = evidence.train.to(fabric.device).parts(explainer._max_rows())
    learned = torch.cat([method.explain(part.x, part.context)[1].cpu() for part in parts])
    target = Target(target_values(rows.target), explainer.outputs_, getattr(explainer, "classes_", None), 0.0, 1.0)
    more = [_collapse(explanation.mask)]
    if isinstance(method.plan, Rounds):
        with seeded(evidence.seed), torch.no_grad():
            more += [
                _fidelity(explainer, rows.to(fabric.device)),
                _amortisation(explainer, rows.take(slice(0, SEARCHED)).to(fabric.device)),
            ]
    others = (evidence.train, learned)  # the seed is another than that of the judge that chose a price
    return card_of(explanation, explainer.features_, target, rows, others, fabric=fabric, seed=evidence.seed + 1, more=more)


def _fidelity(explainer: Explainer, rows: Trial) -> Line:
    """How well the predictor says the target of full rows."""
    values = bootstrap(fidelity(explainer.method_, rows).cpu())
    if explainer.outputs_.real:
        return Line("Fidelity (R2)", values, True, "how well the predictor matches the target on full rows; 1 is exact")
    return Line("Fidelity", values, True, "share of full rows on which the predictor names the target's class", percent=True)


def _amortisation(explainer: Explainer, rows: Trial) -> Line:
    """What a slow search over masks would save."""
    method = explainer.method_
    _, mask = method.explain(rows.x, rows.context)
    _, began, found = search(method, rows, mask, exp(-float(method.selector.offset)))
    reads = "nats a row that a slow search over masks saves on the one-pass answer, features paid; 0 is as good as searching"
    return Line("Amortisation gap", bootstrap((began - found).cpu()), False, reads)


def _collapse(mask: Tensor) -> Line:
    """How many rows share the commonest mask."""
    _, place, counts = torch.unique(mask, dim=0, return_inverse=True, return_counts=True)
    reads = "share of rows with the commonest mask; 1 is one global set"
    return Line("Commonest mask", bootstrap((place == counts.argmax()).double()), None, reads, percent=True)
