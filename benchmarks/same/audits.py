"""Audits of halves and of other rows, of every family but speed, of other tools' scores, and of rows with padding."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import Case
from .given import card_of, explained, explainer, linear_value, network, numbers, s3, three_labels, three_model
from .places import first_of, short

ROWS = 90
TIMED = ("speed", "break-even")  # families that no two runs agree on


def cases() -> dict[str, Case]:
    """Each audit."""
    return {
        "audits/halves, labels of three": partial(_plain, three_labels),
        "audits/halves, soft labels of three": partial(_plain, three_model),
        "audits/halves, real": partial(_plain, linear_value),
        "audits/halves, truth": partial(_plain, None),
        "audits/halves, model of three": partial(_of_model, three_model, other=False),
        "audits/other rows, model of three": partial(_of_model, three_model, other=True),
        "audits/other rows, not explained": partial(_of_model, three_model, other=True, masks=False),
        "audits/other rows, real model": partial(_of_model, linear_value, other=True),
        "audits/every family": _every_family,
        "audits/random model": _random_model,
        "audits/scores of every class": partial(_of_scores, None),
        "audits/scores of one class": partial(_of_scores, 1),
        "audits/patches": _patches,
        "audits/padded rows": _padded,
        "audits/padded rows, model": partial(_padded, model=True),
        "audits/padded rows, fitted": _padded_fit,
    }


def _audit(*what: Any, **settings: Any) -> dict[str, Any]:
    import lexplain as lx

    with short():
        return numbers(card_of(lx.audit(*what, device="cpu", random_state=6, **settings)))


def _masks(rows: int, features: int = 11, kept: float = 0.4) -> np.ndarray:
    return np.random.default_rng(8).random((rows, features)) < kept


def _plain(labels: Any) -> dict[str, Any]:
    data = s3(ROWS)
    x = data.train.x
    if labels is None:
        return _audit(_masks(ROWS), x, data.train.y, truth=data.train.truth, control_flow=data.control_flow)
    return _audit(_masks(ROWS), x, labels(x))


def _of_model(model: Any, *, other: bool, masks: bool = True) -> dict[str, Any]:
    data = s3(ROWS)
    x, shown = data.train.x, data.test.x[:60]
    train = {"train": (x, None, _masks(ROWS)) if masks else (x,)} if other else {}
    return _audit(_masks(60), shown, model=model, **train)


def _every_family() -> dict[str, Any]:
    """Everything that can be measured where there are a model, an explainer to fit again, the truth and other rows."""
    data, measures = s3(ROWS), first_of("lexplain.auditing:MEASURES")
    x, shown = data.train.x, data.test.x[:40]
    asked = [key for key, measure in measures.items() if measure.family not in TIMED and "random model" not in measure.needs]
    asked = [key for key in asked if "random labels" not in measures[key].needs]
    fitted = explainer("gains", ROWS, epochs=5).fit(x, model=three_model)
    known = {"truth": data.test.truth[:40], "control_flow": data.control_flow, "explainer": fitted, "measures": asked}
    by_model = _audit(fitted.explain(shown), shown, model=three_model, train=(x, None, fitted.explain(x)), **known)
    fitted = explainer("l2x", ROWS, epochs=5).fit(x, data.train.y)
    known = {"explainer": fitted, "measures": ["mask_cosine_random_labels", "mask_stability"]}
    by_labels = _audit(fitted.explain(shown), shown, data.test.y[:40], train=(x, data.train.y, fitted.explain(x)), **known)
    return {**{f"model/{name}": value for name, value in by_model.items()}, **{f"labels/{name}": v for name, v in by_labels.items()}}


def _random_model() -> dict[str, Any]:
    """How much of the masks is left when the network that is explained has random weights."""
    x, model = s3(ROWS).train.x, network(11, 3)
    fitted = explainer("lex", ROWS, epochs=3).fit(x, model=model)
    return _audit(fitted.explain(x), x, model=model, explainer=fitted, measures=["mask_cosine_random_model"])


def _of_scores(target: int | None) -> dict[str, Any]:
    """Scores as shap returns them: (rows, features, classes)."""
    x = s3(ROWS).train.x[:60]
    scores = np.random.default_rng(9).normal(size=(60, x.shape[1], 3))
    return _audit(scores, x, model=three_model, keep=3, target=target)


def _patches() -> dict[str, Any]:
    import lexplain as lx
    from lexplain.features import Patches

    data = lx.load_data("sp_digits", rows=60, seed=3)
    fitted = explainer("sufficient", 60, features=Patches(2), epochs=3).fit(data.train.x, data.train.y)
    shown, train = data.test.x[:50], (data.train.x, data.train.y, fitted.explain(data.train.x))
    return _audit(fitted.explain(shown), shown, data.test.y[:50], train=train, truth=data.test.truth[:50])


def _padded(*, model: bool = False) -> dict[str, Any]:
    """Rows of different length, of a kind that the library does not have."""
    import torch

    from lexplain.core import Explanation

    from .phrases import MADE, known, phrases, says

    with known() as phrase_kind:
        rows, labels = phrases(60, seed=0)
        features = phrase_kind().fit(rows)
        valid = features.encode(rows)[1]
        scores = torch.from_numpy(np.random.default_rng(1).random(valid.shape).astype(np.float32)) * valid
        mask = (scores > 0.5) & valid
        made = Explanation(scores, mask, features.row_names(rows), data=rows, method=MADE, features=features, valid=valid)
        return _audit(made, rows, None if model else labels, says if model else None)


def _padded_fit() -> dict[str, Any]:
    """A fit to such rows, its explanation, and an audit of it."""
    from .phrases import known, phrases

    with known() as phrase_kind:
        rows, labels = phrases(60, seed=0)
        fitted = explainer("lex", 60, keep=1, features=phrase_kind(), imputer=0.0, epochs=3).fit(rows, labels)
        made = fitted.explain(rows)
        return {**numbers({"explained": explained(made)}), **_audit(made, rows, labels)}
