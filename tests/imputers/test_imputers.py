"""What every imputer promises. A new imputer is one more line in IMPUTERS."""

import copy

import pytest
import torch
from hypothesis import given, settings, strategies as st

from lexplain import imputers
from lexplain.bars import progress_range
from lexplain.core import seeded
from lexplain.imputers import (
    VAEAC,
    Constant,
    Donors,
    Gaussian,
    GaussianMixture,
    IndependentGaussian,
    KMeansRows,
    LogisticMeans,
    LogisticMixture,
    Marginal,
    MixtureMeans,
    MixtureRows,
)

COUNT = 5
# Columns that lean on each other, and one that is always 0.
ROWS = torch.randn(60, COUNT, generator=torch.Generator().manual_seed(0)) @ torch.tensor([[1.0, 0.8, 0, 0, 0]] + [[0.0, 1, 0.3, 0, 1]] * 4)
IMPUTERS = {  # name: how to build one for rows of 5 columns
    "constant": lambda: Constant(0.0),
    "another constant": lambda: Constant(-1.5),
    "constant of each column": lambda: Constant(torch.arange(COUNT) * 1.0),
    "standard gaussian": lambda: IndependentGaussian(),
    "independent gaussian": lambda: IndependentGaussian.fit(ROWS.clone()),
    "gaussian": lambda: Gaussian.fit(ROWS.clone()),
    "marginal": lambda: Marginal.fit(ROWS.clone()),
    "donors": lambda: Donors.fit(ROWS.clone()),
    "gaussian mixture": lambda: once(GaussianMixture.fit, ROWS, components=3),
    "mixture means": lambda: once(MixtureMeans.fit, ROWS, components=3),
    "mixture rows": lambda: once(MixtureRows.fit, ROWS, components=3),
    "k-means rows": lambda: once(KMeansRows.fit, ROWS, components=3),
    "logistic mixture": lambda: once(LogisticMixture.fit, ROWS.sigmoid(), components=3, steps=20),
    "logistic means": lambda: once(LogisticMeans.fit, ROWS.sigmoid(), components=3, steps=20),
    "autoencoder": lambda: once(VAEAC.fit, ROWS, latent=3, width=16, steps=50),
    "autoencoder with logistic noise": lambda: once(VAEAC.fit, ROWS, latent=3, width=16, steps=50, logistic=True),
    "autoencoder without noise": lambda: once(VAEAC.fit, ROWS, latent=3, width=16, steps=50, noise=False),
}
CHOOSERS = (GaussianMixture, MixtureMeans, MixtureRows, KMeansRows, LogisticMixture, LogisticMeans)  # of a component, as it is visible


def once(fit, rows, **settings):
    """A copy of what a fit gave: one that learns by steps learns once for all tests."""
    key = fit, *settings
    if key not in FITTED:
        with seeded(0):
            FITTED[key] = fit(rows.clone(), **settings)
    return copy.deepcopy(FITTED[key])


FITTED = {}


def drawn(imputer, x, mask, seed=0):
    with seeded(seed):
        return imputer(x, mask)


@pytest.fixture(params=IMPUTERS)
def imputer(request):
    return IMPUTERS[request.param]()


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 9), st.integers(0, 10_000), st.floats(0, 1))
@pytest.mark.parametrize("name", IMPUTERS)
def test_imputer_keeps_its_promises(name, rows, seed, rate):
    imputer, noise = IMPUTERS[name](), torch.Generator().manual_seed(seed)
    x = 3 * torch.randn(rows, COUNT, generator=noise)
    mask = torch.rand(rows, COUNT, generator=noise) < rate
    kept = x.clone(), mask.clone()
    filled = drawn(imputer, x, mask)
    assert filled.shape == x.shape
    assert filled.dtype == x.dtype
    assert filled.isfinite().all()
    assert torch.equal(filled[mask], x[mask])  # what is on is left alone
    other = torch.where(mask, x, torch.randn(rows, COUNT, generator=noise))
    assert torch.equal(drawn(imputer, other, mask), filled)  # what is off cannot leak
    assert torch.equal(x, kept[0])  # nothing is changed in place
    assert torch.equal(mask, kept[1])


def test_what_is_off_may_be_missing(imputer):
    x, mask = torch.randn(40, COUNT), torch.rand(40, COUNT) < 0.5
    filled = drawn(imputer, x.masked_fill(~mask, torch.nan), mask)
    assert torch.equal(filled, drawn(imputer, x, mask))


