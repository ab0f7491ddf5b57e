"""Figures of an explanation, whatever its kind of features: `pictures.py` says how each kind is drawn."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from lexplain import check
from lexplain.core import Explanation

from .padding import has_features
from .pictures import pictures_of


def row_bars(explanation: Explanation, row: int, *, most: int = 15, ax: Axes | None = None) -> Axes:
    """Draw a bar for each feature's score of one row, the kept ones highlighted; of an image, a map of the patches.

    Args:
        explanation: Where the row lies.
        row: Its position.
        most: How many features at most; kept ones come before others.
        ax: Where to draw; None makes a figure.
    """
    return pictures_of(explanation).row(explanation, row, most=most, ax=ax)


def feature_rates(explanation: Explanation, *, most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the share of rows that keep each feature, the most often kept first; of images, a map of the patches.

    Args:
        explanation: What to count.
        most: How many features at most.
        ax: Where to draw; None makes a figure.
    """
    if not has_features(explanation):
        raise ValueError(f"a mask of shape {tuple(explanation.mask.shape)} has no rates; give at least one row and feature")
    return pictures_of(explanation).rates(explanation, most=most, ax=ax)


def selection_map(
    explanation: Explanation,
    *,
    truth: np.ndarray | Tensor | None = None,
    rows: int = 30,
    ax: Axes | None = None,
) -> Axes:
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
    mask, true = _masks(explanation, truth)
    shown = _sorted_rows(mask.numpy(), true.numpy(), np.flatnonzero(explanation.counts.cpu().numpy()), rows)
    return pictures_of(explanation).map(explanation, shown, true=None if truth is None else true, ax=ax)


def _masks(explanation: Explanation, truth: np.ndarray | Tensor | None) -> tuple[Tensor, Tensor]:
    mask = explanation.mask.bool().cpu()
    return (mask, torch.zeros_like(mask)) if truth is None else check.mask_against_truth(mask, torch.as_tensor(truth).cpu())


def _sorted_rows(mask: np.ndarray, true: np.ndarray, among: np.ndarray, most: int) -> list[int]:
    """At most so many positions among some, evenly spread, those with similar patterns side by side."""
    spread = among[np.unique(np.linspace(0, len(among) - 1, min(most, len(among))).round().astype(int))]
    return sorted(spread.tolist(), key=lambda i: ((~true[i]).tolist(), (~mask[i]).tolist(), i))
