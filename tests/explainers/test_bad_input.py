"""Bad input is refused before any training, and the refusal says what was given, what is needed and the way out."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

from lexplain.baselines import AllBaseline
from lexplain.core import Classes
from lexplain.explainers import Explainer
from lexplain.features import Columns, Groups
from lexplain.methods import METHODS, realx
from lexplain.networks import MLP

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(100, 4))
Y = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["age", "height", "weight", "pulse"])


def chance(rows):
    yes = np.asarray(rows)[:, 0] > 0
    return np.stack([1 - 0.9 * yes, 0.9 * yes], 1)


def with_value(value, row=7, column=2):
    rows = X.copy()
    rows[row, column] = value
    return rows


@pytest.fixture(autouse=True)
def no_training(monkeypatch, request):
    """Training fails the test, but where a fit is asked for by name."""

    def fail(*args, **more):
        pytest.fail("the training was started")

    if "fitted" not in request.fixturenames:
        monkeypatch.setattr("lexplain.explainers.fitting.fit", fail)


@pytest.fixture(scope="module")
def fitted():
    return Explainer(keep=2, epochs=1).fit(FRAME, np.where(Y, "yes", "no"))


def refused(error, *words):
    """Expect an error whose message contains all these words, in upper or lower case."""
    return pytest.raises(error, match="(?si)" + "".join(f"(?=.*{re.escape(word)})" for word in words))


# ---- rows ----

TEXT = FRAME.astype({"weight": object})
TEXT.loc[3, "weight"] = "heavy"
BAD_ROWS = {
    "NaN": (with_value(np.nan), ValueError, ["NaN", "row 7", "column 2", "impute or drop"]),
    "infinity": (with_value(np.inf), ValueError, ["infinity", "row 7", "column 2"]),
    "minus infinity": (with_value(-np.inf), ValueError, ["infinity", "row 7"]),
    "too large": (with_value(1e300), ValueError, ["too large for float32", "row 7"]),
    "NaN in a frame": (pd.DataFrame(with_value(np.nan, column=0), columns=FRAME.columns), ValueError, ["NaN", "row 7", "column age"]),
    "text among numbers": (TEXT, ValueError, ["weight", "('heavy' in row 3)", "X.infer_objects()"]),
    "missing text": (FRAME.assign(age=[None] + ["old"] * 99), ValueError, ["NaN", "row 0", "age", "fillna"]),
    "a name a row": (pd.DataFrame({"a": [str(j) for j in range(1001)]}), ValueError, ["'a'", "1,001 categories"]),
    "text in an array": (np.where(X > 9, "a", "b"), ValueError, ["could not convert string"]),
    "objects": (np.full((100, 4), object()), TypeError, ["numeric"]),
    "one dimension": (X[:, 0], ValueError, ["(100,)", "(rows, columns) is needed", "reshape"]),
    "three dimensions": (X[:, :, None], ValueError, ["(100, 4, 1)", "(rows, columns)"]),
    "no rows": (X[:0], ValueError, ["0 sample(s)", "(0, 4)"]),
    "no columns": (X[:, :0], ValueError, ["0 feature(s)", "(100, 0)"]),
    "one column": (X[:, :1], ValueError, ["n_features=1", "at least 2"]),
    "too few rows": (X[:19], ValueError, ["n_samples=19", "at least 20 rows"]),
    "complex": (X * 1j, ValueError, ["Complex", "real"]),
    "dates": (FRAME.assign(age=pd.Timestamp("2020-01-01")), ValueError, ["age", "X.infer_objects()"]),
    "one group": (FRAME, ValueError, ["n_features=1", "at least 2"]),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_rows_that_cannot_be_learned_from(name):
    rows, error, words = BAD_ROWS[name]
    features = Groups(groups={"all": list(FRAME.columns)}) if name == "one group" else None
    with refused(error, *words):
        Explainer(features=features).fit(rows, Y[: len(rows)])


def test_sparse_rows():
    from scipy.sparse import csr_matrix

    with refused(TypeError, "sparse", "X.toarray()"):
        Explainer().fit(csr_matrix(X), Y)


@pytest.mark.parametrize("rows", [20, 100])
def test_so_few_rows_are_enough(rows, fitted):
    assert Explainer(epochs=1).fit(X[:rows], Y[:rows]).explain(X).mask.shape == (100, 4)


BAD_TO_EXPLAIN = {
    "too few columns": (X[:, :3], ["X has 3 features", "expecting 4 features"]),
    "too many columns": (np.hstack([X, X]), ["X has 8 features", "expecting 4"]),
    "other order": (
        FRAME[["height", "age", "weight", "pulse"]],
        ["feature names should match", "'height', 'age'", "'age', 'height'", "reorder"],
    ),
    "another name": (FRAME.rename(columns={"pulse": "heart"}), ["feature names should match", "got ['heart']", "'pulse'", "rename"]),
    "fewer names": (FRAME.drop(columns="age"), ["X has 3 features", "expecting 4"]),
    "NaN": (with_value(np.nan), ["NaN", "row 7", "impute or drop"]),
    "infinity": (with_value(np.inf), ["infinity", "row 7"]),
    "text": (TEXT, ["weight", "text"]),
    "one row without its axis": (X[0], ["(4,)", "X.reshape(1, -1)"]),
}


@pytest.mark.parametrize("name", BAD_TO_EXPLAIN)
@pytest.mark.parametrize("call", ["explain", "transform", "predict", "predict_proba"])
def test_rows_that_cannot_be_explained(name, call, fitted):
    rows, words = BAD_TO_EXPLAIN[name]
    with refused(ValueError, *words):
        getattr(fitted, call)(rows)


@pytest.mark.parametrize("call", ["explain", "transform", "predict", "predict_proba", "get_feature_names_out", "__call__"])
def test_explaining_before_fit(call):
    with refused(NotFittedError, "not fitted yet", "call fit(X, y) or fit(X, model=...) first"):
        getattr(Explainer(), call)(X)


def test_scoring_and_saving_before_fit(tmp_path):
    with refused(NotFittedError, "not fitted yet"):
        Explainer().score(X, Y)
    with refused(NotFittedError, "not fitted yet"):
        Explainer().save(tmp_path / "never.lex")
    assert not list(tmp_path.iterdir())


# ---- labels ----

BAD_LABELS = {
    "one class": (np.zeros(100, int), ["one class only", "[0]"]),
    "one value": (np.full(100, 0.5), ["constant"]),
    "too short": (Y[:99], ["X has 100 rows and y 99"]),
    "too long": (np.append(Y, 1), ["X has 100 rows and y 101"]),
    "NaN": (np.where(Y, np.nan, 1.5), ["y contains NaN", "drop such rows"]),
    "infinity": (np.where(Y, np.inf, 1.5), ["y contains NaN or infinity"]),
    "missing among text": (np.where(Y, None, "no"), ["y contains NaN", "drop such rows"]),
    "three dimensions": (np.zeros((100, 2, 2)), ["(100, 2, 2)", "probabilities"]),
    "no probabilities": (np.tile([0.5, 0.6], (100, 1)), ["(100, 2)", "sum to 1", "softmax"]),
    "below zero": (np.tile([-0.5, 1.5], (100, 1)), ["non-negative"]),
    "several labels a row": (np.tile([1, 1, 0], (100, 1)), ["sum to 1"]),
    "none": (None, ["y is None", "model="]),
    "empty": ([], ["(0,)", "probabilities"]),
}


@pytest.mark.parametrize("name", BAD_LABELS)
@pytest.mark.parametrize("regime", [None, "free", "fixed"])
def test_labels_that_cannot_be_explained(name, regime):
    labels, words = BAD_LABELS[name]
    with refused(ValueError, *words):
        Explainer(regime=regime).fit(X, labels)


@pytest.mark.parametrize(("target", "odd"), [("maybe", "'maybe'"), (1, "1"), (["yes"] * 99 + ["maybe"], "'maybe'")])
def test_a_class_that_was_not_in_the_fit(target, odd):
    with refused(ValueError, f"target contains {odd}", "['no', 'yes']"):
        AllBaseline().fit(X, np.where(Y, "yes", "no")).explain(X, target=target)


@pytest.mark.parametrize("target", [["yes"] * 3, [["yes"]] * 100])
def test_targets_that_are_not_one_a_row(target):
    with refused(ValueError, f"target has shape {np.shape(target)} for 100 rows"):
        AllBaseline().fit(X, np.where(Y, "yes", "no")).explain(X, target=target)


def test_a_class_of_a_real_valued_output():
    with refused(ValueError, "target=1", "real value"):
        AllBaseline().fit(X, X[:, 0] + 0.5).explain(X, target=1)


# ---- settings ----

BAD_SETTINGS = {
    "k of all features": ({"keep": 4}, ["keep=4", "of 4 features, 1 to 3"]),
    "k above": ({"keep": 9}, ["keep=9", "of 4 features, 1 to 3"]),
    "k of none": ({"keep": 0}, ["keep=0", "1 to 3"]),
    "negative k": ({"keep": -1}, ["keep=-1", "1 to 3"]),
    "numpy's k": ({"keep": np.int64(4)}, ["keep=4", "1 to 3"]),
    "rate of one": ({"keep": 1.0}, ["keep=1.0", "between 0 and 1", "integer"]),
    "rate of zero": ({"keep": 0.0}, ["keep=0.0", "between 0 and 1"]),
    "rate above": ({"keep": 2.5}, ["keep=2.5", "between 0 and 1"]),
    "rate of NaN": ({"keep": float("nan")}, ["keep=nan", "between 0 and 1"]),
    "a word for keep": ({"keep": "some"}, ["keep must be", "'some'", "rate"]),
    "a truth for keep": ({"keep": True}, ["keep must be", "True"]),
    "keep and penalty": ({"keep": 2, "penalty": 0.1}, ["keep=2", "penalty=0.1", "not both"]),
    "negative penalty": ({"penalty": -0.1}, ["penalty", "at least 0", "-0.1"]),
    "infinite penalty": ({"penalty": float("inf")}, ["penalty", "finite", "inf"]),
    "a word for penalty": ({"penalty": "high"}, ["penalty", "finite number", "'high'"]),
    "unknown method": ({"method": "magic"}, ["'magic'", "default", *METHODS]),
    "unknown regime": ({"regime": "post hoc"}, ["'post hoc'", "fixed, free, self, surrogate"]),
    "unknown device": ({"device": "tpu"}, ["'tpu'", "cpu, cuda, mps"]),
    "device out of reach": ({"device": "cpu:3"}, ["device='cpu:3'", "1 CPU device(s)", "'auto'"]),
    "device of no number": ({"device": "cpu:x"}, ["device='cpu:x'", "'auto'"]),
    "no epochs": ({"epochs": 0}, ["epochs", "positive integer", "0"]),
    "half an epoch": ({"epochs": 0.5}, ["epochs", "positive integer", "0.5"]),
    "negative batch": ({"batch_size": -3}, ["batch_size", "positive", "-3"]),
    "no batch": ({"batch_size": 0}, ["batch_size", "positive", "0"]),
    "no rows in flight": ({"max_rows": 0}, ["max_rows", "positive", "0"]),
    "a word for epochs": ({"epochs": "many"}, ["epochs", "positive integer", "'many'"]),
    "no speed": ({"learning_rate": 0}, ["learning_rate", "positive", "0"]),
    "speed of NaN": ({"learning_rate": float("nan")}, ["learning_rate", "positive", "nan"]),
    "groups of nothing": ({"features": Groups(groups={"g": ["x9"]})}, ["'x9'", "'x1', 'x2'"]),
    "groups that overlap": ({"features": Groups(groups={"g": [0, 1], "h": [1]})}, ["'x2'", "'g' and 'h'"]),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_settings_that_cannot_be_met(name):
    settings, words = BAD_SETTINGS[name]
    with refused(ValueError, *words):
        Explainer(**settings).fit(X, Y)


@pytest.mark.parametrize("method", ["l2x", "lex", "vibi"])
def test_a_price_for_a_method_of_fixed_size(method):
    with refused(ValueError, method, "fixed number", "penalty", "keep"):
        Explainer(method, penalty=0.1).fit(X, Y)


@pytest.mark.parametrize("kind", ["cuda", "cuda:0", "mps"])
def test_a_device_that_is_not_there(kind, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with refused(ValueError, f"device={kind!r}", f"sees 0 {kind[:4].strip(':').upper()} device(s)", "'auto' or 'cpu'"):
        Explainer(device=kind).fit(X, Y)


@pytest.mark.parametrize("part", ["keep", "penalty", "features", "selector", "predictor", "imputer"])
def test_parts_beside_a_method_that_has_them(part):
    given = realx(Columns().fit(X), Classes(2))
    with refused(ValueError, "Method", f"['{part}']"):
        Explainer(given, **{part: 1}).fit(X, Y)


def test_a_method_made_for_another_target():
    with refused(ValueError, "predictor", "3 classes", "2 classes"):
        Explainer(realx(Columns().fit(X), Classes(3))).fit(X, Y)
    with refused(ValueError, "predictor", "2 classes", "one real value"):
        Explainer(realx(Columns().fit(X), Classes(2))).fit(X, X[:, 0] + 0.5)


def test_a_method_made_for_other_columns():
    with refused(ValueError, "X has 4 features", "expecting 3"):
        Explainer(realx(Columns().fit(X[:, :3]), Classes(2))).fit(X, Y)


def test_a_selector_of_another_width():
    with refused(ValueError, "selector", "(4, 3)", "4 features"):
        Explainer(selector=MLP((4,), 3)).fit(X, Y)


@pytest.mark.parametrize("width", [1, 3])  # one logit would be sure of the one class it knows
def test_a_predictor_of_another_width(width):
    network = nn.Sequential(nn.Linear(4, width))
    with refused(ValueError, f"network returned shape (4, {width})", "(4, 2)"):
        Explainer(predictor=network, epochs=1).fit(X, Y)


def test_a_predictor_that_cannot_read_the_rows():
    with refused(ValueError, "predictor", "(4, 4)", "mat1 and mat2"):
        Explainer(predictor=nn.Linear(7, 2), epochs=1).fit(X, Y)


class Silent(nn.Module):
    def forward(self, x):
        raise RuntimeError


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"predictor": Silent()}, ["predictor", "(4, 4)", "RuntimeError"]),
        ({"predictor": nn.LSTM(4, 2)}, ["predictor", "(4, 4)"]),  # it returns a tuple
        ({"selector": nn.Linear(7, 4)}, ["selector", "(4, 4)", "mat1 and mat2"]),
    ],
    ids=str,
)
def test_networks_that_cannot_read_the_rows(parts, words):
    with refused(ValueError, *words):
        Explainer("lex", epochs=1, **parts).fit(X, Y)


@pytest.mark.parametrize("part", ["selector", "predictor"])
def test_names_of_networks(part):
    with refused(TypeError, part, "nn.Module", "'mlp'"):
        Explainer(**{part: "mlp"}).fit(X, Y)


class NeedsAnObject(nn.Module):
    def fit(self, x):
        return self


@pytest.mark.parametrize(("imputer", "words"), [({}, "got {}"), (True, "got True"), (NeedsAnObject, "a class method")])
def test_what_is_no_imputer(imputer, words):
    with refused(TypeError, words):
        Explainer("lex", imputer=imputer).fit(X, Y)


# ---- models ----


def test_labels_and_a_model_at_once():
    with refused(ValueError, "y", "model=", "regime='fixed'"):
        Explainer().fit(X, Y, model=chance)
    with refused(ValueError, "regime='free'", "model", "'surrogate'"):
        Explainer(regime="free").fit(X, Y, model=chance)


def test_neither_labels_nor_a_model():
    with refused(ValueError, "y is None", "model="):
        Explainer().fit(X)


@pytest.mark.parametrize("regime", ["self", "surrogate"])
def test_a_regime_that_needs_a_model(regime):
    with refused(ValueError, f"regime={regime!r}", "fit(X, model=...)"):
        Explainer(regime=regime).fit(X, Y)


def test_a_method_that_needs_a_model():
    with refused(ValueError, "model's output", "fit(X, model=...)"):
        Explainer("meed").fit(X, Y)


BAD_MODELS = {
    "other rows": (lambda rows: np.ones(3), ["shape (3,) for 100 rows", "(100, n_classes)", "(100,)", "predict_proba"]),
    "one number": (lambda rows: 0.5, ["shape () for 100 rows"]),
    "several outputs": (lambda rows: np.ones((2, 100, 2)) / 2, ["shape (2, 100, 2) for 100 rows"]),
    "no columns": (lambda rows: np.ones((100, 0)), ["shape (100, 0)"]),
    "NaN": (lambda rows: np.where(chance(rows) > 0.5, np.nan, 0.5), ["NaN or infinity"]),
    "infinity": (lambda rows: np.where(rows[:, 0] > 0, np.inf, 0.5), ["NaN or infinity"]),
    "labels": (lambda rows: np.where(rows[:, 0] > 0, "yes", "no"), ["<U3", "numbers are needed", "predict_proba rather than predict"]),
    "logits": (lambda rows: 5 * rows[:, :2], ["(100, 2)", "class probabilities", "softmax"]),
    "one value always": (lambda rows: np.ones(len(rows)), ["constant"]),
    "a network of NaN": (nn.Sequential(nn.Linear(4, 2), nn.Threshold(9.0, float("nan"))), ["NaN or infinity"]),
}


@pytest.mark.parametrize("name", BAD_MODELS)
@pytest.mark.parametrize("regime", ["self", "surrogate"])
def test_models_that_cannot_be_explained(name, regime):
    model, words = BAD_MODELS[name]
    with refused(ValueError, *words):
        Explainer("lex", regime=regime).fit(X, model=model)


def test_a_model_that_is_none():
    with refused(TypeError, "model must be", "got int"):
        Explainer().fit(X, model=3)


def test_a_fixed_model_of_another_kind_than_the_labels():
    with refused(ValueError, "model", "2 classes", "3 classes"):
        Explainer("lex", regime="fixed").fit(X, np.arange(100) % 3, model=chance)
    with refused(ValueError, "model", "one real value", "2 classes"):
        Explainer("lex", regime="fixed").fit(X, Y, model=lambda rows: rows[:, 0])


def test_a_training_that_diverges_is_not_passed_off_as_a_fit(fitted):
    explainer = Explainer(learning_rate=1e30, epochs=2)
    with refused(FloatingPointError, "diverged", "smaller learning_rate"):
        explainer.fit(X, Y)
    assert not hasattr(explainer, "method_")
