"""Rows in .csv and .npz files; Python objects are never unpickled."""

from __future__ import annotations

import csv
import logging
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from numpy.lib.npyio import NpzFile

from .. import check
from ..core.contracts import Features
from ..core.kinds import kind_of
from .load import DATASETS, load_data

log = logging.getLogger("lexplain")
ENDINGS = (".csv", ".npz")
TARGET_NAMES = ("y", "label", "target", "class")  # names of a target column by default


@dataclass(frozen=True)
class LoadedRows:
    """Rows to fit, explain or audit, from a data set or a file."""

    x: pd.DataFrame | np.ndarray  # (n, d), a DataFrame if the columns have names; or images (n, c, h, w)
    y: np.ndarray | None  # (n,) labels or values, or (n, c) probabilities
    names: tuple[str, ...]  # d
    left_out: tuple[str, ...] = ()  # columns of the file that are neither features nor target
    truth: np.ndarray | None = None  # (n, d) of bool, if known
    control_flow: int | None = None  # feature that decides which other features matter
    features: Features | None = None  # of the data set, if it defines them


class NoTargetError(ValueError):
    """The target column of a file was not given and cannot be found by name."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        super().__init__(f"{path}: unknown target column. Pass one of its columns as label: {list(columns)[:20]}")
        self.path, self.columns = path, list(columns)


def find_rows(source: str, part: str, label: str | None = None, outputs: str | None = None, *, known: Features | None = None) -> LoadedRows:
    """Read the rows of a command-line argument: a split of a built-in data set (seed 0), or a file.

    Args:
        source: The name of a data set, or a path.
        part: Split of a data set: train, validation or test.
        label: Target column, as in `read_table`.
        outputs: Columns of class probabilities, as in `read_table`, separated by commas.
        known: Features of a fit, if there is one; a file must have their columns.
    """
    if source in DATASETS:
        if label is not None or outputs is not None:
            raise ValueError(f"{source} is a built-in data set with its own target. label and outputs are for files.")
        data = load_data(source)
        rows = getattr(data, part)
        x = rows.x if rows.x.ndim > 2 else data.frame(rows)
        return LoadedRows(x, rows.y, data.names, truth=rows.truth, control_flow=data.control_flow, features=data.features)
    if Path(source).suffix.lower() not in ENDINGS:
        raise ValueError(
            f"{source!r} is neither a file that ends in {' or '.join(ENDINGS)} nor a data set. Data sets: {', '.join(DATASETS)}."
        )
    named = [name.strip() for name in outputs.split(",")] if outputs is not None else None
    decided = None if known is None else known.input_names
    text_of = None if known is None else kind_of(known).text_columns
    result = read_table(source, label, named, features=decided, text=() if text_of is None or known is None else text_of(known))
    if result.left_out:
        log.warning("Ignored columns of %s: %s", source, ", ".join(result.left_out))
    return result


def read_table(
    path: str | Path,
    label: str | None = None,
    outputs: Sequence[str] | None = None,
    *,
    features: Sequence[str] | None = None,
    text: Sequence[str] = (),
) -> LoadedRows:
    """Read rows and their target from a .csv or an .npz file.

    Args:
        path: A CSV file with a header, or an .npz file with the arrays x, perhaps y, and perhaps names.
        label: The target column of a CSV file. None: the last column named y, label, target or class.
        outputs: Columns of a CSV file with a model's recorded class probabilities. They are then the target, and the label column is
            ignored.
        features: The columns of x, in order, as in a fit; other columns are ignored, and the target may be missing.
            None: all columns except the target.
        text: Columns that were text in the fit; numbers in them are read as text.
    """
    path = check.readable(Path(path))
    if check.ending(path, ENDINGS) == ".csv":
        return _read_csv(path, label, tuple(outputs or ()), features, text)
    if label is not None or outputs:
        raise ValueError(f"{path} contains its target as array y. label and outputs are for CSV files.")
    return _read_npz(path, features)


def _read_csv(path: Path, label: str | None, outputs: tuple[str, ...], features: Sequence[str] | None, text: Sequence[str]) -> LoadedRows:
    frame = _frame(path, text)
    columns = [str(name) for name in frame.columns]
    _check_columns([*([label] if label is not None else []), *outputs, *(features or ())], columns, path)
    spare = [name for name in columns if name not in outputs and (features is None or name not in features)]
    label = label if label is not None else _guess(spare, known=features is not None)
    if features is None:
        if not outputs and label is None:
            raise NoTargetError(path, columns)
        features = [name for name in spare if name != label]
        _check_not_mixed(frame[features], path)
    x = frame[list(features)]
    _check_numeric(frame[list(outputs)], path)
    y = frame[list(outputs)].to_numpy() if outputs else frame[label].to_numpy() if label is not None else None
    used = {*features, *(outputs or (label,))}
    return LoadedRows(x, y, tuple(features), left_out=tuple(name for name in columns if name not in used))


def _guess(spare: Sequence[str], *, known: bool) -> str | None:
    """The target among the columns that are not features: by its name, or the only one if the features are known."""
    matching = [name for name in spare if name.strip().lower() in TARGET_NAMES]
    if len(matching) > 1 and not known:
        log.warning("Using column %s as the target and %s as features; pass label= to change that", matching[-1], ", ".join(matching[:-1]))
    if matching:
        return matching[-1]
    return spare[0] if known and len(spare) == 1 else None


def _frame(path: Path, text: Sequence[str]) -> pd.DataFrame:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header = next((line for line in csv.reader(lines) if line), [])
        if not header:
            raise ValueError(f"{path} is empty. Pass a CSV file with a header and rows.")
        if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
            raise ValueError(f"{path} is not separated by commas: its header is {header[0][:60]!r}. Save it with commas.")
        _check_names(path, header, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            kinds = {name: "str" for name in text if name in header}
            frame = pd.read_csv(path, encoding="utf-8-sig", index_col=False, low_memory=False, dtype=kinds)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as broken:
        raise ValueError(f"{path} is not a table ({str(broken).strip()}). Each row needs as many fields as the header.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8. Save it as a CSV file in UTF-8.") from None
    _check_names(path, header, len(frame))
    return frame


def _check_names(path: Path, names: Sequence[str], rows: int) -> None:
    """Check that a file has rows, and that its columns have different names."""
    if "" in names:
        raise ValueError(f"{path}: column {names.index('') + 1} has no name (often the row numbers). Name it, or drop it.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} has more than one column named {twice[:5]}. Rename them, so that each column has its own name.")
    if rows == 0:
        raise ValueError(f"{path} contains a header but no rows. Pass a file with rows.")


def _check_columns(expected: Sequence[str], columns: Sequence[str], path: Path) -> None:
    """Check that a file has some columns."""
    missing = [name for name in expected if name not in columns]
    if missing:
        raise ValueError(f"{path} has no column named {missing[:5]}. Columns: {list(columns)[:20]}.")


def _check_numeric(frame: pd.DataFrame, path: Path) -> None:
    """Check that columns are numeric."""
    bad = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if bad:
        texts = frame[bad[0]][_numbers_in(frame[bad[0]]).isna() & frame[bad[0]].notna()]
        example = f" ({texts.iloc[0]!r} in row {texts.index[0]} of {bad[0]!r})" if len(texts) else ""
        raise ValueError(f"{path}: columns {bad[:5]} contain text{example}, but numbers are needed. Fix or drop such rows or columns.")


def _check_not_mixed(frame: pd.DataFrame, path: Path) -> None:
    """Check that no column contains both numbers and text, which is likely a mistake."""
    for name in (name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])):
        column, numbers = frame[name].dropna(), _numbers_in(frame[name].dropna())
        if numbers.notna().any() and numbers.isna().any():
            text, number = column[numbers.isna()], column[numbers.notna()]
            raise ValueError(
                f"{path}: column {name!r} contains text ({text.iloc[0]!r} in row {text.index[0]}) and numbers ({number.iloc[0]!r} in row "
                f"{number.index[0]}). Make it all numbers, or all text such as {'n' + str(number.iloc[0])!r}, or drop it."
            )


def _numbers_in(column: pd.Series[Any]) -> pd.Series[Any]:
    numbers: pd.Series[Any] = pd.to_numeric(column, errors="coerce")
    return numbers


def _read_npz(path: Path, features: Sequence[str] | None) -> LoadedRows:
    arrays = _arrays(path)
    _check_arrays(path, arrays, target=features is None)
    x, y, truth = arrays["x"], arrays.get("y"), arrays.get("truth")
    if x.ndim > 2:
        return LoadedRows(x, y, (), truth=truth)
    if "names" not in arrays:
        return LoadedRows(x, y, tuple(f"x{j + 1}" for j in range(x.shape[1])), truth=truth)
    names = [str(name) for name in arrays["names"]]
    _check_names(path, names, len(x))
    frame = pd.DataFrame(x, columns=names)
    if features is None or list(features) == names:
        return LoadedRows(frame, y, tuple(names), truth=truth)
    _check_columns(features, names, path)
    return LoadedRows(frame[list(features)], y, tuple(features), left_out=tuple(name for name in names if name not in features))


def _check_arrays(path: Path, arrays: Mapping[str, np.ndarray], *, target: bool) -> None:
    """Check that the arrays of a file fit each other, and that there is a target if it is needed."""
    missing = [name for name in (("x", "y") if target else ("x",)) if name not in arrays]
    if missing:
        raise ValueError(f"{path} has no array named {missing}. It needs x (rows, columns), y (rows,) for a fit, and optionally names.")
    shapes = {name: array.shape for name, array in arrays.items()}
    x, y, names = shapes["x"], shapes.get("y"), shapes.get("names")
    if len(x) not in (2, 3, 4) or 0 in x or arrays["x"].dtype.kind not in "biuf":
        needed = "numbers of shape (rows, columns), or images such as (n, channels, rows, columns), are needed."
        raise ValueError(f"{path}: x is {arrays['x'].dtype} of shape {x}, but {needed}")
    if y is not None and (len(y) not in (1, 2) or y[0] != x[0]):
        raise ValueError(
            f"{path}: x has {x[0]} rows and y the shape {y}. One label or value, or the class probabilities, are needed per row."
        )
    if len(x) == 2 and names is not None and (names != x[1:] or arrays["names"].dtype.kind != "U"):
        raise ValueError(f"{path}: x has {x[1]} columns and names the shape {names}. Pass one text per column, or leave names out.")


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays x, y, names and truth of an .npz file; Python objects raise and are never unpickled."""
    arrays: dict[str, np.ndarray] = {}
    name = ""
    try:
        with path.open("rb") as raw:
            stored: np.ndarray | NpzFile = np.load(raw, allow_pickle=False)
            if isinstance(stored, np.ndarray):
                raise ValueError("a single array")
            for name in ("x", "y", "names", "truth"):
                if name in stored:
                    arrays[name] = np.asarray(stored[name])  # other members are read as bytes
    except (BadZipFile, EOFError, zlib.error, ValueError) as broken:
        if "Object arrays" in str(broken):
            hint = f"Save numbers or text, such as {name}.astype(float)."
            raise ValueError(f"{path}: the array {name} contains Python objects, which are never unpickled. {hint}") from None
        raise ValueError(
            f"{path} cannot be read as an .npz file: it is damaged or has another format. Write it with numpy.savez."
        ) from None
    return arrays
