"""Imputers in other tools' hands: shap's own explainers, and plain functions of rows and masks."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch

from lexplain.features import Columns, Groups
from lexplain.imputers import Constant, Gaussian, IndependentGaussian, Marginal, as_fill, as_masker

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what shap itself imports
    import shap

COUNT = 4
GENERATOR = np.random.default_rng(0)
ROOT = GENERATOR.normal(size=(COUNT, COUNT))
BACKGROUND = GENERATOR.normal(size=(400, COUNT)) @ ROOT + 3
MEAN = BACKGROUND.mean(0)
ROWS = BACKGROUND[:3] + 0.5
WEIGHTS = np.array([2.0, -1.0, 0.0, 0.5])
EXPLAINERS = {"exact": shap.explainers.Exact, "permutation": shap.explainers.Permutation}


def linear(x):
    return np.asarray(x, dtype=float) @ WEIGHTS


def tensor(values):
    return torch.tensor(values, dtype=torch.float32)


# ---- shap ----


@pytest.mark.parametrize("tool", EXPLAINERS)
def test_a_constant_of_the_mean_gives_linear_shapley_values(tool):
    found = EXPLAINERS[tool](linear, as_masker(Constant(tensor(MEAN))))(ROWS)
    assert np.allclose(found.values, WEIGHTS * (ROWS - MEAN), atol=1e-5)
    assert np.allclose(found.base_values, linear(MEAN), atol=1e-5)


@pytest.mark.parametrize("tool", EXPLAINERS)
@pytest.mark.parametrize("imputer", [Marginal.fit(tensor(BACKGROUND)), IndependentGaussian.fit(tensor(BACKGROUND))], ids=["rows", "normal"])
def test_draws_of_each_column_give_them_within_their_error(tool, imputer):
    draws = 4000
    found = EXPLAINERS[tool](linear, as_masker(imputer, draws=draws))(ROWS, max_evals=16)
    error = np.abs(WEIGHTS) * BACKGROUND.std(0) / np.sqrt(draws)
    assert (np.abs(found.values - WEIGHTS * (ROWS - MEAN)) <= 4 * error + 1e-5).all()
    assert np.allclose(found.base_values + found.values.sum(1), linear(ROWS), atol=1e-4)  # every mask met the same draws
    for seed in (0, 1):
        other = EXPLAINERS[tool](linear, as_masker(imputer, draws=draws, seed=seed))(ROWS, max_evals=16)
        assert np.allclose(found.values, other.values, atol=1e-5) == (seed == 0)


def test_a_conditional_imputer_gives_conditional_values():
    # Of f(x) = x1 with x2 = x1 but for a little noise, each is worth a half of x1: what shap's own maskers cannot say.
    covariance = torch.tensor([[1.0, 0.999], [0.999, 1.0]])
    masker = as_masker(Gaussian(torch.zeros(2), covariance), draws=4000)
    found = shap.explainers.Exact(lambda x: x[:, 0], masker)(np.array([[2.0, 2.0]]))
    assert np.allclose(found.values, [[1.0, 1.0]], atol=0.1)


def test_shap_chooses_its_own_explainer():
    found = shap.Explainer(linear, as_masker(Constant(tensor(MEAN))))(pd.DataFrame(ROWS, columns=list("abcd")))
    assert np.allclose(found.values, WEIGHTS * (ROWS - MEAN), atol=1e-5)
    assert found.feature_names == list("abcd")


def test_encoded_imputers_and_groups():
    features = Groups(groups={"first two": [0, 1]}).fit(BACKGROUND)
    masker = as_masker(Constant(0.0), features=features)  # encoded, 0 is the mean
    found = shap.explainers.Exact(linear, masker)(ROWS)
    each = WEIGHTS * (ROWS - MEAN)
    assert np.allclose(found.values, np.stack([each[:, :2].sum(1), each[:, 2], each[:, 3]], 1), atol=1e-5)
    assert masker.feature_names == ["first two", "x3", "x4"]


def test_frames_with_categories():
    frame = pd.DataFrame({"size": BACKGROUND[:, 0], "kind": np.where(BACKGROUND[:, 1] > 3, "a", "b")})
    features = Columns().fit(frame)

    def model(rows):  # shap hands over arrays of objects
        return 2 * rows[:, 0].astype(float) + np.where(rows[:, 1] == "a", 5.0, 1.0)

    masker = as_masker(Marginal.fit(features.encode(frame).x), features=features, draws=2000)
    found = shap.explainers.Exact(model, masker)(frame.iloc[:2])
    share = (frame["kind"] == "a").mean()
    other = np.where(frame["kind"].iloc[:2] == "a", 5.0, 1.0) - (5 * share + 1 - share)
    assert np.allclose(found.values[:, 0], 2 * (frame["size"].iloc[:2] - frame["size"].mean()), atol=0.5)
    assert np.allclose(found.values[:, 1], other, atol=0.2)


def test_what_shap_asks_of_a_masker():
    masker = as_masker(Marginal.fit(tensor(BACKGROUND)), draws=7)
    (drawn,) = masker(np.array([True, False, True, False]), ROWS[0])
    assert drawn.shape == masker.shape(ROWS[0]) == (7, COUNT)
    assert (drawn[:, [0, 2]] == ROWS[0, [0, 2]]).all()
    assert len(np.unique(drawn[:, 1])) > 1
    assert (masker(True, ROWS[0])[0] == ROWS[0]).all()
    assert not (masker(False, ROWS[0])[0] == ROWS[0]).any()
    assert as_masker(Constant(0.0), draws=7).shape(ROWS[0]) == (1, COUNT)  # one is enough
    assert masker.mask_shapes(ROWS[0]) == [(COUNT,)]
    with pytest.raises(ValueError, match=r"draws must be .*0"):
        as_masker(Constant(0.0), draws=0)


def test_a_masker_leaves_the_random_state_alone():
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    as_masker(Marginal.fit(tensor(BACKGROUND)))(False, ROWS[0])
    assert torch.equal(torch.rand(2), wanted)


# ---- a plain function ----


@pytest.mark.parametrize(
    "imputer", [Constant(-1.0), Marginal.fit(tensor(BACKGROUND)), Gaussian.fit(tensor(BACKGROUND))], ids=["c", "m", "g"]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fills_arrays_and_tensors(imputer, dtype):
    x, mask = ROWS.astype(dtype), GENERATOR.random(ROWS.shape) < 0.5
    fill = as_fill(imputer)
    for kind in (mask, mask.astype(int), mask.astype(float)):
        filled = fill(x, kind)
        assert isinstance(filled, np.ndarray)
        assert filled.dtype == dtype
        assert np.array_equal(filled[mask], x[mask])  # to the last digit
        assert not (filled[~mask] == x[~mask]).any()
    of_tensors = fill(torch.tensor(x), torch.tensor(mask))
    assert isinstance(of_tensors, torch.Tensor)
    assert np.array_equal(of_tensors.numpy()[mask], x[mask])
    whole = fill(np.arange(12).reshape(3, 4), mask)
    assert whole.dtype == np.float32
    one_for_all = fill(x, np.array([True, False, True, True]))
    assert np.array_equal(one_for_all[:, [0, 2, 3]], x[:, [0, 2, 3]])


def test_gradients_reach_what_is_visible():
    x, mask = torch.tensor(ROWS, requires_grad=True), torch.tensor([[True, False, True, True]] * 3)
    (slope,) = torch.autograd.grad(as_fill(Constant(0.0))(x, mask).sum(), x)
    assert torch.equal(slope, mask.double())


def test_fills_rows_in_the_units_of_a_fit():
    frame = pd.DataFrame({"size": BACKGROUND[:, 0], "kind": np.where(BACKGROUND[:, 1] > 3, "a", "b")})
    features = Columns().fit(frame)
    filled = as_fill(Constant(0.0), features=features)(frame, np.array([[False, True]]))
    assert np.allclose(filled["size"], frame["size"].mean())
    assert (filled["kind"] == frame["kind"]).all()
    assert filled["size"].dtype == frame["size"].dtype


def test_refuses_masks_that_do_not_fit():
    fill = as_fill(Constant(0.0))
    with pytest.raises(ValueError, match=r"mask has shape \(3, 3\), but these rows need \(3, 4\)"):
        fill(ROWS, np.ones((3, 3)))
    with pytest.raises(ValueError, match="0 and 1"):
        fill(ROWS, np.full((3, 4), 0.5))
