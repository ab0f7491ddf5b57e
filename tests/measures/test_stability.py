"""Agreement across seeds, alike and unalike masks, and labels dealt out at random."""

import itertools

import pytest
import torch
from scipy.stats import spearmanr

from lexplain.measures.stability import mask_cosine, mask_stability, permute_labels, rank_stability


def test_jaccard_by_hand():
    masks = torch.tensor([[[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], [[0, 1, 1], [1, 0, 0]]]).bool()  # (3 seeds, 2 rows, 3)
    # row 0: {a,b} {a} {b,c}: 1/2, 1/3, 0. Row 1: {} {} {a}: 1, 0, 0.
    assert mask_stability(masks).tolist() == pytest.approx([5 / 18, 1 / 3])


def test_rank_stability_is_the_mean_of_scipys():
    scores = torch.randint(6, (4, 5, 8), generator=torch.Generator().manual_seed(0)).double()
    pairs = list(itertools.combinations(scores, 2))
    expected = [sum(spearmanr(a[row], b[row]).statistic for a, b in pairs) / 6 for row in range(5)]
    assert rank_stability(scores).tolist() == pytest.approx(expected)


def test_the_same_every_time_is_one():
    scores = torch.rand(1, 4, 6).expand(3, -1, -1)
    assert torch.allclose(rank_stability(scores), torch.ones(4).double())
    assert (mask_stability(scores > 0.5) == 1).all()


@pytest.mark.parametrize("measure", [mask_stability, rank_stability], ids=lambda m: m.__name__)
@pytest.mark.parametrize("shape", [(1, 4, 3), (4, 3)])
def test_a_single_seed_raises(measure, shape):
    with pytest.raises(ValueError, match="at least two"):
        measure(torch.zeros(shape))


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
    dealt = permute_labels(labels, generator=torch.Generator().manual_seed(0))
    assert torch.equal(dealt.bincount(), labels.bincount())
    assert (dealt == labels).double().mean().item() == pytest.approx(0.25, abs=0.06)
    assert torch.equal(dealt, permute_labels(labels, generator=torch.Generator().manual_seed(0)))


def test_other_rows_raise():
    with pytest.raises(ValueError, match="same rows"):
        mask_cosine(torch.zeros(2, 3), torch.zeros(3, 3))
