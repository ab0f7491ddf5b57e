"""The card that a fit carries, the path that it chose its price from, and its findings."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import Case
from .given import (
    card_of,
    explained,
    explainer,
    linear_model,
    linear_value,
    mixed_model,
    mixed_table,
    numbers,
    s3,
    three_labels,
    three_model,
)
from .places import short

ROWS = 200


def cases() -> dict[str, Case]:
    """Fits from labels, soft targets, models of two and three classes and real values, of tables and images; and two that choose."""
    kinds = {
        "gains labels": {},
        "gains soft labels of three": {"labels": three_model},
        "gains labels of three": {"labels": three_labels},
        "gains model of two": {"model": linear_model},
        "gains model of three": {"model": three_model},
        "gains real": {"labels": linear_value},
        "gains real model": {"model": linear_value},
        "lex model of three": {"method": "lex", "model": three_model},
        "l2x labels": {"method": "l2x"},
        "meed model of three": {"method": "meed", "model": three_model, "regime": "surrogate"},
        "auto": {"keep": "auto"},
        "auto model of three": {"keep": "auto", "model": three_model},
        "auto in points": {"tolerance_points": 5.0},
        "auto in points, model of three": {"tolerance_points": 5.0, "model": three_model},
    }
    found: dict[str, Case] = {f"cards/{name}": partial(_table, **settings) for name, settings in kinds.items()}
    return {**found, "cards/mixed": _mixed, "cards/digits": _digits}


def _card(fitted: Any, shown: Any) -> dict[str, Any]:
    found = {"card": card_of(fitted.card_), "findings": fitted.findings_, "shown": explained(fitted.explain(shown))}
    return numbers(found if fitted.path_ is None else {**found, "path": fitted.path_})


def _table(method: str = "gains", labels: Any = None, model: Any = None, **settings: Any) -> dict[str, Any]:
    data = s3(ROWS)
    y = data.train.y if labels is None else labels(data.train.x)
    with short():
        fitted = explainer(method, ROWS, **settings).fit(data.train.x, None if model is not None else y, model=model)
        return _card(fitted, data.test.x[:30])


def _mixed() -> dict[str, Any]:
    frame, _ = mixed_table(ROWS)
    with short():
        return _card(explainer("realx", ROWS).fit(frame, model=mixed_model), frame.iloc[:30])


def _digits() -> dict[str, Any]:
    import lexplain as lx
    from lexplain.features import Patches

    data = lx.load_data("sp_digits", rows=60, seed=3)
    with short():
        fitted = explainer("sufficient", 60, features=Patches(2), epochs=5).fit(data.train.x, data.train.y)
        return _card(fitted, data.test.x[:10])
