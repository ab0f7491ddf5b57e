"""The arbitrary-conditioning autoencoder against normal rows, whose conditional law is known."""

import pytest
import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from lexplain.core import seeded
from lexplain.imputers import VAEAC
from lexplain.imputers.vaeac import FLOOR, _normal, random_masks

MEAN = torch.tensor([1.0, -2.0, 0.0, 5.0])
SCALE = torch.tensor([1.0, 2.0, 1.0, 3.0])
COVARIANCE = SCALE.outer(SCALE) * torch.tensor([[1.0, 0.9, 0.5, 0.0], [0.9, 1, 0.3, 0.2], [0.5, 0.3, 1, -0.4], [0.0, 0.2, -0.4, 1]])
ON, OFF = [0, 2], [1, 3]
MASK = torch.tensor([True, False, True, False])


def draw(n):
    return MEAN + torch.randn(n, 4) @ torch.linalg.cholesky(COVARIANCE).T


@pytest.fixture(scope="module", params=[False, True], ids=["normal", "logistic"])
def learned(request):
    with seeded(0):
        return VAEAC.fit(draw(3000), latent=4, width=32, steps=200, batch=128, learning_rate=2e-2, logistic=request.param)


def conditional(x):
    """Mean (n, 2) and covariance (2, 2) of what is off."""
    slope = COVARIANCE[OFF][:, ON] @ torch.linalg.inv(COVARIANCE[ON][:, ON])
    return MEAN[OFF] + (x[:, ON] - MEAN[ON]) @ slope.T, COVARIANCE[OFF][:, OFF] - slope @ COVARIANCE[ON][:, OFF]


def test_what_it_puts_follows_what_is_visible(learned):
    x = draw(2000)
    draws = torch.stack([learned(x, MASK.expand(2000, 4)) for _ in range(40)])[:, :, OFF]  # (40, 2000, 2)
    mean, covariance = conditional(x)
    missed = (draws.mean(0) - mean)[:, 0].square().mean() - draws[:, :, 0].var(0).mean() / 40  # less the draws' own error
    assert missed < 0.15 * (MEAN[1] - mean[:, 0]).square().mean()
    assert 0.7 * covariance[0, 0] < draws[:, :, 0].var(0).mean() < 1.6 * covariance[0, 0]


def test_the_bound_lies_below_the_truth_and_not_far(learned):
    x = draw(4000)
    bound = torch.stack([learned.elbo(x, MASK.expand(4000, 4)) for _ in range(4)]).mean()
    mean, covariance = conditional(x)
    truth = MultivariateNormal(mean, covariance).log_prob(x[:, OFF]).mean()
    marginal = Normal(MEAN[OFF], SCALE[OFF]).log_prob(x[:, OFF]).sum(1).mean()
    assert marginal < bound < truth
    assert bound > truth - 0.4


def test_the_bound_is_the_log_density_less_the_distance_of_the_latents():
    # A writer that reads nothing: entries are independent of the latent, and their density is known.
    model = VAEAC(MEAN, SCALE, latent=3, width=8).double()
    model.writer.head.weight.zero_()
    model.writer.head.bias.copy_(torch.randn(8))
    place, raw = model.writer.head.bias.reshape(2, 4)
    spread = FLOOR + torch.nn.functional.softplus(raw)
    x, mask = draw(50).double(), torch.rand(50, 4) < 0.5
    density = Normal(MEAN + SCALE * place, SCALE * spread).log_prob(x)
    on = mask.double()
    whole = (x - MEAN) / SCALE
    distance = kl_divergence(_normal(model.proposal(whole, on)[0]), _normal(model.prior(on * whole, on)[0])).sum(1)
    assert torch.allclose(model.elbo(x, mask), (density * ~mask).sum(1) - distance)
    draws = model(x[:1].expand(20_000, 4), torch.zeros(20_000, 4).bool())
    assert ((draws.mean(0) - MEAN - SCALE * place).abs() < 5 * SCALE * spread / 20_000**0.5).all()
    assert torch.allclose(draws.std(0), SCALE * spread, rtol=0.04)


def test_noise_may_be_left_out():
    x, mask = draw(400), torch.zeros(400, 4).bool()
    with seeded(0):
        loud = VAEAC(MEAN, SCALE, latent=3, width=8)
    with seeded(0):
        quiet = VAEAC(MEAN, SCALE, latent=3, width=8, noise=False)
    assert (quiet(x, mask).std(0) < 0.5 * loud(x, mask).std(0)).all()


@pytest.mark.parametrize("shape", [(1, 28, 28), (1, 28, 56), (3, 64, 64), (2, 5, 3), (7,), (4, 9)], ids=str)
def test_rows_of_any_shape(shape):
    x, mask = torch.rand(3, *shape), torch.rand(3, *shape) < 0.5
    filled = VAEAC.fit(x, latent=2, width=4, steps=2, batch=2, block=3)(x, mask)
    assert filled.shape == x.shape
    assert torch.equal(filled[mask], x[mask])


def test_images_are_filled_from_their_other_half():
    # Every image is one shade of grey: what is visible tells the rest.
    x = torch.rand(500, 1, 1, 1).expand(-1, 1, 8, 8) + 0.02 * torch.randn(500, 1, 8, 8)
    imputer = VAEAC.fit(x, latent=2, width=8, steps=80, batch=24, learning_rate=1e-2, block=4)
    mask = torch.zeros(500, 1, 8, 8).bool()
    mask[..., :4] = True
    missed = (imputer(x, mask) - x)[..., 4:].square().mean()
    assert missed < 0.6 * x.var()  # the mean misses by 1, a draw of the marginal law by 2


def test_the_seed_decides_and_nothing_is_left_to_train():
    x, fits = draw(50), []
    for seed in (0, 0, 1):
        with seeded(seed), torch.no_grad():
            fits.append(VAEAC.fit(x, latent=2, width=4, steps=3))
    weights = [fit.writer.head.weight for fit in fits]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert not any(part.requires_grad for part in fits[0].parameters())


def test_columns_that_never_vary():
    x = draw(200)
    x[:, 2] = 7
    imputer = VAEAC.fit(x, latent=2, width=8, steps=60)
    filled = imputer(x, torch.zeros(200, 4).bool())
    assert filled.isfinite().all()
    assert (filled[:, 2] - 7).abs().mean() < 1.5


def test_masks_are_of_all_rates():
    masks = random_masks(torch.zeros(4000, 100))
    rates = masks.float().mean(1).sort().values
    assert (rates - torch.linspace(0, 1, 4000)).abs().max() < 0.05


def test_channels_are_hidden_together_and_half_of_the_masks_in_blocks():
    masks = random_masks(torch.zeros(2000, 3, 7, 8), block=4)
    assert torch.equal(masks[:, 0], masks[:, 2])
    corner = masks[:, 0, :4, :4].flatten(1)
    alike = (corner == corner[:, :1]).all(1)
    assert alike[1::2].all()
    assert not alike[::2].all()
    assert not (masks[1::2, 0, 0, 0] == masks[1::2, 0, 0, 4]).all()  # other blocks are others


@pytest.mark.parametrize("settings", [{"latent": 0}, {"width": 1.5}, {"steps": 0}, {"block": 0}, {"learning_rate": 0.0}], ids=str)
def test_fit_refuses_what_cannot_be(settings):
    with pytest.raises(ValueError, match="must be a positive"):
        VAEAC.fit(draw(30), **settings)
