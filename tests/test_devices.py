"""Rows, networks and explainers may lie on a CPU or on a GPU, each of them where it likes."""

import copy

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

import lexplain as lx
from lexplain.baselines import BASELINES, RandomBaseline
from lexplain.explainers import to_quantus
from lexplain.explainers.one_pass import OnePass
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
def test_a_network_is_explained_wherever_it_lies(rows, place, device, regime, tmp_path, short_judges):
    short_judges(judge=5, reader=5)
    net = network_of(rows, place)
    before = placed(net)
    explainer = lx.Explainer("l2x", keep=2, regime=regime, device=device, **SHORT).fit(rows, model=net)
    explanation = explainer.explain(rows)
    assert placed(net) == before
    assert explanation.prediction.shape == (60, 2)
    explainer.save(tmp_path / "model.lex")
    again = lx.Explainer.load(tmp_path / "model.lex", model=net, device=device)
    assert again.method_.selector.offset.device.type == device
    torch.testing.assert_close(again.explain(rows).scores, explanation.scores, atol=1e-3, rtol=0)
    card = lx.audit(
        explanation, torch.as_tensor(rows, device=place), torch.as_tensor(Y, device=place), model=net, measures=[], device=device
    )
    assert card["eACC"].mean == lx.audit(explanation, rows, Y, model=net, measures=[], device=device)["eACC"].mean


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rows", [X, IMAGES], ids=["table", "images"])
def test_rows_may_be_tensors_wherever_they_lie(rows, place, device):
    there = torch.as_tensor(rows, device=place)
    explainer = lx.Explainer("sufficient", keep=2, device=device, **SHORT).fit(there, torch.as_tensor(Y, device=place))
    explanation = explainer.explain(there)
    assert explanation.mask.device.type == "cpu"
    assert torch.equal(explanation.mask, explainer.explain(rows).mask)
    found = explainer.attribute(there)
    assert found.shape == there.shape
    assert found.device == there.device
    said = to_quantus(explainer)(model=None, inputs=there, targets=Y, device=place)
    assert np.allclose(said, found.cpu().numpy())
    labels = torch.as_tensor(Y, device=place)
    assert explainer.score(there, labels) == explainer.score(rows, Y)
    assert RandomBaseline().fit(there, labels).explain(there, target=labels).target.tolist() == Y.tolist()
    assert torch.equal(explainer.explain(list(there)).mask, explanation.mask)


@pytest.mark.parametrize("place", PLACES)
def test_tensors_may_carry_gradients(place):
    rows = torch.tensor(X, device=place, requires_grad=True)
    values = 3 * rows[:, 0]
    explainer = lx.Explainer("l2x", keep=2, **SHORT).fit(rows, values)
    assert explainer.explain(rows).mask.shape == X.shape
    assert np.isfinite(explainer.score(rows, values))
    asked = lx.Explainer("l2x", keep=2, **SHORT).fit(rows, model=lambda given: 3 * torch.as_tensor(given, device=place)[:, 0])
    assert torch.isfinite(asked.explain(rows).prediction).all()
    apart = lx.Explainer("l2x", keep=2, **SHORT).fit(list(rows), list(values))
    assert torch.equal(apart.explain(list(rows)).mask, explainer.explain(X).mask)
    estimator = LogisticRegression().fit(X, Y)
    for model in (estimator, estimator.predict_proba):
        fitted = lx.Explainer("meed", keep=2, **SHORT).fit(rows, model=model)
        assert torch.equal(fitted.explain(rows[3:9]).mask, fitted.explain(X[3:9]).mask)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", [pytest.param(name, marks=PEERS) for name in sorted(BASELINES)])
@pytest.mark.parametrize("rows", [X, IMAGES], ids=["table", "images"])
def test_every_baseline_asks_a_network_wherever_it_lies(rows, name, place):
    if name in ("shap", "deepshap", "treeshap", "lime"):
        pytest.importorskip("lime" if name == "lime" else "shap")
    short = {"fastshap": {"steps": 2}, "cxplain": {"steps": 2, "members": 2}, "senn": {"steps": 2}}
    features = {"features": Patches(4)} if rows is IMAGES else {}
    baseline = BASELINES[name](keep=2, **features, **short.get(name, {}))
    if name == "treeshap" or (baseline.kinds == ("columns",) and rows is IMAGES):
        pytest.skip("explains no network, or no images")
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
    net, marks = network_of(X, place), np.array([[1, 0, 0, 0]] * 5)
    there = [torch.as_tensor(each, device=place) for each in (X, Y, marks, np.arange(5), np.arange(3))]
    fits = []
    for x, y, marked, which, always in (there, [each.cpu().numpy() for each in there]):
        fitted = lx.RightReasons(copy.deepcopy(net), epochs=2, device=device, strength=1.0)
        fits.append(fitted.fit(x, y, irrelevant_mask=marked, annotated_rows=which, always_include=always))
    assert np.array_equal(fits[0].input_gradients(there[0]), fits[1].input_gradients(X))
    assert fits[0].score(*there[:2]) == fits[1].score(X, Y)


