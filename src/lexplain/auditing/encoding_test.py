"""Does a mask tell about y beyond what the visible values tell?"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, sqrt
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..core import Trial
from ..core.rows import MAX_ROWS
from ..core.splits import tenth_at
from ..metrics.encoding import encoding
from ..metrics.statistics import Estimate, bootstrap
from ..objectives import cross_entropy
from ..training import Evaluator, MaskAwareReader, MaskDensityRatio

if TYPE_CHECKING:
    from lightning_fabric import Fabric

MARGIN = 0.02  # nats; what a tip is worth that makes even odds 60 to 40: measured in docs/results/audit-power
LEVEL = 0.95


def encoding_values(
    evaluator: Evaluator,
    train: Trial,
    train_mask: Tensor,
    judged: Trial,
    mask: Tensor,
    *,
    fabric: Fabric | None = None,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """The encoding (b,) of the judged rows' masks, by two readers that learn from other rows.

    The untold reader, a copy of the evaluator, adapts to masks like these, dealt to rows at random and anew at every step, so that for
    it a mask is any mask and only the values speak: p(y | values shown). Dealt masks count by how much what they show looks like what
    chosen ones show, so that it is good where it is judged. The told reader knows that the mask was chosen for this row:
    p(y | values shown, mask chosen). Both read the judged rows with their own masks. What the second knows more, the choice told it.

    Args:
        evaluator: what both begin from; it has not seen the judged rows.
        train: rows to learn from, a tenth of which are held back.
        train_mask: (n, d) chosen for them by what is judged.
        judged: other rows.
        mask: (b, d) chosen for those.
        fabric: device and precision; None: the CPU.
        seed: of every draw.
        max_rows: most model rows in flight in the judging.
    """
    learn, check = tenth_at(train, seed)
    chosen = (train.take(learn), train_mask[learn], train.take(check), train_mask[check])
    density = MaskDensityRatio(evaluator).fit(*chosen, fabric=fabric, seed=seed)
    dealt = (train_mask[learn], *chosen[::2])
    untold = evaluator.adapted_to(*dealt, weight=density.weight, fabric=fabric, seed=seed)
    if evaluator.predictor.outputs.real:  # a tilted Normal need not be one: both go on by themselves, for as long
        told: Evaluator | MaskAwareReader = untold.reader(*chosen, fabric=fabric, seed=seed)
        untold = untold.adapted_to(*dealt, weight=density.weight, fabric=fabric, seed=seed)
    else:
        told = MaskAwareReader(untold, density).fit(*chosen, fabric=fabric, seed=seed)
    with torch.no_grad():
        device = next(untold.parameters()).device
        parts = list(zip(judged.parts(max_rows), torch.split(mask, max_rows), strict=True))
        known, unknown = (
            torch.cat([_log_likelihood(reader, rows.to(device), shown.to(device)).cpu() for rows, shown in parts])
            for reader in (told, untold)
        )
    return encoding(known, unknown)


def _log_likelihood(reader: Evaluator | MaskAwareReader, rows: Trial, shown: Tensor) -> Tensor:
    """How likely (b,) a reader finds the targets of rows, of which it is shown some features."""
    return -cross_entropy(rows.target, reader(rows.x, shown, rows.valid))


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
    shown = estimate.told("nats")
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
