"""What is said of a data set, and read from a file, by kind of features. A kind of your own joins with a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ..core import Dataset
from ..core.contracts import Features
from ..features import Columns, patches_of


def _images(data: Dataset, features: Features) -> dict[str, str]:
    channels, height, width = data.train.x.shape[1:]
    grid = " x ".join(map(str, patches_of(features.fit(data.train.x[:1])).grid))
    return {"pixels": f"{height} x {width}, {'grey' if channels == 1 else 'in colour'}", "features": f"{grid} patches of pixels"}


# The size of rows and of features in words; a kind that is not here is told as the columns of a table.
SIZE_IN_WORDS: dict[str, Callable[[Dataset, Features], dict[str, str]]] = {"patches": _images}

# The columns of a file that a fit knows as text, so that numbers in them are text too; none for a kind that is not here.
TEXT_COLUMNS: dict[str, Callable[[Features], tuple[str, ...]]] = {"columns": lambda features: cast("Columns", features).text}


def text_columns(features: Features | None) -> tuple[str, ...]:
    """The columns that a fit knows as text; none where there is no fit."""
    found = None if features is None else TEXT_COLUMNS.get(features.kind)
    return () if found is None or features is None else found(features)
