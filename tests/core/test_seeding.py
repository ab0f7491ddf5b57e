"""Draws that repeat themselves, and seeds."""

import numpy as np
import pytest
import torch

from lexplain.core import seeded
from lexplain.core.seeding import numpy_seeded, seed_of


def test_a_seeded_block_repeats_and_leaves_no_trace():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with seeded(1):
        one = torch.rand(3)
    with seeded(1):
        two = torch.rand(3)
    with seeded(2):
        three = torch.rand(3)
    assert torch.equal(one, two)
    assert not torch.equal(one, three)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("before", [True, False])
def test_convolutions_repeat_themselves_in_a_seeded_block(before, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", before)

    def stop():
        with seeded(0):
            assert torch.backends.cudnn.deterministic
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert torch.backends.cudnn.deterministic == before


def test_the_last_of_several_threads_puts_back_what_was_set(monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    first, second = seeded(0), seeded(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert torch.backends.cudnn.deterministic
    assert not torch.backends.cudnn.benchmark
    second.__exit__(None, None, None)
    assert not torch.backends.cudnn.deterministic
    assert torch.backends.cudnn.benchmark


def test_numpy_s_numbers_repeat_and_leave_no_trace():
    np.random.seed(3)  # noqa: NPY002
    with numpy_seeded(2**32 + 5):
        inside = np.random.rand(2)  # noqa: NPY002
    assert np.array_equal(inside, np.random.RandomState(5).rand(2))
    with pytest.raises(KeyError), numpy_seeded(7):
        raise KeyError
    assert np.random.rand() == np.random.RandomState(3).rand()  # noqa: NPY002


@pytest.mark.parametrize("given", [7, np.int64(7), True])
def test_a_whole_number_is_the_seed(given):
    assert seed_of(given) == int(given)
    assert type(seed_of(given)) is int


def test_a_seed_is_drawn_below_a_bound():
    assert seed_of(np.random.RandomState(3)) == np.random.RandomState(3).randint(2**31 - 1)
    assert seed_of(np.random.RandomState(3), below=2**31) == np.random.RandomState(3).randint(2**31)
    assert {seed_of(np.random.RandomState(seed), below=2) for seed in range(20)} == {0, 1}
    np.random.seed(3)  # noqa: NPY002  None draws from it, as everywhere in scikit-learn
    assert seed_of(None) == np.random.RandomState(3).randint(2**31 - 1)
