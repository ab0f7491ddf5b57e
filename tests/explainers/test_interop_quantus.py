"""A fitted explainer in Quantus's metrics: those of tables, of six categories."""

import copy
import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

import lexplain as lx
from lexplain.explainers import to_quantus

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what Quantus itself imports
    import quantus

COUNT = 5
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, COUNT)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
ROWS, LABELS = X[:8], Y[:8]
TRUTH = np.tile([1, 1, 0, 0, 0], (8, 1))
QUIET = {"disable_warnings": True, "display_progressbar": False}

METRICS = {
    "faithfulness correlation": lambda: quantus.FaithfulnessCorrelation(nr_runs=5, subset_size=2, return_aggregate=False, **QUIET),
    "faithfulness estimate": lambda: quantus.FaithfulnessEstimate(features_in_step=1, perturb_baseline=0.0, **QUIET),
    "monotonicity": lambda: quantus.Monotonicity(features_in_step=1, **QUIET),
    "monotonicity correlation": lambda: quantus.MonotonicityCorrelation(nr_samples=3, features_in_step=1, **QUIET),
    "pixel flipping": lambda: quantus.PixelFlipping(features_in_step=1, perturb_baseline=0.0, **QUIET),
    "max sensitivity": lambda: quantus.MaxSensitivity(nr_samples=3, **QUIET),
    "average sensitivity": lambda: quantus.AvgSensitivity(nr_samples=3, **QUIET),
    "local lipschitz": lambda: quantus.LocalLipschitzEstimate(nr_samples=3, **QUIET),
    "relative input stability": lambda: quantus.RelativeInputStability(nr_samples=3, return_nan_when_prediction_changes=False, **QUIET),
    "complexity": lambda: quantus.Complexity(**QUIET),
    "sparseness": lambda: quantus.Sparseness(**QUIET),
    "effective complexity": lambda: quantus.EffectiveComplexity(**QUIET),
    "relevance rank accuracy": lambda: quantus.RelevanceRankAccuracy(**QUIET),
    "top k intersection": lambda: quantus.TopKIntersection(k=2, **QUIET),
    "random logit": lambda: quantus.RandomLogit(num_classes=2, similarity_func=quantus.correlation_pearson, **QUIET),
    "non-sensitivity": lambda: quantus.NonSensitivity(features_in_step=1, **QUIET),
}

WITH_A_CHANNEL = ("faithfulness correlation", "relevance rank accuracy", "top k intersection")  # Quantus 0.6 refuses (n, d) there


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(COUNT, 6), nn.ReLU(), nn.Linear(6, 2)).eval()


@pytest.fixture(scope="module")
def explainer():
    return lx.Explainer("realx", keep=2, epochs=2).fit(X, model=network())


def test_it_is_quantus_s_explain_func(explainer):
    explain = to_quantus(explainer)
    found = explain(model=network(), inputs=ROWS, targets=LABELS, device="cpu")
    assert isinstance(found, np.ndarray)
    assert found.dtype == ROWS.dtype
    assert np.allclose(found, explainer.explain(ROWS).scores.numpy())
    assert np.array_equal(explain(network(), ROWS[:, None], LABELS), found[:, None])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        to_quantus(lx.Explainer("realx"))


@pytest.mark.parametrize("name", METRICS)
def test_quantus_measures_it(explainer, name):
    asked = []

    def explain(**given):
        asked.append(given["inputs"].shape)
        return to_quantus(explainer)(**given)

    rows = ROWS[:, None] if name in WITH_A_CHANNEL else ROWS
    shared = {"model": network(), "x_batch": rows, "y_batch": LABELS, "softmax": True, "device": "cpu", "channel_first": True}
    scores = METRICS[name]()(**shared, explain_func=explain, s_batch=TRUTH[:, None] if name in WITH_A_CHANNEL else None)
    assert len(scores) == len(ROWS)
    assert np.isfinite(np.asarray(scores, dtype=float)).all()
    assert asked
    assert {shape[1:] for shape in asked} == {rows.shape[1:]}


def test_several_categories_are_measured():
    assert len({METRICS[name]().evaluation_category for name in METRICS}) >= 5


def test_two_metrics_by_hand(explainer):
    scores = explainer.explain(ROWS).scores.numpy().astype(float)
    shared = {"model": network(), "y_batch": LABELS, "explain_func": to_quantus(explainer), "softmax": True, "channel_first": True}
    share = scores / scores.sum(1, keepdims=True)
    entropy = -(share * np.log(share)).sum(1)
    assert np.allclose(quantus.Complexity(**QUIET)(**shared, x_batch=ROWS), entropy, atol=1e-4)
    top = np.argsort(-scores, 1)[:, :2]
    hits = np.take_along_axis(TRUTH, top, 1).mean(1)
    assert np.allclose(quantus.RelevanceRankAccuracy(**QUIET)(**shared, x_batch=ROWS[:, None], s_batch=TRUTH[:, None]), hits)


def test_randomised_models_are_followed_by_a_refit_alone(explainer):
    model, other = network(), copy.deepcopy(network())
    with torch.no_grad():
        for weights in other.parameters():
            weights.normal_()
    still, follows = to_quantus(explainer), to_quantus(explainer, refit=X)
    assert np.array_equal(still(model, ROWS, LABELS), still(other, ROWS, LABELS))
    first, second = follows(model, ROWS, LABELS), follows(other, ROWS, LABELS)
    assert np.allclose(first, still(model, ROWS, LABELS), atol=1e-5)  # the same seed, rows and model
    assert not np.allclose(first, second, atol=1e-3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lx.Explainer, "fit", lambda *_, **__: pytest.fail("it was fitted to these weights before"))
        assert np.array_equal(follows(copy.deepcopy(other), ROWS, LABELS), second)


def test_model_parameter_randomisation():
    explainer = lx.Explainer("realx", keep=2, epochs=20, learning_rate=1e-2).fit(X, model=network())  # long enough to learn of the model
    shared = {"model": network(), "x_batch": ROWS, "y_batch": LABELS, "softmax": True, "device": "cpu", "channel_first": True}
    found = {}
    for name, explain in {"still": to_quantus(explainer), "follows": to_quantus(explainer, refit=X)}.items():
        metric = quantus.MPRT(return_last_correlation=True, **QUIET)
        found[name] = np.mean(metric(**shared, explain_func=explain))
    assert found["still"] == pytest.approx(1)  # nothing changed: what a failing explainer looks like
    assert found["follows"] < 0.99
