"""What other tools return, from the tools themselves."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression
from torch import nn

from lexplain.auditing import as_explanation, audit
from lexplain.core import Explanation

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what the tools themselves import
    import shap
    from captum.attr import IntegratedGradients
    from lime.lime_tabular import LimeTabularExplainer

ROWS, COUNT = 6, 4
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(ROWS, COUNT))
SCORES = GENERATOR.normal(size=(ROWS, COUNT))
FRAME = pd.DataFrame(X, columns=["age", "pay", "land", "job"], index=[f"r{i}" for i in range(ROWS)])
# By hand: of each row the two largest sizes, signs aside.
TWO = np.array([[abs(s) >= sorted(map(abs, row))[-2] for s in row] for row in SCORES])


def kept(explanation):
    return explanation.mask.numpy()


# ---- arrays of any kind ----


@pytest.mark.parametrize(
    "given",
    [
        SCORES,
        SCORES[::-1][::-1],
        SCORES.astype(np.float32),
        torch.tensor(SCORES, requires_grad=True),
        torch.tensor(SCORES).bfloat16(),
        (torch.tensor(SCORES),),
        SCORES.tolist(),
        pd.DataFrame(SCORES),
    ],
    ids=["array", "strided", "float32", "tensor with gradients", "bfloat16", "tuple of one tensor", "lists", "frame"],
)
@pytest.mark.parametrize("rows", [X, FRAME, X.tolist(), torch.tensor(X)], ids=["array", "frame", "lists", "tensor"])
def test_scores_of_any_kind(given, rows):
    e = as_explanation(given, rows, keep=2, method="mine", target=1)
    assert isinstance(e, Explanation)
    assert np.allclose(e.scores.numpy(), SCORES, atol=0.02)
    assert np.array_equal(kept(e), TWO)
    assert e.names == (tuple(FRAME.columns) if rows is FRAME else ("x1", "x2", "x3", "x4"))
    assert (e.method, e.target_index.tolist(), e.additive) == ("mine", [1] * ROWS, False)
    assert np.allclose(np.asarray(e.data), X)
    assert e.data is FRAME or rows is not FRAME


def test_what_was_given_is_not_shared():
    own = SCORES.copy()
    as_explanation(own, X, keep=2).scores.zero_()
    assert np.array_equal(own, SCORES)


@pytest.mark.parametrize(("keep", "size"), [(1, 1), (3, 3), (np.int64(2), 2), (0.5, 2), (0.3, 1), (0.01, 1), (0.99, 3)])
def test_so_many_are_kept(keep, size):
    e = as_explanation(SCORES, X, keep=keep)
    assert (e.mask.sum(1) == size).all()
    assert (e.scores.abs()[e.mask].reshape(ROWS, size).min(1).values >= e.scores.abs()[~e.mask].reshape(ROWS, -1).max(1).values).all()


def test_of_equal_scores_the_first_are_kept():
    many = np.where(np.arange(100) % 3, 2.0, -3.0)[None]  # 34 of size 3, then the first of size 2
    assert np.flatnonzero(kept(as_explanation(many, many, keep=40))).tolist() == sorted([*range(0, 100, 3), 1, 2, 4, 5, 7, 8])
    assert kept(as_explanation(np.array([[200, 0, 250]], dtype=np.uint8), np.zeros((1, 3)), keep=1)).tolist() == [[False, False, True]]
    assert kept(as_explanation(np.array([[-128, 3, 127]], dtype=np.int8), np.zeros((1, 3)), keep=1)).tolist() == [[True, False, False]]


@pytest.mark.parametrize(
    "given",
    [TWO, TWO.astype(int), TWO.astype(float).tolist(), torch.tensor(TWO), pd.DataFrame(TWO)],
    ids=["truths", "ints", "lists", "tensor", "frame"],
)
def test_masks_are_themselves(given):
    e = as_explanation(given, X)
    assert np.array_equal(kept(e), TWO)
    assert e.mask.dtype == torch.bool
    assert np.array_equal(e.scores.numpy(), TWO)
    assert kept(as_explanation(np.ones((ROWS, COUNT)), X)).all()  # of everything, too
    assert not kept(as_explanation(np.zeros((ROWS, COUNT)), X)).any()


def test_sparse_scores_keep_what_is_not_zero():
    sparse = SCORES * TWO
    assert np.array_equal(kept(as_explanation(sparse, X)), TWO)
    assert kept(as_explanation(sparse, X, keep=1)).sum() == ROWS
    sparse[0] = SCORES[0]  # one row leaves nothing out
    with pytest.raises(ValueError, match=r"keep= .*\(1 to 3\)"):
        as_explanation(sparse, X)


def test_a_frame_is_put_into_the_order_of_the_rows():
    labelled = pd.DataFrame(SCORES, columns=FRAME.columns, index=FRAME.index)
    turned = labelled.iloc[::-1, [2, 0, 3, 1]]
    assert np.array_equal(as_explanation(turned, FRAME, keep=2).scores.numpy(), SCORES)
    shuffled = pd.DataFrame(X).sample(frac=1, random_state=0)  # its index is a numbering of other rows than those of plain scores
    assert np.array_equal(as_explanation(pd.DataFrame(SCORES), shuffled, keep=2).scores.numpy(), SCORES)
    assert as_explanation(labelled, X, keep=2).names == tuple(FRAME.columns)  # names where X has none


def test_scores_of_pixels_are_those_of_patches_of_one_pixel():
    images, scores = np.zeros((3, 2, 5)), GENERATOR.normal(size=(3, 2, 5))
    e = as_explanation(torch.tensor(scores), images, keep=4)
    assert np.array_equal(e.scores.numpy(), scores.reshape(3, 10))
    assert (e.mask.sum(1) == 4).all()
    assert e.names[-1] == "r2 c5"
    assert e.features.count == 10


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_scores_of_images_in_colour_are_of_each_channel_or_of_all(layout):
    scores = GENERATOR.normal(size=(2, 3, 6, 5))
    given = scores if layout == "NCHW" else np.moveaxis(scores, 1, -1)
    each = as_explanation(given, np.zeros(given.shape), keep=4)
    assert each.features.each_channel
    assert np.array_equal(each.scores.numpy(), scores.reshape(2, 90))
    assert np.array_equal(each.features.expand_scores(each.scores).numpy(), given)
    together = as_explanation(scores[:, 0], np.zeros(given.shape), keep=4)
    assert together.features.count == 30
    assert np.array_equal(together.scores.numpy(), scores[:, 0].reshape(2, 30))
    one = scores[:, :1] if layout == "NCHW" else np.moveaxis(scores[:, :1], 1, -1)
    assert np.array_equal(as_explanation(one, np.zeros(given.shape), keep=4).scores, together.scores)
    with pytest.raises(ValueError, match="shape"):
        as_explanation(scores[:, :2, :3], np.zeros(given.shape), keep=4)


def test_attributions_of_images_in_colour_are_audited(short_judges):
    short_judges(judge=20, reader=20)
    images = GENERATOR.random((60, 3, 8, 8)).astype(np.float32)
    labels = (images[:, 0, :4, :4].mean((1, 2)) > 0.5).astype(int)
    card = audit(images, images, labels, keep=4, measures=[])
    assert card["Kept"].mean == 4
    assert card.explanation.features.each_channel
    assert card.verdict in ("honest", "encodes", "cannot tell")


def test_an_explanation_of_ours_is_returned_as_it_is():
    ours = Explanation(torch.tensor(SCORES), torch.tensor(TWO), tuple("abcd"))
    assert as_explanation(ours, X, keep=1, method="other") is ours
    with pytest.raises(ValueError, match=r"6 explanation.* 5 rows of X"):
        as_explanation(ours, X[:5])


# ---- the tools ----

MODEL = LogisticRegression().fit(GENERATOR.normal(size=(60, COUNT)), GENERATOR.integers(3, size=60))
BACKGROUND = GENERATOR.normal(size=(20, COUNT))
CLASSES = MODEL.predict_proba(X).argmax(1)


def test_shap_of_one_output():
    linear = LinearRegression().fit(BACKGROUND, BACKGROUND @ [1.0, 0.0, -2.0, 0.5])
    given = shap.LinearExplainer(linear, BACKGROUND)(FRAME)
    e = as_explanation(given, X, keep=2)
    truth = linear.coef_ * (X - BACKGROUND.mean(0))
    assert np.allclose(e.scores.numpy(), truth)
    assert e.names == tuple(FRAME.columns)  # shap remembered them
    assert (e.method, e.additive, e.target_index) == ("shap", True, None)
    assert np.allclose((e.base_values + e.scores.sum(1)).numpy(), linear.predict(X))
    back = e.to_shap()
    assert np.array_equal(back.values, given.values)
    assert np.allclose(back.base_values, given.base_values)
    given.base_values = np.float64(0.25)  # one for all rows
    assert as_explanation(given, X, keep=2).base_values.tolist() == [0.25] * ROWS


def test_shap_of_several_classes():
    given = shap.LinearExplainer(MODEL, BACKGROUND)(X)
    assert given.values.shape == (ROWS, COUNT, 3)
    with pytest.raises(ValueError, match=r"3 classes \(\[0, 1, 2\]\).* target="):
        as_explanation(given, X, keep=2)
    e = as_explanation(given, X, keep=2, target=CLASSES)
    assert np.array_equal(e.scores.numpy(), np.stack([given.values[i, :, c] for i, c in enumerate(CLASSES)]))
    assert e.target_index.tolist() == CLASSES.tolist()
    assert np.allclose((e.base_values + e.scores.sum(1)).numpy(), MODEL.decision_function(X).max(1))
    one = as_explanation(given, X, keep=2, target=torch.tensor(2))
    assert np.array_equal(one.scores.numpy(), given.values[:, :, 2])
    lists = [given.values[:, :, c] for c in range(3)]  # how shap gave them up to 0.44
    assert torch.equal(as_explanation(lists, X, keep=2, target=CLASSES).scores, e.scores)
    assert torch.equal(as_explanation([torch.tensor(each) for each in lists], FRAME, keep=2, target=CLASSES).scores, e.scores)
    alone = as_explanation(lists[:1], X, keep=2)  # one class is no question
    assert np.array_equal(alone.scores.numpy(), lists[0])
    assert alone.target_index is None
    with pytest.raises(ValueError, match=r"target contains 3.* \[0, 1, 2\]"):
        as_explanation(given, X, keep=2, target=3)


def test_captum():
    network = nn.Sequential(nn.Linear(COUNT, 5), nn.Tanh(), nn.Linear(5, 3))
    rows = torch.tensor(X, dtype=torch.float32)
    given = IntegratedGradients(network).attribute((rows,), target=torch.tensor(CLASSES))
    assert isinstance(given, tuple)
    e = as_explanation(given, X, keep=1, target=CLASSES, method="integrated gradients")
    assert torch.equal(e.scores, given[0])
    assert torch.equal(e.mask, given[0].abs() == given[0].abs().max(1, keepdim=True).values)
    with pytest.raises(ValueError, match="tuple of 2 tensors"):
        as_explanation((rows, rows), X, keep=1)


def limes(mode="classification", **more):
    tool = LimeTabularExplainer(BACKGROUND, mode=mode, discretize_continuous=False, random_state=0)
    predict = MODEL.predict_proba if mode == "classification" else lambda rows: rows @ np.array([3.0, 0, 0, -2])
    return [tool.explain_instance(row, predict, num_features=2, num_samples=200, **more) for row in X]


def test_lime_of_the_predicted_class():
    given = limes(top_labels=1)
    e = as_explanation(given, FRAME)
    assert (e.method, e.target_index.tolist()) == ("lime", CLASSES.tolist())
    assert (e.mask.sum(1) == 2).all()
    for row, each in enumerate(given):
        for place, weight in each.as_map()[CLASSES[row]]:
            assert e.scores[row, place] == weight
            assert e.mask[row, place]
    one = as_explanation(given[2], X[2:3])
    assert torch.equal(one.scores, e.scores[2:3])
    assert e.as_list(0)[0][0] in FRAME.columns


def test_lime_of_several_classes():
    given = limes(labels=(0, 2))
    with pytest.raises(ValueError, match=r"2 classes \(\[0, 2\]\).* target="):
        as_explanation(given, X)
    e = as_explanation(given, X, target=[0, 2, 0, 2, 0, 2])
    assert dict(given[1].as_map()[2]) == {j: e.scores[1, j].item() for j in range(COUNT) if e.mask[1, j]}
    assert e.target_index.tolist() == [0, 2, 0, 2, 0, 2]
    with pytest.raises(ValueError, match=r"target contains 1.* \[0, 2\]"):
        as_explanation(given, X, target=1)


def test_lime_of_a_real_value():
    e = as_explanation(limes("regression"), X)
    assert e.mask.tolist() == [[True, False, False, True]] * ROWS
    assert (e.scores[:, 0] > 0).all()  # of the value itself: LIME keeps the opposite signs, too
    assert e.target_index is None


def test_what_was_adopted_can_be_audited(short_judges):
    short_judges(judge=20, reader=20)
    rows = GENERATOR.normal(size=(60, COUNT)).astype(np.float32)
    scores = rows * MODEL.coef_[1]
    card = audit(
        as_explanation(scores, rows, keep=2, method="x times w"), rows, model=MODEL, truth=np.abs(scores) == np.abs(scores).max(1)[:, None]
    )
    assert card.method == "x times w"
    assert (card["TPR"].mean, card["FDR"].mean) == (1, 0.5)


# ---- errors ----


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        (SCORES[:5], {"keep": 2}, r"scores .*\(5, 4\).* X .*\(6, 4\)"),
        (SCORES[:, :3], {"keep": 2}, r"scores .*\(6, 3\).* X .*\(6, 4\)"),
        (SCORES[0], {"keep": 2}, r"scores .*\(4,\).* X .*\(6, 4\)"),
        ([[1.0], [1.0, 2.0]], {"keep": 2}, r"scores .* table of numbers \(.*\)"),
        (np.where(TWO, np.nan, 1.0), {"keep": 2}, r"nan \(first at \(0, \d\)\)"),
        (np.where(TWO, np.inf, 1.0), {"keep": 2}, r"inf \(first at"),
        (SCORES, {}, r"keep= .*\(1 to 3\)"),
        (SCORES, {"keep": 4}, "keep=4 .*of 4 features, 1 to 3"),
        (SCORES, {"keep": 1.5}, r"keep=1\.5 .*between 0 and 1"),
        (SCORES, {"keep": "auto"}, r"keep .*\(1 to 3\).* 'auto'"),
        (TWO, {"keep": 2}, "boolean mask .*keep=2"),
        (SCORES, {"keep": 2, "target": ["a"] * 6}, r"target .* index .* <U1 and shape \(6,\)"),
        (SCORES, {"keep": 2, "target": [0, 1]}, r"target .* index .*\(6,\).* shape \(2,\)"),
        (SCORES, {"keep": 2, "target": -1}, "target contains -1"),
    ],
)
def test_wrong_arguments_raise(given, more, words):
    with pytest.raises(ValueError, match=words):
        as_explanation(given, X, **more)


def test_other_objects_raise():
    with pytest.raises(TypeError, match=r"numbers.* <U1"):
        as_explanation([["a"] * COUNT] * ROWS, X)
    with pytest.raises(TypeError, match=r"numbers.* object"):
        as_explanation(None, X)
    with pytest.raises(ValueError, match=r"\(rows, features\)"):
        as_explanation(SCORES[:, 0], X[:, 0], keep=2)
    with pytest.raises(ValueError, match=r"1 explanation.* 6 rows of X"):
        as_explanation(limes(top_labels=1)[0], X)
    with pytest.raises(ValueError, match=r"feature 3.* \(6, 3\)"):
        as_explanation(limes("regression"), X[:, :3])
