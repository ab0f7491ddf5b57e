"""EVAL-X: it predicts from any mask and cannot use what the choice of a mask reveals."""

import pytest
import torch
from torch import nn

from lexplain.core import Batch, Classes, RealValue, as_target
from lexplain.evaluation import Evaluator, train_evaluator
from lexplain.features import Columns, Groups
from lexplain.masks import FixedRate, UniformRate
from lexplain.networks import mlp

COUNT = 5
GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(900, COUNT, generator=GENERATOR)
LABELS = (X[:, 0] > 0).long()  # the first feature decides, the others tell nothing
ROWS = Batch(X, as_target(torch.eye(2)[LABELS], real=False))
TRAIN, VALIDATION, TEST = ROWS.take(slice(0, 500)), ROWS.take(slice(500, 600)), ROWS.take(slice(600, 900))
FEATURES = Columns().fit(X.numpy())


def only(*features, rows=900):
    mask = torch.zeros(rows, COUNT).bool()
    mask[:, list(features)] = True
    return mask


def encoded(labels):
    """A mask that hides the first feature, and tells the label by which of two useless ones it shows."""
    return torch.where(labels[:, None] == 1, only(2, rows=len(labels)), only(3, rows=len(labels)))


def small(count=2):
    return mlp((COUNT,), count, sees_mask=True, hidden=(32,))


def accuracy(evaluator, mask, batch=TEST):
    return (evaluator.probabilities(batch.x, mask).argmax(1) == batch.target.probs.argmax(1)).float().mean().item()


@pytest.fixture(scope="module")
def evaluator():
    torch.manual_seed(0)
    return Evaluator(FEATURES, Classes(2), network=small()).fit(TRAIN, VALIDATION, steps=600)


# ---- honest and encoding masks ----


def test_accuracy_from_an_honest_mask_is_that_of_its_values(evaluator):
    assert accuracy(evaluator, only(0, rows=300)) > 0.95
    assert accuracy(evaluator, only(0, 3, 4, rows=300)) > 0.93


def test_a_mask_that_encodes_the_label_is_worth_no_more_than_chance(evaluator):
    # By position: two masks in all, for which the evaluator predicts about even odds. (Its accuracy would be the luck of two signs.)
    labels = LABELS[600:, None]
    predicted = evaluator.probabilities(TEST.x, encoded(labels[:, 0])).gather(1, labels)
    assert predicted.mean() == pytest.approx(0.5, abs=0.1)
    assert predicted.log().mean() < -0.6  # even odds cost log 2 = 0.69 nats
    # By parity of how many useless features are shown: many masks, so that luck evens out.
    shown = torch.rand(300, COUNT, generator=torch.Generator().manual_seed(1)) < 0.5
    shown[:, 0] = False
    shown[:, 1] = (shown[:, 2:].sum(1) + labels[:, 0]) % 2 == 1
    assert ((shown.sum(1) % 2) == labels[:, 0]).all()
    assert 0.4 < accuracy(evaluator, shown) < 0.6


def test_a_mask_aware_reader_learns_what_a_mask_encodes(evaluator, short_judges):
    short_judges(reader=600)
    before = {name: value.clone() for name, value in evaluator.state_dict().items()}
    reader = evaluator.fit_reader(TRAIN, encoded(LABELS[:500]), VALIDATION, encoded(LABELS[500:600]))
    assert accuracy(reader, encoded(LABELS[600:])) > 0.95
    assert all(torch.equal(value, before[name]) for name, value in evaluator.state_dict().items())  # a copy was trained, not the evaluator
    # Masks chosen without a look at the label tell the reader nothing more.
    blind = only(2, rows=900)
    assert accuracy(evaluator.fit_reader(TRAIN, blind[:500], VALIDATION, blind[500:600]), blind[600:]) < 0.62


# ---- any mask ----


def test_predicts_from_any_mask(evaluator):
    for count in range(COUNT + 1):
        probabilities = evaluator.probabilities(TEST.x, only(*range(count), rows=300))
        assert probabilities.shape == (300, 2)
        assert torch.allclose(probabilities.sum(1), torch.ones(300), atol=1e-5)
    nothing = evaluator.probabilities(TEST.x, only(rows=300))
    assert nothing.std(0).max() < 1e-6  # every row looks alike
    assert (nothing[0] - 0.5).abs().max() < 0.2


def test_what_is_hidden_cannot_leak(evaluator):
    mask = torch.rand(300, COUNT) < 0.5
    other = torch.where(mask, TEST.x, torch.full_like(TEST.x, float("nan")))
    assert torch.equal(evaluator.probabilities(TEST.x, mask), evaluator.probabilities(other, mask))


def test_hidden_is_not_the_same_as_zero(evaluator):
    zero = TEST.x.clone()
    zero[:, 2] = 0.0
    assert not torch.equal(evaluator.probabilities(zero, only(0, 2, rows=300)), evaluator.probabilities(zero, only(0, rows=300)))


def test_predictions_have_no_gradients(evaluator):
    assert not evaluator.training
    assert not any(weight.requires_grad for weight in evaluator.parameters())
    assert not evaluator.probabilities(TEST.x, only(0, rows=300)).requires_grad


# ---- how it learns ----


@pytest.mark.parametrize(("masks", "spread"), [(FixedRate, 0.5 / COUNT**0.5), (UniformRate, 0.35)], ids=["fair coins", "every size"])
def test_learns_from_the_masks_it_was_given(masks, spread):
    seen = []
    one = Evaluator(FEATURES, Classes(2), network=small(), masks=masks)
    one.imputer.register_forward_hook(lambda module, inputs, output: seen.append(inputs[1]))
    one.fit(TRAIN, VALIDATION, steps=30)
    rates = torch.cat(seen).float().mean(1)
    assert rates.mean() == pytest.approx(0.5, abs=0.02)
    assert rates.std() == pytest.approx(spread, abs=0.03)


def test_evaluates_groups_of_columns():
    features = Groups(groups={"ends": [0, 4]}).fit(X.numpy())
    one = Evaluator(features, Classes(2), network=small()).fit(TRAIN, VALIDATION, steps=300)
    ends = torch.zeros(300, 4).bool()
    ends[:, 0] = True
    assert accuracy(one, ends) > 0.9
    assert accuracy(one, ~ends) < 0.6


def test_evaluates_real_values():
    batches = [Batch(t.x, as_target(t.x[:, 0], real=True)) for t in (TRAIN, VALIDATION, TEST)]
    one = Evaluator(FEATURES, RealValue(), network=small(1)).fit(*batches[:2], steps=500)
    shown = one.probabilities(TEST.x, only(0, rows=300))
    assert shown.shape == (300, 1)
    assert (shown[:, 0] - TEST.x[:, 0]).square().mean() < 0.1
    assert (one.probabilities(TEST.x, only(1, rows=300))[:, 0] - TEST.x[:, 0]).square().mean() > 0.7


def test_the_seed_decides_and_the_callers_random_state_is_left_alone():
    before = torch.get_rng_state()
    one, same, other = (train_evaluator(FEATURES, Classes(2), TRAIN, VALIDATION, steps=20, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    weights = [torch.cat([w.flatten() for w in evaluator.parameters()]) for evaluator in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.allclose(weights[0], weights[2])


def test_the_network_is_of_twice_the_width():
    assert Evaluator(FEATURES, Classes(3))(X[:4], only(0, rows=4)).probs.shape == (4, 3)
    with pytest.raises(RuntimeError, match="4x10 and 5x2"):
        Evaluator(FEATURES, Classes(2), network=nn.Linear(COUNT, 2))(X[:4], only(0, rows=4))
