"""Rows of the nearest cluster, against distances one at a time."""

import torch

from lexplain.core import seeded
from lexplain.imputers import KMeansRows

CENTRES = torch.tensor([[0.0, 0.0, 5.0], [4.0, 0.0, 0.0], [0.0, 9.0, 9.0], [70.0, 70.0, 70.0]])
CLUSTER = torch.tensor([0, 1, 1, 2, 0, 1, 2, 1, 1])
ROWS = CENTRES[CLUSTER] + 0.01 * torch.arange(9.0)[:, None]  # a row is known by any of its values


def shares(filled, off):
    known = (filled[:, None, off] - ROWS[:, off]).abs().amax(2) < 1e-6
    assert (known.sum(1) == 1).all()
    return known.float().mean(0)


def test_every_row_of_the_nearest_cluster_is_as_likely():
    n, x = 30_000, torch.tensor([0.5, -3.0, 4.0])
    for on in ([True, False, False], [False, False, True], [True, True, False], [True, False, True]):
        mask = torch.tensor(on)
        best = min(range(3), key=lambda k: sum((x[d] - CENTRES[k, d]).item() ** 2 for d in range(3) if on[d]))
        nearest = [k for k in range(3) if torch.equal(CENTRES[k][mask], CENTRES[best][mask])]
        members = sum(k == CLUSTER for k in nearest).float()
        found = shares(KMeansRows(CENTRES, ROWS)(x.expand(n, 3), mask.expand(n, 3)), ~mask)
        truth = members / members.sum()
        assert ((found - truth).abs() <= 5 * (truth * (1 - truth) / n).sqrt()).all(), on


def test_with_nothing_visible_every_row_is_as_likely():
    n = 30_000
    found = shares(KMeansRows(CENTRES, ROWS)(torch.full((n, 3), 1e6), torch.zeros(n, 3).bool()), torch.ones(3).bool())
    assert ((found - 1 / 9).abs() < 5 * (8 / 81 / n) ** 0.5).all()


def test_a_soft_mask_weighs_each_column():
    x = torch.tensor([[0.0, 0.0, 0.0]])  # 25 from the first centre and 16 from the second
    imputer = KMeansRows(CENTRES, ROWS)
    for on, nearest in ((torch.tensor([[0.5, 0.5, 0.5]]), 1), (torch.tensor([[0.9, 0.5, 0.2]]), 0)):
        values = (imputer(x, on) - on * x) / (1 - on)
        assert (values - CENTRES[nearest]).abs().max() < 0.1


def test_centres_without_rows_are_dropped():
    assert torch.equal(KMeansRows(CENTRES, ROWS).centres, CENTRES[:3])


def test_fit_finds_the_clusters_and_is_the_seeds_own():
    x = CENTRES[torch.randint(3, (300,))] + 0.1 * torch.randn(300, 3)
    imputer = KMeansRows.fit(x, components=3)
    assert torch.allclose(imputer.centres[imputer.centres[:, 2].argsort()], CENTRES[[1, 0, 2]], atol=0.1)
    filled = imputer(x, torch.tensor([True, True, False]).expand(300, 3))
    assert (filled - x).abs().max() < 1  # each from its own cluster
    assert len(KMeansRows.fit(x[:2].repeat(4, 1), components=10).centres) == 2
    with seeded(1):
        one = KMeansRows.fit(torch.arange(90.0).reshape(30, 3), components=4, rows=20)
    with seeded(1):
        two = KMeansRows.fit(torch.arange(90.0).reshape(30, 3), components=4, rows=20)
    assert torch.equal(one.centres, two.centres)


def test_rows_come_from_where_they_are_asked_for():
    x = torch.randn(100, 3)
    assert KMeansRows.fit(x, components=3, background=x + 50)(x, torch.zeros(100, 3).bool()).min() > 40
