"""An interrupted training goes on as if nothing had happened, and no other training's state is taken for its own."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from lightning_fabric import Fabric
from safetensors import safe_open
from torch import nn

from lexplain.core import Batch, Classes, as_target
from lexplain.estimators import MarginalGains
from lexplain.explainers import Explainer
from lexplain.features import Columns
from lexplain.imputers import Constant
from lexplain.methods import METHODS, Phase, Rounds, Step, gains
from lexplain.training import Checkpoint, Settings, fit

X = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
Y = torch.eye(2)[(X[:, 0] > 0).long()]
TRIAL = Batch(X, as_target(Y, real=False))
FEATURES = Columns().fit(X.numpy())
SETTINGS = Settings(epochs=8, batch_size=20, learning_rate=1e-2, seed=1)
BATCHES = 3


def built(name="realx"):
    torch.manual_seed(0)
    method = METHODS[name](FEATURES, Classes(2), keep=1)
    if name == "realx":  # two phases: the predictor first, then the selector alone
        method.plan.schedule = replace(method.plan.schedule, pretrain_share=0.5, freeze=True)
    return method


def trial_for(method):
    return replace(TRIAL, context=Y) if method.reads_output else TRIAL


def weights(module):
    return torch.cat([value.flatten().float() for value in module.state_dict().values()])


def interrupted(phases, at_phase, at_epoch):
    """The same phases, but someone presses Ctrl-C in the second batch of an epoch."""
    calls = 0
    first = phases[at_phase].steps[0]

    def loss(batch):
        nonlocal calls
        calls += torch.is_grad_enabled()
        if calls == BATCHES * (at_epoch - 1) + 2:
            raise KeyboardInterrupt
        return first.loss(batch)

    phase = replace(phases[at_phase], steps=(replace(first, loss=loss), *phases[at_phase].steps[1:]))
    return [*phases[:at_phase], phase, *phases[at_phase + 1 :]]


def train(method, phases=None, checkpoint=None, settings=SETTINGS):
    batch = trial_for(method)
    return fit(method, phases or method.phases(), batch, batch.take(slice(0, 30)), settings, checkpoint=checkpoint)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training.ckpt"


def state(path, fingerprint="this fit"):
    return Checkpoint(path, fingerprint, seconds=0)


# ---- resuming ----


@pytest.mark.parametrize(("phase", "epoch"), [(0, 1), (0, 3), (0, 4), (1, 1), (1, 3), (1, 4)])
def test_an_interrupted_training_ends_with_the_weights_of_one_that_was_not(path, phase, epoch):
    whole = built()
    records = train(whole)
    assert [record["phase"] for record in records] == ["predictor"] * 4 + ["selector"] * 4
    method = built()
    with pytest.raises(KeyboardInterrupt):
        train(method, interrupted(method.phases(), phase, epoch), state(path))
    again = built()
    torch.manual_seed(99)
    went_on = train(again, checkpoint=state(path))
    assert torch.equal(weights(again), weights(whole))
    assert [record["check"] for record in went_on] == [record["check"] for record in records]
    assert [record["epoch"] for record in went_on] == [1, 2, 3, 4] * 2


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("realx", "gains")])
def test_so_does_every_method(path, name):
    whole, method, again = built(name), built(name), built(name)
    train(whole)
    with pytest.raises(KeyboardInterrupt):
        train(method, interrupted(method.phases(), 0, 3), state(path))
    seen = []
    first, *later = again.phases()
    counted = replace(first.steps[-1], loss=lambda batch: seen.append(1) or first.steps[-1].loss(batch))
    train(again, [replace(first, steps=(*first.steps[:-1], counted)), *later], state(path))
    assert torch.equal(weights(again), weights(whole))
    assert len(seen) == BATCHES * (round(8 * first.share) - 2)  # two of its epochs were not done again


@pytest.mark.parametrize("at_phase", [0, 1, 2, 3], ids=["predictor", "gains", "second predictor", "second gains"])
def test_so_does_a_phase_with_goals_on_some_of_the_rows(path, at_phase):
    def method_of():
        torch.manual_seed(0)
        plan = Rounds(MarginalGains(draws=2), rows=40, rounds=1)  # the rows and the goals of a phase are drawn as it starts
        return gains(FEATURES, Classes(2), plan=plan)

    settings = replace(SETTINGS, epochs=40)
    whole, method, again = method_of(), method_of(), method_of()
    records = train(whole, settings=settings)
    with pytest.raises(KeyboardInterrupt):
        train(method, interrupted(method.phases(), at_phase, 3), state(path), settings)
    went_on = train(again, checkpoint=state(path), settings=settings)
    assert torch.equal(weights(again), weights(whole))
    assert [record["check"] for record in went_on] == [record["check"] for record in records]


@pytest.mark.parametrize("at_phase", [0, 1, 2, 3], ids=["all columns", "half of them", "the rest", "gains"])
def test_so_does_a_wide_table_whose_networks_are_rebuilt(path, at_phase):
    x = torch.randn(60, 40, generator=torch.Generator().manual_seed(0))
    batch = replace(TRIAL, x=x)

    def method_of():
        torch.manual_seed(0)
        return gains(Columns().fit(x.numpy()), Classes(2), plan=Rounds(MarginalGains(draws=2), rounds=0))

    def train_wide(method, phases=None, checkpoint=None):
        settings = replace(SETTINGS, epochs=80)
        fit(method, phases or method.phases(), batch, batch.take(slice(0, 30)), settings, checkpoint=checkpoint)

    whole, method, again = method_of(), method_of(), method_of()
    train_wide(whole)
    with pytest.raises(KeyboardInterrupt):
        train_wide(method, interrupted(method.phases(), at_phase, 3), state(path))
    train_wide(again, checkpoint=state(path))
    assert torch.equal(weights(again), weights(whole))
    assert whole.predictor.network.seen.sum() == 16


def test_a_training_interrupted_in_every_epoch_gets_there(path):
    whole = built()
    train(whole)
    for phase in (0, 1):
        for _ in range(3):
            method = built()
            with pytest.raises(KeyboardInterrupt):
                train(method, interrupted(method.phases(), phase, 2), state(path))
    again = built()
    train(again, checkpoint=state(path))
    assert torch.equal(weights(again), weights(whole))


def test_patience_and_the_best_epoch_are_remembered(path):
    class Dial(nn.Module):
        """A number that each epoch moves, with a check that was best in the first."""

        def __init__(self):
            super().__init__()
            self.at, self.judged = nn.Parameter(torch.zeros(())), []

        def phase(self):
            return Phase("one", (Step("dial", self, lambda batch: self.at + 0 * batch.x.sum(), self.check),))

        def check(self, batch):
            self.judged.append(self.at.item())
            return self.at.square()

    settings = replace(SETTINGS, patience=3)
    whole, dial, again = Dial(), Dial(), Dial()
    assert len(fit(whole, [whole.phase()], TRIAL, TRIAL, settings)) == 4
    with pytest.raises(KeyboardInterrupt):
        fit(dial, interrupted([dial.phase()], 0, 4), TRIAL, TRIAL, settings, checkpoint=state(path))
    assert len(fit(again, [again.phase()], TRIAL, TRIAL, settings, checkpoint=state(path))) == 4
    assert again.judged == whole.judged[3:]  # one more epoch, and patience is at its end
    assert again.at.item() == whole.at.item() == whole.judged[0]


def test_a_training_that_has_ended_is_not_done_again(path):
    whole, again = built(), built()
    records = train(whole, checkpoint=state(path))
    phases = [
        replace(phase, steps=tuple(replace(step, loss=None, validation_loss=None) for step in phase.steps)) for phase in again.phases()
    ]
    assert train(again, phases, state(path)) == records
    assert torch.equal(weights(again), weights(whole))


def test_writes_no_more_often_than_told(path, monkeypatch):
    written = []
    monkeypatch.setattr(Checkpoint, "write", lambda self, tensors, record: written.append((record["phase"], record["epoch"])))
    train(built(), checkpoint=Checkpoint(path, "", seconds=1000))
    assert written == [(1, 0), (2, 0)]  # the end of each phase
    written.clear()
    train(built(), checkpoint=state(path))
    assert written == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 0)]


def test_a_checkpoint_changes_no_result(path):
    with_it, without = built(), built()
    train(with_it, checkpoint=state(path))
    train(without)
    assert torch.equal(weights(with_it), weights(without))


# ---- the Explainer's ----


@pytest.fixture
def eager(monkeypatch):
    """Keep the state after every epoch."""
    monkeypatch.setattr("lexplain.explainers.fitting.Checkpoint", partial(Checkpoint, seconds=0))


def explainer(**more):
    # regime="fixed" has two phases: the predictor, then the selector
    settings = {"method": "realx", "regime": "fixed", "keep": 1, "epochs": 6, "batch_size": 20, "random_state": 5, "device": "cpu"}
    return Explainer(**settings | more)


def interrupt_fit(monkeypatch, **more):
    """Let an Explainer's fit be interrupted in the second epoch of its second phase."""

    def loop(module, phases, *arguments, **settings):
        return fit(module, interrupted(phases, 1, 2), *arguments, **settings)

    with monkeypatch.context() as patch:
        patch.setattr("lexplain.explainers.fitting.fit", loop)
        with pytest.raises(KeyboardInterrupt):
            explainer(**more.pop("settings", {})).fit(X.numpy(), Y[:, 1].numpy() > 0, **more)


