"""The training loop: it trains the given steps, keeps the best epoch, and splits work without changing results."""

import copy
import itertools
import logging
from dataclasses import replace

import numpy as np
import pytest
import torch
from lightning_fabric import Fabric
from torch import nn

from lexplain.core import Batch, Classes, as_target
from lexplain.core.kinds import kind_of
from lexplain.evaluation import retrain, train_evaluator
from lexplain.explainers import Explainer, fitting
from lexplain.features import Columns
from lexplain.methods import Phase, Step, realx
from lexplain.training import Settings, constant, cosine, fit, network

ROWS = 41  # no multiple of a batch, so that the last batch is small
X = torch.randn(ROWS, 3, generator=torch.Generator().manual_seed(0))
Y = torch.eye(2)[(X[:, 0] > 0).long()]
TRIAL = Batch(X, as_target(Y, real=False))


def cost(module):
    """The mean cross-entropy of a network's logits: no draws."""
    return lambda batch: -(batch.target.probs * module(batch.x).log_softmax(1)).sum(1).mean()


def phase_of(module, loss=None, check=None, *, name="one", **more):
    loss = loss or cost(module)
    settings = {key: more.pop(key) for key in ("model_rows_per_row", "learning_rate_factor") if key in more}
    step = Step(name, module, loss, check or loss, **settings)
    return Phase(name, (step,), **more)


def linear():
    torch.manual_seed(0)
    return nn.Linear(3, 2)


class Dial(nn.Module):
    """A number that Adam moves down by exactly the learning rate a step, since its slope is always 1."""

    def __init__(self):
        super().__init__()
        self.at = nn.Parameter(torch.zeros(()))

    def loss(self, batch):
        return self.at + 0 * batch.x.sum()


def run(module, phases, **settings):
    return fit(module, phases, TRIAL, TRIAL, Settings(**{"epochs": 1, "batch_size": ROWS, "schedule": constant, **settings}))


# ---- what trains ----


def test_learns():
    net = linear()
    records = run(net, [phase_of(net)], epochs=40, batch_size=10, learning_rate=0.1)
    assert records[-1]["check"] < 0.2 < records[0]["check"]
    assert ((net(X)[:, 1] > net(X)[:, 0]) == (X[:, 0] > 0)).float().mean() > 0.9


def test_trains_the_modules_of_its_steps_and_no_other():
    whole = nn.ModuleDict({"one": linear(), "two": linear(), "rest": nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))})
    before, modes = copy.deepcopy(whole.state_dict()), []

    def loss(trained):
        def of(batch):
            if torch.is_grad_enabled():
                modes.append((trained, {name: part.training for name, part in whole.items()}))
            return cost(lambda x: whole["one"](whole["rest"](x)) + whole["two"](x))(batch)

        return of

    steps = tuple(Step(name, whole[name], loss(name), loss(name)) for name in ("one",))
    run(whole, [Phase("first", steps)], epochs=2)
    after = whole.state_dict()
    assert [name for name in after if not torch.equal(after[name], before[name])] == ["one.weight", "one.bias"]
    assert all(mode == {"one": True, "two": False, "rest": False} for _, mode in modes)
    run(whole, [Phase("both", (*steps, Step("two", whole["two"], loss("two"), loss("two"))))])
    assert {name.split(".")[0] for name in after if not torch.equal(after[name], before[name])} == {"one", "two"}
    assert modes[-1] == ("two", {"one": False, "two": True, "rest": False})


def test_every_epoch_shows_every_row_once_in_a_new_order():
    seen, dial = [], Dial()

    def loss(batch):
        if torch.is_grad_enabled():
            seen.append(batch.x[:, 0])
        return dial.loss(batch)

    run(dial, [phase_of(dial, loss)], epochs=2, batch_size=10)
    assert [len(rows) for rows in seen] == [10, 10, 10, 10, 1] * 2
    one, two = torch.cat(seen[:5]), torch.cat(seen[5:])
    assert torch.equal(one.sort().values, X[:, 0].sort().values)
    assert torch.equal(two.sort().values, X[:, 0].sort().values)
    assert not torch.equal(one, two)


def test_phases_share_the_epochs_in_order():
    dial = Dial()
    records = run(
        dial,
        [phase_of(dial, dial.loss, name=name, share=share) for name, share in (("warm", 0.25), ("main", 0.75), ("short", 0.01))],
        epochs=8,
    )
    assert [(record["phase"], record["epoch"]) for record in records] == [
        *(("warm", i) for i in (1, 2)),
        *(("main", i) for i in range(1, 7)),
        ("short", 1),
    ]
    assert all(record["seconds"] >= 0 for record in records)


