"""Rows in files: .csv and .npz, read without unpickling anything."""

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
TARGET_NAMES = ("y", "label", "target", "class")  # what a target column is called where nobody says


@dataclass(frozen=True)
class LoadedRows:
    """Rows to fit, to explain or to audit, wherever they came from."""

    x: pd.DataFrame | np.ndarray  # (n, d), a DataFrame where the columns have names; or images (n, c, h, w)
    y: np.ndarray | None  # (n,) labels or values, or (n, c) probabilities
    names: tuple[str, ...]  # d
    left_out: tuple[str, ...] = ()  # columns of the file that are neither features nor target
    truth: np.ndarray | None = None  # (n, d) of bool, where it is known
    control_flow: int | None = None  # the feature that only decides which others matter
    features: Features | None = None  # what can be on or off, where a data set says so


class NoTargetError(ValueError):
    """Nobody said which column of a file is the target, and no name tells it."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        super().__init__(f"{path}: which column is the target? Pass one of its columns as label: {list(columns)[:20]}")
        self.path, self.columns = path, list(columns)


def find_rows(source: str, part: str, label: str | None = None, outputs: str | None = None, *, known: Features | None = None) -> LoadedRows:
    """The rows that a word on the command line means: a part of a built-in data set (seed 0), or a file.

    Args:
        source: The name of a data set, or a path.
        part: Which part of a data set: train, validation or test.
        label: As for `read_table`.
        outputs: As for `read_table`, with commas between the names.
        known: The features of a fit, where there is one: it has decided which columns a file must have.
    """
    if source in DATASETS:
        if label is not None or outputs is not None:
            raise ValueError(f"{source} is a built-in data set with a target of its own; label and outputs are for files")
        data = load_data(source)
        rows = getattr(data, part)
        x = rows.x if rows.x.ndim > 2 else data.frame(rows)
        return LoadedRows(x, rows.y, data.names, truth=rows.truth, control_flow=data.control_flow, features=data.features)
    if Path(source).suffix.lower() not in ENDINGS:
        raise ValueError(
            f"{source!r} is neither a file that ends in {' or '.join(ENDINGS)} nor a data set; the data sets are: {', '.join(DATASETS)}"
        )
    named = [name.strip() for name in outputs.split(",")] if outputs is not None else None
    decided = None if known is None else known.input_names
    text_of = None if known is None else kind_of(known).text_columns
    found = read_table(source, label, named, features=decided, text=() if text_of is None or known is None else text_of(known))
    if found.left_out:
        log.warning("left out of %s: %s", source, ", ".join(found.left_out))
    return found


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
        label: The target column of a CSV file. None: the last one called y, label, target or class.
        outputs: Columns of a CSV file that hold a model's recorded class probabilities. They are the target then, and the label column
            is left out.
        features: The columns of x, in order, where a fit has decided them; others are left out, and the target may be missing.
            None: all columns that are not the target.
        text: Which of these the fit knows as text: numbers in them are text too.
    """
    path = check.readable(Path(path))
    if check.ending(path, ENDINGS) == ".csv":
        return _read_csv(path, label, tuple(outputs or ()), features, text)
    if label is not None or outputs:
        raise ValueError(f"{path} keeps its target in the array y; label and outputs are for CSV files")
    return _read_npz(path, features)


def _read_csv(path: Path, label: str | None, outputs: tuple[str, ...], features: Sequence[str] | None, text: Sequence[str]) -> LoadedRows:
    frame = _frame(path, text)
    columns = [str(name) for name in frame.columns]
    _refuse_missing_columns([*([label] if label is not None else []), *outputs, *(features or ())], columns, path)
    spare = [name for name in columns if name not in outputs and (features is None or name not in features)]
    label = label if label is not None else _guess(spare, known=features is not None)
    if features is None:
        if not outputs and label is None:
            raise NoTargetError(path, columns)
        features = [name for name in spare if name != label]
        _refuse_mixed_columns(frame[features], path)
    x = frame[list(features)]
    _refuse_text(frame[list(outputs)], path)
    y = frame[list(outputs)].to_numpy() if outputs else frame[label].to_numpy() if label is not None else None
    used = {*features, *(outputs or (label,))}
    return LoadedRows(x, y, tuple(features), left_out=tuple(name for name in columns if name not in used))


def _guess(spare: Sequence[str], *, known: bool) -> str | None:
    """The target among the columns that are no features: by its name, or the only one where the features are known."""
    called = [name for name in spare if name.strip().lower() in TARGET_NAMES]
    if len(called) > 1 and not known:
        log.warning("the target is %s, and %s count as features; name another as label", called[-1], ", ".join(called[:-1]))
    if called:
        return called[-1]
    return spare[0] if known and len(spare) == 1 else None


def _frame(path: Path, text: Sequence[str]) -> pd.DataFrame:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header = next((line for line in csv.reader(lines) if line), [])
        if not header:
            raise ValueError(f"{path} is empty; give a CSV file with a header and rows")
        if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
            raise ValueError(f"{path} is not separated by commas: its header is {header[0][:60]!r}; save it with commas")
        _refuse_unnamed(path, header, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            kinds = {name: "str" for name in text if name in header}
            frame = pd.read_csv(path, encoding="utf-8-sig", index_col=False, low_memory=False, dtype=kinds)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as broken:
        raise ValueError(f"{path} is no table ({str(broken).strip()}); give each row as many fields as the header") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8; save it as a CSV file in UTF-8") from None
    _refuse_unnamed(path, header, len(frame))
    return frame


def _refuse_unnamed(path: Path, names: Sequence[str], rows: int) -> None:
    """Refuse a file without rows, with a column without a name, or with two columns of one name."""
    if "" in names:
        raise ValueError(f"{path}: column {names.index('') + 1} has no name, as row numbers often have none; name it, or leave it out")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} has more than one column named {twice[:5]}; rename them, so that each column has a name of its own")
    if rows == 0:
        raise ValueError(f"{path} holds no rows, only a header; give a file with rows")


