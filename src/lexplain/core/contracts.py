"""Interfaces of the part families, as typed protocols. A part does not need to inherit from them.

Shapes: b rows, d features, n rows of any batch, M outer samples of masks, L masks that the objective joins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.distributions import Distribution

from .outputs import Outputs as Outputs

if TYPE_CHECKING:
    from .batch import Batch

RawRows: TypeAlias = Any  # rows as users have them: an array, a DataFrame, a tensor, a list of texts; only Features read them
Labels: TypeAlias = Any  # labels, values or probabilities as users have them; only `models.target` reads them
Model: TypeAlias = Any  # a model as users have it: an estimator, a network, any callable; only `models.target` reads it
RandomState: TypeAlias = Any  # a seed, or what scikit-learn's `check_random_state` takes
Json: TypeAlias = Any  # what a JSON file can hold
ToolOutput: TypeAlias = Any  # an Explanation, scores or masks of any tool; only `auditing.as_explanation` reads it
ToolExplainer: TypeAlias = Any  # an explainer as users have it: an object with `explain`, or a function; only `auditing.callables` calls it
Names: TypeAlias = tuple[str, ...] | tuple[tuple[str, ...], ...]  # one name per feature, or one tuple of names per row


class Encoded(NamedTuple):
    """Encoded rows: the float tensor that networks and masks act on."""

    x: Tensor  # (b, *shape)
    valid: Tensor | None = None  # (b, d) of bool: False is padding; None: no padding
    unexplained: Tensor | None = None  # (b,) number of features of a row beyond the d of the fit; None: no row is longer


class Features(Protocol):
    """What a mask can keep or hide. The only part that depends on the kind of input.

    `features.FeatureKind` is a base class with defaults for most methods. Objects are immutable: `fit` returns a new one.

    `fit` sets `count`. Of a longer row, the first `count` features are explained, and the others stay visible to the model.
    Rows of different length are padded. `decode` finds the length of a row in the encoded tensor alone; `valid` marks its features.
    Encoded 0 is a neutral value: the mean of a column, black, the pad token.
    """

    @property
    def kind(self) -> str:
        """Kind of input: the name of a `core.kinds.Kind`, which sets networks, imputer, default method and images."""

    @property
    def numeric(self) -> bool:
        """Whether encoded values are quantities, with which noise and means make sense; False for token ids."""

    @property
    def is_fitted(self) -> bool:
        """Whether the object is fitted."""

    @property
    def input_names(self) -> tuple[str, ...]:
        """One name per input: a column of a table, a number of an image."""

    @property
    def names(self) -> tuple[str, ...]:
        """One name per feature; if names differ between rows, one per position."""

    @property
    def count(self) -> int:
        """Maximum number of features d of a row."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one encoded row."""

    def check(self, X: RawRows) -> RawRows:
        """Return the rows in the form that explanations keep. Raises if they are not of this kind; numbers are not checked."""

    def fit(self, X: RawRows) -> Features:
        """Learn the encoding from training rows."""

    def fit_encode(self, X: RawRows) -> tuple[Features, Encoded]:
        """Learn the encoding and encode the same rows, in one scan if possible."""

    def encode(self, X: RawRows, device: torch.device | str = "cpu") -> Encoded:
        """Convert raw rows to a tensor on a device. Raises if they do not match the rows of `fit`. Never shares memory with X."""

    def decode(self, x: Tensor) -> RawRows:
        """Convert encoded rows to raw rows."""

    def decoder(self, *known_rows: RawRows) -> Callable[[Tensor], RawRows]:
        """`decode`, except that a cell whose encoding is that of a cell of the known rows is that cell, unchanged, if the kind can."""

    def compose(self, rows: RawRows, mask: Tensor, donors: RawRows) -> RawRows:
        """Raw rows (n) with their own cells, unchanged, where a mask (n, d) is True, and the cells of donor rows (n) elsewhere."""

    def pack(self, rows: RawRows) -> dict[str, Tensor] | None:
        """Raw rows as tensors for a file, which `unpack` reads. None: not supported."""

    def unpack(self, tensors: Mapping[str, Tensor]) -> RawRows:
        """The raw rows of `pack`, with the types of `fit`."""

    def as_network_input(self, x: Tensor) -> Tensor:
        """Convert encoded rows to the input of a torch network, with gradients. Raises if a network cannot read such rows."""

    def as_model_input(self, X: RawRows, x: Tensor) -> RawRows:
        """Raw rows as the model expects them: X itself if it has the form of `fit`, otherwise x decoded."""

    def from_array(self, values: np.ndarray | Tensor) -> RawRows:
        """Convert an array of another tool to rows that `encode` accepts."""

    def expand(self, mask: Tensor) -> Tensor:
        """Expand feature masks or scores (..., d) to the shape of encoded rows (..., *shape)."""

    def gather(self, values: Tensor) -> Tensor:
        """Sum values (b, *shape) over the encoded inputs of each feature, to (b, d)."""

    def expand_scores(self, scores: Tensor) -> Tensor:
        """Scores of features (b, d) as scores of inputs, in the layout of raw rows."""

    def cell_values(self, X: RawRows) -> Sequence[Sequence[object] | pd.Series[Any] | None]:
        """Values of raw rows, one column (n,) per feature; None for a feature that is not one value."""

    def row_names(self, X: RawRows) -> Names:
        """Names of the features: one tuple for all rows, or one per row."""

    def neighbours(self) -> Tensor:
        """Pairs (m, 2) of neighbouring features, for connected masks."""

    def feature_truth(self, given: object, rows: int) -> Tensor:
        """Convert the ground truth of inputs or features to (rows, d) of bool. Raises if it belongs to other rows."""

    def state(self) -> dict[str, Any]:
        """Everything learned and set, as JSON values; `Kind.restore` rebuilds the object."""


