"""A fitted explainer in captum's metrics."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

import lexplain as lx

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what captum itself imports
    from captum.metrics import infidelity, sensitivity_max

COUNT = 5
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, COUNT)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
ROWS = torch.from_numpy(X[:7])
MODEL = nn.Sequential(nn.Linear(COUNT, 4), nn.Tanh(), nn.Linear(4, 2))


@pytest.fixture(scope="module")
def explainer():
    return lx.Explainer("realx", keep=2, epochs=2).fit(X, Y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_attributions_are_scores_of_the_shape_of_the_rows(explainer, dtype):
    rows = ROWS.to(dtype).requires_grad_()
    found = explainer.attribute(rows)
    assert found.dtype == dtype
    assert not found.requires_grad
    assert torch.allclose(found, explainer.explain(X[:7]).scores.to(dtype))
    assert torch.equal(explainer.attribute(rows, target=1), found)
    wrapped = explainer.attribute((rows,))
    assert isinstance(wrapped, tuple)
    assert torch.equal(wrapped[0], found)
    assert explainer.attribute(torch.ones(2, COUNT, dtype=torch.int64)).dtype == torch.float32


@pytest.mark.parametrize("target", [None, 1, torch.ones(7, dtype=torch.int64)], ids=["none", "one", "each"])
def test_sensitivity(explainer, target):
    more = {} if target is None else {"target": target}
    found = sensitivity_max(explainer.attribute, ROWS, perturb_radius=0.5, n_perturb_samples=4, **more)
    assert found.shape == (7,)
    assert (found > 0).all()  # scores follow the rows,
    still = sensitivity_max(explainer.attribute, ROWS, perturb_func=lambda rows: rows, n_perturb_samples=4, **more)
    assert (still < 1e-5).all()  # and nothing else


def test_infidelity(explainer):
    def perturb(rows):
        noise = 0.1 * torch.randn_like(rows)
        return noise, rows - noise

    torch.manual_seed(0)
    attributions = explainer.attribute(ROWS)
    found = infidelity(MODEL, perturb, ROWS, attributions, target=1, n_perturb_samples=5)
    torch.manual_seed(0)  # by hand: E[(noise . attributions - (f(x) - f(x - noise)))²] over the same draws
    rows = ROWS.repeat_interleave(5, 0)
    noise, moved = perturb(rows)
    change = (MODEL(rows) - MODEL(moved))[:, 1]
    by_hand = ((noise * attributions.repeat_interleave(5, 0)).sum(1) - change).square().reshape(7, 5).mean(1)
    assert torch.allclose(found, by_hand, atol=1e-6)


def test_every_column_has_the_score_of_its_group():
    grouped = lx.Explainer("realx", keep=1, epochs=1, features=lx.Groups(groups={"pair": [1, 3]})).fit(X, Y)
    found, scores = grouped.attribute(ROWS), grouped.explain(X[:7]).scores
    assert grouped.features_.names == ("pair", "x1", "x3", "x5")
    assert torch.equal(found, scores[:, [1, 0, 2, 0, 3]])


def test_a_method_that_asks_a_model_of_frames():
    frame = pd.DataFrame(X, columns=list("abcde"))

    def model(rows):
        share = 1 / (1 + np.exp(-rows["a"].to_numpy()))
        return np.stack([1 - share, share], 1)

    explainer = lx.Explainer("meed", keep=2, epochs=1).fit(frame, model=model)
    assert torch.equal(explainer.attribute(ROWS), explainer.explain(frame.iloc[:7]).scores)


def test_refuses(explainer):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        lx.Explainer("realx").attribute(ROWS)
    with pytest.raises(ValueError, match="tuple of 2 tensors"):
        explainer.attribute((ROWS, ROWS))
    with pytest.raises(ValueError, match="X has 3 features, but Explainer is expecting 5"):
        explainer.attribute(ROWS[:, :3])
