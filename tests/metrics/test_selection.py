"""What a mask tells by itself."""

import pytest
import torch

from lexplain.metrics.selection import empty, kept, mask_only_accuracy, selection_rate

MASK = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]]).bool()


def masks(rows, features, seed):
    return torch.rand(rows, features, generator=torch.Generator().manual_seed(seed)) < 0.4


def test_by_hand():
    assert selection_rate(MASK).tolist() == [0.5, 0.0, 1.0]
    assert kept(MASK).tolist() == [2, 0, 4]
    assert empty(MASK).tolist() == [0, 1, 0]
    assert kept(MASK.expand(5, 3, 4)).shape == (5, 3)


def test_padding_counts_in_no_rate():
    valid = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]]).bool()
    rates = selection_rate(MASK, valid)
    assert rates[:2].tolist() == [0.5, 0.0]
    assert rates[2].isnan()


@pytest.mark.parametrize(
    ("encode", "least", "most"),
    [
        (lambda m: m[:, 3], 0.99, 1.0),  # one bit is the answer
        (lambda m: m[:, 0] ^ m[:, 1], 0.95, 1.0),  # two bits are, and neither alone tells anything
        (lambda m: masks(len(m), 2, len(m))[:, 1], 0.45, 0.65),  # the mask does not know
    ],
    ids=["bit", "xor", "honest"],
)
def test_mask_only_accuracy_detects_encoding(encode, least, most):
    train, test = masks(1500, 8, 0), masks(1000, 8, 1)
    values = mask_only_accuracy(train, encode(train).long(), test, encode(test).long())
    assert set(values.tolist()) <= {0.0, 1.0}
    assert least <= values.mean().item() <= most


def test_mask_only_accuracy_reads_rare_positions():
    """One feature of 200 is kept; even ones mean class 0, odd ones class 1."""
    at = torch.arange(1200) * 7 % 200
    mask, labels = torch.eye(200)[at].bool(), at % 2
    assert mask_only_accuracy(mask[:1000], labels[:1000], mask[1000:], labels[1000:]).mean() > 0.95


def test_mask_only_accuracy_survives_one_class():
    labels = torch.zeros(3).long()
    assert mask_only_accuracy(MASK, labels, MASK, labels).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kept(MASK / 2), "threshold it"),
        (lambda: selection_rate(MASK, MASK[:2]), "do not fit"),
        (lambda: mask_only_accuracy(MASK, torch.zeros(3), MASK[:, :2], torch.zeros(3)), "same features"),
        (lambda: mask_only_accuracy(MASK, torch.zeros(2), MASK, torch.zeros(3)), "one label a row"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
