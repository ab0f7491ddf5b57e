"""Short digests of objects: equal for equal settings, different if any setting differs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from inspect import isroutine
from types import CodeType
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from .contracts import Json


def digest(*things: Any) -> str:
    """Hexadecimal digest of the contents of some objects; the same in every process."""
    result = hashlib.blake2b(digest_size=12)
    for thing in things:
        result.update(_content(thing, ()))
    return result.hexdigest()


def short_digest(record: Json) -> str:
    """Eight hexadecimal digits of plain JSON values, for a file name; the order of keys does not matter."""
    return hashlib.blake2b(json.dumps(record, sort_keys=True).encode(), digest_size=4).hexdigest()


def _content(thing: object, within: tuple[int, ...]) -> bytes:
    """The content of an object as bytes; an object that contains itself is expanded once."""
    if id(thing) in within:
        return b"itself"
    head = f"{type(thing).__module__}.{type(thing).__qualname__}:".encode()
    if isinstance(thing, Tensor):
        thing = thing.detach().cpu().numpy()
    if isinstance(thing, np.ndarray):
        content = thing.tobytes() if thing.dtype != object else repr(thing.tolist()).encode()
        return head + repr((thing.shape, str(thing.dtype))).encode() + hashlib.blake2b(content).digest()
    if isinstance(thing, (pd.DataFrame, pd.Series)):
        table = pd.DataFrame(thing)
        rows = pd.util.hash_pandas_object(table, index=False).to_numpy().tobytes()
        return head + repr(list(table.dtypes.items())).encode() + hashlib.blake2b(rows).digest()
    parts = _parts(thing)
    if parts is None:
        return head + repr(thing).encode()
    inner = (*within, id(thing))
    each = b"".join(hashlib.blake2b(_content(name, inner) + _content(part, inner)).digest() for name, part in parts.items())
    return head + hashlib.blake2b(each).digest()


def _code(code: CodeType) -> list[object]:
    """Bytecode, names and constants of a function and of its inner functions, whose repr would contain addresses."""
    constants = [
        _code(each) if isinstance(each, CodeType) else sorted(map(repr, each)) if isinstance(each, frozenset) else repr(each)
        for each in code.co_consts
    ]
    return [code.co_code.hex(), list(code.co_names), constants]


def _parts(thing: object) -> Mapping[str, object] | Mapping[int, object] | None:
    """The parts of an object by name; None: its repr is complete."""
    if isinstance(thing, Mapping):
        return dict(thing)
    if isinstance(thing, (list, tuple)):
        return dict(enumerate(thing))
    if isroutine(thing) or isinstance(thing, type):
        code = getattr(thing, "__code__", None)  # functions have code; classes and builtins only a name
        identity = {
            "name": getattr(thing, "__qualname__", ""),
            "module": getattr(thing, "__module__", ""),
            "of": getattr(thing, "__self__", None),
        }
        held = [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]
        return {**identity, "code": None if code is None else _code(code), "defaults": getattr(thing, "__defaults__", None), "holds": held}
    if isinstance(thing, partial):
        return {"function": thing.func, "arguments": thing.args, "named": thing.keywords}
    if isinstance(thing, nn.Module):
        own = {name: part for name, part in vars(thing).items() if not name.startswith("_") and name != "training"}
        return {**own, **dict(thing.named_children()), **thing.state_dict()}
    if isinstance(thing, BaseEstimator):
        params: dict[str, Any] = thing.get_params(deep=False)
        return params
    if is_dataclass(thing):
        return {field.name: getattr(thing, field.name) for field in fields(thing)}
    return vars(thing) if hasattr(thing, "__dict__") else None
