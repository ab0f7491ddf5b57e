"""Measures of explanations, one file per family. A `Measure` holds the function, its label, direction and needs.

To add one, write a file with a function below `@measure`, and add an entry below. `audit(measures=[yours])` accepts your own.
"""

from __future__ import annotations

from . import cost, curves, fidelity, honesty, infidelity, off_data, prediction, retraining, selection, sensitivity, stability, truth
from .measure import (
    NEEDS as NEEDS,
    Measure as Measure,
    estimate_of as estimate_of,
    estimates as estimates,
    find_measures as find_measures,
    means as means,
    measure as measure,
    values_of as values_of,
)
from .model_calls import QueriedFunction as QueriedFunction
from .statistics import (
    Estimate as Estimate,
    bootstrap as bootstrap,
    holm as holm,
    paired_difference as paired_difference,
    paired_test as paired_test,
)

MEASURES: dict[str, Measure] = {  # in the order of cards
    each.key: each
    for each in (
        *(prediction.accuracy, prediction.auroc, prediction.auprc, prediction.log_likelihood, *prediction.BY_EVALUATORS),
        *(honesty.mask_only_acc, honesty.encoding),
        *(selection.kept, selection.selection_rate, selection.empty),
        *(truth.tpr, truth.fpr, truth.fdr, truth.auroc_against_truth, truth.median_rank, truth.cfsr),
        *(fidelity.fs_m, fidelity.fu_m, fidelity.fs_a, fidelity.fu_a),
        *(curves.insertion, curves.deletion),
        infidelity.scaled_infidelity,
        *(retraining.roar, retraining.kar),
        *(off_data.off_data_mean, off_data.off_data_other_rows, fidelity.fs_m_mean),
        sensitivity.score_sensitivity,
        *(stability.stability_of_masks, stability.stability_of_ranks, *stability.COSINES),
        *(cost.milliseconds_a_row, cost.break_even_rows),
    )
}
# Default measures of a comparison.
COMPARED = ("acc", "eacc", "eauroc", "eauprc", "encoding", "kept", "tpr", "fdr", "cfsr", "median_rank")
