"""How rows are divided, and where the draws come from."""

import pytest
import torch

from lexplain.core import Batch, as_target, seeded, splits


def rows(count):
    x = torch.arange(float(count))
    return Batch(x[:, None], as_target(x, real=True))


def of(batch):
    assert torch.equal(batch.target.loc, batch.x[:, 0])
    return batch.x[:, 0].long().tolist()


def drawn(count, seed):
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.mark.parametrize(("count", "held"), [(300, 30), (59, 5), (20, 5), (309, 30)])
def test_a_tenth_is_held_out_by_the_seed(count, held):
    before, order = torch.get_rng_state(), drawn(count, 1)
    assert [of(part) for part in splits.tenth(rows(count), seed=1)] == [order[held:], order[:held]]
    assert [part.tolist() for part in splits.tenth_at(rows(count), seed=1)] == [order[held:], order[:held]]
    assert of(splits.tenth(rows(count), seed=2)[1]) != order[:held]
    assert torch.equal(torch.get_rng_state(), before)


def test_the_first_tenth_is_not_drawn():
    before = torch.get_rng_state()
    assert [of(part) for part in splits.first_tenth(rows(47))] == [list(range(4, 47)), list(range(4))]
    assert [of(part) for part in splits.first_tenth(rows(47), least=10)] == [list(range(10, 47)), list(range(10))]
    assert of(splits.first_tenth(rows(470), least=10)[1]) == list(range(47))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("count", [2, 3, 20, 301, 302])
def test_halves_are_the_two_chunks_of_a_random_order(count):
    before = torch.get_rng_state()
    chunks = torch.randperm(count, generator=torch.Generator().manual_seed(7)).chunk(2)
    assert all(torch.equal(half, chunk) for half, chunk in zip(splits.halves(count, seed=7), chunks, strict=True))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("count", "held_out", "held"), [(100, 0.1, 10), (101, 0.1, 11), (30, 0.1, 5), (40, 0.5, 20)])
def test_a_share_is_drawn_from_the_random_state_of_torch(count, held_out, held):
    with seeded(3):
        parts = splits.share(rows(count), held_out)
    order = drawn(count, 3)
    assert [of(part) for part in parts] == [order[held:], order[:held]]


@pytest.mark.parametrize(("count", "held", "unseen"), [(5000, 500, 250), (1500, 200, 75), (300, 60, 15), (20, 5, 5)])
def test_a_fit_divides_its_rows_in_three(count, held, unseen):
    with seeded(3):
        parts = splits.Splits.of(rows(count), 8)
    order = drawn(count, 3)
    assert of(parts.validation) == order[:held]
    assert of(parts.test) == order[held : held + unseen]
    assert of(parts.train) == order[held + unseen :]
    assert parts.seed == 8
