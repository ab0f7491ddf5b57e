"""Remove and retrain: what is replaced by what, and what a random ranking amounts to."""

from functools import partial

import pytest
import torch
from sklearn.linear_model import LogisticRegression

from lexplain.core import Batch, Classes, as_target
from lexplain.evaluation.retrained import retrain
from lexplain.features import Columns, Groups
from lexplain.imputers import Constant
from lexplain.measures import QueriedFunction
from lexplain.measures.retraining import area_between, retraining_curve
from lexplain.networks import mlp

COUNT = 5
DRAW = torch.Generator().manual_seed(0)
X = torch.randn(4000, COUNT, generator=DRAW) + 1
WEIGHTS = torch.tensor([3.0, 2.0, 1.0, 0.0, 0.0])
LABELS = ((X - 1) @ WEIGHTS + torch.randn(4000, generator=DRAW) > 0).long()
ROWS = Batch(X, as_target(torch.eye(2)[LABELS], real=False))
TRAIN, TEST = ROWS.take(slice(0, 2000)), ROWS.take(slice(2000, 4000))
FEATURES = Columns().fit(X.numpy())
RIGHT = WEIGHTS + torch.arange(COUNT) / 100  # without ties
FRACTIONS = (0.0, 0.2, 0.6, 1.0)


def logistic(rows):
    """A quick model."""
    fitted = LogisticRegression().fit(rows.x.numpy(), rows.target.probs.argmax(1).numpy())
    return lambda x: torch.from_numpy(fitted.predict_proba(x.numpy()))


def curve(train_scores, test_scores, retrain=logistic, features=FEATURES, **how):
    return retraining_curve(
        features, lambda rows: QueriedFunction(retrain(rows)), TRAIN, train_scores, TEST, test_scores, **{"fractions": FRACTIONS, **how}
    )


@pytest.mark.parametrize("keeps", [False, True])
def test_the_highest_scores_are_replaced_by_training_means_in_both_parts(keeps):
    learned, judged = [], []

    def watch(rows):
        learned.append(rows.x)
        return lambda x: judged.append(x) or torch.zeros(len(x), 2)

    scores = torch.rand(4000, COUNT)
    curve(scores[:2000], scores[2000:], watch, keeps=keeps)
    means = TRAIN.x.mean(0)
    for count, seen, asked in zip((0, 1, 3, 5), learned, judged, strict=True):
        for rows, got, given in ((TRAIN.x, seen, scores[:2000]), (TEST.x, asked, scores[2000:])):
            for i in (0, 7, 1999):
                first = set(given[i].argsort(descending=True)[:count].tolist())
                hidden = set(range(COUNT)) - first if keeps else first
                assert got[i].tolist() == [means[j] if j in hidden else rows[i, j] for j in range(COUNT)]


def test_the_right_ranking_costs_most_and_saves_most():
    right = RIGHT.expand(2000, -1)
    drawn = torch.rand(4000, COUNT, generator=torch.Generator().manual_seed(1))
    for keeps, sign in ((False, -1), (True, 1)):
        best, random, worst = (curve(a, b, keeps=keeps) for a, b in ((right, right), (drawn[:2000], drawn[2000:]), (-right, -right)))
        assert sign * area_between(best, random, FRACTIONS).mean() > 0.05
        assert sign * area_between(worst, random, FRACTIONS).mean() < -0.05
        assert area_between(random, random, FRACTIONS).abs().max() == 0
        assert set(best.unique().tolist()) == {0.0, 1.0}


def test_a_random_ranking_amounts_to_training_on_randomly_masked_rows():
    """With five draws of each, the accuracies differ by no more than their error."""
    ranked, masked = [], []
    for seed in range(5):
        draw = torch.Generator().manual_seed(seed)
        scores = torch.rand(4000, COUNT, generator=draw)
        ranked.append(curve(scores[:2000], scores[2000:], fractions=(0.0, 0.6))[1].mean())
        fill = Constant(TRAIN.x.mean(0))
        masks = torch.stack([torch.randperm(COUNT, generator=draw) < 2 for _ in range(4000)])  # two of five are shown
        model = logistic(Batch(fill(TRAIN.x, masks[:2000]), TRAIN.target))
        masked.append((model(fill(TEST.x, masks[2000:])).argmax(1) == LABELS[2000:]).double().mean())
    assert torch.stack(ranked).mean().item() == pytest.approx(torch.stack(masked).mean().item(), abs=4 * (2 * 0.2 / 10_000) ** 0.5)


def test_retrained_networks_find_what_is_left():
    small = mlp((COUNT,), 2, sees_mask=False, hidden=(64, 64))
    network = partial(retrain, features=FEATURES, outputs=Classes(2), network=small, steps=250)
    right = RIGHT.expand(2000, -1)
    heights = curve(right, right, network, fractions=(0.0, 0.6)).mean(1)
    assert heights[0] > 0.85
    assert heights[1] == pytest.approx(0.5, abs=0.06)  # the rest tells nothing


def test_real_values_count_by_their_error():
    train, test = (Batch(part.x, as_target(part.x[:, 0], real=True)) for part in (TRAIN, TEST))
    scores = RIGHT.expand(2000, -1)
    heights = retraining_curve(
        FEATURES, lambda rows: QueriedFunction(lambda x: x[:, :1] + 2), train, scores, test, scores, fractions=(0.0, 0.2)
    )
    assert torch.allclose(heights[0], torch.full((2000,), -4.0).double(), atol=1e-5)
    assert torch.allclose(heights[1], -(TRAIN.x.mean(0)[0] + 2 - TEST.x[:, 0]).square().double(), atol=1e-4)


def test_groups_go_together():
    features = Groups(groups={"strong": [0, 1, 2]}).fit(X.numpy())
    scores = torch.tensor([3.0, 2.0, 1.0]).expand(2000, -1)
    assert curve(scores, scores, features=features, fractions=(0.0, 0.34))[1].mean().item() == pytest.approx(0.5, abs=0.06)


def test_areas_by_hand():
    above, below = torch.tensor([[1.0], [1.0], [0.0]]), torch.tensor([[1.0], [0.0], [0.0]])
    assert area_between(above, below, (0.0, 0.2, 0.8)).tolist() == pytest.approx([0.5])  # a triangle of height 1
    assert area_between(below, above, (0.0, 0.2, 0.8)).tolist() == pytest.approx([-0.5])


@pytest.mark.parametrize("fractions", [(0.5,), (0.5, 0.1), (0.0, 1.5), (-0.1, 0.5)])
def test_fractions_that_do_not_rise_raise(fractions):
    with pytest.raises(ValueError, match="fractions"):
        curve(TRAIN.x, TEST.x, fractions=fractions)


def test_scores_of_other_rows_raise():
    with pytest.raises(ValueError, match="2000 rows"):
        curve(TRAIN.x[:5], TEST.x)
