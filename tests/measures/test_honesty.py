"""What a mask tells by itself."""

import pytest
import torch

from lexplain.measures.honesty import mask_only_accuracy

MASK = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]]).bool()


def masks(rows, features, seed):
    return torch.rand(rows, features, generator=torch.Generator().manual_seed(seed)) < 0.4


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
        (lambda: mask_only_accuracy(MASK, torch.zeros(3), MASK[:, :2], torch.zeros(3)), "same features"),
        (lambda: mask_only_accuracy(MASK, torch.zeros(2), MASK, torch.zeros(3)), "one label per row"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
