"""Figures of any explanation, and how each kind of features is drawn.

To draw your own kind, pass its `Kind` pictures such as `Pictures(noun="word", rows=RowPictures(...))`. By default, a kind is drawn as
named features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from lexplain import check
from lexplain.core import Explanation
from lexplain.core.kinds import kinds

from .figures.named import mask_cells, rate_bars, score_bars
from .images.image_html import about_images, image_rows_html, image_table
from .images.maps import image_scores, mask_tiles, patch_rates
from .rows import about_bars, bars_html, features_table, has_features


class DrawRow(Protocol):
    """Draw the scores of one row."""

    def __call__(self, explanation: Explanation, row: int, *, most: int, ax: Axes | None) -> Axes:
        """Return `ax`, or new axes, with at most `most` features."""


class DrawMap(Protocol):
    """Draw the kept features of several rows."""

    def __call__(self, explanation: Explanation, rows: Sequence[int], *, true: Tensor | None, ax: Axes | None) -> Axes:
        """Return `ax`, or new axes, with the rows at these positions; `true` (b, d) is the ground truth."""


class DrawRates(Protocol):
    """Draw how often each feature is kept."""

    def __call__(self, explanation: Explanation, *, most: int, ax: Axes | None) -> Axes:
        """Return `ax`, or new axes, with at most `most` features."""


class RowsHtml(Protocol):
    """Write rows as a part of a page."""

    def __call__(self, explanation: Explanation, rows: Sequence[int], *, most: int) -> str:
        """Return HTML of the rows at these positions, each with at most `most` features. All texts in it are escaped."""


class RowsTable(Protocol):
    """Write rows as a table for a notebook, without running the predictor."""

    def __call__(self, explanation: Explanation, rows: Sequence[int], *, summary: str, left_out: str) -> str:
        """Return HTML of the rows at these positions, below a summary; `left_out` counts the other rows, if any."""


@dataclass(frozen=True)
class RowPictures:
    """Functions that show rows of a kind one by one, on pages and in notebooks."""

    html: RowsHtml
    table: RowsTable
    about: Callable[[Explanation], str]  # how to read them
    needs_data: bool = False  # if True, an explanation without its rows is shown as bars
    first: bool = False  # if True, a page shows them before the map and the rates


@dataclass(frozen=True)
class Pictures:
    """Functions that draw explanations of a kind. The defaults draw bars and cells of named features."""

    noun: str = "feature"  # name of one feature
    row: DrawRow = score_bars
    map: DrawMap = mask_cells
    rates: DrawRates = rate_bars
    rows: RowPictures = RowPictures(bars_html, features_table, about_bars)


def _image_row(explanation: Explanation, row: int, *, most: int, ax: Axes | None) -> Axes:  # noqa: ARG001  a map shows all
    return image_scores(explanation, row, kept=True, ax=ax)


NAMED = Pictures()
PATCHES = Pictures(
    noun="patch",
    row=_image_row,
    map=mask_tiles,
    rates=patch_rates,
    rows=RowPictures(image_rows_html, image_table, about_images, needs_data=True, first=True),
)


def pictures_of(explanation: Explanation) -> Pictures:
    """The pictures of the kind of its features, or of named features if these are unknown or do not match the scores."""
    features = explanation.features
    if features is None or features.count != explanation.scores.shape[1]:
        return NAMED
    kind = kinds().get(features.kind)
    return NAMED if kind is None or kind.pictures is None else cast("Pictures", kind.pictures())


def row_pictures_of(explanation: Explanation) -> RowPictures:
    """The functions that show rows one by one: as bars if the kind needs rows that the explanation does not contain."""
    known = pictures_of(explanation).rows
    drawable = len(explanation) > 0 and (explanation.data is not None or not known.needs_data)
    return known if drawable else NAMED.rows


def row_bars(explanation: Explanation, row: int, *, max_features: int = 15, ax: Axes | None = None) -> Axes:
    """Draw the scores of one row as bars, with kept features highlighted; for an image, as a map of the patches.

    Args:
        explanation: Explanation that contains the row.
        row: Position of the row.
        max_features: Maximum number of features; kept features come first.
        ax: Axes to draw on. None: axes of a new figure.
    """
    return pictures_of(explanation).row(explanation, row, most=max_features, ax=ax)


def feature_rates(explanation: Explanation, *, max_features: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the share of rows that keep each feature, highest first; for images, a map of the patches.

    Args:
        explanation: Explanation to draw.
        max_features: Maximum number of features.
        ax: Axes to draw on. None: axes of a new figure.
    """
    if not has_features(explanation):
        raise ValueError(f"A mask of shape {tuple(explanation.mask.shape)} has no rates. At least one row and one feature are needed.")
    return pictures_of(explanation).rates(explanation, most=max_features, ax=ax)


def selection_map(explanation: Explanation, *, truth: np.ndarray | Tensor | None = None, rows: int = 30, ax: Axes | None = None) -> Axes:
    """Draw rows by features. Kept cells are filled, darker for a higher score; true features are outlined.

    Rows are evenly spread and sorted by ground truth and then by mask, so that similar rows are next to each other. Of more than 40
    features, those most often kept (or true) are drawn. For images, each row is a small picture of its mask.

    Args:
        explanation: Explanation to draw.
        truth: (b, d) of bool, the ground truth: features known to determine the label. None: unknown.
        rows: Maximum number of rows.
        ax: Axes to draw on. None: axes of a new figure.
    """
    if not has_features(explanation) or rows < 1:
        raise ValueError(f"Cannot draw {rows} rows of a mask of shape {tuple(explanation.mask.shape)}. At least one row is needed.")
    mask = explanation.mask.bool().cpu()
    true = torch.zeros_like(mask)
    if truth is not None:
        mask, true = check.mask_against_truth(mask, torch.as_tensor(truth).cpu())
    among = np.flatnonzero(explanation.feature_counts.cpu().numpy())
    spread = among[np.unique(np.linspace(0, len(among) - 1, min(rows, len(among))).round().astype(int))]
    shown = sorted(spread.tolist(), key=lambda i: ((~true[i]).tolist(), (~mask[i]).tolist(), i))  # similar rows next to each other
    return pictures_of(explanation).map(explanation, shown, true=None if truth is None else true, ax=ax)
