"""How far inputs with hidden features lie from the data: can a classifier tell them from real rows?"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from ..evaluation import SUBSAMPLE_ROWS, Evaluation
from ..features import encoded_mask
from ..imputers import Constant, Marginal
from .measure import measure
from .statistics import pooled_auroc


def off_data(filled: Tensor, real: Tensor, *, folds: int = 5, trees: int = 100, seed: int = 0) -> Tensor:
    """AUROC of a forest that tells filled rows from real ones, of rows it did not learn from; the plain mean of the values is the AUROC.

    The values (b + r,) are those of the filled rows, then of the real ones, because both are a sample. Each is compared with rows of
    its own fold only: forests of different folds do not score alike. Values drawn from few background rows come again and again, which
    can be told too: from 300 of them, 300 rows of independent columns measured 0.53.

    Args:
        filled: (b, ...) what an imputer made of rows.
        real: (r, ...) rows that were not filled: a forest that knows a row would know what was made of it.
        folds: of the cross-validation.
        trees: of each forest.
        seed: of folds and forests.

    Reference: Lopez-Paz and Oquab, Revisiting Classifier Two-Sample Tests, 2017, section 3.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold

    if filled.shape[1:] != real.shape[1:] or folds < 2 or min(len(filled), len(real)) < folds:
        raise ValueError(
            f"filled rows of shape {tuple(filled.shape)} and real ones of shape {tuple(real.shape)} in folds={folds}, "
            "but rows of one shape, two folds or more, and at least as many rows of each kind as folds are needed"
        )
    rows = torch.cat([filled, real]).flatten(1).detach().cpu().numpy()
    made = np.arange(len(rows)) < len(filled)
    values = torch.empty(len(rows), dtype=torch.float64)
    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for learn, judge in split.split(rows, made):
        # Equal weights of both kinds, and leaves of several rows, which rank better than single ones.
        forest = RandomForestClassifier(trees, min_samples_leaf=3, class_weight="balanced", random_state=seed)
        scores = forest.fit(rows[learn], made[learn]).predict_proba(rows[judge])[:, 1]
        values[judge] = pooled_auroc(torch.from_numpy(scores)[:, None], torch.from_numpy(made[judge])[:, None])
    return values.to(filled.device)


@measure(
    "off_data_mean",
    label="Off the data, mean",
    better=False,
    description="chance that a classifier finds a filled row less real than a real one; 0.5 cannot tell them apart, 1 always can",
    group="off the data",
    family="off the data",
    included="usually",
)
def off_data_mean(evaluation: Evaluation, *, other_rows: bool = False) -> Tensor:
    """How easily rows are told from real ones if hidden columns have their mean, or another row's values."""
    some = evaluation.not_background[torch.randperm(len(evaluation.not_background), generator=evaluation.generator())[:SUBSAMPLE_ROWS]]
    real = evaluation.background[torch.randperm(len(evaluation.background), generator=evaluation.generator())[: len(some)]]
    rows, fill = evaluation.rows.take(some), Marginal(evaluation.background) if other_rows else Constant(0.0)
    return off_data(fill(rows.x, encoded_mask(evaluation.features, evaluation.mask[some], rows.valid)), real, seed=evaluation.run.seed)


off_data_other_rows = off_data_mean.variant(
    "off_data_other_rows", label="Off the data, other rows", function=partial(off_data_mean, other_rows=True)
)
