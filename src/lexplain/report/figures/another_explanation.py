"""Models that are right for different reasons, next to each other."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lexplain.core.contracts import RawRows
from lexplain.right_reasons import AlternativeModels

from .canvas import BLUE, INK, MUTED, ORANGE, TEXT, LaidOutOnce, literal

CELL = 1.35  # inches of a picture
BARS = 8  # maximum number of bars per row of a table


def another_explanation(
    found: AlternativeModels, X: RawRows, *, shape: tuple[int, ...] | None = None, titles: tuple[str, ...] = ()
) -> Figure:
    """Draw each model's accuracy and its explanation of the same rows, so that an expert can choose a model.

    Pictures are drawn unchanged, with the pixels that a model uses in orange; rows of a table as bars of their input gradients.

    Args:
        found: The result of `find_another_explanation`.
        X: A few rows; each is one column of the figure.
        shape: Shape of the picture whose pixels are the columns: (height, width) or (height, width, 3). None: X is a table.
        titles: One title per row, such as its class.
    """
    columns = len(X)
    wide, high = (CELL, CELL) if shape is not None else (2.6, 1.9)
    figure = Figure(figsize=(1.6 + wide * columns, 0.5 + high * len(found)), layout=LaidOutOnce(), facecolor="white")
    grid = figure.subplots(len(found), columns, squeeze=False)
    for i, (model, explanation) in enumerate(zip(found.models, found.explain(X), strict=True)):
        for j in range(columns):
            ax, sizes = grid[i, j], explanation.scores[j].numpy()
            if shape is not None:
                _picture(ax, np.asarray(X)[j].reshape(shape), explanation.mask[j].numpy().reshape(shape))
            else:
                _bars(ax, sizes, explanation.mask[j].numpy(), model.names_)
            if i == 0 and j < len(titles):
                ax.set_title(literal(titles[j], 24), size=TEXT, color=INK)
        name = f"model {i + 1}\ntrain {found.train_scores[i]:.1%}\nheld out {found.held_out_scores[i]:.1%}"
        grid[i, 0].annotate(
            name, (0, 0.5), xytext=(-10 if shape is not None else -120, 0), xycoords="axes fraction", textcoords="offset points",
            ha="right", va="center", size=TEXT, color=INK,
        )  # fmt: skip
    used = "inputs that the model uses: gradient above 0.67 of the row's largest"
    colour = ORANGE if shape is not None else BLUE
    mark = Line2D([], [], marker="s", linestyle="", markersize=7, color=colour, label=used)
    figure.legend(handles=[mark], loc="outside lower center", frameon=False, fontsize=TEXT)
    return figure


def _picture(ax: Axes, values: np.ndarray, used: np.ndarray) -> None:
    span = float(values.max() - values.min()) or 1.0
    grey = (values - values.min()) / span
    shown = grey if grey.ndim == 3 else np.repeat(grey[..., None], 3, axis=2)
    ax.imshow(shown, interpolation="nearest")
    pixels = used.any(-1) if used.ndim == 3 else used
    rows, columns = np.nonzero(pixels)
    size = max(2.0, 45.0 / max(pixels.shape))
    ax.plot(columns, rows, linestyle="", marker="s", markersize=size, color=ORANGE, markeredgecolor="white", markeredgewidth=0.4)
    ax.set_xticks([])
    ax.set_yticks([])


def _bars(ax: Axes, sizes: np.ndarray, used: np.ndarray, names: tuple[str, ...]) -> None:
    order = np.argsort(-sizes, kind="stable")[:BARS]
    share = sizes[order] / (sizes.max() or 1.0)
    ax.barh(range(len(order)), share, color=[BLUE if used[k] else MUTED for k in order], height=0.7)
    ax.set_yticks(range(len(order)), [literal(names[k], 20) for k in order], size=TEXT - 2)
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xticks([])
    ax.tick_params(length=0, colors=INK)
    ax.spines[:].set_visible(False)
