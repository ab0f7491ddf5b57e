import numpy as np
import pytest
import torch
from torch import nn

from lexplain import Explainer
from lexplain.baselines import BASELINES
from lexplain.core import Classes
from lexplain.explainers import to_quantus
from lexplain.features import Patches
from lexplain.methods import METHODS
from lexplain.networks import UNet, cnn

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 120)
X = RNG.random((120, 1, 8, 12)).astype(np.float32) * 0.3
X[np.arange(120), 0, 2, 2 + 5 * Y] = 1.0  # the place of the bright pixel tells the class
SHORT = {"epochs": 1, "batch_size": 60}
PEERS = (
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
)


def fitted(method="default", **settings):
    reads_output = method != "default" and METHODS[method].reads_output
    model = {"model": lambda rows: np.stack([1 - rows[:, 0, 2, 7], rows[:, 0, 2, 7]], 1)} if reads_output else {}
    return Explainer(method, **SHORT, **settings).fit(X, None if model else Y, **model)


@pytest.mark.filterwarnings("ignore::lexplain.explainers.findings.FitWarning")
@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains_images(method, tmp_path):
    explainer = fitted(method, features=Patches(2))
    explanation = explainer.explain(X[:5])
    assert explanation.mask.shape == explanation.scores.shape == (5, 24)
    assert explanation.prediction.shape == (5, 2)
    explainer.save(tmp_path / "model.lex")
    back = Explainer.load(tmp_path / "model.lex", model=explainer.model_function_.function if explainer.model_function_ else None)
    assert torch.equal(back.explain(X[:5]).scores, explanation.scores)
    assert (back.features.size, back.features.layout) == ((2, 2), "NCHW")
    assert back.features.fit(X) == explainer.features_
    assert torch.allclose(back.explain(X[:5]).prediction, explanation.prediction, atol=1e-6)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NHW"])
def test_attributions_have_the_shape_of_the_images(layout):
    colour = np.repeat(X, 3, axis=1)
    rows = {"NCHW": colour, "NHWC": np.moveaxis(colour, 1, -1), "NHW": colour[:, 0]}[layout]
    explainer = Explainer(features=Patches(4, layout=layout), keep=2, **SHORT).fit(rows, Y)
    found = explainer.attribute(torch.as_tensor(rows[:5]))
    assert found.shape == rows[:5].shape
    first = (found if layout == "NCHW" else found.movedim(-1, 1) if layout == "NHWC" else found[:, None])[:, -1, :4, :4]
    assert torch.equal(first, explainer.explain(rows[:5]).scores[:, :1, None].expand(5, 4, 4))
    assert np.array_equal(to_quantus(explainer)(model=None, inputs=rows[:5], targets=Y[:5]), found.numpy())


def test_a_model_is_asked_in_the_units_that_it_eats():
    seen = []

    def model(rows):
        seen.append((rows.dtype, rows.max()))
        return np.stack([1 - rows[:, 0, 2, 7], rows[:, 0, 2, 7]], 1)

    explainer = Explainer("meed", features=Patches(2), keep=4, **SHORT).fit(X, model=model)
    told = explainer.explain(X[:5])
    seen.clear()
    again = explainer.explain((X[:5] * 255).round().astype(np.uint8))
    assert [(str(kind), high <= 1) for kind, high in seen] == [("float32", True)]
    assert torch.allclose(again.scores, told.scores, atol=0.02)


def test_networks_suit_images_unless_given():
    explainer = fitted()
    assert explainer.method_.name == "sufficient"
    assert isinstance(explainer.method_.selector.network, UNet)
    assert any(isinstance(layer, nn.Conv2d) for layer in explainer.method_.predictor.modules())
    assert explainer.features_.count == 96  # single pixels
    assert explainer.explain(X).mask.sum(1).tolist() == [10] * 120  # a tenth
    own = nn.Sequential(nn.Flatten(), nn.Linear(96, 24))
    given = fitted(features=Patches(2), selector=own, predictor=cnn((1, 8, 12), 2, sees_mask=False, width=4))
    assert isinstance(given.method_.selector.network, nn.Sequential)
    assert given.method_.predictor.network[0].out_channels == 4
    assert own[1].weight.grad is None


