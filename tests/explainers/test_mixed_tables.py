"""Tables of numbers, truths, text and categories: a column is a feature, whatever it takes to encode it."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn

from lexplain.auditing import audit
from lexplain.explainers import Explainer
from lexplain.explainers.fitting import Fitting
from lexplain.features import Groups

ROWS = 200
GENERATOR = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": GENERATOR.integers(18, 80, ROWS),
        "job": GENERATOR.choice(["cook", "vet", "pilot"], ROWS),
        "land": pd.Categorical(GENERATOR.choice(["fr", "de"], ROWS), categories=["de", "fr", "it"]),
        "owns": GENERATOR.random(ROWS) < 0.5,
        "pay": GENERATOR.normal(size=ROWS),
    },
    index=[f"r{j}" for j in range(ROWS)],
)
Y = np.where((X["job"] == "vet") | (X["pay"] > 1), "yes", "no")
WAYS = {"labels": None, "labels, fixed": "fixed", "surrogate": "surrogate", "self": "self"}


class Watched:
    """A scikit-learn pipeline that keeps the types of the rows it is asked for."""

    def __init__(self):
        encode = make_column_transformer((OneHotEncoder(), ["job", "land"]), remainder=StandardScaler())
        self.pipeline = make_pipeline(encode, LogisticRegression()).fit(X, Y)
        self.classes_, self.seen = self.pipeline.classes_, []

    def predict_proba(self, rows):
        self.seen.append(rows.dtypes.to_dict())
        return self.pipeline.predict_proba(rows)


@pytest.fixture(scope="module", params=WAYS)
def fitted(request):
    regime = WAYS[request.param]
    method = "lex" if regime == "self" else "realx"
    model = Watched() if regime in ("self", "surrogate") else None
    explainer = Explainer(method, keep=2, regime=regime, epochs=20)
    return explainer.fit(X, model=model) if model else explainer.fit(X, Y), model


def test_every_way_of_fitting_explains_columns(fitted):
    explainer, model = fitted
    e = explainer.explain(X)
    assert e.names == tuple(X.columns)
    assert e.scores.shape == e.mask.shape == (ROWS, 5)
    assert (explainer.n_features_in_, explainer.features_.shape) == (5, (1 + 3 + 2 + 1 + 1,))
    assert set(e.classes) == {"no", "yes"}
    assert e.mask[:, [1, 4]].float().mean() > 0.5  # job and pay decide
    if model is not None:
        assert all(types == X.dtypes.to_dict() for types in model.seen)


def test_every_export_shows_the_columns(fitted):
    e = fitted[0].explain(X[:5])
    assert e.to_frame()["score"].columns.tolist() == list(X.columns)
    assert e.to_frame().index.tolist() == list(X.index[:5])
    assert {name for name, _ in e.as_list(0, kept_only=False)} == set(X.columns)
    assert json.loads(e.to_json())["names"] == list(X.columns)
    assert f"job = {X['job'].iloc[0]}" in e.to_html()


def test_every_fit_is_audited_and_kept(fitted, tmp_path, short_judges):
    short_judges(judge=50, reader=50)
    explainer, model = fitted
    e = explainer.explain(X)
    card = audit(e, X, None if model else Y, model=model)
    assert card.verdict in ("honest", "encodes", "cannot tell")
    explainer.save(tmp_path / "m.lex")
    loaded = Explainer.load(tmp_path / "m.lex", model=model)
    assert torch.equal(loaded.explain(X).scores, e.scores)
    assert torch.equal(loaded.explain(X).prediction, e.prediction)
    pd.testing.assert_frame_equal(loaded.features_.decode(loaded.features_.encode(X).x), X.reset_index(drop=True), rtol=1e-4)


@pytest.mark.parametrize("method", ["l2x", "invase", "basex", "vibi", "meed"])
def test_every_method_reads_categories(method):
    explainer = Explainer(method, keep=2, epochs=1).fit(X, model=Watched())
    assert explainer.explain(X[:3]).mask.shape == (3, 5)


def test_groups_join_columns_of_both_kinds():
    explainer = Explainer(features=Groups(groups={"person": ["job", "age"]}), keep=1, epochs=1).fit(X, Y)
    assert explainer.explain(X[:3]).names == ("person", "land", "owns", "pay")


def test_a_category_that_the_fit_has_not_seen(fitted):
    with pytest.raises(ValueError, match="'job' contains 'king' in row 0"):
        fitted[0].explain(X.assign(job="king"))


@pytest.mark.parametrize("regime", ["self", "surrogate"])
def test_a_network_is_told_before_it_is_asked(regime):
    with pytest.raises(ValueError, match=r"\['job', 'land'\] .* torch network"):
        Explainer("lex", regime=regime, epochs=1).fit(X, model=nn.Linear(5, 2))


def test_training_goes_on_only_with_the_same_rows():
    explainer, other = Explainer(keep=2), X.assign(pay=2 * X["pay"])
    one, two = (Fitting(explainer, rows, Y, None)._fingerprint() for rows in (X, other))
    assert one != two  # though both are encoded alike
