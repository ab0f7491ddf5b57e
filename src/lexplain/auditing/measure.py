"""What a measure is: a key, a label, what it needs, and a function of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from .. import check
from ..metrics.metric import Metric
from ..metrics.statistics import Estimate, bootstrap
from .evidence import NEEDS, Evidence

Taken = Literal["always", "usually", "if asked"]


@dataclass(frozen=True)
class Measure:
    """A number that audits, comparisons and tables show of an explanation.

    Args:
        key: what code calls it, such as "eacc".
        label: what people read, such as "eACC".
        function: the evidence to one number a row (b,); or to an estimate, where a number is not one of rows.
        higher_is_better: None where neither direction is better.
        description: one line on how to read it.
        needs: what the evidence must have: names of `NEEDS`.
        percent: tables show it as a percentage.
        group: what it is about; lines of one group are shown together.
        family: a word that asks for several measures at once, such as "fidelity".
        taken: whether an audit takes it "always", "usually" (unless measures are asked for by name) or "if asked"; never where it lacks
            what it needs.
        judged: whether it asks EVAL-X, which is then trained once for all who share it.
    """

    key: str
    label: str
    function: Callable[[Evidence], Tensor | Estimate]
    higher_is_better: bool | None
    description: str
    needs: tuple[str, ...] = ()
    percent: bool = False
    group: str = ""
    family: str = ""
    taken: Taken = "if asked"
    judged: bool = False

    def possible(self, evidence: Evidence) -> bool:
        """Whether the evidence has all that it needs."""
        return all(NEEDS[name].there(evidence) for name in self.needs)

    def values(self, evidence: Evidence) -> Tensor | Estimate | None:
        """One number a row (b,) on the CPU, or an estimate; None where something that it needs is not there."""
        if not self.possible(evidence):
            return None
        found = self.function(evidence)
        return found if isinstance(found, Estimate) else found.double().cpu()


def of_metric(
    key: str,
    metric: Metric,
    function: Callable[[Evidence], Tensor],
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