def test_the_layout_makes_no_difference():
    first = fitted("l2x", keep=2, features=Patches(2))
    last = Explainer("l2x", keep=2, features=Patches(2), **SHORT).fit(np.moveaxis(X, 1, -1), Y)
    plain = Explainer("l2x", keep=2, features=Patches(2), **SHORT).fit(X[:, 0], Y)
    scores = first.explain(X).scores
    assert torch.equal(scores, last.explain(np.moveaxis(X, 1, -1)).scores)
    assert torch.equal(scores, plain.explain(X[:, 0]).scores)


@pytest.mark.parametrize("regime", ["surrogate", "self"])
def test_a_network_of_images_is_explained(regime):
    class LastAxis(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(1.0))

        def forward(self, x):  # bytes of (n, rows, columns, channels)
            assert x.shape[1:] == (8, 12, 1)
            assert x.max() > 1
            return torch.stack([x[:, 2, 2, 0], x[:, 2, 7, 0]], 1) * self.scale / 255

    rows = np.moveaxis((X * 255).astype(np.uint8), 1, -1)
    explainer = Explainer("sufficient", regime=regime, features=Patches(2), **SHORT).fit(rows, model=LastAxis())
    assert explainer.explain(rows[:4]).prediction.shape == (4, 2)


def test_the_deciding_pixels_are_found():
    explainer = Explainer("sufficient", keep=4, epochs=40, batch_size=60).fit(X, Y)
    assert explainer.score(X, Y) == 1
    assert explainer.explain(X).mask[:, [2 * 12 + 2, 2 * 12 + 7]].any(1).double().mean() > 0.95


def test_a_price_of_ragged_masks_makes_them_connected():
    def breaks(explainer):
        mask = explainer.explain(X).mask.reshape(-1, 8, 12).float()
        return float((mask.diff(dim=1).abs().sum((1, 2)) + mask.diff(dim=2).abs().sum((1, 2))).mean())

    settings = {"keep": 24, "epochs": 15, "batch_size": 60}
    ragged, connected = (Explainer("sufficient", continuity=price, **settings).fit(X, Y) for price in (None, 0.3))
    assert breaks(connected) < 0.6 * breaks(ragged)


def test_continuity_is_refused_where_it_would_be_ignored():
    with pytest.raises(ValueError, match=r"continuity=0\.1 .*'gains'"):
        fitted("gains", continuity=0.1)
    with pytest.raises(ValueError, match="continuity"):
        fitted("sufficient", continuity=-1.0)
    built = METHODS["sufficient"](Patches(2).fit(X), Classes(2))
    with pytest.raises(ValueError, match=r"Method .*\['continuity'\]"):
        Explainer(built, continuity=0.1, **SHORT).fit(X, Y)


def test_wrong_images_are_refused():
    explainer = fitted(features=Patches(2))
    with pytest.raises(ValueError, match="X has shape"):
        explainer.explain(X[:, :, :6])
    with pytest.raises(ValueError, match="X has shape"):
        Explainer(features=Patches(2)).fit(X.reshape(120, -1), Y)


@pytest.mark.parametrize("name", [pytest.param(name, marks=PEERS) for name in sorted(BASELINES)])
def test_every_baseline_explains_images_or_says_that_it_cannot(name):
    short = {"fastshap": {"steps": 2}, "cxplain": {"steps": 2, "members": 2}, "oracle": {"truth": np.ones((40, 6), dtype=bool)}}
    baseline = BASELINES[name](features=Patches(4), keep=2, **short.get(name, {}))
    network = nn.Sequential(nn.Flatten(), nn.Linear(96, 2))
    given = {"model": network} if {"model", "network"} & set(baseline.needs) else {}
    if baseline.kinds == ("columns",):
        with pytest.raises(ValueError, match=f"{name} explains features of kind columns, not patches"):
            baseline.fit(X[:40], Y[:40], **given)
        return
    made = baseline.fit(X[:40], Y[:40] if "y" in baseline.needs else None, **given)
    assert made.explain(X[:40] if name == "oracle" else X[:3]).mask.shape[1] == 6


def test_at_last_the_predictor_learns_to_read_what_the_finished_selector_keeps():
    explainer = Explainer("sufficient", keep=4, epochs=5, batch_size=60).fit(X, Y)
    assert explainer.history_["phase"].tolist() == ["selector"] * 4 + ["polish"]
    phases = explainer.method_.phases()
    assert [step.module for step in phases[-1].steps] == [explainer.method_.predictor]
    assert sum(phase.share for phase in phases) == pytest.approx(1)
