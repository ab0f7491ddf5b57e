"""The result of an audit: a card with a verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from math import erf, sqrt

import pandas as pd
import torch
from torch import Tensor

from .. import check
from ..core import Explanation, target_values
from ..evaluation import Evaluation
from ..masks import FixedRate
from ..measures import Estimate, bootstrap
from ..measures.prediction import accuracy
from ..measures.statistics import without_padding

SIZES = 30  # maximum number of points of a trade-off
MARGIN = 0.02  # nats; information that changes even odds to 60:40; measured in docs/results/audit-power
LEVEL = 0.95
MAX_REALISTIC_AUROC = 0.75  # above this, a classifier separates imputed rows from real ones
MAX_DISAGREEMENT = 0.1  # share of rows for which the model, off the data, may predict another class than EVAL-X


@dataclass(frozen=True)
class CardLine:
    """One measure with its estimate and how to read it."""

    key: str  # name in code, such as "eacc"
    label: str  # name on pages, such as "eACC"
    estimate: Estimate
    higher_is_better: bool | None
    description: str
    percent: bool = False
    group: str = ""  # subject, such as "fidelity"; lines of one group are shown together


@dataclass(frozen=True)
class Card:
    """Verdict and quality measures of an explanation."""

    verdict: str  # "honest", "encodes", "off the data" or "cannot tell"
    encodes: bool | None  # None: cannot tell
    why: str  # reason, one sentence
    lines: tuple[CardLine, ...]
    method: str = ""
    rows: int = 0
    margin: float = 0.0  # encoding in nats that is tolerated
    p_value: float = float("nan")  # of the hypothesis that the encoding is at most the margin
    tradeoff: pd.DataFrame | None = field(default=None, repr=False, compare=False)  # kept, eacc, low, high: EVAL-X from the k best
    explanation: Explanation | None = field(default=None, repr=False, compare=False)  # the audited explanation, for figures

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of the line with this label or key, such as `card["eACC"]` or `card["eacc"]`."""
        for line in self.lines:
            if name in (line.label, line.key):
                return line.estimate
        raise KeyError(f"{name!r} is not on this card. Its lines: {[line.label for line in self.lines]}.")

    def to_frame(self) -> pd.DataFrame:
        """One row per measure: value, interval, whether higher is better, and meaning."""
        return pd.DataFrame(
            {
                "group": line.group,
                "key": line.key,
                "metric": line.label,
                "value": line.estimate.mean,
                "low": line.estimate.low,
                "high": line.estimate.high,
                "rows": line.estimate.n,
                "higher_is_better": line.higher_is_better,
                "description": line.description,
            }
            for line in self.lines
        )

    def to_json(self) -> str:
        """The card as JSON text."""
        facts = {name: getattr(self, name) for name in ("method", "verdict", "encodes", "why", "rows", "margin")}
        p_value = None if self.p_value != self.p_value else self.p_value
        metrics = json.loads(self.to_frame().to_json(orient="records"))
        return json.dumps({"format": "lexplain.card/2", **facts, "p_value": p_value, "metrics": metrics})

    def to_parquet(self) -> bytes:
        """The measures as Parquet, one row each; needs the extra `parquet`."""
        check.require_parquet()
        frame = self.to_frame()
        return frame.assign(higher_is_better=frame["higher_is_better"].astype("boolean")).to_parquet(index=False)

    def to_html(self) -> str:
        """The card as a self-contained HTML page."""
        from ..report import card_page

        return card_page(self)

    def __str__(self) -> str:
        numbers = "\n".join(f"  {line.label:<18} {line.estimate}" for line in self.lines)
        return f"{self.verdict}: {self.why}\n{numbers}"


def tradeoff(evaluation: Evaluation) -> pd.DataFrame | None:
    """Accuracy of EVAL-X from the k features with the highest scores, for several k. None for real values."""
    rows, count = evaluation.rows, evaluation.features.count
    if evaluation.outputs.real:
        return None
    labels = target_values(rows.target).argmax(1)
    sizes = torch.arange(count + 1) if count <= SIZES else torch.linspace(0, count, SIZES + 1).round().long()
    right = torch.zeros(len(sizes), len(rows), dtype=torch.bool)
    for evaluator, index, x, _, valid in evaluation.few_at_a_time(FixedRate):
        scores = evaluation.explanation.scores[index].abs()
        order = without_padding(scores, None if valid is None else valid.cpu()).argsort(dim=1, descending=True, stable=True)
        rank = order.argsort(1).to(x.device)  # (b, d)
        for step, size in enumerate(sizes.tolist()):
            best = rank < size if valid is None else (rank < size) & valid
            right[step, index] = accuracy(evaluator.probabilities(x, best, valid).cpu(), labels[index]).bool()
    points = [bootstrap(values.double()) for values in right]
    return pd.DataFrame({"kept": int(size), "eacc": e.mean, "low": e.low, "high": e.high} for size, e in zip(sizes, points, strict=True))


@dataclass(frozen=True)
class Verdict:
    """The conclusion of the encoding test."""

    word: str  # "honest", "encodes" or "cannot tell"
    encodes: bool | None
    why: str
    p_value: float


def decide_verdict(values: Tensor, *, margin: float = MARGIN) -> tuple[Estimate, Verdict]:
    """Test whether the mean encoding is above or below a margin, with confidence."""
    estimate = bootstrap(values, level=2 * LEVEL - 1)  # two one-sided tests at 5 %
    error = float(values.std() / sqrt(max(1, len(values))))
    p_value = 0.5 * (1 - erf((estimate.mean - margin) / (error * sqrt(2)))) if error > 0 else float(estimate.mean <= margin)
    text = estimate.to_text("nats")
    if estimate.low > margin:
        why = f"the choice of features reveals {text} about the target beyond their values, above the margin of {margin:g} nats"
        return estimate, Verdict("encodes", True, why, p_value)
    if estimate.high < -margin:
        why = (
            f"the mask-aware reader predicts worse than the mask-agnostic one by {text}, so both were trained on too few rows; "
            "use more rows"
        )
        return estimate, Verdict("cannot tell", None, why, p_value)
    if estimate.high < margin:
        why = f"the choice of features reveals {text} about the target beyond their values, below the margin of {margin:g} nats"
        return estimate, Verdict("honest", False, why, p_value)
    why = (
        f"the choice of features reveals {text} about the target, and the confidence interval contains the margin of {margin:g} nats; "
        "use more rows"
    )
    return estimate, Verdict("cannot tell", None, why, p_value)


def withdraw_if_off_data(card: Card) -> Card:
    """Replace "honest" by "off the data" if EVAL-X and the model, with the other features at their mean, often disagree."""
    known = {line.key: line.estimate for line in card.lines}
    if card.verdict != "honest" or not {"fs_m_mean", "eacc", "off_data_mean"} <= set(known):
        return card
    model, evaluator, off_data = known["fs_m_mean"], known["eacc"], known["off_data_mean"]
    if off_data.low <= MAX_REALISTIC_AUROC or model.high + MAX_DISAGREEMENT >= evaluator.low:
        return card
    why = (
        f"EVAL-X predicts the model's class from the kept features on {evaluator.mean:.0%} of the rows, but the model itself, with the "
        f"other features at their mean (in images at 0), predicts another class on {1 - model.mean:.0%}. Such rows are out of distribution "
        f"(a classifier detects them with AUROC {off_data.mean:.2f}), so this explanation describes the model on inputs that do not occur"
    )
    return replace(card, verdict="off the data", why=why)
