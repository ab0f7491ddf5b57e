"""What the groups share: rows, models, fits, and numbers of whatever a public call returns."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch

STEPS = 20  # optimiser steps of a fit
TIMES = re.compile(r"seconds|^ms|milliseconds|^machine$|^date$|^code$|^revision$|^commit$|^fresh$")  # no two runs agree on these


# ---- rows and models ----


def mixed_table(rows: int) -> Any:
    """A DataFrame of numbers, whole numbers, booleans, text and categories, with labels and what a model says of it."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 80, rows),
            "income": np.exp(draw.normal(10, 1, rows)),
            "owner": draw.random(rows) < 0.4,
            "city": draw.choice(["Bern", "Basel", "Chur"], rows),
            "grade": pd.Categorical(draw.choice(["low", "middle", "high"], rows), ["low", "middle", "high"], ordered=True),
            "noise": draw.normal(size=rows),
        }
    )
    return frame, (mixed_model(frame)[:, 1] > draw.random(rows)).astype(int)


def mixed_model(frame: Any) -> np.ndarray:
    """A function of the mixed table to class probabilities."""
    odds = (frame["age"].to_numpy(dtype=float) - 45) / 15 + 2 * (frame["city"] == "Chur").to_numpy() - frame["owner"].to_numpy(dtype=float)
    return np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))], 1)


def linear_model(rows: Any) -> np.ndarray:
    """A function of any array of rows to class probabilities."""
    odds = linear_value(rows)
    return np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))], 1)


def linear_value(rows: Any) -> np.ndarray:
    """A function of any array of rows to real values."""
    flat = np.asarray(rows, dtype=float).reshape(len(rows), -1)
    value: np.ndarray = flat @ np.linspace(-1, 1, flat.shape[1])
    return value


def three_model(rows: Any) -> np.ndarray:
    """A function of any array of rows to the probabilities of three classes: divided by their sum once more, some of them move."""
    flat = np.asarray(rows, dtype=float).reshape(len(rows), -1)
    odds = np.exp(flat @ np.sin(np.arange(flat.shape[1] * 3)).reshape(-1, 3))
    chances: np.ndarray = odds / odds.sum(1, keepdims=True)
    return chances


def three_labels(rows: Any) -> np.ndarray:
    """Labels of three classes."""
    labels: np.ndarray = three_model(rows).argmax(1)
    return labels


def network(inputs: int, outputs: int) -> torch.nn.Module:
    """A small network that is always the same."""
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(inputs, 8), torch.nn.ReLU(), torch.nn.Linear(8, outputs))


def s3(rows: int = 200) -> Any:
    """Rows whose truth is known."""
    import lexplain as lx

    return lx.load_data("s3", rows=rows, seed=3)


def explainer(method: str = "gains", rows: int = 200, **settings: Any) -> Any:
    """An explainer that learns for a few steps, each on all rows."""
    import lexplain as lx

    size = {"keep": 3} if not {"keep", "penalty", "tolerance_points"} & set(settings) else {}
    return lx.Explainer(method, **{"epochs": STEPS, "batch_size": rows, "device": "cpu", "random_state": 7, **size, **settings})


# ---- numbers of anything ----


def numbers(value: Any, name: str = "") -> dict[str, np.ndarray]:
    """Any result as named arrays; times are left out, and texts longer than a line are told by their SHA-256."""
    if isinstance(value, pd.Series):
        value = value.to_frame("values")
    if isinstance(value, pd.DataFrame):
        value = {"index": value.index.to_numpy(), **{str(column): value[column].to_numpy() for column in value}}
    if isinstance(value, Mapping):
        below = {str(key): each for key, each in value.items() if not TIMES.search(str(key))}
        return {path: array for key, each in below.items() for path, array in numbers(each, f"{name}/{key}" if name else key).items()}
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().float() if value.dtype == torch.bfloat16 else value.detach().cpu()
        return {name: value.numpy()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return {name: value}
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return {name: np.asarray(value)}
    text = value if isinstance(value, str) else repr(value.tolist() if isinstance(value, np.ndarray) else value)
    return {name: np.array(text if len(text) < 100 else digest(text))}


def digest(text: str | bytes) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def explained(explanation: Any) -> dict[str, Any]:
    """The numbers of an explanation."""
    found = {"scores": explanation.scores, "mask": explanation.mask, "names": explanation.names}
    for name in ("valid", "target_index", "base"):
        if getattr(explanation, name, None) is not None:
            found[name] = getattr(explanation, name)
    if explanation.predict is not None if hasattr(explanation, "predict") else explanation.compute_prediction is not None:
        found["prediction"] = explanation.prediction
    return found


def card_of(card: Any) -> dict[str, Any]:
    """The numbers and texts of a card, without lines of times."""
    frame = card.to_frame()
    frame = frame[~frame["metric"].str.contains("Milliseconds|Break-even")]
    lines = {row["metric"]: {name: row[name] for name in frame.columns if name != "metric"} for _, row in frame.iterrows()}
    tradeoff = getattr(card, "tradeoff", None)
    found = {"verdict": card.verdict, "encodes": card.encodes, "why": card.why, "p": card.p_value, "lines": lines, "order": list(lines)}
    return found if tradeoff is None else {**found, "tradeoff": tradeoff}
