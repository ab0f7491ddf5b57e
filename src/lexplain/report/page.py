"""Self-contained HTML pages, without scripts, and without fonts or pictures from other files."""

from __future__ import annotations

import html as escaping
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .figures.canvas import figure_of, to_svg
from .formatting import format_number

TEMPLATES = Environment(
    loader=PackageLoader("lexplain.report", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@dataclass(frozen=True)
class Section:
    """A part of a page. Its fields are shown in this order."""

    title: str
    text: str = ""  # paragraphs, separated by an empty line
    figures: Sequence[Figure | Axes] = ()
    table: pd.DataFrame | None = field(default=None, compare=False)  # a column called "verdict" is highlighted
    html: str = ""  # inserted unchanged: the caller must escape it


def page(title: str, lead: str, sections: Sequence[Section], *, top: str = "", version: str = "", date: str = "") -> str:
    """Write a page.

    Args:
        title: Title of the page.
        lead: One or two sentences with the result.
        sections: Parts of the page. Two or more get a table of contents.
        top: HTML above the contents. It is inserted unchanged, so the caller must escape it.
        version: Version of the library, for the last line.
        date: Date, for the last line. The same arguments give the same page.
    """
    pictures = iter(range(1, 1 + sum(len(section.figures) for section in sections)))
    parts = [
        {
            "title": section.title,
            "paragraphs": [text.strip() for text in re.split(r"\n\s*\n", section.text) if text.strip()],
            "figures": [_inline(figure, next(pictures)) for figure in section.figures],
            "table": None if section.table is None else _table(section.table),
            "html": Markup(section.html),  # noqa: S704  the caller escapes it
        }
        for section in sections
    ]
    values = {"title": title, "lead": lead, "top": Markup(top), "sections": parts}  # noqa: S704  as above
    return TEMPLATES.get_template("page.html").render(values, version=version, date=date)


def _inline(drawn: Figure | Axes, nth: int) -> Markup:
    """The figure as SVG, with ids that are unique on the page, and with its title for screen readers."""

    def own_ids(tag: re.Match[str]) -> str:
        return re.sub(r'(\sid="|href="#|url\(#)', rf"\g<1>f{nth}-", tag[0])

    svg = re.sub(r"<[^>]*>", own_ids, to_svg(drawn))
    wide = float(re.findall(r'width="([\d.]+)pt"', svg)[0]) * 96 / 72  # CSS pixels
    titles = [ax.get_title(loc) for ax in figure_of(drawn).axes for loc in ("left", "center")]
    name = escaping.escape(". ".join(title.replace(r"\$", "$") for title in titles if title) or "figure")
    tag = f'<svg role="img" aria-label="{name}" style="min-width:{0.72 * wide:.0f}px"'  # below that, scroll: smaller text cannot be read
    return Markup(svg.replace("<svg", tag, 1))  # noqa: S704  matplotlib escaped every text in it


def _table(table: pd.DataFrame) -> dict[str, Any]:
    """Column names and cells, each cell with its CSS class."""
    if not (isinstance(table.index, pd.RangeIndex) and table.index.name is None):
        table = table.reset_index(allow_duplicates=True)
    names = [" ".join(str(part) for part in name if str(part)) if isinstance(name, tuple) else str(name) for name in table.columns]
    looks = ["number" if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) else "" for kind in table.dtypes]
    cells = [list(zip(names, looks, row, strict=True)) for row in table.itertuples(index=False, name=None)]
    rows = [[(format_number(cell), _verdict(cell) if name.lower() == "verdict" else "", look) for name, look, cell in row] for row in cells]
    return {"head": list(zip(names, looks, strict=True)), "rows": rows}


def _verdict(cell: object) -> str:
    text = str(cell).lower()
    return "good" if text.startswith("honest") else "bad" if text.startswith("encod") else "unsure"
