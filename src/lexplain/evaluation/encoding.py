"""Does a mask tell about y beyond what the visible values tell?"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, sqrt

import torch
from lightning_fabric import Fabric
from torch import Tensor

from ..core import Trial
from ..objectives import cross_entropy
from ..training import Evaluator
from .metric import metric
from .statistics import Estimate, bootstrap

MARGIN = 0.05  # nats; provisional: one look at S3 gave 0.02 for the true features and 0.1 without the control-flow feature
LEVEL = 0.95


@metric(
    label="Encoding",
    higher_is_better=False,
    reads="nats that the choice of the mask tells about y beyond the values it shows; 0 is honest",
)
def encoding(told: Tensor, untold: Tensor) -> Tensor:
    """How much better (b,) a reader who knows the mask was chosen for this row predicts y than one who does not, from log-likelihoods."""
    return (told - untold).double()


def encoding_values(
    evaluator: Evaluator, train: Trial, train_mask: Tensor, judged: Trial, mask: Tensor, *, fabric: Fabric | None = None, seed: int = 0
) -> Tensor:
    """The encoding (b,) of the judged rows' masks.

    Two copies of the evaluator get used to the masks: one to each row's own, the other to the same masks dealt out at random, so that
    for it a mask is any mask and only the values speak. Both then read the judged rows with their own masks. What the first knows more,
    the choice of the mask told it.
    """
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(seed))
    held = max(5, len(train) // 10)
    learn, check = order[held:], order[:held]
    dealt = train_mask[torch.randperm(len(train), generator=torch.Generator().manual_seed(seed + 1))]
    readers = [
        evaluator.reader(train.take(learn), masks[learn], train.take(check), masks[check], fabric=fabric, seed=seed)
        for masks in (train_mask, dealt)
    ]
    with torch.no_grad():
        device = next(readers[0].parameters()).device
        rows = judged.to(device)
        told, untold = (-cross_entropy(rows.target, reader(rows.x, mask.to(device))).cpu() for reader in readers)
    return encoding(told, untold)


@dataclass(frozen=True)
class Verdict:
    """What the encoding test concludes."""

    word: str  # "honest", "encodes" or "cannot tell"
    encodes: bool | None
    why: str
    p_value: float


def judge(values: Tensor, *, margin: float = MARGIN) -> tuple[Estimate, Verdict]:
    """Compare the mean encoding with a margin: above it with confidence, below it with confidence, or neither."""
    estimate = bootstrap(values, level=2 * LEVEL - 1)  # two one-sided tests at 5 %
    error = float(values.std() / sqrt(max(1, len(values))))
    p_value = 0.5 * (1 - erf((estimate.mean - margin) / (error * sqrt(2)))) if error > 0 else float(estimate.mean <= margin)
    shown = f"{estimate.mean:.3f} nats [{estimate.low:.3f}, {estimate.high:.3f}]"
    if estimate.low > margin:
        why = f"the choice of the mask tells {shown} about the answer beyond the values it shows, above the margin of {margin:g}"
        return estimate, Verdict("encodes", True, why, p_value)
    if estimate.high < -margin:
        why = f"a judge who knows the masks predicts worse by {shown} than one who does not: the judges learned too little; give more rows"
        return estimate, Verdict("cannot tell", None, why, p_value)
    if estimate.high < margin:
        why = f"the choice of the mask tells {shown} about the answer beyond the values it shows, within the margin of {margin:g}"
        return estimate, Verdict("honest", False, why, p_value)
    why = f"the choice of the mask tells {shown} about the answer, and the margin of {margin:g} lies inside the interval; give more rows"
    return estimate, Verdict("cannot tell", None, why, p_value)
