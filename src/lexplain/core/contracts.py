"""What each family of parts promises. A part need not inherit from these classes: it has to do what they say.

Shapes: b rows, d features, n rows of any batch, M outer draws of masks, L masks that are joined inside the objective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.distributions import Distribution

from .outputs import Outputs as Outputs

if TYPE_CHECKING:
    from .batch import Batch

RawRows: TypeAlias = Any  # rows as users have them: an array, a DataFrame, a tensor, a list of texts; only Features look inside
Labels: TypeAlias = Any  # labels, values or probabilities as users have them; only `models.target` looks inside
Model: TypeAlias = Any  # a model as users have it: an estimator, a network, any callable; only `models.target` looks inside
RandomState: TypeAlias = Any  # a seed, or what scikit-learn's `check_random_state` takes
Json: TypeAlias = Any  # what a JSON file can hold
ToolOutput: TypeAlias = Any  # what any tool returned of rows: an Explanation, scores, masks; only `auditing.as_explanation` looks inside
ToolExplainer: TypeAlias = Any  # an explainer as users have it: an object with `explain`, or a function; only `auditing.callables` asks it
Names: TypeAlias = tuple[str, ...] | tuple[tuple[str, ...], ...]  # one name a feature, or one tuple of names a row


class Encoded(NamedTuple):
    """Rows as networks and masks see them."""

    x: Tensor  # (b, *shape)
    valid: Tensor | None = None  # (b, d) of bool: False is padding; None: every feature of every row is there
    unexplained: Tensor | None = None  # (b,) features that a row has beyond the d of the fit; None: no row is longer


class Features(Protocol):
    """What can be on or off: the only part that knows what kind of input a row is.

    `features.FeatureKind` is a base class with defaults for most of this. Objects are not changed: `fit` returns a new one.

    `count` is fixed by the fit: of a longer row, the first `count` features are explained, and the rest stays visible to the model.
    Rows of different length are padded. The encoded tensor alone tells where a row ends, so that `decode` gives back a row of its own
    length; `valid` says the same for features. Encoded 0 means nothing: the mean of a column, black, the pad token.
    """

    @property
    def kind(self) -> str:
        """The word by which networks, imputers, default methods and pictures are chosen: the name of a `core.kinds.Kind`."""

    @property
    def numeric(self) -> bool:
        """Whether encoded values are quantities, so that noise can be added to them and means taken; False for token ids."""

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` made this object."""

    @property
    def input_names(self) -> tuple[str, ...]:
        """One name a raw input: the columns of a table, the numbers of an image."""

    @property
    def names(self) -> tuple[str, ...]:
        """One name a feature; where rows differ, one a place."""

    @property
    def count(self) -> int:
        """How many features d a row has at the most."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one encoded row."""

    def check(self, X: RawRows) -> RawRows:
        """Return the rows in the form that explanations keep; refuse what are no rows of this kind. Numbers are not looked at."""

    def fit(self, X: RawRows) -> Features:
        """Learn the encoding from training rows."""

    def fit_encode(self, X: RawRows) -> tuple[Features, Encoded]:
        """Learn the encoding and encode the same rows, which are scanned once where that is possible."""

    def encode(self, X: RawRows, device: torch.device | str = "cpu") -> Encoded:
        """Turn raw rows into a tensor on a device; refuse rows unlike those of the fit. Never the caller's own memory."""

    def decode(self, x: Tensor) -> RawRows:
        """Turn encoded rows back into what a model reads."""

    def as_network_input(self, x: Tensor) -> Tensor:
        """Turn encoded rows into what a torch network reads, with gradients; refuse where no network could read them."""

    def as_model_input(self, X: RawRows, x: Tensor) -> RawRows:
        """Return raw rows X as the model reads them: X itself where it came in the form of the fit, else what its encoding x decodes to."""

    def from_array(self, values: np.ndarray | Tensor) -> RawRows:
        """Turn an array, which is what other tools hand on, into rows that `encode` reads."""

    def expand(self, mask: Tensor) -> Tensor:
        """Turn feature masks or scores (..., d) into those of encoded inputs (..., *shape)."""

    def gather(self, values: Tensor) -> Tensor:
        """Sum values of encoded inputs (b, *shape) within each feature (b, d)."""

    def expand_scores(self, scores: Tensor) -> Tensor:
        """Turn scores of features (b, d) into scores of raw inputs, in the layout of raw rows."""

    def cell_values(self, X: RawRows) -> Sequence[Sequence[object] | pd.Series[Any] | None]:
        """Return what raw rows hold, one column (n,) a feature; None where a feature is not one value."""

    def row_names(self, X: RawRows) -> Names:
        """Name the features of raw rows: one tuple for all, or one a row."""

    def neighbours(self) -> Tensor:
        """Return the pairs (m, 2) of features that lie side by side, for connected masks."""

    def feature_truth(self, given: object, rows: int) -> Tensor:
        """Turn the truth of raw inputs, or of features, into (rows, d) of bool; refuse that of other rows."""

    def state(self) -> dict[str, Any]:
        """Return all that was learned and set, as plain JSON values; `Kind.restore` makes the object again."""