def _refuse_missing_columns(wanted: Sequence[str], columns: Sequence[str], path: Path) -> None:
    """Refuse a file that lacks columns."""
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise ValueError(f"{path} has no column named {missing[:5]}; its columns are {list(columns)[:20]}")


def _refuse_text(frame: pd.DataFrame, path: Path) -> None:
    """Refuse columns that hold text, naming them."""
    bad = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if bad:
        odd = frame[bad[0]][_numbers_in(frame[bad[0]]).isna() & frame[bad[0]].notna()]
        shown = f" ({odd.iloc[0]!r} in row {odd.index[0]} of {bad[0]!r})" if len(odd) else ""
        raise ValueError(
            f"{path}: columns {bad[:5]} hold text{shown}, but numbers are needed there; mend or leave out such rows or columns"
        )


def _refuse_mixed_columns(frame: pd.DataFrame, path: Path) -> None:
    """Refuse columns that hold both numbers and text, where one of the two is likely a mistake."""
    for name in (name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])):
        column, numbers = frame[name].dropna(), _numbers_in(frame[name].dropna())
        if numbers.notna().any() and numbers.isna().any():
            text, number = column[numbers.isna()], column[numbers.notna()]
            raise ValueError(
                f"{path}: column {name!r} holds text ({text.iloc[0]!r} in row {text.index[0]}) among numbers ({number.iloc[0]!r} in row "
                f"{number.index[0]}); make it all numbers, or all text such as {'n' + str(number.iloc[0])!r}, or leave it out"
            )


def _numbers_in(column: pd.Series[Any]) -> pd.Series[Any]:
    numbers: pd.Series[Any] = pd.to_numeric(column, errors="coerce")
    return numbers


def _read_npz(path: Path, features: Sequence[str] | None) -> LoadedRows:
    arrays = _arrays(path)
    _refuse_misfits(path, arrays, target=features is None)
    x, y, truth = arrays["x"], arrays.get("y"), arrays.get("truth")
    if x.ndim > 2:
        return LoadedRows(x, y, (), truth=truth)
    if "names" not in arrays:
        return LoadedRows(x, y, tuple(f"x{j + 1}" for j in range(x.shape[1])), truth=truth)
    names = [str(name) for name in arrays["names"]]
    _refuse_unnamed(path, names, len(x))
    frame = pd.DataFrame(x, columns=names)
    if features is None or list(features) == names:
        return LoadedRows(frame, y, tuple(names), truth=truth)
    _refuse_missing_columns(features, names, path)
    return LoadedRows(frame[list(features)], y, tuple(features), left_out=tuple(name for name in names if name not in features))


def _refuse_misfits(path: Path, arrays: Mapping[str, np.ndarray], *, target: bool) -> None:
    """Refuse arrays of a file that do not belong together, or lack the target where it is needed."""
    missing = [name for name in (("x", "y") if target else ("x",)) if name not in arrays]
    if missing:
        raise ValueError(f"{path} has no array named {missing}; give x (rows, columns), y (rows,) to learn from, and names if you like")
    shapes = {name: array.shape for name, array in arrays.items()}
    x, y, names = shapes["x"], shapes.get("y"), shapes.get("names")
    if len(x) not in (2, 3, 4) or 0 in x or arrays["x"].dtype.kind not in "biuf":
        needed = "numbers of shape (rows, columns), or images such as (n, channels, rows, columns), are needed"
        raise ValueError(f"{path}: x is {arrays['x'].dtype} of shape {x}, but {needed}")
    if y is not None and (len(y) not in (1, 2) or y[0] != x[0]):
        raise ValueError(f"{path}: x has {x[0]} rows and y the shape {y}; give one label or value, or one row of probabilities, a row")
    if len(x) == 2 and names is not None and (names != x[1:] or arrays["names"].dtype.kind != "U"):
        raise ValueError(f"{path}: x has {x[1]} columns and names the shape {names}; give one text a column, or leave names out")


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file that have a meaning here; Python objects in it are refused, never unpickled."""
    arrays: dict[str, np.ndarray] = {}
    name = ""
    try:
        with path.open("rb") as raw:
            stored: np.ndarray | NpzFile = np.load(raw, allow_pickle=False)
            if isinstance(stored, np.ndarray):
                raise ValueError("a single array")
            for name in ("x", "y", "names", "truth"):
                if name in stored:
                    arrays[name] = np.asarray(stored[name])  # what is no array comes as bytes
    except (BadZipFile, EOFError, zlib.error, ValueError) as broken:
        if "Object arrays" in str(broken):
            cure = f"save numbers or text, such as {name}.astype(float)"
            raise ValueError(f"{path}: the array {name} holds Python objects, which are never unpickled; {cure}") from None
        raise ValueError(f"{path} cannot be read as an .npz file: it is damaged, or of another kind; write it with numpy.savez") from None
    return arrays
