"""What a measure is: a function with its key, label, direction and needs. And how measures are read."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import ismethod
from pkgutil import resolve_name
from typing import Any, Literal, NamedTuple, cast

from torch import Tensor

from .. import check
from ..core import seeded
from ..evaluation import Evaluation
from .statistics import Estimate, bootstrap

Taken = Literal["always", "usually", "on request"]


class Need(NamedTuple):
    """Something that a measure cannot do without."""

    words: str  # what it is, for whoever asks for the measure
    there: Callable[[Evaluation], bool]


BY_CHANCE = "an explainer that can be fitted again, and a network, or labels, to replace by chance"
NEEDS: dict[str, Need] = {
    "classes": Need("a target of classes", lambda e: not e.outputs.real),
    "own prediction": Need("an explanation with a predictor of its own", lambda e: e.explanation.compute_prediction is not None),
    "truth": Need("the truth: which features really decide", lambda e: e.truth is not None),
    "control flow": Need("the place of the control-flow feature", lambda e: e.control_flow is not None),
    "masks": Need("explanations of enough rows for a reader of masks to learn from", lambda e: e.has_enough_masks),
    "model": Need("a model of classes", lambda e: e.callables.model is not None),
    "explainer": Need("the explainer", lambda e: e.callables.explain is not None),
    "quantities": Need("features whose encoded values are quantities", lambda e: e.features.numeric),
    "refit": Need("an explainer that can be fitted again", lambda e: e.callables.refit is not None),
    "random model": Need(BY_CHANCE, lambda e: "model" in e.callables.randomised),
    "random labels": Need(BY_CHANCE, lambda e: "labels" in e.callables.randomised),
    "peer": Need(
        "a model, an explainer that was fitted here (a file does not tell how long that took) and shap ('lexplain[peers]')",
        lambda e: None not in (e.callables.explain, e.callables.predict, e.callables.fit_seconds, importlib.util.find_spec("shap")),
    ),
}


@dataclass(frozen=True)
class Measure:
    """A number that audits, comparisons and tables show of an explanation. Called, it is its function.

    Args:
        key: what code calls it, such as "eacc".
        label: what people read, such as "eACC".
        function: from what it reads to one number a row (b,); or to an estimate, where a number is not one of rows.
        higher_is_better: None where neither direction is better.
        description: one line on how to read it.
        needs: what the Evaluation must have: names of `NEEDS`.
        percent: tables show it as a percentage.
        group: what it is about; lines of one group are shown together.
        family: a word that asks for several measures at once, such as "fidelity".
        included: when an audit takes it: "always", "usually" (unless measures are named) or "on request"; never without what it needs.
        needs_evaluator: whether it asks EVAL-X, which is then trained once for all who share it.
        reads: attributes of an Evaluation that are the function's arguments; methods are called. (): the Evaluation itself.
    """

    key: str
    label: str
    function: Callable[..., Tensor | Estimate]
    higher_is_better: bool | None
    description: str
    needs: tuple[str, ...] = ()
    percent: bool = False
    group: str = ""
    family: str = ""
    included: Taken = "on request"
    needs_evaluator: bool = False
    reads: tuple[str, ...] = ()

    def __call__(self, *args: Any, **options: Any) -> Tensor:
        """Call the function."""
        return cast("Tensor", self.function(*args, **options))

    def possible(self, evaluation: Evaluation) -> bool:
        """Whether the Evaluation has all that it needs."""
        return all(NEEDS[name].there(evaluation) for name in self.needs)

    def values(self, evaluation: Evaluation) -> Tensor | Estimate | None:
        """One number a row (b,) on the CPU, or an estimate; None where something that it needs is not there."""
        if not self.possible(evaluation):
            return None
        read = [getattr(evaluation, name) for name in self.reads] if self.reads else [evaluation]
        found = self.function(*(each() if ismethod(each) else each for each in read))
        return found if isinstance(found, Estimate) else found.double().cpu()

    def variant(self, key: str, *, prefix: str = "", **changes: Any) -> Measure:
        """The measure with another key and other fields; `prefix` comes before its description."""
        return replace(self, key=key, **{"description": prefix + self.description, **changes})

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Pickle one of ours by its key, a decorated one by its name, and any other by its fields."""
        from . import MEASURES

        if MEASURES.get(self.key) is self:
            return _ours, (self.key,)
        place = f"{getattr(self.function, '__module__', '')}:{getattr(self.function, '__qualname__', '')}"
        try:
            namesake = resolve_name(place)
        except (AttributeError, ImportError, ValueError):
            namesake = None
        if namesake is self:
            return resolve_name, (place,)
        # Of a variant, pickle finds the decorated measure below the name of its function.
        return _of_fields, ({**vars(self), "function": namesake if isinstance(namesake, Measure) else self.function},)


