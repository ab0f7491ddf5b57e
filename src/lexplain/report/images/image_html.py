"""Rows of an explanation of images as HTML, with small embedded pictures and their captions."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
from matplotlib.colors import Colormap, Normalize
from matplotlib.image import imsave

from lexplain.core import Explanation
from lexplain.report.figures.canvas import NO_METADATA
from lexplain.report.formatting import format_number, pluralise
from lexplain.report.page import TEMPLATES
from lexplain.report.rows import read_row

from .image_axes import score_word
from .picture import CAPTIONS, enlarged, explained_patches, four_views, legend_of, score_maps, shade, span_of

MOST_SIDE = 336  # pixels; of a larger image, every second, third, ... pixel is shown
BEST = 3  # patches that are named
ABOUT = (
    "Each row has four pictures. The second marks the kept pixels in blue on the faded image. The third shows the kept pixels unchanged, "
    "with stripes over the hidden ones, so a black pixel is always a kept one. In the map of the scores, a darker blue is a higher score."
)
NO_BREAK = "\N{NO-BREAK SPACE}"


def image_rows_html(explanation: Explanation, rows: Sequence[int], *, most: int = BEST) -> str:  # noqa: ARG001  maps show all
    """Rows next to each other as HTML: the image, its kept pixels (on it and alone), and the scores with their colour bar."""
    scale, colours = shade(score_maps(explanation, rows))
    ends = [format_number(float(end or 0.0)) for end in (scale.vmin, scale.vmax)]
    bar = png(colours(np.linspace(0, 1, 120))[None, :, :3].repeat(10, 0))
    return TEMPLATES.get_template("image_rows.html").render(
        rows=_drawn(explanation, rows, (scale, colours), run=True), word=score_word(explanation), ends=ends, bar=bar
    )


def image_table(explanation: Explanation, rows: Sequence[int], *, summary: str, left_out: str) -> str:
    """Rows as an HTML table, for a notebook. The predictor is not run for it."""
    drawn = _drawn(explanation, rows, shade(score_maps(explanation, rows)), run=explanation.compute_prediction is None)
    outcomes = any(row["outcome"] for row in drawn)
    return TEMPLATES.get_template("image_table.html").render(
        summary=summary, rows=drawn, left_out=left_out, outcomes=outcomes, note=_note(explanation), captions=CAPTIONS
    )


def about_images(explanation: Explanation) -> str:
    """A text that explains the pictures of a row."""
    return f"{ABOUT} {_note(explanation)}".strip()


def _note(explanation: Explanation) -> str:
    """A text about how values are shown as colours; empty if they are shown unchanged."""
    features = explained_patches(explanation)
    step = _step(features.shape)
    small = f"Of these large images every {step}{'nd' if step == 2 else 'rd' if step == 3 else 'th'} pixel is shown." if step > 1 else ""
    return f"{legend_of(features, span_of(explanation.data))} {small}".strip()


def png(picture: np.ndarray) -> str:
    """A picture (rows, columns, 3) in [0, 1] as a data URI."""
    content = io.BytesIO()
    imsave(content, np.ascontiguousarray(np.rint(picture * 255), dtype=np.uint8), format="png", metadata=NO_METADATA["png"])
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


def _drawn(explanation: Explanation, rows: Sequence[int], look: tuple[Normalize, Colormap], *, run: bool) -> list[dict[str, object]]:
    """The values of rows for their template."""
    features = explained_patches(explanation)
    views = four_views(explanation, rows, look, step=_step(features.shape))
    drawn: list[dict[str, object]] = []
    for nth, row in enumerate(rows):
        panels = [{"caption": caption, "src": png(enlarged(pictures[nth]))} for caption, pictures in views.items()]
        text = read_row(explanation, row, most=BEST, kept_only=True, run_predictor=run)
        many = int(explanation.mask[row].sum())
        best = ", ".join(f"{item.name} ({format_number(item.score)})".replace(" ", NO_BREAK) for item in text.items)
        named = f"; highest scores: {best}" if best else ""
        kept_words = f"{many:,} of {pluralise(features.count, 'patch', 'patches')} kept{named}."
        drawn.append({"title": text.title, "label": text.label, "outcome": text.outcome, "panels": panels, "kept": kept_words})
    return drawn


def _step(shape: Sequence[int]) -> int:
    return -(-max(shape[-2:]) // MOST_SIDE)
