import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch.nn.functional import adaptive_avg_pool2d

from lexplain.networks import UNet
from lexplain.networks.unet import _averages


@pytest.mark.parametrize("shape", [(1, 28, 56), (3, 17, 9), (1, 8, 8), (2, 5, 33)], ids=str)
@pytest.mark.parametrize("patch", [1, 2, 3, 4])
def test_one_score_a_patch_whatever_the_size(shape, patch):
    grid = (-(-shape[1] // patch), -(-shape[2] // patch))
    network = UNet(shape, grid, width=4)
    assert network(torch.rand(2, *shape)).shape == (2, grid[0] * grid[1])


def test_each_channel_may_have_scores_of_its_own():
    assert UNet((3, 8, 8), (4, 4), layers=3, width=4)(torch.rand(2, 3, 8, 8)).shape == (2, 48)


def test_a_context_is_seen():
    torch.manual_seed(0)
    network = UNet((1, 8, 8), (8, 8), context=3, width=4)
    x = torch.rand(1, 1, 8, 8)
    one, other = (network(x, torch.eye(3)[[k]]) for k in (0, 1))
    assert not torch.allclose(one, other)


@pytest.mark.parametrize("patch", [1, 4])
def test_scores_move_with_the_image(patch):
    # what is shifted by a multiple of the coarsest pixel has the same scores, shifted, away from the edges
    torch.manual_seed(0)
    network = UNet((1, 160, 160), (160 // patch, 160 // patch), width=4)
    x = torch.zeros(1, 1, 160, 160)
    x[..., 76:80, 76:80] = torch.rand(4, 4)
    here = network(x).reshape(160 // patch, 160 // patch)
    there = network(x.roll((8, 8), (2, 3))).reshape(160 // patch, 160 // patch)
    step, inner = 8 // patch, slice(72 // patch, 84 // patch)
    assert torch.allclose(there.roll((-step, -step), (0, 1))[inner, inner], here[inner, inner], atol=1e-5)
    assert here[inner, inner].std() > 0


def test_a_score_depends_on_its_own_pixels():
    torch.manual_seed(0)
    network = UNet((1, 12, 20), (3, 5), width=4)
    x = torch.rand(1, 1, 12, 20, requires_grad=True)
    network(x).reshape(3, 5)[1, 3].backward()
    assert x.grad[0, 0, 4:8, 12:16].abs().sum() > 0


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
@settings(deadline=None)
def test_patches_of_any_size_are_averaged_as_torch_does_it(rows, columns, down, across):
    down, across = min(rows, down), min(columns, across)
    image = torch.randn(2, 3, rows, columns)
    found = _averages(rows, down) @ image @ _averages(columns, across).T
    torch.testing.assert_close(found, adaptive_avg_pool2d(image, (down, across)), atol=1e-5, rtol=1e-4)