def test_soft_masks_carry_gradients(imputer):
    imputer = imputer.double()
    x, mask = 3 * torch.randn(6, COUNT, dtype=torch.float64), 0.1 + 0.8 * torch.rand(6, COUNT, dtype=torch.float64)
    mask = torch.where((mask - 0.5).abs() < 0.05, 0.3, mask).requires_grad_()
    weights = torch.randn(6, COUNT, dtype=torch.float64)
    (slope,) = torch.autograd.grad((weights * drawn(imputer, x, mask)).sum(), mask)
    assert slope.abs().min() > 0
    for i, j in ((0, 0), (2, 3), (5, 4)):  # against a finite difference
        step = torch.zeros(6, COUNT, dtype=torch.float64)
        step[i, j] = 1e-6
        rise = (weights * (drawn(imputer, x, mask + step) - drawn(imputer, x, mask - step))).sum() / 2e-6
        assert slope[i, j].item() == pytest.approx(rise.item(), rel=1e-4)


def test_soft_masks_have_no_jumps(imputer):
    # REBAR's gradient is that of the cost of soft masks: where the filled row jumps, the gradient misses the jump.
    x, mask = 3 * torch.randn(50, COUNT), torch.rand(50, COUNT)
    for level in (0.0, 0.25, 0.5, 0.75, 1.0):
        below, above = mask.clone(), mask.clone()
        below[:, 1], above[:, 1] = max(0.0, level - 1e-5), min(1.0, level + 1e-5)
        jumps = (drawn(imputer, x, below) - drawn(imputer, x, above)).abs().amax(1) > 5e-3
        # One component overtakes another at a point: few rows lie within a step of it, and what is between such points is smooth.
        assert jumps.sum() <= (1 if isinstance(imputer, CHOOSERS) else 0), f"at {level}"


def looks_at_what_is_visible(imputer):
    x, half = 3 * torch.randn(50, COUNT), torch.arange(COUNT) < 2
    hidden, shown = drawn(imputer, x, torch.zeros(50, COUNT).bool()), drawn(imputer, x, half.expand(50, COUNT))
    return not torch.allclose(hidden[:, 2:], shown[:, 2:], atol=1e-5)


def test_soft_masks_mix(imputer):
    x, mask = 3 * torch.randn(50, COUNT), torch.rand(50, COUNT)
    if looks_at_what_is_visible(imputer):  # what it would put there depends on how much of the rest is visible: only the ends are sure
        assert torch.allclose(drawn(imputer, x, torch.ones(50, COUNT)), x, atol=1e-4)
        return
    values = drawn(imputer, x, torch.zeros(50, COUNT).bool())
    assert torch.allclose(drawn(imputer, x, mask), mask * x + (1 - mask) * values, atol=1e-5)


def test_a_soft_mask_of_zeros_and_ones_is_the_hard_one(imputer):
    x, mask = torch.randn(50, COUNT), torch.rand(50, COUNT) < 0.5
    soft = drawn(imputer, x, mask.float())
    assert torch.equal(soft[mask], x[mask])
    assert torch.allclose(soft, drawn(imputer, x, mask))


