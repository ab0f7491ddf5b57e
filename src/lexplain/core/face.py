"""What explainers promise to those who compare and audit them: ours, baselines, and any class that does what these say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol

from .contracts import Features, Labels, Model, RawRows
from .explanation import Explanation

if TYPE_CHECKING:
    from typing import Self


class Explains(Protocol):
    """Explain rows."""

    def explain(self, X: RawRows) -> Explanation:
        """Scores and masks of raw rows."""


class ExplainerFace(Explains, Protocol):
    """Can be fitted again and compared: a scikit-learn estimator with a `random_state`. What ends in _ exists once it is fitted."""

    fits_each_row: ClassVar[bool]  # whether explaining a row is a fit of its own; comparisons then explain 200 rows by default
    fit_seconds_: float | None  # seconds that `fit` took; None: it was read from a file
    findings_: list[str]  # problems that `fit` found, one sentence each

    @property
    def name(self) -> str:
        """The name in tables."""

    @property
    def model_rows_(self) -> int:
        """Rows that the model was queried on since `fit` began, by `explain` too."""

    def needs_of(self, features: Features) -> tuple[str, ...]:
        """What `fit` needs one of: "y", "model", or "network" (a model with gradients); (): nothing."""

    def prepared(self, *, seed: int, features: Features, keep: int | None, size: Callable[[], int]) -> Self:
        """An unfitted copy with this seed; where it has none of its own, with these features and `keep`, or `size()` if it needs one."""

    def fit(self, X: RawRows, y: Labels = None, *, model: Model = None) -> Self:
        """Learn from labels, or explain a model."""
