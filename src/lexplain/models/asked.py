"""A model that is asked about rows: what users have as a function of raw rows, a network of encoded rows as one, and what both return."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from ..core.contracts import Features, Model, RawRows
from ..core.rows import as_array, rows_digest

if TYPE_CHECKING:
    from .target import Target

MAX_CACHED = 8  # answers kept, so that the same rows are asked for once
NUMBERS = 2**21  # that a network is given at a time
EncodedFunction = Callable[[Tensor], Tensor]  # encoded rows (n, ...) to outputs (n, c)


class CachedModel:
    """A function of rows that counts what it is asked and remembers its last answers."""

    def __init__(self, function: Callable[[RawRows], object]) -> None:
        self.function = function
        self.calls = self.rows = 0
        self._answers: dict[bytes, np.ndarray] = {}

    def __call__(self, rows: RawRows) -> np.ndarray:
        """The checked answer to these rows, as an array."""
        key = rows_digest(rows)
        if key not in self._answers:
            self.calls, self.rows = self.calls + 1, self.rows + len(rows)
            answer = as_array(self.function(rows))
            while len(self._answers) >= MAX_CACHED:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = model_output(answer, len(rows))
        return self._answers[key]


class EncodedModel:
    """A network of encoded rows as a function of raw ones: class probabilities, or values."""

    def __init__(self, encoded: nn.Module, features: Features, target: Target) -> None:
        self.encoded, self.features, self.target = encoded, features, target

    @torch.no_grad()
    def __call__(self, rows: RawRows) -> np.ndarray:
        """Ask the network."""
        output = self.encoded(self.features.encode(rows).x).double()
        real = self.target.outputs.real
        answer: np.ndarray = (output * self.target.scale + self.target.mean if real else output.softmax(1)).numpy()
        return answer


def as_function(model: Model) -> Callable[[RawRows], object]:
    """The function of raw rows that a scikit-learn estimator, a network or a callable is."""
    if isinstance(model, nn.Module):
        return NetworkFunction(model)
    if hasattr(model, "classes_") and not hasattr(model, "predict_proba") and not isinstance(model, type):  # labels would count as values
        raise TypeError(
            f"{type(model).__name__} has classes but no predict_proba; wrap it in CalibratedClassifierCV, or pass a function that returns "
            "(rows, classes) probabilities"
        )
    for name in ("predict_proba", "predict"):
        if hasattr(model, name):
            return partial(_ask_of_arrays, getattr(model, name))
    if isinstance(getattr(model, "__self__", None), BaseEstimator):  # clf.predict_proba
        return partial(_ask_of_arrays, model)
    if callable(model):
        return model  # type: ignore[no-any-return]  # a user's function is what it is
    raise TypeError(f"model is a {type(model).__name__}; a scikit-learn estimator, an nn.Module or a function of rows is needed")


def _ask_of_arrays(ask: Callable[[RawRows], object], rows: RawRows) -> object:
    """What a scikit-learn estimator says, which knows no tensors."""
    return ask(as_array(rows) if isinstance(rows, Tensor) else rows)


class NetworkFunction:
    """A network as a function of raw rows: class probabilities, or values."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.probabilities = False  # whether the network returns probabilities itself, seen when it is asked

    @torch.no_grad()
    def __call__(self, rows: RawRows) -> np.ndarray:
        """Ask the network in evaluation mode, and leave its mode as it was."""
        first = next(self.network.parameters(), torch.zeros(()))
        was = self.network.training
        self.network.eval()
        try:
            values = as_array(rows)
            step = max(1, NUMBERS // max(1, prod(values.shape[1:])))  # images come in parts, since layers hold many numbers a pixel
            parts = [torch.tensor(values[at : at + step], dtype=first.dtype, device=first.device) for at in range(0, len(values), step)]
            output = torch.cat([self.network(part) for part in parts])  # copies: frames are read-only
        finally:
            self.network.train(was)
        output = output.double().cpu()
        if output.ndim == 2 and output.shape[1] > 1:
            self.probabilities = bool((output >= 0).all() and ((output.sum(1) - 1).abs() < 1e-4).all())
            output = output if self.probabilities else output.softmax(1)
        answer: np.ndarray = output.numpy()
        return answer


def on_encoded(model: Model, features: Features) -> EncodedFunction:
    """A model of raw rows as a function of encoded ones."""
    ask = as_function(model)

    def says(x: Tensor) -> Tensor:
        answer = ask(features.decode(x.cpu()))
        values = answer if isinstance(answer, Tensor) else torch.as_tensor(np.asarray(answer))
        return values.reshape(len(x), -1).to(x.device)

    return says


def network_reads(model: Model, to_network: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Refuse a torch network of rows that no network could read."""
    if isinstance(model, torch.nn.Module):
        to_network(x[:1])


def model_output(output: np.ndarray, rows: int) -> np.ndarray:
    """Refuse a model whose output is neither (rows, classes) nor (rows,)."""
    good = output.ndim in (1, 2) and output.shape[0] == rows and (output.ndim == 1 or output.shape[1] >= 1)
    if not good:
        raise ValueError(
            f"the model returned shape {output.shape} for {rows} rows, but ({rows}, classes) probabilities or ({rows},) values are needed; "
            "pass predict_proba, or wrap the model in a function that returns one row a row"
        )
    if not np.issubdtype(output.dtype, np.number):
        raise ValueError(f"the model returned {output.dtype} values, but numbers are needed; pass predict_proba rather than predict")
    if not np.isfinite(output).all():
        raise ValueError("the model returned NaN or infinity for some rows; mend the model, or drop those rows")
    return output


def as_many_outputs(got: int, needed: int) -> None:
    """Refuse a model that answers with another number of classes than it did when it was asked first."""
    if got != needed:
        raise ValueError(
            f"the model returned {got} numbers a row, but {needed} are needed, one for each of the classes; pass predict_proba"
        )


def network_output(output: Tensor, rows: int, count: int, real: bool) -> None:
    """Refuse a network whose output does not fit the target."""
    shape = tuple(output.shape)
    fits = shape in ((rows,), (rows, 1)) if real else shape == (rows, count)
    if not fits:
        needed = f"({rows},) or ({rows}, 1), one value a row" if real else f"({rows}, {count}), one logit a class (two for two classes),"
        raise ValueError(f"the network returned shape {shape} for {rows} rows, but {needed} is needed")
