"""Which features are kept, row by row."""

from __future__ import annotations

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Patch, Rectangle
from torch import Tensor

from lexplain import check
from lexplain.core import Explanation
from lexplain.report.rows import row_label
from lexplain.report.wording import count

from .canvas import ORANGE, RULE, TEXT, axes_or_new, heading, literal
from .mask_tiles import mask_tiles
from .paint import KEPT_SHADES
from .picture import of_patches

MOST_COLUMNS = 40  # more names cannot be read


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
    if explanation.mask.numel() == 0 or rows < 1:
        raise ValueError(f"{rows} rows of a mask of shape {tuple(explanation.mask.shape)} make no picture; give at least one row")
    mask, true = _masks(explanation, truth)
    row = _sorted_rows(mask, true, rows)
    if of_patches(explanation):
        return mask_tiles(explanation, row.tolist(), true=None if truth is None else torch.from_numpy(true), ax=ax)
    column = _columns(mask[row] | true[row])
    mask, true = mask[row][:, column], true[row][:, column]
    scores = explanation.scores.detach().float().cpu().numpy()[row][:, column]
    long = max(len(explanation.feature_names[j]) for j in column) > 4

    ax = axes_or_new(ax, min(9.0, max(4.8, 1.8 + 0.24 * len(column))), 1.7 + 0.17 * len(row) + (0.8 if long else 0))
    handles = [Patch(color=KEPT_SHADES(0.5), label="kept")]
    _fill(ax, mask, scores)
    if truth is not None:
        ax.add_collection(PatchCollection(_cells(true), facecolor="none", edgecolor=ORANGE, linewidth=1.8))
        handles.append(Patch(facecolor="none", edgecolor=ORANGE, linewidth=1.8, label="true feature"))
    _frame(ax, [explanation.feature_names[j] for j in column], [row_label(explanation, int(i)) for i in row], long=long)
    heading(ax, _title(explanation, len(row), len(column)), handles)
    return ax


def _masks(explanation: Explanation, truth: np.ndarray | Tensor | None) -> tuple[np.ndarray, np.ndarray]:
    mask = explanation.mask.bool().cpu()
    if truth is None:
        return mask.numpy(), np.zeros(mask.shape, dtype=bool)
    kept, true = check.mask_against_truth(mask, torch.as_tensor(truth).cpu())
    return kept.numpy(), true.numpy()


def _sorted_rows(mask: np.ndarray, true: np.ndarray, most: int) -> np.ndarray:
    """(at most `most`,) positions, evenly spread, those with like patterns side by side."""
    spread = np.unique(np.linspace(0, len(mask) - 1, min(most, len(mask))).round().astype(int))
    return np.array(sorted(spread, key=lambda i: ((~true[i]).tolist(), (~mask[i]).tolist(), i)))


def _columns(marked: np.ndarray) -> np.ndarray:
    """The features to draw, in their own order."""
    return np.sort(np.argsort(-marked.sum(0), kind="stable")[:MOST_COLUMNS])


def _cells(marked: np.ndarray, size: float = 0.9) -> list[Rectangle]:
    return [Rectangle((j - size / 2, i - size / 2), size, size) for i, j in np.argwhere(marked).tolist()]


def _fill(ax: Axes, mask: np.ndarray, scores: np.ndarray) -> None:
    kept = scores[mask]
    known = kept[np.isfinite(kept)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    shade = Normalize(low, high) if high > low else Normalize(low - 1, high + 1)
    colours = KEPT_SHADES(shade(np.nan_to_num(kept, nan=low, posinf=high, neginf=low)))
    ax.add_collection(PatchCollection(_cells(mask), facecolor=colours, edgecolor="none"))
    if high > low:
        bar = ax.figure.colorbar(ScalarMappable(shade, KEPT_SHADES), ax=ax, fraction=0.05, pad=0.02, aspect=30, shrink=0.9)
        bar.set_label("score of a kept feature", size=TEXT, color=ax.title.get_color())
        bar.ax.tick_params(labelsize=TEXT - 1, colors=ax.title.get_color())
        bar.outline.set_visible(False)
        assert bar.solids is not None  # only contours have none
        bar.solids.set_edgecolor("face")  # no white seams between the shades


def _frame(ax: Axes, names: list[str], labels: list[str], *, long: bool) -> None:
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(labels) - 0.5, -0.5))
    ax.set_xticks(range(len(names)), [literal(name, 24) for name in names], color=ax.title.get_color(), size=TEXT - 0.5)
    if long:
        for text in ax.get_xticklabels():
            text.set(rotation=90, rotation_mode="anchor", ha="right", va="center")
    shown = labels if len(labels) <= 60 else [""] * len(labels)
    ax.set_yticks(range(len(labels)), [literal(label, 14) for label in shown], size=TEXT - 2)
    ax.tick_params(length=0)
    ax.vlines(np.arange(1, len(names)) - 0.5, -0.5, len(labels) - 0.5, color=RULE, linewidth=0.6, zorder=0.5)
    ax.hlines(np.arange(1, len(labels)) - 0.5, -0.5, len(names) - 0.5, color=RULE, linewidth=0.6, zorder=0.5)
    ax.set_ylabel("row")
    ax.spines[:].set_visible(True)


def _title(explanation: Explanation, rows: int, columns: int) -> str:
    of_rows = count(rows, "row") if rows == len(explanation) else f"{rows} of {count(len(explanation), 'row')}"
    features = len(explanation.feature_names)
    of_features = "" if columns == features else f", {columns} of {features:,} features"
    return f"Features kept in {of_rows}{of_features}"
