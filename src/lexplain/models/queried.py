"""Models that are queried: users' models and networks as functions of raw rows, and checks of their outputs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from .. import check
from ..core.contracts import Features, Model, RawRows
from ..core.rows import as_array, rows_digest, take_rows

if TYPE_CHECKING:
    from .target import Target

MAX_CACHED = 8  # outputs of a model that are kept, by default
NUMBERS = 2**21  # maximum numbers per call of a network
EncodedFunction = Callable[[Tensor], Tensor]  # encoded rows (n, ...) to outputs (n, c)


class QueriedModel:
    """A function of raw rows that checks its outputs, counts its queries, and keeps its last outputs.

    If the same rows come again, the function is not called.

    Args:
        function: Function from raw rows to class probabilities or values, such as one of `as_function`.
        max_rows: Maximum number of rows per call of the function. None: all rows at once.
        cached: Number of outputs to keep. 0: none.

    Attributes:
        calls: Number of calls of the function.
        rows: Number of queried rows.
        seconds: Seconds spent in the function.
    """

    def __init__(self, function: Callable[[RawRows], object], *, max_rows: int | None = None, cached: int = MAX_CACHED) -> None:
        check.counts(max_rows=max_rows)
        self.function, self.max_rows, self.cached = function, max_rows, cached
        self.calls = self.rows = 0
        self.seconds = 0.0
        self._shape: tuple[int, ...] | None = None  # of the first output, per row
        self._outputs: dict[bytes, np.ndarray] = {}

    def __call__(self, rows: RawRows, *, again: bool = True) -> np.ndarray:
        """Return the checked output (n, c) or (n,) for these rows.

        Args:
            rows: Raw rows.
            again: Whether the same rows may come again. If not, they are neither hashed nor kept.
        """
        key = rows_digest(rows) if again and self.cached else None
        if key is not None and key in self._outputs:
            return self._outputs[key]
        count = len(rows)
        step = self.max_rows or count
        if count <= step:
            output = self._query(rows)
        else:
            output = np.concatenate([self._query(take_rows(rows, np.arange(i, min(i + step, count)))) for i in range(0, count, step)])
        if key is not None:
            while len(self._outputs) >= self.cached:
                del self._outputs[next(iter(self._outputs))]
            self._outputs[key] = output
        return output

    def __getstate__(self) -> dict[str, object]:
        """The state to pickle and copy, without kept outputs."""
        return vars(self) | {"_outputs": {}}

    def _query(self, rows: RawRows) -> np.ndarray:
        """The checked output of one call of the function, as a copy: a function may reuse its array."""
        self.calls, self.rows = self.calls + 1, self.rows + len(rows)
        began = time.perf_counter()
        try:
            output = np.array(as_array(self.function(rows)))
        finally:
            self.seconds += time.perf_counter() - began
        shape = model_output(output, len(rows)).shape[1:]
        self._shape = shape if self._shape is None else self._shape
        as_many_outputs(prod(shape), prod(self._shape))
        return output.reshape(len(rows), *self._shape)


class EncodedModel:
    """A network of encoded rows as a function of raw rows, which returns class probabilities or values."""

    def __init__(self, encoded: nn.Module, features: Features, target: Target) -> None:
        self.encoded, self.features, self.target = encoded, features, target

    @torch.no_grad()
    def __call__(self, rows: RawRows) -> np.ndarray:
        """Outputs for raw rows."""
        output = self.encoded(self.features.encode(rows).x).double()
        real = self.target.outputs.real
        values: np.ndarray = (output * self.target.scale + self.target.mean if real else output.softmax(1)).numpy()
        return values


def as_function(model: Model) -> Callable[[RawRows], object]:
    """A scikit-learn estimator, a network or a callable as a function of raw rows."""
    if isinstance(model, nn.Module):
        return NetworkFunction(model)
    if hasattr(model, "classes_") and not hasattr(model, "predict_proba") and not isinstance(model, type):  # labels would be read as values
        raise TypeError(
            f"{type(model).__name__} has classes but no predict_proba. Wrap it in CalibratedClassifierCV, or pass a function that returns "
            "(rows, classes) probabilities."
        )
    for name in ("predict_proba", "predict"):
        if hasattr(model, name):
            return partial(_query_arrays, getattr(model, name))
    if isinstance(getattr(model, "__self__", None), BaseEstimator):  # clf.predict_proba
        return partial(_query_arrays, model)
    if callable(model):
        return model  # type: ignore[no-any-return]  # its type is not known
    raise TypeError(f"model must be a scikit-learn estimator, an nn.Module or a function of rows, got {type(model).__name__}.")


def as_queried(model: Model, *, max_rows: int | None = None) -> QueriedModel:
    """A model as a QueriedModel of at most `max_rows` rows per call; a QueriedModel is returned unchanged."""
    return model if isinstance(model, QueriedModel) else QueriedModel(as_function(model), max_rows=max_rows)


def classes_of(model: QueriedModel) -> np.ndarray | None:
    """The class labels of an estimator or a network, in the order of its outputs. None: they are unknown."""
    source: object = model.function
    if isinstance(source, NetworkFunction):
        source = source.network
    elif isinstance(source, partial) and source.func is _query_arrays:
        source = source.args[0]
    classes = getattr(getattr(source, "__self__", source), "classes_", None)  # of a bound method such as clf.predict_proba
    return None if classes is None else np.asarray(classes)


def _query_arrays(query: Callable[[RawRows], object], rows: RawRows) -> object:
    """The output of a scikit-learn estimator, which cannot read tensors."""
    return query(as_array(rows) if isinstance(rows, Tensor) else rows)


class NetworkFunction:
    """A network as a function of raw rows, which returns class probabilities or values."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.probabilities = False  # whether the network returns probabilities rather than logits, set by each call

    @torch.no_grad()
    def __call__(self, rows: RawRows) -> np.ndarray:
        """Outputs of the network in evaluation mode; its mode is restored."""
        first = next(self.network.parameters(), torch.zeros(()))
        was = self.network.training
        self.network.eval()
        try:
            values = as_array(rows)
            step = max(1, NUMBERS // max(1, prod(values.shape[1:])))  # images in chunks, since layers hold many numbers per pixel
            parts = [torch.tensor(values[i : i + step], dtype=first.dtype, device=first.device) for i in range(0, len(values), step)]
            output = torch.cat([self.network(part) for part in parts])  # copies: frames are read-only
        finally:
            self.network.train(was)
        output = output.double().cpu()
        if output.ndim == 2 and output.shape[1] > 1:
            self.probabilities = bool((output >= 0).all() and ((output.sum(1) - 1).abs() < 1e-4).all())
            output = output if self.probabilities else output.softmax(1)
        result: np.ndarray = output.numpy()
        return result


@dataclass(frozen=True)
class QueriedRows:
    """A model as a function of encoded rows that do not come again, which returns probabilities, or values in standardised units."""

    model: QueriedModel
    decode: Callable[[Tensor], RawRows]  # from encoded rows to raw rows
    mean: float = 0.0
    scale: float = 1.0

    def __call__(self, x: Tensor) -> Tensor:
        """Outputs (n, c) for encoded rows (n, ...), on their device."""
        output = self.model(self.decode(x.cpu()), again=False).reshape(len(x), -1)
        return torch.as_tensor((output - self.mean) / self.scale, dtype=torch.float32, device=x.device)

    @property
    def seconds_per_row(self) -> float:
        """Seconds that a query took so far, on average."""
        return self.model.seconds / max(1, self.model.rows)


def on_encoded(model: Model, decode: Callable[[Tensor], RawRows]) -> EncodedFunction:
    """A model of raw rows as a function of encoded rows, which `decode` turns into raw rows."""
    query = as_queried(model)

    def encoded_function(x: Tensor) -> Tensor:
        output = query(decode(x.cpu()), again=False)  # perturbed rows
        return torch.from_numpy(output).reshape(len(x), -1).to(x.device)

    return encoded_function


def network_reads(model: QueriedModel, to_network: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Check that rows can be read by a torch network, if the model is one."""
    if isinstance(model.function, NetworkFunction):
        to_network(x[:1])


def model_output(output: np.ndarray, rows: int) -> np.ndarray:
    """Return a model's output; raise if it is neither (rows, classes) nor (rows,) finite numbers."""
    good = output.ndim in (1, 2) and output.shape[0] == rows and (output.ndim == 1 or output.shape[1] >= 1)
    if not good:
        raise ValueError(
            f"The model returned shape {output.shape} for {rows} rows, expected ({rows}, n_classes) probabilities or ({rows},) values. "
            "Pass predict_proba, or a function that returns one output per row."
        )
    if not np.issubdtype(output.dtype, np.number):
        raise ValueError(f"The model returned {output.dtype} values, but numbers are needed. Pass predict_proba rather than predict.")
    if not np.isfinite(output).all():
        raise ValueError("The model returned NaN or infinity for some rows. Fix the model, or drop those rows.")
    return output


def as_many_outputs(got: int, needed: int) -> None:
    """Check that a model returns as many classes as in its first call."""
    if got != needed:
        raise ValueError(
            f"The model returned {got} numbers per row, but {needed} are needed, one for each of the classes. Pass predict_proba."
        )


def network_output(output: Tensor, rows: int, count: int, real: bool) -> None:
    """Check that the output of a network fits the target."""
    shape = tuple(output.shape)
    fits = shape in ((rows,), (rows, 1)) if real else shape == (rows, count)
    if not fits:
        needed = f"({rows},) or ({rows}, 1), one value per row" if real else f"({rows}, {count}), one logit per class (two if binary),"
        raise ValueError(f"The network returned shape {shape} for {rows} rows, but {needed} is needed.")
