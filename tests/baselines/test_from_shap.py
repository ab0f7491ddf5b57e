"""SHAP's values against enumeration."""

import numpy as np
import pandas as pd
import pytest
import torch
from exact_shapley import exact_shapley
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from torch import nn

from lexplain import Groups
from lexplain.baselines import DeepSHAP, KernelSHAP, TreeSHAP

pytest.importorskip("shap")
pytestmark = pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")

X = np.random.default_rng(0).normal(3, [1, 2, 5, 1], size=(40, 4))
KIND = np.where(X[:, 0] * X[:, 1] > 9, "a", "b")


def products(rows):
    return rows[:, 0] * rows[:, 1] - 2 * rows[:, 2] + np.sin(rows[:, 3])


def value_of(row, background, model):
    """The game of one row: what is hidden comes from each of the background rows."""

    def value(masks):
        filled = np.where(masks.numpy()[:, None], row, background)  # (m, rows, d)
        return torch.as_tensor(model(filled.reshape(-1, len(row))).reshape(len(masks), len(background), -1).mean(1))

    return value


def test_kernel_values_of_a_nonlinear_function_are_exact_where_all_subsets_are_visited():
    e = KernelSHAP(background=8).fit(X[:8], model=products).explain(X[:3])
    for row, scores in zip(X[:3], e.scores, strict=True):
        exact = exact_shapley(value_of(row, X[:8], products), 4)[:, 0]
        assert torch.allclose(scores.double(), exact, atol=1e-3)


def test_kernel_values_of_groups_are_those_of_the_game_of_groups():
    e = KernelSHAP(background=8, features=Groups(groups={"pair": [0, 1]})).fit(X[:8], model=products).explain(X[:2])
    for row, scores in zip(X[:2], e.scores, strict=True):
        whole = value_of(row, X[:8], products)
        exact = exact_shapley(lambda masks, whole=whole: whole(masks[:, [0, 0, 1, 2]]), 3)[:, 0]
        assert torch.allclose(scores.double(), exact, atol=1e-3)


def test_more_rows_than_the_background_are_summarised():
    explainer = KernelSHAP(background=5).fit(X, model=products)
    assert explainer.background_.data.shape == (5, 4)
    assert explainer.background_.weights.sum() == pytest.approx(1)
    assert explainer.model_rows_ == 40 + 5


def test_kernel_values_of_more_than_ten_features_are_not_pruned():
    wide = np.random.default_rng(0).normal(size=(20, 12))
    e = KernelSHAP(background=20, samples=300).fit(wide, model=lambda rows: rows.sum(1)).explain(wide[:3])
    assert ((e.scores.abs() > 1e-4).sum(1) == 12).all()


def test_kernel_values_are_of_the_class():
    model = LogisticRegression().fit(X, KIND)
    one, other = (KernelSHAP(background=8).fit(X[:8], model=model).explain(X[:3], target=label).scores for label in ("a", "b"))
    assert torch.allclose(one, -other, atol=1e-5)
    assert not torch.allclose(one, other, atol=1e-2)


@pytest.mark.parametrize("outputs", [1, 3])
def test_deep_values_of_a_linear_network(outputs):
    network = nn.Linear(4, outputs)
    explainer = DeepSHAP(background=40).fit(X, model=network)
    e = explainer.explain(X[:5])
    weight = network.weight.detach()[e.target_index].double()
    assert torch.allclose(e.scores.double(), (torch.tensor(X[:5]) - torch.tensor(X.mean(0))) * weight, atol=1e-4)


def test_deep_values_add_up_to_the_logit():
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    e = DeepSHAP(background=40).fit(X, model=network).explain(X[:5])
    logits = network(torch.tensor(X, dtype=torch.float32)).detach()
    more = (logits - logits.mean(0))[torch.arange(5), e.target_index]
    assert torch.allclose(e.scores.sum(1), more, atol=1e-2)


