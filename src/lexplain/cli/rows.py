"""Input rows, scores and output files of the commands."""

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
    """Return the ending of an output file, if any. Raise before the work starts if the file cannot be written."""
    if path is None:
        return ""
    chosen = check.ending(path, endings)
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Pass a file in it.")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written, because {folder} is not a folder that you can write to. Choose another place.")
    if chosen == ".parquet":
        check.require_parquet()
    return chosen


def rows_with_target(
    source: str, part: str, label: str | None = None, outputs: str | None = None, *, known: Features | None = None
) -> files.LoadedRows:
    """The rows of DATA (see `data.files.find_rows`). Raise if they have no target."""
    try:
        rows = files.find_rows(source, part, label, outputs, known=known)
    except files.NoTargetError as missing:
        raise ValueError(
            f"The target column of {missing.path} is not clear. Pass one of its columns as --label: {missing.columns[:20]}"
        ) from None
    if rows.y is None:
        raise ValueError(f"{source} has no target. Pass its column as --label.")
    return rows


def read_scores(path: Path) -> Explanation | np.ndarray | pd.DataFrame:
    """Scores or masks of another tool: a .csv with one column per feature, a .npy array, or the .json of an Explanation."""
    check.readable(path)
    if path.suffix == ".json":
        return Explanation.from_json(path.read_text())
    if path.suffix == ".npy":
        return _array_in(path)
    try:
        return _numbers_alone(pd.read_csv(path), path)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty. Pass a CSV file with one column per feature and one row per row of the data.") from None


def _array_in(path: Path) -> np.ndarray:
    """Return the array of a .npy file. Raise for other content and for pickles."""
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as broken:
        raise ValueError(f"{path} does not contain a plain array ({broken}). Write the scores with numpy.save.") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path} contains several arrays. Write only the scores, with numpy.save.")
    return array


def _numbers_alone(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a table of scores. Raise if it contains text."""
    invalid = [str(name) for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if invalid:
        raise ValueError(
            f"{path} has text in {', '.join(invalid[:3])}. A file of scores has one numeric column per feature, and no others."
        )
    return frame


def explanation_as_csv(explanation: Explanation) -> str:
    """One line per row: its label, `score:` and `kept:` (1 or 0) of each feature, and how far the answer holds if it was verified."""
    frame = explanation.to_frame()
    parts = [frame["score"].add_prefix("score:"), frame["kept"].astype(int).add_prefix("kept:")]
    table = pd.concat([*parts, *([frame["answer"]] if "answer" in frame else [])], axis=1)
    return table.to_csv(index_label="row")
