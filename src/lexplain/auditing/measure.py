"""What a measure is: a key, a label, what it needs, and a function of an Evaluation. And how measures are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from torch import Tensor

from .. import check
from ..core import seeded
from ..evaluation import Evaluation
from ..metrics.metric import Metric
from ..metrics.statistics import Estimate, bootstrap
from .kernel_shap import shap_there

Taken = Literal["always", "usually", "if asked"]


class Need(NamedTuple):
    """Something that a measure cannot do without."""

    words: str  # what it is, for whoever asks for the measure
    there: Callable[[Evaluation], bool]


BY_CHANCE = "an explainer that can be fitted again, and a network, or labels, to replace by chance"
NEEDS: dict[str, Need] = {
    "classes": Need("a target of classes", lambda e: not e.outputs.real),
    "own prediction": Need("an explanation with a predictor of its own", lambda e: e.explanation.predict is not None),
    "truth": Need("the truth: which features really decide", lambda e: e.truth is not None),
    "control flow": Need("the place of the control-flow feature", lambda e: e.control_flow is not None),
    "masks": Need("explanations of enough rows for a reader of masks to learn from", lambda e: e.reads_masks),
    "model": Need("a model of classes", lambda e: e.questions.model is not None),
    "explainer": Need("the explainer", lambda e: e.questions.explain is not None),
    "quantities": Need("features whose encoded values are quantities", lambda e: e.features.numeric),
    "refit": Need("an explainer that can be fitted again", lambda e: e.questions.refit is not None),
    "random model": Need(BY_CHANCE, lambda e: "model" in e.questions.randomised),
    "random labels": Need(BY_CHANCE, lambda e: "labels" in e.questions.randomised),
    "peer": Need(
        "a model, an explainer that was fitted here (a file does not tell how long that took) and shap ('lexplain[peers]')",
        lambda e: e.questions.explain is not None and e.questions.says is not None and e.questions.fit_seconds is not None and shap_there(),
    ),
}


@dataclass(frozen=True)
class Measure:
    """A number that audits, comparisons and tables show of an explanation.

    Args:
        key: what code calls it, such as "eacc".
        label: what people read, such as "eACC".
        function: an Evaluation to one number a row (b,); or to an estimate, where a number is not one of rows.
        higher_is_better: None where neither direction is better.
        description: one line on how to read it.
        needs: what the Evaluation must have: names of `NEEDS`.
        percent: tables show it as a percentage.
        group: what it is about; lines of one group are shown together.
        family: a word that asks for several measures at once, such as "fidelity".
        taken: whether an audit takes it "always", "usually" (unless measures are asked for by name) or "if asked"; never where it lacks
            what it needs.
        judged: whether it asks EVAL-X, which is then trained once for all who share it.
    """

    key: str
    label: str
    function: Callable[[Evaluation], Tensor | Estimate]
    higher_is_better: bool | None
    description: str
    needs: tuple[str, ...] = ()
    percent: bool = False
    group: str = ""
    family: str = ""
    taken: Taken = "if asked"
    judged: bool = False

    def possible(self, evaluation: Evaluation) -> bool:
        """Whether the Evaluation has all that it needs."""
        return all(NEEDS[name].there(evaluation) for name in self.needs)

    def values(self, evaluation: Evaluation) -> Tensor | Estimate | None:
        """One number a row (b,) on the CPU, or an estimate; None where something that it needs is not there."""
        if not self.possible(evaluation):
            return None
        found = self.function(evaluation)
        return found if isinstance(found, Estimate) else found.double().cpu()


def of_metric(
    key: str,
    metric: Metric,
    function: Callable[[Evaluation], Tensor],
    *,
    label: str | None = None,
    prefix: str = "",
    needs: tuple[str, ...] = (),
    group: str = "",
    family: str = "",
    taken: Taken = "if asked",
    judged: bool = False,
) -> Measure:
    """The measure of a metric, which knows its direction and how to read it; `prefix` comes before its description."""
    name, description = label or metric.label, prefix + metric.description
    return Measure(key, name, function, metric.higher_is_better, description, needs, metric.percent, group, family, taken, judged)


def values_of(evaluation: Evaluation, measures: Iterable[Measure]) -> dict[str, Tensor | Estimate]:
    """Measured values by key, without measures that lack what they need. Each measure draws from the seed of the run."""
    found = {}
    for measure in measures:
        with seeded(evaluation.run.seed):  # imputers draw from torch's own state
            found[measure.key] = measure.values(evaluation)
    return {key: values for key, values in found.items() if values is not None}


def means(evaluation: Evaluation, keys: Iterable[str]) -> dict[str, float]:
    """Means of some measures of the menu by key, for tables; torch computes them, and estimates may differ in the last bit."""
    from .measures import MEASURES  # its files define measures

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
