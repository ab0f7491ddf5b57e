"""Settings of a method's own, told to an Explainer by name."""

import numpy as np
import pytest
import torch

from lexplain import Explainer
from lexplain.estimators import Reinforce

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 4)).astype(np.float32)
Y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
PICTURES, LABELS = DRAW.random((40, 1, 8, 8), dtype=np.float32), np.arange(40) % 2


def quick(method="l2x", **settings):
    return Explainer(method, **{"keep": 2, "epochs": 1, **settings})


def test_options_reach_the_method():
    fitted = quick("sufficient", options={"own_share": 0.0, "spread": 7.0, "last": 0.5}).fit(PICTURES, LABELS)
    assert fitted.method_.plan.schedule.own_share == 0.0
    assert fitted.method_.selector.spread == 7.0
    assert fitted.method_.plan.schedule.last == 0.5


def test_the_default_method_has_them_too():
    assert Explainer(options={"own_share": 0.25}, keep=3, epochs=1).fit(PICTURES, LABELS).method_.plan.schedule.own_share == 0.25


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temprature": 0.1}, r"'l2x': temprature\. Available: temperature, spread\.$"),
        ({"epochs": 3, "keep": 3}, r"Explainer: epochs, keep\.$"),
        ({"outputs": 3}, r"'l2x': outputs\. Available: temperature, spread\.$"),
        (["temperature"], r"options must be a dictionary .*\['temperature'\]"),
    ],
)
def test_options_that_a_method_has_not_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        quick(options=options).fit(X, Y)


def test_options_beside_a_method_built_from_parts_are_refused():
    built = quick().fit(X, Y).method_
    with pytest.raises(ValueError, match=r"Method .*\['options'\]"):
        Explainer(built, options={"temperature": 0.1}, epochs=1).fit(X, Y)


@pytest.mark.parametrize(
    "options", [{"own_share": -0.1}, {"own_share": 2}, {"last": "half"}, {"last": 1.0}, {"spread": 0.0}, {"temperature": None}]
)
def test_values_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        quick("sufficient", options=options).fit(PICTURES, LABELS)


@pytest.mark.parametrize("method", ["l2x", "realx", "basex", "lex", "vibi"])
def test_no_method_takes_a_temperature_below_zero(method):
    with pytest.raises(ValueError, match=r"temperature .*-1"):
        quick(method, options={"temperature": -1}).fit(X, Y)


def test_an_estimator_is_an_object():
    with pytest.raises(TypeError, match=r"estimator must be .*'reinforce'"):
        quick("realx", options={"estimator": "reinforce"}).fit(X, Y)


def test_options_that_would_be_ignored_are_refused():
    with pytest.raises(ValueError, match="own_share, last"):
        quick("sufficient", regime="fixed", options={"own_share": 0.0, "last": 0.5}).fit(PICTURES, LABELS)
    with pytest.raises(ValueError, match=r"'gains': plan.*: none"):
        Explainer("gains", options={"plan": None}).fit(X, Y)


def test_a_checkpoint_knows_options_in_any_order(tmp_path):
    fitted = quick("sufficient", options={"own_share": 0.2, "last": 0.3}).fit(PICTURES, LABELS, checkpoint=tmp_path / "c")
    again = quick("sufficient", options={"last": np.float64(0.3), "own_share": 0.2}).fit(PICTURES, LABELS, checkpoint=tmp_path / "c")
    assert torch.equal(fitted.explain(PICTURES).scores, again.explain(PICTURES).scores)
    with pytest.raises(ValueError, match="another fit"):
        quick("sufficient", options={"own_share": 0.3, "last": 0.3}).fit(PICTURES, LABELS, checkpoint=tmp_path / "c")


def test_a_file_remembers_them(tmp_path):
    explainer = quick(options={"spread": np.float64(2.0)}).fit(X, Y)
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex")
    assert again.options == {"spread": 2.0}
    assert again.method_.selector.spread == 2.0
    assert torch.equal(again.explain(X).scores, explainer.explain(X).scores)


def test_options_that_are_no_plain_values_are_brought_again(tmp_path):
    explainer = quick("realx", options={"estimator": Reinforce(samples=2)}).fit(X, Y)
    explainer.save(tmp_path / "model.lex")
    with pytest.raises(ValueError, match=r"options.*method=\.\.\."):
        Explainer.load(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex", method=explainer.method_)
    assert torch.equal(again.explain(X).scores, explainer.explain(X).scores)
    assert again.fit(X, Y).options is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("few", [0, 2**14])
def test_scores_are_the_same_on_whichever_side_they_are_finished(few, monkeypatch):
    monkeypatch.setattr("lexplain.explainers.one_pass.FEW_SCORES", few)
    fitted = quick("sufficient", device="cuda").fit(PICTURES, LABELS)
    explanation = fitted.explain(PICTURES)
    scores, mask = fitted.method_.explain(fitted.features_.encode(PICTURES).x.cuda())
    assert explanation.scores.device.type == explanation.mask.device.type == "cpu"
    assert torch.equal(explanation.mask, mask.cpu())
    torch.testing.assert_close(explanation.scores, scores.cpu())
    assert explanation.prediction.shape == (40, 2)