def test_an_explainer_goes_on(path, eager, monkeypatch):
    labels = Y[:, 1].numpy() > 0
    whole = explainer().fit(X.numpy(), labels)
    interrupt_fit(monkeypatch, checkpoint=path)
    assert path.exists()
    # The device and the number of rows at once may change.
    again = explainer(max_rows=50_000, device=Fabric(accelerator="cpu", devices=1)).fit(X.numpy(), labels, checkpoint=str(path))
    assert torch.equal(weights(again.method_), weights(whole.method_))
    assert torch.equal(again.explain(X.numpy()).mask, whole.explain(X.numpy()).mask)
    assert again.history_["check"].tolist() == whole.history_["check"].tolist()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("first", "then"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_an_explainer_goes_on_elsewhere(first, then, path, eager, monkeypatch):
    labels = Y[:, 1].numpy() > 0
    before, after = (explainer(device=device).fit(X.numpy(), labels).history_["check"] for device in (first, then))
    interrupt_fit(monkeypatch, checkpoint=path, settings={"device": first})
    again = explainer(device=then).fit(X.numpy(), labels, checkpoint=path)
    assert again.history_["check"][:3].tolist() == before[:3].tolist()  # the first phase, to the last bit as it was where it ran
    assert before[:3].tolist() != after[:3].tolist()
    assert len(again.history_) == len(after)
    assert again.method_.selector.offset.device.type == then


OTHERS = {
    "other rows": ({}, X.numpy() + 1e-3, None),
    "other labels": ({}, None, 1),
    "another size": ({"keep": 2}, None, None),
    "another method": ({"method": "basex"}, None, None),
    "more epochs": ({"epochs": 7}, None, None),
    "another batch": ({"batch_size": 19}, None, None),
    "another speed": ({"learning_rate": 0.5}, None, None),
    "another seed": ({"random_state": 6}, None, None),
    "another imputer": ({"imputer": Constant(1.0)}, None, None),
    "an imputer of another value": ({"imputer": Constant(2.0)}, None, None),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_checkpoint_of_other_data_or_settings_raises(name, path, eager, monkeypatch):
    settings, rows, flip = OTHERS[name]
    first = {"imputer": Constant(1.0)} if name == "an imputer of another value" else {}
    interrupt_fit(monkeypatch, checkpoint=path, settings=first)
    before = path.read_bytes()
    labels = Y[:, 1].numpy() > 0
    if flip is not None:
        labels = labels.copy()
        labels[flip] = not labels[flip]
    with pytest.raises(ValueError, match=r"training\.ckpt .*another fit"):
        explainer(**{**first, **settings}).fit(X.numpy() if rows is None else rows, labels, checkpoint=path)
    assert path.read_bytes() == before


def test_a_random_seed_is_another_setting(path, eager, monkeypatch):
    np.random.seed(0)  # noqa: NPY002  random_state=None draws from it, as everywhere in scikit-learn
    interrupt_fit(monkeypatch, checkpoint=path, settings={"random_state": None})
    with pytest.raises(ValueError, match="another fit"):
        explainer(random_state=None).fit(X.numpy(), Y[:, 1].numpy() > 0, checkpoint=path)


# ---- the file ----


def test_a_damaged_checkpoint_raises(path):
    train(built(), checkpoint=state(path))
    whole = path.read_bytes()
    for spoiled in (whole[:-50], whole[:50], b"", b"text, not tensors"):
        path.write_bytes(spoiled)
        with pytest.raises(ValueError, match=r"training\.ckpt .*safetensors"):
            train(built(), checkpoint=state(path))


def test_the_file_of_an_explainer_is_no_checkpoint(path):
    explainer(epochs=1).fit(X.numpy(), Y[:, 1].numpy() > 0).save(path)
    with pytest.raises(ValueError, match=r"lexplain\.explainer/2.*lexplain\.checkpoint/1"):
        train(built(), checkpoint=state(path))


def test_a_checkpoint_is_tensors_and_json(path):
    train(built(), checkpoint=state(path))
    with safe_open(path, framework="pt") as stored:
        record = json.loads(stored.metadata()["lexplain"])
        names = {name.split("/")[0] for name in stored.keys()}  # noqa: SIM118  a safetensors handle is no dict
    assert record["format"] == "lexplain.checkpoint/1"
    assert record["fingerprint"] == "this fit"
    assert names == {"module", "best", "optimiser", "rng"}
