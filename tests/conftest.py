import pytest
import torch


@pytest.fixture(autouse=True)
def _seed():
    """Every test starts from the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


@pytest.fixture(autouse=True, scope="session")
def hasty_path_judges():
    """Let the judge that draws a path learn for a moment only: few tests are about what it says, and every default fit trains one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexplain.explainers.path.JUDGE_STEPS", 60)
        yield