class MaskDistribution(Protocol):
    """A distribution over masks (b, d). What else it can do is a method that it has or has not; an estimator says which it needs.

    `relaxed(shape)` soft ones with gradients · `paired(shape)` both of one noise ·
    `draw(shape)` hard ones with a log-probability (*shape, b) for the score function · `log_prob(mask)` · `coupled(shape)` what REBAR
    needs · `antithetic(shape)` what DisARM needs: the classes below.
    Padding is never on, and k above the number of valid features means all of them.
    """

    logits: Tensor  # (b, d) what the selector's network said
    valid: Tensor | None  # (b, d) of bool: False is padding

    @property
    def mode(self) -> Tensor:
        """The mask (b, d) of bool to show."""

    @property
    def scores(self) -> Tensor:
        """How important (b, d) each feature is: above one half where `mode` keeps it."""

    @property
    def mean(self) -> Tensor:
        """The chance (b, d) of each feature to be on; it may be a cheap approximation."""

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Draw hard masks (*shape, b, d)."""


class HasRelaxed(MaskDistribution, Protocol):
    """Has soft masks."""

    def relaxed(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Draw soft masks (*shape, b, d) that carry gradients to the logits."""


class HasPaired(MaskDistribution, Protocol):
    """Has hard masks and soft ones of the same noise."""

    def paired(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Draw hard masks and the relaxed ones of the same noise."""


class HasDraw(MaskDistribution, Protocol):
    """Has hard masks with a log-probability."""

    def draw(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Draw hard masks and log-probabilities (*shape, b), for the score function."""


class HasAntithetic(MaskDistribution, Protocol):
    """Has pairs of masks of mirrored noise."""

    def antithetic(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor, Tensor]:
        """Draw two masks of mirrored noise, and the weight of each coordinate in DisARM's gradient."""


class CoupledSample(NamedTuple):
    """What REBAR draws: a hard mask, its relaxation, one more relaxation given the hard mask, and the log-probability of the draw."""

    hard: Tensor  # (*shape, b, d) of bool
    soft: Tensor  # (*shape, b, d), carries gradients
    soft_given_hard: Tensor  # (*shape, b, d), carries gradients
    log_prob: Tensor  # (*shape, b)


class HasCoupled(MaskDistribution, Protocol):
    """Has what REBAR needs."""

    def coupled(self, shape: tuple[int, ...] = ()) -> CoupledSample:
        """Draw a hard mask, its relaxation, and a relaxation drawn anew given the hard mask."""


MaskFamily: TypeAlias = Callable[[Tensor, Tensor | None], MaskDistribution]  # logits (b, d) and what is valid, to a distribution
Cost: TypeAlias = Callable[[Tensor], Tensor]  # masks (M, L, b, d) to costs (M, b)


class Imputer(Protocol):
    """Fill what is hidden: an imputer takes x and a mask and returns an x of the same shape. It knows no model, no label and no loss.

    What is on is left alone; what is off cannot leak, and may be NaN. Hard masks are bool and fill with `torch.where`, soft ones mix. One
    that learns has a class method `fit(x)`, or `fit(x, features=...)` where it must know what rows are made of; one that draws nothing sets
    `random = False`; one whose filled values jump as a soft mask moves sets `smooth = False`.
    """

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        """Fill x (n, *shape) where a mask (n, *shape) is off."""


class Predictor(Protocol):
    """Predict from a filled row: (filled x, raw mask) to a distribution of the target. It trains if it is a `models.Trained`."""

    @property
    def outputs(self) -> Outputs:
        """What it predicts."""

    def __call__(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given filled rows and raw masks, both (n, *shape)."""


class Estimator(Protocol):
    """Turn the cost of masks into a scalar whose gradient trains the selector. It never learns what the cost is made of."""

    @property
    def needs(self) -> str:
        """The method that it needs of a mask distribution, such as "relaxed"."""

    @property
    def needs_gradient(self) -> bool:
        """Whether the predictor must be differentiable."""

    @property
    def masks_per_call(self) -> int:
        """How many masks of a row one call of the cost holds at the most."""

    def __call__(self, p: Any, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """The scalar, of a mask distribution with what it needs.

        Args:
            p: the mask distribution.
            cost: what masks cost.
            baseline: (b,) a guess of the cost that knows nothing of the mask.
            group: how many masks L the cost joins.
        """

    def masks(self, p: Any, shape: tuple[int, ...]) -> Tensor:
        """Draw masks (*shape, b, d) as a predictor must learn to read them: hard or soft."""


class Term(Protocol):
    """A part of an objective, in nats: a trial to costs (M, b) of its masks, or to costs (b,) of its mask distribution."""

    def __call__(self, batch: Batch) -> Tensor:
        """The cost of each row."""
