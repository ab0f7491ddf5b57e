"""What an audit says: a card, and the verdict on it."""

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

SIZES = 30  # points of a trade-off at the most
MARGIN = 0.02  # nats; what a tip is worth that makes even odds 60 to 40: measured in docs/results/audit-power
LEVEL = 0.95
MAX_REALISTIC_AUROC = 0.75  # a classifier that does better than this tells filled rows from real ones
MAX_DISAGREEMENT = 0.1  # share of rows on which a model, asked off the data, may say something else than kept features tell


@dataclass(frozen=True)
class CardLine:
    """One measured number with how to read it."""

    key: str  # what code calls it, such as "eacc"
    label: str  # what people read, such as "eACC"
    estimate: Estimate
    higher_is_better: bool | None
    description: str
    percent: bool = False
    group: str = ""  # what it is about, such as "fidelity": lines of one group are shown together


@dataclass(frozen=True)
class Card:
    """The verdict on an explanation and the evidence for it."""

    verdict: str  # "honest", "encodes", "off the data" or "cannot tell"
    encodes: bool | None  # None: cannot tell
    why: str  # one sentence
    lines: tuple[CardLine, ...]
    method: str = ""
    rows: int = 0
    margin: float = 0.0  # nats of encoding that are let pass
    p_value: float = float("nan")  # chance of such evidence if the mask told no more than the margin
    tradeoff: pd.DataFrame | None = field(default=None, repr=False, compare=False)  # kept, eacc, low, high: a judge shown the k best
    explanation: Explanation | None = field(default=None, repr=False, compare=False)  # what was audited, for its pictures

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of one line by its label or key, such as `card["eACC"]` or `card["eacc"]`."""
        for line in self.lines:
            if name in (line.label, line.key):
                return line.estimate
        raise KeyError(f"{name!r} is not on this card; it has {[line.label for line in self.lines]}")

    def to_frame(self) -> pd.DataFrame:
        """One row a metric, with its interval, its direction and how to read it."""
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
        """The lines as Parquet, one row a metric; needs the extra `parquet`."""
        check.require_parquet()
        frame = self.to_frame()
        return frame.assign(higher_is_better=frame["higher_is_better"].astype("boolean")).to_parquet(index=False)

    def to_html(self) -> str:
        """A self-contained HTML page: the verdict first, then the evidence."""
        from ..report import card_page

        return card_page(self)

    def __str__(self) -> str:
        numbers = "\n".join(f"  {line.label:<18} {line.estimate}" for line in self.lines)
        return f"{self.verdict}: {self.why}\n{numbers}"


def tradeoff(evaluation: Evaluation) -> pd.DataFrame | None:
    """How often EVAL-X, shown the k best features by score, tells the class; None for real values."""
    rows, count = evaluation.rows, evaluation.features.count
    if evaluation.outputs.real:
        return None
    labels = target_values(rows.target).argmax(1)
    sizes = torch.arange(count + 1) if count <= SIZES else torch.linspace(0, count, SIZES + 1).round().long()
    right = torch.zeros(len(sizes), len(rows), dtype=torch.bool)
    for judge, at, x, _, valid in evaluation.few_at_a_time(FixedRate):
        scores = evaluation.explanation.scores[at].abs()
        order = without_padding(scores, None if valid is None else valid.cpu()).argsort(dim=1, descending=True, stable=True)
        place = order.argsort(1).to(x.device)  # (b, d)
        for step, size in enumerate(sizes.tolist()):
            best = place < size if valid is None else (place < size) & valid
            right[step, at] = accuracy(judge.probabilities(x, best, valid).cpu(), labels[at]).bool()
    found = [bootstrap(values.double()) for values in right]
    return pd.DataFrame({"kept": int(size), "eacc": e.mean, "low": e.low, "high": e.high} for size, e in zip(sizes, found, strict=True))


@dataclass(frozen=True)
class Verdict:
    """What the encoding test concludes."""

    word: str  # "honest", "encodes" or "cannot tell"
    encodes: bool | None
    why: str
    p_value: float


def decide_verdict(values: Tensor, *, margin: float = MARGIN) -> tuple[Estimate, Verdict]:
    """Compare the mean encoding with a margin: above it with confidence, below it with confidence, or neither."""
    estimate = bootstrap(values, level=2 * LEVEL - 1)  # two one-sided tests at 5 %
    error = float(values.std() / sqrt(max(1, len(values))))
    p_value = 0.5 * (1 - erf((estimate.mean - margin) / (error * sqrt(2)))) if error > 0 else float(estimate.mean <= margin)
    shown = estimate.to_text("nats")
    if estimate.low > margin:
        why = f"the choice of the mask tells {shown} about the answer beyond the values it shows, above the margin of {margin:g}"
        return estimate, Verdict("encodes", True, why, p_value)
    if estimate.high < -margin:
        why = f"a judge who knows the masks predicts worse by {shown} than one who does not: the judges learned too little; give more rows"
        return estimate, Verdict("cannot tell", None, why, p_value)
    if estimate.high < margin:
        why = f"the choice of the mask tells {shown} about the answer beyond the values it shows, within the margin of {margin:g}"
        return estimate, Verdict("honest", False, why, p_value)
    why = f"the choice of the mask tells {shown} about the answer, and the margin of {margin:g} lies inside the interval; give more rows"
    return estimate, Verdict("cannot tell", None, why, p_value)


def withdraw_if_off_data(card: Card) -> Card:
    """Withdraw a verdict of honesty where the model, shown kept features alone, contradicts what they tell of real rows."""
    known = {line.key: line.estimate for line in card.lines}
    if card.verdict != "honest" or not {"fs_m", "eacc", "off_data_mean"} <= set(known):
        return card
    shown, told, apart = known["fs_m"], known["eacc"], known["off_data_mean"]
    if apart.low <= MAX_REALISTIC_AUROC or shown.high + MAX_DISAGREEMENT >= told.low:
        return card
    why = (
        f"the kept features tell the model's answer on {told.mean:.0%} of the rows, but the model itself, shown them alone, says something "
        f"else on {1 - shown.mean:.0%}: rows with features taken out are unlike the data (told apart with AUROC {apart.mean:.2f}), so that "
        "an explanation made by taking features out of this model describes it where it was never used"
    )
    return replace(card, verdict="off the data", why=why)
