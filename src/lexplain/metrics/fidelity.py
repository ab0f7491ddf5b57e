"""Does a model, or a fresh one that approximates it, say the same from the kept features alone, and something else from the rest?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from .. import check
from ..core import Trial
from ..core.contracts import Features
from ..core.rows import MAX_ROWS
from ..features import raw_mask
from ..imputers import Constant
from .metric import metric
from .model_calls import ask, in_parts
from .predictive import agreement

Model = Callable[[Tensor], Tensor]


@metric(
    label="FS-M", higher_is_better=True, description="share of rows on which the model says the same from the kept features", percent=True
)
def post_hoc_accuracy(
    model: Model,
    features: Features,
    x: Tensor,
    mask: Tensor,
    *,
    valid: Tensor | None = None,
    imputer: nn.Module | None = None,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """1 where the model names the same class from what a mask (b, d) shows as from the whole row.

    Args:
        model: encoded rows (n, ...) to probabilities (n, c).
        features: feature masks to raw masks.
        x: (b, ...) encoded rows.
        mask: (b, d) of their features.
        valid: (b, d) of bool, False where there is no feature; None: all are there.
        imputer: fills what is hidden; None: with 0, as published.
        max_rows: most model rows in flight.

    Reference: Chen et al., Learning to Explain, 2018, section 4 (post-hoc accuracy); Liang et al., 2020, section 4 (FS-M).
    """
    return _agree(model, model, features, x, check.hard_mask(mask), valid, imputer, max_rows)


@metric(
    label="FU-M", higher_is_better=False, description="share of rows on which the model says the same from the other features", percent=True
)
def complement_accuracy(
    model: Model,
    features: Features,
    x: Tensor,
    mask: Tensor,
    *,
    valid: Tensor | None = None,
    imputer: nn.Module | None = None,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """1 where the model names the same class from what a mask (b, d) hides as from the whole row.

    Arguments as for `post_hoc_accuracy`.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FU-M).
    """
    return _agree(model, model, features, x, ~check.hard_mask(mask), valid, imputer, max_rows)


def approximator(
    features: Features,
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
    return retrain(replace(train, x=_filled(features, train.x, check.hard_mask(mask), train.valid, imputer, max_rows)))


@metric(
    label="FS-A", higher_is_better=True, description="share of rows on which a model retrained on kept features says the same", percent=True
)
def approximator_accuracy(
    model: Model,
    approximator: Model,
    features: Features,
    x: Tensor,
    mask: Tensor,
    *,
    valid: Tensor | None = None,
    imputer: nn.Module | None = None,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """1 where an `approximator` of kept features names, from what a mask (b, d) shows, the model's class of the whole row.

    Other arguments as for `post_hoc_accuracy`.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FS-A).
    """
    return _agree(model, approximator, features, x, check.hard_mask(mask), valid, imputer, max_rows)


@metric(
    label="FU-A",
    higher_is_better=False,
    description="share of rows on which a model retrained on the others says the same",
    percent=True,
)
def complement_approximator_accuracy(
    model: Model,
    approximator: Model,
    features: Features,
    x: Tensor,
    mask: Tensor,
    *,
    valid: Tensor | None = None,
    imputer: nn.Module | None = None,
    max_rows: int = MAX_ROWS,
) -> Tensor:
    """1 where an `approximator` of complements names, from what a mask (b, d) hides, the model's class of the whole row.

    Other arguments as for `post_hoc_accuracy`.

    Reference: Liang et al., Adversarial Infidelity Learning for Model Interpretation, 2020, section 4 (FU-A).
    """
    return _agree(model, approximator, features, x, ~check.hard_mask(mask), valid, imputer, max_rows)


@torch.no_grad()
def _agree(
    model: Model,
    reader: Model,
    features: Features,
    x: Tensor,
    mask: Tensor,
    valid: Tensor | None,
    imputer: nn.Module | None,
    max_rows: int,
) -> Tensor:
    """1 where a reader of what a mask shows names the class that the model does from the whole row."""
    check.counts(max_rows=max_rows)
    fill = _imputer(imputer, x)

    def agree(
        rows: Tensor, shown: Tensor, there: Tensor | None = None
    ) -> Tensor:  # of a part at a time: filled rows of all would be another copy of the data
        whole = ask(model, rows, max_rows=max_rows)
        if whole.ndim != 2 or whole.shape[1] < 2:
            raise ValueError(
                f"the model says values of shape {tuple(whole.shape)}, but agreement needs probabilities (rows, classes) of several "
                "classes; for a real-valued model use infidelity, or the area under the insertion curve"
            )
        return agreement(ask(reader, fill(rows, raw_mask(features, shown, there)), max_rows=max_rows), whole)

    return in_parts(agree, *_given(x, mask, valid), max_rows=max_rows)


@torch.no_grad()
def _filled(features: Features, x: Tensor, mask: Tensor, valid: Tensor | None, imputer: nn.Module | None, max_rows: int) -> Tensor:
    check.counts(max_rows=max_rows)
    fill = _imputer(imputer, x)

    def filled(rows: Tensor, shown: Tensor, there: Tensor | None = None) -> Tensor:
        said: Tensor = fill(rows, raw_mask(features, shown, there))
        return said

    return in_parts(filled, *_given(x, mask, valid), max_rows=max_rows)


def _given(x: Tensor, mask: Tensor, valid: Tensor | None) -> tuple[Tensor, ...]:
    return (x, mask) if valid is None else (x, mask, valid)


def _imputer(given: nn.Module | None, x: Tensor) -> nn.Module:
    return Constant(0.0).to(x.device) if given is None else given
