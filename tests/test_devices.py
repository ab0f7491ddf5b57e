"""Rows, networks and explainers may lie on a CPU or on a GPU, each of them where it likes."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

import lexplain as lx
from lexplain.explainers import BASELINES, to_quantus
from lexplain.features import Patches
from lexplain.imputers import Constant, GaussianMixture, KMeansRows, Marginal, as_fill

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
PLACES = ["cpu", pytest.param("cuda", marks=on_a_gpu)]
PEERS = (
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
)
DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
IMAGES = DRAW.random((60, 1, 8, 12)).astype(np.float32)
SHORT = {"epochs": 1, "batch_size": 30}


def network_of(rows, place):
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(rows[0].size, 2)).to(place)


def placed(net):
    return {str(weight.device) for weight in net.parameters()}


@pytest.mark.parametrize("regime", ["self", "surrogate"])
@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rows", [X, IMAGES], ids=["table", "images"])
def test_a_network_is_explained_wherever_it_lies(rows, place, device, regime, tmp_path, monkeypatch):
    monkeypatch.setattr("lexplain.training.evaluator.JUDGE_STEPS", 5)
    monkeypatch.setattr("lexplain.training.evaluator.READER_STEPS", 5)
    net = network_of(rows, place)
    before = placed(net)
    explainer = lx.Explainer("l2x", keep=2, regime=regime, device=device, **SHORT).fit(rows, model=net)
    explanation = explainer.explain(rows)
    assert placed(net) == before
    assert explanation.prediction.shape == (60, 2)
    explainer.save(tmp_path / "model.lex")
    again = lx.Explainer.load(tmp_path / "model.lex", model=net)
    torch.testing.assert_close(again.explain(rows).scores, explanation.scores, atol=1e-3, rtol=0)
    assert lx.audit(explanation, rows, Y, model=net, measures=[], device=device)["eACC"].mean >= 0


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rows", [X, IMAGES], ids=["table", "images"])
def test_rows_may_be_tensors_wherever_they_lie(rows, place, device):
    there = torch.as_tensor(rows, device=place)
    explainer = lx.Explainer("hold", keep=2, device=device, **SHORT).fit(there, torch.as_tensor(Y, device=place))
    explanation = explainer.explain(there)
    assert explanation.mask.device.type == "cpu"
    assert torch.equal(explanation.mask, explainer.explain(rows).mask)
    found = explainer.attribute(there)
    assert found.shape == there.shape
    assert found.device == there.device
    said = to_quantus(explainer)(model=None, inputs=rows, targets=Y, device=place)
    assert said.shape == rows.shape
    assert 0 <= explainer.score(there, torch.as_tensor(Y, device=place)) <= 1


@pytest.mark.parametrize("place", PLACES)
def test_tensors_may_carry_gradients(place):
    rows = torch.tensor(X, device=place, requires_grad=True)
    values = 3 * rows[:, 0]
    explainer = lx.Explainer("l2x", keep=2, **SHORT).fit(rows, values)
    assert explainer.explain(rows).mask.shape == X.shape
    assert np.isfinite(explainer.score(rows, values))
    asked = lx.Explainer("l2x", keep=2, **SHORT).fit(rows, model=lambda given: 3 * torch.as_tensor(given, device=place)[:, 0])
    assert torch.isfinite(asked.explain(rows).prediction).all()
    trained = lx.RightReasons(network_of(X, place), epochs=1).fit(rows, torch.as_tensor(Y, device=place))
    assert 0 <= trained.score(rows, torch.as_tensor(Y, device=place)) <= 1


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", [pytest.param(name, marks=PEERS) for name in sorted(BASELINES)])
@pytest.mark.parametrize("rows", [X, IMAGES], ids=["table", "images"])
def test_every_baseline_asks_a_network_wherever_it_lies(rows, name, place):
    if name in ("shap", "deepshap", "treeshap", "lime"):
        pytest.importorskip("lime" if name == "lime" else "shap")
    short = {"fastshap": {"steps": 2}, "cxplain": {"steps": 2, "members": 2}, "senn": {"steps": 2}}
    features = {"features": Patches(4)} if rows is IMAGES else {}
    baseline = BASELINES[name](keep=2, **features, **short.get(name, {}))
    if name == "treeshap" or (baseline.tables_only and rows is IMAGES):
        return
    net = network_of(rows, place)
    given = {"model": net} if {"model", "network"} & set(baseline.needs) else {}
    found = baseline.fit(rows, Y if "y" in baseline.needs else None, **given).explain(rows[:3])
    assert found.mask.shape == (3, 6 if rows is IMAGES else 4)
    assert found.scores.device.type == found.mask.device.type == "cpu"


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("imputer", [Constant, Marginal, GaussianMixture, KMeansRows])
@pytest.mark.parametrize("rows", [X, IMAGES], ids=["table", "images"])
def test_a_fitted_imputer_fills_rows_wherever_it_learned(rows, imputer, device):
    explainer = lx.Explainer("lex", keep=2, imputer=imputer, device=device, **SHORT).fit(rows, Y)
    fill, mask = as_fill(explainer.method_.imputer, features=explainer.features_), explainer.explain(rows).mask.numpy()
    filled = fill(rows, mask)
    shown = explainer.features_.expand(torch.as_tensor(mask)).numpy()
    assert filled.shape == rows.shape
    assert np.allclose(filled[shown], rows[shown], atol=1e-5)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("device", PLACES)
def test_right_reasons_takes_a_network_and_rows_wherever_they_lie(place, device):
    net, marks = network_of(X, place), np.zeros(4)
    marks[0] = 1
    fitted = lx.RightReasons(copy.deepcopy(net), epochs=2, device=device).fit(X, Y, irrelevant_mask=marks)
    assert fitted.predict(X).shape == (60,)
    assert fitted.input_gradients(X).shape == X.shape


@pytest.mark.parametrize("device", PLACES)
def test_images_that_cannot_be_meant_are_refused_on_every_device(device):
    explainer = lx.Explainer("hold", keep=2, device=device, **SHORT).fit(IMAGES, Y)
    for rows in (IMAGES, IMAGES[:2]):  # many, and so few that their scores are finished on the CPU
        with pytest.raises(ValueError, match="NaN or infinity"):
            explainer.explain(np.full_like(rows, np.nan))
        with pytest.raises(ValueError, match=r"float32 from .* to 2.*; pass numbers in \[0, 1\]"):
            explainer.explain(255 * rows)
    model = lx.Explainer("meed", keep=2, device=device, **SHORT).fit(IMAGES, model=network_of(IMAGES, "cpu"))
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.explain(np.full_like(IMAGES, np.nan))


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize(
    ("method", "rows", "features"),
    [
        ("default", X, None),
        ("hold", IMAGES, None),
        ("hold", IMAGES, Patches(3)),  # a grid that does not divide the image
        ("realx", IMAGES, Patches(5)),
        ("l2x", IMAGES, Patches(2)),
        ("lex", IMAGES, Patches(3)),
    ],
)
def test_the_same_seed_gives_the_same_fit(method, rows, features, device):
    fits = [lx.Explainer(method, keep=2, features=features, device=device, epochs=3, batch_size=30).fit(rows, Y) for _ in range(3)]
    first, *others = (fit.method_.state_dict() for fit in fits)
    assert all(torch.equal(value, first[name]) for other in others for name, value in other.items())
