"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import check
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
        check.parquet_possible()
    return chosen


def rows_with_target(
    source: str, part: str, label: str | None = None, outputs: str | None = None, *, known: Features | None = None
) -> files.Rows:
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


def other_rows(train: str | None, data: str) -> None:
    """Refuse to let judges learn from the file that they judge."""
    if train is not None and Path(train).exists() and Path(data).exists() and Path(train).samefile(data):
        raise ValueError(
            f"{train} holds the rows that are judged, so nothing else may learn from it; give other rows, or leave --train out"
        )


def size_asked(keep: str | None) -> float | str | None:
    """Read a number of features, a rate or "auto"; refuse other words."""
    if keep is None or keep == "auto":
        return keep
    try:
        return int(keep) if keep.strip().lstrip("+-").isdecimal() else float(keep)
    except ValueError:
        raise ValueError(f"--keep {keep}: a number of features such as 5, a rate such as 0.3, or auto, is needed") from None


def patch_of(size: int, X: Any) -> int:
    """Refuse patches of rows that are no images."""
    if X.ndim < 3:
        raise ValueError(f"--patch {size} is for images, but the rows have the shape {tuple(X.shape)}; leave it out")
    return size


def strength_asked(strength: str) -> float | str:
    """Read the weight of a penalty or "auto"; refuse other words."""
    if strength == "auto":
        return strength
    try:
        number = float(strength)
    except ValueError:
        raise ValueError(f"--strength {strength!r} is neither auto nor a number") from None
    check.strength_fits(number)
    return number
