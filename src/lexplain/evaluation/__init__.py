"""Evaluation: metrics return one number per instance and know which direction is better; `audit` joins them into a card."""

from .adopt import adopt
from .audit import audit, card_of
from .card import Card, Line
from .curves import area, deletion, deletion_curve, insertion, insertion_curve
from .encoding import MARGIN, encoding, encoding_values, judge
from .fidelity import approximator, approximator_accuracy, complement_accuracy, complement_approximator_accuracy, post_hoc_accuracy
from .infidelity import hidden_features, infidelity, noisy_baseline
from .metric import Metric, metric
from .off_data import off_data
from .predictive import accuracy, agreement, auprc, auroc, log_likelihood
from .retrained import Retrained, retrain
from .roar import kar, only_first, retraining_curve, roar, without_first
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
    "Retrained",
    "Speed",
    "accuracy",
    "adopt",
    "agreement",
    "approximator",
    "approximator_accuracy",
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
    "complement_accuracy",
    "complement_approximator_accuracy",
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
    "kar",
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
    "only_first",
    "paired_difference",
    "paired_test",
    "permuted",
    "post_hoc_accuracy",
    "rank_correlation",
    "rank_stability",
    "reinitialised",
    "retrain",
    "retraining_curve",
    "roar",
    "selection_rate",
    "sensitivity",
    "speed",
    "tpr",
    "without_first",
]
