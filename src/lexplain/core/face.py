"""Interfaces of explainers that can be compared and audited: ours, baselines, and any class with these members."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol

from .contracts import Features, Labels, Model, RawRows
from .explanation import Explanation

if TYPE_CHECKING:
    from typing import Self


class Explains(Protocol):
    """Can explain rows."""

    def explain(self, X: RawRows) -> Explanation:
        """Scores and masks of raw rows."""


class ExplainerFace(Explains, Protocol):
    """Can be fitted again and compared: a scikit-learn estimator with a `random_state`. Names that end in _ exist after `fit`."""

    fits_each_row: ClassVar[bool]  # whether each row needs its own fit; comparisons then explain 200 rows by default
    fit_seconds_: float | None  # seconds that `fit` took; None: read from a file
    findings_: list[str]  # warnings about the fit, one sentence each

    @property
    def name(self) -> str:
        """The name in tables."""

    @property
    def model_rows_(self) -> int:
        """Number of rows sent to the model since `fit` began, also by `explain`."""

    def needs_of(self, features: Features) -> tuple[str, ...]:
        """What `fit` needs, any one of "y", "model" and "network" (a model with gradients). Empty: nothing."""

    def prepared(self, *, seed: int, features: Features, keep: int | None, size: Callable[[], int]) -> Self:
        """An unfitted copy with this seed and, if not set already, these features and `keep` (or `size()` if it needs a number)."""

    def fit(self, X: RawRows, y: Labels = None, *, model: Model = None) -> Self:
        """Learn from labels, or explain a model."""
