"""What every measure promises, whatever it measures; and how measures go to other processes."""

import copy
import pickle
from dataclasses import replace

import pytest
import torch

from lexplain.features import Columns
from lexplain.measures import MEASURES, Measure, QueriedFunction, measure
from lexplain.measures.curves import area
from lexplain.measures.fidelity import same_class
from lexplain.measures.honesty import mask_only_accuracy
from lexplain.measures.infidelity import infidelity
from lexplain.measures.off_data import off_data
from lexplain.measures.prediction import accuracy, agreement, auprc, auroc, log_likelihood
from lexplain.measures.retraining import area_between
from lexplain.measures.selection import empty, kept, selection_rate
from lexplain.measures.sensitivity import sensitivity
from lexplain.measures.stability import mask_cosine, mask_stability, rank_stability
from lexplain.measures.truth import auroc_against_truth, cfsr, fdr, fpr, median_rank, tpr

DRAW = torch.Generator().manual_seed(0)
ROWS, FEATURES, CLASSES = 30, 6, 3
MASK = torch.rand(ROWS, FEATURES, generator=DRAW) < 0.4
TRUTH = torch.arange(FEATURES).expand(ROWS, -1) < 2 + torch.arange(ROWS)[:, None] % 2
SCORES = torch.rand(ROWS, FEATURES, generator=DRAW)
PROBABILITIES = torch.rand(ROWS, CLASSES, generator=DRAW).softmax(1)
COLUMNS = Columns().fit(SCORES.numpy())
LABELS = torch.arange(ROWS) % CLASSES


def read(mask, x, model, reader=None):
    return same_class(QueriedFunction(model), COLUMNS, x, mask, reader=None if reader is None else QueriedFunction(reader))


FUNCTIONS = {
    "tpr": (tpr, (MASK, TRUTH)),
    "fpr": (fpr, (MASK, TRUTH)),
    "fdr": (fdr, (MASK, TRUTH)),
    "cfsr": (cfsr, (MASK, 2)),
    "auroc of scores": (auroc_against_truth, (SCORES, TRUTH)),
    "median rank": (median_rank, (SCORES, TRUTH)),
    "accuracy": (accuracy, (PROBABILITIES, LABELS)),
    "auroc": (auroc, (PROBABILITIES, LABELS)),
    "auprc": (auprc, (PROBABILITIES, LABELS)),
    "log-likelihood": (log_likelihood, (PROBABILITIES, LABELS)),
    "agreement": (agreement, (PROBABILITIES, PROBABILITIES.flip(0))),
    "selection rate": (selection_rate, (MASK,)),
    "kept": (kept, (MASK,)),
    "empty": (empty, (MASK,)),
    "mask-only accuracy": (mask_only_accuracy, (~MASK, LABELS, MASK, LABELS)),
    "fidelity": (read, (MASK, SCORES, torch.sin)),
    "fidelity of a reader": (read, (MASK, SCORES, torch.sin, torch.cos)),
    "area between curves": (area_between, (SCORES.T, SCORES.T.flip(1))),
    "area": (area, (SCORES.T, 2 * FEATURES)),
    "infidelity": (infidelity, (QueriedFunction(torch.sin), lambda x, generator: (x / 2, x / 2), SCORES, SCORES)),
    "sensitivity": (sensitivity, (QueriedFunction(torch.sin), SCORES)),
    "off the data": (off_data, (SCORES[: ROWS // 2], SCORES[ROWS // 2 :])),
    "mask cosine": (mask_cosine, (MASK, ~MASK)),
    "mask stability": (mask_stability, (torch.stack([MASK, ~MASK, TRUTH]),)),
    "rank stability": (rank_stability, (torch.stack([SCORES, SCORES.roll(1, 0), SCORES.roll(1, 1)]),)),
}
DRAWN = ["sensitivity"]  # that draws near each row
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_keeps_its_promises(name, device):
    function, inputs = FUNCTIONS[name]
    inputs = [i.to(device) if isinstance(i, torch.Tensor) else i for i in inputs]
    before = [i.clone() if isinstance(i, torch.Tensor) else i for i in inputs]
    torch.manual_seed(0)
    values = function(*inputs)
    assert values.shape == (ROWS,)  # one number per row
    assert values.dtype is torch.float64
    assert values.device.type == device
    assert values.isfinite().all()
    assert all(torch.equal(i, b) for i, b in zip(inputs, before, strict=True) if isinstance(i, torch.Tensor))  # inputs are left alone
    torch.manual_seed(0 if name in DRAWN else 1)
    assert torch.equal(values, function(*inputs))  # where nothing is drawn and nothing tied, nothing is left to chance


@pytest.mark.parametrize("key", MEASURES)
def test_a_measure_says_how_to_read_it_and_can_be_sent_to_another_process(key):
    one = MEASURES[key]
    assert one.key == key
    assert one.label and one.description and "\n" not in one.description
    assert one.higher_is_better in (True, False, None)
    assert pickle.loads(pickle.dumps(one)) is one
    assert copy.deepcopy(one) is one


@measure("twice", label="Twice", better=None, description="two for one", percent=True, reads=("mask",))
def twice(values):
    """Say it again."""
    return 2 * values


def plain(evaluation):
    return evaluation.mask[:, 0].double()


def test_the_decorator_keeps_the_function_and_adds_how_to_read_it():
    assert twice(torch.ones(2)).tolist() == [2, 2]
    assert (twice.label, twice.higher_is_better, twice.description, twice.percent) == ("Twice", None, "two for one", True)
    assert twice.function.__doc__ == "Say it again."
    with pytest.raises(AttributeError):
        twice.label = "Thrice"


def test_a_decorated_measure_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(twice)) is twice


@pytest.mark.parametrize(
    "one",
    [
        Measure("plain", "Plain", plain, None, "a function below no decorator"),
        twice.variant("thrice", label="Thrice", prefix="more: "),
        tpr.variant("own_tpr"),
        replace(MEASURES["eacc"], label="own eACC"),
    ],
    ids=lambda one: one.key,
)
def test_any_other_is_pickled_by_its_fields(one):
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one


def test_what_cannot_be_found_by_name_cannot_be_sent():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(Measure("here", "Here", lambda evaluation: evaluation.mask[:, 0], None, "a function without a name"))
