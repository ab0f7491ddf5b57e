"""What an EVAL-X without error would say: the true probabilities given what a mask shows, by drawing the rest from the true law."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

from ..data import DATASETS, load_data
from ..data.synthetic import Synthetic
from ..metrics import accuracy, auroc, log_likelihood

DRAWS, ROWS = 300, 10_000


def exact_judgement(name: str, *, seed: int = 0, rows: int = ROWS, draws: int = DRAWS) -> pd.DataFrame:
    """AUROC, accuracy and log-likelihood that the true probabilities reach from the true features, and without the control-flow one."""
    law = DATASETS[name]
    assert isinstance(law, Synthetic)
    data = load_data(name, seed=seed)
    x, labels = data.test.x[:rows], torch.as_tensor(data.test.y[:rows])
    assert data.test.truth is not None and data.control_flow is not None
    shown = data.test.truth[:rows]
    hidden = shown.copy()
    hidden[:, data.control_flow] = False
    generator = np.random.default_rng(seed)
    lines = []
    for what, mask in (("the true features", shown), ("without the control-flow feature", hidden)):
        odds = np.zeros(len(x))
        for _ in range(draws):
            # Columns are independent here, so other rows' values are draws from the law given what is shown.
            other = data.test.x[generator.integers(len(data.test.x), size=len(x))]
            odds += 1 / (1 + np.exp(law.judge(np.where(mask, x, other))[0]))  # judge says the log-odds of class 0
        said = torch.as_tensor(np.stack([1 - odds / draws, odds / draws], 1))
        values = [float(metric(said, labels).double().mean()) for metric in (auroc, accuracy, log_likelihood)]
        lines.append((name, what, *values))
    return pd.DataFrame(lines, columns=["data", "what is shown", "AUROC", "ACC", "log-likelihood"]).round(4)
