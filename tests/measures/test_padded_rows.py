"""A padded row measures as the same row without its padding, in every measure that looks at features."""

import pytest
import torch

from lexplain.core import Batch, as_target
from lexplain.features import Columns
from lexplain.imputers import Constant
from lexplain.measures import QueriedFunction
from lexplain.measures.curves import area, curve
from lexplain.measures.fidelity import same_class
from lexplain.measures.infidelity import hidden_features, infidelity
from lexplain.measures.retraining import retraining_curve
from lexplain.measures.selection import selection_rate
from lexplain.measures.stability import rank_stability
from lexplain.measures.truth import auroc_against_truth, fpr, median_rank, tpr

ROWS, REAL, WIDE = 60, 4, 7
DRAW = torch.Generator().manual_seed(0)
X = torch.randn(ROWS, REAL, generator=DRAW)
SCORES = torch.rand(ROWS, REAL, generator=DRAW)
MASK = torch.rand(ROWS, REAL, generator=DRAW) < 0.5
TRUTH = torch.rand(ROWS, REAL, generator=DRAW) < 0.5
TRUTH[:, 0], TRUTH[:, 1] = True, False
VALID = torch.arange(WIDE).expand(ROWS, -1) < REAL
PLAIN, PADDED = (Columns().fit(torch.randn(50, width, generator=DRAW).numpy()) for width in (REAL, WIDE))


def padded(values, with_):
    """(b, d) with more columns, of the worst that could stand there."""
    return torch.cat([values, torch.full((len(values), WIDE - REAL), with_, dtype=values.dtype)], 1)


@QueriedFunction
def model(x):
    chance = torch.sigmoid(x[:, :REAL] @ torch.linspace(-2, 2, REAL))
    return torch.stack([1 - chance, chance], 1)


LONG, HIGH, NONE = padded(X, 9.0), padded(SCORES, 5.0), padded(MASK, False)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (lambda: tpr(MASK, TRUTH), lambda: tpr(NONE, padded(TRUTH, False))),
        (lambda: fpr(MASK, TRUTH), lambda: fpr(NONE, padded(TRUTH, False), VALID)),
        (lambda: selection_rate(MASK), lambda: selection_rate(NONE, VALID)),
        (lambda: auroc_against_truth(SCORES, TRUTH), lambda: auroc_against_truth(HIGH, padded(TRUTH, False), VALID)),
        (lambda: median_rank(SCORES, TRUTH), lambda: median_rank(HIGH, padded(TRUTH, False), None, VALID)),
        (lambda: rank_stability(torch.stack([SCORES, X])), lambda: rank_stability(torch.stack([HIGH, padded(X, 7.0)]), VALID)),
        (lambda: same_class(model, PLAIN, X, MASK), lambda: same_class(model, PADDED, LONG, NONE, valid=VALID)),
        (lambda: same_class(model, PLAIN, X, ~MASK), lambda: same_class(model, PADDED, LONG, ~NONE, valid=VALID)),
    ],
    ids=["tpr", "fpr", "rate", "auroc", "median rank", "stability", "kept features", "the others"],
)
def test_padding_counts_nowhere(short, long):
    assert torch.allclose(short().double(), long().double(), equal_nan=True)


@pytest.mark.parametrize("deletes", [False, True])
def test_curves_end_with_the_row(deletes):
    """Steps are shares of a row's own features: the ends, and the steps that both divide alike, are the same."""
    short = curve(model, PLAIN, X, SCORES, deletes=deletes, steps=2)
    long = curve(model, PADDED, LONG, HIGH, deletes=deletes, valid=VALID, steps=2)
    assert torch.allclose(short, long)
    assert torch.allclose(area(short, REAL), area(long, REAL))


def test_what_is_not_there_is_never_hidden():
    hide = hidden_features(PADDED, Constant(0.0), valid=VALID)
    rows, by = hide(LONG, torch.Generator().manual_seed(0))
    assert not by[:, REAL:].any() and torch.equal(rows[:, REAL:], LONG[:, REAL:])
    assert infidelity(model, hide, LONG, HIGH, draws=3).isfinite().all()


def test_a_fraction_is_one_of_the_row_s_own_features():
    shown = []

    def retrain(batch):
        shown.append(batch.x)
        return model

    labels = as_target(torch.eye(2)[(X[:, 0] > 0).long()], real=False)
    batch = Batch(LONG, labels, valid=VALID)
    retraining_curve(PADDED, retrain, batch, HIGH, batch, HIGH, fractions=(0.0, 0.5))
    changed = (shown[1] != LONG).sum(1)
    assert (changed == REAL // 2).all()  # two of four, not three or four of seven
    assert torch.equal(shown[1][:, REAL:], LONG[:, REAL:])
