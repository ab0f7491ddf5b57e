"""Sanity checks: alike and unalike explanations, and labels dealt out at random."""

import pytest
import torch

from lexplain.metrics.sanity import mask_cosine, permuted


def test_cosine_by_hand():
    mask = torch.tensor([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]).bool()
    other = torch.tensor([[1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]).bool()
    assert mask_cosine(mask, other).tolist() == [0.5, 0, 0.5, 1, 0]


def test_chance_is_the_share_kept():
    draw = torch.Generator().manual_seed(0)
    masks = [torch.rand(4000, 20, generator=draw).argsort(1) < 3 for _ in range(2)]
    assert mask_cosine(*masks).mean().item() == pytest.approx(3 / 20, abs=0.01)


def test_permuted_labels_are_as_many_of_each_and_none_about_its_row():
    labels = torch.arange(1000) % 4
    dealt = permuted(labels, generator=torch.Generator().manual_seed(0))
    assert torch.equal(dealt.bincount(), labels.bincount())
    assert (dealt == labels).double().mean().item() == pytest.approx(0.25, abs=0.06)
    assert torch.equal(dealt, permuted(labels, generator=torch.Generator().manual_seed(0)))


def test_refuses_other_rows():
    with pytest.raises(ValueError, match="cannot be paired"):
        mask_cosine(torch.zeros(2, 3), torch.zeros(3, 3))
