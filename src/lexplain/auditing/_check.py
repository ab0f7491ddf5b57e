"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from .. import check
from ..core.rows import as_array
from ..predictors.labels import known_classes


def label_or_model(y: Any, model: Any) -> Any:
    """Return the labels to read: none with a model, whose answer is the target; refuse where neither is given."""
    if model is None and y is None:
        raise ValueError("the audit was given neither labels nor a model; pass y, the labels of X, or the model that was explained")
    return None if model is not None else y


def audit_fits(explanation: Any, X: Any, target: Tensor) -> None:
    """Refuse rows that are not those of the explanation."""
    if not len(explanation) == len(X) == len(target):
        raise ValueError(
            f"the explanation has {len(explanation)} rows, X {len(X)} and the target {len(target)}; give the rows that were explained"
        )
    if len(X) < 2 * check.FEWEST_ROWS:
        raise ValueError(f"{len(X)} rows are too few to audit: at least {2 * check.FEWEST_ROWS} are needed, and a few hundred to tell much")


def foreign_scores(scores: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the scores of rows of a shape as they are; refuse other shapes, other things than numbers, NaN and infinity."""
    if scores.dtype.kind not in "biuf":
        raise TypeError(f"the scores are of type {scores.dtype}, but numbers are needed, one for each feature of each row")
    if scores.shape != shape or len(shape) < 2:
        raise ValueError(
            f"the scores have shape {scores.shape}, but X has shape {shape}; both must be (rows, features), in the same order; "
            "scores of several classes have them as a last axis and need target="
        )
    wrong = ~np.isfinite(scores)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"the scores hold {scores[place]} (first at {place}), which cannot be ranked; mend the explainer, or drop such rows"
        )
    return scores


def rows_of_numbers(scores: Any) -> np.ndarray:
    """Return nested lists and the like as one array; refuse rows that differ in length."""
    try:
        return np.asarray(scores)
    except (TypeError, ValueError) as ragged:
        raise ValueError(f"the scores are no table of numbers ({ragged}); give one score for each feature of each row") from None


def class_of_each(target: Any, classes: Sequence[int], rows: int) -> np.ndarray:
    """Return the class (rows,) whose scores are meant; refuse to guess, and classes that were not explained."""
    if target is None:
        raise ValueError(
            f"these are the scores of {len(classes)} classes ({list(classes)[:10]}), but one class a row is explained at a time; "
            "give target=, the class of each row, such as model.predict_proba(X).argmax(1)"
        )
    return class_indices(target, rows, classes)


def class_indices(target: Any, rows: int, classes: Sequence[int] | None = None) -> np.ndarray:
    """Return one class index a row, from one for each or one for all; refuse labels, and those not among the classes."""
    asked = as_array(target)
    if asked.dtype.kind not in "iu" or asked.shape not in ((), (rows,)):
        raise ValueError(
            f"target is of type {asked.dtype} and shape {asked.shape}, but {rows} rows need the index of a class, one for all or ({rows},)"
        )
    odd = [int(c) for c in asked.reshape(-1) if c < 0 or (classes is not None and c not in classes)]
    if odd:
        raise ValueError(
            f"target holds {odd[0]}, which was not explained; the classes are {'0, 1, ...' if classes is None else list(classes)}"
        )
    return np.broadcast_to(asked, (rows,)).astype(np.int64)


def require_known_selection(keep: Any, count: int, *, mask: bool, sparse: bool) -> None:
    """Refuse a size that cannot be kept, one beside a mask, and none beside scores that leave no feature out."""
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r}, but scores are cut at a number of features (1 to {count - 1}) or at a rate between 0 and 1")
    if mask and keep is not None:
        raise ValueError(f"keep={keep} was given together with a mask of truths, which says itself what is kept; leave keep out")
    check.keep_or_penalty(keep, None, count)
    if keep is None and not (mask or sparse):
        raise ValueError(
            "these scores say how much every feature matters, not which of them are kept; give keep=, how many to keep of each row "
            f"(1 to {count - 1}) or a rate such as 0.3"
        )


def one_explanation_a_row(given: int, rows: int) -> None:
    """Refuse a list of explanations that is longer or shorter than the rows."""
    if given != rows:
        raise ValueError(f"{given} explanation(s) were given for {rows} rows of X; give one for each row, in the same order")


def explains_columns(places: Sequence[int], shape: tuple[int, ...]) -> None:
    """Refuse weights of other things than the columns of a table, such as words or segments."""
    if len(shape) != 2 or max(places, default=0) >= shape[1]:
        raise ValueError(
            f"the explanation weighs feature {max(places, default=0)}, but X has shape {shape}; "
            "give the table that was explained: words and segments are no columns"
        )


def class_to_audit(target: Any, classes: np.ndarray | None, rows: int, several: Sequence[int] | None) -> np.ndarray:
    """Return the index (rows,) of the class whose explanation is judged; refuse labels that cannot be told among the classes explained."""
    _places_are_classes(classes, several)
    return known_classes(target.detach().cpu() if isinstance(target, Tensor) else target, classes, rows)


def require_one_class(says: Any, classes: np.ndarray | None, several: Sequence[int]) -> Any:
    """Return the model that predicts the class meant; refuse to guess it without one, and a model of other classes."""
    if says is None:
        raise ValueError(
            f"these are the scores of {len(several)} classes, but the explanation of one class a row is judged; give target=, one label "
            "for all rows or one a row, or model= alone, whose predicted class is then meant; where other rows, or an explainer that is "
            "asked again, have scores of several classes too, one label a row of X does not tell theirs"
        )
    _places_are_classes(classes, several)
    return says


def _places_are_classes(classes: np.ndarray | None, several: Sequence[int] | None) -> None:
    """Refuse scores of more or fewer classes than the target has, where only their place says whose they are."""
    if isinstance(several, range) and (classes is None or len(several) != len(classes)):
        known = "no classes, but a real value" if classes is None else f"{len(classes)}: {classes.tolist()[:10]}"
        raise ValueError(
            f"these are the scores of {len(several)} classes, but the target has {known}, so that their order does not say whose they are; "
            "give the model that was explained, or rows with every class, or name them: as_explanation(..., target=label, classes=[...])"
        )


def class_explained(index: np.ndarray, asked: Tensor | None) -> np.ndarray:
    """Return the index (rows,) of the class explained; refuse another one than the explanation itself says."""
    if asked is not None and (asked.cpu().numpy() != index).any():
        row = int((asked.cpu().numpy() != index).argmax())
        raise ValueError(
            f"target says class {int(index[row])} of row {row}, but the explanation is of class {int(asked[row])}; leave target out"
        )
    return index
