"""What every plan promises, and the steps and phases that it hands to the training loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from torch import Tensor, nn

from ...core import Batch
from ...core.contracts import MaskDistribution
from ...masks import RandomMasks

if TYPE_CHECKING:
    from ..method import Method


@dataclass(frozen=True)
class Step:
    """One module's turn in an iteration: only its parameters move."""

    name: str
    module: nn.Module
    loss: Callable[[Batch], Tensor]  # a batch to the scalar to descend
    validation_loss: Callable[[Batch], Tensor]  # a batch to the scalar to judge by, which need not carry gradients
    model_rows_per_row: int = 1  # model rows in flight for each row of the batch
    learning_rate_factor: float = 1.0  # multiplies the learning rate
    decay: float | None = None  # weight decay of this step; None: that of the settings


@dataclass(frozen=True)
class Phase:
    """Steps that take turns for a share of the epochs; the last step's check says which epoch was best, and when to stop."""

    name: str
    steps: tuple[Step, ...]
    share: float = 1.0
    burn_in: float = 0.0  # share of the phase in which prices still rise, so that no epoch counts as the best
    sample_rows: int | None = None  # rows that the phase learns from, drawn anew as it starts; None: all
    on_start: Callable[[Batch, int], None] | None = None  # done once as the phase starts, given the validation rows and rows in flight
    make_aux_targets: Callable[[Batch, int], Tensor] | None = (
        None  # rows, and how many model rows may be in flight, to the goals of the phase
    )


class Plan(Protocol):
    """How a method learns."""

    @property
    def measures_gains(self) -> bool:
        """Whether the selector's scores are the gains of features in nats, so that a path of prices can be walked over them."""

    @property
    def chooses_price(self) -> bool:
        """Whether nobody said how much to keep, so that a path of prices is to choose."""

    @property
    def supports_mask_costs(self) -> bool:
        """Whether masks are drawn while it learns, so that they can have a price, such as `Continuity`."""

    def phases(self, method: Method) -> list[Phase]:
        """What the training loop does, in order."""

    def extra_round(self, method: Method, price: float) -> Sequence[Phase]:
        """One more round at a price that was chosen after the others; none where no gains are measured."""

    def with_frozen_predictor(self) -> Plan:
        """The same plan for a predictor that learns from random masks first and then rests (regime "fixed")."""

    def check_parts(self, method: Method, p: MaskDistribution) -> None:
        """Refuse parts that cannot learn by this plan, before training starts."""


@dataclass(frozen=True)
class PredictorSchedule:
    """How a predictor learns beside the selector.

    Args:
        masks: masks it learns on; None: the selector's own (joint training).
        own_share: share of the rows on which it learns from the selector's own masks all the same.
        pretrain_share: share of the epochs in which it trains alone, before the selector.
        rests: leave it as it is after that; otherwise the two take turns.
        last: share of the epochs, at the end, in which it alone learns from the masks of the finished selector.
    """

    masks: RandomMasks | None = None
    own_share: float = 0.0
    pretrain_share: float = 0.0
    freeze: bool = False
    last: float = 0.0
