"""The door to every data set: a name in, a Dataset out."""

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
    """What a data set on the menu says of itself; calling it, with the options it has, makes the Dataset."""

    @property
    def name(self) -> str:
        """What load_data calls it."""

    @property
    def description(self) -> str:
        """What it is, in one sentence."""

    @property
    def columns(self) -> int | str:
        """How many columns it has, without added noise, or how large its images are, such as "28 x 56 pixels"."""

    @property
    def truth_sizes(self) -> tuple[int | str, ...]:
        """How many features really decide, one number or a few, or which they are in words; none where nobody knows."""

    @property
    def control_flow(self) -> int | None:
        """The column that only decides which others matter."""

    def __call__(self, *args: Any, **kwargs: Any) -> Dataset:
        """Make it; each data set names its own options."""


SOURCES: tuple[DatasetSource, ...] = (*SWITCHING, *L2X, *TABLES, *IMAGES, *PANELS, *PHOTOGRAPHS, faces, colours, *CONFOUNDED, newsgroups)
DATASETS: dict[str, DatasetSource] = {source.name: source for source in SOURCES}  # the menu of load_data and the command line


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
    """Load a data set by name; an option that it does not have is refused, not ignored.

    Args:
        name: One of `DATASETS`; `describe()` says what they are.
        rows: How many rows to train on. None: 10,000 of a made data set, where as many are for testing and a tenth for validation, and
            all images of the others, of which fewer can be had. Tables come whole.
        seed: The same seed gives the same rows and the same split.
        noise_columns: How many standard normal columns to append that decide nothing.
        correlation: ρ of the Toeplitz matrix ρ^|i-j| that all columns are correlated by, in [0, 1).
        target: What y is: `"labels"`, the true `"probabilities"` (n, 2), or real `"values"` (the log-odds of class 0 plus a little noise).
        options: A data set's own: `box_height` and `box_width` of faces, in lengths of the mouth.

    Example:
        >>> data = load_data("s3", rows=100, noise_columns=2)
        >>> data.train.x.shape, int(data.train.truth[0].sum()), data.names[data.control_flow]
        ((100, 13), 5, 'x11')
    """
    source = DATASETS[check.one_of(name, list(DATASETS), "data set")]
    given = {"rows": rows, "noise_columns": noise_columns, "correlation": correlation, "target": target}
    neutral = {"rows": None, "noise_columns": 0, "correlation": 0.0, "target": "labels"}
    asked = {option: value for option, value in given.items() if value != neutral[option]} | options
    for option in asked:
        check.one_of(option, list(inspect.signature(source).parameters), f"option of {name}")
    return source(seed=seed, **asked)


def describe() -> pd.DataFrame:
    """One row a data set: what it is, how many columns or pixels it has, how many features decide, and which only chooses the others."""
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
