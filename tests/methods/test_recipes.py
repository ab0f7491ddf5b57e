"""What makes each named method the method of its paper (methods.md, sections 0 and 6)."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy as torch_cross_entropy

from lexplain.core import Batch, Classes, as_target, seeded
from lexplain.estimators import Pathwise, Rebar, Reinforce, StraightThrough
from lexplain.features import Columns, Patches
from lexplain.imputers import Constant, GaussianMixture, IndependentGaussian, KMeansRows
from lexplain.masks import Bernoulli, ConcreteMax, TopK
from lexplain.methods import Parts, PredictorSchedule, Turns, basex, invase, l2x, lex, meed, realx, sufficient, vibi
from lexplain.models import Frozen, Trained
from lexplain.objectives import ToUniform
from lexplain.training import Settings, fit

COUNT, ROWS, CLASSES = 5, 40, 3
FEATURES, OUTPUTS = Columns().fit(np.random.default_rng(0).normal(size=(30, COUNT))), Classes(CLASSES)


def trial_of(context=False, progress=0.0):
    soft = torch.randn(ROWS, CLASSES).softmax(-1)
    return Batch(torch.randn(ROWS, COUNT), as_target(soft, real=False), context=soft if context else None, progress=progress)


def step_of(method, name):
    return next(step for phase in method.phases() for step in phase.steps if step.name == name)


def loss_of(method, name, batch, seed=0):
    with seeded(seed):
        return step_of(method, name).loss(batch)


def shake(module):
    for weight in module.parameters():
        weight.data += torch.randn_like(weight)


def masks_seen(method, name, batch):
    """The raw masks that a step shows to the imputer."""
    seen = []
    hook = method.imputer.register_forward_hook(lambda module, inputs, output: seen.append(inputs[1]))
    loss_of(method, name, batch)
    hook.remove()
    return seen


@pytest.mark.parametrize(
    ("recipe", "masks", "estimator", "imputer", "steps"),
    [
        (l2x, ConcreteMax, Pathwise, Constant, ["predictor", "selector"]),
        (vibi, ConcreteMax, Pathwise, Constant, ["predictor", "selector"]),
        (meed, ConcreteMax, Pathwise, Constant, ["predictor", "adversary", "selector"]),
        (invase, Bernoulli, Reinforce, Constant, ["predictor", "baseline", "selector"]),
        (basex, Bernoulli, Rebar, Constant, ["predictor", "selector"]),
        (realx, Bernoulli, Reinforce, Constant, ["predictor", "selector"]),
        (lex, TopK, StraightThrough, IndependentGaussian, ["predictor", "selector"]),
    ],
    ids=lambda part: getattr(part, "name", getattr(part, "__name__", "")),
)
def test_the_table_of_methods(recipe, masks, estimator, imputer, steps):
    method, batch = recipe(FEATURES, OUTPUTS), trial_of(recipe is meed)
    assert type(method.distribution(batch)) is masks
    assert type(method.plan.estimator) is estimator
    assert type(method.imputer) is imputer
    assert list(dict.fromkeys(step.name for phase in method.phases() for step in phase.steps)) == steps
    assert method.name == recipe.name


# ---- REAL-X and BASE-X ----


def test_a_predictor_may_start_alone_and_then_rest():
    method = realx(FEATURES, OUTPUTS)
    assert [[step.name for step in phase.steps] for phase in method.phases()] == [["predictor", "selector"]]
    method.plan.schedule = replace(method.plan.schedule, pretrain_share=0.25)
    assert [[step.name for step in phase.steps] for phase in method.phases()] == [["predictor"], ["predictor", "selector"]]
    assert [phase.share for phase in method.phases()] == [0.25, 0.75]
    method.plan.schedule = replace(method.plan.schedule, freeze=True)
    assert [[step.name for step in phase.steps] for phase in method.phases()] == [["predictor"], ["selector"]]


def test_no_epoch_counts_before_the_price_is_at_its_height():
    assert realx(FEATURES, OUTPUTS, warmup=0.3).phases()[-1].burn_in == 0.3
    assert basex(FEATURES, OUTPUTS, warmup=0).phases()[-1].burn_in == 0


def test_the_predictor_of_realx_never_sees_the_selectors_masks():
    method, batch = realx(FEATURES, OUTPUTS), trial_of()
    before = loss_of(method, "predictor", batch)
    shake(method.selector)
    assert loss_of(method, "predictor", batch) == before
    (masks,) = masks_seen(method, "predictor", Batch(torch.randn(4000, COUNT), as_target(torch.ones(4000, CLASSES) / CLASSES, real=False)))
    assert masks.dtype == torch.bool
    assert ((masks.float().mean(0) - 0.5).abs() < 5 * 0.5 / 4000**0.5).all()  # fair coins


def test_the_predictor_of_basex_learns_from_the_selectors_masks():
    method, batch = basex(FEATURES, OUTPUTS), trial_of()
    before = loss_of(method, "predictor", batch)
    shake(method.selector)
    assert loss_of(method, "predictor", batch) != before
    method.selector.offset.fill_(1e6)  # everything on
    (masks,) = masks_seen(method, "predictor", batch)
    assert masks.all()


@pytest.mark.parametrize("recipe", [realx, basex, invase])
def test_the_penalty_is_the_mean_of_the_probabilities(recipe):
    cheap, dear = (recipe(FEATURES, OUTPUTS, penalty=price) for price in (0.0, 10.0))
    dear.load_state_dict(cheap.state_dict())
    batch = replace(trial_of(), progress=1.0)  # the price is at its full height at the end
    rate = cheap.selector(batch.x).mean.mean()
    assert (loss_of(dear, "selector", batch) - loss_of(cheap, "selector", batch)).item() == pytest.approx(10 * rate.item(), rel=1e-3)


def test_frozen_realx_trains_the_selector_alone():
    method = realx(FEATURES, OUTPUTS, Parts(predictor=Frozen(nn.Linear(COUNT, CLASSES), OUTPUTS, to_raw=FEATURES.as_network_input)))
    (phase,) = method.phases()
    assert [step.name for step in phase.steps] == ["selector"]
    assert phase.share == 1
    loss_of(method, "selector", trial_of()).backward()
    assert all(weight.grad is None for weight in method.predictor.parameters())
    assert any(weight.grad.abs().sum() > 0 for weight in method.selector.parameters())


# ---- INVASE ----


class Spy(Reinforce):
    """REINFORCE that keeps the baseline it was handed."""

    def __call__(self, p, cost, baseline=None, *, group=1):
        object.__setattr__(self, "seen", baseline)
        return super().__call__(p, cost, baseline, group=group)


def test_the_baseline_of_invase_is_independent_of_masks():
    method, batch = invase(FEATURES, OUTPUTS), trial_of()
    method.plan.estimator = Spy(samples=1)
    loss_of(method, "selector", batch, seed=0)
    one = method.plan.estimator.seen
    logits = method.plan.baseline.network(torch.cat([batch.x, torch.ones_like(batch.x)], 1))
    assert torch.allclose(one, torch_cross_entropy(logits, batch.target.probs, reduction="none"), atol=1e-5)  # of full rows
    assert one.shape == (ROWS,)
    assert not one.requires_grad
    loss_of(method, "selector", batch, seed=1)
    assert torch.equal(method.plan.estimator.seen, one)
    shake(method.selector)
    shake(method.predictor)
    loss_of(method, "selector", batch)
    assert torch.equal(method.plan.estimator.seen, one)
    shake(method.plan.baseline)
    loss_of(method, "selector", batch)
    assert not torch.allclose(method.plan.estimator.seen, one)


def test_the_baseline_of_invase_is_a_network_of_its_own():
    method = invase(FEATURES, OUTPUTS)
    assert isinstance(method.plan.baseline, Trained)
    ours, critics = (dict(part.named_parameters()) for part in (method.plan.baseline, method.predictor))
    assert {key: value.shape for key, value in ours.items()} == {key: value.shape for key, value in critics.items()}
    assert not any(torch.equal(ours[key], critics[key]) for key in ours)  # and of other first weights
    loss_of(method, "baseline", trial_of()).backward()
    assert all(weight.grad is None for weight in method.predictor.parameters())
    assert all(weight.grad is not None for weight in method.plan.baseline.parameters())


# ---- MEED ----


def focused(method, name):
    method.eval().requires_grad_(False)
    step_of(method, name).module.train().requires_grad_(True)
    return method


def test_the_selectors_step_of_meed_leaves_predictor_and_adversary_alone():
    method, batch = meed(FEATURES, OUTPUTS), trial_of(context=True)
    focused(method, "selector")
    loss_of(method, "selector", batch).backward()
    assert all(weight.grad is None for part in (method.predictor, method.plan.adversary) for weight in part.parameters())
    assert all(weight.grad is not None for weight in method.selector.parameters())


def test_the_adversary_of_meed_reads_what_is_hidden():
    method, batch = meed(FEATURES, OUTPUTS), trial_of(context=True)
    (shown,) = masks_seen(focused(method, "predictor"), "predictor", batch)
    (hidden,) = masks_seen(focused(method, "adversary"), "adversary", batch)
    assert torch.allclose(hidden, 1 - shown)
    selected, unselected = masks_seen(focused(method, "selector"), "selector", batch)
    assert torch.allclose(unselected, 1 - selected)


def test_the_adversary_of_meed_learns_the_target_and_the_selector_the_opposite():
    method, batch = meed(FEATURES, OUTPUTS), trial_of(context=True)
    mask = torch.rand(1, 1, ROWS, COUNT) < 0.5
    said = method.predict(batch, ~mask, method.plan.adversary).probs[0, 0, 0].log()
    read = method.predict(batch, mask).probs[0, 0, 0].log()
    target = batch.target.probs
    told, confused = -(target * read).sum(1), -((1 - target) / (CLASSES - 1) * said).sum(1)
    assert torch.allclose(method.plan.cost(method, batch, mask)[0], told + confused, atol=1e-5)
    method.plan.adversary_weight = 0.25
    assert torch.allclose(method.plan.cost(method, batch, mask)[0], told + 0.25 * confused, atol=1e-5)
    method.selector.offset.fill_(0.0)
    with seeded(0):
        loss = method.plan._adversary_loss(method, batch)
    with seeded(0):
        masks = method.plan._training_masks(method, batch)
    said = method.predict(batch, 1 - masks, method.plan.adversary).probs[0, 0, 0].log()
    assert loss.item() == pytest.approx(-(target * said).sum(1).mean().item(), rel=1e-4)


def test_meed_uses_the_models_output():
    method, batch = meed(FEATURES, OUTPUTS).eval(), trial_of(context=True)
    assert method.reads_output
    one, _ = method.explain(batch.x, batch.context)
    two, _ = method.explain(batch.x, batch.context.flip(1))
    assert not torch.allclose(one, two)
    shown = method.selector.network.layers[0].weight[:, COUNT:]
    assert shown.shape[1] == CLASSES


def test_the_prior_of_meed_leads_in_training_alone_and_less_and_less():
    method, batch = meed(FEATURES, OUTPUTS), trial_of(context=True)
    own = method.selector.logits(batch.x, batch.context).softmax(-1)
    distances = []
    method.selector.train()
    for progress in (0.0, 0.5, 1.0):
        led = method.plan.distribution(method, replace(batch, progress=progress)).logits.softmax(-1)
        distances.append((led - own).abs().sum().item())
    assert distances[0] > distances[1] > distances[2] > 0
    method.selector.eval()
    assert torch.allclose(method.plan.distribution(method, batch).logits.softmax(-1), own, atol=1e-6)
    assert torch.allclose(method.explain(batch.x, batch.context)[0], method.plan.distribution(method, batch).scores, atol=1e-6)


def test_the_prior_of_meed_is_gradient_times_input():
    method, batch = meed(FEATURES, OUTPUTS), trial_of(context=True)
    x = batch.x.clone().requires_grad_()
    logs = method.predictor(x, torch.ones_like(x)).logits
    (slope,) = torch.autograd.grad(-(batch.target.probs * logs).sum(), x)
    assert torch.allclose(method.plan.prior.scores(batch), (x * slope).abs(), atol=1e-5)
    # It must favour what matters: the authors' code takes the softmax of minus this (methods.md 6.8).
    merged = method.plan.prior.merge(torch.zeros(ROWS, COUNT), batch)
    assert torch.equal(merged.argmax(1), (x * slope).abs().argmax(1))


# ---- VIBI, L2X, LEX ----


def test_vibi_is_l2x_with_a_price_on_information():
    plain, priced = l2x(FEATURES, OUTPUTS, keep=2), vibi(FEATURES, OUTPUTS, keep=2, compression=0.7)
    priced.load_state_dict(plain.state_dict())
    batch = trial_of()
    price = ToUniform(0.7)(replace(batch, p=plain.selector(batch.x))).mean()
    assert price > 0
    assert (loss_of(priced, "selector", batch) - loss_of(plain, "selector", batch)).item() == pytest.approx(
        price.item(), rel=1e-2, abs=1e-6
    )


def test_the_predictor_of_l2x_learns_from_soft_masks():
    (masks,) = masks_seen(l2x(FEATURES, OUTPUTS), "predictor", trial_of())
    assert masks.is_floating_point()
    assert ((masks > 0) & (masks < 1)).any()


def test_lex_joins_four_imputations_inside_the_log():
    method, batch = lex(FEATURES, OUTPUTS, keep=2), trial_of()
    (masks,) = masks_seen(method, "predictor", batch)
    assert masks.shape == (4 * ROWS, COUNT)
    assert (masks.sum(1) == 2).all()
    assert method.objective.likelihood.imputations_inside
    assert not method.predictor.sees_mask


# ---- sufficient ----


def gradients(module, loss):
    parameters = list(module.parameters())
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, parameters, retain_graph=True)])


def test_learning_together_moves_both_networks_as_turns_would():
    method, batch = sufficient(FEATURES, OUTPUTS, own_share=1.0), trial_of()
    method.plan.schedule = PredictorSchedule()  # the selector's own masks alone
    joint = loss_of(method, "selector", batch)
    method.plan = Turns(method.plan.estimator)
    turns = {part: loss_of(method, part, batch) for part in ("predictor", "selector")}
    for part, module in (("predictor", method.predictor), ("selector", method.selector)):
        torch.testing.assert_close(gradients(module, joint), gradients(module, turns[part]))


def test_the_rows_of_random_masks_teach_the_predictor_alone():
    method, batch = sufficient(FEATURES, OUTPUTS, own_share=0.25), trial_of()
    ran = []
    method.selector.register_forward_hook(lambda module, inputs, output: ran.append(inputs[0]))
    seen = masks_seen(method, "selector", batch)
    assert [len(mask) for mask in seen] == [ROWS // 4, ROWS - ROWS // 4]
    torch.testing.assert_close(torch.cat(ran), batch.x[: ROWS // 4])  # the selector runs on a quarter of the rows
    kept = method.distribution(batch).k
    assert (seen[0].sum(1).round() == kept).all()
    assert not (seen[1].sum(1) == kept).all()


@pytest.mark.parametrize("estimator", [Reinforce(samples=4), Rebar()], ids=lambda estimator: type(estimator).__name__)
def test_estimators_that_do_not_differentiate_the_cost_take_turns(estimator):
    steps = [[step.name for step in phase.steps] for phase in sufficient(FEATURES, OUTPUTS, estimator=estimator).phases()]
    assert steps == [["predictor", "selector"], ["predictor"]]
    together = sufficient(FEATURES, OUTPUTS)
    assert [[step.name for step in phase.steps] for phase in together.phases()] == [["selector"], ["predictor"]]


# ---- U-Nets ----


def test_the_scores_of_a_unet_cannot_show_or_hide_all_patches_at_once():
    images = Patches(2).fit(np.random.default_rng(0).random((10, 1, 8, 8), dtype=np.float32))
    for recipe in (l2x, vibi, meed, invase, basex, realx, lex):
        assert recipe(FEATURES, OUTPUTS).selector.spread is None  # dense layers score every feature by weights of its own
        selector = recipe(images, OUTPUTS).selector
        assert selector.spread is not None, recipe.name
        assert (selector.level is not None) == (recipe in (invase, basex, realx)), recipe.name  # masks whose size is learned


def test_realx_learns_patches_of_images_and_neither_keeps_all_nor_none():
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 200)
    x = draw.random((200, 1, 8, 8)).astype(np.float32) * 0.2
    x[np.arange(200), 0, 1 + 5 * y, 1] = 1.0  # the place of the bright pixel tells the class
    with seeded(0):
        method = realx(Patches(1).fit(x), Classes(2), penalty=2.0)
    rows = Batch(torch.from_numpy(x), as_target(torch.eye(2)[y], real=False))
    fit(method, method.phases(), rows, rows, Settings(epochs=15, batch_size=50))
    _, mask = method.eval().explain(rows.x)
    assert 0 < mask.double().mean() < 0.5
    decides = mask.reshape(-1, 8, 8)[:, [1, 6], 1]
    assert decides.any(1).double().mean() > 0.9


@pytest.mark.parametrize("recipe", [l2x, sufficient, invase, basex, realx])
def test_scores_have_the_requested_spread(recipe):
    scores = recipe(FEATURES, OUTPUTS, keep=2, spread=3.0).selector.logits(100 * torch.randn(ROWS, COUNT))
    torch.testing.assert_close(scores.std(1, correction=0), torch.full((ROWS,), 3.0), rtol=1e-2, atol=0)
    with pytest.raises(ValueError, match="spread"):
        recipe(FEATURES, OUTPUTS, keep=2, spread=-1.0)


@pytest.mark.parametrize("imputer", [GaussianMixture, KMeansRows])
def test_rebar_raises_for_an_imputer_that_jumps_with_a_soft_mask(imputer):
    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
    features = Columns().fit(x.numpy())
    method = basex(features, Classes(2), Parts(imputer=imputer.fit(x)))
    batch = Batch(x[:4], as_target(torch.eye(2)[[0, 1, 0, 1]], real=False))
    with pytest.raises(TypeError, match=rf"Rebar .*{imputer.__name__}.*Reinforce"):
        method.check_parts(batch)
    realx(features, Classes(2), Parts(imputer=imputer.fit(x))).check_parts(batch)  # Reinforce needs no relaxation
