"""Findings: warnings about a fit, computed on held-out rows."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Normal

from ..core import Batch, as_target, target_values
from ..methods import Method
from ..objectives import cross_entropy

MIN_FIDELITY = 0.9  # share of rows, or of variance, for which a surrogate should agree with the model
MIN_INFORMATION = 0.005  # nats; a predictor with less has learned nothing worth explaining
GLOBAL_SHARE = 0.999  # share of rows with the same mask; from this on, a selection counts as global


class FitWarning(UserWarning):
    """A fit finished, but its explanations should not be trusted."""


@torch.no_grad()
def findings(method: Method, batch: Batch, regime: str, *, max_rows: int) -> list[str]:
    """Problems of a fitted method on these rows, each with a way to fix it. Empty if there are none."""
    masks = torch.cat([method.explain(part.x, part.context, part.valid)[1] for part in batch.chunks(max_rows)])
    result = [*_collapse(masks, batch.valid), *getattr(method.plan, "notes", ())]
    if method.plan.measures_gains:
        learned = information_about_target(method, batch)
        if learned < MIN_INFORMATION:
            result.append(
                f"the predictor has learned almost nothing about the target ({learned:.4f} nats on held-out rows), so there is nothing to "
                "explain; train longer (epochs, budget='thorough'), use more rows, or check that the columns are related to the target"
            )
        if regime == "surrogate":
            agreement = float(fidelity(method, batch).mean())
            if agreement < MIN_FIDELITY:
                result.append(
                    f"the surrogate agrees with the model on only {agreement:.0%} of held-out rows, and the explanations describe the "
                    "surrogate; train longer (epochs, budget='thorough'), use more rows, or explain the model directly (regime='self')"
                )
    return result


def information_about_target(method: Method, batch: Batch) -> float:
    """How much better, in nats, the predictor predicts the target of full rows than its mean prediction does."""
    predicted = method.predict_full(batch.x)
    values = target_values(predicted)
    mean = as_target(values.mean(0, keepdim=True).expand_as(values), isinstance(batch.target, Normal))
    return float((cross_entropy(batch.target, mean) - cross_entropy(batch.target, predicted)).mean())


def fidelity(method: Method, batch: Batch) -> Tensor:
    """How well (b,) the predictor matches the target on full rows: 1 if the class is the same. For real values, the mean is R2."""
    means, expected = method.predictor.outputs.means(method.predict_full(batch.x)), target_values(batch.target)
    if isinstance(batch.target, Normal):
        return 1 - (means[:, 0] - expected).square() / expected.var(correction=0).clamp_min(1e-12)
    return (means.argmax(1) == expected.argmax(1)).double()


def _collapse(masks: Tensor, valid: Tensor | None) -> list[str]:
    """A finding if a selection keeps no feature, every feature, or the same features in every row."""
    if not masks.any(1).double().mean() > 0.5:
        return ["most rows keep no feature: the price exceeds the gain of every feature; lower penalty or tolerance, or set keep"]
    if (masks if valid is None else masks | ~valid).all(1).double().mean() > 0.5:
        return ["most rows keep every feature; raise penalty or tolerance, set keep, or train longer"]
    _, counts = torch.unique(masks, dim=0, return_counts=True)
    if masks.shape[0] >= 20 and counts.max() >= GLOBAL_SHARE * len(masks):
        return [
            "every row keeps the same features: the selection is global. If you expect it to differ between rows, "
            "train longer (epochs, budget='thorough') or change keep or penalty"
        ]
    return []
