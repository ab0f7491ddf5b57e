"""The Explainer is a scikit-learn estimator: its own checks, and the tools around it."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from lexplain.explainers import Explainer

NEEDS_20_ROWS = "fits fewer than 20 rows; a tenth of them is not enough to evaluate a fit"
EXPECTED_TO_FAIL = {"check_n_features_in_after_fitting": NEEDS_20_ROWS, "check_estimators_nan_inf": NEEDS_20_ROWS}
ROUNDED = {"check_methods_sample_order_invariance": "a batched product rounds its seventh digit by a row's place in the batch"}
NOT_RUN = {"check_array_api_input": "skips itself unless SCIPY_ARRAY_API is set, which changes SciPy for the whole process"}
CHECKS = [pair for pair in estimator_checks_generator(Explainer(epochs=1, batch_size=1000)) if pair[1].func.__name__ not in NOT_RUN]

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(3, 2, size=(60, 4))
Y = np.where(X[:, 1] > 3, "up", "down")
FRAME = pd.DataFrame(X, columns=["age", "height", "weight", "pulse"], index=[f"row {i}" for i in range(60)])


def quick(**more):
    return Explainer(**{"keep": 2, "epochs": 1, "batch_size": 60, **more})


@pytest.fixture(autouse=True)
def short_paths(monkeypatch):
    """Walk few prices: scikit-learn fits some hundred times, and none of its checks is about how much is kept."""
    monkeypatch.setattr("lexplain.explainers.path.POINTS", 11)


@lru_cache
def fitted():
    return quick().fit(FRAME, Y)


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[check.func.__name__ + str(check.keywords or "") for _, check in CHECKS])
def test_keeps_scikit_learns_promises(estimator, check):
    if check.func.__name__ in ROUNDED:
        try:
            check(estimator)
        except AssertionError as apart:
            assert "rtol=1e-07" in str(apart)  # noqa: PT017  it may pass, too
    elif check.func.__name__ in EXPECTED_TO_FAIL:
        with pytest.raises(ValueError, match="is too few: at least 20 rows"):
            check(estimator)
    else:
        check(estimator)


def test_every_check_expected_to_fail_is_a_check():
    assert {*EXPECTED_TO_FAIL, *ROUNDED, *NOT_RUN} <= {check.func.__name__ for _, check in estimator_checks_generator(Explainer())}


# ---- parameters ----


def test_parameters_go_in_and_come_out_as_they_are():
    given = {
        "method": "lex",
        "keep": 3,
        "penalty": None,
        "features": object(),
        "selector": object(),
        "predictor": object(),
        "imputer": object(),
        "regime": "free",
        "epochs": 7,
        "batch_size": 11,
        "max_rows": 13,
        "learning_rate": 0.5,
        "tolerance": 0.1,
        "tolerance_points": 3,
        "continuity": 0.2,
        "options": {"temperature": 0.1},
        "budget": "thorough",
        "device": "cpu",
        "random_state": 5,
    }
    explainer = Explainer(**given)
    got = explainer.get_params()
    assert set(got) == set(given)
    assert all(got[name] is value for name, value in given.items())
    assert explainer.set_params(keep=0.25).keep == 0.25


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'kep'"):
        Explainer().set_params(kep=3)


def test_a_clone_has_the_settings_but_not_the_fit():
    again = clone(fitted())
    assert again.get_params() == fitted().get_params()
    assert not hasattr(again, "method_")


# ---- tables with names ----


def test_remembers_the_names_and_the_number_of_columns():
    assert fitted().n_features_in_ == 4
    assert fitted().feature_names_in_.tolist() == list(FRAME.columns)
    assert fitted().get_feature_names_out().tolist() == list(FRAME.columns)
    assert fitted().classes_.tolist() == ["down", "up"]


def test_a_fit_without_names_forgets_those_of_an_earlier_one():
    explainer = quick().fit(FRAME, Y)
    explainer.fit(X, X[:, 0] + 0.5)
    assert not hasattr(explainer, "feature_names_in_")
    assert not hasattr(explainer, "classes_")
    assert explainer.get_feature_names_out().tolist() == ["x1", "x2", "x3", "x4"]


def test_names_and_index_of_a_frame_come_back():
    explanation = fitted().explain(FRAME.iloc[5:8])
    assert explanation.names == tuple(FRAME.columns)
    frame = explanation.to_frame()
    assert frame.index.tolist() == ["row 5", "row 6", "row 7"]
    assert (frame["kept"].to_numpy() == explanation.mask.numpy()).all()
    assert {name for name, _ in explanation.as_list(0)} == set(FRAME.columns[explanation.mask[0].numpy()])


def test_an_array_is_explained_like_the_frame_it_came_from():
    assert (fitted().transform(X) == fitted().transform(FRAME)).all()


def test_transform_is_the_mask():
    masks = fitted().transform(FRAME)
    assert masks.dtype == bool
    assert (masks == fitted().explain(FRAME).mask.numpy()).all()
    assert (masks.sum(1) == 2).all()
    assert (fitted()(FRAME).mask.numpy() == masks).all()


def test_transform_speaks_pandas():
    masks = clone(fitted()).set_output(transform="pandas").fit(FRAME, Y).transform(FRAME)
    assert isinstance(masks, pd.DataFrame)
    assert masks.columns.tolist() == list(FRAME.columns)
    assert masks.index.equals(FRAME.index)
    assert (masks.to_numpy() == fitted().transform(FRAME)).all()


# ---- scikit-learn's tools ----


def test_is_a_step_of_a_pipeline():
    pipe = make_pipeline(StandardScaler(), quick()).set_output(transform="pandas")
    pipe.fit(FRAME, Y)
    inner = pipe[:-1].transform(FRAME)
    assert pipe.transform(FRAME).columns.tolist() == list(FRAME.columns)
    assert (pipe.predict(FRAME) == pipe[-1].predict(inner)).all()
    assert pipe.score(FRAME, Y) == np.mean(pipe.predict(FRAME) == Y)


def test_is_cross_validated_and_searched():
    assert np.isfinite(cross_val_score(quick(), X, Y, cv=2)).all()
    search = GridSearchCV(quick(), {"keep": [1, 3]}, cv=2).fit(X, Y)
    assert set(search.cv_results_["param_keep"]) == {1, 3}
    assert (search.best_estimator_.transform(X).sum(1) == search.best_params_["keep"]).all()
