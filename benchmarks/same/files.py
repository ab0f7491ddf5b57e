"""What files hold: the tensors and the JSON record of saved explainers, checkpoints and RightReasons, and what is read back from them."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from . import Case
from .given import explained, explainer, linear_model, linear_value, mixed_table, network, numbers, s3
from .places import short

ROWS = 100


def cases() -> dict[str, Case]:
    """Each file."""
    return {
        "files/columns": _columns,
        "files/columns without background": partial(_columns, background=0),
        "files/choosing": partial(_columns, keep="auto"),
        "files/real": partial(_columns, real=True),
        "files/model": _model,
        "files/mixed with groups": _mixed,
        "files/patches": _patches,
        "files/right reasons": _right_reasons,
        "files/checkpoint": _checkpoint,
        "files/checkpoint of right reasons": _checkpoint_of_right_reasons,
    }


def content(path: Path) -> dict[str, Any]:
    """The tensors, the record and the mode of a file."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as stored:
        record = json.loads((stored.metadata() or {})["lexplain"])
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118  a safetensors handle is no dict
    order = {"order": list(record)}
    return {"tensors": tensors, "record": {**order, **_timeless(record)}, "mode": oct(path.stat().st_mode)}


def _timeless(record: Any) -> Any:
    """A record without the times of a training."""
    if isinstance(record, dict):
        return {key: _timeless(value) for key, value in record.items() if "seconds" not in key}
    return [_timeless(value) for value in record] if isinstance(record, list) else record


def _saved(fitted: Any, shown: Any, model: Any = None, background: int | None = None) -> dict[str, Any]:
    import lexplain as lx

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.lex"
        fitted.save(path, background=background)
        back = lx.Explainer.load(path, model=model, device="cpu").explain(shown)
        again = explained(back) if background is None else {"scores": back.scores, "mask": back.mask}
        return numbers({**content(path), "read": again})


def _columns(keep: Any = 3, real: bool = False, background: int | None = None) -> dict[str, Any]:
    data = s3(ROWS)
    y = linear_value(data.train.x) if real else data.train.y
    with short():
        fitted = explainer("gains", ROWS, keep=keep, epochs=5).fit(data.train.x, y)
    return _saved(fitted, data.test.x[:10], background=background)


def _model() -> dict[str, Any]:
    data = s3(ROWS)
    fitted = explainer("lex", ROWS, regime="self", imputer="GaussianMixture", epochs=5).fit(data.train.x, model=linear_model)
    return _saved(fitted, data.test.x[:10], model=linear_model)


def _mixed() -> dict[str, Any]:
    import lexplain as lx

    frame, labels = mixed_table(ROWS)
    groups = lx.Groups({"person": ["age", "income", "owner"], "place": ["city"], "rest": ["grade", "noise"]})
    return _saved(explainer("realx", ROWS, keep=1, features=groups, epochs=5).fit(frame, labels), frame.iloc[:10])


def _patches() -> dict[str, Any]:
    import lexplain as lx

    data = lx.load_data("sp_digits", rows=40, seed=3)
    fitted = explainer("sufficient", 40, features=lx.Patches(2), epochs=2).fit(data.train.x, data.train.y)
    return _saved(fitted, data.test.x[:6])


def _right_reasons() -> dict[str, Any]:
    import lexplain as lx

    frame, labels = mixed_table(ROWS)
    model = lx.RightReasons(epochs=2, device="cpu").fit(frame, labels, irrelevant_mask=[0, 0, 0, 1, 0, 1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rr"
        model.save(path)
        back = lx.RightReasons.load(path, device="cpu").predict_proba(frame.iloc[:10])
        return numbers({**content(path), "read": back})


def _checkpoint() -> dict[str, Any]:
    data = s3(ROWS)
    with tempfile.TemporaryDirectory() as folder, short():
        path = Path(folder) / "training.ckpt"
        explainer("realx", ROWS, epochs=5).fit(data.train.x, data.train.y, checkpoint=path)
        found = content(path)
        again = explainer("realx", ROWS, epochs=5).fit(data.train.x, data.train.y, checkpoint=path)
        return numbers({**found, "went on": explained(again.explain(data.test.x[:10]))})


def _checkpoint_of_right_reasons() -> dict[str, Any]:
    import lexplain as lx

    data = s3(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "training.ckpt"
        model = lx.RightReasons(network(11, 2), epochs=2, device="cpu")
        model.fit(data.train.x, data.train.y, irrelevant_mask=[1] + [0] * 10, checkpoint=path)
        return numbers(content(path))
