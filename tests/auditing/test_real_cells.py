"""A model that is audited receives rows that are composed of cells of the explained and the training rows."""

import numpy as np
import pandas as pd
import pytest
import torch

import lexplain as lx
from lexplain.baselines import BASELINES
from lexplain.core import Dataset, DataSplit
from lexplain.features import Columns
from lexplain.imputers import Donors
from lexplain.measures import MEASURES

GENERATOR = np.random.default_rng(0)
ROWS, COUNT = 40, 5
MEASURED = ["fs_m", "fu_m", "insertion", "deletion"]


def frame(rows):
    return pd.DataFrame(
        {
            "whole": GENERATOR.integers(-300, 300, rows),
            "zero": np.where(GENERATOR.random(rows) > 0.5, -0.0, GENERATOR.normal(size=rows)),
            "far": 1e6 + GENERATOR.normal(size=rows),
            "bit": GENERATOR.random(rows) > 0.5,
            "text": GENERATOR.choice(["one", "two", "three"], rows),
        }
    )


def array(rows):
    return GENERATOR.normal(3, [1, 2, 5, 1e-3, 1e6], size=(rows, COUNT))


MAKE = {"frame": frame, "array": array}


class Spy:
    """A model of the first column that keeps the rows it is queried on."""

    def __init__(self, count=COUNT):
        self.rows, self.count = [], count

    def __call__(self, rows):
        self.rows.append(rows)
        second = 1 / (1 + np.exp(-np.asarray(rows.iloc[:, 0] if isinstance(rows, pd.DataFrame) else rows[:, 0], dtype=float)))
        return np.stack([1 - second, second], 1)

    def cells(self, column):
        """The distinct cells of a column, as text."""
        return set.union(*(cells(rows, column) for rows in self.rows))


def cells(rows, column):
    return {repr(cell) for cell in (rows.iloc[:, column] if isinstance(rows, pd.DataFrame) else rows[:, column]).tolist()}


@pytest.fixture(autouse=True)
def _short(short_judges):
    short_judges(judge=5, reader=5, retraining=5)


def only_real_cells(spy, *tables):
    return [spy.cells(j) <= set.union(*(cells(table, j) for table in tables)) for j in range(COUNT)]


@pytest.mark.parametrize("measure", MEASURED)
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("kind", MAKE)
def test_an_audit_queries_real_cells_only(kind, train, measure):
    X, other = MAKE[kind](ROWS), MAKE[kind](60)
    spy = Spy()
    lx.audit(GENERATOR.random((ROWS, COUNT)) > 0.5, X, model=spy, train=(other,) if train else None, measures=[measure], device="cpu")
    assert sum(map(len, spy.rows)) > len(X) + train * len(other)  # not only full rows
    assert only_real_cells(spy, X, *[other] * train) == [True] * COUNT
    if kind == "frame":
        assert all(rows.dtypes.equals(X.dtypes) for rows in spy.rows)
        assert "-0.0" in spy.cells(1)


def test_a_comparison_queries_real_cells_only():
    X, other = array(ROWS), array(60)
    parts = (DataSplit(rows, np.arange(len(rows)) % 2) for rows in (other, X[:5], X))
    data = Dataset("made", "made", *parts, names=tuple("abcde"))
    spy = Spy()
    explainer = lx.Explainer("l2x", keep=2, epochs=1, device="cpu")
    lx.compare({"l2x": explainer}, data, ["fs_m", "insertion"], 1, model=spy, evaluator_steps=5)
    assert sum(map(len, spy.rows)) > 3 * len(X) + 2 * len(other)
    assert only_real_cells(spy, X, other) == [True] * COUNT


def test_some_measures_and_baselines_are_off_the_data_by_definition():
    X = array(ROWS)
    for measure in ("fs_m_mean", "infidelity"):  # means of columns
        spy = Spy()
        lx.audit(np.ones((ROWS, COUNT)) * np.eye(COUNT)[0], X, model=spy, keep=1, measures=[measure], device="cpu")
        assert not all(only_real_cells(spy, X))


