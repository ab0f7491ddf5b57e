"""Metrics: one number an instance, which direction is better, and how to read it. No metric trains a network or asks one to.

To add one: a file with a function below `@metric`, and a line here.
"""

from .curves import area as area
from .curves import deletion as deletion
from .curves import deletion_curve as deletion_curve
from .curves import insertion as insertion
from .curves import insertion_curve as insertion_curve
from .encoding import encoding as encoding
from .fidelity import approximator as approximator
from .fidelity import approximator_accuracy as approximator_accuracy
from .fidelity import complement_accuracy as complement_accuracy
from .fidelity import complement_approximator_accuracy as complement_approximator_accuracy
from .fidelity import post_hoc_accuracy as post_hoc_accuracy
from .infidelity import hidden_features as hidden_features
from .infidelity import infidelity as infidelity
from .infidelity import noisy_baseline as noisy_baseline
from .metric import Metric as Metric
from .metric import metric as metric
from .off_data import off_data as off_data
from .predictive import accuracy as accuracy
from .predictive import agreement as agreement
from .predictive import auprc as auprc
from .predictive import auroc as auroc
from .predictive import log_likelihood as log_likelihood
from .roar import kar as kar
from .roar import only_first as only_first
from .roar import retraining_curve as retraining_curve
from .roar import roar as roar
from .roar import without_first as without_first
from .sanity import mask_cosine as mask_cosine
from .sanity import permuted as permuted
from .sanity import rank_correlation as rank_correlation
from .selection import empty as empty
from .selection import kept as kept
from .selection import mask_only_accuracy as mask_only_accuracy
from .selection import selection_rate as selection_rate
from .sensitivity import local_lipschitz as local_lipschitz
from .sensitivity import sensitivity as sensitivity
from .speed import Speed as Speed
from .speed import break_even as break_even
from .speed import speed as speed
from .stability import mask_stability as mask_stability
from .stability import rank_stability as rank_stability
from .statistics import Estimate as Estimate
from .statistics import bootstrap as bootstrap
from .statistics import holm as holm
from .statistics import paired_difference as paired_difference
from .statistics import paired_test as paired_test
from .truth import auroc_against_truth as auroc_against_truth
from .truth import cfsr as cfsr
from .truth import fdr as fdr
from .truth import fpr as fpr
from .truth import median_rank as median_rank
from .truth import tpr as tpr
