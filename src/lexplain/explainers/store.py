"""Explainers as files: one safetensors file with JSON in its metadata, without pickle."""

from __future__ import annotations

import copy
import inspect
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import check
from ..core import outputs_of
from ..core.contracts import Model, RawRows
from ..core.files import read_file, refuse_other_weights, write_atomically
from ..core.kinds import kind_of
from ..core.rows import plain, take_rows
from ..imputers import IMPUTERS, NoBackground, background_of, limit_background
from ..methods import METHODS, Method, Parts, Recipe
from ..models import BlackBox, Frozen, NetworkFunction, QueriedModel, Target, as_queried, frozen_predictor
from ..training import device_of
from .explainer import Explainer
from .settings import recipe_arguments, required_model, resolve_recipe

if TYPE_CHECKING:
    from lightning_fabric import Fabric

FORMAT = "lexplain.explainer/2"
RAW = "rows."  # prefix of the tensors of raw background rows
APART = ("method", "features", "selector", "predictor", "imputer", "options", "device", "random_state")  # saved in other ways
SAVED_PARAMETERS = [name for name in inspect.signature(Explainer).parameters if name not in APART]


def save(explainer: Explainer, path: Path, background: int | None) -> None:
    """Save a fitted explainer with at most this number of background rows. None: all that it holds."""
    check.fitted(explainer)
    method = explainer.method_
    if background is not None:
        if not isinstance(background, (int, np.integer)) or background < 0:
            raise ValueError(f"background must be a number of rows, 0 or more, got {background!r}. Leave it out to save all stored rows.")
        if _holds_rows(method) and type(method.imputer) not in IMPUTERS.values():
            raise ValueError(
                f"background={background} does not work with your own imputer {type(method.imputer).__name__}. "
                "Leave background out, or use an imputer of lexplain.imputers."
            )
        method = copy.copy(method)
        method._modules = dict(method._modules)  # a copy that shares every part but the imputer
        method.imputer = NoBackground() if background == 0 and _holds_rows(method) else limit_background(method.imputer, background)
    rows = {} if background == 0 or explainer.background_ is None else _packed(explainer, background)
    write_atomically(path, _stored(method) | rows, _record(explainer, method))


def _packed(explainer: Explainer, background: int | None) -> dict[str, Tensor]:
    """At most this many raw background rows as tensors; none if their kind does not store rows."""
    rows = take_rows(explainer.background_, np.arange(len(explainer.background_))[:background])
    return {f"{RAW}{name}": cells for name, cells in (explainer.features_.pack(rows) or {}).items()}


def _holds_rows(method: Method) -> bool:
    return background_of(method.imputer) is not None


def _record(explainer: Explainer, method: Method) -> dict[str, Any]:
    """Everything that tensors do not contain, as plain JSON values."""
    rows = background_of(method.imputer)
    imputer, options = type(method.imputer), {name: plain(value) for name, value in (explainer.options or {}).items()}
    ours = imputer in (NoBackground, IMPUTERS.get(imputer.__name__))
    serialisable = all(value is None or isinstance(value, (bool, int, float, str)) for value in options.values())
    own = [name for name in ("selector", "predictor") if getattr(explainer, name) is not None]
    classes, parameter, name = getattr(explainer, "classes_", None), explainer.method, explainer.name
    return {
        "format": FORMAT,
        "method": name if ours and not own and serialisable and (name == parameter or METHODS.get(name) is parameter) else None,
        "parameters": {
            **{name: plain(getattr(explainer, name)) for name in SAVED_PARAMETERS},
            "options": options or None if serialisable else None,
        },
        "random_state": plain(explainer.random_state) if isinstance(explainer.random_state, (int, np.integer)) else None,
        "features": {"kind": method.features.kind, "state": method.features.state(), "given": explainer.features is not None},
        "imputer": imputer.__name__,
        "imputer_settings": dict(getattr(method.imputer, "settings", {})) if ours else {},  # what its tensors do not contain
        "imputer_given": explainer.imputer is not None,
        "background_rows": 0 if rows is None else len(rows),  # training rows that the imputer takes values from
        "outputs": {"count": explainer.outputs_.count, "real": explainer.outputs_.real},
        "target": {"mean": explainer.target_mean_, "scale": explainer.target_scale_},
        "classes": None if classes is None else classes.tolist(),
        "named": hasattr(explainer, "feature_names_in_"),
        "regime": explainer.regime_,
        "path": None if explainer.path_ is None else explainer.path_.to_dict("list"),
        "findings": explainer.findings_,
        "says_probabilities": getattr(getattr(explainer.model_function_, "function", None), "probabilities", False),
    }


