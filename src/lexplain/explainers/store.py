"""Explainers as files: one safetensors file with the rest as JSON in its metadata, no pickle."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import check, features
from ..imputers import IMPUTERS
from ..methods import METHODS, Method, default_for
from ..predictors import BlackBox, Frozen, NetworkFunction, Outputs, Remembering, Target, as_function, frozen_predictor
from ..training import read_file, write_atomically
from .explainer import Explainer

KIND = "lexplain.explainer/1"
PLAIN = (
    "keep",
    "penalty",
    "regime",
    "epochs",
    "batch_size",
    "max_rows",
    "learning_rate",
    "tolerance",
    "tolerance_points",
    "continuity",
    "budget",
)


def save(explainer: Explainer, path: Path) -> None:
    """Write a fitted explainer."""
    check.fitted(explainer)
    method: Method = explainer.method_
    own = [name for name in ("selector", "predictor") if getattr(explainer, name) is not None]
    imputer = type(method.imputer)
    ours = imputer is IMPUTERS.get(imputer.__name__)
    options = {name: _plain(value) for name, value in (explainer.options or {}).items()}
    told = all(value is None or isinstance(value, (bool, int, float, str)) for value in options.values())
    record = {
        "format": KIND,
        "method": explainer.method if isinstance(explainer.method, str) and ours and not own and told else None,
        "parameters": {**{name: _plain(getattr(explainer, name)) for name in PLAIN}, "options": options or None if told else None},
        "random_state": _plain(explainer.random_state) if isinstance(explainer.random_state, (int, np.integer)) else None,
        "features": {
            "kind": type(explainer.features_).__name__,
            "groups": _plain_groups(explainer.features_),
            "state": explainer.features_.state(),
        },
        "imputer": imputer.__name__,
        "imputer_settings": dict(getattr(method.imputer, "settings", {})) if ours else {},  # what its tensors do not tell
        "imputer_given": explainer.imputer is not None,
        "outputs": {"count": explainer.outputs_.count, "real": explainer.outputs_.real},
        "target": {"mean": explainer.target_mean_, "scale": explainer.target_scale_},
        "classes": explainer.classes_.tolist() if hasattr(explainer, "classes_") else None,
        "named": hasattr(explainer, "feature_names_in_"),
        "regime": explainer.regime_,
        "path": None if explainer.path_ is None else explainer.path_.to_dict("list"),
        "findings": explainer.findings_,
        "says_probabilities": getattr(getattr(explainer.ask_, "function", None), "probabilities", False),
    }
    write_atomically(path, _stored(method), record)


def load(path: Path, method: Method | None, model: Any, device: Any) -> Explainer:
    """Read a fitted explainer back."""
    tensors, record = read_file(path, KIND)
    ask = None if model is None else Remembering(as_function(model))
    try:
        return _read(path, tensors, record, copy.deepcopy(method), ask, device)
    except (KeyError, TypeError, AttributeError) as broken:
        raise ValueError(f"{path} is damaged: its record does not fit ({broken!r}); save the explainer anew") from broken


def _read(
    path: Path, tensors: dict[str, Tensor], record: dict[str, Any], method: Method | None, ask: Remembering | None, device: Any
) -> Explainer:
    named = record["method"] is not None
    told = {"device": device, "random_state": record["random_state"], **record["parameters"]}
    explainer = Explainer(record["method"] if named else "default", **told)
    feature_kind = getattr(features, check.one_of(record["features"]["kind"], ["Columns", "Groups", "Patches"], "kind of features"))
    groups, patches = record["features"]["groups"], feature_kind is features.Patches
    blank = feature_kind(groups=groups) if groups is not None else feature_kind()
    fitted = blank.restore(record["features"]["state"])
    outputs = Outputs(**record["outputs"])
    target = Target(torch.zeros(0), outputs, None if record["classes"] is None else np.asarray(record["classes"]), **record["target"])
    if ask is not None and isinstance(ask.function, NetworkFunction):
        ask.function.probabilities = record["says_probabilities"]
    if method is None:
        if not named:
            raise ValueError(
                f"{path} holds networks, an imputer or options of your own; rebuild them and pass Explainer.load(path, method=...)"
            )
        method = _rebuilt(explainer, record, tensors, fitted, target, ask)
    _fill(method, tensors, path)
    if named:
        explainer.features = (
            blank if groups is not None else features.Patches(fitted.size, fitted.layout, fitted.each_channel) if patches else None
        )
        explainer.imputer = copy.deepcopy(method.imputer) if record["imputer_given"] else None
    else:
        # A Method says all this itself.
        explainer.set_params(method=copy.deepcopy(method), **dict.fromkeys(("keep", "penalty", "continuity", "options")))
    names = list(fitted.columns)
    rows: Any = pd.DataFrame(columns=names) if record["named"] else None
    explainer.path_ = None if record["path"] is None else pd.DataFrame(record["path"])
    explainer.findings_ = list(record["findings"])
    explainer._remember(rows, method.to(explainer._fabric().device), fitted, target, record["regime"], ask)
    return explainer


def _rebuilt(explainer: Explainer, record: dict[str, Any], tensors: dict[str, Tensor], fitted: Any, target: Target, ask: Any) -> Method:
    kind = IMPUTERS[check.one_of(record["imputer"], list(IMPUTERS), "imputer")]
    settings = record.get("imputer_settings", {})
    parts = {name: tensors[f"imputer.{name}"] for name in inspect.signature(kind).parameters if name not in settings}
    imputer = kind(**parts, **settings)
    predictor: nn.Module | None = None
    if record["regime"] == "self" or (record["regime"] == "fixed" and not any(name.startswith("predictor.") for name in tensors)):
        predictor = BlackBox(_absent, target.outputs, decode=fitted.decode) if ask is None else frozen_predictor(ask, target, fitted)
    recipe: Callable[..., Method] = METHODS[
        default_for(fitted) if record["method"] == "default" else check.one_of(record["method"], list(METHODS), "method")
    ]
    return recipe(fitted, target.outputs, predictor=predictor, imputer=imputer, **explainer._told(recipe))


def _absent(rows: Any) -> None:  # noqa: ARG001  it stands where a model stood
    """Refuse to predict, and say how to bring the model back."""
    check.model_there(None)


def _stored(method: Method) -> dict[str, Tensor]:
    """The tensors of all parts but a model that is not ours to keep."""
    outside = isinstance(method.predictor, (Frozen, BlackBox))
    return {name: value for name, value in method.state_dict().items() if not (outside and name.startswith(("predictor.", "baseline.")))}


def _fill(method: Method, tensors: dict[str, Tensor], path: Path) -> None:
    needed = _stored(method)
    shapes = {name: tuple(value.shape) for name, value in needed.items()}
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    if shapes != found:
        odd = sorted(set(shapes.items()) ^ set(found.items()))[:4]
        raise ValueError(f"the weights in {path} do not fit the method: they differ in {odd}; pass the method that was saved")
    method.load_state_dict(tensors, strict=False)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _plain_groups(kind: Any) -> Any:
    known = {f.name for f in fields(kind)}
    return {name: [_plain(member) for member in members] for name, members in (kind.groups or {}).items()} if "groups" in known else None
