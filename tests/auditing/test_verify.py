"""`verify`: the fewest features under which a model's answer holds, checked against models whose answer is known."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

import lexplain as lx
from lexplain.auditing import VerifyWarning
from lexplain.auditing.verification import CONFIRM_DRAWS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 6))


def both(rows):
    """Class 1 where columns 0 and 1 are positive; of the other columns it sees nothing."""
    positive = (np.asarray(rows)[:, 0] > 0) & (np.asarray(rows)[:, 1] > 0)
    return np.stack([~positive, positive], 1).astype(float)


def value(rows):
    return np.asarray(rows) @ [5.0, 1, 0, 0, 0, 0]


ORDER = np.tile([3.0, 2, 1, 0.5, 0.4, 0.3], (len(X), 1))


def verified(rows=X, scores=None, **settings):
    scores = ORDER[: len(rows)] if scores is None else scores
    return lx.verify(scores, rows, **{"model": both, "background": X, **settings})


def test_the_features_that_the_answer_needs_are_found():
    e = verified()
    yes = both(X)[:, 1] == 1
    assert (e.mask[yes] == torch.tensor([True, True, False, False, False, False])).all()  # both are needed, and nothing else
    sure = ~yes & (X[:, 0] < 0)
    assert (e.mask[sure].sum(1) == 1).double().mean() > 0.95  # one negative column suffices, if it is not near a positive one
    assert e.verified.all() and e.holds.min() >= 0.95
    assert torch.equal(e.prediction.argmax(1), e.target) and e.prediction.tolist() == both(X).tolist()


def test_features_that_can_be_spared_are_dropped_and_only_one_class_needs_none():
    rows = X[both(X)[:, 1] == 1][:30]
    e = verified(rows, np.tile([1.0, 2, 6, 5, 4, 3], (30, 1)))  # four useless features come first
    assert (e.mask == torch.tensor([True, True, False, False, False, False])).all()
    nearly_always = np.concatenate([X[:80], X - 9, X - 8])  # class 0 in 49 rows of 50
    e = verified(X[:40], background=nearly_always)
    assert (e.mask.any(1).numpy() == (both(X[:40])[:, 1] == 1)).mean() > 0.9


def test_what_holds_is_what_other_draws_find():
    keep = verified(keep=1)
    donors = np.argsort(np.abs(np.argsort(np.argsort(X[:, 0]))[:, None] - np.argsort(np.argsort(X[:, 0]))[None]), 1)[:, 1:17]
    slow = [(both(np.where(np.arange(6) == 0, X[i], X[donors[i]])).argmax(1) == both(X[i : i + 1]).argmax()).mean() for i in range(len(X))]
    assert keep.mask.sum(1).eq(1).all() and keep.model_rows.eq(1 + CONFIRM_DRAWS).all()
    assert abs(keep.holds.mean() - np.mean(slow)) < 0.01
    assert np.abs(keep.holds.numpy() - slow).mean() < 0.06  # the error of 96 draws, and ranks next to one another
    assert torch.equal(keep.verified, keep.holds >= 0.95)


def test_a_mask_stays_and_is_measured_with_other_rows():
    found, others = verified(), RANDOM.normal(size=(400, 6))
    masks = found.mask.clone()
    masks[:3] = torch.tensor([[True] * 6, [False] * 6, [True, False, False, False, False, False]])
    measured = [verified(scores=mask, background=others, random_state=9) for mask in (masks, masks.numpy(), pd.DataFrame(masks.numpy()))]
    assert torch.equal(measured[0].mask, masks) and measured[0] == measured[1] == measured[2]
    assert measured[0].holds[0] == 1 and (both(X[1:2]).argmax() == 1) == (measured[0].holds[1] < 0.5)
    assert measured[0].holds[3:].mean() > 0.93 and not torch.equal(measured[0].holds, found.holds)
    by_number = verified(keep=1)
    assert torch.equal(verified(scores=by_number.mask).holds, by_number.holds)
    with pytest.raises(ValueError, match="Leave keep out"):
        verified(scores=masks, keep=2)


def test_a_row_has_the_same_answer_whatever_rows_are_beside_it():
    frame = pd.DataFrame(X).assign(kind=np.where(X[:, 3] > 0.3, "a", "b"), many=RANDOM.integers(0, 5, len(X)).astype(str))
    frame.columns = [*"uvwxyz", "kind", "many"]
    model = HistGradientBoostingClassifier(max_iter=20).fit(X, both(X)[:, 1] + (X[:, 2] > 1)).predict_proba
    query = {"model": lambda rows: model(rows[list("uvwxyz")].to_numpy()), "background": frame}
    scores = RANDOM.normal(size=(60, 8))
    whole = lx.verify(scores, frame[:60], **query)
    for some in ([7], [59, 7, 3], list(range(30, 60))):
        part = lx.verify(scores[some], frame.iloc[some], **query)
        assert part == whole[some]
    other = lx.verify(scores, frame[:60], random_state=1, **query)
    assert not torch.equal(other.holds, whole.holds)


def test_scores_are_read_for_the_predicted_class():
    toward_one = np.where(np.arange(6) < 2, X, 0.1)  # as shap's for class 1 of two
    e = verified(scores=toward_one, target=1)
    assert torch.allclose(e.scores, torch.from_numpy(np.where(both(X)[:, :1] == 1, -toward_one, toward_one)))
    both_classes = np.stack([-toward_one, toward_one], -1)
    assert verified(scores=both_classes) == e
    absolute = verified(scores=toward_one, target=1, order="absolute")
    assert absolute.model_rows.sum() > e.model_rows.sum()  # a column that speaks against the answer comes first, and is pruned


def test_a_real_value_may_move_by_a_share_of_its_spread():
    narrow, wide = (lx.verify(ORDER, X, model=value, background=X, within=within) for within in (None, 1.0))
    assert narrow.target_index is None and narrow.classes is None
    assert narrow.mask.sum(1).double().mean() > wide.mask.sum(1).double().mean() and (wide.mask.sum(1) <= 1).double().mean() > 0.9
    assert (narrow.holds >= 0.95).all()


def test_the_probability_may_move_if_within_is_given():
    def soft(rows):
        p = 1 / (1 + np.exp(-np.asarray(rows) @ [2.0, 1, 0.5, 0, 0, 0]))
        return np.stack([1 - p, p], 1)

    by_class, by_probability = (verified(model=soft, within=within).mask.sum() for within in (None, 0.05))
    assert by_probability > by_class


def test_a_row_ends_at_the_limit_and_says_so():
    e = verified(max_model_rows=150)
    assert (e.model_rows <= 150).all() and not e.verified.all()
    assert e.holds[~e.verified].isnan().all()
    assert verified(max_model_rows=10_000) == verified()


def test_nothing_less_than_all_features_may_hold():
    odd = X[:40]
    e = verified(odd, model=lambda rows: np.eye(2)[np.isin(np.asarray(rows).sum(1), odd.sum(1)).astype(int)])  # only these very rows
    assert e.mask.all() and e.verified.all() and (e.holds == 1).all() and (e.holds_se == 0).all()


def test_a_model_that_changes_its_answer_is_found():
    with pytest.warns(VerifyWarning, match="changes its answer"):
        verified(X[:50], model=lambda rows: np.random.default_rng().dirichlet([1, 1], len(rows)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": lambda rows: np.zeros((3, 2))}, r"returned shape \(3, 2\)"),
        ({"model": lambda rows: np.full((len(rows), 2), np.nan)}, "NaN"),
        ({"background": X[:1]}, "at least 2"),
        ({"background": X[:1], "model": value}, "at least 2"),
        ({"background": None}, "Pass background="),
        ({"model": None}, "Pass model="),
        ({"keep": 0}, "keep=0 is out of range"),
        ({"max_model_rows": 0}, "max_model_rows must be a positive integer, got 0"),
        ({"scores": np.full(X.shape, np.nan)}, "scores contain nan"),
        ({"scores": X[:, :3]}, r"\(400, 3\)"),
        ({"holds": 1.5}, "holds must be a number between 0 and 1"),
        ({"order": "best"}, "Unknown order 'best'"),
        ({"within": -1}, "within must be a positive number"),
        ({"scores": lx.as_explanation(ORDER, X, keep=2), "keep": 3}, "keep=3 needs scores"),
    ],
)
def test_bad_input_has_one_clear_error(settings, message):
    with pytest.raises(ValueError, match=message):
        verified(**settings)


def test_an_error_of_the_model_reaches_the_user():
    calls = []

    def failing(rows):
        calls.append(len(rows))
        if len(calls) > 3:
            raise RuntimeError("out of order")
        return both(rows)

    with pytest.raises(RuntimeError, match="out of order"):
        verified(model=failing)
