"""Does a model, or a fresh one that approximates it, say the same from the kept features alone, and something else from the rest?"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from .. import check
from ..core import Trial
from ..core.contracts import Features
from ..evaluation import Evaluation
from ..features import raw_mask
from ..imputers import Constant
from .measure import measure
from .model_calls import Asking, Retrain, model_of, retrain_of
from .prediction import agreement

TAKEN = {"needs": ("model",), "percent": True, "group": "fidelity", "family": "fidelity", "taken": "usually"}


@torch.no_grad()
def same_class(
    model: Asking,
    features: Features,
    x: Tensor,
    mask: Tensor,
    *,
    reader: Asking | None = None,
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
    fill, read = _imputer(imputer, x), model if reader is None else reader

    def agree(rows: Tensor, *shown: Tensor) -> Tensor:  # of a part at a time: filled rows of all would be another copy of the data
        whole = model(rows)
        if whole.ndim != 2 or whole.shape[1] < 2:
            raise ValueError(
                f"the model says values of shape {tuple(whole.shape)}, but agreement needs probabilities (rows, classes) of several "
                "classes; for a real-valued model use infidelity, or the area under the insertion curve"
            )
        return agreement(read(_filled(fill, features, rows, *shown)), whole)

    return model.in_parts(agree, *_given(x, mask, valid))


def approximator(
    model: Asking, features: Features, retrain: Retrain, train: Trial, mask: Tensor, *, imputer: nn.Module | None = None
) -> Asking:
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
    fill = _imputer(imputer, train.x)
    with torch.no_grad():
        x = model.in_parts(lambda *part: _filled(fill, features, *part), *_given(train.x, mask, train.valid))
    return retrain(replace(train, x=x))


def _filled(fill: nn.Module, features: Features, rows: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
    filled: Tensor = fill(rows, raw_mask(features, mask, valid))
    return filled


def _given(x: Tensor, mask: Tensor, valid: Tensor | None) -> tuple[Tensor, ...]:
    return (x, check.hard_mask(mask)) if valid is None else (x, check.hard_mask(mask), valid)


def _imputer(given: nn.Module | None, x: Tensor) -> nn.Module:
    return Constant(0.0).to(x.device) if given is None else given


def _by_model(evaluation: Evaluation, mask: Tensor) -> Tensor:
    return same_class(model_of(evaluation), evaluation.features, evaluation.rows.x, mask, valid=evaluation.valid)


def _by_fresh_model(evaluation: Evaluation, *, hides: bool) -> Tensor:
    """What fresh models say that learn from what is kept, or from the rest."""
    model, features = model_of(evaluation), evaluation.features
    found = torch.zeros(len(evaluation.rows), dtype=torch.double)
    for fold in evaluation.folds:
        fresh = approximator(model, features, retrain_of(evaluation), fold.learn, fold.mask ^ hides)
        judged, mask = evaluation.rows.take(fold.judged), evaluation.mask[fold.judged] ^ hides
        found[fold.judged] = same_class(model, features, judged.x, mask, reader=fresh, valid=judged.valid).cpu()
    return found


@measure("fs_m", label="FS-M", better=True, description="share of rows on which the model says the same from the kept features", **TAKEN)
def fs_m(evaluation: Evaluation) -> Tensor:
    """1 where the model names the same class from what is kept as from the whole row.

    Reference: Chen et al., Learning to Explain, 2018, section 4 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M).
    """
    return _by_model(evaluation, evaluation.mask)


@measure("fu_m", label="FU-M", better=False, description="share of rows on which the model says the same from the other features", **TAKEN)
def fu_m(evaluation: Evaluation) -> Tensor:
    """1 where the model names the same class from what is hidden as from the whole row.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FU-M).
    """
    return _by_model(evaluation, ~evaluation.mask)


@measure("fs_a", label="FS-A", better=True, description="share of rows on which a model retrained on kept features says the same", **TAKEN)
def fs_a(evaluation: Evaluation) -> Tensor:
    """1 where an `approximator` of kept features names, from these, the model's class of the whole row.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A).
    """
    return _by_fresh_model(evaluation, hides=False)


@measure("fu_a", label="FU-A", better=False, description="share of rows on which a model retrained on the others says the same", **TAKEN)
def fu_a(evaluation: Evaluation) -> Tensor:
    """1 where an `approximator` of the other features names, from these, the model's class of the whole row.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FU-A).
    """
    return _by_fresh_model(evaluation, hides=True)
