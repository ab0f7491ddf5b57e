"""How many rows an audit encodes, and how many it sends to the model."""

import numpy as np
import pandas as pd
import pytest

import lexplain as lx
from lexplain.baselines import BASELINES
from lexplain.core.contracts import Encoded
from lexplain.features import Columns
from lexplain.measures.curves import sizes

ROWS, COUNT, DRAWS = 60, 4, 3
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((ROWS, COUNT))
TRAIN = GENERATOR.standard_normal((80, COUNT))
MASK = GENERATOR.random((ROWS, COUNT)) > 0.5
STEPS = len(sizes(COUNT))


@pytest.fixture(autouse=True)
def _short(monkeypatch, short_judges):
    monkeypatch.setattr("lexplain.measures.infidelity.DRAWS", DRAWS)
    short_judges(judge=5, reader=5, retraining=5)


class Spy:
    """A model that keeps the rows that it is queried on."""

    def __init__(self):
        self.rows = []

    def __call__(self, rows):
        values = np.asarray(rows, dtype=float)
        self.rows.append(values)
        second = 1 / (1 + np.exp(-3 * values[:, 0]))
        return np.stack([1 - second, second], 1)

    def queries(self, X):
        """How many calls were those of these rows, exactly or encoded and decoded."""
        return sum(rows.shape == X.shape and np.allclose(rows, X, atol=1e-5) for rows in self.rows)


EXPLAINERS = {
    "explainer": lambda: lx.Explainer("l2x", keep=2, epochs=1, device="cpu"),
    "baseline": lambda: BASELINES["infidelity"](draws=20, keep=2),
}
# Rows that each measure sends to the model: perturbed copies of the explained rows.
PERTURBED = {"fs_m": 1, "fu_m": 1, "fs_m_mean": 1, "fs_a": 0, "fu_a": 0, "insertion": STEPS, "deletion": STEPS, "infidelity": DRAWS}


@pytest.mark.parametrize("name", [*EXPLAINERS, "mask", "frame", "class scores"])
@pytest.mark.parametrize(
    "measures", [[], *([measure] for measure in PERTURBED), list(PERTURBED)], ids=lambda names: "+".join(names) or "none"
)
def test_the_explained_rows_are_queried_once(name, measures):
    spy, explained = Spy(), X
    if name in EXPLAINERS:
        explanation = EXPLAINERS[name]().fit(TRAIN, model=Spy()).explain(X)
    elif name == "class scores":
        explanation = np.stack([-MASK.astype(float), MASK], 2)
    else:
        explanation, explained = MASK, pd.DataFrame(X) if name == "frame" else X
    lx.audit(explanation, explained, model=spy, measures=measures, keep=2 if name == "class scores" else None, device="cpu")
    assert np.array_equal(spy.rows[0], X)
    assert sum(map(len, spy.rows)) == ROWS * (1 + sum(PERTURBED[measure] for measure in measures))
    assert spy.queries(X) == 1


def test_training_rows_are_queried_once():
    spy = Spy()
    lx.audit(MASK, X, model=spy, train=(TRAIN,), measures=["fidelity"], device="cpu")
    assert sum(map(len, spy.rows)) == ROWS * 3 + len(TRAIN)
    assert (spy.queries(X), spy.queries(TRAIN)) == (1, 1)


@pytest.mark.parametrize("max_rows", [7, ROWS])
def test_no_call_has_more_rows_than_allowed(max_rows):
    spy = Spy()
    lx.audit(MASK, X, model=spy, measures=["curves", "infidelity", "fidelity", "fs_m_mean"], max_rows=max_rows, device="cpu")
    assert max(map(len, spy.rows)) == max_rows
    assert sum(map(len, spy.rows)) == ROWS * (1 + sum(PERTURBED.values()))


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("train", [False, True])
def test_rows_are_encoded_once(kind, train, monkeypatch):
    encoded, encode = [], Columns.encode

    def counting(self, rows, *more, **named) -> Encoded:
        encoded.append(len(rows))
        return encode(self, rows, *more, **named)

    monkeypatch.setattr(Columns, "encode", counting)
    lx.audit(MASK, kind(X), model=Spy(), train=(kind(TRAIN),) if train else None, device="cpu")
    assert encoded == [ROWS, len(TRAIN)][: 1 + train]
