"""How often each patch of an image is kept."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from lexplain.core import Explanation
from lexplain.report.figures.canvas import axes_or_new, heading
from lexplain.report.padding import kept_rates
from lexplain.report.wording import count

from .image_axes import colour_bar, show
from .paint import SHADES, coloured
from .picture import explained_patches, height_of, on_pixels


def patch_rates(explanation: Explanation, *, most: int = 30, ax: Axes | None = None) -> Axes:  # noqa: ARG001  a map shows all
    """Draw the share of images that keep each patch, as a map of the image."""
    features = explained_patches(explanation, needs_images=False)
    rates = on_pixels(features, kept_rates(explanation))
    scale = Normalize(0, float(rates.max()) or 1.0)
    ax = axes_or_new(ax, 4.7, 0.5 + height_of(features, 3.7))
    show(ax, coloured(rates, scale, SHADES), features.shape)
    each = ", mean of the channels" if features.each_channel else ""
    colour_bar(ax, scale, SHADES, f"share of rows that keep it{each}")
    heading(ax, f"How often each patch is kept, of {count(len(explanation), 'row')}")
    return ax
