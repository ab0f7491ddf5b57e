"""Measures of an explanation: what is computed, its label, direction and needs in one object, one file per family.

To add one: a file with a function below `@measure`, and a line in the list below. `audit(measures=[yours])` takes one from outside.
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

MEASURES: dict[str, Measure] = {  # in the order in which they are shown
    each.key: each
    for each in (
        *(prediction.accuracy, prediction.auroc, prediction.auprc, prediction.log_likelihood, *prediction.BY_JUDGES),
        *(honesty.mask_only_acc, honesty.encoding),
        *(selection.kept, selection.selection_rate, selection.empty),
        *(truth.tpr, truth.fpr, truth.fdr, truth.auroc_against_truth, truth.median_rank, truth.cfsr),
        *(fidelity.fs_m, fidelity.fu_m, fidelity.fs_a, fidelity.fu_a),
        *(curves.insertion, curves.deletion),
        infidelity.scaled_infidelity,
        *(retraining.roar, retraining.kar),
        *(off_data.off_data_mean, off_data.off_data_other_rows),
        sensitivity.score_sensitivity,
        *(stability.stability_of_masks, stability.stability_of_ranks, *stability.COSINES),
        *(cost.milliseconds_a_row, cost.break_even_rows),
    )
}
# What a comparison takes unless told.
COMPARED = ("acc", "eacc", "eauroc", "eauprc", "encoding", "kept", "tpr", "fdr", "cfsr", "median_rank")
