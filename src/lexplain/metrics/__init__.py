"""Metrics: one number an instance, which direction is better, and how to read it. No metric trains a network or asks one to.

To add one: a file with a function below `@metric`, and a line here.
"""

from .curves import (
    area as area,
    deletion as deletion,
    deletion_curve as deletion_curve,
    insertion as insertion,
    insertion_curve as insertion_curve,
)
from .encoding import encoding as encoding
from .fidelity import (
    approximator as approximator,
    approximator_accuracy as approximator_accuracy,
    complement_accuracy as complement_accuracy,
    complement_approximator_accuracy as complement_approximator_accuracy,
    post_hoc_accuracy as post_hoc_accuracy,
)
from .infidelity import hidden_features as hidden_features, infidelity as infidelity
from .metric import Metric as Metric, metric as metric
from .off_data import off_data as off_data
from .predictive import accuracy as accuracy, agreement as agreement, auprc as auprc, auroc as auroc, log_likelihood as log_likelihood
from .roar import kar as kar, only_first as only_first, retraining_curve as retraining_curve, roar as roar, without_first as without_first
from .sanity import mask_cosine as mask_cosine, permuted as permuted
from .selection import empty as empty, kept as kept, mask_only_accuracy as mask_only_accuracy, selection_rate as selection_rate
from .sensitivity import sensitivity as sensitivity
from .speed import Speed as Speed, break_even as break_even, speed as speed
from .stability import mask_stability as mask_stability, rank_stability as rank_stability
from .statistics import (
    Estimate as Estimate,
    bootstrap as bootstrap,
    holm as holm,
    paired_difference as paired_difference,
    paired_test as paired_test,
)
from .truth import auroc_against_truth as auroc_against_truth, cfsr as cfsr, fdr as fdr, fpr as fpr, median_rank as median_rank, tpr as tpr
