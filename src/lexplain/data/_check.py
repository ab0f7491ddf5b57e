"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import check


def draw_fits(rows: int, seed: int, noise_columns: int, correlation: float) -> None:
    """Refuse sizes that are no whole numbers, too few rows, and a correlation outside [0, 1)."""
    for name, value in (("rows", rows), ("seed", seed), ("noise_columns", noise_columns)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise ValueError(f"{name}={value!r}, but a whole number of at least 0 is needed")
    check.enough_rows(rows)
    if not 0 <= correlation < 1:
        raise ValueError(f"correlation={correlation!r}, but a number of at least 0 and below 1 is needed; 0 means independent columns")


def file_of_rows(path: Path, names: Sequence[str], rows: int) -> None:
    """Refuse a file without rows, with a column without a name, or with two columns of one name."""
    if "" in names:
        raise ValueError(f"{path}: column {names.index('') + 1} has no name, as row numbers often have none; name it, or leave it out")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} has more than one column named {twice[:5]}; rename them, so that each column has a name of its own")
    if rows == 0:
        raise ValueError(f"{path} holds no rows, only a header; give a file with rows")


def columns_there(wanted: Sequence[str], columns: Sequence[str], path: Path) -> None:
    """Refuse a file that lacks columns."""
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise ValueError(f"{path} has no column named {missing[:5]}; its columns are {list(columns)[:20]}")


def columns_of_numbers(frame: pd.DataFrame, path: Path) -> None:
    """Refuse columns that hold text, naming them."""
    bad = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if bad:
        odd = frame[bad[0]][_numbers_in(frame[bad[0]]).isna() & frame[bad[0]].notna()]
        shown = f" ({odd.iloc[0]!r} in row {odd.index[0]} of {bad[0]!r})" if len(odd) else ""
        raise ValueError(
            f"{path}: columns {bad[:5]} hold text{shown}, but numbers are needed there; mend or leave out such rows or columns"
        )


def columns_of_one_kind(frame: pd.DataFrame, path: Path) -> None:
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


def writes_numbers(frame: pd.DataFrame, name: str) -> np.ndarray:
    """Return the columns of a data set as one array; refuse those with categories, which such a file cannot hold."""
    if any(check.holds_categories(dtype) for dtype in frame.dtypes):
        raise ValueError(f"{name} has columns of categories, which an .npz file cannot hold; write a .csv file")
    return frame.to_numpy()


def data_file_there(path: Path, origin: str, prepared: bool) -> Path:
    """Refuse a data set whose file has not been put into the cache, and say where it goes and where it comes from."""
    if not path.is_file():
        way = f"it was prepared from {origin}, and is not published itself: put a copy of it there" if prepared else ""
        way = way or f"get {path.name} from {origin} and put it there"
        raise FileNotFoundError(
            f"no file at {path}, nor at {path}.gz; {way}, or set LEXPLAIN_DATA to the folder that your data sets lie in"
        )
    return path


def same_content(path: Path, got: str, needed: str, origin: str) -> None:
    """Refuse a file that is not the published one."""
    if got != needed:
        raise ValueError(f"{path} is not the file it should be: its sha256 is {got}, but {needed} is needed; get it anew from {origin}")


def arrays_fit(path: Path, arrays: Mapping[str, np.ndarray], *, target: bool) -> None:
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


def array_file(path: Path) -> np.ndarray:
    """Return the array in a .npy file; refuse a file that holds anything else, and pickles."""
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as broken:
        raise ValueError(f"{path} holds no plain array ({broken}); write numbers with numpy.save") from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{path} holds several arrays; write the scores alone with numpy.save")
    return found


def table_of_numbers(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a table of scores; refuse one with text in it."""
    odd = [str(name) for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if odd:
        raise ValueError(f"{path} has text in {', '.join(odd[:3])}; a file of scores has one column of numbers a feature, and nothing else")
    return frame


def not_fetched(path: Path, address: str, failed: Exception) -> FileNotFoundError:
    """What to say where a file could not be fetched: in one line, which file goes where."""
    why = str(failed).strip().split("\n")[0][:200] or type(failed).__name__
    return FileNotFoundError(
        f"no file at {path}, and {address} could not be fetched ({why}); put that file there by hand, "
        "or set LEXPLAIN_DATA to the folder that your data sets lie in"
    )


def require_known_format(good: bool, file: str, why: str) -> None:
    """Refuse a file whose content is not of the form it should have."""
    if not good:
        raise ValueError(f"{file} is not understood: {why}; put the file there that the data set was made of")


def rows_and_seed(rows: int | None, seed: int) -> None:
    """Refuse numbers of rows and seeds that no data set has."""
    draw_fits(check.FEWEST_ROWS if rows is None else rows, seed, 0, 0.0)


def require_enough_rows(name: str, rows: int | None, there: int) -> int:
    """Return how many of a data set's rows to train on; refuse more than there are."""
    if rows is not None and rows > there:
        raise ValueError(f"rows={rows:,}, but {name} has {there:,} to train on; ask for at most so many")
    return there if rows is None else rows


def no_table(ending: str, name: str, shape: Sequence[int]) -> None:
    """Refuse to write images as a table."""
    if ending == ".csv" and len(shape) > 2:
        raise ValueError(f"{name} holds images of shape {tuple(shape[1:])}, which are no table; write an .npz file")


def require_truth(truth: np.ndarray | None) -> np.ndarray:
    """Refuse a part of which nobody knows what decides."""
    if truth is None:
        raise ValueError("nobody knows which features of this part may decide; give an irrelevant_mask of your own")
    return np.asarray(truth, dtype=bool)


def post_fits(name: str, *, plain: bool) -> None:
    """Refuse a member of an archive of posts that is something else."""
    if not plain:
        raise ValueError(f"the archive of posts holds {name!r}, which is none; put the archive there anew as it was published")
