"""What a word or a file on the command line means, and explanations as files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from .. import check
from ..core import Explanation
from ..core.contracts import Features
from ..data import files


def writable(path: Path | None, endings: Sequence[str]) -> str:
    """Return the ending of a file to write, if any; refuse a place where it cannot be written, before the work starts."""
    if path is None:
        return ""
    chosen = check.ending(path, endings)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written: {folder} is no folder you may write to; choose another place")
    if chosen == ".parquet":
        check.require_parquet()
    return chosen


def rows_with_target(
    source: str, part: str, label: str | None = None, outputs: str | None = None, *, known: Features | None = None
) -> files.LoadedRows:
    """The rows that DATA means (see `data.files.find_rows`); refuse rows without a target."""
    try:
        rows = files.find_rows(source, part, label, outputs, known=known)
    except files.NoTargetError as missing:
        raise ValueError(
            f"{missing.path}: which column is the target? Name one of its columns with --label: {missing.columns[:20]}"
        ) from None
    if rows.y is None:
        raise ValueError(f"{source} has no target; name its column with --label")
    return rows


def read_scores(path: Path) -> Explanation | np.ndarray | pd.DataFrame:
    """What another tool wrote of rows: a .csv of one column a feature, a .npy array, or the .json of an Explanation."""
    check.readable(path)
    if path.suffix == ".json":
        return Explanation.from_json(path.read_text())
    if path.suffix == ".npy":
        return _array_in(path)
    try:
        return _numbers_alone(pd.read_csv(path), path)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty; give a CSV file with one column a feature and one row for each row of the data") from None


def _array_in(path: Path) -> np.ndarray:
    """Return the array in a .npy file; refuse a file that holds anything else, and pickles."""
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as broken:
        raise ValueError(f"{path} holds no plain array ({broken}); write numbers with numpy.save") from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{path} holds several arrays; write the scores alone with numpy.save")
    return found


def _numbers_alone(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a table of scores; refuse one with text in it."""
    odd = [str(name) for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if odd:
        raise ValueError(f"{path} has text in {', '.join(odd[:3])}; a file of scores has one column of numbers a feature, and nothing else")
    return frame


def explanation_as_csv(explanation: Explanation) -> str:
    """One line a row: its label, `score:` and `kept:` (1 or 0) of every feature."""
    frame = explanation.to_frame()
    table = pd.concat([frame["score"].add_prefix("score:"), frame["kept"].astype(int).add_prefix("kept:")], axis=1)
    return table.to_csv(index_label="row")
