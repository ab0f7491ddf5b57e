"""What every method promises. A new method in METHODS is tested here without another line."""

import copy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from estimators.enumeration import Enumeration
from lexplain.core import Batch, Classes, RealValue, as_target, seeded
from lexplain.estimators import Disarm, Pathwise, Rebar, Reinforce
from lexplain.features import Columns, Groups
from lexplain.imputers import Constant, Gaussian, IndependentGaussian, Marginal
from lexplain.masks import Bernoulli, ConcreteMax, TopK
from lexplain.methods import METHODS, Method, Parts, Turns, realx
from lexplain.models import BlackBox, Frozen, Trained
from lexplain.networks import MLP, Selector, mlp
from lexplain.objectives import Continuity, Likelihood, Objective, Sparsity
from lexplain.training import Settings, fit

COUNT, ROWS = 5, 12
TABLE = torch.randn(80, COUNT, generator=torch.Generator().manual_seed(0)) @ (torch.eye(COUNT) + 0.4)
FEATURES = Columns().fit(TABLE.numpy())
TASKS = {"labels": Classes(3), "soft targets": Classes(3), "real values": RealValue()}
IMPUTERS = {
    "constant": lambda: Constant(0.0),
    "independent gaussian": lambda: IndependentGaussian(),
    "gaussian": lambda: Gaussian.fit(TABLE),
    "marginal": lambda: Marginal.fit(TABLE),
}


def trial_of(task, rows=ROWS, valid=None):
    outputs = TASKS[task]
    if outputs.real:
        values = torch.randn(rows)
    else:
        values = torch.randn(rows, 3).softmax(-1)
        values = values if task == "soft targets" else torch.eye(3)[values.argmax(1)]
    context = values[:, None] if outputs.real else values
    goal = torch.randn(rows, COUNT)
    return Batch(torch.randn(rows, COUNT), as_target(values, outputs.real), valid=valid, context=context, aux_target=goal)


def built(name, task="labels", *, keep=None, **parts):
    return METHODS[name](FEATURES, TASKS[task], Parts(**parts), keep=keep)


def for_method(method, batch):
    """Only a method that reads the output is shown it."""
    return batch if method.reads_output else replace(batch, context=None)


def steps_of(method):
    return [step for phase in method.phases() for step in phase.steps]


def focus(method, step):
    """As the training loop does: one part trains, the others rest."""
    method.eval().requires_grad_(False)
    step.module.train().requires_grad_(True)


def explained(method, batch):
    return method.explain(batch.x, batch.context if method.reads_output else None, batch.valid)


def black_box(outputs=TASKS["labels"]):
    return BlackBox(lambda rows: np.full((len(rows), outputs.count), 1 / outputs.count), outputs, decode=FEATURES.decode)


# ---- training ----


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", METHODS)
def test_every_step_trains_its_module_and_no_other(name, task):
    method = built(name, task)
    batch = for_method(method, trial_of(task))
    method.check_parts(batch)
    steps = steps_of(method)
    learned = [step.name for phase in method.phases() if phase.name != "polish" for step in phase.steps]
    assert learned[-1] == "selector"
    assert sum(phase.share for phase in method.phases()) == pytest.approx(1)
    for step in steps:
        focus(method, step)
        method.zero_grad()
        optimiser = torch.optim.SGD(step.module.parameters(), lr=0.1)
        before = {key: value.clone() for key, value in method.state_dict().items()}
        loss = step.loss(batch)
        assert loss.shape == ()
        assert loss.isfinite()
        loss.backward()
        optimiser.step()
        own = {id(weight) for weight in step.module.parameters()}
        for key, weight in method.named_parameters():
            moved = not torch.equal(weight, before[key])
            assert (weight.grad is not None) == (id(weight) in own), f"{step.name} and {key}"
            assert moved <= (id(weight) in own), f"{step.name} moved {key}"
        assert all(weight.grad.isfinite().all() for weight in step.module.parameters())
        assert any(weight.grad.abs().sum() > 0 for weight in step.module.parameters())
        with torch.no_grad():
            assert step.validation_loss(batch).isfinite()


