"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor, nn

from .. import check
from ..core.contracts import Features
from ..core.rows import as_array
from ..features.tables import finite_numbers


def numeric(features: Features) -> None:
    """Refuse features without gradients, such as token ids."""
    if not features.numeric:
        raise TypeError(
            f"features of kind {features.kind!r} are encoded as ids, which have no gradients; "
            "pass embedded rows (n, tokens, dimensions) and a network that reads them, without features="
        )


def network_given(network: nn.Module | None, path: Path) -> nn.Module:
    """Refuse to load the weights of a user's own network without that network."""
    if network is None:
        raise ValueError(f"{path} holds the weights of a network of your own; build it again and pass RightReasons.load(path, network=...)")
    return network


def weights_fit(network: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Refuse weights of another network."""
    needed = {(name, tuple(value.shape)) for name, value in network.state_dict().items()}
    found = {(name, tuple(value.shape)) for name, value in tensors.items()}
    if needed != found:
        raise ValueError(
            f"the weights in {path} do not fit the network: they differ in {sorted(needed ^ found)[:4]}; pass the network that was saved"
        )


def search_reads_inputs(features: Features | None) -> None:
    """Refuse a search among features: it marks inputs as the network reads them."""
    if features is not None:
        raise ValueError(
            f"trainer has features={type(features).__name__}(...), but find_another_explanation marks inputs as the network reads them; "
            "pass encoded rows, features.encode(X).x, and a trainer without features"
        )


def right_reasons_variant(scale: str, target: Any) -> None:
    """Refuse a gradient that is not defined, or always 0."""
    check.one_of(scale, ["log", "linear"], "scale")
    if not isinstance(target, (int, np.integer)) or isinstance(target, bool):
        check.one_of(str(target), ["sum", "max", "label"], "target (or the index of a class)")
    if scale == "linear" and target == "sum":
        raise ValueError("probabilities sum to 1 whatever the input is, so that their sum has no slope; choose scale='log' or target='max'")


def marks_fit(mask: Any, x: Any) -> None:
    """Refuse marks that are not one for each input."""
    if tuple(mask.shape) != tuple(x.shape):
        raise ValueError(f"irrelevant_mask has shape {tuple(mask.shape)}, but inputs of shape {tuple(x.shape)} need one mark each")


def annotated_names(wanted: Collection[str], names: Sequence[str]) -> None:
    """Refuse names that no feature has."""
    odd = [name for name in wanted if name not in names]
    if odd:
        raise ValueError(f"no feature is called {odd[:5]}; the features are: {', '.join(map(str, names[:20]))}{'…' * (len(names) > 20)}")


def annotation_table(table: pd.DataFrame, names: Sequence[str], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and features of an annotation; refuse marks that no row or feature has."""
    missing = [name for name in ("row", "feature") if name not in table.columns]
    if missing:
        raise ValueError(f"the annotation has the columns {list(map(str, table.columns))}; {missing} are needed too")
    row = pd.to_numeric(table["row"], errors="coerce").to_numpy(dtype=float)
    bad = ~((row >= 0) & (row < rows) & (row == np.floor(row)))
    if bad.any():
        raise ValueError(
            f"line {int(np.flatnonzero(bad)[0]) + 1} marks row {table['row'].iloc[int(np.flatnonzero(bad)[0])]!r}, "
            f"but rows are numbered from 0 to {rows - 1}"
        )
    feature = table["feature"].to_numpy(dtype=object)
    annotated_names(sorted({name for name in feature if isinstance(name, str)}), names)
    return row.astype(int), feature


def picture_fits(got: tuple[int, ...], shape: Sequence[int]) -> None:
    """Refuse a painted mask of another size."""
    if tuple(got) != tuple(shape)[-2:] or len(shape) not in (2, 3):
        raise ValueError(f"the picture is {got} (height, width), but an input has shape {tuple(shape)}; paint one of the input's size")


def some_word_found(found: np.ndarray, words: Collection[str]) -> None:
    """Refuse a list of words of which the vocabulary has none."""
    if not found.any():
        raise ValueError(f"none of the words {list(words)[:5]} is in the vocabulary; try ignore_case=True, or a * for any letters")


def row_numbers(rows: Any, given: int, count: int) -> np.ndarray:
    """Return the numbers of annotated rows; refuse some that do not fit."""
    index = as_array(rows)
    if (
        index.ndim != 1
        or len(index) != given
        or index.dtype.kind not in "iu"
        or (len(index) and not (0 <= index.min() <= index.max() < count))
    ):
        raise ValueError(f"annotated_rows must be {given} row numbers from 0 to {count - 1}, one for each row of irrelevant_mask")
    return index


def annotation_fits(marks: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse an annotation of another shape, or of other values than 0, 1 and NaN for rows that nobody looked at."""
    spread = marks.shape + (1,) * (len(shape) - marks.ndim)
    if marks.ndim > len(shape) or marks.ndim == 0 or any(a not in (b, 1) for a, b in zip(spread, shape, strict=True)):
        raise ValueError(
            f"irrelevant_mask has shape {marks.shape}, but inputs of shape {shape} need that shape, or {shape[1:]} for all rows"
        )
    if not np.isin(marks[~np.isnan(marks)], (0, 1)).all():
        raise ValueError("irrelevant_mask must hold 1 (must not be used), 0, or NaN for rows that nobody annotated")


def inputs(X: Any) -> np.ndarray:
    """Return inputs of any shape (n, ...) as float32; refuse what is not a finite number."""
    if isinstance(X, pd.DataFrame) or np.ndim(X) == 2:
        return finite_numbers(X).astype(np.float32)
    values = np.require(as_array(X), np.float32, "W")  # torch warns of arrays that may not be written to
    if values.ndim < 2 or 0 in values.shape:
        raise ValueError(f"X has shape {values.shape}, but (rows, ...) with at least one row and one input is needed")
    if not np.isfinite(values).all():
        raise ValueError("Input X contains NaN or infinity; impute or drop such rows")
    return values


def fitted_network(trained: Any) -> None:
    """Refuse to predict before fit."""
    if not hasattr(trained, "network_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(trained).__name__} is not fitted yet; call fit first")


def same_input_shape(got: tuple[int, ...], needed: tuple[int, ...]) -> None:
    """Refuse inputs of another shape than those of the fit."""
    if tuple(got) != tuple(needed):
        raise ValueError(f"inputs have shape {tuple(got)}, but those of the fit had {tuple(needed)}; give inputs of that shape")


def classes_there(real: bool) -> None:
    """Refuse probabilities of real values."""
    if real:
        raise AttributeError("a real-valued target has no class probabilities; use predict")
