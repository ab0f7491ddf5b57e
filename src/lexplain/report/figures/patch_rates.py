"""How often each patch of an image is kept."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from lexplain.core import Explanation
from lexplain.report.wording import count

from .canvas import axes_or_new, heading
from .image_axes import colour_bar, show
from .paint import SHADES, coloured
from .picture import height_of, on_pixels


def patch_rates(explanation: Explanation, *, ax: Axes | None = None) -> Axes:
    """Draw where the pixels lie that are kept in many images: the share of rows, on the image's own grid."""
    features = explanation.features
    rates = on_pixels(features, explanation.mask.float().mean(0))
    scale = Normalize(0, float(rates.max()) or 1.0)
    ax = axes_or_new(ax, 4.7, 0.5 + height_of(features, 3.7))
    show(ax, coloured(rates, scale, SHADES), features.shape)
    each = ", mean of the channels" if features.each_channel else ""
    colour_bar(ax, scale, SHADES, f"share of rows that keep it{each}")
    heading(ax, f"How often each patch is kept, of {count(len(explanation), 'row')}")
    return ax
