"""Selections against a known truth: worked numbers, and scikit-learn's AUROC."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import roc_auc_score

from lexplain.measures.truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr

TRUTH = torch.tensor([[1, 1, 0, 0, 0], [0, 0, 0, 1, 1]]).bool()
MASK = torch.tensor([[1, 0, 1, 0, 0], [0, 0, 0, 0, 0]]).bool()


def test_rates_by_hand():
    assert tpr(MASK, TRUTH).tolist() == [0.5, 0.0]
    assert fpr(MASK, TRUTH).tolist() == pytest.approx([1 / 3, 0.0])
    assert fdr(MASK, TRUTH).tolist() == [0.5, 0.0]  # an empty mask makes no false discovery


def test_masks_of_zeros_and_ones_may_be_floats():
    assert tpr(MASK.float(), TRUTH.float()).tolist() == [0.5, 0.0]


def test_rates_are_undefined_without_what_they_are_shares_of():
    nothing, everything = torch.zeros(1, 3).bool(), torch.ones(1, 3).bool()
    assert tpr(everything, nothing).isnan().all()
    assert fpr(everything, everything).isnan().all()


@pytest.mark.parametrize("rate", [tpr, fpr, fdr], ids=lambda r: r.key)
def test_rates_of_several_draws(rate):
    draws = torch.stack([MASK, TRUTH, ~TRUTH])  # (3, b, d)
    assert torch.equal(rate(draws, TRUTH), torch.stack([rate(m, TRUTH) for m in draws]))


def test_control_flow_selection_is_one_only_if_the_column_is_always_on():
    mask = torch.tensor([[1, 0, 1], [0, 0, 1], [1, 0, 1]]).bool()
    assert [cfsr(mask, j).mean().item() for j in range(3)] == pytest.approx([2 / 3, 0, 1])
    assert cfsr(torch.stack([mask, ~mask]), 0).tolist() == [[1, 0, 1], [0, 1, 0]]


def test_auroc_by_hand():
    scores = torch.tensor([[0.9, 0.1, 0.5], [0.4, 0.5, 0.2]])  # true cells 0.9 and 0.5 (a tie), false ones 0.1 0.5 0.4 0.2
    truth = torch.tensor([[1, 0, 0], [0, 1, 0]]).bool()
    assert auroc_against_truth(scores, truth).mean().item() == pytest.approx((1 + 3.5 / 4) / 2)


@settings(deadline=None)
@given(st.data(), st.integers(1, 6), st.integers(2, 5))
def test_auroc_is_the_pooled_one(data, rows, features):
    scores = data.draw(arrays(np.float32, (rows, features), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0])))  # many ties
    truth = data.draw(arrays(np.bool_, (rows, features)))
    values = auroc_against_truth(torch.tensor(scores), torch.tensor(truth))
    if truth.all() or not truth.any():
        assert values.isnan().all()
    else:
        assert values.mean().item() == pytest.approx(roc_auc_score(truth.ravel(), scores.ravel()), abs=1e-9)


def test_auroc_of_several_draws():
    scores, truth = torch.rand(4, 5, 3, generator=torch.Generator().manual_seed(0)), torch.eye(5, 3).bool()
    alone = torch.stack([auroc_against_truth(s, truth) for s in scores])
    assert torch.allclose(auroc_against_truth(scores, truth), alone)


def test_auroc_values_are_influences():
    """A row's value is what the AUROC would become if the row were weighted up, to first order."""
    draw = torch.Generator().manual_seed(1)
    scores, truth = torch.randn(40, 4, generator=draw), torch.rand(40, 4, generator=draw) < 0.4
    values, step = auroc_against_truth(scores, truth), 1e-4
    whole = roc_auc_score(truth.ravel(), scores.ravel())
    for row in (0, 7, 23):
        weights = np.ones((40, 4))
        weights[row] += step * 40
        tilted = roc_auc_score(truth.ravel(), scores.ravel(), sample_weight=weights.ravel())
        assert values[row].item() - whole == pytest.approx((tilted - whole) / step, abs=0.01)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_perfect_selector_has_the_best_median_rank(k):
    truth = torch.rand(20, 9, generator=torch.Generator().manual_seed(k)).argsort(1) < k
    assert (median_rank(truth + torch.rand(20, 9) / 2, truth) == (k + 1) / 2).all()


def test_median_rank_by_hand():
    scores = torch.tensor([[0.1, 0.9, 0.5, 0.3], [4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]])  # ranks 4 1 2 3, 1 2 3 4, 4 3 2 1
    truth = torch.tensor([[1, 0, 1, 0], [1, 0, 1, 1], [0, 0, 0, 0]]).bool()
    ranks = median_rank(scores, truth)
    assert ranks[:2].tolist() == [3.0, 3.0]
    assert ranks[2].isnan()
    assert torch.equal(median_rank(scores.expand(2, 3, 4), truth).nan_to_num(), ranks.expand(2, 3).nan_to_num())


def test_ties_are_broken_at_random_and_reproducibly():
    scores, truth = torch.zeros(4000, 5), torch.eye(5)[[0]].expand(4000, -1).bool()
    ranks = median_rank(scores, truth, torch.Generator().manual_seed(0))
    assert ranks.mean().item() == pytest.approx(3, abs=0.1)  # being first in the table is worth nothing
    assert set(ranks.tolist()) == {1, 2, 3, 4, 5}
    assert torch.equal(ranks, median_rank(scores, truth, torch.Generator().manual_seed(0)))
    assert not torch.equal(ranks, median_rank(scores, truth, torch.Generator().manual_seed(1)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tpr(torch.rand(2, 5), TRUTH), "0 and 1"),
        (lambda: tpr(MASK[:, :3], TRUTH), "do not fit"),
        (lambda: fdr(MASK, TRUTH[0]), "do not fit"),
        (lambda: median_rank(torch.rand(2, 4), TRUTH), "do not fit"),
        (lambda: auroc_against_truth(torch.full((2, 5), torch.nan), TRUTH), "NaN"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
