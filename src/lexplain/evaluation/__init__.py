"""Evaluation: metrics return one number per instance and know which direction is better; `audit` joins them into a card."""

from .adopt import adopt
from .audit import audit, card_of
from .card import Card, Line
from .encoding import MARGIN, encoding, encoding_values, judge
from .metric import Metric, metric
from .predictive import accuracy, agreement, auroc, log_likelihood
from .selection import empty, kept, mask_only_accuracy, selection_rate
from .statistics import Estimate, bootstrap, paired_difference
from .truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr

__all__ = [
    "MARGIN",
    "Card",
    "Estimate",
    "Line",
    "Metric",
    "accuracy",
    "adopt",
    "agreement",
    "audit",
    "auroc",
    "auroc_against_truth",
    "bootstrap",
    "card_of",
    "cfsr",
    "empty",
    "encoding",
    "encoding_values",
    "fdr",
    "fpr",
    "judge",
    "kept",
    "log_likelihood",
    "mask_only_accuracy",
    "median_rank",
    "metric",
    "paired_difference",
    "selection_rate",
    "tpr",
]
