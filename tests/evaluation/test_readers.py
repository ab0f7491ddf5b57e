"""Readers that know that masks were chosen, compared fairly with one that does not."""

import pytest
import torch

from lexplain.core import Batch, Classes, as_target
from lexplain.evaluation import Evaluator, MaskAwareReader, MaskDensityRatio, evaluator
from lexplain.features import Columns
from lexplain.networks import mlp

COUNT, ROWS = 4, 700
X = torch.randn(ROWS, COUNT, generator=torch.Generator().manual_seed(0))
LABELS = (X[:, 0] > 0).long()
TRIAL = Batch(X, as_target(torch.eye(2)[LABELS], real=False))
TRAIN, VALIDATION, TEST = TRIAL.take(slice(0, 400)), TRIAL.take(slice(400, 500)), TRIAL.take(slice(500, None))
HIDING = torch.zeros(ROWS, COUNT).bool()
ENCODING = HIDING.clone()
ENCODING[torch.arange(ROWS), 1 + LABELS] = True  # the first feature is hidden; which other one is visible encodes the label
BLIND = HIDING.clone()
BLIND[torch.arange(ROWS), torch.randint(1, 3, (ROWS,), generator=torch.Generator().manual_seed(1))] = True
PARTS = {"train": slice(0, 400), "validation": slice(400, 500), "test": slice(500, None)}


@pytest.fixture(scope="module")
def mask_agnostic():
    torch.manual_seed(0)
    trained = Evaluator(Columns().fit(X.numpy()), Classes(2), network=mlp((COUNT,), 2, sees_mask=True, hidden=(32,)))
    return trained.fit(TRAIN, VALIDATION, steps=300)


@pytest.fixture(autouse=True)
def _learn_fast(short_judges):
    short_judges(reader=400, reader_rate=3e-3)


def fitted(reader, masks):
    return reader.fit(TRAIN, masks[PARTS["train"]], VALIDATION, masks[PARTS["validation"]], fabric=None, seed=0)


def accuracy(reader, masks):
    test = PARTS["test"]
    return (reader(TEST.x, masks[test]).probs.argmax(1) == LABELS[test]).double().mean().item()


def test_a_reader_learns_what_the_choice_of_a_mask_tells(mask_agnostic):
    before = {name: value.clone() for name, value in mask_agnostic.state_dict().items()}
    reader = fitted(MaskAwareReader(mask_agnostic, fitted(MaskDensityRatio(mask_agnostic), ENCODING)), ENCODING)
    assert accuracy(reader, ENCODING) > 0.95
    assert accuracy(mask_agnostic, ENCODING) < 0.65
    assert reader.strength > 0
    assert all(torch.equal(value, before[name]) for name, value in mask_agnostic.state_dict().items())


def test_where_the_choice_tells_nothing_the_two_readers_agree(mask_agnostic):
    reader = fitted(MaskAwareReader(mask_agnostic, fitted(MaskDensityRatio(mask_agnostic), BLIND)), BLIND)
    assert accuracy(reader, BLIND) < 0.62
    fresh = MaskAwareReader(mask_agnostic, MaskDensityRatio(mask_agnostic))
    assert torch.equal(fresh(X, BLIND).probs, mask_agnostic(X, BLIND).probs)  # it begins as the one that knows nothing


def test_odds_are_a_ratio_of_densities(mask_agnostic):
    # The last feature is shown where it is positive, else the second; dealt masks show either anywhere.
    chosen = HIDING.clone()
    chosen[:, 3] = X[:, 3] > 0
    chosen[:, 1] = X[:, 3] <= 0
    density = fitted(MaskDensityRatio(mask_agnostic), chosen)
    shown = HIDING[PARTS["test"]].clone()
    shown[:, 3] = True
    weights, high = density.weight(TEST.x, shown), TEST.x[:, 3] > 0
    assert weights[high].mean() == pytest.approx(2.0, rel=0.3)  # twice as often as dealt ones
    assert weights[~high].mean() < 0.3
    assert not weights.requires_grad


def test_padding_is_no_part_of_what_readers_see(mask_agnostic):
    valid = torch.ones(ROWS, COUNT).bool()
    valid[:, 3] = False
    mask = torch.rand(ROWS, COUNT) < 0.5
    density = MaskDensityRatio(mask_agnostic)
    reader = MaskAwareReader(mask_agnostic, density)
    for reading in (mask_agnostic, density, reader):
        one, two = reading(X, mask & valid, valid), reading(X, mask | ~valid)
        assert torch.equal(getattr(one, "logits", one), getattr(two, "logits", two))
    padded = Batch(X, TRIAL.target, valid=valid)
    assert not evaluator.shuffled_mask_sampler(mask, None)(padded)[~valid].any()


def test_an_evaluator_adapts_to_masks_dealt_to_anyone(mask_agnostic):
    adapted = mask_agnostic.adapted_to(ENCODING, TRAIN, VALIDATION)
    assert accuracy(adapted, ENCODING) < 0.65  # it knows what masks look like, not for whom they were chosen
    seen = []

    def weight(x, mask, valid):
        seen.append((len(x), mask.shape, valid))
        return torch.ones(len(x))

    mask_agnostic.adapted_to(ENCODING, TRAIN, VALIDATION, weight=weight)
    assert seen[0][1:] == ((seen[0][0], COUNT), None)
