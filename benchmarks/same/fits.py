"""Every method on three data sets, in each regime, after few steps and after many."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import Case
from .given import linear_model, mixed_model, mixed_table

FEW, MANY = 20, 300  # optimiser steps
ALIASES = {"hold": "sufficient"}  # methods that were renamed: the old name and the new one


def data() -> dict[str, tuple[Any, Any, Any, Any, dict[str, Any]]]:
    """Rows to learn from, labels, rows to explain, a model, and settings of each data set."""
    import lexplain as lx
    from lexplain.features import Patches

    s3, digits = lx.load_data("s3", rows=200, seed=3), lx.load_data("sp_digits", rows=40, seed=3)
    frame, labels = mixed_table(200)
    return {
        "s3": (s3.train.x, s3.train.y, s3.test.x[:100], linear_model, {}),
        "mixed": (frame, labels, frame.iloc[:100], mixed_model, {}),
        "digits": (digits.train.x, digits.train.y, digits.test.x[:20], linear_model, {"features": Patches(2)}),
    }


def cases() -> dict[str, Case]:
    """A fit for each method, data set, regime and number of steps."""
    import lexplain as lx

    found: dict[str, Case] = {}
    for name, rows in data().items():
        for method in sorted(lx.METHODS):
            for steps in (FEW, MANY):
                regimes = ["surrogate"] if method == "meed" else ["free"]
                if steps == FEW and name != "digits" and method in ("gains", "lex", "realx", "hold", "sufficient"):
                    regimes += ["fixed", "self", "surrogate"]
                for regime in dict.fromkeys(regimes):
                    found[f"{ALIASES.get(method, method)}/{name}/{regime}/{steps}"] = partial(one_fit, method, regime, steps, *rows)
    return found


def one_fit(method: str, regime: str, steps: int, x: Any, y: Any, shown: Any, model: Any, settings: Any) -> dict[str, np.ndarray]:
    """Scores, masks and predictions of one fit."""
    import lexplain as lx

    size = {} if method == "gains" else {"keep": 3}
    explainer = lx.Explainer(method, epochs=steps, batch_size=len(x), regime=regime, device="cpu", random_state=7, **size, **settings)
    explainer.fit(x, y if regime in ("free", "fixed") else None, model=model if regime in ("self", "surrogate") else None)
    explanation = explainer.explain(shown)
    return {
        "scores": explanation.scores.numpy(),
        "mask": explanation.mask.numpy(),
        "prediction": explanation.prediction.numpy(),
    }