def _ours(key: str) -> Measure:
    from . import MEASURES

    return MEASURES[key]


def _of_fields(record: dict[str, Any]) -> Measure:
    function = record["function"]
    return Measure(**{**record, "function": function.function if isinstance(function, Measure) else function})


def measure(
    key: str, *, label: str, better: bool | None, description: str, **more: Any
) -> Callable[[Callable[..., Tensor | Estimate]], Measure]:
    """Make a measure of the function below; the arguments are fields of `Measure`, and `better` is `higher_is_better`.

    Example:
        >>> @measure("first", label="First", better=None, description="whether the first feature is kept", reads=("mask",))
        ... def first(mask):
        ...     return mask[:, 0].double()
        >>> first.label
        'First'
    """
    return lambda function: Measure(key, label, function, better, description, **more)


def values_of(evaluation: Evaluation, measures: Iterable[Measure]) -> dict[str, Tensor | Estimate]:
    """Measured values by key, without measures that lack what they need. Each measure draws from the seed of the run."""
    found = {}
    for measure in measures:
        with seeded(evaluation.run.seed):  # imputers draw from torch's own state
            found[measure.key] = measure.values(evaluation)
    return {key: values for key, values in found.items() if values is not None}


def means(evaluation: Evaluation, keys: Iterable[str]) -> dict[str, float]:
    """Means of some measures of the menu by key, for tables; torch computes them, and estimates may differ in the last bit."""
    from . import MEASURES  # its files define measures

    found = values_of(evaluation, [MEASURES[key] for key in keys])
    return {key: float(values.mean()) for key, values in found.items() if isinstance(values, Tensor)}


def estimates(evaluation: Evaluation, measures: Iterable[Measure]) -> dict[str, Estimate]:
    """Means with their intervals by key, for cards and comparisons; see `values_of`."""
    return {key: estimate_of(values) for key, values in values_of(evaluation, measures).items()}


def estimate_of(found: Tensor | Estimate) -> Estimate:
    """What a measure found, with its interval."""
    return found if isinstance(found, Estimate) else bootstrap(found)


def find_measures(names: Collection[str | Measure], known: Mapping[str, Measure]) -> list[Measure]:
    """The measures of some keys, labels or families; a measure of your own as it is."""
    found: dict[str, Measure] = {}
    for name in names:
        several = [name] if isinstance(name, Measure) else _named(name, known)
        found |= {measure.key: measure for measure in several}
    return list(found.values())


def _named(name: str, known: Mapping[str, Measure]) -> list[Measure]:
    word = _folded(name)
    alone = [measure for measure in known.values() if word in (_folded(measure.key), _folded(measure.label))]
    several = alone or [measure for measure in known.values() if measure.family and word == _folded(measure.family)]
    if not several:
        check.one_of(name, [*known, *dict.fromkeys(measure.family for measure in known.values() if measure.family)], "measure")
    return several


def _folded(name: str) -> str:
    return "".join(c for c in str(name).lower() if c.isalnum())
