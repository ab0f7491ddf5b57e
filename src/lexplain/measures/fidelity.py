"""Fidelity: does the model, or a network trained to approximate it, predict the same class from the kept (or the other) features?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from .. import check
from ..core import Batch
from ..core.contracts import Features
from ..core.kinds import kind_of
from ..evaluation import Evaluation
from ..features import encoded_mask
from ..imputers import MAX_BACKGROUND, Constant, Donors
from .measure import measure
from .model_calls import QueriedFunction, Retrain, model_of, outputs_of, retrain_of
from .prediction import agreement

INCLUDED = {"needs": ("model",), "percent": True, "group": "fidelity", "family": "fidelity", "included": "usually"}


def same_class(
    model: QueriedFunction,
    features: Features,
    x: Tensor,
    mask: Tensor,
    *,
    reader: QueriedFunction | None = None,
    outputs: Tensor | None = None,
    valid: Tensor | None = None,
    imputer: nn.Module | None = None,
) -> Tensor:
    """1 for rows where a reader predicts, from the features visible in a mask (b, d), the model's class for the full row.

    Args:
        model: Function from encoded rows (n, ...) to probabilities (n, c).
        features: Fitted features.
        x: Encoded rows (b, ...).
        mask: Masks (b, d) of their features.
        reader: Function that predicts from imputed rows, such as an `approximator`. None: the model itself.
        outputs: Outputs (b, c) of the model for these rows. None: it is queried.
        valid: (b, d) of bool, False for padding. None: no padding.
        imputer: Replaces hidden values. None: by 0, as in the papers; `fs_m` passes `Donors` for tables.
    """
    outputs = model(x) if outputs is None else outputs
    if outputs.ndim != 2 or outputs.shape[1] < 2:
        raise ValueError(
            f"The model returned shape {tuple(outputs.shape)}, but this measure needs probabilities (rows, classes) of several classes. "
            "For a real-valued model use infidelity, or the area under the insertion curve."
        )
    return agreement(_in_imputed_parts(model if reader is None else reader, model, features, x, mask, valid, imputer), outputs)


def approximator(
    model: QueriedFunction, features: Features, retrain: Retrain, train: Batch, mask: Tensor, *, imputer: nn.Module | None = None
) -> QueriedFunction:
    """A network trained to predict the explained model's outputs from the features visible in masks (n, d).

    It can also learn from the choice of features. A high FS-A with a low FS-M suggests that masks encode the prediction.

    Args:
        model: The explained model; rows are imputed in batches of its `max_rows`.
        features: Fitted features.
        retrain: Function that trains a model on rows, from scratch.
        train: Training rows, other than those to evaluate, with the explained model's probabilities as their target.
        mask: Masks of these rows by the same explainer; for FU-A their complement.
        imputer: Replaces hidden values. None: by 0, as in the papers.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A, FU-A).
    """
    x = _in_imputed_parts(lambda imputed: imputed, model, features, train.x, mask, train.valid, imputer)
    return retrain(replace(train, x=x))


@torch.no_grad()
def _in_imputed_parts(
    use: Callable[[Tensor], Tensor],
    model: QueriedFunction,
    features: Features,
    x: Tensor,
    mask: Tensor,
    valid: Tensor | None,
    imputer: nn.Module | None,
) -> Tensor:
    """Call `use` on imputed rows in parts. Imputing all rows at once would copy the whole data."""
    impute = Constant(0.0).to(x.device) if imputer is None else imputer
    tensors = (x, check.hard_mask(mask)) if valid is None else (x, check.hard_mask(mask), valid)
    return model.in_parts(lambda rows, visible, exists=None: use(impute(rows, encoded_mask(features, visible, exists))), *tensors)


@measure(
    "fs_m",
    label="FS-M",
    better=True,
    description="share of rows where the model predicts the same class from kept features; in a table, others come from a similar row",
    **INCLUDED,
)
def fs_m(evaluation: Evaluation, *, hides: bool = False, at_mean: bool = False) -> Tensor:
    """1 for rows where the model predicts the same class from kept features (FS-M), or from the others (FU-M), as from the full row.

    In a table, hidden features take the values of a similar background row, so that the model is queried on cells that occur in the data.
    In other kinds of input, and if `at_mean`, they are 0, as published.

    Reference: Chen et al., Learning to Explain, 2018, section 4 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M, FU-M).
    """
    model, features, rows, background = model_of(evaluation), evaluation.features, evaluation.rows, evaluation.background
    imputer = None
    if kind_of(features).flat and not at_mean:
        some = torch.randperm(len(background), generator=evaluation.generator())[:MAX_BACKGROUND].sort().values
        imputer = Donors(background[some])
    mask = evaluation.mask ^ hides
    return same_class(model, features, rows.x, mask, outputs=outputs_of(evaluation), valid=rows.valid, imputer=imputer)


@measure(
    "fs_a",
    label="FS-A",
    better=True,
    description="share of rows where a network retrained on kept features predicts the model's class",
    **INCLUDED,
)
def fs_a(evaluation: Evaluation, *, hides: bool = False) -> Tensor:
    """1 for rows where an `approximator` predicts, from kept features (FS-A) or the others (FU-A), the model's class for the full row.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A, FU-A).
    """
    model, features, outputs = model_of(evaluation), evaluation.features, outputs_of(evaluation)
    values = torch.zeros(len(evaluation.rows), dtype=torch.double)
    for fold in evaluation.folds:
        reader = approximator(model, features, retrain_of(evaluation), fold.learn, fold.mask ^ hides)
        eval_rows, mask = evaluation.rows.take(fold.eval_rows), evaluation.mask[fold.eval_rows] ^ hides
        values[fold.eval_rows] = same_class(
            model, features, eval_rows.x, mask, reader=reader, outputs=outputs[fold.eval_rows], valid=eval_rows.valid
        ).cpu()
    return values


fu_m = fs_m.variant(
    "fu_m",
    label="FU-M",
    higher_is_better=False,
    description="share of rows where the model predicts the same class from the features that were not kept, hiding the others as in FS-M",
    function=partial(fs_m, hides=True),
)
fs_m_mean = fs_m.variant(
    "fs_m_mean",
    label="FS-M, mean",
    description="FS-M with the other features at their mean (in images at 0), on rows that may not occur",
    group="off the data",
    family="off the data",
    function=partial(fs_m, at_mean=True),
)
fu_a = fs_a.variant(
    "fu_a",
    label="FU-A",
    higher_is_better=False,
    description="share of rows where a network retrained on the other features predicts the model's class",
    function=partial(fs_a, hides=True),
)
