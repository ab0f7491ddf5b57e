import pytest
import torch
from scipy.stats import kstest

from lexplain.masks import FixedRate, ShapleyKernel, UniformRate
from lexplain.masks.noise import exponential, gumbel, logistic

N = 60_000


def shares(sizes, count):
    return torch.bincount(sizes.flatten(), minlength=count + 1) / sizes.numel()


def close(got, expected, n):
    return ((got - expected).abs() <= 5 * (expected * (1 - expected) / n).sqrt() + 1e-12).all()


@pytest.mark.parametrize("rate", [0.5, 0.1])
def test_coins_fall_by_their_rate_each_alone(rate):
    mask = FixedRate(2, 3, rate=rate).sample((N,)).float()
    assert close(mask.mean(0), torch.full((2, 3), rate), N)
    flat = mask.reshape(N, 6).T.corrcoef() - torch.eye(6)
    assert flat.abs().max() < 5 / N**0.5
    assert FixedRate(1000, 20).rate == 0.5


def test_every_size_is_as_likely_under_a_uniform_rate():
    count = 5
    mask = UniformRate(2, count).sample((N // 2,))
    assert close(shares(mask.sum(-1), count), torch.full((count + 1,), 1 / (count + 1)), N)
    assert close(mask.float().mean((0, 1)), torch.full((count,), 0.5), N)
    valid = torch.tensor([[True, True, False, True, False]]).expand(2, -1)
    assert close(shares(UniformRate(2, count, valid=valid).sample((N // 2,)).sum(-1), 3), torch.full((4,), 0.25), N)


def test_the_sizes_of_shapleys_kernel():
    count = 6
    mask = ShapleyKernel(2, count).sample((N // 2,))
    weights = torch.tensor([0.0, *(1 / (s * (count - s)) for s in range(1, count)), 0.0])
    assert close(shares(mask.sum(-1), count), weights / weights.sum(), N)
    for size in range(1, count):  # and within a size every subset is as likely
        some = mask[mask.sum(-1) == size].float()
        assert close(some.mean(0), torch.full((count,), size / count), len(some))


def test_the_sizes_of_shapleys_kernel_go_by_what_is_valid():
    valid = torch.tensor([[True, True, True, True, False, False], [True, True, False, False, False, False]])
    mask = ShapleyKernel(2, 6, valid=valid).sample((N,))
    weights = torch.tensor([0.0, 1 / 3, 1 / 4, 1 / 3, 0.0])
    assert close(shares(mask[:, 0].sum(-1), 4), weights / weights.sum(), N)
    assert (mask[:, 1].sum(-1) == 1).all()
    assert close(mask[:, 1, :2].float().mean(0), torch.full((2,), 0.5), N)


def test_two_players_have_two_proper_subsets_and_one_has_none():
    assert (ShapleyKernel(3, 2).sample((100,)).sum(-1) == 1).all()
    assert not ShapleyKernel(3, 1).sample((100,)).any()


@pytest.mark.parametrize(("noise", "law"), [(logistic, "logistic"), (exponential, "expon"), (gumbel, "gumbel_r")])
def test_noise_has_its_law_and_never_reaches_infinity(noise, law):
    draws = noise(torch.zeros(N))
    assert kstest(draws.numpy(), law).pvalue > 1e-4
    assert noise(torch.zeros(5, dtype=torch.float64), (2, 3)).shape == (2, 3, 5)
    assert noise(torch.zeros(5, dtype=torch.float64)).dtype == torch.float64


@pytest.mark.parametrize("noise", [logistic, exponential, gumbel])
@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_noise_is_finite_at_the_edge(noise, edge, monkeypatch):
    monkeypatch.setattr(torch, "rand", lambda *shape, **kind: torch.full(shape[0], edge))  # float32 uniforms do round to the edge
    assert noise(torch.zeros(4)).isfinite().all()
