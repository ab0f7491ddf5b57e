"""The trainer that penalises wrong reasons, on problems whose right reason is known."""

import copy

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from torch import nn

import lexplain as lx
from lexplain.core import seeded
from lexplain.core.contracts import Encoded
from lexplain.features import FeatureKind, Patches
from lexplain.networks import mlp
from lexplain.right_reasons.learner import StrengthController
from lexplain.right_reasons.penalty import Terms

SOON = {"epochs": 30, "batch_size": 64, "learning_rate": 1e-2}


def two_reasons(n=400, seed=0, classes=2):
    """Columns 0 and 1 tell the class alike, the first more loudly; column 2 tells nothing."""
    draw = np.random.default_rng(seed)
    y = draw.integers(classes, size=n)
    x = draw.normal(size=(n, 3)).astype(np.float32) * 0.3
    x[:, 0] += 4 * y
    x[:, 1] += 1.5 * y
    return x, y


def small(d=3, c=2, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(d, 8), nn.ReLU(), nn.Linear(8, c))


def shuffled(x, column, seed=1):
    mixed = x.copy()
    mixed[:, column] = np.random.default_rng(seed).permutation(mixed[:, column])
    return mixed


@pytest.mark.parametrize("strength", ["auto", 10.0])
def test_a_forbidden_column_is_not_used_and_the_other_one_is(strength):
    x, y = two_reasons()
    plain = lx.RightReasons(small(), **SOON).fit(x, y)
    right = lx.RightReasons(small(), strength=strength, **SOON).fit(x, y, irrelevant_mask=[1, 0, 0])
    assert plain.score(shuffled(x, 0), y) < 0.8 < 0.95 < right.score(shuffled(x, 0), y)
    slopes = np.abs(right.input_gradients(x)).mean(0)
    assert slopes[0] < 0.1 * slopes[1]
    assert right.strength_ > 0
    assert plain.strength_ == 0
    assert right.still_used_ <= 0.05
    assert plain.still_used_ == 0


def test_all_ways_to_annotate_mean_the_same():
    x, y = two_reasons(120)
    every = np.zeros_like(x)
    every[:, 0] = 1
    ways = [{"irrelevant_mask": every}, {"irrelevant_mask": every[0]}, {"irrelevant_mask": every, "annotated_rows": np.arange(120)}]
    said = [lx.RightReasons(small(), strength=5.0, **SOON).fit(x, y, **way).predict_proba(x) for way in ways]
    assert all(np.array_equal(said[0], other) for other in said[1:])
    some = every.copy()
    some[60:] = np.nan
    half = [{"irrelevant_mask": some}, {"irrelevant_mask": every[:60], "annotated_rows": np.arange(60)}]
    first, second = (lx.RightReasons(small(), strength=5.0, **SOON).fit(x, y, **way).predict_proba(x) for way in half)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, said[0])


def test_no_mark_is_plain_training_whatever_the_strength():
    x, y = two_reasons(120)
    plain = lx.RightReasons(small(), **SOON).fit(x, y).predict_proba(x)
    zero = lx.RightReasons(small(), strength=1e6, **SOON).fit(x, y, irrelevant_mask=np.zeros_like(x)).predict_proba(x)
    assert np.array_equal(plain, zero)


def test_the_network_given_is_copied_and_the_same_seed_gives_the_same_model():
    x, y = two_reasons(120)
    network = small()
    before = copy.deepcopy(network.state_dict())
    first = lx.RightReasons(network, random_state=3, **SOON).fit(x, y, irrelevant_mask=[1, 0, 0])
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    second = clone(first).fit(x, y, irrelevant_mask=[1, 0, 0])
    assert np.array_equal(first.predict_proba(x), second.predict_proba(x))
    other = clone(first).set_params(random_state=4).fit(x, y, irrelevant_mask=[1, 0, 0])
    assert not np.array_equal(first.predict_proba(x), other.predict_proba(x))