class MaskDistribution(Protocol):
    """Distribution over masks (b, d).

    Optional methods are declared by the protocols below; an estimator's `needs` names the one it requires.
    Padding is never visible, and k above the number of valid features means all of them.
    """

    logits: Tensor  # (b, d) output of the selector's network
    valid: Tensor | None  # (b, d) of bool: False is padding

    @property
    def mode(self) -> Tensor:
        """The mask (b, d) of bool of the explanation."""

    @property
    def scores(self) -> Tensor:
        """Importance (b, d) of each feature: above one half if `mode` keeps it."""

    @property
    def mean(self) -> Tensor:
        """Probability (b, d) that a feature is visible; may be a cheap approximation."""

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample hard masks (*shape, b, d)."""


class HasRelaxed(MaskDistribution, Protocol):
    """Can sample soft masks."""

    def relaxed(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample soft masks (*shape, b, d) that carry gradients to the logits."""


class HasPaired(MaskDistribution, Protocol):
    """Can sample hard masks and soft masks with the same noise."""

    def paired(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Sample hard masks and soft masks with the same noise."""


class HasDraw(MaskDistribution, Protocol):
    """Can sample hard masks with their log-probability."""

    def draw(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Sample hard masks and their log-probabilities (*shape, b), for the score function."""


class HasAntithetic(MaskDistribution, Protocol):
    """Can sample pairs of masks with mirrored noise."""

    def antithetic(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor, Tensor]:
        """Sample two masks with mirrored noise, and the weight of each coordinate in DisARM's gradient."""


class CoupledSample(NamedTuple):
    """Sample for REBAR: a hard mask, its relaxation, a second relaxation given the hard mask, and the log-probability of the mask."""

    hard: Tensor  # (*shape, b, d) of bool
    soft: Tensor  # (*shape, b, d), carries gradients
    soft_given_hard: Tensor  # (*shape, b, d), carries gradients
    log_prob: Tensor  # (*shape, b)


class HasCoupled(MaskDistribution, Protocol):
    """Can sample for REBAR."""

    def coupled(self, shape: tuple[int, ...] = ()) -> CoupledSample:
        """Sample a hard mask, its relaxation, and a second relaxation given the hard mask."""


MaskFamily: TypeAlias = Callable[[Tensor, Tensor | None], MaskDistribution]  # logits (b, d) and valid features, to a distribution
Cost: TypeAlias = Callable[[Tensor], Tensor]  # masks (M, L, b, d) to costs (M, b)


class Imputer(Protocol):
    """Replace hidden values. Does not depend on the model, the labels or the loss.

    Visible values are returned unchanged. Hidden values may be NaN and must not influence the result.
    Hard masks are bool and choose with `torch.where`; soft masks mix visible and imputed values.
    An imputer that is fitted has a class method `fit(x)` or `fit(x, features=...)`. It sets `random = False` if it uses no random numbers,
    and `smooth = False` if imputed values are not continuous in a soft mask.
    """

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        """Replace the values of x (n, *shape) that an encoded mask (n, *shape) hides."""


class Predictor(Protocol):
    """Predict the target from an imputed row: (imputed x, encoded mask) to a distribution. Only a `models.Trained` is trained."""

    @property
    def outputs(self) -> Outputs:
        """Type of the predictions."""

    def __call__(self, filled: Tensor, mask: Tensor) -> Distribution:
        """The distribution (n,) of the target given imputed rows and encoded masks, both (n, *shape)."""


class Estimator(Protocol):
    """Turn the cost of masks into a scalar whose gradient trains the selector. It does not know what the cost consists of."""

    @property
    def needs(self) -> str:
        """The method that the mask distribution must have, such as "relaxed"."""

    @property
    def needs_gradient(self) -> bool:
        """Whether the predictor must be differentiable."""

    @property
    def masks_per_call(self) -> int:
        """Maximum number of masks per row in one call of the cost."""

    def __call__(self, p: Any, cost: Cost, baseline: Tensor | None = None, *, group: int = 1) -> Tensor:
        """The scalar whose gradient trains the selector.

        Args:
            p: Mask distribution with the method in `needs`.
            cost: Function from masks to costs.
            baseline: (b,) prediction of the cost that does not depend on the mask.
            group: Number of masks L that the cost joins.
        """

    def masks(self, p: Any, shape: tuple[int, ...]) -> Tensor:
        """Sample masks (*shape, b, d) to train a predictor on: hard or soft."""


class Term(Protocol):
    """Term of an objective, in nats: a batch to costs (M, b) of its masks, or to costs (b,) of its mask distribution."""

    def __call__(self, batch: Batch) -> Tensor:
        """The cost of each row."""
