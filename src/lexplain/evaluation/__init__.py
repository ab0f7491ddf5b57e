"""Evaluation: metrics return one number per instance and know which direction is better; `audit` joins them into a card."""

from .audit import audit, card_of
from .card import Card, Line
from .curves import area, deletion, deletion_curve, insertion, insertion_curve
from .encoding import MARGIN, encoding, encoding_values, judge
from .infidelity import hidden_features, infidelity, noisy_baseline
from .metric import Metric, metric
from .off_data import off_data
from .predictive import accuracy, agreement, auprc, auroc, log_likelihood
from .sanity import cascade, mask_cosine, permuted, rank_correlation, reinitialised
from .selection import empty, kept, mask_only_accuracy, selection_rate
from .sensitivity import local_lipschitz, sensitivity
from .speed import Speed, break_even, speed
from .stability import mask_stability, rank_stability
from .statistics import Estimate, bootstrap, holm, paired_difference, paired_test
from .truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr

__all__ = [
    "MARGIN",
    "Card",
    "Estimate",
    "Line",
    "Metric",
    "Speed",
    "accuracy",
    "agreement",
    "area",
    "audit",
    "auprc",
    "auroc",
    "auroc_against_truth",
    "bootstrap",
    "break_even",
    "card_of",
    "cascade",
    "cfsr",
    "deletion",
    "deletion_curve",
    "empty",
    "encoding",
    "encoding_values",
    "fdr",
    "fpr",
    "hidden_features",
    "holm",
    "infidelity",
    "insertion",
    "insertion_curve",
    "judge",
    "kept",
    "local_lipschitz",
    "log_likelihood",
    "mask_cosine",
    "mask_only_accuracy",
    "mask_stability",
    "median_rank",
    "metric",
    "noisy_baseline",
    "off_data",
    "paired_difference",
    "paired_test",
    "permuted",
    "rank_correlation",
    "rank_stability",
    "reinitialised",
    "selection_rate",
    "sensitivity",
    "speed",
    "tpr",
]