@pytest.mark.parametrize("name", METHODS)
def test_only_the_selectors_step_teaches_the_selector(name):
    # Even where nothing rests: a predictor's loss must not pull the selector along.
    method = built(name)
    batch = for_method(method, trial_of("labels"))
    for step in (step for step in steps_of(method) if step.name != "selector"):
        method.train().requires_grad_(True)
        method.zero_grad()
        step.loss(batch).backward()
        assert all(weight.grad is None for weight in method.selector.parameters()), step.name


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_loss(name):
    method = built(name)
    batch = for_method(method, trial_of("labels"))
    for step in steps_of(method):
        focus(method, step)
        values = []
        for seed in (0, 0):
            with seeded(seed):
                values.append(step.loss(batch).item())
        assert values[0] == values[1]


@pytest.mark.parametrize("name", METHODS)
def test_rows_in_flight_are_as_many_as_the_step_says(name):
    method = built(name)
    batch, seen = for_method(method, trial_of("labels")), []
    for predictor in {method.predictor, getattr(method.plan, "adversary", None), getattr(method.plan, "baseline", None)} - {None}:
        predictor.register_forward_hook(lambda module, inputs, output: seen.append(len(inputs[0])))
    for step in steps_of(method):
        seen.clear()
        step.loss(batch)
        together = isinstance(step.module, nn.ModuleList)  # its own rows and those of random masks are in flight side by side
        most = sum(seen) if together else max(seen, default=ROWS * step.model_rows_per_row)  # a regression on goals asks no predictor
        assert most == ROWS * step.model_rows_per_row, step.name


