from functools import partial

import pytest
import torch


@pytest.fixture(autouse=True)
def _seed():
    """Every test starts from the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


# How long networks learn that only judge, and how fast: the one place of the tests that knows where the library keeps it.
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
    """`shorten_judges(patch, judge=5, ...)`, for fixtures of more than one test, which hold a MonkeyPatch of their own."""
    return _shorten


@pytest.fixture
def short_judges(monkeypatch):
    """`short_judges(judge=5, reader=5, reader_rate=1e-3, retraining=5)` replaces the given numbers of optimiser steps in this test."""
    return partial(_shorten, monkeypatch)


@pytest.fixture(autouse=True, scope="session")
def hasty_judges():
    """Let networks that only judge learn for a moment: few tests are about what they say, and every default fit or audit trains some.

    These are the judge that draws a path, whose costs are averaged over few draws too, the networks that an audit trains anew, and the
    forests by which it tells filled rows from real ones.
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
