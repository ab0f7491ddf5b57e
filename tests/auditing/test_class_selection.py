"""One class per row is evaluated, in classes that all rows share."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import lexplain as lx
from lexplain.auditing.class_selection import ClassSelection, every_class
from lexplain.core import Explanation
from lexplain.models import targets_of

ROWS, COUNT = 90, 4
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((ROWS, COUNT)).astype(np.float32)
NAMES = np.array(["blue", "green", "red"])
Y = NAMES[X[:, :3].argmax(1)]
MODEL = LogisticRegression().fit(X, Y)
PREDICTED = MODEL.predict_proba(X).argmax(1)
SCORES = GENERATOR.standard_normal((ROWS, COUNT, 3))
AT = np.arange(ROWS)
QUICK = {"keep": 2, "measures": []}


@pytest.fixture(autouse=True)
def _quick_judges(short_judges):
    short_judges(judge=5, reader=5)


def scores_of(given, **more):
    """The scores that were audited, and the classes that they are of."""
    e = lx.audit(given, X, **{**QUICK, **more}).explanation
    return e.scores.numpy(), e.target_index.tolist()


@pytest.mark.parametrize("given", [SCORES, list(np.moveaxis(SCORES, 2, 0)), torch.tensor(SCORES)], ids=["axis", "list", "tensor"])
def test_of_several_classes_the_predicted_one_is_judged(given):
    scores, asked = scores_of(given, model=MODEL)
    assert np.array_equal(scores, SCORES[AT, :, PREDICTED])
    assert asked == PREDICTED.tolist()


@pytest.mark.parametrize("known", [{"model": MODEL}, {"y": Y}], ids=["model", "labels"])
def test_labels_say_which_class_is_judged(known):
    scores, asked = scores_of(SCORES, target="green", **known)
    assert np.array_equal(scores, SCORES[:, :, 1])
    assert asked == [1] * ROWS
    mixed = GENERATOR.integers(3, size=ROWS)
    scores, asked = scores_of(SCORES, target=NAMES[mixed], **known)
    assert np.array_equal(scores, SCORES[AT, :, mixed])
    assert asked == mixed.tolist()
    assert scores_of(SCORES[:, :, 0], target="red", **known)[1] == [2] * ROWS  # plain scores are of the class that they are said to be


def test_of_shap_s_own_explanation():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what shap itself imports
        shap = pytest.importorskip("shap")
    given = shap.LinearExplainer(MODEL, X)(X)
    assert given.values.shape == (ROWS, COUNT, 3)
    scores, _ = scores_of(given, model=MODEL)
    assert np.allclose(scores, given.values[AT, :, PREDICTED])
    assert np.allclose(scores_of(given, model=MODEL, target="blue")[0], given.values[:, :, 0])


def test_other_rows_and_an_explainer_choose_likewise():
    half, asked = ROWS // 2, []

    def explain(rows):
        asked.append(len(rows))
        return SCORES[: len(rows)] if len(rows) <= ROWS else np.resize(SCORES, (len(rows), COUNT, 3))

    known = {"model": MODEL, "train": (X[half:], None, SCORES[half:]), "keep": 2, "explainer": explain, "measures": ["speed"]}
    assert lx.audit(SCORES[:half], X[:half], **known).explanation.target_index.tolist() == PREDICTED[:half].tolist()
    assert asked
    one = ClassSelection(NAMES, 2, label="green")(SCORES[half:], X[half:])
    assert np.array_equal(one.scores.numpy(), SCORES[half:, :, 1])
    with pytest.raises(ValueError, match=r"3 classes.* train or explainer"):
        lx.audit(SCORES[:half], X[:half], target=NAMES[PREDICTED[:half]], **known)


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        (SCORES, {"y": Y}, "3 classes.* target="),
        (SCORES, {"y": Y, "target": "pink"}, "target.*'pink'.*'blue', 'green', 'red'"),
        (SCORES, {"y": Y, "target": NAMES[[0, 1]]}, r"target has shape \(2,\) for 90 rows"),
        (SCORES[:, :, :2], {"model": MODEL}, r"2 classes.* 3 classes: \['blue', 'green', 'red'\]"),
        (SCORES[:, :, :2], {"model": MODEL, "target": "blue"}, "2 classes.* 3 classes"),
        (SCORES, {"y": X[:, 0].astype(float), "target": 1}, "3 classes.* real values"),
    ],
)
def test_which_class_is_not_guessed(given, more, words):
    with pytest.raises(ValueError, match=words):
        lx.audit(given, X, **QUICK, **more)


def test_an_explanation_of_ours_knows_its_class():
    mask = torch.ones(ROWS, COUNT, dtype=torch.bool)
    plain = Explanation(mask.float(), mask, tuple("abcd"))
    assert scores_of(plain, y=Y, target="green")[1] == [1] * ROWS
    told = Explanation(mask.float(), mask, tuple("abcd"), target_index=torch.full((ROWS,), 2))
    assert scores_of(told, y=Y, target="red")[1] == [2] * ROWS
    with pytest.raises(ValueError, match=r"target .*class 1 .*row 0.* class 2"):
        lx.audit(told, X, Y, target="green", measures=[])


# ---- classes of either part ----


@pytest.mark.parametrize("lacking", ["judged", "learned from", "both"])
def test_classes_are_those_of_either_part(lacking):
    here = np.array(["red", "blue"] if lacking != "learned from" else ["red", "blue", "green"])
    there = np.array(["green", "red", "blue"] if lacking == "judged" else ["green", "red"])
    labels, others = np.resize(here, ROWS), np.resize(there, ROWS)
    classes = every_class(None, labels, (X, others))
    assert classes.tolist() == ["blue", "green", "red"]
    target = targets_of(X, labels, None, classes=classes).target
    assert target.classes.tolist() == ["blue", "green", "red"]
    assert np.array_equal(classes[target.values.argmax(1).numpy()], labels)
    card = lx.audit(np.eye(COUNT)[AT % COUNT], X, labels, train=(X, others), measures=[])
    assert card["eACC"].mean == card["eACC"].mean


def test_rows_of_one_class_are_judged_by_rows_of_two():
    card = lx.audit(np.tile([True, False, False, False], (ROWS, 1)), X, np.ones(ROWS), train=(X, (X[:, 0] > 0).astype(int)), measures=[])
    assert 0 <= card["eACC"].mean <= 1


@pytest.mark.parametrize(
    ("y", "train"),
    [
        (None, (X, Y)),
        (Y, None),
        (Y, (X,)),
        (Y, (X, None)),
        (Y, (X, np.arange(ROWS))),
        (np.eye(3)[PREDICTED], (X, Y)),
        (X[:, 0], (X, X[:, 1])),
    ],
    ids=["model", "no other rows", "rows alone", "no labels", "text and numbers", "probabilities", "real values"],
)
def test_there_are_no_classes_to_join(y, train):
    assert every_class(None, y, train) is None


def test_text_and_numbers_are_no_classes_of_one_kind():
    with pytest.raises(ValueError, match="same type of target"):
        lx.audit(np.eye(COUNT)[AT % COUNT], X, Y, train=(X, AT % 3), measures=[])
