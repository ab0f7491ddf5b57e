"""One face: explainers, baselines and tools of others keep the promises of `core.face`, which comparisons and audits rely on."""

from functools import lru_cache

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from torch import nn

from lexplain import Columns, Explainer, Explanation, Groups, RightReasons
from lexplain.auditing import ClassSelection
from lexplain.auditing.callables import ForeignExplainer
from lexplain.baselines import BASELINES, OracleBaseline
from lexplain.core import Classes
from lexplain.core.digest import digest
from lexplain.methods import METHODS

pytestmark = [
    pytest.mark.filterwarnings("ignore:Setting forward, backward hooks:UserWarning"),  # captum's DeepLift says so at every call
    pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning"),  # shap's DeepExplainer adds tensors to arrays
]
X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
FEATURES = Columns().fit(X)
AFTER = ("fit_seconds_", "model_rows_", "findings_")
FAST = {
    "fastshap": {"steps": 5, "masks": 2},
    "cxplain": {"steps": 5, "members": 2},
    "senn": {"steps": 5},
    "lime": {"num_samples": 20},
    "infidelity": {"draws": 20},
    "shap": {"samples": 5, "background": 3},
    "smoothgrad": {"samples": 2},
}
NEEDED = {
    **dict.fromkeys(("saliency", "gradient_x_input", "integrated_gradients", "deeplift", "smoothgrad", "ablation"), "captum"),
    **dict.fromkeys(("shap", "deepshap", "treeshap"), "shap"),
    "lime": "lime",
}
PARTS = METHODS["lex"](FEATURES, Classes(2))
ASKED = {
    **{name: {"method": name} for name in ("default", *METHODS)},
    "a recipe": {"method": METHODS["realx"]},
    "parts": {"method": PARTS},
    **{regime: {"method": "lex", "regime": regime} for regime in ("free", "fixed", "self", "surrogate")},
}
every = pytest.mark.parametrize("name", [*(f"explainer {name}" for name in ASKED), *BASELINES, "oracle"])


def face(name):
    if name.startswith("explainer "):
        return Explainer(**ASKED[name.removeprefix("explainer ")], epochs=1, device="cpu")
    if name == "oracle":
        return OracleBaseline(X > 0)
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    return BASELINES[name](**FAST.get(name, {}))


@lru_cache
def given(need):
    """The arguments of `fit` that bring what is needed."""
    torch.manual_seed(1)
    models = {"model": lambda: DecisionTreeClassifier(max_depth=2).fit(X, Y), "network": lambda: nn.Sequential(nn.Linear(4, 2), nn.ReLU())}
    return {"y": Y} if need == "y" else {"model": models[need]()}


@every
def test_what_is_promised_is_there_before_and_after_a_fit(name):
    one = face(name)
    assert isinstance(one.name, str) and isinstance(one.fits_each_row, bool)
    assert not any(hasattr(one, each) for each in AFTER)
    for need in one.needs_of(FEATURES) or ("y",):
        fitted = clone(one).fit(X, **given(need))
        assert type(fitted.fit_seconds_) is float and fitted.fit_seconds_ > 0
        assert isinstance(fitted.findings_, list) and all(isinstance(each, str) for each in fitted.findings_)
        rows = fitted.model_rows_
        assert type(rows) is int and (rows == 0 if need == "y" else rows >= len(X))
        explanation = fitted.explain(X if name == "oracle" else X[:5])
        assert isinstance(explanation, Explanation) and explanation.scores.shape[1] == 4
        assert type(fitted.model_rows_) is int and fitted.model_rows_ >= rows


@every
def test_a_fit_without_what_it_needs_is_refused(name):
    one = face(name)
    needs = one.needs_of(FEATURES)
    assert needs == one.needs_of(Columns())  # the kind of features is enough to know
    others = [need for need in ("y", "model") if need not in needs and not ("network" in needs and need == "model")]
    for arguments in ({}, *map(given, others)) if needs else ():
        with pytest.raises((ValueError, TypeError), match=r"model|label|y "):
            clone(one).fit(X, **arguments)
    if not needs:
        one.fit(X)


@every
def test_a_copy_is_prepared_and_the_original_stays(name):
    def never():
        raise AssertionError

    one = face(name)
    before = digest(one)
    copy = one.prepared(seed=7, features=FEATURES, keep=2, size=never)
    assert type(copy) is type(one) and copy is not one and copy.random_state == 7
    assert (copy.keep, copy.features) == ((None, None) if name == "explainer parts" else (2, FEATURES))
    sized = one.prepared(seed=7, features=FEATURES, keep=None, size=lambda: 3).keep
    named = ASKED.get(name.removeprefix("explainer "), {}).get("method")
    counts = METHODS[named].sized_by == "k" if named in METHODS else not name.startswith("explainer ")
    assert sized == (3 if counts else None) or named == "default"
    assert digest(one) == before


@pytest.mark.parametrize("one", [Explainer("realx", keep=1), Explainer("realx", penalty=0.5), BASELINES["random"](keep=1)], ids=repr)
def test_settings_of_its_own_are_kept(one):
    own = Groups({"pair": ["x1", "x2"]})
    copy = clone(one).set_params(features=own).prepared(seed=0, features=FEATURES, keep=2, size=lambda: 2)
    assert (copy.keep, copy.features) == (one.keep, own)


def test_a_file_does_not_say_how_long_the_fit_took(tmp_path):
    Explainer("lex", epochs=1, device="cpu").fit(X, Y).save(tmp_path / "e.lex")
    loaded = Explainer.load(tmp_path / "e.lex", device="cpu")
    assert (loaded.fit_seconds_, loaded.model_rows_) == (None, 0)


class Tool:
    """An object of somebody else's."""

    def explain(self, rows):
        """Scores."""
        return np.abs(np.asarray(rows))


@pytest.mark.parametrize(
    ("tool", "kept"),
    [(Tool(), 1), (np.abs, 1), (lambda rows: np.ones(rows.shape, dtype=bool), 4), (lambda rows: torch.ones(rows.shape).bool(), 4)],
)
def test_what_another_tool_returns_becomes_an_explanation(tool, kept):
    explanation = ForeignExplainer(tool, ClassSelection(None, None)).explain(X)
    assert isinstance(explanation, Explanation)
    assert (explanation.mask.sum(1) == kept).all()


def test_a_network_that_is_right_for_the_right_reasons_explains():
    model = RightReasons(epochs=1, device="cpu").fit(X, Y)
    explanation = ForeignExplainer(model, ClassSelection(None, None)).explain(X)
    assert torch.equal(explanation.scores, model.explain(X).scores)
