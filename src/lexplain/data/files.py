"""Rows in files: .csv and .npz, read without unpickling anything, and written from a data set."""

from __future__ import annotations

import csv
import io
import logging
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from numpy.lib.npyio import NpzFile

from .. import check
from ..core import Dataset, Explanation
from ..core.contracts import Features
from . import _check
from .by_kind import SIZE_IN_WORDS, text_columns
from .load import DATASETS, load_data

log = logging.getLogger("lexplain")
ENDINGS = (".csv", ".npz")
TARGET_NAMES = ("y", "label", "target", "class")  # what a target column is called where nobody says


@dataclass(frozen=True)
class Rows:
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


def find_rows(source: str, part: str, label: str | None = None, outputs: str | None = None, *, known: Features | None = None) -> Rows:
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
        return Rows(x, rows.y, data.names, truth=rows.truth, control_flow=data.control_flow, features=data.features)
    if Path(source).suffix.lower() not in ENDINGS:
        raise ValueError(
            f"{source!r} is neither a file that ends in {' or '.join(ENDINGS)} nor a data set; the data sets are: {', '.join(DATASETS)}"
        )
    named = [name.strip() for name in outputs.split(",")] if outputs is not None else None
    decided = None if known is None else known.inputs
    found = read_table(source, label, named, features=decided, text=text_columns(known))
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
) -> Rows:
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


def _read_csv(path: Path, label: str | None, outputs: tuple[str, ...], features: Sequence[str] | None, text: Sequence[str]) -> Rows:
    frame = _frame(path, text)
    columns = [str(name) for name in frame.columns]
    _check.columns_there([*([label] if label is not None else []), *outputs, *(features or ())], columns, path)
    spare = [name for name in columns if name not in outputs and (features is None or name not in features)]
    label = label if label is not None else _guess(spare, known=features is not None)
    if features is None:
        if not outputs and label is None:
            raise NoTargetError(path, columns)
        features = [name for name in spare if name != label]
        _check.columns_of_one_kind(frame[features], path)
    x = frame[list(features)]
    _check.columns_of_numbers(frame[list(outputs)], path)
    y = frame[list(outputs)].to_numpy() if outputs else frame[label].to_numpy() if label is not None else None
    used = {*features, *(outputs or (label,))}
    return Rows(x, y, tuple(features), left_out=tuple(name for name in columns if name not in used))


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
        _check.file_of_rows(path, header, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            kinds = {name: "str" for name in text if name in header}
            frame = pd.read_csv(path, encoding="utf-8-sig", index_col=False, low_memory=False, dtype=kinds)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as broken:
        raise ValueError(f"{path} is no table ({str(broken).strip()}); give each row as many fields as the header") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8; save it as a CSV file in UTF-8") from None
    _check.file_of_rows(path, header, len(frame))
    return frame


def _read_npz(path: Path, features: Sequence[str] | None) -> Rows:
    arrays = _arrays(path)
    _check.arrays_fit(path, arrays, target=features is None)
    x, y, truth = arrays["x"], arrays.get("y"), arrays.get("truth")
    if x.ndim > 2:
        return Rows(x, y, (), truth=truth)
    if "names" not in arrays:
        return Rows(x, y, tuple(f"x{j + 1}" for j in range(x.shape[1])), truth=truth)
    names = [str(name) for name in arrays["names"]]
    _check.file_of_rows(path, names, len(x))
    frame = pd.DataFrame(x, columns=names)
    if features is None or list(features) == names:
        return Rows(frame, y, tuple(names), truth=truth)
    _check.columns_there(features, names, path)
    return Rows(frame[list(features)], y, tuple(features), left_out=tuple(name for name in names if name not in features))


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


def part_as_bytes(data: Dataset, part: str, ending: str) -> bytes:
    """A part of a data set as the content of a file: its columns and y as .csv, or with the truth and the probabilities as .npz."""
    rows = getattr(data, check.one_of(part, ["train", "validation", "test"], "part"))
    _check.no_table(ending, data.name, rows.x.shape)
    if ending == ".csv":
        frame = data.frame(rows)
        targets = {"y": rows.y} if rows.y.ndim == 1 else {f"y{c}": rows.y[:, c] for c in range(rows.y.shape[1])}
        frame = frame.assign(**targets)
        return frame.to_csv(index=False).encode()
    x = rows.x if rows.x.ndim > 2 else _check.writes_numbers(data.frame(rows), data.name)
    known = {"x": x, "y": rows.y, "truth": rows.truth, "probabilities": rows.probabilities, "names": np.asarray(data.names)}
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **{name: array for name, array in known.items() if array is not None})
    return content.getvalue()


def explanation_as_csv(explanation: Explanation) -> str:
    """One line a row: its label, `score:` and `kept:` (1 or 0) of every feature."""
    frame = explanation.to_frame()
    table = pd.concat([frame["score"].add_prefix("score:"), frame["kept"].astype(int).add_prefix("kept:")], axis=1)
    return table.to_csv(index_label="row")


def facts(data: Dataset) -> dict[str, str]:
    """What there is to know of a data set, in words."""
    train, test = data.train, data.test
    told = {"rows": ", ".join(f"{part} {len(getattr(data, part)):,}" for part in ("train", "validation", "test")), **_columns(data)}
    if train.truth is not None:
        sizes, counts = np.unique(train.truth.sum(1), return_counts=True)
        each = ", ".join(f"{k} ({n / len(train):.0%} of the rows)" for k, n in zip(sizes, counts, strict=True))
        told["true features"] = each if len(sizes) <= 12 else f"from {sizes[0]} to {sizes[-1]}, {train.truth.sum(1).mean():.3g} on average"
    if data.control_flow is not None:
        told["control flow"] = f"{data.names[data.control_flow]}, which only decides which others matter"
    if train.y.ndim == 1 and train.y.dtype.kind in "iub":
        classes, counts = np.unique(train.y, return_counts=True)
        told["classes"] = ", ".join(f"{c} ({n / len(train):.1%})" for c, n in zip(classes, counts, strict=True))
    elif train.y.ndim == 1:
        told["values"] = f"from {train.y.min():.3g} to {train.y.max():.3g}, {train.y.mean():.3g} on average"
    if test.probabilities is not None:
        told["best accuracy"] = f"{test.probabilities.max(1).mean():.1%}, what a model that knows the true probabilities reaches"
    return told


def _columns(data: Dataset) -> dict[str, str]:
    """The columns of a table and their categories, or the size of an image and of its features, in words."""
    if data.features is not None and data.features.kind in SIZE_IN_WORDS:
        return SIZE_IN_WORDS[data.features.kind](data, data.features)
    many = len(data.names)
    told = {"columns": f"{many}: {', '.join(data.names) if many <= 12 else f'{data.names[0]}, {data.names[1]}, …, {data.names[-1]}'}"}
    frame = data.frame(data.train)
    categories = {str(name): frame[name].nunique() for name in frame.columns if check.holds_categories(frame[name].dtype)}
    if categories:
        told["categories"] = ", ".join(f"{name} ({n})" for name, n in categories.items())
    return told


def read_scores(path: Path) -> Explanation | np.ndarray | pd.DataFrame:
    """What another tool wrote of rows: a .csv of one column a feature, a .npy array, or the .json of an Explanation."""
    check.readable(path)
    if path.suffix == ".json":
        return Explanation.from_json(path.read_text())
    if path.suffix == ".npy":
        return _check.array_file(path)
    try:
        return _check.table_of_numbers(pd.read_csv(path), path)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty; give a CSV file with one column a feature and one row for each row of the data") from None
