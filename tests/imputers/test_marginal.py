import torch

from lexplain.imputers import Marginal


def test_draws_whole_rows_each_as_often():
    background = torch.arange(7.0)[:, None] * torch.tensor([1.0, 10.0, 100.0, 1000.0])  # a row is known by any of its values
    n = 70_000
    x, mask = torch.full((n, 4), -1.0), torch.tensor([[False, True, False, False]]).expand(n, -1)
    filled = Marginal(background)(x, mask)
    assert (filled[:, 1] == -1).all()
    rows = filled[:, 0].long()
    assert torch.equal(filled[:, [0, 2, 3]], background[rows][:, [0, 2, 3]])
    share = torch.bincount(rows, minlength=7) / n
    assert ((share - 1 / 7).abs() < 5 * (6 / 49 / n) ** 0.5).all()


def test_draws_afresh_at_every_call():
    imputer = Marginal.fit(torch.randn(50, 4))
    x, mask = torch.randn(20, 4), torch.zeros(20, 4).bool()
    assert not torch.equal(imputer(x, mask), imputer(x, mask))


def test_the_rows_it_keeps_are_its_own():
    rows = torch.zeros(5, 2)
    imputer = Marginal.fit(rows)
    imputer.load_state_dict({"background": torch.ones(5, 2)})
    assert not rows.any()  # loading a file must not write into the rows someone fitted on
