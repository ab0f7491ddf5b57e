"""Does a model, or a fresh one that approximates it, say the same from the kept features alone, and something else from the rest?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from .. import check
from ..core import Batch
from ..core.contracts import Features
from ..evaluation import Evaluation
from ..features import encoded_mask
from ..imputers import Constant
from .measure import measure
from .model_calls import QueriedFunction, Retrain, model_of, retrain_of
from .prediction import agreement

INCLUDED = {"needs": ("model",), "percent": True, "group": "fidelity", "family": "fidelity", "included": "usually"}


def same_class(
    model: QueriedFunction,
    features: Features,
    x: Tensor,
    mask: Tensor,
    *,
    reader: QueriedFunction | None = None,
    valid: Tensor | None = None,
    imputer: nn.Module | None = None,
) -> Tensor:
    """1 where a reader of what a mask (b, d) shows names the class that the model names from the whole row.

    Args:
        model: encoded rows (n, ...) to probabilities (n, c).
        features: feature masks to raw masks.
        x: (b, ...) encoded rows.
        mask: (b, d) of their features.
        reader: such as an `approximator`; None: the model itself.
        valid: (b, d) of bool, False where there is no feature; None: all are there.
        imputer: fills what is hidden; None: with 0, as published.
    """
    read = model if reader is None else reader

    def agree(rows: Tensor, filled: Tensor) -> Tensor:
        whole = model(rows)
        if whole.ndim != 2 or whole.shape[1] < 2:
            raise ValueError(
                f"the model says values of shape {tuple(whole.shape)}, but agreement needs probabilities (rows, classes) of several "
                "classes; for a real-valued model use infidelity, or the area under the insertion curve"
            )
        return agreement(read(filled), whole)

    return _in_filled_parts(agree, model, features, x, mask, valid, imputer)


def approximator(
    model: QueriedFunction, features: Features, retrain: Retrain, train: Batch, mask: Tensor, *, imputer: nn.Module | None = None
) -> QueriedFunction:
    """A fresh model that has learned what the explained one says of training rows, from what masks (n, d) show of them.

    It can read a choice of features as well as their values: a high FS-A beside a low FS-M is a sign that masks encode the answer.

    Args:
        model: the explained one; rows are filled as many at a time as it may be asked about.
        features: feature masks to raw masks.
        retrain: rows to a model, from scratch.
        train: rows other than those judged, whose target is the explained model's soft output.
        mask: of these rows, by the same explainer; for FU-A its complement.
        imputer: fills what is hidden; None: with 0, as published.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A, FU-A).
    """
    x = _in_filled_parts(lambda _, filled: filled, model, features, train.x, mask, train.valid, imputer)
    return retrain(replace(train, x=x))


@torch.no_grad()
def _in_filled_parts(
    use: Callable[[Tensor, Tensor], Tensor],
    model: QueriedFunction,
    features: Features,
    x: Tensor,
    mask: Tensor,
    valid: Tensor | None,
    imputer: nn.Module | None,
) -> Tensor:
    """What becomes of a part of the rows at a time, and of the same rows filled; filled rows of all would be another copy of the data."""
    fill = Constant(0.0).to(x.device) if imputer is None else imputer
    given = (x, check.hard_mask(mask)) if valid is None else (x, check.hard_mask(mask), valid)
    return model.in_parts(lambda rows, shown, there=None: use(rows, fill(rows, encoded_mask(features, shown, there))), *given)


@measure("fs_m", label="FS-M", better=True, description="share of rows on which the model says the same from the kept features", **INCLUDED)
def fs_m(evaluation: Evaluation, *, hides: bool = False) -> Tensor:
    """1 where the model names the same class from what is kept (FS-M), or from what is hidden (FU-M), as from the whole row.

    Reference: Chen et al., Learning to Explain, 2018, section 4 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M, FU-M).
    """
    return same_class(model_of(evaluation), evaluation.features, evaluation.rows.x, evaluation.mask ^ hides, valid=evaluation.valid)


@measure(
    "fs_a", label="FS-A", better=True, description="share of rows on which a model retrained on kept features says the same", **INCLUDED
)
def fs_a(evaluation: Evaluation, *, hides: bool = False) -> Tensor:
    """1 where an `approximator` of what is kept (FS-A), or of the rest (FU-A), names from it the model's class of the whole row.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A, FU-A).
    """
    model, features = model_of(evaluation), evaluation.features
    found = torch.zeros(len(evaluation.rows), dtype=torch.double)
    for fold in evaluation.folds:
        fresh = approximator(model, features, retrain_of(evaluation), fold.learn, fold.mask ^ hides)
        judged, mask = evaluation.rows.take(fold.eval_rows), evaluation.mask[fold.eval_rows] ^ hides
        found[fold.eval_rows] = same_class(model, features, judged.x, mask, reader=fresh, valid=judged.valid).cpu()
    return found


fu_m = fs_m.variant(
    "fu_m",
    label="FU-M",
    higher_is_better=False,
    description="share of rows on which the model says the same from the other features",
    function=partial(fs_m, hides=True),
)
fu_a = fs_a.variant(
    "fu_a",
    label="FU-A",
    higher_is_better=False,
    description="share of rows on which a model retrained on the others says the same",
    function=partial(fs_a, hides=True),
)