@pytest.mark.filterwarnings("ignore:unrecognized nn.Module:UserWarning")
def test_deep_values_that_do_not_add_up_are_refused():
    network = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 3))
    with pytest.raises(ValueError, match=r"deepshap.* integrated_gradients or shap"):
        DeepSHAP().fit(X * 10, model=network).explain(X[:5])


def path_value(tree, row):
    """The game that a tree plays with a row: hidden features follow the training rows down each branch."""

    def walk(node, shown):
        if tree.children_left[node] < 0:
            return tree.value[node][0]
        left, right = tree.children_left[node], tree.children_right[node]
        if shown[tree.feature[node]]:
            return walk(left if np.float32(row[tree.feature[node]]) <= tree.threshold[node] else right, shown)
        went = tree.weighted_n_node_samples[[left, right]] / tree.weighted_n_node_samples[node]
        return went[0] * walk(left, shown) + went[1] * walk(right, shown)

    return lambda masks: torch.tensor(np.stack([walk(0, mask) for mask in masks.tolist()]))


@pytest.mark.parametrize("bound", [False, True], ids=["estimator", "bound method"])
def test_tree_values_of_a_forest_are_exact(bound):
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, KIND)
    e = TreeSHAP().fit(X, model=forest.predict_proba if bound else forest).explain(X[:3])
    for row, scores, asked in zip(X[:3], e.scores, e.target_index, strict=True):
        exact = torch.stack([exact_shapley(path_value(tree.tree_, row), 4) for tree in forest.estimators_]).mean(0)
        assert torch.allclose(scores.double(), exact[:, asked], atol=1e-5)


def test_tree_values_of_a_margin_change_sign_with_the_class():
    boosted = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, KIND)
    one, other = (TreeSHAP().fit(X, model=boosted).explain(X[:6], target=label).scores for label in ("a", "b"))
    assert torch.equal(one, -other)
    up = torch.as_tensor(boosted.decision_function(X[:6]) - boosted.decision_function(X).mean())
    assert ((other.sum(1) > 0) == (up > 0)).double().mean() > 0.8  # "b" is the class that the margin speaks for


def test_tree_values_of_a_regression():
    forest = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, products(X))
    e = TreeSHAP().fit(X, model=forest).explain(X[:4])
    bases = [tree.tree_.value[0, 0, 0] for tree in forest.estimators_]
    assert np.allclose(e.scores.sum(1), forest.predict(X[:4]) - np.mean(bases), atol=1e-3)


@pytest.mark.parametrize("model", [LogisticRegression().fit(X, KIND), products])
def test_no_trees(model):
    with pytest.raises(TypeError, match=r"treeshap .*trees.* shap"):
        TreeSHAP().fit(X, model=model)


# ---- the rows that the model is queried on ----


@pytest.mark.parametrize("count", [6, 60])
@pytest.mark.parametrize("kind", ["frame", "array"])
def test_kernel_shap_queries_cells_of_the_explained_and_the_training_rows(kind, count):
    train, rows = (np.random.default_rng(seed).normal(3, [1, 1e-3, 1e6], size=(n, 3)) for seed, n in ((0, count), (1, 4)))
    train[::2, 0] = rows[::2, 0] = -0.0
    if kind == "frame":
        train, rows = (pd.DataFrame(each, columns=list("abc")).assign(whole=range(len(each)), text="one") for each in (train, rows))
    seen = []

    def model(queried):
        seen.append(queried)
        return np.asarray(queried.iloc[:, 1] if kind == "frame" else queried[:, 1])

    explainer = KernelSHAP(background=8).fit(train, model=model)
    explainer.explain(rows)
    for j in range(rows.shape[1]):
        known, queried = (
            {repr(cell) for table in tables for cell in (table.iloc[:, j] if kind == "frame" else table[:, j]).tolist()}
            for tables in ((train, rows), seen)
        )
        assert queried <= known
    assert len(explainer.background_rows_) == min(8, count)
    assert explainer._decode == explainer.features_.decode  # the explained rows are not kept