def test_the_callers_random_state_is_left_alone():
    x, y = two_reasons(60)
    torch.manual_seed(0)
    wanted = torch.rand(1)
    network = nn.Linear(3, 2)
    torch.manual_seed(0)
    lx.RightReasons(network, **SOON | {"epochs": 1}).fit(x, y, irrelevant_mask=[1, 0, 0])
    assert torch.equal(torch.rand(1), wanted)


def test_text_labels_and_frames():
    x, y = two_reasons(120)
    frame = pd.DataFrame(x, columns=["loud", "soft", "noise"])
    model = lx.RightReasons(small(), **SOON).fit(frame, np.array(["no", "yes"])[y], irrelevant_mask=[1, 0, 0])
    assert set(model.predict(frame)) <= {"no", "yes"}
    e = model.explain(frame.head(5))
    assert e.names == ("loud", "soft", "noise")
    assert e.prediction.shape == (5, 2)
    assert e.classes == ("no", "yes")
    assert torch.equal(e.scores, torch.from_numpy(np.abs(model.input_gradients(frame.head(5)))))
    assert torch.equal(e.mask, e.scores > 0.67 * e.scores.amax(1, keepdim=True))


def test_real_values_are_predicted_in_their_own_units():
    x, _ = two_reasons(300)
    y = 100 + 30 * x[:, 1] + 0.0 * x[:, 0]
    model = lx.RightReasons(small(c=1), **SOON | {"epochs": 60}).fit(x, y, irrelevant_mask=[1, 0, 0])
    assert model.score(x, y) > 0.9
    with pytest.raises(AttributeError, match="class probabilities"):
        model.predict_proba(x)


def test_pictures_and_marks_of_a_whole_channel_axis():
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=80)
    x = draw.normal(size=(80, 2, 4, 4)).astype(np.float32)
    x[:, :, 0, 0] += 3 * y[:, None]
    x[:, :, 3, 3] += 2 * y[:, None]
    mask = np.zeros((2, 4, 4))
    mask[:, 0, 0] = 1
    network = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
    model = lx.RightReasons(network, **SOON | {"epochs": 5}).fit(x, y, irrelevant_mask=mask)
    assert model.input_gradients(x[:3]).shape == (3, 2, 4, 4)
    assert model.explain(x[:3]).names[0] == "x[0,0,0]"


def test_rows_that_are_always_included_are_in_each_batch():
    sizes = []

    class Seen(nn.Linear):
        def forward(self, x):
            if self.training:
                sizes.append((len(x), bool((x == 7).all(1).any())))
            return super().forward(x)

    x, y = two_reasons(100)
    x[5] = 7
    lx.RightReasons(Seen(3, 2), **SOON | {"epochs": 2, "held_out": 0}).fit(x, y, always_include=[5])
    assert all(there for _, there in sizes)
    assert {size for size, _ in sizes} == {65, 37}


def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(tmp_path, monkeypatch):
    x, y = two_reasons(120)
    settings = SOON | {"epochs": 4}
    whole = lx.RightReasons(small(), **settings).fit(x, y, irrelevant_mask=[1, 0, 0])
    from lexplain.right_reasons import right_reasons
    from lexplain.training.checkpoint import Checkpoint

    monkeypatch.setattr(right_reasons, "Checkpoint", lambda path, mark: Checkpoint(path, mark, seconds=0))
    from lexplain.right_reasons.learner import Learner

    judge, calls = Learner.validation_loss, []

    def stops(self, batch):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return judge(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "validation_loss", stops)
        with pytest.raises(KeyboardInterrupt):
            lx.RightReasons(small(), **settings).fit(x, y, irrelevant_mask=[1, 0, 0], checkpoint=tmp_path / "state")
    resumed = lx.RightReasons(small(), **settings).fit(x, y, irrelevant_mask=[1, 0, 0], checkpoint=tmp_path / "state")
    assert np.array_equal(whole.predict_proba(x), resumed.predict_proba(x))


