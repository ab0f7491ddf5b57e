"""How explanations are drawn, whatever their kind of features: the figures of any explanation, and what each kind draws in them.

To draw a kind of your own, give its `Kind` pictures such as `Pictures(noun="word", rows=RowPictures(...))`. By default, a kind is drawn
as named features.
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
        """The axes given, or new ones, with at most so many features."""


class DrawMap(Protocol):
    """Draw what several rows keep."""

    def __call__(self, explanation: Explanation, rows: Sequence[int], *, true: Tensor | None, ax: Axes | None) -> Axes:
        """The axes given, or new ones, with the rows at these positions; `true` (b, d) are the features that really decide."""


class DrawRates(Protocol):
    """Draw how often each feature is kept."""

    def __call__(self, explanation: Explanation, *, most: int, ax: Axes | None) -> Axes:
        """The axes given, or new ones, with at most so many features."""


class RowsHtml(Protocol):
    """Write rows as a part of a page."""

    def __call__(self, explanation: Explanation, rows: Sequence[int], *, most: int) -> str:
        """HTML of the rows at these positions, each with at most so many features; every text in it is escaped."""


class RowsTable(Protocol):
    """Write rows as a table for a notebook, without running the predictor."""

    def __call__(self, explanation: Explanation, rows: Sequence[int], *, summary: str, left_out: str) -> str:
        """HTML of the rows at these positions, below a summary; `left_out` says how many more there are, if any."""


@dataclass(frozen=True)
class RowPictures:
    """How the rows of a kind are shown one by one, on pages and in notebooks."""

    html: RowsHtml
    table: RowsTable
    about: Callable[[Explanation], str]  # how to read them
    needs_data: bool = False  # whether an explanation without its rows is shown as bars
    first: bool = False  # whether a page shows them before the map and the rates


@dataclass(frozen=True)
class Pictures:
    """How explanations of a kind are drawn; the defaults draw bars and cells of named features."""

    noun: str = "feature"  # what one feature is called
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
    """How an explanation is drawn: by the kind of its features, or by names where these are unknown or do not fit the scores."""
    features = explanation.features
    if features is None or features.count != explanation.scores.shape[1]:
        return NAMED
    kind = kinds().get(features.kind)
    return NAMED if kind is None or kind.pictures is None else cast("Pictures", kind.pictures())


def row_pictures_of(explanation: Explanation) -> RowPictures:
    """How rows of an explanation are shown one by one: as bars where the kind needs rows that are not there."""
    known = pictures_of(explanation).rows
    drawable = len(explanation) > 0 and (explanation.data is not None or not known.needs_data)
    return known if drawable else NAMED.rows


def row_bars(explanation: Explanation, row: int, *, max_features: int = 15, ax: Axes | None = None) -> Axes:
    """Draw a bar for each feature's score of one row, the kept ones highlighted; of an image, a map of the patches.

    Args:
        explanation: Where the row lies.
        row: Its position.
        max_features: How many features at most; kept ones come before others.
        ax: Where to draw; None makes a figure.
    """
    return pictures_of(explanation).row(explanation, row, most=max_features, ax=ax)


def feature_rates(explanation: Explanation, *, max_features: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the share of rows that keep each feature, the most often kept first; of images, a map of the patches.

    Args:
        explanation: What to count.
        max_features: How many features at most.
        ax: Where to draw; None makes a figure.
    """
    if not has_features(explanation):
        raise ValueError(f"a mask of shape {tuple(explanation.mask.shape)} has no rates; give at least one row and feature")
    return pictures_of(explanation).rates(explanation, most=max_features, ax=ax)


def selection_map(explanation: Explanation, *, truth: np.ndarray | Tensor | None = None, rows: int = 30, ax: Axes | None = None) -> Axes:
    """Draw rows by features: kept cells are filled, darker for a higher score, and true ones outlined.

    Rows are taken evenly from all of them and sorted by their truth and then by their mask, so that patterns show. Of more than 40
    features, those most often kept (or true) are drawn. Of images, each row is a small picture of its mask.

    Args:
        explanation: What to draw.
        truth: (b, d) of bool, where it is known: the features that really decide.
        rows: How many rows at most.
        ax: Where to draw; None makes a figure.
    """
    if not has_features(explanation) or rows < 1:
        raise ValueError(f"{rows} rows of a mask of shape {tuple(explanation.mask.shape)} make no picture; give at least one row")
    mask = explanation.mask.bool().cpu()
    true = torch.zeros_like(mask)
    if truth is not None:
        mask, true = check.mask_against_truth(mask, torch.as_tensor(truth).cpu())
    among = np.flatnonzero(explanation.feature_counts.cpu().numpy())
    spread = among[np.unique(np.linspace(0, len(among) - 1, min(rows, len(among))).round().astype(int))]
    shown = sorted(spread.tolist(), key=lambda i: ((~true[i]).tolist(), (~mask[i]).tolist(), i))  # similar patterns side by side
    return pictures_of(explanation).map(explanation, shown, true=None if truth is None else true, ax=ax)
