"""How well a classifier separates rows with hidden features from real rows."""

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
    """Held-out AUROC of a forest that separates imputed rows from real rows, as values whose plain mean is the AUROC.

    The values (b + r,) are those of the imputed rows, then of the real rows, because both are samples. Each row is compared with rows of
    its own fold only, because scores of different forests are not comparable. With few background rows the same values recur, which a
    forest can detect: with 300 background rows, 300 imputed rows with independent columns had an AUROC of 0.53.

    Args:
        filled: Imputed rows (b, ...).
        real: Real rows (r, ...), other than those that were imputed, since a forest could recognise their values.
        folds: Number of folds of the cross-validation.
        trees: Number of trees per forest.
        seed: Seed of folds and forests.

    Reference: Lopez-Paz and Oquab, Revisiting Classifier Two-Sample Tests, 2017, section 3.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold

    if filled.shape[1:] != real.shape[1:] or folds < 2 or min(len(filled), len(real)) < folds:
        raise ValueError(
            f"Got imputed rows of shape {tuple(filled.shape)} and real rows of shape {tuple(real.shape)} with folds={folds}. "
            "Pass rows of the same shape, at least 2 folds, and at least as many rows of both as folds."
        )
    rows = torch.cat([filled, real]).flatten(1).detach().cpu().numpy()
    is_imputed = np.arange(len(rows)) < len(filled)
    values = torch.empty(len(rows), dtype=torch.float64)
    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for train, test in split.split(rows, is_imputed):
        # Both classes have equal weights. Leaves of several rows rank better than leaves of single rows.
        forest = RandomForestClassifier(trees, min_samples_leaf=3, class_weight="balanced", random_state=seed)
        scores = forest.fit(rows[train], is_imputed[train]).predict_proba(rows[test])[:, 1]
        values[test] = pooled_auroc(torch.from_numpy(scores)[:, None], torch.from_numpy(is_imputed[test])[:, None])
    return values.to(filled.device)


@measure(
    "off_data_mean",
    label="Off the data, mean",
    better=False,
    description="how well a classifier separates imputed rows from real rows (AUROC); 0.5 is indistinguishable",
    group="off the data",
    family="off the data",
    included="usually",
)
def off_data_mean(evaluation: Evaluation, *, other_rows: bool = False) -> Tensor:
    """Separability from real rows if hidden columns take their mean, or another row's values."""
    index = evaluation.not_background[torch.randperm(len(evaluation.not_background), generator=evaluation.generator())[:SUBSAMPLE_ROWS]]
    real = evaluation.background[torch.randperm(len(evaluation.background), generator=evaluation.generator())[: len(index)]]
    rows, impute = evaluation.rows.take(index), Marginal(evaluation.background) if other_rows else Constant(0.0)
    return off_data(impute(rows.x, encoded_mask(evaluation.features, evaluation.mask[index], rows.valid)), real, seed=evaluation.run.seed)


off_data_other_rows = off_data_mean.variant(
    "off_data_other_rows", label="Off the data, other rows", function=partial(off_data_mean, other_rows=True)
)