def test_the_balance_rises_falls_and_stays_in_bounds():
    def terms(answers, reasons, marked, elsewhere):
        return Terms(*(torch.tensor(value) for value in (answers, reasons, marked, elsewhere)))

    balance = StrengthController(1.0)
    assert float(balance(terms(1.0, 0.1, 0.1, 0.1))) == pytest.approx(1.05)  # marked inputs matter as much as others
    for _ in range(200):
        last = balance(terms(1.0, 0.001, 0.1, 0.1))
    assert float(last) < 10.5  # no more than an order of magnitude
    balance = StrengthController(1.0)
    assert float(balance(terms(1.0, 2.0, 1.0, 1.0))) == pytest.approx(1 / 1.05)  # the reasons cost more than the answers
    balance = StrengthController(1.0)
    assert float(balance(terms(1.0, 0.1, 0.001, 1.0))) == 1.0  # marked inputs hardly matter


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"strength": -1}, {}, "strength .*-1"),
        ({"strength": "lots"}, {}, "strength .*'lots'"),
        ({"scale": "linear"}, {}, "scale='log'"),
        ({"target": "best"}, {}, "best"),
        ({}, {"irrelevant_mask": np.ones((5, 3))}, r"irrelevant_mask .*\(5, 3\)"),
        ({}, {"irrelevant_mask": np.full(3, 0.5)}, "irrelevant_mask .*1 .*0.* NaN"),
        ({}, {"irrelevant_mask": np.ones((2, 3)), "annotated_rows": [0, 99]}, "annotated_rows .*2 row numbers"),
        ({"network": nn.Linear(3, 5)}, {}, r"returned shape \(4, 5\) for 4 rows"),
        ({"network": None}, {"irrelevant_mask": np.ones(2)}, r"irrelevant_mask .*\(2,\)"),
        ({"network": None, "batch_size": 0}, {}, "batch_size .*0"),
    ],
)
def test_errors(settings, given, message):
    x, y = two_reasons(60)
    with pytest.raises(ValueError, match=message):
        lx.RightReasons(**{"network": small()} | settings).fit(x, y, **given)


def test_use_before_fit():
    with pytest.raises(ValueError, match="not fitted yet"):
        lx.RightReasons(small()).predict(np.zeros((2, 3)))


def test_marked_inputs_that_are_still_used_are_logged(caplog):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(400, 2)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int)  # the marked column alone tells the class
    weak = lx.RightReasons(small(2), strength=1e-6, held_out=0.0, **SOON).fit(x, y, irrelevant_mask=[1, 0])
    assert weak.still_used_ > 0.3
    assert "still change with marked inputs" in caplog.text
    values = lx.RightReasons(small(2, 1), strength=1e-6, held_out=0.0, **SOON).fit(x, x[:, 0], irrelevant_mask=[1, 0])
    assert values.still_used_ > 0.5


# ---- rows that features encode ----


def leaky_table(n=200):
    """A category that gives the class away, a column that tells it honestly, and noise."""
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=n)
    dose = draw.normal(size=n) * 0.3 + 2 * y
    return pd.DataFrame({"leak": np.where(y, "b", "a"), "dose": dose, "noise": draw.normal(size=n)}), np.where(y, "ill", "well")


def test_a_forbidden_category_is_not_used():
    x, y = leaky_table()
    model = lx.RightReasons(epochs=30).fit(x, y, irrelevant_mask=np.array([1, 0, 0]))
    e = model.explain(x)
    share = e.scores.mean(0)
    assert float(share[0]) < 0.1 * float(share[1])
    assert e.names == ("leak", "dose", "noise")
    assert e.features is model.features_
    assert e.classes == ("ill", "well")
    assert model.input_shape_ == (4,)
    assert model.n_features_in_ == 3
    assert model.score(x, y) > 0.9


def test_a_features_score_is_the_length_of_its_slopes():
    x, y = leaky_table(60)
    model = lx.RightReasons(epochs=1).fit(x, y)
    slopes = model.input_gradients(x)
    assert slopes.shape == (60, 4)
    assert np.allclose(model.explain(x).scores[:, 0], np.sqrt((slopes[:, :2] ** 2).sum(1)))
    assert np.allclose(model.explain(x).scores[:, 1:], np.abs(slopes[:, 2:]))
    assert np.allclose(model.explain(x).prediction, model.predict_proba(x))