# ---- FS-M and FU-M hide features by donors ----


def grouped(rows):
    """A table whose second column is determined by its first, and whose third is a number of its own."""
    group = GENERATOR.integers(0, 2, rows)
    return np.stack([group, 5 * group - 2, GENERATOR.normal(size=rows)], 1).astype(float)


def second_column(rows):
    return np.stack([rows[:, 1] <= 0, rows[:, 1] > 0], 1).astype(float)


def audited(X, train, mask, model=second_column, **more):
    return lx.audit(mask, X, model=model, train=(train,), measures=["FS-M", "FU-M", "FS-M, mean"], device="cpu", **more)


def test_hidden_features_come_from_similar_rows():
    X, train = grouped(100), grouped(200)
    mask = np.tile([True, False, False], (100, 1))
    card = audited(X, train, mask)
    assert card["FS-M"].mean == 1  # the first column determines the second
    assert card["FU-M"].mean == 1  # and the second is not hidden
    assert card["FS-M, mean"].mean < 0.7  # at the mean, all rows are of one class
    assert audited(X, train, mask[:, ::-1].copy())["FS-M"].mean < 0.7


@pytest.mark.parametrize(("line", "hides"), [("FS-M", False), ("FU-M", True)])
def test_the_share_is_that_of_a_loop_over_rows(line, hides):
    X, train, seed = array(ROWS), array(50), 3
    mask = torch.from_numpy(GENERATOR.random((ROWS, COUNT)) > 0.5)
    weights = GENERATOR.normal(size=COUNT) / X.std(0)

    def model(rows):
        second = 1 / (1 + np.exp(-(rows - X.mean(0)) @ weights))
        return np.stack([1 - second, second], 1)

    features = Columns().fit(X)
    donors, x = Donors(features.encode(train).x), features.encode(X).x
    torch.manual_seed(seed)
    draws, same = torch.rand(ROWS, 1, dtype=torch.float64), []
    for row in range(ROWS):
        visible = (mask[row] ^ hides)[None]
        donor = int(donors.draw(x[row][None], visible, draws[row][None]))
        composed = np.where(visible, X[row], train[donor])
        same.append(model(composed).argmax() == model(X[row][None]).argmax())
    cards = [audited(X, train, mask.numpy(), model, random_state=seed, max_rows=rows) for rows in (7, ROWS, 1000)]
    assert [card[line].mean for card in cards] == [np.mean(same)] * 3
    assert 0 < np.mean(same) < 1


def test_a_large_background_is_sampled(monkeypatch):
    monkeypatch.setattr("lexplain.measures.fidelity.MAX_BACKGROUND", 20)
    monkeypatch.setattr("lexplain.imputers.donors.ROWS_AT_ONCE", 9)
    X, train, spy = array(ROWS), array(200), Spy()
    mask = np.zeros((ROWS, COUNT), dtype=bool)
    first = audited(X, train, mask, spy)["FS-M"]
    assert len(cells(np.concatenate(spy.rows[2:3]), 0)) <= 20
    assert audited(X, train, mask, Spy())["FS-M"] == first


def test_images_are_hidden_by_zero():
    images, spy = GENERATOR.random((ROWS, 8, 8)).astype(np.float32), []

    def model(rows):
        spy.append(rows)
        second = np.asarray(rows).mean((1, 2))
        return np.stack([1 - second, second], 1)

    features = lx.Patches(4).fit(images)
    mask = np.zeros((ROWS, 4), dtype=bool)
    explanation = BASELINES["random"](features=features, keep=1).fit(images, model=model).explain(images)
    spy.clear()
    lx.audit(explanation, images, model=model, measures=["fs_m"], device="cpu")
    hidden = np.asarray(spy[-1])
    assert (hidden.reshape(ROWS, -1) == hidden.reshape(ROWS, -1).min()).mean() > 0.7 and mask.shape[1] == features.count


def test_the_new_line_belongs_to_the_verdict():
    assert MEASURES["fs_m_mean"].family == MEASURES["off_data_mean"].family == "off the data"
