"""What an imputer puts where an image is hidden."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from lexplain import check
from lexplain.core import seeded
from lexplain.core.contracts import RawRows
from lexplain.explainers import Explainer
from lexplain.features import Patches
from lexplain.report.figures.canvas import INK, TEXT, LaidOutOnce

from ...core.rows import as_array
from .image_axes import HID, legend, show
from .picture import displayed, fitted_patches, height_of, kept_alone, kept_on, legend_of, span_of

Imputer = Callable[[Tensor, Tensor], Tensor]
GivenParts = tuple[Imputer, Patches, np.ndarray | Tensor]  # with a mask (d,)
WIDTH, AROUND = 1.5, 1.0  # inches of a picture, and of the titles and the legend above and below


def imputation_grid(explainer: Explainer | GivenParts, image: RawRows, *, draws: int = 4, seed: int = 0) -> Figure:
    """Draw an image, what is kept of it, and several images that the imputer made of that.

    Args:
        explainer: A fitted Explainer of images, which says what is kept; or (imputer, fitted features, mask (d,) of bool).
        image: One image, as the explainer was given many; (1, ...) will do.
        draws: How many times the hidden pixels are drawn.
        seed: Of the draws.
    """
    check.counts(draws=draws)
    imputer, features, mask, image = _parts(explainer, image)
    x = features.encode(image).x
    span, filled = span_of(image), sample_imputations(imputer, features, x, mask, draws=draws, seed=seed)[0]
    kept = kept_on(features, mask[0])
    original = displayed(x, span)[0]
    size = (WIDTH * (draws + 2), height_of(features, WIDTH) + AROUND)
    figure = Figure(figsize=size, layout=LaidOutOnce(), facecolor="white")
    panels = {"the image": original, "what is kept": kept_alone(original, kept)}
    panels |= {f"draw {n + 1}": picture for n, picture in enumerate(displayed(filled, span))}
    for nth, (title, picture) in enumerate(panels.items()):
        ax = figure.add_subplot(1, len(panels), nth + 1)
        show(ax, picture, features.shape)
        ax.set_title(title, size=TEXT, color=INK)
    figure.suptitle("What the imputer draws where the image is hidden", x=0.01, ha="left", size=11, weight="bold", color=INK)
    legend(figure, [HID], legend_of(features, span))
    return figure


def sample_imputations(imputer: Imputer, features: Patches, x: Tensor, mask: Tensor, *, draws: int, seed: int = 0) -> Tensor:
    """Draws (b, draws, channels, rows, columns) of what is hidden in encoded images (b, channels, rows, columns) by masks (b, d)."""
    raw = features.expand(mask.bool().cpu())
    held = [*imputer.parameters(), *imputer.buffers()] if isinstance(imputer, torch.nn.Module) else []
    device = held[0].device if held else x.device
    many, shown = (t.repeat_interleave(draws, 0).to(device) for t in (x, raw))
    with torch.no_grad(), seeded(seed):
        filled = imputer(many, shown).cpu()
    return filled.reshape(len(x), draws, *x.shape[1:])


def _parts(explainer: Explainer | GivenParts, image: RawRows) -> tuple[Imputer, Patches, Tensor, np.ndarray]:
    if isinstance(explainer, tuple):
        imputer, features, given = explainer
    else:
        check.fitted(explainer)
        imputer, features, given = explainer.method_.imputer, explainer.features_, None
    patches = fitted_patches(features, image)
    values = as_array(image)
    values = values[None] if values.ndim < len(str(patches.layout)) else values
    mask = explainer.explain(values).mask if not isinstance(explainer, tuple) else torch.as_tensor(given)
    return imputer, patches, check.mask_of_rows(mask.reshape(-1, mask.shape[-1]), (1, patches.count)), values