def test_arrays_that_may_not_be_written_to_are_taken():
    rows = IMAGES.copy()
    rows.flags.writeable = False
    assert lx.RightReasons(network_of(IMAGES, "cpu"), epochs=1).fit(rows, Y).predict(rows).shape == (60,)
    assert lx.Explainer("sufficient", keep=2, **SHORT).fit(rows, Y).explain(rows).mask.shape == (60, 96)


def test_a_buffer_may_be_used_again_before_the_prediction_is_read():
    explainer, buffer = lx.Explainer("sufficient", keep=2, **SHORT).fit(IMAGES, Y), IMAGES.copy()
    explanation = explainer.explain(buffer)
    buffer[:] = 0
    assert torch.equal(explanation.prediction, explainer.explain(IMAGES).prediction)


@pytest.mark.parametrize("device", PLACES)
def test_images_that_cannot_be_meant_are_refused_on_every_device(device):
    explainer = lx.Explainer("sufficient", keep=2, device=device, **SHORT).fit(IMAGES, Y)
    for rows in (IMAGES, IMAGES[:2]):  # many, and so few that their scores are finished on the CPU
        with pytest.raises(ValueError, match="contains NaN"):
            explainer.explain(np.full_like(rows, np.nan))
        with pytest.raises(ValueError, match=r"float32 from .* to 2.* numbers in \[0, 1\]"):
            explainer.explain(255 * rows)
    model = lx.Explainer("meed", keep=2, device=device, **SHORT).fit(IMAGES, model=network_of(IMAGES, "cpu"))
    with pytest.raises(ValueError, match="contains NaN"):
        model.explain(np.full_like(IMAGES, np.nan))


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize(
    ("method", "rows", "features"),
    [
        ("default", X, None),
        ("sufficient", IMAGES, None),
        ("sufficient", IMAGES, Patches(3)),  # a grid that does not divide the image
        ("realx", IMAGES, Patches(5)),
        ("l2x", IMAGES, Patches(2)),
        ("lex", IMAGES, Patches(3)),
    ],
)
def test_the_same_seed_gives_the_same_fit(method, rows, features, device):
    fits = [lx.Explainer(method, keep=2, features=features, device=device, epochs=3, batch_size=30).fit(rows, Y) for _ in range(3)]
    first, *others = (fit.method_.state_dict() for fit in fits)
    assert all(torch.equal(value, first[name]) for other in others for name, value in other.items())


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("few", [0, 2**14])
@pytest.mark.parametrize("count", [2, 60])
def test_there_is_time_for_one_thing_while_a_device_is_at_work(count, few, device, monkeypatch):
    monkeypatch.setattr("lexplain.explainers.one_pass.FEW_SCORES", few)  # above, scores are finished where they are computed
    explainer, calls = lx.Explainer("sufficient", keep=2, device=device, **SHORT).fit(IMAGES, Y), []
    x = explainer.features_.encode(IMAGES[:count], device).x
    OnePass(explainer.method_, 1000)._explain(x, None, None, lambda: calls.append(1))
    assert calls == [1]


@pytest.mark.parametrize("most", [None, 7])
def test_what_is_looked_at_late_is_refused_all_the_same(most, monkeypatch):
    """As on a GPU, where the numbers of images are looked at while the network runs."""
    explainer, order = lx.Explainer("sufficient", keep=2, max_rows=most, device="cpu", **SHORT).fit(IMAGES, Y), []

    def late(self, X):
        encoded, look = self.method.features.encode_unchecked(X)
        return encoded, lambda: (order.append("look"), look())

    monkeypatch.setattr(OnePass, "_encode", late)
    explainer.method_.selector.network.register_forward_hook(lambda *_: order.append("network"))
    assert explainer.explain(IMAGES).mask.shape == (60, 96)
    assert order[:2] == ["network", "look"]
    assert order.count("look") == 1
    with pytest.raises(ValueError, match="contains NaN"):
        explainer.explain(np.full_like(IMAGES, np.nan))
