"""From a figure to SVG text or a file: the same figure gives the same bytes."""

from __future__ import annotations

import io
import threading
import warnings
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from lexplain.core.contracts import Json
from lexplain.core.files import write_bytes

SETTINGS: Json = {
    "svg.hashsalt": "lexplain",
    "svg.fonttype": "none",
}  # text stays text: to search, copy and read aloud
NO_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
RENDERING = threading.Lock()  # matplotlib's settings and Python's warning filters belong to the whole process


def to_svg(drawn: Figure | Axes) -> str:
    """The figure as an `<svg>` element, which is also a complete SVG file."""
    text = _render(drawn, "svg").decode()
    return text[text.index("<svg") :]


def save(drawn: Figure | Axes, path: str | Path) -> Path:
    """Write the figure into an .svg, .png or .pdf file; a failure leaves the old file whole."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in NO_METADATA:
        raise ValueError(f"{path} does not end in .svg, .png or .pdf, which are what a figure can be saved as; choose one of them")
    content = to_svg(drawn).encode() if kind == "svg" else _render(drawn, kind)
    return write_bytes(path, content)


def figure_of(drawn: Figure | Axes) -> Figure:
    """The whole figure that some axes lie on."""
    figure = drawn.figure if isinstance(drawn, Axes) else drawn
    while isinstance(figure, SubFigure):
        figure = figure.figure
    assert isinstance(figure, Figure)
    return figure


def _render(drawn: Figure | Axes, kind: str) -> bytes:
    content = io.BytesIO()
    with RENDERING, matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a browser has fonts for the scripts that matplotlib lacks
        figure_of(drawn).savefig(content, format=kind, metadata=NO_METADATA[kind], bbox_inches="tight", pad_inches=0.1, dpi=150)
    return content.getvalue()