@pytest.mark.parametrize("name", METHODS)
def test_padding_is_never_kept_and_never_filled(name):
    valid = torch.ones(ROWS, COUNT).bool()
    valid[: ROWS // 2, 3:] = False
    method, seen = built(name, imputer=IndependentGaussian()), []
    batch = for_method(method, trial_of("labels", valid=valid))
    method.imputer.register_forward_hook(lambda module, inputs, output: seen.append((*inputs, output)))
    for step in steps_of(method):
        if step.name != "baseline":
            focus(method, step)
            step.loss(batch)
    assert seen
    x, shown, filled = (torch.cat([part.detach().reshape(-1, COUNT) for part in parts]) for parts in zip(*seen, strict=True))
    padding = ~valid.repeat(len(shown) // ROWS, 1)  # a batch may come in parts, but every row comes as often
    assert (shown[padding] == 1).all()  # there is nothing to hide
    assert torch.equal(filled[padding], x[padding])
    assert not (shown[~padding] == 1).all()
    scores, mask = explained(method, batch)
    assert not scores[~valid].any()
    assert not mask[~valid].any()


@pytest.mark.parametrize("name", METHODS)
def test_what_is_padded_changes_no_prediction(name):
    valid = torch.ones(ROWS, COUNT).bool()
    valid[:, 3:] = False
    method, x, mask = built(name).eval(), torch.randn(ROWS, COUNT), torch.rand(ROWS, COUNT) < 0.5
    with seeded(0):
        one = method.probabilities(x, mask & valid, valid)
    with seeded(0):
        two = method.probabilities(x, mask | ~valid)
    assert torch.equal(one, two)


@pytest.mark.parametrize("imputer", IMPUTERS)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_meets_every_imputer(name, imputer):
    method = built(name, imputer=IMPUTERS[imputer]())
    batch = for_method(method, trial_of("labels"))
    for step in steps_of(method):
        focus(method, step)
        loss = step.loss(batch)
        loss.backward()
        assert loss.isfinite()
        assert all(weight.grad.isfinite().all() for weight in step.module.parameters())


@pytest.mark.parametrize(("estimator", "imputer"), [*((Rebar(), name) for name in IMPUTERS), (Reinforce(samples=4), "gaussian")], ids=str)
def test_the_selectors_gradient_is_unbiased_whatever_the_imputer(estimator, imputer):
    # The slow twin: the mean cost of each of the 8 masks over many imputations, weighed by the masks' probabilities.
    rows, count = 60_000, 3
    network = nn.Sequential(nn.Linear(count, 16), nn.Tanh(), nn.Linear(16, 2))
    for weight in network.parameters():
        weight.data *= 2.5  # bent enough for soft masks to cost something else
    covariance = torch.tensor([[1.0, 0.8, 0.5], [0.8, 1.0, 0.3], [0.5, 0.3, 1.0]])
    table = torch.randn(200, count) @ torch.linalg.cholesky(covariance).T
    own = {"gaussian": Gaussian(torch.zeros(count), covariance), "marginal": Marginal(table)}
    part = own.get(imputer) or IMPUTERS[imputer]()
    features = Columns().fit(table.numpy())
    parts = Parts(predictor=Trained(network, Classes(2), sees_mask=False), imputer=part)
    method = realx(features, Classes(2), parts).requires_grad_(False)
    batch = Batch(torch.tensor([1.5, -1.0, 0.7]).expand(rows, count), as_target(torch.tensor([[1.0, 0.0]]).expand(rows, 2), real=False))
    logits, exact = torch.tensor([0.3, -0.4, 0.6]).requires_grad_(), 0.0
    for mask in product([False, True], repeat=count):
        cost = method.plan.cost(method, batch, torch.tensor(mask).expand(1, 1, rows, count)).mean()
        exact = exact + Bernoulli(logits[None]).log_prob(torch.tensor([mask])).exp()[0] * cost
    (needed,) = torch.autograd.grad(exact, logits)
    many = logits.detach().repeat(rows, 1).requires_grad_()
    loss = estimator(Bernoulli(many, temperature=0.5), lambda masks: method.plan.cost(method, batch, masks))
    got = torch.autograd.grad(loss, many)[0] * rows
    error = got.std(0) / rows**0.5
    assert error.max() < 0.05 * needed.abs().max()
    assert ((got.mean(0) - needed).abs() < 6 * error).all(), f"got {got.mean(0)}, needed {needed}, error {error}"


@pytest.mark.parametrize("name", ["realx", "lex"])
def test_learns_the_one_feature_that_decides(name):
    x = torch.randn(600, 4)
    target = as_target(torch.eye(2)[(x[:, 2] > 0).long()], real=False)
    features, outputs = Columns().fit(x.numpy()), Classes(2)
    predictor = Trained(mlp((4,), 2, sees_mask=True, hidden=(16,)), outputs, sees_mask=True)
    method = METHODS[name](features, outputs, Parts(selector=MLP((4,), 4, hidden=(16,)), predictor=predictor), keep=1)
    for phase in method.phases():
        optimisers = [torch.optim.Adam(step.module.parameters(), lr=0.03) for step in phase.steps]
        for _ in range(60):
            batch = Batch(x, target, progress=1.0).take(torch.randint(600, (100,)))
            for step, optimiser in zip(phase.steps, optimisers, strict=True):
                focus(method, step)
                optimiser.zero_grad()
                step.loss(batch).backward()
                optimiser.step()
    method.eval()
    scores, mask = method.explain(x)
    assert mask[:, 2].float().mean() > 0.9
    assert (scores.argmax(1) == 2).float().mean() > 0.9
    right = method.probabilities(x, mask).argmax(1) == target.probs.argmax(1)
    assert right.float().mean() > 0.9


# ---- explaining ----


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", METHODS)
def test_an_explanation_is_a_score_and_a_mask_of_each_feature(name, task):
    method, batch = built(name, task).eval(), trial_of(task)
    scores, mask = explained(method, batch)
    assert scores.shape == mask.shape == (ROWS, COUNT)
    assert scores.dtype == torch.float32
    assert mask.dtype == torch.bool
    assert ((scores >= 0) & (scores <= 1)).all()
    kept, left = scores.masked_fill(~mask, 2).min(1).values, scores.masked_fill(mask, -1).max(1).values
    assert (kept >= left).all()  # what is kept scores no lower than what is not


@pytest.mark.parametrize("keep", [1, 2, COUNT - 1])
@pytest.mark.parametrize("name", METHODS)
def test_keep_k_keeps_exactly_k_of_every_row(name, keep):
    method = built(name, keep=keep).eval()
    for weights in (None, 0.0):  # with all weights 0 every score is tied
        if weights is not None:
            for weight in method.selector.parameters():
                weight.data.fill_(weights)
        assert (explained(method, trial_of("labels", rows=200))[1].sum(1) == keep).all()


@pytest.mark.parametrize("name", METHODS)
def test_a_row_is_explained_alone(name):
    method, batch = built(name).eval(), trial_of("labels")
    scores, mask = explained(method, batch)
    for i in range(ROWS):
        alone = explained(method, batch.take(slice(i, i + 1)))
        assert torch.allclose(alone[0][0], scores[i], atol=1e-5)
        assert torch.equal(alone[1][0], mask[i])


@pytest.mark.parametrize("imputer", IMPUTERS)
@pytest.mark.parametrize("name", METHODS)
def test_a_row_is_predicted_alone(name, imputer):
    method, x, mask = built(name, imputer=IMPUTERS[imputer]()).eval(), torch.randn(ROWS, COUNT), torch.rand(ROWS, COUNT) < 0.5
    with seeded(0):
        together = method.probabilities(x, mask)
    assert together.shape == (ROWS, 3)
    assert torch.allclose(together.sum(1), torch.ones(ROWS), atol=1e-5)
    for i in (0, 5):
        with seeded(0):
            alone = method.probabilities(x[i : i + 1], mask[i : i + 1])
        assert torch.allclose(alone[0], together[i], atol=1e-5)
    beside, shown = torch.cat([x[:1], 9 * torch.randn(4, COUNT)]), torch.cat([mask[:1], ~mask[:4]])
    with seeded(0):
        others = method.probabilities(beside, shown)
    assert torch.allclose(others[0], together[0], atol=1e-5)


@pytest.mark.parametrize("imputer", IMPUTERS)
def test_a_prediction_knows_nothing_of_what_is_hidden(imputer):
    method, x, mask = built("realx", imputer=IMPUTERS[imputer]()).eval(), torch.randn(ROWS, COUNT), torch.rand(ROWS, COUNT) < 0.5
    with seeded(0):
        one = method.probabilities(x, mask)
    with seeded(0):
        two = method.probabilities(torch.where(mask, x, 9.0), mask)
    with seeded(0):
        three = method.probabilities(torch.where(mask, 9.0, x), mask)
    assert torch.allclose(one, two, atol=1e-5)
    assert not torch.allclose(one, three, atol=1e-2)


def test_a_prediction_averages_probabilities_over_imputations():
    table, outputs = torch.tensor([[0.0], [1.0]]), Classes(2)

    class Certain(nn.Module):
        def forward(self, filled):
            return torch.cat([200 * filled - 100, 100 - 200 * filled], 1)

    predictor = Trained(Certain(), outputs, sees_mask=False)
    method = realx(Columns().fit(table.numpy()), outputs, Parts(predictor=predictor, imputer=Marginal(table)))
    said = method.probabilities(torch.full((3, 1), 0.5), torch.zeros(3, 1).bool())
    # Each imputation is certain of one class: the mean of probabilities is their share, the mean of logs would be certain too.
    assert ((said > 0.05) & (said < 0.95)).all()
    assert torch.allclose(said * 20, (said * 20).round(), atol=1e-4)  # 20 draws
    assert torch.equal(said, said[:1].expand(3, -1))  # every row meets the same noise


@pytest.mark.parametrize("task", TASKS)
def test_without_a_random_imputer_a_prediction_is_the_predictors(task):
    method, batch, mask = built("realx", task).eval(), trial_of(task), torch.rand(ROWS, COUNT) < 0.5
    plain = method.predictor(torch.where(mask, batch.x, 0.0), mask)
    expected = plain.mean[:, None] if TASKS[task].real else plain.probs
    assert torch.allclose(method.probabilities(batch.x, mask), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["frozen", "black box"])
def test_frozen_models_and_black_boxes_predict_too(kind):
    frozen = Frozen(nn.Linear(COUNT, 3), TASKS["labels"], to_raw=FEATURES.as_network_input)
    method = built("invase", predictor=frozen if kind == "frozen" else black_box(), imputer=Marginal.fit(TABLE))
    assert method.probabilities(torch.randn(4, COUNT), torch.rand(4, COUNT) < 0.5).shape == (4, 3)
    assert [step.name for step in steps_of(method)] == ["selector"]  # nothing else is left to train
    method.check_parts(for_method(method, trial_of("labels")))


def test_groups_are_kept_or_hidden_together():
    features = Groups(groups={"pair": [0, 3]}).fit(TABLE.numpy())
    method, masks = realx(features, TASKS["labels"], keep=2), []
    method.imputer.register_forward_hook(lambda module, inputs, output: masks.append(inputs[1]))
    batch = for_method(method, trial_of("labels"))
    for step in steps_of(method):
        step.loss(batch)
    assert all(torch.equal(mask[:, 0], mask[:, 3]) for mask in masks)
    assert any((mask[:, 0] != mask[:, 1]).any() for mask in masks)
    _, mask = method.explain(batch.x)
    assert mask.shape == (ROWS, 4)
    assert (mask.sum(1) == 2).all()
    assert method.probabilities(batch.x, mask).shape == (ROWS, 3)


def test_an_explanation_can_be_learned_from():
    # Saliency, or training on what was kept: the mask goes where gradients flow.
    method, batch = built("realx").eval(), trial_of("labels")
    _, mask = method.explain(batch.x)
    x = batch.x.clone().requires_grad_()
    method.predictor(method.imputer(x, mask), mask).logits.sum().backward()
    assert x.grad.abs().sum() > 0


@pytest.mark.parametrize("name", METHODS)
def test_a_copy_is_whole_and_its_own(name):
    method = built(name)
    copied = copy.deepcopy(method)
    batch = for_method(method, trial_of("labels"))
    for weight in copied.parameters():
        weight.data.fill_(0.01)
    for step in steps_of(copied):
        focus(copied, step)
        step.loss(batch).backward()
    assert all(weight.grad is None for weight in method.parameters())
    with seeded(0):
        one = steps_of(copied)[-1].loss(batch)
    for weight in method.parameters():
        weight.data.fill_(3.0)
    with seeded(0):
        assert steps_of(copied)[-1].loss(batch) == one


# ---- parts that do not fit ----


def of_parts(*, estimator=None, likelihood=None, penalties=(), mask_costs=(), **more):
    outputs = TASKS["labels"]
    parts = {
        "features": FEATURES,
        "selector": Selector(MLP((COUNT,), COUNT), lambda logits, valid: Bernoulli(logits, valid)),
        "imputer": Constant(0.0),
        "predictor": Trained(mlp((COUNT,), 3, sees_mask=True), outputs, sees_mask=True),
    }
    objective = Objective(likelihood or Likelihood(), penalties, mask_costs)
    return Method("mine", **{**parts, **more}, objective=objective, plan=Turns(estimator or Rebar()))


def selector_of(family):
    return Selector(MLP((COUNT,), COUNT), lambda logits, valid: family(logits, 2, valid))


@pytest.mark.parametrize(
    ("parts", "facts"),
    [
        ({"estimator": Reinforce(), "selector": selector_of(ConcreteMax)}, r"Reinforce .* draw.* ConcreteMax"),
        ({"estimator": Rebar(), "selector": selector_of(ConcreteMax)}, r"Rebar .* coupled.* ConcreteMax"),
        ({"estimator": Disarm(), "selector": selector_of(TopK)}, r"Disarm .* antithetic.* TopK"),
        ({"estimator": Rebar(), "predictor": black_box()}, r"Rebar .* gradients .* black box"),
        ({"estimator": Pathwise(), "predictor": black_box()}, r"Pathwise .* gradients"),
    ],
    ids=["reinforce of concretes", "rebar of concretes", "mirrored sets", "rebar of a black box", "pathwise of a black box"],
)
def test_parts_that_do_not_fit_raise(parts, facts):
    with pytest.raises(TypeError, match=facts):
        of_parts(**parts).check_parts(for_method(of_parts(), trial_of("labels")))


class WithoutScores(TopK):
    scores = property()


def test_a_distribution_without_scores_raises():
    method = of_parts(selector=selector_of(WithoutScores))
    with pytest.raises(TypeError, match=r"WithoutScores .*`scores`"):
        method.check_parts(for_method(method, trial_of("labels")))


def test_parts_that_fit_do_not_raise():
    for parts in ({}, {"estimator": Reinforce(), "predictor": black_box()}, {"mask_costs": (Continuity(0.1, FEATURES.neighbours()),)}):
        of_parts(**parts).check_parts(for_method(of_parts(), trial_of("labels")))


@pytest.mark.parametrize("width", [COUNT - 1, COUNT + 1])
@pytest.mark.parametrize("name", METHODS)
def test_a_selector_of_another_width_raises(name, width):
    context = 3 if METHODS[name].reads_output else 0
    method = built(name, selector=MLP((COUNT,), width, context=context))
    with pytest.raises(ValueError, match=rf"\({len(trial_of('labels'))}, {width}\).*{COUNT} features"):
        method.check_parts(for_method(method, trial_of("labels")))


@pytest.mark.parametrize("name", METHODS)
def test_a_misfit_check_trains_nothing(name):
    method = built(name)
    before = {key: value.clone() for key, value in method.state_dict().items()}
    method.check_parts(for_method(method, trial_of("labels")))
    assert all(torch.equal(value, before[key]) for key, value in method.state_dict().items())
    assert all(weight.grad is None for weight in method.parameters())


@pytest.mark.parametrize("penalty", [Sparsity(1.0), Sparsity(0.2, each=True)], ids=["price", "price of each"])
def test_splitting_the_work_changes_no_result(penalty):
    # `max_rows` (design.md 2): as many rows in flight as fit, and the same weights in the end. Enumeration draws no masks.
    features = Columns().fit(TABLE[:, :3].numpy())
    first = of_parts(
        features=features,
        selector=Selector(MLP((3,), 3, hidden=(8,)), lambda logits, valid: Bernoulli(logits, valid)),
        estimator=Enumeration(),
        predictor=Frozen(nn.Linear(3, 3), TASKS["labels"], to_raw=features.as_network_input),
        penalties=(penalty,),
    )
    batch = trial_of("labels")
    batch = Batch(batch.x[:, :3], batch.target)
    trained = []
    for rows_at_once in (ROWS, 3):
        method = copy.deepcopy(first)
        most = rows_at_once * method.phases()[0].steps[0].model_rows_per_row
        fit(method, method.phases(), batch, batch, Settings(epochs=2, batch_size=ROWS, learning_rate=0.05, max_rows=most))
        trained.append(method.selector.state_dict())
    for key, value in trained[0].items():
        assert torch.allclose(trained[1][key], value, atol=1e-3), key


def test_mask_costs_reach_the_selector():
    batch = for_method(of_parts(), trial_of("labels"))
    method, mask = of_parts(), torch.tensor([True, False, True, False, True]).expand(1, 1, ROWS, COUNT)
    plain = method.plan.cost(method, batch, mask)
    method.objective = Objective(mask_costs=(Continuity(0.5, FEATURES.neighbours()),))
    assert torch.allclose(method.plan.cost(method, batch, mask), plain + 0.5 * 4, atol=1e-5)


def test_costs_join_masks_and_imputations_as_the_objective_says():
    method = of_parts(likelihood=Likelihood(masks=3, imputations=2), imputer=IndependentGaussian())
    batch, mask = for_method(method, trial_of("labels")), torch.rand(4, 3, ROWS, COUNT) < 0.5
    with seeded(0):
        predicted = method.predict(batch, mask)
    assert predicted.batch_shape == (4, 3, 2, ROWS)
    with seeded(0):
        cost = method.plan.cost(method, batch, mask)
    label = batch.target.probs.argmax(1)
    p = predicted.probs[..., torch.arange(ROWS), label]  # (M, L, K, b)
    assert torch.allclose(cost, -p.mean((1, 2)).log(), atol=1e-5)


def test_the_k_imputations_of_a_mask_are_fresh_draws():
    method, seen = of_parts(likelihood=Likelihood(imputations=2), imputer=IndependentGaussian()), []
    method.predictor.register_forward_hook(lambda module, inputs, output: seen.append(inputs))
    batch = for_method(method, trial_of("labels"))
    mask = torch.rand(1, 1, ROWS, COUNT) < 0.5
    method.predict(batch, mask)
    filled, raw = (part.reshape(2, ROWS, COUNT) for part in seen[0])
    assert torch.equal(raw[0], mask[0, 0])
    assert torch.equal(raw[0], raw[1])
    assert torch.equal(filled[0][raw[0]], batch.x[raw[0]])
    assert (filled[0] != filled[1])[~raw[0]].all()
