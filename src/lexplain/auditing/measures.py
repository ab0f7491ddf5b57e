"""The measures that an audit takes beside the judges': each is a function of the case to lines of the card."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor

from ..core import Explanation, Trial
from ..imputers import Constant, Marginal
from ..metrics.curves import deletion, deletion_curve, insertion, insertion_curve
from ..metrics.fidelity import approximator, approximator_accuracy, complement_accuracy, complement_approximator_accuracy, post_hoc_accuracy
from ..metrics.infidelity import hidden_features, infidelity
from ..metrics.off_data import off_data
from ..metrics.roar import kar, only_first, retraining_curve, roar, without_first
from ..metrics.sanity import mask_cosine
from ..metrics.sensitivity import sensitivity
from ..metrics.speed import pays_from, speed
from ..metrics.stability import mask_stability, rank_stability
from ..metrics.statistics import Estimate, bootstrap
from ..predictors import Target
from ..training.retrained import retrain
from .card import Line
from .kernel_shap import BACKGROUND, PEER_ROWS, kernel_shap_seconds, shap_there

SOME = 500  # rows of measures that ask the model, or the explainer, hundreds of times about each
REFITS = 2  # fits with other seeds
DRAWS = 200  # perturbations of such a row


@dataclass(frozen=True)
class Split:
    """Rows to learn from, and rows to judge what was learned on."""

    learn: Trial
    mask: Tensor  # (n, d) of the rows to learn from
    scores: Tensor  # (n, d)
    judged: Tensor  # indices of the rows audited


@dataclass(frozen=True)
class Case:
    """What is audited, and what may be asked."""

    explanation: Explanation
    features: Any
    target: Target
    rows: Trial
    splits: tuple[Split, ...]
    background: Tensor  # (n, ...) encoded rows that were not explained, or half of those that were
    apart: Tensor  # indices of the rows audited that are not in the background
    model: Callable[[Tensor], Tensor] | None  # encoded rows to probabilities, or values
    explain: Callable[[Tensor], Tensor] | None  # encoded rows to scores
    says: Callable[[Tensor], Tensor] | None  # encoded rows to what is explained: the model's answer, else the explainer's own
    fit_seconds: float | None  # what the explainer's fit took, where it knows
    refit: Callable[[int, str], Explanation] | None  # a seed, and what is randomised ("", "model", "labels"), to an explanation anew
    randomised: tuple[str, ...]  # what can be
    fabric: Fabric
    seed: int
    max_rows: int

    @property
    def peer(self) -> bool:
        """Whether the explainer's cost can be compared with KernelSHAP's."""
        return self.explain is not None and self.says is not None and self.fit_seconds is not None and shap_there()

    @property
    def some(self) -> Tensor:
        """Indices of a few rows, for measures that take long."""
        return torch.randperm(len(self.rows), generator=self.draws())[:SOME].sort().values

    def draws(self) -> torch.Generator:
        """A generator of the audit's own draws."""
        return torch.Generator().manual_seed(self.seed)


def fidelity_lines(case: Case) -> list[Line]:
    """FS-M and FU-M of the model; FS-A and FU-A of fresh models that learn from what is shown, or hidden."""
    assert case.model is not None
    x, mask, most = case.rows.x, case.explanation.mask, case.max_rows
    lines = [
        Line.of(metric, bootstrap(metric(case.model, case.features, x, mask, max_rows=most)), group="fidelity")
        for metric in (post_hoc_accuracy, complement_accuracy)
    ]
    learn = partial(retrain, outputs=case.target.outputs, fabric=case.fabric, seed=case.seed, max_rows=case.max_rows)
    for metric, hides in ((approximator_accuracy, False), (complement_approximator_accuracy, True)):
        values = torch.zeros(len(x), dtype=torch.double)
        for split in case.splits:
            fresh = approximator(case.features, learn, split.learn, split.mask ^ hides, max_rows=most)
            values[split.judged] = metric(case.model, fresh, case.features, x[split.judged], mask[split.judged], max_rows=most).cpu()
        lines.append(Line.of(metric, bootstrap(values), group="fidelity"))
    return lines


def curve_lines(case: Case) -> list[Line]:
    """Insertion and deletion, with other rows' values where a feature is hidden."""
    assert case.model is not None
    lines, fill, target = [], Marginal(case.background), case.explanation.asked  # the model's own class unless one was asked for
    for metric, curve in ((insertion, insertion_curve), (deletion, deletion_curve)):
        values, draws = [], case.draws()
        for at in torch.split(torch.arange(len(case.rows)), case.max_rows):  # curves of a part at a time: those of all rows are many
            heights = curve(
                case.model,
                case.features,
                case.rows.x[at],
                case.explanation.scores[at],
                target=None if target is None else target[at],
                imputer=fill,
                max_rows=case.max_rows,
                generator=draws,
            )
            values.append(metric(heights, case.features.count))
        lines.append(Line.of(metric, bootstrap(torch.cat(values)), group="fidelity"))
    return lines


def infidelity_lines(case: Case) -> list[Line]:
    """How far scores are from saying what hiding features does to the model, in the unit that suits the scores best."""
    assert case.model is not None
    some, target = case.some, case.explanation.asked
    values = infidelity(
        case.model,
        hidden_features(case.features, Constant(0.0)),
        case.rows.x[some],
        case.explanation.scores[some],
        target=None if target is None else target[some],
        scaled=True,
        draws=DRAWS,
        max_rows=case.max_rows,
        generator=case.draws(),
    )
    return [Line.of(infidelity, bootstrap(values), group="fidelity")]