def test_the_last_step_is_validated_with_the_same_random_numbers():
    dial, seen = Dial(), []

    def check(batch):
        seen.append((len(batch), batch.progress, torch.rand(()).item(), torch.is_grad_enabled()))
        return torch.tensor(1.0)

    first = Step("first", linear(), lambda batch: torch.zeros((), requires_grad=True), lambda batch: pytest.fail("not the last step"))
    phase = Phase("both", (first, Step("last", dial, dial.loss, check)))
    fit(nn.ModuleList([dial, first.module]), [phase], TRIAL, TRIAL.take(slice(0, 7)), Settings(epochs=3, batch_size=ROWS))
    assert [entry[0] for entry in seen] == [7, 7, 7]
    assert len({entry[2] for entry in seen}) == 1
    assert all(entry[1] == 1.0 and not entry[3] for entry in seen)


# ---- how fast ----


@pytest.mark.parametrize(
    ("schedule", "factors"),
    [(constant, [1, 1, 1, 1]), (cosine, [1, 0.853553, 0.5, 0.146447]), (lambda done: 2 - done, [2, 1.75, 1.5, 1.25])],
)
def test_a_schedule_changes_the_learning_rate(schedule, factors):
    dial, at = Dial(), []

    def check(batch):
        at.append(dial.at.item())
        return dial.at

    run(dial, [phase_of(dial, dial.loss, check)], epochs=4, learning_rate=0.01, schedule=schedule)
    moved = [before - after for before, after in zip([0.0, *at], at, strict=False)]
    assert moved == pytest.approx([0.01 * factor for factor in factors], rel=1e-3)


def test_a_step_has_a_speed_of_its_own_and_phases_a_schedule_each():
    dial, at = Dial(), []

    def check(batch):
        at.append(dial.at.item())
        return dial.at

    run(
        dial,
        [phase_of(dial, dial.loss, check, share=0.5, learning_rate_factor=speed) for speed in (1.0, 0.1)],
        epochs=4,
        learning_rate=0.01,
        schedule=lambda done: 1 + done,
    )
    moved = [before - after for before, after in zip([0.0, *at], at, strict=False)]
    assert moved == pytest.approx([0.01, 0.015, 0.001, 0.0015], rel=1e-3)


