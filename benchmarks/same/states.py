"""Torch's and NumPy's random state after each public call: it shows a draw that moved, and a seed that leaked.

Where `random_state` is None, the seed itself is drawn from NumPy's state, so that the answer says how.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from . import Case
from .compare import _steps
from .given import digest, explainer, linear_model, network, numbers, s3, three_model
from .places import short

ROWS = 60


def state() -> dict[str, np.ndarray]:
    """The hashes of both states."""
    kind, keys, position, has_gauss, gauss = np.random.get_state()  # noqa: NPY002  it is the global one that is watched
    mine = keys.tobytes() + repr((kind, position, has_gauss, gauss)).encode()
    return {"torch": np.array(digest(torch.get_rng_state().numpy().tobytes())), "numpy": np.array(digest(mine))}


def after(calls: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """The states after each call, and what it returned where that is an array."""
    found: dict[str, Any] = {"before": state()}
    with short():
        for name, call in calls.items():
            value = call()
            found[name] = state() | ({"value": value} if isinstance(value, (torch.Tensor, np.ndarray)) else {})
    return numbers(found)


def cases() -> dict[str, Case]:
    """Calls in a row."""
    kinds: dict[str, dict[str, Any]] = {
        "labels": {},
        "model": {"model": three_model},
        "auto": {"keep": "auto"},
        "points": {"tolerance_points": 5.0},
        "l2x": {"method": "l2x"},
        "random state": {"random_state": None},
        "realx": {"method": "realx", "random_state": None},
    }
    found: dict[str, Case] = {f"states/Explainer, {name}": partial(_explainer, **settings) for name, settings in kinds.items()}
    more: dict[str, Case] = {"data": _data, "audit": _audit, "compare": _compare, "RightReasons": _right_reasons, "baselines": _baselines}
    return {**found, **{f"states/{name}": case for name, case in more.items()}}


def _explainer(model: Any = None, **settings: Any) -> dict[str, Any]:
    import lexplain as lx

    data = s3(ROWS)
    made = explainer(settings.pop("method", "gains"), ROWS, epochs=3, **settings)
    shown = data.test.x[:20]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.lex"
        return after(
            {
                "fit": lambda: made.fit(data.train.x, None if model is not None else data.train.y, model=model) and None,
                "explain": lambda: made.explain(shown).scores,
                "prediction": lambda: made.explain(shown).prediction,
                "predict_proba": lambda: made.predict_proba(shown),
                "card_": lambda: made.card_ and None,
                "save": lambda: made.save(path),
                "load": lambda: lx.Explainer.load(path, device="cpu").explain(shown).scores,
                "to_html": lambda: made.explain(shown).to_html() and None,
            }
        )


def _data() -> dict[str, Any]:
    import lexplain as lx

    names = ("s1", "xor", "orange_skin", "breast_cancer", "sp_digits", "colours", "decoy_digits", "iris_cancer")
    return after({name: partial(_rows, lx.load_data, name) for name in names})


def _rows(load: Any, name: str) -> np.ndarray:
    data = load(name, seed=2) if name in ("breast_cancer", "iris_cancer", "decoy_digits") else load(name, seed=2, rows=50)
    return np.array(digest(repr(np.asarray(data.train.x).tolist()) + repr(np.asarray(data.train.y).tolist())))


def _audit() -> dict[str, Any]:
    import lexplain as lx

    data = s3(ROWS)
    x, mask = data.train.x, np.random.default_rng(8).random((ROWS, 11)) < 0.4
    known: dict[str, Any] = {"truth": data.train.truth, "control_flow": data.control_flow, "device": "cpu"}
    return after(
        {
            "labels": lambda: lx.audit(mask, x, data.train.y, **known) and None,
            "model": lambda: lx.audit(mask, x, model=linear_model, **known) and None,
            "retraining": lambda: lx.audit(mask, x, model=linear_model, measures=["retraining"], **known) and None,
            "train": lambda: lx.audit(mask, x, model=three_model, train=(data.test.x[:50],), measures=[], **known) and None,
            "as_explanation": lambda: lx.as_explanation(mask, x).mask,
        }
    )


def _compare() -> dict[str, Any]:
    import lexplain as lx
    from lexplain.baselines import BASELINES

    explainers = {"l2x": lx.Explainer("l2x", epochs=2, batch_size=ROWS, device="cpu"), "random": BASELINES["random"]()}
    measures = ("eACC", "encoding", "TPR")
    return after({"compare": lambda: lx.compare(explainers, s3(ROWS), measures, seeds=1, rows=30, **_steps()) and None})


def _right_reasons() -> dict[str, Any]:
    import lexplain as lx

    data = s3(ROWS)
    x, y, marks = data.train.x, data.train.y, [1] + [0] * 10
    model = lx.RightReasons(network(11, 2), epochs=2, device="cpu", random_state=None)
    own = lx.RightReasons(epochs=2, device="cpu", random_state=3)
    return after(
        {
            "fit": lambda: model.fit(x, y, irrelevant_mask=marks) and None,
            "predict_proba": lambda: model.predict_proba(x[:10]),
            "explain": lambda: model.explain(x[:10]).scores,
            "own network": lambda: own.fit(x, y, irrelevant_mask=marks).predict_proba(x[:10]),
            "search": lambda: (
                lx.find_another_explanation(partial(network, 11, 2), x, y, trainer=own.__class__(network(1, 1), epochs=2)) and None
            ),
        }
    )


def _baselines() -> dict[str, Any]:
    from lexplain.baselines import BASELINES

    x = s3(ROWS).train.x
    small = {"lime": {"num_samples": 30}, "shap": {"samples": 10, "background": 3}, "fastshap": {"steps": 5}, "cxplain": {"steps": 5}}
    calls = {}
    for name in ("random", "ablation", "lime", "shap", "fastshap", "cxplain", "infidelity"):
        made = BASELINES[name](keep=3, random_state=None, **small.get(name, {}))
        model = None if name == "random" else linear_model
        calls[f"{name}, fit"] = partial(_fitted, made, x, model)
        calls[f"{name}, explain"] = partial(_explained, made, x[:10])
    return after(calls)


def _fitted(made: Any, x: Any, model: Any) -> None:
    made.fit(x, np.arange(len(x)) % 2 if model is None else None, model=model)


def _explained(made: Any, x: Any) -> Any:
    return made.explain(x).scores