def off_data_lines(case: Case) -> list[Line]:
    """How easily rows whose hidden features are filled are told from real ones: with the mean, and with other rows' values."""
    some = case.apart[torch.randperm(len(case.apart), generator=case.draws())[:SOME]]
    real = case.background[torch.randperm(len(case.background), generator=case.draws())[: len(some)]]
    lines = []
    for label, imputer in (("Off the data, mean", Constant(0.0)), ("Off the data, other rows", Marginal(case.background))):
        filled = imputer(case.rows.x[some], case.features.expand(case.explanation.mask[some]))
        lines.append(Line.of(off_data, bootstrap(off_data(filled, real, seed=case.seed)), label, group="off the data"))
    return lines


def robustness_lines(case: Case) -> list[Line]:
    """The true maximum by which scores change within a small radius."""
    assert case.explain is not None
    x = case.rows.x[case.some[: SOME // 5]]
    values = sensitivity(case.explain, x, max_rows=case.max_rows, generator=case.draws())
    return [Line.of(sensitivity, bootstrap(values), group="stability")]


def speed_lines(case: Case) -> list[Line]:
    """Milliseconds of an explanation."""
    assert case.explain is not None
    x = case.rows.x[case.some]  # a few: some explainers take a second for each
    measured = 1000 * speed(case.explain, x, repeats=3).seconds_a_row
    reads = "milliseconds to explain a row, many at a time, the fit not counted"
    return [Line("Milliseconds a row", Estimate(measured, measured, measured, len(x)), False, reads, group="cost")]


def break_even_lines(case: Case, clock: Callable[[], float] = time.perf_counter) -> list[Line]:
    """From how many rows on fitting and explaining is cheaper than KernelSHAP on the same model."""
    assert case.explain is not None and case.says is not None and case.fit_seconds is not None
    x = case.rows.x[case.some]
    own = speed(case.explain, x, repeats=3, clock=clock).seconds_a_row
    peer = kernel_shap_seconds(case.says, case.features, case.background, x[:PEER_ROWS], seed=case.seed, clock=clock)
    reads = f"from so many rows on, the fit and its explanations take less time than shap's KernelSHAP ({BACKGROUND} background rows, its "
    reads += "own number of subsets), with the interval of the few rows that were timed; inf: never"
    estimate = pays_from(case.fit_seconds, own, peer)
    return [Line("Break-even rows, KernelSHAP", estimate, False, reads, group="cost")]


def retraining_lines(case: Case) -> list[Line]:
    """ROAR and KAR beside a random ranking, by networks that are retrained from scratch."""
    learn = partial(retrain, outputs=case.target.outputs, fabric=case.fabric, seed=case.seed, max_rows=case.max_rows)
    lines, draws = [], case.draws()
    for metric, shown in ((roar, without_first), (kar, only_first)):
        values = torch.zeros(len(case.rows), dtype=torch.double)
        for split in case.splits:
            judged = case.rows.take(split.judged)
            given = (split.scores.abs(), case.explanation.scores[split.judged].abs())
            random = tuple(torch.rand(scores.shape, generator=draws) for scores in given)
            curves = [
                retraining_curve(
                    case.features, learn, split.learn, train, judged, test, shown=shown, max_rows=case.max_rows, generator=draws
                )
                for train, test in (given, random)
            ]
            values[split.judged] = metric(*curves)
        lines.append(Line.of(metric, bootstrap(values), group="fidelity"))
    return lines


def stability_lines(case: Case) -> list[Line]:
    """How much the explanations of fits with other seeds agree."""
    assert case.refit is not None
    several = [case.explanation, *(case.refit(case.seed + 1 + place, "") for place in range(REFITS))]
    masks, scores = torch.stack([e.mask for e in several]), torch.stack([e.scores for e in several])
    return [
        Line.of(mask_stability, bootstrap(mask_stability(masks)), group="stability"),
        Line.of(rank_stability, bootstrap(rank_stability(scores)), group="stability"),
    ]


def sanity_lines(case: Case) -> list[Line]:
    """How much of an explanation is left when what it explains is replaced by chance.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018.
    """
    assert case.refit is not None
    lines = []
    for what in case.randomised:
        values = mask_cosine(case.explanation.mask, case.refit(case.seed, what).mask)
        lines.append(Line.of(mask_cosine, bootstrap(values), f"Mask cosine, random {what}", group="sanity"))
    return lines


# What each measure is called, what it has to have, and whether it is taken unless told otherwise.
MEASURES: dict[str, tuple[Callable[[Case], list[Line]], str, bool]] = {
    "fidelity": (fidelity_lines, "model", True),
    "curves": (curve_lines, "model", True),
    "infidelity": (infidelity_lines, "model", True),
    "off the data": (off_data_lines, "", True),
    "robustness": (robustness_lines, "explain", True),
    "speed": (speed_lines, "explain", True),
    "break-even": (break_even_lines, "peer", False),
    "retraining": (retraining_lines, "", False),
    "stability": (stability_lines, "refit", False),
    "sanity": (sanity_lines, "randomised", False),
}
