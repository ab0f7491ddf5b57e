"""Find models that are right for different reasons, for a domain expert to choose from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import nn

from .. import check
from ..core import Explanation, seeded
from ..core.contracts import Labels, RawRows
from ..core.rows import as_array
from ..models.target import same_length
from .inputs import as_inputs
from .right_reasons import CUTOFF, RightReasons, largest

SAME_OVERLAP = 0.9  # overlap with an earlier model's explanations from which they count as the same
NOISE = 0.5  # noise on rows for the comparison of decision boundaries, in standard deviations of each input


@dataclass(frozen=True)
class AlternativeModels:
    """Models that are right for different reasons, in the order in which they were trained.

    `table()` has one row per model: its accuracy (R² for real values) on training rows and on held-out rows, the overlap of its
    explanations with those of an earlier model (1: the same), and the mean number of inputs per row that it must not use.
    """

    models: tuple[RightReasons, ...]
    masks: tuple[np.ndarray, ...]  # (n, ...) of bool: inputs that each model must not use
    train_scores: tuple[float, ...]
    held_out_scores: tuple[float, ...]
    overlaps: tuple[float, ...]
    disagreement: np.ndarray  # (models, models) share of noisy rows on which two models differ
    cosines: np.ndarray  # (models, models) mean absolute cosine of two models' input gradients
    stop_reason: str  # why the search stopped

    def __len__(self) -> int:
        return len(self.models)

    @property
    def diversity(self) -> float:
        """Difference between the decision boundaries: mean disagreement of two models on noisy rows, in [0, 1].

        On the data the models agree, because they are right. On rows with noise they agree only if their decision boundaries do.
        """
        return float(self.disagreement[~np.eye(len(self), dtype=bool)].mean()) if len(self) > 1 else 0.0

    def table(self) -> pd.DataFrame:
        """Accuracy, overlap and number of forbidden inputs, with one row per model."""
        forbidden = [float(mask.reshape(len(mask), -1).sum(1).mean()) for mask in self.masks]
        columns = {"train": self.train_scores, "held out": self.held_out_scores, "overlap": self.overlaps, "forbidden": forbidden}
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(self) + 1, name="model"))

    def explain(self, X: RawRows) -> list[Explanation]:
        """One explanation of the same rows per model."""
        return [model.explain(X) for model in self.models]


def find_another_explanation(
    make_network: Callable[[], nn.Module],
    X: RawRows,
    y: Labels,
    *,
    max_models: int = 5,
    cutoff: float = CUTOFF,
    max_drop: float = 0.1,
    irrelevant_mask: object = None,
    trainer: RightReasons | None = None,
    held_out: float = 0.2,
    random_state: int = 0,
) -> AlternativeModels:
    """Train several models in turn; each must not use the inputs that the earlier ones used.

    The first model may use all inputs. The inputs with the largest gradients, row by row, are then marked as not to be used, and the next
    model is trained from scratch with all marks so far. The search stops when the accuracy on held-out rows falls `max_drop` below the best
    so far, when explanations stop changing, or at `max_models`. The model whose accuracy fell is included as the last one.

    Args:
        make_network: Function that returns a new network. It is called once per model, with torch's seed set.
        X: Inputs (n, ...), as for `RightReasons`.
        y: Labels, probabilities or real values.
        max_models: Maximum number of models.
        cutoff: An input is used if its gradient is above this share of the row's largest.
        max_drop: Drop of accuracy (or R²) on held-out rows at which the search stops.
        irrelevant_mask: Mask (n, ...) of 0 and 1; 1 = no model may use the input.
        trainer: `RightReasons` whose settings are used, except its network. Its features must be None. None: the default settings.
        held_out: Share of the rows that no model is trained on.
        random_state: Seed of the split, the networks and the training.

    Example:
        >>> result = find_another_explanation(lambda: nn.Linear(2, 2), np.random.rand(60, 2), [0, 1] * 30, max_models=1)
        >>> len(result), result.stop_reason
        (1, 'max_models=1 was reached')

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, section 3.3.
    """
    check.counts(most=max_models)
    check.share_of_one(cutoff=cutoff, held_out=held_out)
    if trainer is not None and trainer.features is not None:
        raise ValueError(
            f"trainer has features={type(trainer.features).__name__}(...), but find_another_explanation marks inputs of the network. "
            "Pass encoded rows, features.encode(X).x, and a trainer without features."
        )
    x, targets = as_inputs(X), as_array(y)
    same_length(len(x), targets)
    check.enough_rows(len(x))
    order = np.random.default_rng(random_state).permutation(len(x))
    held, kept = np.split(order, [max(1, round(held_out * len(x)))])
    names = X.columns if isinstance(X, pd.DataFrame) else None
    train, other = (x[part] if names is None else pd.DataFrame(x[part], columns=names) for part in (kept, held))
    mask = np.zeros(x[kept].shape, dtype=bool) if irrelevant_mask is None else as_array(irrelevant_mask)[kept].astype(bool)
    search = _Search(make_network, trainer, (train, targets[kept]), (other, targets[held]), cutoff, random_state)
    reason = ""
    while len(search.models) < max_models and not reason:
        mask = search.add(mask)
        reason = search.stops(max_drop)
    train_scores, held_scores = zip(*search.scores, strict=True)
    disagreement, cosines = _compare(search.models, other, random_state)
    reason = reason or f"max_models={max_models} was reached"
    found = (tuple(search.models), tuple(search.masks), train_scores, held_scores, tuple(search.overlaps))
    return AlternativeModels(*found, disagreement, cosines, reason)


class _Search:
    """The models trained so far."""

    def __init__(
        self,
        make: Callable[[], nn.Module],
        trainer: RightReasons | None,
        train: tuple[RawRows, Labels],
        other: tuple[RawRows, Labels],
        cutoff: float,
        seed: int,
    ) -> None:
        settings = {} if trainer is None else trainer.get_params(deep=False)
        self.settings = {name: value for name, value in settings.items() if name not in ("network", "random_state")}
        self.make, self.train, self.other, self.cutoff, self.seed = make, train, other, cutoff, seed
        self.models: list[RightReasons] = []
        self.masks: list[np.ndarray] = []
        self.used: list[np.ndarray] = []
        self.scores: list[tuple[float, float]] = []
        self.overlaps: list[float] = []

    def add(self, mask: np.ndarray) -> np.ndarray:
        """Train one more model that must not use marked inputs; return the mask with the inputs that it uses added."""
        seed = self.seed + len(self.models)
        with seeded(seed):
            network = self.make()
        model = RightReasons(network, random_state=seed, **self.settings).fit(*self.train, irrelevant_mask=mask)
        sizes = torch.from_numpy(np.abs(model.input_gradients(self.train[0])).reshape(len(mask), -1))
        uses = largest(sizes, self.cutoff).numpy().reshape(mask.shape)
        self.overlaps.append(max((_overlap(uses, before) for before in self.used), default=0.0))
        self.models.append(model)
        self.masks.append(mask)
        self.used.append(uses)
        self.scores.append((model.score(*self.train), model.score(*self.other)))
        both: np.ndarray = mask | uses
        return both

    def stops(self, fall: float) -> str:
        """The reason to stop the search, or an empty string."""
        number, last, best = len(self.models), self.scores[-1][1], max(score for _, score in self.scores)
        if last < best - fall:
            return f"model {number} falls to {last:.3f} on held-out rows; the best model reaches {best:.3f}"
        return f"the explanations of model {number} are the same as those of an earlier one" if self.overlaps[-1] >= SAME_OVERLAP else ""


def _overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Mean Jaccard index of two masks."""
    first, second = one.reshape(len(one), -1), other.reshape(len(other), -1)
    union = (first | second).sum(1)
    return float(((first & second).sum(1) / np.maximum(union, 1)).mean())


def _compare(models: list[RightReasons], rows: RawRows, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Disagreement on noisy rows, and cosine of the input gradients on the data, for each pair of models."""
    x = as_inputs(rows)
    noisy = x + NOISE * x.std(0, keepdims=True) * np.random.default_rng(seed).standard_normal(x.shape).astype(np.float32)
    predicted = np.stack([model.predict(noisy) for model in models])
    if models[0].outputs_.real:  # predictions disagree if they differ by more than half a standard deviation of the target
        disagreement = (np.abs(predicted[:, None] - predicted[None]) > models[0].target_.scale / 2).mean(2)
    else:
        disagreement = (predicted[:, None] != predicted[None]).mean(2)
    gradients = np.stack([model.input_gradients(x).reshape(len(x), -1) for model in models])  # (models, n, d)
    units = gradients / np.maximum(np.linalg.norm(gradients, axis=2, keepdims=True), np.finfo(np.float32).tiny)
    return disagreement, np.abs(np.einsum("ind,jnd->ijn", units, units)).mean(2)
