from functools import partial

import pytest
import torch


@pytest.fixture(autouse=True)
def _seed():
    """Every test starts from the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


# Constants of the library that set how long, and how fast, evaluators and mask readers are trained; only this file names them.
JUDGES = {
    "judge": "lexplain.evaluation.evaluator.EVALUATOR_STEPS",
    "reader": "lexplain.evaluation.evaluator.READER_STEPS",
    "reader_rate": "lexplain.evaluation.evaluator.READER_RATE",
    "retraining": "lexplain.evaluation.retrained.RETRAINING_STEPS",
}


def _shorten(patch, **numbers):
    for name, number in numbers.items():
        patch.setattr(JUDGES[name], number)


@pytest.fixture(scope="session")
def shorten_judges():
    """The function behind `short_judges`, for fixtures of several tests, which have their own MonkeyPatch as first argument."""
    return _shorten


@pytest.fixture
def short_judges(monkeypatch):
    """A function that replaces numbers of optimiser steps in this test, such as `short_judges(reader=5, retraining=5)`; see JUDGES."""
    return partial(_shorten, monkeypatch)


@pytest.fixture(autouse=True, scope="session")
def hasty_judges():
    """Train evaluators for a few steps: every default fit or audit trains some, and few tests depend on their predictions.

    These are the evaluator of a path, whose costs are averaged over few imputations, the networks that an audit trains again, and the
    forests that separate imputed rows from real ones.
    """
    from lexplain.measures.off_data import off_data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexplain.explainers.path.EVALUATOR_STEPS", 60)
        patch.setattr("lexplain.explainers.path.DRAWS", 2)
        _shorten(patch, retraining=60)
        patch.setattr("lexplain.measures.off_data.off_data", partial(off_data, trees=20))
        yield


@pytest.fixture
def register(monkeypatch):
    """`lexplain.register`, undone after the test."""
    from lexplain.core import kinds

    monkeypatch.setattr(kinds, "_REGISTERED", dict(kinds._REGISTERED))
    return kinds.register
