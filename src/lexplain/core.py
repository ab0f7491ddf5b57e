"""The nouns that every part shares: Trial, Explanation, Dataset. Almost no behaviour.

Mask semantics, everywhere: **1 (True) = visible**. Hard masks are bool tensors, soft masks are float tensors in [0, 1].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, Normal

from . import check

Cost = Callable[[Tensor], Tensor]  # masks (M, L, b, d) to costs (M, b)


@dataclass(frozen=True)
class Trial:
    """A batch of rows, what they should be explained as, and what has become of them so far."""

    x: Tensor  # (b, ...) encoded rows
    target: Distribution  # batch (b,): Categorical or Normal
    valid: Tensor | None = None  # (b, d) of bool: False is padding, which is never selected
    context: Tensor | None = None  # (b, c) what the selector may see beside x (MEED: the model's output)
    irrelevant: Tensor | None = None  # (b, ...) of bool: what people say must not be used, one mark a raw input or a feature
    goal: Tensor | None = None  # (b, d) what a phase computed of each row as it started: gains to regress, or what to show
    progress: float = 0.0  # share of the training done, for schedules
    p: Any = None  # the mask distribution of the selector
    mask: Tensor | None = None  # (M, L, b, d)
    predicted: Distribution | None = None  # batch (M, L, K, b)

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Tensor | slice) -> Trial:
        """The trial of some rows only; what has become of them is forgotten."""
        return replace(
            self,
            x=self.x[rows],
            target=rows_of(self.target, rows),
            valid=None if self.valid is None else self.valid[rows],
            context=None if self.context is None else self.context[rows],
            irrelevant=None if self.irrelevant is None else self.irrelevant[rows],
            goal=None if self.goal is None else self.goal[rows],
            p=None,
            mask=None,
            predicted=None,
        )

    def parts(self, most: int) -> list[Trial]:
        """The trial in parts of so many rows at the most."""
        return [self] if len(self) <= most else [self.take(slice(at, at + most)) for at in range(0, len(self), most)]

    def to(self, device: torch.device | str) -> Trial:
        """The same trial on another device."""
        return replace(
            self,
            x=self.x.to(device),
            target=as_target(target_values(self.target).to(device), isinstance(self.target, Normal)),
            valid=None if self.valid is None else self.valid.to(device),
            context=None if self.context is None else self.context.to(device),
            irrelevant=None if self.irrelevant is None else self.irrelevant.to(device),
            goal=None if self.goal is None else self.goal.to(device),
        )


def joined(one: Trial, other: Trial) -> Trial:
    """The rows of two trials in one; of what has become of them nothing is kept."""
    both = {name: (getattr(one, name), getattr(other, name)) for name in ("x", "valid", "context", "irrelevant", "goal")}
    tensors = {name: None if first is None else torch.cat([first, second]) for name, (first, second) in both.items()}
    values = torch.cat([target_values(one.target), target_values(other.target)])
    return Trial(target=as_target(values, isinstance(one.target, Normal)), **tensors)  # type: ignore[arg-type]  # x is never None


def as_target(values: Tensor, real: bool) -> Distribution:
    """Turn probabilities (b, c) into a Categorical, or real values (b,) into a Normal of scale 1 (standardised units)."""
    if real:
        return Normal(values, torch.ones_like(values), validate_args=False)
    return Categorical(probs=values, validate_args=False)


def target_values(target: Distribution) -> Tensor:
    """The tensor that `as_target` was given."""
    if isinstance(target, Normal):
        return target.loc
    if isinstance(target, Categorical):
        return target.probs
    raise TypeError(f"a target is a Categorical or a Normal distribution, not a {type(target).__name__}")


def rows_of(target: Distribution, rows: Tensor | slice) -> Distribution:
    """A target distribution of some rows only."""
    return as_target(target_values(target)[rows], isinstance(target, Normal))


def reshape_batch(distribution: Distribution, shape: Sequence[int]) -> Distribution:
    """The same distribution with its batch in another shape."""
    if isinstance(distribution, Normal):
        return Normal(distribution.loc.reshape(shape), distribution.scale.reshape(shape), validate_args=False)
    assert isinstance(distribution, Categorical)
    return Categorical(logits=distribution.logits.reshape(*shape, -1), validate_args=False)


class _Repeatable:
    """Convolutions that repeat themselves on a GPU, while any block of any thread is open: the setting is one of the whole process."""

    def __init__(self) -> None:
        self.lock, self.depth, self.before = Lock(), 0, (False, False)

    def __enter__(self) -> None:
        cudnn: Any = torch.backends.cudnn
        with self.lock:
            if self.depth == 0:
                self.before = cudnn.deterministic, cudnn.benchmark
                cudnn.deterministic, cudnn.benchmark = True, False
            self.depth += 1

    def __exit__(self, *told: object) -> None:
        cudnn: Any = torch.backends.cudnn
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                cudnn.deterministic, cudnn.benchmark = self.before


_REPEATABLE = _Repeatable()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw from `seed` inside the block, repeatably, and leave the caller's random state as it was."""
    with _REPEATABLE, torch.random.fork_rng(devices=range(torch.cuda.device_count())):  # named, or torch warns where there are several
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True)
class Explanation:
    """Which features made each prediction: plain data, one class (or output) at a time."""

    scores: Tensor  # (b, d) higher means more important
    mask: Tensor  # (b, d) of bool: the features the method keeps
    feature_names: tuple[str, ...]  # d names
    data: pd.DataFrame | np.ndarray | None = None  # the rows explained, as they were given
    method: str = ""
    features: Any = None  # the Features that turn a feature mask into a raw mask
    asked: Tensor | None = None  # (b,) the class asked for; None: the predicted one
    predict: Callable[[], Tensor] | None = field(default=None, repr=False, compare=False)
    classes: tuple[Any, ...] | None = None  # c class labels; None for a real-valued output
    additive: bool = False  # whether base and scores add up to the prediction, as Shapley values do and selections do not
    base: Tensor | None = None  # (b,) what the scores of an additive method add up from

    def __post_init__(self) -> None:
        check.explanation_fits(self.scores, self.mask, self.feature_names)
        check.base_fits(self.base, len(self.scores))

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, rows: int | slice | Sequence[int] | Tensor) -> Explanation:
        """The explanation of some rows only."""
        index = np.arange(len(self))[rows if not isinstance(rows, Tensor) else rows.cpu().numpy()].reshape(-1)
        at = torch.as_tensor(index)
        data = self.data.iloc[index] if isinstance(self.data, pd.DataFrame) else self.data
        return replace(
            self,
            scores=self.scores[at],
            mask=self.mask[at],
            data=data[index] if isinstance(data, np.ndarray) else data,
            asked=None if self.asked is None else self.asked[at],
            predict=None if self.predict is None else lambda: self.prediction[at],
            base=None if self.base is None else self.base[at],
        )

    @cached_property
    def prediction(self) -> Tensor:
        """(b, c) class probabilities, or (b, 1) values, from the kept features alone; computed when first read."""
        if self.predict is None:
            raise AttributeError("this explanation came without a predictor; explain with a fitted Explainer to have one")
        return self.predict()

    @cached_property
    def target(self) -> Tensor:
        """(b,) index of the class explained: the one asked for, else the predicted one (0 for a real-valued output)."""
        return self.asked if self.asked is not None else self.prediction.argmax(1)

    @property
    def _index(self) -> pd.Index[Any]:
        return self.data.index if isinstance(self.data, pd.DataFrame) else pd.RangeIndex(len(self))

    def to_frame(self) -> pd.DataFrame:
        """One row an instance; `frame["score"]` and `frame["kept"]` hold one column a feature."""
        names = list(self.feature_names)
        parts = {
            "score": pd.DataFrame(self.scores.cpu().numpy(), columns=names, index=self._index),
            "kept": pd.DataFrame(self.mask.cpu().numpy(), columns=names, index=self._index),
        }
        return pd.concat(parts, axis=1)

    def as_list(self, row: int, *, kept_only: bool = True) -> list[tuple[str, float]]:
        """(name, score) of one row's kept features, the most important first."""
        scores, kept = self.scores[row], self.mask[row]
        order = scores.argsort(descending=True, stable=True).tolist()
        return [(self.feature_names[j], float(scores[j])) for j in order if bool(kept[j]) or not kept_only]

    def to_json(self) -> str:
        """The explanation as JSON text; `Explanation.from_json` reads it back (without the rows and the predictor)."""
        return json.dumps(
            {
                "format": "lexplain.explanation/1",
                "method": self.method,
                "feature_names": list(self.feature_names),
                "classes": None if self.classes is None else [getattr(c, "item", lambda c=c: c)() for c in self.classes],
                "target": None if self.asked is None and self.predict is None else self.target.tolist(),
                "scores": self.scores.tolist(),
                "mask": self.mask.int().tolist(),
                "additive": self.additive,
                "base": None if self.base is None else self.base.tolist(),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """Read what `to_json` wrote, or say why it cannot be read."""
        record = check.explanation_record(text)
        names = tuple(record["feature_names"])
        return cls(
            scores=torch.tensor(record["scores"], dtype=torch.float32).reshape(-1, len(names)),
            mask=torch.tensor(record["mask"]).bool().reshape(-1, len(names)),
            feature_names=names,
            method=record["method"],
            asked=None if record["target"] is None else torch.tensor(record["target"]),
            classes=None if record["classes"] is None else tuple(record["classes"]),
            additive=record.get("additive", False),
            base=None if record.get("base") is None else torch.tensor(record["base"]),
        )

    def to_shap(self) -> Any:
        """The `shap.Explanation` that shap's beeswarm, bar, scatter and heatmap plots draw; waterfall and force need an additive method.

        Categories are numbers in `data` and themselves in `display_data`; both are None where a feature is several columns.
        """
        shap = check.require("shap", extra="peers")
        numbers, shown = self._values()
        base = self.base.cpu().numpy() if self.additive and self.base is not None else check.NoBase(self.method)
        names = list(self.feature_names)
        return shap.Explanation(self.scores.cpu().numpy(), base_values=base, data=numbers, display_data=shown, feature_names=names)

    def _values(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The features' values (b, d) as numbers and, if some are none, as they were given; None where a feature is several columns."""
        flat = self.data.reshape(len(self), int(np.prod(self.data.shape[1:]))) if isinstance(self.data, np.ndarray) else self.data
        table, owners = pd.DataFrame(flat), range(len(self.feature_names)) if self.features is None else self.features.owners
        if not len(self.feature_names) == len(owners) == table.shape[1]:
            return None, None
        table = table.iloc[:, np.argsort(owners)].set_axis(range(len(owners)), axis=1)
        numeric = {j: pd.api.types.is_numeric_dtype(dtype) for j, dtype in table.dtypes.items()}
        numbers = {j: table[j] if numeric[j] else table[j].astype("category").cat.codes for j in numeric}
        return pd.DataFrame(numbers).to_numpy(dtype=np.float64), None if all(numeric.values()) else table.to_numpy(dtype=object)

    def to_html(self) -> str:
        """A self-contained HTML page of these rows' explanations."""
        from .report import explanation_page

        return explanation_page(self)

    def _repr_html_(self) -> str:
        from .report import explanation_table

        return explanation_table(self)


@dataclass(frozen=True)
class Part:
    """One split of a data set."""

    x: Any  # (n, ...) float32 array, or a DataFrame where columns have types of their own
    y: np.ndarray  # (n,) labels or real values, or (n, c) probabilities
    truth: np.ndarray | None = None  # (n, d) of bool: the features that really decide
    probabilities: np.ndarray | None = None  # (n, c) what the best possible model would say

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True)
class Dataset:
    """Train, validation and test rows with their names and, where it is known, the truth."""

    name: str
    description: str
    train: Part
    validation: Part
    test: Part
    names: tuple[str, ...]  # one a raw column
    features: Any = None  # Features to explain it with; None: one feature a column
    control_flow: int | None = None  # the feature that only decides which others matter

    def frame(self, part: Part) -> pd.DataFrame:
        """The rows of a part as a DataFrame with the data set's names."""
        return part.x if isinstance(part.x, pd.DataFrame) else pd.DataFrame(part.x, columns=list(self.names))
