"""Does a mask tell about y beyond what the visible values tell?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..core import Trial
from ..core.rows import MAX_ROWS
from ..core.splits import tenth_at
from ..objectives import cross_entropy
from .evaluator import Evaluator
from .readers import MaskAwareReader, MaskDensityRatio

if TYPE_CHECKING:
    from lightning_fabric import Fabric


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
    return (known - unknown).double()


def _log_likelihood(reader: Evaluator | MaskAwareReader, rows: Trial, shown: Tensor) -> Tensor:
    """How likely (b,) a reader finds the targets of rows, of which it is shown some features."""
    return -cross_entropy(rows.target, reader(rows.x, shown, rows.valid))
