"""Baselines have the face of an explainer: what all of them promise, once for all."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn

from lexplain import Columns, Groups
from lexplain.baselines import BASELINES, Baseline, OracleBaseline
from lexplain.baselines.baseline import EncodedNetwork

pytest.importorskip("captum")
pytest.importorskip("shap")
pytest.importorskip("lime")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Setting forward, backward hooks:UserWarning"),  # captum's DeepLift says so at every call
    pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning"),  # shap's DeepExplainer adds tensors to arrays
]

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(3, 2, size=(60, 4)).astype(np.float32)
KIND = np.where(X[:, 0] > 4, "c", np.where(X[:, 1] > 3, "a", "b"))
VALUE = (X[:, 0] - 2 * X[:, 1] + X[:, 2] * X[:, 3]).astype(np.float64)
FRAME = pd.DataFrame(X, columns=["age", "height", "weight", "pulse"], index=[f"row {i}" for i in range(60)])
QUICK = {
    "fastshap": {"steps": 20, "masks": 2},
    "cxplain": {"steps": 20, "members": 3},
    "senn": {"steps": 20},
    "lime": {"num_samples": 50},
    "infidelity": {"draws": 50},
    "shap": {"samples": 10, "background": 3},
    "smoothgrad": {"samples": 5},
    "deepshap": {"background": 7},
}
GRADIENTS = {"saliency", "gradient_x_input", "integrated_gradients", "deeplift", "smoothgrad", "deepshap"}
ASKS_NOTHING = {"random", "all", "senn"}
every = pytest.mark.parametrize("name", sorted(BASELINES))


def network(outputs=3):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, outputs))


@lru_cache
def forest():
    return RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, KIND)


def model_for(name):
    return network() if name in GRADIENTS else forest()


def quick(name, **more):
    return BASELINES[name](**{**QUICK.get(name, {}), **more})


@lru_cache
def fitted(name):
    return quick(name, keep=2).fit(X, model=model_for(name))


def test_the_menu():
    assert set(BASELINES) == {
        *("random", "all", "saliency", "gradient_x_input", "integrated_gradients", "deeplift", "smoothgrad", "ablation"),
        *("shap", "deepshap", "treeshap", "lime", "fastshap", "cxplain", "senn", "infidelity"),
    }
    assert all(issubclass(member, Baseline) for member in BASELINES.values())


@every
def test_an_explanation_is_whole(name):
    e = fitted(name).explain(X[:9])
    assert e.scores.shape == e.mask.shape == (9, 4)
    assert e.scores.dtype == torch.float32 and e.scores.isfinite().all()
    assert e.mask.dtype == torch.bool
    assert e.method == name
    assert e.names == ("x1", "x2", "x3", "x4")
    assert np.array_equal(e.data, X[:9])
    assert isinstance(e.features, Columns)
    assert (e.compute_prediction is not None) == (name == "senn")
    assert e.classes == ((0, 1, 2) if name in GRADIENTS else ("a", "b", "c"))


@every
def test_the_mask_holds_the_largest_absolute_scores(name):
    e = fitted(name).explain(X[:9])
    if name == "all":
        assert e.mask.all()
        return
    assert (e.mask.sum(1) == 2).all()
    size = e.scores.abs()
    assert (size.masked_fill(~e.mask, torch.inf).amin(1) >= size.masked_fill(e.mask, -torch.inf).amax(1)).all()
    assert np.array_equal(fitted(name).transform(X[:9]), e.mask.numpy())
    assert torch.equal(fitted(name)(X[:9]).mask, e.mask)


@every
def test_the_class_explained_is_the_predicted_one(name):
    e = fitted(name).explain(X)
    if name == "senn":
        assert torch.equal(e.target_index, e.prediction.argmax(1))
    elif name in GRADIENTS:
        assert torch.equal(e.target_index, network()(torch.tensor(X)).argmax(1))
    else:
        assert torch.equal(e.target_index, torch.as_tensor(forest().predict_proba(X).argmax(1)))
    assert torch.equal(e.target, e.target_index)


@every
def test_another_class_can_be_asked_for(name):
    one, other = (2, 0) if name in GRADIENTS else ("c", "a")
    e, all_one = (fitted(name).explain(X[:9], target=asked) for asked in ([one] * 4 + [other] * 5, one))
    assert e.target_index.tolist() == [2] * 4 + [0] * 5
    assert torch.equal(e.scores[:4], all_one.scores[:4])
    if name not in ("random", "all", "cxplain"):
        assert not torch.allclose(e.scores[4:], all_one.scores[4:])


@every
def test_a_row_does_not_depend_on_those_beside_it(name):
    whole = fitted(name).explain(X[:9])
    assert torch.allclose(fitted(name).explain(X[:1]).scores, whole.scores[:1], atol=1e-5)
    if name != "random":  # whose scores are drawn for a place
        assert torch.allclose(fitted(name).explain(X[5:7]).scores, whole.scores[5:7], atol=1e-5)


@every
def test_the_same_seed_gives_the_same_scores_and_leaves_the_callers_draws_alone(name):
    torch.manual_seed(7)
    np.random.seed(7)  # noqa: NPY002
    again = quick(name, keep=2).fit(X, model=model_for(name)).explain(X[:5])
    left = torch.rand(3), np.random.rand(3)  # noqa: NPY002
    torch.manual_seed(7)
    np.random.seed(7)  # noqa: NPY002
    if name not in GRADIENTS:  # whose network is made anew, from a seed of its own
        assert torch.equal(torch.rand(3), left[0])
    assert np.array_equal(np.random.rand(3), left[1])  # noqa: NPY002
    torch.manual_seed(8)
    np.random.seed(8)  # noqa: NPY002
    assert torch.equal(again.scores, quick(name, keep=2).fit(X, model=model_for(name)).explain(X[:5]).scores)


class Watched:
    """A model that remembers how many rows it was asked at once, and altogether."""

    def __init__(self):
        self.most = self.total = 0

    def __call__(self, rows):
        self.most, self.total = max(self.most, len(rows)), self.total + len(rows)
        return forest().predict_proba(rows)


@pytest.mark.parametrize("name", sorted(set(BASELINES) - GRADIENTS - {"treeshap"}))
def test_model_rows_are_counted_and_bounded(name):
    model = Watched()
    explainer = quick(name, max_rows=7).fit(X, model=model)
    assert explainer.model_rows_ == model.total >= 60
    assert explainer.fit_seconds_ > 0
    assert model.most <= 7
    model.most = 0
    e = explainer.explain(X[:9])
    assert explainer.model_rows_ == model.total
    assert model.most <= 7
    assert (model.most == 0) == (name == "senn")
    wide = quick(name).fit(X, model=Watched()).explain(X[:9])
    if name != "fastshap":  # whose training draws subsets for each part
        assert torch.allclose(e.scores, wide.scores, atol=1e-5)  # in parts or at once


def test_the_explained_rows_are_queried_once():
    model = Watched()
    explainer = quick("infidelity").fit(X, model=model)  # its noisy rows are queried in fit
    fitted = model.total
    first, second = explainer.explain(X[:9]), explainer.explain(X[:9])
    assert explainer.model_rows_ == model.total == fitted + 9
    assert torch.equal(first.scores, second.scores)


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_rows_of_a_network_are_counted_and_bounded(name, monkeypatch):
    seen = []
    whole = EncodedNetwork.forward

    def watched(self, x):
        seen.append(len(x))
        return whole(self, x)

    monkeypatch.setattr(EncodedNetwork, "forward", watched)
    explainer = quick(name, max_rows=30, **({"points": 10} if name == "integrated_gradients" else {})).fit(X, model=network())
    e = explainer.explain(X[:20])
    assert explainer.model_rows_ == 60 + 20 + sum(seen)  # fit asks for all rows, explain for the class
    assert max(seen) <= 30
    wide = quick(name, **({"points": 10} if name == "integrated_gradients" else {})).fit(X, model=network()).explain(X[:20])
    assert torch.allclose(e.scores, wide.scores, atol=1e-5)


@every
def test_frames_keep_their_names_and_rows(name):
    model = network() if name in GRADIENTS else RandomForestClassifier(5, max_depth=3, random_state=0).fit(FRAME, KIND)
    e = quick(name, keep=2).fit(FRAME, model=model).explain(FRAME[:4])
    assert e.names == tuple(FRAME.columns)
    assert e.data is not None and list(e.to_frame().index) == list(FRAME.index[:4])
    assert torch.allclose(e.scores, fitted(name).explain(X[:4]).scores, atol=1e-5)


@every
def test_groups_get_one_score(name):
    groups = Groups(groups={"body": [1, 2]})
    explainer = quick(name, features=groups).fit(X, model=model_for(name))
    e = explainer.explain(X[:6])
    assert e.names == ("body", "x1", "x4")
    assert e.scores.shape == (6, 3)
    assert e.mask.sum(1).eq(3 if name == "all" else 2).all()
    if name in GRADIENTS | {"treeshap", "lime", "infidelity"}:  # raw scores of a group are added up
        raw = fitted(name).explain(X[:6]).scores
        assert torch.allclose(e.scores, torch.stack([raw[:, 1] + raw[:, 2], raw[:, 0], raw[:, 3]], 1), atol=1e-5)


@every
def test_real_values(name):
    model = network(1) if name in GRADIENTS else RandomForestClassifier
    if name == "treeshap":
        from sklearn.ensemble import RandomForestRegressor

        model = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, VALUE)
    elif name not in GRADIENTS:
        model = lambda rows: np.asarray(rows) @ np.array([1.0, -2.0, 0.0, 0.5])  # noqa: E731
    e = quick(name).fit(X, model=model).explain(X[:5])
    assert e.classes is None
    assert e.target_index.tolist() == [0] * 5
    assert e.scores.isfinite().all()
    with pytest.raises(ValueError, match=r"target=.* real value"):
        quick(name).fit(X, model=model).explain(X[:5], target=1)


MIXED = pd.DataFrame({"town": np.where(X[:, 0] > 3, "Ghent", np.where(X[:, 1] > 3, "Lund", "Bath")), "age": X[:, 2], "paid": X[:, 3] > 3})


def town_and_age(rows):
    assert set(rows["town"]) <= {"Ghent", "Lund", "Bath"} and rows["paid"].dtype == bool
    likely = 1 / (1 + np.exp(-(rows["town"] == "Ghent") * 2.0 - rows["age"] + 3)).to_numpy(dtype=float)
    return np.stack([1 - likely, likely], 1)


@pytest.mark.parametrize("name", sorted(set(BASELINES) - GRADIENTS - {"treeshap"}))
def test_a_column_of_categories_is_one_feature(name):
    e = quick(name).fit(MIXED, model=town_and_age).explain(MIXED[:8])
    assert e.names == ("town", "age", "paid")
    assert e.scores.shape == (8, 3) and e.scores.isfinite().all()
    if name in ("ablation", "shap", "lime"):
        assert (e.scores[:, 2].abs() < 0.05).all()  # the model does not read it
        assert (e.scores[:, :2].abs().amax(1) > 0.05).all()


@every
def test_scikit_learn_can_clone_it_and_it_says_that_it_is_not_fitted(name):
    explainer = quick(name, keep=3, random_state=5)
    copied = clone(explainer)
    assert copied.get_params() == explainer.get_params()
    assert copied.keep == 3
    with pytest.raises(ValueError, match="is not fitted yet"):
        explainer.explain(X)


# ---- refusals ----


@pytest.mark.parametrize("name", sorted(set(BASELINES) - {"random", "all", "senn"}))
def test_no_model(name):
    needs = TypeError if name in GRADIENTS else ValueError
    with pytest.raises(needs, match=rf"{name} .*fit\(X, model="):
        quick(name).fit(X, KIND)


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_no_gradients(name):
    with pytest.raises(TypeError, match=f"{name} needs gradients.*LogisticRegression.*shap, lime or ablation"):
        quick(name).fit(X, model=LogisticRegression().fit(X, KIND))


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_categories_and_a_network(name):
    with pytest.raises(ValueError, match="categorical, but a torch network"):
        quick(name).fit(MIXED, model=network())


@pytest.mark.parametrize("keep", [0, 5, -1, 0.5, True, "auto"])
def test_what_cannot_be_kept(keep):
    with pytest.raises(ValueError, match="integer from 1 to 4"):
        quick("random", keep=keep).fit(X)


@pytest.mark.parametrize(("features", "kept"), [(4, 2), (3, 2), (2, 1)])
def test_half_is_kept_unless_told(features, kept):
    assert quick("random").fit(X[:, :features]).transform(X[:5, :features]).sum(1).tolist() == [kept] * 5


@every
def test_no_optional_tool(name, monkeypatch):
    import importlib

    whole = importlib.import_module

    def without(wanted, *more):
        if wanted.split(".")[0] in ("captum", "shap", "lime"):
            raise ImportError(wanted)
        return whole(wanted, *more)

    monkeypatch.setattr(importlib, "import_module", without)
    explainer = quick(name)
    if name in GRADIENTS | {"ablation", "shap", "treeshap", "lime"}:
        with pytest.raises(ImportError, match=r"pip install 'lexplain\[peers\]'"):
            explainer.fit(X, model=model_for(name))
    else:
        explainer.fit(X, model=model_for(name))


# ---- the simple ones ----


def test_random_scores_are_uniform_and_of_the_seed():
    many = np.repeat(X, 50, axis=0)
    one, other = (quick("random", random_state=seed).fit(X).explain(many) for seed in (0, 1))
    assert ((one.scores >= 0) & (one.scores < 1)).all()
    assert one.scores.mean() == pytest.approx(0.5, abs=0.02)
    assert one.scores.std() == pytest.approx(12**-0.5, abs=0.02)
    assert not torch.equal(one.scores, other.scores)
    assert one.target_index is None  # nobody predicted anything
    assert one.mask.float().mean(0).tolist() == pytest.approx([0.5] * 4, abs=0.05)


def test_the_oracle_keeps_the_truth():
    truth = GENERATOR.random((9, 4)) < 0.5
    e = OracleBaseline(truth).fit(X, KIND).explain(X[:9])
    assert np.array_equal(e.mask, truth)
    assert np.array_equal(OracleBaseline(truth, max_rows=2).fit(X).transform(X[:9]), truth)
    one = OracleBaseline(truth, keep=1).fit(X).transform(X[:9])
    assert np.array_equal(one, truth & (truth.cumsum(1) == 1))
    with pytest.raises(ValueError, match=r"truth has shape \(9, 4\), but 8 rows of 4 features"):
        OracleBaseline(truth).fit(X).explain(X[:8])


def test_ties_go_to_the_first_column():
    class Equal(BASELINES["random"]):
        pass

    wide = np.random.default_rng(0).normal(size=(20, 300))
    Equal._scores = lambda self, rows: torch.ones(len(rows), 300)
    assert Equal(keep=7).fit(wide).transform(wide).tolist() == [[True] * 7 + [False] * 293] * 20
    Equal._scores = lambda self, rows: torch.tensor([1.0, -2.0, 2.0, 1.0]).expand(len(rows), 4)
    assert Equal(keep=3).fit(X).transform(X[:2]).tolist() == [[True, True, True, False]] * 2
    assert Equal(keep=1).fit(X).transform(X[:2]).tolist() == [[False, True, False, False]] * 2
