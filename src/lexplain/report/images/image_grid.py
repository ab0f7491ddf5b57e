"""Several images in one figure: the kept pixels of each, and those of several explainers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill, wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from torch import Tensor

from lexplain import check
from lexplain.core import Explanation
from lexplain.report.figures.canvas import INK, ORANGE, TEXT, LaidOutOnce, literal
from lexplain.report.formatting import format_number, some_of
from lexplain.report.rows import read_row, spread_rows

from ...core.rows import as_array
from ...models.target import same_length
from .image_axes import HID, KEPT, TRUE, colour_bar, legend, outline, score_word, show
from .imputation_grid import Imputer, sample_imputations
from .picture import (
    displayed,
    explained_patches,
    four_views,
    height_of,
    images_of,
    kept_alone,
    kept_on,
    legend_of,
    on_pixels,
    rows_to_draw,
    score_maps,
    shade,
    shown_images,
    span_of,
)

PANEL, LABEL = 1.35, 1.25  # inches of a picture, and of the texts left of it
WIDTH = 1.5  # inches of a picture with several explanations
LINE = 20  # characters per line of a name


def image_grid(
    explanation: Explanation,
    *,
    rows: int | Sequence[int] = 6,
    truth: np.ndarray | Tensor | None = None,
    labels: Sequence[object] | np.ndarray | None = None,
    imputer: Imputer | None = None,
    draws: int = 3,
) -> Figure:
    """Draw one line per image: the image, its kept pixels (on it and alone), the scores, and several imputations.

    Args:
        explanation: Explanation of images, with patches as features.
        rows: Number of images, from the full range of predictions, or positions of images.
        truth: (b, d) of bool, the ground truth, which is outlined. None: unknown.
        labels: (b,) true classes. Wrong predictions are highlighted. None: unknown.
        imputer: Imputer of encoded images, such as `explainer.method_.imputer`. None: no imputations.
        draws: Number of imputations of each image.
    """
    features, span = explained_patches(explanation), span_of(explanation.data)
    positions = spread_rows(explanation, int(rows)) if isinstance(rows, (int, np.integer)) else list(rows)
    shown = rows_to_draw(positions, len(explanation))
    known = None if labels is None else as_array(labels)
    if known is not None:
        same_length(len(explanation), known)
    true = None if truth is None else features.feature_truth(truth, len(explanation))
    look = shade(score_maps(explanation, shown))
    panels = four_views(explanation, shown, look)
    if imputer is not None:
        check.counts(draws=draws)
        filled = sample_imputations(imputer, features, images_of(explanation, shown), explanation.mask[shown], draws=draws)
        panels |= {f"imputation {n + 1}": list(displayed(filled[:, n], span)) for n in range(draws)}
    tall = PANEL * features.shape[1] / features.shape[2]
    figure = Figure(figsize=(LABEL + PANEL * len(panels), 1.4 + (tall + 0.06) * len(shown)), layout=LaidOutOnce(), facecolor="white")
    places = figure.add_gridspec(len(shown) + 1, len(panels), height_ratios=[1.0] * len(shown) + [0.08])
    first = _lay_out(figure, places, panels, [None if true is None else on_pixels(features, true[row]) > 0 for row in shown])
    for ax, row in zip(first, shown, strict=True):
        _name(ax, explanation, row, None if known is None else known[row])
    colour_bar(first[0], *look, fill(score_word(explanation), 16), into=figure.add_subplot(places[-1, 3]))
    below = figure.add_subplot(places[-1, :3])
    below.set_axis_off()
    legend(below, [KEPT, HID, *([] if true is None else [TRUE])], legend_of(features, span))
    of_all = some_of(len(shown), len(explanation), "image")
    title = f"Pixels that {literal(explanation.method)} keeps in {of_all}" if explanation.method else f"Pixels kept in {of_all}"
    figure.suptitle(title, x=0.01, ha="left", size=11, weight="bold", color=INK)
    return figure


def _lay_out(figure: Figure, places: GridSpec, panels: dict[str, list[np.ndarray]], true: Sequence[np.ndarray | None]) -> list[Axes]:
    """Draw every picture in its place, with the ground truth outlined on masks and scores. Return the axes of the first column."""
    first, shape = [], panels["the image"][0].shape[:2]
    for column, (title, pictures) in enumerate(panels.items()):
        for line, (picture, region) in enumerate(zip(pictures, true, strict=True)):
            ax = figure.add_subplot(places[line, column])
            show(ax, picture, shape)
            ax.set_title(title if line == 0 else "", size=TEXT, color=INK)
            if column == 0:
                first.append(ax)
            elif column < 4 and region is not None:
                outline(ax, region)
    return first


def _name(ax: Axes, explanation: Explanation, row: int, label: object) -> None:
    """Write the row, its prediction and its true class next to its first picture."""
    content = read_row(explanation, row, most=0)
    lines = [f"row {literal(content.label, 12)}", *([literal(content.outcome, 34).replace(" (", "\n(")] if content.outcome else [])]
    classes = None if explanation.compute_prediction is None else explanation.classes
    predicted = None if label is None or classes is None else classes[int(explanation.prediction[row].argmax())]
    wrong = predicted is not None and format_number(predicted) != format_number(label)
    lines += [] if label is None else [f"true {literal(format_number(label), 14)}{' (wrong)' if wrong else ''}"]
    ax.set_ylabel("\n".join(lines), rotation=0, ha="right", va="center", size=TEXT - 0.5, color=ORANGE if wrong else INK, labelpad=6)


def masks_side_by_side(explanations: Mapping[str, Explanation], *, images: int = 5, title: str = "") -> Figure:
    """Draw some images next to each other and, below them, their kept pixels: one line per explanation.

    Args:
        explanations: Names and explanations of the same images. Their patches may differ in size.
        images: Maximum number of images; the first ones are drawn.
        title: Title of the figure.
    """
    first = next(iter(explanations.values()))
    rows = rows_to_draw(range(min(images, len(first))), len(first))
    pictures, features = shown_images(first, rows), explained_patches(first)
    high = height_of(features, WIDTH)
    size = (WIDTH * len(rows) + 1.5, (len(explanations) + 1) * (high + 0.12) + (0.8 if title else 0.5))
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    axes = figure.subplots(len(explanations) + 1, len(rows), squeeze=False)
    for column, row in enumerate(rows):
        show(axes[0, column], pictures[column], features.shape)
        for place, explanation in enumerate(explanations.values(), start=1):
            kept = kept_on(explained_patches(explanation), explanation.mask[row])
            show(axes[place, column], kept_alone(pictures[column], kept), features.shape)
    for place, name in enumerate(("the image", *explanations)):
        label = "\n".join(wrap(literal(name, 3 * LINE), LINE))
        axes[place, 0].set_ylabel(label, rotation=0, ha="right", va="center", size=TEXT, color=INK)
    if title:
        figure.suptitle(title, x=0.01, ha="left", size=11, weight="bold", color=INK)
    figure.legend(handles=[HID], loc="outside lower center", frameon=False, fontsize=TEXT)
    return figure
