"""`verify`: the fewest features under which a model's answer holds, along the scores of any tool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from .. import check
from ..core import Explanation
from ..core.contracts import Features, Labels, Model, RandomState, RawRows, ToolOutput
from ..core.kinds import features_for, kind_of
from ..core.rows import MAX_ROWS, take_rows
from ..core.seeding import seed_of
from ..imputers import MAX_BACKGROUND
from ..models import Problem, QueriedModel
from .class_selection import ClassSelection
from .verification import Verified, Verifier


def verify(
    scores: ToolOutput,
    X: RawRows,
    *,
    model: Model,
    background: RawRows,
    keep: float | None = None,
    order: str | None = None,
    target: Labels = None,
    holds: float = 0.95,
    within: float | None = None,
    max_model_rows: int | None = None,
    random_state: RandomState = 0,
) -> Explanation:
    """Find the fewest features of each row, by the scores of any tool, under which the answer of a queried model holds.

    Features are added in the order of the scores until the model gives the same answer in at least `holds` of the draws of the other
    features: the same class, or a value that moves by at most 0.2 standard deviations. Then features that can be spared are dropped, and
    the rest is confirmed with new draws. In a draw, the features that are not kept take the values of a background row whose kept
    features are similar. The explanation has `holds` (the measured share), its standard error `holds_se`, `verified` and `model_rows`
    (queries per row). A model that changes its answer between calls is reported by a `lexplain.auditing.VerifyWarning`.

    Args:
        scores: Output of the tool, as for `as_explanation`. A boolean mask (n, d) stays: only `holds` is measured.
        X: The explained rows.
        model: The explained model: a scikit-learn estimator, an `nn.Module`, or a function from rows to class probabilities or values.
        background: Rows that hidden values come from, such as the training rows; at most 2,000 of them are used.
        keep: Number or share of features to keep, as in `as_explanation`; then only `holds` is measured. None: as few as possible.
        order: "signed" (highest score for the predicted class first) or "absolute" (largest absolute score first). None: signed for
            classes, absolute for real values.
        target: Class that scores (n, d) are about, such as 1 for shap's scores of a model with two classes; one label or (n,). None: the
            class that the tool names, otherwise the predicted class of each row.
        holds: Share of draws in which the answer must hold.
        within: How far the output may move: for values, in standard deviations of the model's outputs; for classes, in probability of the
            predicted class. None: 0.2 for values; for classes, only the predicted class must stay the same.
        max_model_rows: Maximum number of queries of the model per row. A row that reaches it is not verified. None: no limit.
        random_state: Random seed. The result for a row does not depend on the other rows.

    Example:
        >>> import lexplain as lx
        >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 10
        >>> def model(rows):
        ...     return [[1 - row[0], row[0]] for row in rows]
        >>> lx.verify([[0.1, 0.5], [0.5, 0.1]], X[:2], model=model, background=X).mask.tolist()
        [[True, False], [True, False]]
    """
    check.one_of(order or "signed", ["signed", "absolute"], "order")
    if isinstance(scores, Explanation) and keep is not None:
        raise ValueError(f"keep={keep} needs scores, but an Explanation has its own mask. Pass explanation.scores, or explanation.mask.")
    if model is None:
        raise ValueError("verify queries the explained model, but model is None. Pass model=.")
    background = some_rows(several_rows(background), seed_of(random_state))
    features = scores.features if isinstance(scores, Explanation) else None
    problem = Problem.of(background, None, model, features=features or features_for(background).fit(background))
    query, classes, real = problem.targets.model, problem.target.classes, problem.target.outputs.real
    assert query is not None  # a model is given
    outputs = torch.as_tensor(np.ascontiguousarray(query(X)), dtype=torch.float64).reshape(len(X), -1)
    is_mask = _is_mask(scores)
    selection = ClassSelection(classes, 1 if keep is None and not is_mask else keep, model=query)
    explanation = selection(scores, X, outputs=outputs) if target is None else selection(scores, X, target=target, outputs=outputs)
    predicted = outputs.argmax(1)
    verifier = make_verifier(
        query, explanation.features or problem.features, background, real=real, holds=holds, within=within, max_model_rows=max_model_rows,
        random_state=random_state,
    )  # fmt: skip
    signs = torch.ones(len(outputs)) if real else _signs(explanation, outputs, predicted)
    absolute = order == "absolute" or (order is None and real)
    ranked = explanation.scores.abs() if absolute else explanation.scores * signs[:, None]
    found = verifier(X, ranked, explanation.mask if is_mask or keep is not None else None)
    return verified_explanation(
        replace(
            explanation,
            scores=explanation.scores if real else explanation.scores * signs[:, None].to(explanation.scores.dtype),
            features=verifier.features,
            classes=None if classes is None else tuple(classes.tolist()),
            target_index=None if real else predicted,
            additive=False,
            base_values=None,
            compute_prediction=lambda: outputs,
        ),
        found,
    )


def make_verifier(
    query: QueriedModel,
    features: Features,
    background: RawRows,
    *,
    real: bool,
    holds: float,
    within: float | None = None,
    spread: float | None = None,
    max_model_rows: int | None = None,
    max_rows: int | None = None,
    random_state: RandomState = 0,
) -> Verifier:
    """A `Verifier` with checked settings and at most `MAX_BACKGROUND` background rows. It queries the model once per composed row."""
    check.share_of_one(holds=holds)
    check.positive(within=within)
    check.counts(max_model_rows=max_model_rows)
    seed = seed_of(random_state)
    return Verifier(
        query,
        features,
        some_rows(several_rows(background), seed),
        real,
        holds,
        within,
        spread,
        max_model_rows,
        min(max_rows or MAX_ROWS, kind_of(features).pace.max_rows(features)),
        seed,
    )


def several_rows(background: RawRows) -> RawRows:
    """Return background rows; raise if there are fewer than two."""
    if background is None:
        raise ValueError("background is None, but hidden values come from other rows. Pass background=, such as the training rows.")
    if len(background) < 2:
        raise ValueError(f"background has {len(background)} row(s), but hidden values come from other rows: pass at least 2, better 1,000.")
    return background


def some_rows(rows: RawRows, seed: int) -> RawRows:
    """A copy of at most `MAX_BACKGROUND` rows, sampled at random: later changes of the caller's rows do not reach it."""
    return take_rows(rows, np.sort(np.random.default_rng(seed).permutation(len(rows))[:MAX_BACKGROUND]))


def verified_explanation(explanation: Explanation, found: Verified) -> Explanation:
    """The explanation with the features that were found, and how far the answer holds."""
    return replace(explanation, **found._asdict())


def _is_mask(scores: ToolOutput) -> bool:
    """Whether the output of a tool is a boolean mask."""
    types = set(scores.dtypes) if isinstance(scores, pd.DataFrame) else {getattr(scores, "dtype", None)}
    return types <= {np.dtype(bool), torch.bool}


def _signs(explanation: Explanation, outputs: Tensor, predicted: Tensor) -> Tensor:
    """1 (b,) where scores are about the predicted class, -1 where they are about another one."""
    about = explanation.target_index
    if about is None and explanation.base_values is not None and outputs.shape[1] == 2:
        # Shapley values of one class of two: their sums follow the output for that class.
        total = explanation.base_values.double() + explanation.scores.double().sum(1)
        about = torch.full_like(predicted, int(torch.corrcoef(torch.stack([total, outputs[:, 1]]))[0, 1] >= 0))
    return torch.ones(len(outputs)) if about is None else torch.where(about.to(predicted) == predicted, 1.0, -1.0)
