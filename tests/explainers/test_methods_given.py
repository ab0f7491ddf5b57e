"""What `Explainer(method=)` takes: a name, a recipe, or a Method; and the regime that a Method has."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from lexplain import Explainer
from lexplain.core import Classes
from lexplain.explainers.settings import predictor_learns
from lexplain.features import Columns
from lexplain.imputers import Gaussian
from lexplain.methods import METHODS, Method, Parts, gains, l2x, realx, recipe
from lexplain.models import BlackBox, Frozen

X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
FEATURES, CLASSES = Columns().fit(X), Classes(2)


def chance(rows):
    yes = 1 / (1 + np.exp(-np.asarray(rows)[:, 0]))
    return np.stack([1 - yes, yes], 1)


def quick(method, **settings):
    return Explainer(method, **{"epochs": 1, **settings})


@recipe(sized_by="k", size=0.5, imputer=Gaussian)
def ours(features, outputs, parts, *, k, temperature=0.1):
    """A recipe of the user's own."""
    return l2x(features, outputs, parts, keep=k, temperature=temperature)


def frozen():
    return Frozen(nn.Linear(4, 2), CLASSES, to_raw=lambda x: x)


# ---- a name, a recipe, a Method ----


@pytest.mark.parametrize("name", ["l2x", "realx", "gains"])
def test_a_recipe_is_what_its_name_means(name, tmp_path):
    by_name, by_recipe = (quick(method, keep=2).fit(X, Y) for method in (name, METHODS[name]))
    assert torch.equal(by_name.explain(X).scores, by_recipe.explain(X).scores)
    assert by_recipe.method is METHODS[name]
    by_recipe.save(tmp_path / "model.lex")
    assert torch.equal(Explainer.load(tmp_path / "model.lex").explain(X).scores, by_recipe.explain(X).scores)


def test_a_recipe_of_ones_own_is_built_with_what_it_says_it_needs(tmp_path):
    explainer = quick(ours, options={"temperature": 0.3}).fit(X, Y)
    assert (explainer.transform(X).sum(1) == 2).all()  # half of the features
    assert isinstance(explainer.method_.imputer, Gaussian)
    assert explainer.method_.selector.family.settings["temperature"] == 0.3
    explainer.save(tmp_path / "model.lex")
    with pytest.raises(ValueError, match=r"method=\.\.\."):
        Explainer.load(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex", method=explainer.method_)
    assert torch.equal(again.explain(X).scores, explainer.explain(X).scores)


def test_a_recipe_written_inside_a_function_is_cloned():
    @recipe(sized_by="k", size=0.5)
    def inner(features, outputs, parts, *, k):
        return l2x(features, outputs, parts, keep=k)

    assert clone(quick(inner)).method is inner
    assert clone(quick(inner)).fit(X, Y).method_.name == "l2x"


def test_training_by_a_recipe_goes_on_from_a_checkpoint(tmp_path):
    fitted, again = (quick(method).fit(X, Y, checkpoint=tmp_path / "c") for method in (ours, clone(quick(ours)).method))
    assert torch.equal(fitted.explain(X).scores, again.explain(X).scores)
    with pytest.raises(ValueError, match="another fit"):
        quick(l2x).fit(X, Y, checkpoint=tmp_path / "c")


def test_a_method_is_taken_as_it_is():
    explainer = quick(l2x(FEATURES, CLASSES, keep=3)).fit(X, Y)
    assert isinstance(explainer.method, Method)
    assert (explainer.transform(X).sum(1) == 3).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3, r"method .* int\.$"),
        (None, "method .* NoneType"),
        (["l2x"], "method .* list"),
        (chance, r"method .* function\. .*@lexplain.methods.recipe\(...\)"),
        (Method, "method .* type"),
        (nn.Linear(4, 4), "method .* Linear"),
    ],
    ids=["number", "nothing", "list", "function", "class", "network"],
)
def test_anything_else_is_refused(given, words):
    with pytest.raises(TypeError, match=words):
        quick(given).fit(X, Y)


def test_settings_of_a_method_are_options_alone():
    with pytest.raises(TypeError, match="temperature"):
        Explainer("l2x", temperature=0.3)
    assert quick("l2x", options={"temperature": 0.3}).fit(X, Y).method_.selector.family.settings["temperature"] == 0.3


# ---- the regime that a Method has ----

BUILT = {  # a Method, whether its predictor learns at all and beside the selector, and its regimes of labels and of a model
    "trains": (lambda: realx(FEATURES, CLASSES), (True, True), "free", "surrogate"),
    "trains by rounds": (lambda: gains(FEATURES, CLASSES, keep=2), (True, True), "free", "surrogate"),
    "trains together": (lambda: METHODS["sufficient"](FEATURES, CLASSES, keep=2), (True, True), "free", "surrogate"),
    "rests": (lambda: realx(FEATURES, CLASSES, Parts(regime="fixed")), (True, False), "fixed", "surrogate"),
    "rests, by rounds": (lambda: gains(FEATURES, CLASSES, Parts(regime="fixed"), keep=2), (True, False), "fixed", "surrogate"),
    "a network": (lambda: realx(FEATURES, CLASSES, Parts(predictor=frozen(), regime="self")), (False, False), "fixed", "self"),
    "a function": (
        lambda: realx(FEATURES, CLASSES, Parts(predictor=BlackBox(chance, CLASSES, decode=FEATURES.decode))),
        (False, False),
        "fixed",
        "self",
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_the_regime_is_what_the_predictor_does(name):
    build, learns, of_labels, of_a_model = BUILT[name]
    method = build()
    assert predictor_learns(method) == learns
    assert quick(method).fit(X, Y).regime_ == of_labels
    assert quick(method).fit(X, model=chance).regime_ == of_a_model
    assert quick(method, regime=of_labels).fit(X, Y).regime_ == of_labels
    assert quick(method, regime=of_a_model).fit(X, model=chance).regime_ == of_a_model


@pytest.mark.parametrize(
    ("name", "regime", "words"),
    [
        ("trains", "self", "trained together with the selector, which is regime='surrogate'"),
        ("trains", "fixed", "trained together with the selector, which is regime='free'"),
        ("trains by rounds", "fixed", "trained together with the selector, which is regime='free'"),
        ("trains together", "self", "trained together with the selector, which is regime='surrogate'"),
        ("rests", "self", "trained first and then frozen, which is regime='surrogate'"),
        ("rests", "free", "trained first and then frozen, which is regime='fixed'"),
        ("a network", "surrogate", "never trained, which is regime='self'"),
        ("a network", "free", "never trained, which is regime='fixed'"),
    ],
)
def test_a_regime_that_a_method_has_not_is_refused(name, regime, words, monkeypatch):
    monkeypatch.setattr("lexplain.explainers.fitting.fit", lambda *_, **__: pytest.fail("the training was started"))
    given = {"y": Y} if regime in ("free", "fixed") else {"model": chance}
    with pytest.raises(ValueError, match=f"regime='{regime}' .* {words}"):
        quick(BUILT[name][0](), regime=regime).fit(X, **given)
