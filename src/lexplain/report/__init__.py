"""Figures of explanations and comparisons, and self-contained HTML pages."""

from .card_page import card_page as card_page
from .explanation_page import explanation_page as explanation_page, explanation_table as explanation_table
from .figures import (
    another_explanation as another_explanation,
    certainty as certainty,
    cost as cost,
    honesty as honesty,
    kept_tradeoff as kept_tradeoff,
    path as path,
    save as save,
    strip as strip,
    sweep as sweep,
    to_svg as to_svg,
    truth_tradeoff as truth_tradeoff,
)
from .fit_page import fit_page as fit_page
from .images import (
    image_grid as image_grid,
    image_kept as image_kept,
    image_overlay as image_overlay,
    image_scores as image_scores,
    imputation_grid as imputation_grid,
    masks_side_by_side as masks_side_by_side,
)
from .page import Section as Section, page as page
from .pictures import feature_rates as feature_rates, row_bars as row_bars, selection_map as selection_map
