"""Imputations of an image."""

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
ImputerParts = tuple[Imputer, Patches, np.ndarray | Tensor]  # with a mask (d,)
WIDTH, AROUND = 1.5, 1.0  # inches of a picture, and of the titles and the legend above and below


def imputation_grid(explainer: Explainer | ImputerParts, image: RawRows, *, draws: int = 4, seed: int = 0) -> Figure:
    """Draw an image, its kept pixels, and several imputations of the hidden pixels.

    Args:
        explainer: Fitted Explainer of images, which selects the pixels; or (imputer, fitted features, mask (d,) of bool).
        image: One image in the form of `fit`, with or without a first axis of length 1.
        draws: Number of imputations.
        seed: Seed of the random numbers.
    """
    check.counts(draws=draws)
    imputer, features, mask, image = _parts(explainer, image)
    x = features.encode(image).x
    span, filled = span_of(image), sample_imputations(imputer, features, x, mask, draws=draws, seed=seed)[0]
    kept = kept_on(features, mask[0])
    original = displayed(x, span)[0]
    size = (WIDTH * (draws + 2), height_of(features, WIDTH) + AROUND)
    figure = Figure(figsize=size, layout=LaidOutOnce(), facecolor="white")
    panels = {"the image": original, "kept pixels": kept_alone(original, kept)}
    panels |= {f"imputation {n + 1}": picture for n, picture in enumerate(displayed(filled, span))}
    for nth, (title, picture) in enumerate(panels.items()):
        ax = figure.add_subplot(1, len(panels), nth + 1)
        show(ax, picture, features.shape)
        ax.set_title(title, size=TEXT, color=INK)
    figure.suptitle("Imputations of the hidden pixels", x=0.01, ha="left", size=11, weight="bold", color=INK)
    legend(figure, [HID], legend_of(features, span))
    return figure


def sample_imputations(imputer: Imputer, features: Patches, x: Tensor, mask: Tensor, *, draws: int, seed: int = 0) -> Tensor:
    """Imputations (b, draws, channels, rows, columns) of encoded images (b, channels, rows, columns) with masks (b, d)."""
    visible = features.expand(mask.bool().cpu())
    tensors = [*imputer.parameters(), *imputer.buffers()] if isinstance(imputer, torch.nn.Module) else []
    device = tensors[0].device if tensors else x.device
    many, many_visible = (t.repeat_interleave(draws, 0).to(device) for t in (x, visible))
    with torch.no_grad(), seeded(seed):
        filled = imputer(many, many_visible).cpu()
    return filled.reshape(len(x), draws, *x.shape[1:])


def _parts(explainer: Explainer | ImputerParts, image: RawRows) -> tuple[Imputer, Patches, Tensor, np.ndarray]:
    if isinstance(explainer, tuple):
        imputer, features, own_mask = explainer
    else:
        check.fitted(explainer)
        imputer, features, own_mask = explainer.method_.imputer, explainer.features_, None
    patches = fitted_patches(features, image)
    values = as_array(image)
    values = values[None] if values.ndim < len(str(patches.layout)) else values
    mask = explainer.explain(values).mask if not isinstance(explainer, tuple) else torch.as_tensor(own_mask)
    return imputer, patches, check.mask_of_rows(mask.reshape(-1, mask.shape[-1]), (1, patches.count)), values