def test_the_learning_rate_rises_step_by_step_over_epochs_and_again_in_each_phase():
    dial, at = Dial(), []

    def loss(batch):
        if torch.is_grad_enabled():
            at.append(dial.at.item())
        return dial.loss(batch)

    phases = [phase_of(dial, loss, lambda batch: dial.at, share=0.5) for _ in range(2)]
    run(dial, phases, epochs=60, batch_size=ROWS // 2 + 1, learning_rate=0.01, warmup_steps=3)
    moved = [before - after for before, after in itertools.pairwise([*at, dial.at.item()])]
    assert moved == pytest.approx([0.01 * share for share in (1 / 3, 2 / 3, *[1] * 58) * 2], rel=1e-3)


def test_the_learning_rate_rises_for_a_tenth_of_a_phase_at_the_most():
    dial, at = Dial(), []

    def check(batch):
        at.append(dial.at.item())
        return dial.at

    run(dial, [phase_of(dial, dial.loss, check)], epochs=20, learning_rate=0.01, warmup_steps=1000)
    moved = [before - after for before, after in zip([0.0, *at], at, strict=False)]
    assert moved == pytest.approx([0.005, *[0.01] * 19], rel=1e-3)


@pytest.mark.parametrize(("shape", "warmup"), [((3,), 0), ((1, 8, 8), 100)], ids=["a table", "images"])
def test_learning_rates_rise_for_images_wherever_we_train(shape, warmup, monkeypatch):
    rows, seen = np.random.default_rng(0).random((60, *shape)), []

    def watch(module):
        real = module.fit

        def watched(part, phases, train, validation, settings, **more):
            seen.append(settings.warmup_steps)
            return real(part, phases, train, validation, replace(settings, epochs=1), **more)

        monkeypatch.setattr(module, "fit", watched)

    for module in (fitting, network):
        watch(module)
    fitted = Explainer("realx", keep=2, epochs=1).fit(rows, np.arange(60) % 2)
    features = fitted.features_
    batch = Batch(features.encode(rows).x, as_target(torch.eye(2)[torch.arange(60) % 2], real=False))
    train_evaluator(features, Classes(2), batch, batch)
    retrain(batch, features, Classes(2))
    assert seen == [warmup] * 3
    assert kind_of(features).pace.warmup_steps == warmup


def test_losses_are_told_how_far_the_phase_is():
    dial, progress_of_batches = Dial(), []

    def loss(batch):
        if torch.is_grad_enabled():
            progress_of_batches.append(batch.progress)
        return dial.loss(batch)

    run(dial, [phase_of(dial, loss)], epochs=4)
    assert progress_of_batches == [0, 0.25, 0.5, 0.75]


def test_weight_decay_pulls_to_zero():
    plain, decayed = linear(), linear()
    run(plain, [phase_of(plain)], epochs=5, learning_rate=0.01)
    run(decayed, [phase_of(decayed)], epochs=5, learning_rate=0.01, weight_decay=10.0)
    assert decayed.weight.norm() < plain.weight.norm()


# ---- when to stop ----


def scripted(values, **more):
    """A dial whose check follows a script, and where it stood after each epoch."""
    dial, at = Dial(), []

    def check(batch):
        at.append(dial.at.item())
        return torch.tensor(values[len(at) - 1])

    return dial, phase_of(dial, dial.loss, check, **more), at


def test_a_phase_starts_with_all_rows():
    net, other, got = linear(), TRIAL.take(slice(0, 7)), []
    phase = phase_of(net, on_start=lambda train, validation, rows: got.append((len(train), len(validation), rows)), sample_rows=5)
    fit(net, [phase], TRIAL, other, Settings(epochs=1, max_rows=9))
    assert got == [(ROWS, 7, 9)]


def test_the_best_epoch_is_restored():
    dial, phase, at = scripted([3.0, 1.0, 2.0, 1.0, 5.0])
    records = run(dial, [phase], epochs=5)
    assert [record["check"] for record in records] == [3, 1, 2, 1, 5]
    assert dial.at.item() == at[1] != at[-1]


def test_patience_ends_a_phase():
    dial, phase, at = scripted([3.0, 2.0, 2.5, 1.0, 4.0, 5.0, 0.0, 0.0])
    records = run(dial, [phase], epochs=8, patience=2)
    assert len(records) == 6
    assert dial.at.item() == at[3]


def test_without_patience_a_phase_runs_to_its_end():
    dial, phase, _ = scripted([1.0] + [2.0] * 7)
    assert len(run(dial, [phase], epochs=8)) == 8


def test_patience_is_counted_in_each_phase():
    dial, at = Dial(), []

    def check(batch):
        at.append(dial.at.item())
        return torch.tensor([1.0, 2.0, 2.0, 9.0, 8.0, 9.0, 9.0][len(at) - 1])

    records = run(dial, [phase_of(dial, dial.loss, check, share=0.5, name=name) for name in ("first", "second")], epochs=12, patience=2)
    assert [record["phase"] for record in records] == ["first"] * 3 + ["second"] * 4
    assert dial.at.item() == at[4]


def test_no_epoch_is_the_best_before_prices_have_settled():
    dial, phase, at = scripted([0.0, 0.5, 3.0, 2.0], burn_in=0.5)
    run(dial, [phase], epochs=4)
    assert dial.at.item() == at[3]
    dial, phase, at = scripted([0.0, 5.0], burn_in=1.0)  # never, but the last epoch is better than none
    run(dial, [phase], epochs=2)
    assert dial.at.item() == at[1]


def test_a_training_that_diverges_says_so():
    dial, phase, _ = scripted([float("nan"), float("inf"), float("nan")])
    with pytest.raises(FloatingPointError, match="learning_rate"):
        run(dial, [phase], epochs=3)
    dial, phase, at = scripted([1.0, float("nan"), float("nan")])
    run(dial, [phase], epochs=3)
    assert dial.at.item() == at[0]


# ---- rows in flight ----


@pytest.mark.parametrize("most", [1, 7, 20, ROWS, 1000])
@pytest.mark.parametrize("copies", [1, 5])
def test_splitting_a_batch_leaves_its_gradient(most, copies):
    net, seen = linear(), []
    whole = linear()
    cost(whole)(TRIAL).backward()

    def loss(batch):
        seen.append(len(batch))
        return cost(net)(batch)

    records = run(net, [phase_of(net, loss, model_rows_per_row=copies)], max_rows=most)
    assert max(seen) <= max(1, most // copies)
    assert torch.allclose(net.weight.grad, whole.weight.grad, atol=1e-6)
    assert torch.allclose(net.bias.grad, whole.bias.grad, atol=1e-6)
    assert records[0]["check"] == pytest.approx(cost(net)(TRIAL).item(), abs=1e-5)


def small_device(net, most, seen):
    """A loss that a device with memory for so many rows would have."""

    def loss(batch):
        if len(batch) > most:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        seen.append(len(batch))
        return cost(net)(batch)

    return loss


@pytest.mark.parametrize("copies", [1, 3])
def test_a_device_out_of_memory_gets_fewer_rows_at_a_time(copies, caplog):
    net, whole, seen = linear(), linear(), []
    run(whole, [phase_of(whole)], epochs=3)
    with caplog.at_level(logging.WARNING, "lexplain"):
        run(net, [phase_of(net, small_device(net, 6, seen), model_rows_per_row=copies)], epochs=3)
    # 41 rows are halved to 20, 10 and 5, once: what was learned of the device is kept.
    assert caplog.text.count("Out of device memory") == 3
    assert max(seen) <= 6
    assert torch.allclose(net.weight, whole.weight, atol=1e-5)


def test_a_device_out_of_memory_while_judging_gets_fewer_rows_too():
    net, seen = linear(), []
    records = run(net, [phase_of(net, check=small_device(net, 6, seen))])
    assert 0 < max(seen) <= 6
    assert records[0]["check"] == pytest.approx(cost(net)(TRIAL).item(), abs=1e-5)


def test_a_device_too_small_for_one_row_says_so():
    net = linear()
    with pytest.raises(torch.cuda.OutOfMemoryError):
        run(net, [phase_of(net, small_device(net, 0, []), model_rows_per_row=3)])


# ---- precision, processes and seeds ----


def test_trains_in_mixed_precision():
    net, kinds = linear(), []

    def loss(batch):
        if torch.is_grad_enabled():
            kinds.append(net(batch.x).dtype)
        return cost(net)(batch)

    fabric = Fabric(accelerator="cpu", devices=1, precision="bf16-mixed")
    records = fit(net, [phase_of(net, loss)], TRIAL, TRIAL, Settings(epochs=30, batch_size=10, learning_rate=0.1), fabric=fabric)
    assert set(kinds) == {torch.bfloat16}
    assert net.weight.dtype == torch.float32
    assert records[-1]["check"] < 0.2


@pytest.mark.parametrize("method", ["realx", "l2x", "lex"])
def test_an_explainer_trains_in_mixed_precision(method):
    fabric = Fabric(accelerator="cpu", devices=1, precision="bf16-mixed")
    explainer = Explainer(method, epochs=2, device=fabric).fit(X.numpy(), Y[:, 1].numpy() > 0)
    assert explainer.history_["check"].notna().all()
    assert explainer.explain(X.numpy()).scores.dtype == torch.float32


def test_a_precision_that_scales_its_loss_raises(monkeypatch):
    fabric = Fabric(accelerator="cpu", devices=1, precision="bf16-mixed")
    monkeypatch.setattr(fabric.strategy.precision, "scaler", object())  # as of 16-mixed on a GPU
    with pytest.raises(ValueError, match=r"precision='16-mixed'.*precision='bf16-mixed'"):
        fit(linear(), [], TRIAL, TRIAL, Settings(), fabric=fabric)


def restarted(net):
    """A phase that starts with new random weights."""
    return phase_of(net, on_start=lambda *_: net.weight.data.normal_())


def on_each_process(fabric, folder):
    """Train a network without draws in its steps, and an explainer, which draws."""
    net = linear()
    records = fit(net, [restarted(net)], TRIAL, TRIAL, Settings(epochs=3, batch_size=8, learning_rate=0.1), fabric=fabric)
    explainer = Explainer("realx", epochs=4, batch_size=8, device=fabric).fit(X.numpy(), Y[:, 1].numpy() > 0)
    torch.save((net.state_dict(), records, explainer.method_.state_dict()), folder / f"{fabric.global_rank}.pt")


@pytest.mark.skipif(torch.cuda.is_available(), reason="a process that has used a GPU cannot be forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_two_processes_end_with_the_same_weights(tmp_path):
    # 41 rows in batches of 8: the last batch has one row, so that one process has none of it.
    Fabric(accelerator="cpu", devices=2, strategy="ddp_fork").launch(on_each_process, tmp_path)
    (net, records, method), (other_net, _, other_method) = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    assert all(torch.equal(value, other_net[name]) for name, value in net.items())
    assert all(torch.equal(value, other_method[name]) for name, value in method.items())
    # Without draws in its steps, two processes do what one does.
    alone = linear()
    alone_records = fit(alone, [restarted(alone)], TRIAL, TRIAL, Settings(epochs=3, batch_size=8, learning_rate=0.1))
    assert all(torch.allclose(value, net[name], atol=1e-5) for name, value in alone.state_dict().items())
    assert [r["check"] for r in records] == pytest.approx([r["check"] for r in alone_records], abs=1e-5)


def trained(seed):
    torch.manual_seed(0)
    method = realx(Columns().fit(X.numpy()), Classes(2))
    fit(method, method.phases(), TRIAL, TRIAL, Settings(epochs=2, batch_size=10, seed=seed))
    return torch.cat([weight.detach().flatten() for weight in method.parameters()])


def test_the_seed_decides_and_the_callers_random_state_is_left_alone():
    one, other = trained(3), trained(4)
    torch.manual_seed(9)
    method = realx(Columns().fit(X.numpy()), Classes(2))
    before = torch.get_rng_state()
    fit(method, method.phases(), TRIAL, TRIAL, Settings(epochs=1))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(trained(3), one)
    assert not torch.allclose(one, other)