def test_passes_gradients_to_what_is_on_alone(imputer):
    x, mask = torch.randn(30, COUNT).requires_grad_(), torch.zeros(30, COUNT).bool()
    mask[:, :2] = True
    (slope,) = torch.autograd.grad(drawn(imputer, x, mask)[:, :2].sum(), x)
    assert torch.equal(slope, mask.float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_keeps_the_kind_of_numbers(imputer, dtype):
    imputer = imputer.to(dtype)
    for mask in (torch.rand(8, COUNT) < 0.5, torch.rand(8, COUNT, dtype=dtype)):
        filled = imputer(torch.randn(8, COUNT, dtype=dtype), mask)
        assert filled.dtype == dtype
        assert filled.device == mask.device


def test_follows_its_rows_to_another_device(imputer):
    # The "meta" device holds shapes and no numbers: enough to see a tensor made on the wrong device.
    x, mask = torch.randn(8, COUNT, device="meta"), torch.zeros(8, COUNT, device="meta", dtype=torch.bool)
    assert imputer.to("meta")(x, mask).device.type == "meta"


def test_says_whether_it_is_random(imputer):
    x, mask = torch.randn(30, COUNT), torch.zeros(30, COUNT).bool()
    differs = not torch.equal(drawn(imputer, x, mask, 0), drawn(imputer, x, mask, 1))
    assert getattr(imputer, "random", True) == differs


@pytest.mark.parametrize("name", IMPUTERS)
def test_what_it_learned_survives_a_state_dict(name):
    imputer, fresh = IMPUTERS[name](), IMPUTERS[name]()
    learned = imputer.state_dict()
    fresh.load_state_dict({key: value + 1 for key, value in learned.items()})
    x, mask = torch.randn(10, COUNT), torch.rand(10, COUNT) < 0.5
    assert not torch.equal(drawn(fresh, x, mask), drawn(imputer, x, mask))
    fresh.load_state_dict(learned)
    assert torch.equal(drawn(fresh, x, mask), drawn(imputer, x, mask))


IMAGES = torch.rand(40, 1, 6, 7, generator=torch.Generator().manual_seed(0))
OF_IMAGES = {
    "constant": lambda: Constant(0.5),
    "standard gaussian": lambda: IndependentGaussian(),
    "marginal": lambda: Marginal.fit(IMAGES),
    "donors": lambda: Donors.fit(IMAGES),
    "gaussian mixture": lambda: GaussianMixture.fit(IMAGES, components=3, jitter=1 / 255),
    "mixture means": lambda: MixtureMeans.fit(IMAGES, components=3),
    "mixture rows": lambda: MixtureRows.fit(IMAGES, components=3),
    "k-means rows": lambda: KMeansRows.fit(IMAGES, components=3),
    "logistic mixture": lambda: LogisticMixture.fit(IMAGES, components=3, steps=3),
    "logistic means": lambda: LogisticMeans.fit(IMAGES, components=3, steps=3),
    "autoencoder": lambda: VAEAC.fit(IMAGES, latent=3, width=4, steps=3),
}


@pytest.mark.parametrize("name", OF_IMAGES)
def test_images_are_filled_too(name):
    imputer, mask = OF_IMAGES[name](), torch.rand(IMAGES.shape) < 0.5
    filled = imputer(IMAGES.masked_fill(~mask, torch.nan), mask)
    assert filled.shape == IMAGES.shape
    assert filled.isfinite().all()
    assert torch.equal(filled[mask], IMAGES[mask])
    assert torch.allclose(imputer(IMAGES, torch.ones(IMAGES.shape)), IMAGES)
    assert all(not part.requires_grad for part in imputer.parameters())


@pytest.mark.parametrize("kind", ["rows", "images"])
@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("name", OF_IMAGES)
def test_under_vmap_every_row_and_every_mask_meets_the_same_noise(name, soft, kind):
    imputer, x = (IMPUTERS[name](), ROWS) if kind == "rows" else (OF_IMAGES[name](), IMAGES)
    x, coins = x[:6], torch.rand(6, *x.shape[1:])
    mask = coins if soft else coins < 0.5

    def fill(row, shown):  # 3 imputations of one row
        return imputer(row.expand(3, *row.shape), shown.expand(3, *shown.shape))

    with seeded(0):
        together = torch.vmap(fill, randomness="same")(x[[0, 1, 0]], mask[[0, 1, 0]])  # (3, 3, ...)
    with seeded(0):
        alone = torch.vmap(fill, randomness="same")(x[1:2], mask[1:2])
    assert torch.equal(together[0], together[2])
    assert torch.allclose(together[1], alone[0], atol=1e-5)
    masks = torch.stack([mask, mask, ~mask if not soft else 1 - mask])
    filled = torch.vmap(lambda shown: imputer(x, shown), randomness="same")(masks)  # (3, 6, ...)
    assert torch.equal(filled[0], filled[1])
    assert not torch.equal(filled[0], filled[2])


def test_constant_puts_its_value():
    x, mask = torch.randn(6, 3), torch.tensor([[True, False, False]]).expand(6, -1)
    assert (Constant(2.0)(x, mask)[:, 1:] == 2).all()
    assert torch.equal(Constant(torch.tensor([7.0, 8.0, 9.0]))(x, mask)[:, 1:], torch.tensor([[8.0, 9.0]]).expand(6, -1))


def test_only_a_conditional_imputer_looks_at_what_is_visible():
    assert looks_at_what_is_visible(Gaussian.fit(ROWS.clone()))
    assert not looks_at_what_is_visible(Marginal.fit(ROWS.clone()))


@pytest.mark.parametrize("name", list(imputers.IMPUTERS))
def test_every_imputer_learns_from_images(name):
    images = torch.rand(40, 2, 3, 4, generator=torch.Generator().manual_seed(0))
    kind = getattr(imputers, name)
    settings = {"steps": 5} if name == "VAEAC" or name.startswith("Logistic") else {}
    made = kind.fit(images, **settings) if hasattr(kind, "fit") else kind()
    mask = torch.rand(40, 2, 3, 4, generator=torch.Generator().manual_seed(1)) < 0.5
    filled = made(images, mask)
    assert filled.shape == images.shape
    assert torch.equal(filled[mask], images[mask])
    assert filled.isfinite().all()


def test_steps_are_counted_whether_they_are_shown_or_not():
    assert list(progress_range("an imputer", 3)) == [0, 1, 2]