def load(path: Path, method: Method | None, model: Model, device: str | Fabric) -> Explainer:
    """Load a fitted explainer."""
    tensors, record = read_file(path, FORMAT)
    queried = None if model is None else as_queried(model)
    try:
        return _read(path, tensors, record, copy.deepcopy(method), queried, device)
    except (KeyError, TypeError, AttributeError) as broken:
        raise ValueError(f"{path} is damaged: its metadata is not valid ({broken!r}). Save the explainer again.") from broken


def _read(
    path: Path, tensors: dict[str, Tensor], record: dict[str, Any], method: Method | None, model: QueriedModel | None, device: str | Fabric
) -> Explainer:
    named = record["method"] is not None
    explainer = Explainer(
        record["method"] if named else "default", device=device, random_state=record["random_state"], **record["parameters"]
    )
    features = kind_of(record["features"]["kind"]).restore(record["features"]["state"])
    raw = {name.removeprefix(RAW): tensors.pop(name) for name in list(tensors) if name.startswith(RAW)}
    classes = None if record["classes"] is None else np.asarray(record["classes"])
    target = Target(torch.zeros(0), outputs_of(**record["outputs"]), classes, **record["target"])
    if model is not None and isinstance(model.function, NetworkFunction):
        model.function.probabilities = record["says_probabilities"]
    if method is None:
        if not named:
            raise ValueError(
                f"{path} was saved with your own networks, imputer or options. Use Explainer.load(path, method=...) with the same Method."
            )
        predictor, regime = None, record["regime"]
        if regime == "self" or (regime == "fixed" and not any(name.startswith("predictor.") for name in tensors)):
            absent = BlackBox(_absent, target.outputs, decode=features.decode)
            predictor = absent if model is None else frozen_predictor(model, target, features)
        recipe = resolve_recipe(record["method"], features)
        assert isinstance(recipe, Recipe)  # a name means one
        imputer, thorough = _imputer(record, tensors), explainer.budget == "thorough"
        parts = Parts(predictor=predictor, imputer=imputer, regime=regime, thorough=thorough)
        method = recipe(features, target.outputs, parts, **recipe_arguments(explainer, recipe))
    elif record["imputer"] in (type(method.imputer).__name__, NoBackground.__name__) and record["imputer"] in (*IMPUTERS, "NoBackground"):
        method.imputer = _imputer(record, tensors)  # the file may contain fewer rows
    with suppress(RuntimeError):  # of other shapes, which the next line names
        method.load_state_dict(tensors, strict=False)
    refuse_other_weights(path, tensors, _stored(method), "method")
    method.features = features
    if named:
        explainer.features = features if record["features"]["given"] else None
        explainer.imputer = copy.deepcopy(method.imputer) if record["imputer_given"] else None
    else:
        # A Method contains these settings.
        explainer.set_params(method=copy.deepcopy(method), **dict.fromkeys(("keep", "penalty", "continuity", "options")))
    rows = pd.DataFrame(columns=list(features.input_names)) if record["named"] else None
    explainer.path_ = None if record["path"] is None else pd.DataFrame(record["path"])
    explainer.findings_, explainer.fit_seconds_ = list(record["findings"]), None
    explainer.background_ = features.unpack(raw) if raw else None
    explainer._set_fitted(rows, method.to(device_of(device)), target, record["regime"], model)
    return explainer


def _imputer(record: dict[str, Any], tensors: dict[str, Tensor]) -> nn.Module:
    """An imputer of the library, from the content of a file."""
    if record["imputer"] == NoBackground.__name__:
        return NoBackground()
    kind = IMPUTERS[check.one_of(record["imputer"], list(IMPUTERS), "imputer")]
    settings = record["imputer_settings"]
    parts = {name: tensors[f"imputer.{name}"] for name in inspect.signature(kind).parameters if name not in settings}
    return kind(**parts, **settings)


def _absent(rows: RawRows) -> None:  # noqa: ARG001  called like the model
    """Raise because the model is missing."""
    required_model(None)


def _stored(method: Method) -> dict[str, Tensor]:
    """The tensors of all parts except the user's model and the parts that only training needs."""
    outside = ("plan.", "predictor.") if isinstance(method.predictor, (Frozen, BlackBox)) else ("plan.",)
    return {name: value for name, value in method.state_dict().items() if not name.startswith(outside)}
