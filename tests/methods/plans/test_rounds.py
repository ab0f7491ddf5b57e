"""Learning by rounds: what each phase sees, and where the threshold goes."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch
from torch import nn

from lexplain.core import Batch, Classes, RealValue, as_target
from lexplain.estimators import MarginalGains
from lexplain.features import Columns
from lexplain.imputers import IndependentGaussian
from lexplain.methods import MIN_GAIN, Parts, Rounds, gains, prediction_information
from lexplain.models import Frozen
from lexplain.training import Settings, fit

COUNT = 4
X = torch.randn(400, COUNT, generator=torch.Generator().manual_seed(0))
FEATURES = Columns().fit(X.numpy())
OUTPUTS = Classes(2)
SIGNS = torch.eye(2)[(X[:, 0] > 0).long()]  # the first feature decides
TRIAL = Batch(X, as_target(SIGNS, real=False))
DRAWN = Parts(imputer=IndependentGaussian())


class FirstColumn(nn.Module):
    """A network that reads one column."""

    def forward(self, x):
        return torch.stack([-3 * x[:, 0], 3 * x[:, 0]], 1)


def frozen(**more):
    method = gains(FEATURES, OUTPUTS, Parts(predictor=Frozen(FirstColumn(), OUTPUTS, to_raw=lambda x: x)), **more)
    return method.eval()


def test_the_change_of_a_mask_is_a_kl_divergence():
    method, batch = frozen(), TRIAL.take(slice(0, 50))
    masks = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 1, 1]]).bool()[:, None, None].expand(3, 1, 50, COUNT)
    torch.manual_seed(0)
    change = method.kl_to_full(batch, masks)
    torch.manual_seed(0)
    drawn = torch.randn_like(batch.x)
    p, q = FirstColumn()(batch.x).log_softmax(1), FirstColumn()(drawn).log_softmax(1)
    assert torch.allclose(change[:2], torch.zeros(2, 50), atol=1e-5)  # the column that is read is shown
    assert torch.allclose(change[2], (p.exp() * (p - q)).sum(1), atol=1e-4)


def test_masks_of_a_row_meet_the_same_draws():
    method, batch = frozen(), TRIAL.take(slice(0, 20))
    masks = torch.zeros(2, 1, 20, COUNT).bool()
    one, two = method.kl_to_full(batch, masks)
    assert torch.equal(one, two)


def test_knowledge_is_the_information_about_a_deterministic_target():
    sharp = gains(FEATURES, OUTPUTS, Parts(predictor=Frozen(FirstColumn(), OUTPUTS, to_raw=lambda x: 100 * x))).eval()
    assert prediction_information(sharp, TRIAL) == pytest.approx(log(2), abs=0.02)
    real = RealValue()
    line = gains(FEATURES, real, Parts(predictor=Frozen(nn.Linear(COUNT, 1), real, to_raw=lambda x: x))).eval()
    output = line.predictor(X, torch.ones_like(X).bool()).loc
    assert prediction_information(line, TRIAL) == pytest.approx(float(output.var(correction=0)) / 2, rel=1e-3)


def test_goals_are_high_where_the_model_looks():
    method = frozen()
    torch.manual_seed(0)
    goals = method.phases()[0].make_aux_targets(TRIAL.take(slice(0, 50)), 10_000)
    assert goals.shape == (50, COUNT)
    assert (goals[:, 1:] == goals.min()).all()
    assert goals.min().item() == pytest.approx(log(MIN_GAIN))
    assert (goals[:, 0] > log(0.01)).float().mean() > 0.9


def test_the_work_may_be_split():
    method, batch = frozen(plan=Rounds(MarginalGains(draws=400), price=0.01)), TRIAL.take(slice(0, 12))
    whole, parts = (method.phases()[0].make_aux_targets(batch, rows)[:, 0].exp() for rows in (10_000, 7))
    assert torch.allclose(whole, parts, rtol=0.35)


@pytest.mark.parametrize("trained", [True, False])
def test_the_phases_alternate(trained):
    method = gains(FEATURES, OUTPUTS, plan=Rounds(MarginalGains(), rounds=2)) if trained else frozen(plan=Rounds(MarginalGains(), rounds=2))
    names = [phase.steps[0].name for phase in method.phases()]
    assert names == (["predictor", "selector"] * 3 if trained else ["selector"] * 3)
    usual = gains(FEATURES, OUTPUTS) if trained else frozen(plan=Rounds(MarginalGains()))
    assert sum(phase.share for phase in usual.phases()) == pytest.approx(1)
    assert len(method.phases()) < len(usual.phases()) and sum(phase.share for phase in method.phases()) < 1  # fewer rounds, less time
    resting = gains(FEATURES, OUTPUTS, plan=Rounds(MarginalGains(), rounds=2, freeze=True))
    assert [phase.steps[0].name for phase in resting.phases()] == ["predictor", "selector", "selector", "selector"]


def test_wide_tables_take_more_rounds():
    wide = Columns().fit(np.random.default_rng(0).normal(size=(30, 200)))
    assert len(gains(wide, OUTPUTS).phases()) > len(gains(FEATURES, OUTPUTS).phases())


def test_no_round_drops_more_than_half_of_what_is_left():
    method = frozen(plan=Rounds(MarginalGains(draws=2), price=0.2))
    for place, phase in enumerate(method.phases()[:2]):
        goals = phase.make_aux_targets(TRIAL, 10_000)
        assert (goals >= -method.selector.offset).float().mean() >= 0.5 ** (place + 1)


def test_the_price_applies_to_each_feature():
    method = frozen(penalty=0.08)
    for phase in method.phases():
        phase.make_aux_targets(TRIAL, 10_000)
    assert method.selector.offset.item() == pytest.approx(-log(0.08 / COUNT), abs=1e-4)


def test_the_predictor_sees_what_is_worth_its_share_of_the_price():
    seen = []
    method = gains(FEATURES, OUTPUTS, DRAWN, plan=Rounds(MarginalGains(), rounds=1, slack=0.5, price=0.1, whole=0.0))
    method.imputer.register_forward_hook(lambda module, inputs, output: seen.append(inputs[1]))
    shown = []
    method.predictor.network.register_forward_pre_hook(lambda module, inputs: shown.append(inputs[0]))
    method.selector.offset.fill_(-log(0.1))
    logged = torch.tensor([0.2, 0.06, 0.04, 0.01]).log()
    method.selector.network = Always(logged)
    first, later = method.phases()[0], method.phases()[2]
    first.steps[0].loss(TRIAL)
    later.steps[0].loss(replace(TRIAL, aux_target=later.make_aux_targets(TRIAL, 150)))
    assert torch.equal(shown[0], TRIAL.x)  # the first sees all
    assert torch.equal(seen[0], torch.tensor([True, True, False, False]).expand(400, COUNT))
    assert torch.equal(shown[1][:, :2], TRIAL.x[:, :2])
    assert not (shown[1][:, 2:] == TRIAL.x[:, 2:]).any()


def test_a_share_of_the_rows_is_shown_whole_while_a_later_predictor_learns():
    seen = []
    method = gains(FEATURES, OUTPUTS, DRAWN, plan=Rounds(MarginalGains(), rounds=1, whole=0.25))
    method.imputer.register_forward_hook(lambda module, inputs, output: seen.append(inputs[1]))
    step, batch = method.phases()[2].steps[0], replace(TRIAL, aux_target=-torch.ones(400, COUNT))  # nothing is worth its price
    torch.manual_seed(0)
    for _ in range(5):
        step.loss(batch)
    step.validation_loss(batch)
    *learning, checked = seen
    assert all((mask.any(1) == mask.all(1)).all() for mask in seen), "a row is whole, or as its explanation has it"
    assert torch.stack([mask.all(1) for mask in learning]).double().mean() == pytest.approx(0.25, abs=0.03)
    assert not torch.equal(learning[0], learning[1]), "other rows at every step"
    assert not checked.any(), "rows are checked as they are explained"


def test_a_row_teaches_as_many_members_as_it_is_told_to():
    shown = []
    plan = Rounds(MarginalGains(), rounds=1, members_per_row=3)
    method = gains(FEATURES, OUTPUTS, DRAWN, plan=plan)
    method.predictor.network.register_forward_pre_hook(lambda module, inputs: shown.append(inputs[0]))
    first, later = method.phases()[0].steps[0], method.phases()[2].steps[0]
    first.loss(TRIAL)
    later.loss(replace(TRIAL, aux_target=torch.tensor([1.0, 1.0, -1.0, -1.0]).expand(400, COUNT)))
    assert torch.equal(shown[0], TRIAL.x.repeat(3, 1))
    assert torch.equal(shown[1][:, :2], TRIAL.x[:, :2].repeat(3, 1))
    assert not torch.equal(shown[1][:400], shown[1][400:800])  # each member resamples what is hidden
    assert first.model_rows_per_row == 3
    first.validation_loss(TRIAL)
    assert len(shown[-1]) == 400  # one prediction per row is enough for validation


def test_the_loss_is_the_cross_entropy_of_the_target():
    method = gains(FEATURES, OUTPUTS, plan=Rounds(MarginalGains(), rounds=1)).eval()
    with torch.no_grad():
        output = method.predictor.network(TRIAL.x).log_softmax(1)
        assert float(method.phases()[0].steps[0].loss(TRIAL)) == pytest.approx(float(-(SIGNS * output).sum(1).mean()), rel=1e-5)


def test_a_price_that_is_chosen_later_is_settled_at():
    method = gains(FEATURES, OUTPUTS, DRAWN, plan=Rounds(MarginalGains(draws=2))).eval()
    predictor, selector = method.plan.extra_round(method, 0.3)
    assert [phase.steps[0].name for phase in (predictor, selector)] == ["predictor", "selector"]
    assert predictor.share + selector.share < 0.25
    method.predictor.network = nn.Sequential(FirstColumn())
    selector.make_aux_targets(TRIAL, 10_000)
    assert float(method.selector.offset) == pytest.approx(-log(0.3))


class Always(nn.Module):
    """A network that says the same of every row."""

    def __init__(self, values):
        super().__init__()
        self.values = values

    def forward(self, x):
        return self.values.expand(len(x), -1)


def test_it_finds_the_feature_that_decides():
    torch.manual_seed(0)
    method = gains(FEATURES, OUTPUTS)
    fit(method, method.phases(), TRIAL.take(slice(0, 360)), TRIAL.take(slice(360, None)), Settings(epochs=150, batch_size=60))
    _, mask = method.eval().explain(X)
    shares = mask.float().mean(0)
    assert shares[0] > 0.9
    assert shares[1:].max() < 0.2


def test_padding_is_left_as_it_is():
    shown, valid = [], torch.ones(400, COUNT).bool()
    valid[:200, 2:] = False
    method = gains(FEATURES, OUTPUTS, DRAWN, plan=Rounds(MarginalGains(), whole=0.0))
    method.predictor.network.register_forward_pre_hook(lambda module, inputs: shown.append(inputs[0]))
    for phase in method.phases()[:3:2]:
        phase.steps[0].loss(replace(TRIAL, valid=valid, aux_target=-torch.ones(400, COUNT)))  # nothing is worth its price
    first, later = shown
    assert torch.equal(first, X)
    assert torch.equal(later[~valid], X[~valid])
    assert not (later == X)[valid].any()


def test_padding_has_no_gain_and_moves_no_threshold():
    valid = torch.ones(400, COUNT).bool()
    valid[:, 2:] = False
    method, narrow = frozen(), frozen()
    batch = replace(TRIAL, valid=valid)
    goals = method.phases()[0].make_aux_targets(batch, 10_000)
    assert goals[~valid].unique().tolist() == [pytest.approx(log(MIN_GAIN))]
    needed = float(np.quantile(goals[valid].numpy(), 0.5))  # half of what is left, of which padding is none
    assert -float(method.selector.offset) == pytest.approx(min(needed, log(0.025 * prediction_information(method, batch))), rel=1e-5)
    step = narrow.phases()[0].steps[0]
    one, two = (step.loss(replace(batch, aux_target=torch.where(valid, goals, padded))) for padded in (0.0, 9.0))
    assert torch.equal(one, two)
