"""Load data sets by name."""

from __future__ import annotations

import inspect
from typing import Any, Protocol

import pandas as pd

from lexplain import check
from lexplain.core import Dataset

from .colours import colours
from .confounded import CONFOUNDED
from .faces import faces
from .images import IMAGES
from .newsgroups import newsgroups
from .panels import PANELS
from .photographs import PHOTOGRAPHS
from .synthetic import L2X, SWITCHING
from .tabular import TABLES


class DatasetSource(Protocol):
    """A data set that can be loaded by name. Calling it with its options returns the Dataset."""

    @property
    def name(self) -> str:
        """The name for load_data."""

    @property
    def description(self) -> str:
        """A description in one sentence."""

    @property
    def columns(self) -> int | str:
        """Number of columns, without added noise columns, or the size of images, such as "28 x 56 pixels"."""

    @property
    def truth_sizes(self) -> tuple[int | str, ...]:
        """Possible numbers of true features, or a description of them; empty if unknown."""

    @property
    def control_flow(self) -> int | None:
        """The column that decides which other columns matter."""

    def __call__(self, *args: Any, **kwargs: Any) -> Dataset:
        """Return the Dataset; options differ between data sets."""


SOURCES: tuple[DatasetSource, ...] = (*SWITCHING, *L2X, *TABLES, *IMAGES, *PANELS, *PHOTOGRAPHS, faces, colours, *CONFOUNDED, newsgroups)
DATASETS: dict[str, DatasetSource] = {source.name: source for source in SOURCES}  # the names for load_data and the command line


def load_data(
    name: str,
    *,
    rows: int | None = None,
    seed: int = 0,
    noise_columns: int = 0,
    correlation: float = 0.0,
    target: str = "labels",
    **options: Any,
) -> Dataset:
    """Load a data set by name. Options that the data set does not have raise an error.

    Args:
        name: One of `DATASETS`; `lexplain.data.describe()` lists them.
        rows: Training rows. None: 10,000 for synthetic sets, all for images. Synthetic sets have as many test rows, and a tenth as many
            validation rows. Real tables do not have this option.
        seed: Random seed of the rows and the split.
        noise_columns: Number of uninformative standard normal columns to append.
        correlation: Correlation ρ of neighbouring columns, in [0, 1); that of columns i and j is ρ^|i-j|.
        target: Type of y: `"labels"`, the true `"probabilities"` (n, 2), or real `"values"` (noisy log-odds of class 0).
        options: Options that some data sets have: "faces" has `box_height` and `box_width` of the true box, in widths of the mouth.

    Example:
        >>> data = load_data("s3", rows=100, noise_columns=2)
        >>> data.train.x.shape, int(data.train.truth[0].sum()), data.names[data.control_flow]
        ((100, 13), 5, 'x11')
    """
    source = DATASETS[check.one_of(name, list(DATASETS), "data set")]
    values = {"rows": rows, "noise_columns": noise_columns, "correlation": correlation, "target": target}
    neutral = {"rows": None, "noise_columns": 0, "correlation": 0.0, "target": "labels"}
    requested = {option: value for option, value in values.items() if value != neutral[option]} | options
    for option in requested:
        check.one_of(option, list(inspect.signature(source).parameters), f"option of {name}")
    return source(seed=seed, **requested)


def describe() -> pd.DataFrame:
    """One row per data set, with its description, columns or pixels, number of true features and control-flow feature."""
    return pd.DataFrame(
        {
            "name": source.name,
            "description": source.description,
            "columns": source.columns,
            "true features": " or ".join(map(str, source.truth_sizes)) or "unknown",
            "control flow": "none" if source.control_flow is None else f"x{source.control_flow + 1}",
        }
        for source in SOURCES
    )
