from functools import partial

import pytest
import torch


@pytest.fixture(autouse=True)
def _seed():
    """Every test starts from the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


@pytest.fixture(autouse=True, scope="session")
def hasty_judges():
    """Let networks that only judge learn for a moment: few tests are about what they say, and every default fit or audit trains some.

    These are the judge that draws a path, whose costs are averaged over few draws too, the networks that an audit trains anew, and the
    forests by which it tells filled rows from real ones.
    """
    from lexplain.metrics.off_data import off_data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexplain.explainers.path.JUDGE_STEPS", 60)
        patch.setattr("lexplain.explainers.path.DRAWS", 2)
        patch.setattr("lexplain.training.retrained.RETRAINING_STEPS", 60)
        patch.setattr("lexplain.auditing.measures.off_the_data.off_data", partial(off_data, trees=20))
        yield
