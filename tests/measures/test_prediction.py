"""Predictive measures: worked numbers, and scikit-learn's."""

import math
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import accuracy_score, average_precision_score, log_loss, roc_auc_score

from lexplain.measures.prediction import accuracy, agreement, auprc, auroc, log_likelihood

PROBABILITIES = torch.tensor([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
LABELS = torch.tensor([0, 0, 1])


def test_by_hand():
    assert accuracy(PROBABILITIES, LABELS).tolist() == [1, 0, 0]
    assert log_likelihood(PROBABILITIES, LABELS).tolist() == pytest.approx([math.log(p) for p in (0.8, 0.4, 0.3)])
    assert auroc(PROBABILITIES, LABELS).mean().item() == 0.5  # the positive beats one of the two negatives
    assert agreement(PROBABILITIES, PROBABILITIES.flip(1)).tolist() == [0, 0, 0]
    assert agreement(PROBABILITIES, PROBABILITIES.roll(1, 0)).tolist() == [1, 0, 0]


@settings(deadline=None)
@given(st.data(), st.integers(2, 20))
def test_binary_auroc_is_scikit_learns(data, rows):
    positive = data.draw(arrays(np.float64, rows, elements=st.sampled_from([0.0, 0.2, 0.5, 0.9])))  # many ties
    labels = data.draw(arrays(np.int64, rows, elements=st.integers(0, 1)))
    values = auroc(torch.tensor(np.stack([1 - positive, positive], 1)), torch.tensor(labels))
    if len(set(labels)) == 1:
        assert values.isnan().all()
    else:
        assert values.mean().item() == pytest.approx(roc_auc_score(labels, positive), abs=1e-9)


@settings(deadline=None)
@given(st.data(), st.integers(3, 20), st.integers(3, 5))
def test_multiclass_auroc_is_scikit_learns_micro_average(data, rows, classes):
    weights = data.draw(arrays(np.float64, (rows, classes), elements=st.sampled_from([1.0, 2.0, 4.0])))  # many ties
    labels = data.draw(arrays(np.int64, rows, elements=st.integers(0, classes - 1)))
    p = weights / weights.sum(1, keepdims=True)
    expected = roc_auc_score(np.eye(classes)[labels].ravel(), p.ravel())
    values = auroc(torch.tensor(p), torch.tensor(labels))
    assert values.mean().item() == pytest.approx(expected, abs=1e-9)
    if len(set(labels)) == classes:
        assert expected == pytest.approx(roc_auc_score(labels, p, multi_class="ovr", average="micro"), abs=1e-9)


@settings(deadline=None)
@given(st.data(), st.integers(2, 20), st.integers(2, 4))
def test_auprc_is_scikit_learns(data, rows, classes):
    weights = data.draw(arrays(np.float64, (rows, classes), elements=st.sampled_from([1.0, 2.0, 4.0])))  # many ties
    labels = data.draw(arrays(np.int64, rows, elements=st.integers(0, classes - 1)))
    p = weights / weights.sum(1, keepdims=True)
    values = auprc(torch.tensor(p), torch.tensor(labels))
    if classes == 2 and not labels.any():
        assert values.isnan().all()
        return
    of = slice(1, None) if classes == 2 else slice(None)
    expected = average_precision_score(np.eye(classes)[labels][:, of].ravel(), p[:, of].ravel())
    assert values.mean().item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_auprc_values_are_influences(classes):
    """A row's value is what the average precision would become if the row were weighted up, to first order; with ties."""
    draw = torch.Generator().manual_seed(1)
    p, labels = torch.randint(1, 9, (40, classes), generator=draw).double(), torch.arange(40) % classes
    p = p / p.sum(1, keepdim=True)
    of = slice(1, None) if classes == 2 else slice(None)
    truth, scores = np.eye(classes)[labels][:, of], p[:, of].numpy()
    values, step = auprc(p, labels), 1e-6
    whole = average_precision_score(truth.ravel(), scores.ravel())
    for row in range(40):
        weights = np.ones(truth.shape)
        weights[row] += step * 40
        tilted = average_precision_score(truth.ravel(), scores.ravel(), sample_weight=weights.ravel())
        assert values[row].item() - whole == pytest.approx((tilted - whole) / step, abs=1e-3)


def test_accuracy_and_likelihood_are_scikit_learns():
    p = torch.rand(50, 4, generator=torch.Generator().manual_seed(0)).double().softmax(1)
    labels = torch.arange(50) % 4
    assert accuracy(p, labels).mean().item() == pytest.approx(accuracy_score(labels, p.argmax(1)))
    assert -log_likelihood(p, labels).mean().item() == pytest.approx(log_loss(labels, p.numpy()))


def test_a_sure_mistake_has_a_finite_likelihood():
    assert log_likelihood(torch.tensor([[1.0, 0.0]]), torch.tensor([1])).item() == pytest.approx(math.log(torch.finfo(torch.float32).eps))


def test_auroc_does_not_compare_every_pair():
    p = torch.rand(200_000, 2, generator=torch.Generator().manual_seed(0))
    began = time.perf_counter()
    auroc(p, (p[:, 0] > 0.5).long())
    assert time.perf_counter() - began < 5  # all 10^10 pairs would take minutes, and 80 GB


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: accuracy(PROBABILITIES, LABELS[:2]), "do not fit"),
        (lambda: accuracy(PROBABILITIES[:, 0], LABELS), "do not fit"),
        (lambda: auroc(PROBABILITIES[:, :1], LABELS), "do not fit"),
        (lambda: auroc(PROBABILITIES[:0], LABELS[:0]), "do not fit"),
        (lambda: auroc(PROBABILITIES * torch.nan, LABELS), "NaN"),
        (lambda: log_likelihood(PROBABILITIES, LABELS + 1), "class indices"),
        (lambda: log_likelihood(PROBABILITIES, LABELS - 1), "class indices"),
        (lambda: accuracy(PROBABILITIES, LABELS + 0.5), "class indices"),
        (lambda: agreement(PROBABILITIES, PROBABILITIES[:2]), "same rows"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
