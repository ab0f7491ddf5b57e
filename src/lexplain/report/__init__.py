"""Report. Figures of explanations and of comparisons, and one self-contained HTML page that holds them."""

from .card_page import card_page
from .explanation_page import explanation_page, explanation_table
from .figures import (
    another_explanation,
    certainty,
    cost,
    feature_rates,
    flow,
    honesty,
    image_grid,
    image_kept,
    image_overlay,
    image_scores,
    imputed,
    kept_tradeoff,
    path,
    row_bars,
    save,
    selection_map,
    strip,
    sweep,
    to_svg,
    truth_tradeoff,
)
from .fit_page import fit_page
from .page import Section, page, write_page

__all__ = [
    "Section",
    "another_explanation",
    "card_page",
    "certainty",
    "cost",
    "explanation_page",
    "explanation_table",
    "feature_rates",
    "fit_page",
    "flow",
    "honesty",
    "image_grid",
    "image_kept",
    "image_overlay",
    "image_scores",
    "imputed",
    "kept_tradeoff",
    "page",
    "path",
    "row_bars",
    "save",
    "selection_map",
    "strip",
    "sweep",
    "to_svg",
    "truth_tradeoff",
    "write_page",
]
