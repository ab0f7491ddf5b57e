"""What a fit says about itself: rows to judge it by, and what went wrong."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Normal

from ..core import Batch, as_target, target_values
from ..methods import Method
from ..objectives import cross_entropy

MIN_FIDELITY = 0.9  # share of rows, or of variance, on which a surrogate should agree with the model
MIN_INFORMATION = 0.005  # nats below which a predictor has learned nothing worth explaining
GLOBAL_SHARE = 0.999  # share of rows with one mask from which a selection counts as global


class FitWarning(UserWarning):
    """A fit went through, but its explanations should not be trusted as they are."""


@torch.no_grad()
def findings(method: Method, batch: Batch, regime: str, *, max_rows: int) -> list[str]:
    """What is wrong with a fitted method, judged on given rows, each with what to do; empty if all is well."""
    masks = torch.cat([method.explain(part.x, part.context, part.valid)[1] for part in batch.chunks(max_rows)])
    said = [*_collapse(masks, batch.valid)]
    if method.plan.measures_gains:
        learned = information_about_target(method, batch)
        if learned < MIN_INFORMATION:
            said.append(
                f"the predictor knows almost nothing about the target ({learned:.4f} nats on held-out rows): there is nothing to explain; "
                "train longer (epochs, budget='thorough'), give more rows, or check that the columns bear on the target at all"
            )
        if regime == "surrogate":
            agreement = float(fidelity(method, batch).mean())
            if agreement < MIN_FIDELITY:
                said.append(
                    f"the surrogate agrees with the model on {agreement:.0%} only: it, and not the model, is what is explained; "
                    "train longer (epochs, budget='thorough'), give more rows, or ask the model itself with regime='self'"
                )
    return said


def information_about_target(method: Method, batch: Batch) -> float:
    """How much better, in nats, the predictor says the target of full rows than its own mean prediction does."""
    predicted = method.predict_full(batch.x)
    values = target_values(predicted)
    mean = as_target(values.mean(0, keepdim=True).expand_as(values), isinstance(batch.target, Normal))
    return float((cross_entropy(batch.target, mean) - cross_entropy(batch.target, predicted)).mean())


def fidelity(method: Method, batch: Batch) -> Tensor:
    """How well (b,) the predictor matches the target on full rows: 1 where the class is the same, or values whose mean is R2."""
    means, wanted = method.predictor.outputs.means(method.predict_full(batch.x)), target_values(batch.target)
    if isinstance(batch.target, Normal):
        return 1 - (means[:, 0] - wanted).square() / wanted.var(correction=0).clamp_min(1e-12)
    return (means.argmax(1) == wanted.argmax(1)).double()


def _collapse(masks: Tensor, valid: Tensor | None) -> list[str]:
    """Say whether a selection keeps nothing, everything, or the same in every row."""
    if not masks.any(1).double().mean() > 0.5:
        return ["most rows keep no feature at all: the price is above what any feature is worth; lower penalty or tolerance, or give keep"]
    if (masks if valid is None else masks | ~valid).all(1).double().mean() > 0.5:
        return ["most rows keep every feature: nothing was found to be dispensable; raise penalty or tolerance, give keep, or train longer"]
    _, counts = torch.unique(masks, dim=0, return_counts=True)
    if masks.shape[0] >= 20 and counts.max() >= GLOBAL_SHARE * len(masks):
        return [
            "every row keeps the same features: the selection is global, not one of each row; that is right if the same features always "
            "decide, else train longer (epochs, budget='thorough'), or try another keep or penalty"
        ]
    return []
