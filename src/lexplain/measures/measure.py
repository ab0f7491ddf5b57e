"""The `Measure` class, the needs of measures, and functions that compute them."""

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
    """Something that a measure requires."""

    description: str  # for the error message if it is missing
    is_met: Callable[[Evaluation], bool]


BY_CHANCE = "an explainer that can be fitted again, and a network or labels to randomise"
NEEDS: dict[str, Need] = {
    "classes": Need("a target with classes", lambda e: not e.outputs.real),
    "own prediction": Need("an explanation with its own predictor", lambda e: e.explanation.compute_kept_prediction is not None),
    "truth": Need("the ground truth (truth=)", lambda e: e.truth is not None),
    "control flow": Need("the index of the control-flow feature (control_flow=)", lambda e: e.control_flow is not None),
    "masks": Need("explanations of enough rows to train a mask reader", lambda e: e.has_enough_masks),
    "model": Need("a model with classes", lambda e: e.callables.model is not None),
    "explainer": Need("the explainer", lambda e: e.callables.explain is not None),
    "quantities": Need("features that are encoded as numbers", lambda e: e.features.numeric),
    "refit": Need("an explainer that can be fitted again", lambda e: e.callables.refit is not None),
    "random model": Need(BY_CHANCE, lambda e: "model" in e.callables.randomised),
    "random labels": Need(BY_CHANCE, lambda e: "labels" in e.callables.randomised),
    "peer": Need(
        "a model, an explainer fitted in this session (a file does not contain the duration of the fit) and shap ('lexplain[peers]')",
        lambda e: None not in (e.callables.explain, e.callables.predict, e.callables.fit_seconds, importlib.util.find_spec("shap")),
    ),
}


@dataclass(frozen=True)
class Measure:
    """A measure of an explanation, for audits, comparisons and tables. Calling it calls its function.

    Args:
        key: Name in code, such as "eacc".
        label: Name on pages, such as "eACC".
        function: Function that returns one number per row (b,), or an estimate if the measure has no values per row.
        higher_is_better: Whether higher is better. None: neither direction is.
        description: One line on how to read it.
        needs: Names of `NEEDS` that the Evaluation must meet.
        percent: Whether tables show it as a percentage.
        group: Topic; card lines of one group are shown together.
        family: Name that selects several measures at once, such as "fidelity".
        included: When an audit computes it, if its needs are met: "always", "usually" (unless measures are named) or "on request".
        needs_evaluator: Whether it uses EVAL-X, which is trained once for all measures.
        reads: Attributes of an Evaluation to pass to the function; methods are called. (): the Evaluation itself.
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
        """The result of the function."""
        return cast("Tensor", self.function(*args, **options))

    def possible(self, evaluation: Evaluation) -> bool:
        """Whether the Evaluation meets all needs."""
        return all(NEEDS[name].is_met(evaluation) for name in self.needs)

    def values(self, evaluation: Evaluation) -> Tensor | Estimate | None:
        """One number per row (b,) on the CPU, or an estimate. None if a need is not met."""
        if not self.possible(evaluation):
            return None
        values = [getattr(evaluation, name) for name in self.reads] if self.reads else [evaluation]
        result = self.function(*(item() if ismethod(item) else item for item in values))
        return result if isinstance(result, Estimate) else result.double().cpu()

    def variant(self, key: str, *, prefix: str = "", **changes: Any) -> Measure:
        """A copy with another key and other fields. `prefix` is put before its description."""
        return replace(self, key=key, **{"description": prefix + self.description, **changes})

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Pickle a measure of `MEASURES` by its key, a decorated one by its name, and any other by its fields."""
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
        # Under the name of a variant's function, pickle finds the decorated measure.
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
    """Turn the decorated function into a measure. Arguments are fields of `Measure`; `better` is `higher_is_better`.

    Example:
        >>> @measure("first", label="First", better=None, description="whether the first feature is kept", reads=("mask",))
        ... def first(mask):
        ...     return mask[:, 0].double()
        >>> first.label
        'First'
    """
    return lambda function: Measure(key, label, function, better, description, **more)


def values_of(evaluation: Evaluation, measures: Iterable[Measure]) -> dict[str, Tensor | Estimate]:
    """Values by key, without measures whose needs are not met. Each measure starts from the seed of the run."""
    results = {}
    for measure in measures:
        with seeded(evaluation.run.seed):  # imputers use torch's global random state
            results[measure.key] = measure.values(evaluation)
    return {key: values for key, values in results.items() if values is not None}


def means(evaluation: Evaluation, keys: Iterable[str]) -> dict[str, float]:
    """Means of measures by key, for tables. Torch computes them, so `estimates` may differ in the last bit."""
    from . import MEASURES  # circular import: those files import this one

    results = values_of(evaluation, [MEASURES[key] for key in keys])
    return {key: float(values.mean()) for key, values in results.items() if isinstance(values, Tensor)}


def estimates(evaluation: Evaluation, measures: Iterable[Measure]) -> dict[str, Estimate]:
    """Means and confidence intervals by key, for cards and comparisons; see `values_of`."""
    return {key: estimate_of(values) for key, values in values_of(evaluation, measures).items()}


def estimate_of(result: Tensor | Estimate) -> Estimate:
    """The result of a measure, with its confidence interval."""
    return result if isinstance(result, Estimate) else bootstrap(result)


def find_measures(names: Collection[str | Measure], known: Mapping[str, Measure]) -> list[Measure]:
    """The measures with some keys, labels or families. `Measure` objects are returned unchanged."""
    selected: dict[str, Measure] = {}
    for name in names:
        measures = [name] if isinstance(name, Measure) else _named(name, known)
        selected |= {measure.key: measure for measure in measures}
    return list(selected.values())


def _named(name: str, known: Mapping[str, Measure]) -> list[Measure]:
    word = _folded(name)
    single = [measure for measure in known.values() if word in (_folded(measure.key), _folded(measure.label))]
    measures = single or [measure for measure in known.values() if measure.family and word == _folded(measure.family)]
    if not measures:
        check.one_of(name, [*known, *dict.fromkeys(measure.family for measure in known.values() if measure.family)], "measure")
    return measures


def _folded(name: str) -> str:
    return "".join(c for c in str(name).lower() if c.isalnum())
