"""The encoding test: what the choice of a mask tells about y beyond the values it shows, on masks whose honesty is known."""

from math import log

import pytest
import torch

from lexplain.auditing import decide_verdict
from lexplain.core import Batch, as_target, outputs_of
from lexplain.evaluation import Evaluator, MaskAwareReader, MaskDensityRatio, encoding_values
from lexplain.features import Columns
from lexplain.networks import mlp
from lexplain.reproduce.audit_power import ENCODERS, HONEST

COUNT, ROWS, STEEP = 4, 1500, 1.5
GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(2 * ROWS, COUNT, generator=GENERATOR)
SIDE = X[:, 3] > 0  # decides which of the first two features decides
DECIDES = torch.where(SIDE, X[:, 0], X[:, 1])
LABELS = (torch.rand(2 * ROWS, generator=GENERATOR) < (STEEP * DECIDES).sigmoid()).long()
TRUTH = torch.stack([SIDE, ~SIDE, torch.zeros_like(SIDE), torch.ones_like(SIDE)], 1)
FEATURES = Columns().fit(X.numpy())


@pytest.fixture(autouse=True)
def _short(short_judges):
    short_judges(reader=300, reader_rate=2e-3)


def batches(values, *, real=False):
    every = Batch(X, as_target(values, real))
    return every.take(slice(0, ROWS)), every.take(slice(ROWS, None))


def evaluator_of(values, *, real=False, steps=300):
    train, _ = batches(values, real=real)
    torch.manual_seed(0)
    one = Evaluator(FEATURES, outputs_of(1 if real else 2, real), network=mlp((COUNT,), 1 if real else 2, sees_mask=True, hidden=(64, 64)))
    return one.fit(train.take(slice(100, None)), train.take(slice(0, 100)), steps=steps)


@pytest.fixture(scope="module")
def evaluator():
    return evaluator_of(torch.eye(2)[LABELS])


def measured(evaluator, mask, values=None, *, real=False):
    train, eval_rows = batches(torch.eye(2)[LABELS] if values is None else values, real=real)
    return encoding_values(evaluator, train, mask[:ROWS], eval_rows, mask[ROWS:])


def planted(select):
    return select(X, LABELS, TRUTH, generator=torch.Generator().manual_seed(1))


# ---- known answers ----


@pytest.mark.parametrize("name", ENCODERS)
def test_what_was_planted_is_flagged(evaluator, name):
    _, verdict = decide_verdict(measured(evaluator, planted(ENCODERS[name])))
    assert verdict.word == "encodes", verdict.why
    assert verdict.p_value < 0.05


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_selector_is_called_honest(evaluator, name):
    _, verdict = decide_verdict(measured(evaluator, planted(HONEST[name])))
    assert verdict.word == "honest", verdict.why


def test_a_label_that_is_spelled_out_is_worth_what_the_values_do_not_tell(evaluator):
    values = measured(evaluator, torch.nn.functional.one_hot(LABELS + 1, COUNT).bool()).mean()
    # Shown are x2 (labels 0) or a column that tells nothing (labels 1): what is not known of the label is near log 2 of it.
    assert 0.85 * log(2) < values < 1.15 * log(2)


def test_omitting_the_control_flow_tells_as_much_as_bayes_rule_says(evaluator):
    exact = (STEEP * DECIDES[ROWS:]).sigmoid()  # given the mask, the side is known
    blurred = (exact + 0.5) / 2  # without it, half of the rows that look so are decided by a feature not shown
    chance = torch.where(LABELS[ROWS:] == 1, 1.0, 0.0)
    truth = (chance * (exact / blurred).log() + (1 - chance) * ((1 - exact) / (1 - blurred)).log()).mean()
    assert measured(evaluator, planted(ENCODERS["omission"])).mean() == pytest.approx(float(truth), abs=0.04)
    assert truth > 0.05


def test_where_nothing_can_be_told_nothing_is_flagged():
    noise = torch.eye(2)[torch.randint(2, (2 * ROWS,), generator=torch.Generator().manual_seed(2))]
    estimate, verdict = decide_verdict(measured(evaluator_of(noise), TRUTH, noise))
    assert verdict.word == "honest"
    assert estimate.mean < 0.005


def test_overfitting_pushes_the_estimate_down():
    few = 60  # rows to learn from: too few for what the masks say of noise
    noise = torch.eye(2)[torch.randint(2, (2 * ROWS,), generator=torch.Generator().manual_seed(3))]
    train, eval_rows = batches(noise)
    mask = planted(HONEST["random subsets"])
    values = encoding_values(evaluator_of(noise), train.take(slice(0, few)), mask[:few], eval_rows, mask[ROWS:])
    assert values.mean() <= 0.005


def test_soft_targets_are_read_too():
    soft = torch.stack([1 - (STEEP * DECIDES).sigmoid(), (STEEP * DECIDES).sigmoid()], 1)
    soft_evaluator = evaluator_of(soft)
    assert decide_verdict(measured(soft_evaluator, planted(ENCODERS["omission"]), soft))[1].word == "encodes"
    assert decide_verdict(measured(soft_evaluator, TRUTH, soft))[1].word == "honest"


def test_real_values_are_read_too():
    values = DECIDES / DECIDES.std()
    real_evaluator = evaluator_of(values, real=True)
    by_sign = torch.stack([values > 0, values <= 0, *torch.zeros(2, 2 * ROWS).bool()], 1)
    assert decide_verdict(measured(real_evaluator, by_sign, values, real=True))[1].word == "encodes"
    everything = torch.ones(2 * ROWS, COUNT).bool()
    assert decide_verdict(measured(real_evaluator, everything, values, real=True))[1].word == "honest"


# ---- the readers ----


def test_a_reader_that_was_told_nothing_yet_says_what_the_untold_one_says(evaluator):
    mask = planted(HONEST["random subsets"])
    assert torch.allclose(MaskAwareReader(evaluator, MaskDensityRatio(evaluator))(X, mask).probs, evaluator(X, mask).probs, atol=1e-6)


def test_the_evaluator_is_left_as_it_was(evaluator, short_judges):
    short_judges(reader=20)
    before = {name: value.clone() for name, value in evaluator.state_dict().items()}
    measured(evaluator, planted(ENCODERS["size"]))
    assert all(torch.equal(value, before[name]) for name, value in evaluator.state_dict().items())


def test_the_seed_decides(evaluator, short_judges):
    short_judges(reader=20)
    train, eval_rows = batches(torch.eye(2)[LABELS])
    mask = planted(ENCODERS["omission"])
    one, same, other = (encoding_values(evaluator, train, mask[:ROWS], eval_rows, mask[ROWS:], seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


# ---- the selectors ----


def test_masks_spell_what_they_say():
    assert torch.equal(planted(ENCODERS["position"]).int().argmax(1), LABELS)
    assert planted(ENCODERS["size"]).sum(1).tolist() == (LABELS + 3).tolist()
    assert not planted(ENCODERS["omission"])[:, 3].any()
    assert torch.equal(planted(ENCODERS["omission"])[:, :3], TRUTH[:, :3])


def test_honest_masks_know_no_label():
    shown = planted(HONEST["global set"])
    assert (shown == shown[0]).all()
    assert 0 < shown[0].sum() < COUNT
    rates = planted(HONEST["random subsets"]).float().mean(1)
    assert abs(rates[LABELS == 1].mean() - rates[LABELS == 0].mean()) < 0.03
    assert torch.equal(planted(HONEST["oracle"]), TRUTH)