def test_our_own_network_is_the_dense_one_on_encoded_rows():
    x, y = leaky_table(100)
    features = lx.Columns().fit(x)
    with seeded(5):
        network = mlp((4,), 2, sees_mask=False, hidden=(50, 30), activation=nn.ReLU)
    encoded = features.encode(x).x.numpy()
    marks = np.zeros((100, 3))
    marks[:50, 0] = 1
    marks[90:] = np.nan
    wide = marks[:, [0, 0, 1, 2]]
    plain = lx.RightReasons(network, epochs=3, batch_size=16, random_state=5).fit(encoded, y, irrelevant_mask=wide)
    ours = lx.RightReasons(epochs=3, random_state=5).fit(x, y, irrelevant_mask=marks)
    yours = lx.RightReasons(network, features=lx.Columns(), epochs=3, batch_size=16, random_state=5).fit(x, y, irrelevant_mask=wide)
    for model in (ours, yours):
        assert np.array_equal(model.predict_proba(x), plain.predict_proba(encoded))
        assert model.strength_ == plain.strength_
        assert model.still_used_ == plain.still_used_


def test_marks_of_features_of_encoded_inputs_and_of_some_rows_mean_the_same():
    x, y = leaky_table(100)
    ways = [
        {"irrelevant_mask": [1, 0, 0]},
        {"irrelevant_mask": [1, 1, 0, 0]},
        {"irrelevant_mask": np.tile([1, 0, 0], (100, 1))},
        {"irrelevant_mask": np.tile([1, 0, 0], (100, 1)), "annotated_rows": np.arange(100)},
    ]
    found = [lx.RightReasons(strength=5.0, epochs=2).fit(x, y, **way).predict_proba(x) for way in ways]
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_groups_and_patches_are_marked_and_explained():
    x, y = leaky_table(60)
    groups = lx.Groups({"both": ["leak", "dose"]})
    grouped = lx.RightReasons(features=groups, epochs=1).fit(x, y, irrelevant_mask=[1, 0])
    assert grouped.explain(x).names == ("both", "noise")
    assert not groups.is_fitted
    images = np.random.default_rng(0).normal(size=(60, 4, 4)).astype(np.float32)
    model = lx.RightReasons(features=Patches(2), epochs=1).fit(images, y, irrelevant_mask=[1, 0, 0, 0])
    assert model.explain(images).scores.shape == (60, 4)
    assert model.input_gradients(images).shape == (60, 1, 4, 4)


def test_padding_is_neither_marked_nor_scored():
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    features = Ragged().fit(x)
    model = lx.RightReasons(features=features, epochs=1).fit(x, [0, 1] * 30, irrelevant_mask=[0, 0, 1])
    e = model.explain(x)
    assert torch.equal(e.valid, features.encode(x).valid)
    assert not e.mask[~e.valid].any()
    assert (e.scores[~e.valid] == 0).all()
    marks = model.inputs_.marks([0, 0, 1], features.encode(x), None)
    assert torch.equal(marks[:, 2], e.valid[:, 2])


class Ragged(FeatureKind):
    """Rows of numbers that end where a feature says."""

    kind = "columns"
    names = ("a", "b", "c")
    shape = (3,)

    def fit(self, X):
        return self

    def encode(self, X, device="cpu"):
        x = torch.tensor(X, device=device)
        return Encoded(x, torch.arange(3) < 1 + torch.arange(len(x))[:, None] % 3)

    def decode(self, x):
        return x.numpy()


def test_features_without_gradients_raise():
    class Ids(Ragged):
        numeric = False

    with pytest.raises(TypeError, match=r"gradients.*embedded rows"):
        lx.RightReasons(features=Ids()).fit(np.zeros((60, 3), dtype=np.float32), [0, 1] * 30)


def test_rows_unlike_those_of_the_fit_raise():
    x, y = leaky_table(60)
    model = lx.RightReasons(epochs=1).fit(x, y)
    with pytest.raises(ValueError, match="column"):
        model.predict(x[["dose", "leak", "noise"]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        lx.RightReasons(epochs=1).fit(x, y[:-1])
