"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from torch import Tensor


def explanation_fits(scores: Tensor, mask: Tensor, names: Sequence[Any], valid: Tensor | None = None) -> None:
    """Refuse an explanation whose parts differ in shape, or that keeps padding."""
    own = len(names) > 0 and not isinstance(names[0], str)  # one tuple a row
    fits = scores.ndim == 2 and scores.shape == mask.shape and (valid is None or valid.shape == mask.shape)
    named = fits and (
        len(names) == len(scores) and all(len(row) <= scores.shape[1] for row in names) if own else len(names) == scores.shape[1]
    )
    if not named:
        raise ValueError(
            f"scores of shape {tuple(scores.shape)}, a mask of shape {tuple(mask.shape)} and {len(names)} names of "
            f"{'rows' if own else 'features'} do not fit; scores and mask must both be (rows, features)"
        )
    if valid is not None and bool((mask & ~valid).any()):
        raise ValueError("the mask keeps padding, which is no feature; a feature that is not valid can never be kept")


def explanation_record(text: str, form: str) -> dict[str, Any]:
    """Refuse text that is not one of our explanations."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as broken:
        raise ValueError(f"this is not JSON ({broken}); give what Explanation.to_json wrote") from None
    if not isinstance(record, dict) or record.get("format") != form:
        raise ValueError(f"this JSON is no lexplain explanation (format {form}); give what Explanation.to_json wrote")
    missing = {"names", "scores", "mask", "method", "target", "classes"} - set(record)
    if missing:
        raise ValueError(f"this explanation lacks {sorted(missing)}; give what Explanation.to_json wrote")
    return record


def base_fits(base: Tensor | None, rows: int) -> None:
    """Refuse base values that are not one a row."""
    if base is not None and tuple(base.shape) != (rows,):
        raise ValueError(f"base has shape {tuple(base.shape)}, but {rows} explained rows need one base value each: ({rows},)")
