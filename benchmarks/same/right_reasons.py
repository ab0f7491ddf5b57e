"""Networks that must not use marked inputs, and models that are right for different reasons."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import Case
from .given import explained, linear_value, mixed_table, network, numbers

TRAINING: dict[str, Any] = {"epochs": 3, "batch_size": 64, "device": "cpu", "random_state": 5}


def cases() -> dict[str, Case]:
    """Fits with and without marks, of arrays, tables and real values; and two searches."""
    return {
        "right_reasons/colours/plain": partial(_colours, None, "auto"),
        "right_reasons/colours/marked": partial(_colours, "corners", "auto"),
        "right_reasons/colours/fixed strength": partial(_colours, "corners", 10.0),
        "right_reasons/table": _table,
        "right_reasons/real": _real,
        "right_reasons/search": partial(_search, False),
        "right_reasons/search of a table": partial(_search, True),
    }


def _colours_data() -> Any:
    import lexplain as lx

    return lx.load_data("colours", rows=300, seed=1)


def _said(model: Any, rows: Any, real: bool = False) -> dict[str, Any]:
    found = {"strength": model.strength_, "still used": model.still_used_, "gradients": model.input_gradients(rows)}
    found["says"] = model.predict(rows) if real else model.predict_proba(rows)
    return numbers({**found, **explained(model.explain(rows))})


def _colours(marked: str | None, strength: Any) -> dict[str, Any]:
    import lexplain as lx

    data = _colours_data()
    inputs = data.train.x.shape[1]
    mask = None if marked is None else np.arange(inputs) % 25 < 5
    model = lx.RightReasons(network(inputs, 2), strength=strength, **TRAINING).fit(data.train.x, data.train.y, irrelevant_mask=mask)
    return {**_said(model, data.test.x[:40]), "score": np.asarray(model.score(data.test.x[:100], data.test.y[:100]))}


def _table() -> dict[str, Any]:
    import lexplain as lx

    frame, labels = mixed_table(120)
    model = lx.RightReasons(**TRAINING).fit(frame, labels, irrelevant_mask=[0, 0, 0, 1, 0, 1])
    return _said(model, frame.iloc[:30])


def _real() -> dict[str, Any]:
    import lexplain as lx

    x = np.random.default_rng(2).normal(size=(120, 5)).astype(np.float32)
    mask = np.tile([1.0, 0, 0, 0, 0], (120, 1))
    mask[60:] = np.nan  # rows without annotation
    model = lx.RightReasons(network(5, 1), **TRAINING).fit(x, linear_value(x), irrelevant_mask=mask, always_include=[0, 1])
    return _said(model, x[:30], real=True)


def _search(table: bool) -> dict[str, Any]:
    import lexplain as lx

    data = _colours_data()
    inputs = data.train.x.shape[1]
    rows = data.frame(data.train) if table else data.train.x
    trainer = lx.RightReasons(network(1, 1), **TRAINING)  # its network is not used
    build = partial(network, inputs, 2)
    found = lx.find_another_explanation(build, rows, data.train.y, trainer=trainer, random_state=4, **_limits())
    told = {"table": found.table(), "disagreement": found.disagreement, "cosines": found.cosines, "diversity": found.diversity}
    told["models"] = {place: model.predict_proba(data.test.x[:20]) for place, model in enumerate(found.models)}
    told["masks"] = dict(enumerate(found.masks))
    return numbers(told)


def _limits() -> dict[str, Any]:
    """Two models at most, and any fall, under the names that the arguments have."""
    from inspect import signature

    import lexplain as lx

    names = signature(lx.find_another_explanation).parameters
    return {"most": 2, "fall": 1.0} if "most" in names else {"max_models": 2, "max_drop": 1.0}
