"""How much a mask keeps."""

import pytest
import torch

from lexplain.measures.selection import empty, kept, selection_rate

MASK = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]]).bool()


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
    ("call", "words"),
    [
        (lambda: kept(MASK / 2), "0 and 1"),
        (lambda: selection_rate(MASK, MASK[:2]), "do not fit"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
