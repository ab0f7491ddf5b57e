import pytest
import torch


@pytest.fixture(autouse=True)
def _seed():
    """Every test starts from the same random numbers, whatever ran before it."""
    torch.manual_seed(0)
