"""Interface of training plans, and their phases and steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from torch import Tensor, nn

from ...core import Batch
from ...core.contracts import MaskDistribution
from ...masks import RandomMasks

if TYPE_CHECKING:
    from ..method import Method


StartPhase: TypeAlias = Callable[[Batch, Batch, int], None]  # takes training rows, validation rows and max_rows


@dataclass(frozen=True)
class Step:
    """Update of one module in an iteration. Only its parameters change."""

    name: str
    module: nn.Module
    loss: Callable[[Batch], Tensor]  # from a batch to the scalar to minimise
    validation_loss: Callable[[Batch], Tensor]  # from a batch to the scalar that selects the best epoch; needs no gradients
    model_rows_per_row: int = 1  # rows sent to a network per row of the batch
    learning_rate_factor: float = 1.0  # multiplies the learning rate
    decay: float | None = None  # weight decay of this step; None: that of the settings


@dataclass(frozen=True)
class Phase:
    """Steps that alternate for a share of the epochs. The validation loss of the last step selects the best epoch and ends the phase."""

    name: str
    steps: tuple[Step, ...]
    share: float = 1.0
    burn_in: float = 0.0  # share of the phase in which prices still rise; its epochs cannot be the best
    sample_rows: int | None = None  # random training rows of the phase; None: all
    on_start: StartPhase | None = None  # called once at the start
    make_aux_targets: Callable[[Batch, int], Tensor] | None = None  # from rows and max_rows to the auxiliary targets of the phase


class Plan(Protocol):
    """A training plan."""

    @property
    def measures_gains(self) -> bool:
        """Whether the selector's scores are gains in nats, so that a path over prices can be computed."""

    @property
    def chooses_price(self) -> bool:
        """Whether neither a price nor a rate is set, so that the price is chosen from a path."""

    @property
    def supports_mask_costs(self) -> bool:
        """Whether masks are sampled in training, so that they can have a cost, such as `Continuity`."""

    def phases(self, method: Method) -> list[Phase]:
        """The phases of training, in order."""

    def extra_round(self, method: Method, price: float) -> Sequence[Phase]:
        """The phases of one more round at a price chosen after the other rounds. Empty if no gains are measured."""

    def with_frozen_predictor(self) -> Plan:
        """The same plan with a predictor that is trained on random masks first and then frozen (regime "fixed")."""

    def check_parts(self, method: Method, p: MaskDistribution) -> None:
        """Raise before training starts if this plan cannot train the parts."""


@dataclass(frozen=True)
class PredictorSchedule:
    """How a predictor is trained together with the selector.

    Args:
        masks: Masks to train it on. None: those of the selector (joint training).
        own_share: Share of the rows on which it is trained on the selector's masks even so.
        pretrain_share: Share of the epochs in which only the predictor is trained, before the selector.
        freeze: Whether to freeze the predictor after that. Otherwise the two alternate.
        last: Share of the epochs, at the end, in which only the predictor is trained, on the masks of the finished selector.
    """

    masks: RandomMasks | None = None
    own_share: float = 0.0
    pretrain_share: float = 0.0
    freeze: bool = False
    last: float = 0.0
