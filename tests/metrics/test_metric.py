"""What every metric promises, whatever it measures."""

import copy
import pickle

import pytest
import torch

from lexplain.features import Columns
from lexplain.metrics.curves import deletion, insertion
from lexplain.metrics.fidelity import approximator_accuracy, complement_accuracy, complement_approximator_accuracy, post_hoc_accuracy
from lexplain.metrics.infidelity import infidelity
from lexplain.metrics.metric import Metric, metric
from lexplain.metrics.off_data import off_data
from lexplain.metrics.predictive import accuracy, agreement, auprc, auroc, log_likelihood
from lexplain.metrics.roar import kar, roar
from lexplain.metrics.sanity import mask_cosine
from lexplain.metrics.selection import empty, kept, mask_only_accuracy, selection_rate
from lexplain.metrics.sensitivity import sensitivity
from lexplain.metrics.stability import mask_stability, rank_stability
from lexplain.metrics.truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr

DRAW = torch.Generator().manual_seed(0)
ROWS, FEATURES, CLASSES = 30, 6, 3
MASK = torch.rand(ROWS, FEATURES, generator=DRAW) < 0.4
TRUTH = torch.arange(FEATURES).expand(ROWS, -1) < 2 + torch.arange(ROWS)[:, None] % 2
SCORES = torch.rand(ROWS, FEATURES, generator=DRAW)
PROBABILITIES = torch.rand(ROWS, CLASSES, generator=DRAW).softmax(1)
COLUMNS = Columns().fit(SCORES.numpy())
LABELS = torch.arange(ROWS) % CLASSES

METRICS = [
    (tpr, (MASK, TRUTH)),
    (fpr, (MASK, TRUTH)),
    (fdr, (MASK, TRUTH)),
    (cfsr, (MASK, 2)),
    (auroc_against_truth, (SCORES, TRUTH)),
    (median_rank, (SCORES, TRUTH)),
    (accuracy, (PROBABILITIES, LABELS)),
    (auroc, (PROBABILITIES, LABELS)),
    (auprc, (PROBABILITIES, LABELS)),
    (log_likelihood, (PROBABILITIES, LABELS)),
    (agreement, (PROBABILITIES, PROBABILITIES.flip(0))),
    (selection_rate, (MASK,)),
    (kept, (MASK,)),
    (empty, (MASK,)),
    (mask_only_accuracy, (~MASK, LABELS, MASK, LABELS)),
    (post_hoc_accuracy, (torch.sin, COLUMNS, SCORES, MASK)),
    (complement_accuracy, (torch.sin, COLUMNS, SCORES, MASK)),
    (approximator_accuracy, (torch.sin, torch.cos, COLUMNS, SCORES, MASK)),
    (complement_approximator_accuracy, (torch.sin, torch.cos, COLUMNS, SCORES, MASK)),
    (roar, (SCORES.T, SCORES.T.flip(1))),
    (kar, (SCORES.T, SCORES.T.flip(1))),
    (insertion, (SCORES.T, 2 * FEATURES)),
    (deletion, (SCORES.T, 2 * FEATURES)),
    (infidelity, (torch.sin, lambda x, generator: (x / 2, x / 2), SCORES, SCORES)),
    (sensitivity, (torch.sin, SCORES)),
    (off_data, (SCORES[: ROWS // 2], SCORES[ROWS // 2 :])),
    (mask_cosine, (MASK, ~MASK)),
    (mask_stability, (torch.stack([MASK, ~MASK, TRUTH]),)),
    (rank_stability, (torch.stack([SCORES, SCORES.roll(1, 0), SCORES.roll(1, 1)]),)),
]
DRAWN = [sensitivity]  # that draws near each row
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("measure", "inputs"), METRICS, ids=lambda m: m.__name__ if isinstance(m, Metric) else "")
def test_metric_keeps_its_promises(measure, inputs, device):
    inputs = [i.to(device) if isinstance(i, torch.Tensor) else i for i in inputs]
    before = [i.clone() if isinstance(i, torch.Tensor) else i for i in inputs]
    torch.manual_seed(0)
    values = measure(*inputs)
    assert values.shape == (ROWS,)  # one number per instance
    assert values.dtype is torch.float64
    assert values.device.type == device
    assert values.isfinite().all()
    assert all(torch.equal(i, b) for i, b in zip(inputs, before, strict=True) if isinstance(i, torch.Tensor))  # inputs are left alone
    torch.manual_seed(0 if measure in DRAWN else 1)
    assert torch.equal(values, measure(*inputs))  # where nothing is drawn and nothing tied, nothing is left to chance
    assert measure.label
    assert measure.description
    assert measure.__doc__
    assert "\n" not in measure.description
    assert measure.higher_is_better in (True, False, None)


@pytest.mark.parametrize(("measure", "inputs"), METRICS, ids=lambda m: m.__name__ if isinstance(m, Metric) else "")
def test_metric_can_be_sent_to_another_process(measure, inputs):
    assert pickle.loads(pickle.dumps(measure)) is measure
    assert copy.deepcopy(measure) is measure


def test_decorator_keeps_the_function_and_adds_how_to_read_it():
    @metric(label="Twice", higher_is_better=None, description="two for one", percent=True)
    def twice(values):
        """Say it again."""
        return 2 * values

    assert twice(torch.ones(2)).tolist() == [2, 2]
    assert (twice.label, twice.higher_is_better, twice.description, twice.percent) == ("Twice", None, "two for one", True)
    assert (twice.__name__, twice.__doc__) == ("twice", "Say it again.")
    with pytest.raises(AttributeError):
        twice.label = "Thrice"
