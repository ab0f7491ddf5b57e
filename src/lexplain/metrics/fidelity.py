"""Does a model, or a fresh one that approximates it, say the same from the kept features alone, and something else from the rest?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from .. import check
from ..core import Trial
from ..imputers import Constant
from .metric import metric
from .model_calls import MAX_ROWS, ask, in_parts
from .predictive import agreement

Model = Callable[[Tensor], Tensor]


@metric(label="FS-M", higher_is_better=True, reads="share of rows on which the model says the same from the kept features", percent=True)
def post_hoc_accuracy(
    model: Model, features: Any, x: Tensor, mask: Tensor, *, imputer: nn.Module | None = None, max_rows: int = MAX_ROWS
) -> Tensor:
    """1 where the model names the same class from what a mask (b, d) shows as from the whole row.

    Args:
        model: encoded rows (n, ...) to probabilities (n, c).
        features: feature masks to raw masks.
        x: (b, ...) encoded rows.
        mask: (b, d) of their features.
        imputer: fills what is hidden; None: with 0, as published.
        max_rows: most model rows in flight.

    Reference: Chen et al., Learning to Explain, 2018, section 4 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M).
    """
    return _agree(model, model, features, x, check.hard_mask(mask), imputer, max_rows)


@metric(label="FU-M", higher_is_better=False, reads="share of rows on which the model says the same from the other features", percent=True)
def complement_accuracy(
    model: Model, features: Any, x: Tensor, mask: Tensor, *, imputer: nn.Module | None = None, max_rows: int = MAX_ROWS
) -> Tensor:
    """1 where the model names the same class from what a mask (b, d) hides as from the whole row.

    Arguments as for `post_hoc_accuracy`.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FU-M).
    """
    return _agree(model, model, features, x, ~check.hard_mask(mask), imputer, max_rows)


def approximator(
    features: Any,
    retrain: Callable[[Trial], Model],
    train: Trial,
    mask: Tensor,
    *,
    imputer: nn.Module | None = None,
    max_rows: int = MAX_ROWS,
) -> Model:
    """A fresh model that has learned what the explained one says of training rows, from what masks (n, d) show of them.

    It can read a choice of features as well as their values: a high FS-A beside a low FS-M is a sign that masks encode the answer.

    Args:
        features: feature masks to raw masks.
        retrain: rows to a model, from scratch; such as `partial(retrain, outputs=outputs, seed=0)`.
        train: rows other than those judged, whose target is the explained model's soft output.
        mask: of these rows, by the same explainer; for FU-A its complement.
        imputer: fills what is hidden; None: with 0, as published.
        max_rows: most rows filled at a time.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A, FU-A).
    """
    return retrain(replace(train, x=_filled(features, train.x, check.hard_mask(mask), imputer, max_rows)))


@metric(label="FS-A", higher_is_better=True, reads="share of rows on which a model retrained on kept features says the same", percent=True)
def approximator_accuracy(
    model: Model,
    approximator: Model,
    features: Any,
    x: Tensor,
    mask: Tensor,
    *,
    imputer: nn.Module | None = None,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """1 where an `approximator` of kept features names, from what a mask (b, d) shows, the model's class of the whole row.

    Other arguments as for `post_hoc_accuracy`.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A).
    """
    return _agree(model, approximator, features, x, check.hard_mask(mask), imputer, max_rows)


@metric(
    label="FU-A",
    higher_is_better=False,
    reads="share of rows on which a model retrained on the others says the same",
    percent=True,
)
def complement_approximator_accuracy(
    model: Model,
    approximator: Model,
    features: Any,
    x: Tensor,
    mask: Tensor,
    *,
    imputer: nn.Module | None = None,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """1 where an `approximator` of complements names, from what a mask (b, d) hides, the model's class of the whole row.

    Other arguments as for `post_hoc_accuracy`.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FU-A).
    """
    return _agree(model, approximator, features, x, ~check.hard_mask(mask), imputer, max_rows)


@torch.no_grad()
def _agree(model: Model, reader: Model, features: Any, x: Tensor, mask: Tensor, imputer: nn.Module | None, max_rows: int) -> Tensor:
    """1 where a reader of what a mask shows names the class that the model does from the whole row."""
    check.counts(max_rows=max_rows)
    fill = _imputer(imputer, x)

    def agree(rows: Tensor, shown: Tensor) -> Tensor:  # of a part at a time: filled rows of all would be another copy of the data
        whole = check.classes_to_agree_on(ask(model, rows, max_rows=max_rows))
        return agreement(ask(reader, fill(rows, features.expand(shown)), max_rows=max_rows), whole)

    return in_parts(agree, x, mask, max_rows=max_rows)


@torch.no_grad()
def _filled(features: Any, x: Tensor, mask: Tensor, imputer: nn.Module | None, max_rows: int) -> Tensor:
    check.counts(max_rows=max_rows)
    fill = _imputer(imputer, x)
    return in_parts(lambda rows, part: fill(rows, features.expand(part)), x, mask, max_rows=max_rows)


def _imputer(given: nn.Module | None, x: Tensor) -> nn.Module:
    return Constant(0.0).to(x.device) if given is None else given
