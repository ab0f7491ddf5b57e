"""The audit tells honest explanations from those whose masks spell the answer."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

import lexplain as lx
from lexplain.auditing import Card, CardLine, decide_verdict
from lexplain.auditing.audit import _other_rows, withdraw_if_off_data
from lexplain.auditing.class_selection import ClassSelection
from lexplain.baselines import BASELINES
from lexplain.core import Explanation
from lexplain.features import Patches
from lexplain.measures import MEASURES, Estimate, Measure, find_measures
from lexplain.models import Problem

ROWS, FEW = 600, 100
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((ROWS, 4)).astype(np.float32)
Y = (X[:, 0] + 0.3 * GENERATOR.standard_normal(ROWS) > 0).astype(int)
SHOWS_THE_CAUSE = np.tile([True, False, False, False], (ROWS, 1))
SPELLS_THE_LABEL = np.stack([np.zeros(ROWS, bool), np.zeros(ROWS, bool), Y == 0, Y == 1], 1)


@pytest.fixture(autouse=True)
def _quick_judges(monkeypatch, short_judges):
    short_judges(judge=300, reader=200)
    monkeypatch.setattr("lexplain.measures.infidelity.DRAWS", 20)


@pytest.fixture
def idle_readers(short_judges):
    """Readers that learn hardly anything, where the verdict is not the matter."""
    short_judges(reader=5)


@pytest.fixture
def idle_judges(short_judges, idle_readers):
    """Evaluators and mask readers trained for a few steps, for tests that do not depend on their predictions."""
    short_judges(judge=5)


@pytest.fixture(scope="module")
def cause():
    """A few rows, their labels and an honest explanation of them, for tests that do not depend on evaluators."""
    return explained(SHOWS_THE_CAUSE)[:FEW], X[:FEW], Y[:FEW]


def explained(mask, **more):
    mask = torch.as_tensor(mask)
    return Explanation(mask.float(), mask, tuple("abcd"), data=X, method="made", **more)


def test_a_mask_that_spells_the_label_encodes():
    card = lx.audit(explained(SPELLS_THE_LABEL), X, Y, measures=[])
    assert card.verdict == "encodes"
    assert card.encodes is True
    assert card["Mask-only ACC"].mean > 0.99
    assert card["eACC"].mean < 0.8 < card["ACC, all features"].mean
    assert card.p_value < 0.01


@pytest.fixture(scope="module")
def honest(shorten_judges):
    """The card of an honest explanation, with the measures that are taken unless told."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_judges(patch, judge=300, reader=200)
        return lx.audit(explained(SHOWS_THE_CAUSE), X, Y, truth=SHOWS_THE_CAUSE, control_flow=0)


def test_a_mask_that_shows_the_cause_is_honest(honest):
    card = honest
    assert card.verdict == "honest"
    assert card.encodes is False
    assert card["eACC"].mean > 0.85
    assert (card["TPR"].mean, card["FDR"].mean, card["CFSR"].mean) == (1, 0, 1)
    page = card.to_html()
    assert "Verdict: honest" in page
    assert json.loads(card.to_json())["verdict"] == "honest"
    assert card.to_frame()["description"].str.len().min() > 10
    assert "Sensitivity" not in {line.label for line in card.lines}  # there is no explainer to ask again


def test_rows_to_learn_from_may_be_given():
    half = ROWS // 2
    other = (X[half:], Y[half:], explained(SPELLS_THE_LABEL)[half:])
    card = lx.audit(explained(SPELLS_THE_LABEL)[:half], X[:half], Y[:half], train=other)
    assert card.verdict == "encodes"


@pytest.mark.usefixtures("idle_readers")
def test_labels_are_read_in_the_classes_of_the_explanation():
    few = Y[:50].copy()
    few[:] = 1
    card = lx.audit(explained(SHOWS_THE_CAUSE, classes=(0, 1))[:50], X[:50], few, train=(X[50:], Y[50:]))
    share = (X[:50, 0] > 0).mean()  # of the rows for which a good evaluator predicts 1
    assert abs(card["eACC"].mean - share) < 0.15


@pytest.mark.parametrize(
    ("mean", "word", "encodes"), [(0.2, "encodes", True), (0.0, "honest", False), (0.05, "cannot tell", None), (-0.3, "cannot tell", None)]
)
def test_the_verdict_follows_the_interval(mean, word, encodes):
    values = mean + 0.1 * torch.randn(500, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    values = values - values.mean() + mean
    estimate, verdict = decide_verdict(values, margin=0.05)
    assert (verdict.word, verdict.encodes) == (word, encodes)
    assert estimate.low < mean < estimate.high


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [(X[:-1], Y, "600 .* 599"), (X, Y[:-1], "the target 599"), (X, Y * 0, "one class only")],
)
def test_rows_that_were_not_explained_are_refused(rows, labels, words):
    with pytest.raises(ValueError, match=words):
        lx.audit(explained(SHOWS_THE_CAUSE), rows, labels)


class FirstColumn(torch.nn.Module):
    """A network that reads one column."""

    def __init__(self):
        super().__init__()
        self.slope = torch.nn.Linear(4, 2)
        self.slope.weight.data = torch.tensor([[-4.0, 0, 0, 0], [4.0, 0, 0, 0]])
        self.slope.bias.data.zero_()

    def forward(self, x):
        return self.slope(x)


def test_a_model_is_asked_about_masked_rows():
    card = lx.audit(explained(SHOWS_THE_CAUSE), X, model=FirstColumn())
    assert card.verdict == "honest"
    assert card["FS-M"].mean == 1
    assert 0.3 < card["FU-M"].mean < 0.7
    assert card["FS-A"].mean > 0.9
    assert card["FU-A"].mean < 0.7
    assert card["Insertion"].mean > card["Deletion"].mean
    assert card["Infidelity"].mean < 0.3
    assert card["Off the data, other rows"].mean < card["Off the data, mean"].mean
    assert {line.group for line in card.lines} >= {"prediction", "honesty", "fidelity", "off the data", "selection"}


def test_the_tell_tale_of_an_encoder(short_judges):
    short_judges(retraining=150)
    half = ROWS // 2
    other = (X[half:], None, explained(SPELLS_THE_LABEL)[half:])
    card = lx.audit(explained(SPELLS_THE_LABEL)[:half], X[:half], model=FirstColumn(), train=other, measures=["FS-A", "FS-M"])
    assert card.encodes
    assert card["FS-A"].mean > 0.85 > 0.7 > card["FS-M"].mean  # a fresh model reads the choice, the model itself does not


@pytest.mark.usefixtures("idle_judges")
def test_scores_of_any_tool_are_audited():
    rows = X[:FEW]
    scores = np.abs(rows) * [1.0, 0.1, 0.1, 0.1]
    card = lx.audit(scores, rows, model=FirstColumn(), keep=1, measures=[])
    assert card["Kept"].mean == 1
    with pytest.raises(ValueError, match="keep"):
        lx.audit(scores, rows, model=FirstColumn())


def test_the_trade_off_is_that_of_the_best_features_by_score(honest):
    card = honest
    assert card.tradeoff["kept"].tolist() == [0, 1, 2, 3, 4]
    assert card.tradeoff["eacc"][1] == card["eACC"].mean  # the mask is the one best feature
    assert card.tradeoff["eacc"][0] < 0.65 < card.tradeoff["eacc"][1]
    assert card.explanation.method == "made"


@pytest.mark.usefixtures("idle_judges")
def test_an_explainer_is_asked_again(cause):
    calls = []

    class Made:
        def explain(self, rows):
            calls.append(len(rows))
            return Explanation(torch.ones(len(rows), 4), torch.ones(len(rows), 4).bool(), tuple("abcd"))

    card = lx.audit(*cause, explainer=Made())
    assert card["Sensitivity"].mean == 0
    assert card["Milliseconds a row"].mean > 0
    assert calls


@pytest.mark.usefixtures("idle_judges")
def test_fits_with_other_seeds_and_to_chance_are_compared():
    # A fit to chance keeps any one of the four, so that this needs a seed, and a device, where it is another one.
    x, y = X[:300], Y[:300]
    explainer = lx.Explainer("realx", keep=1, epochs=30, learning_rate=3e-3, device="cpu").fit(x, y)
    card = lx.audit(explainer.explain(x), x, y, explainer=explainer, measures=["stability", "sanity"])
    assert {line.group for line in card.lines} >= {"stability", "sanity"}
    assert card["Mask cosine, random labels"].mean < 0.95


@pytest.mark.usefixtures("idle_judges")
def test_removing_the_cause_and_retraining_costs_accuracy(short_judges):
    short_judges(retraining=60)
    half = ROWS // 2
    other = (X[half:], Y[half:], explained(SHOWS_THE_CAUSE)[half:])
    card = lx.audit(explained(SHOWS_THE_CAUSE)[:half], X[:half], Y[:half], train=other, measures=["retraining"])
    assert card["ROAR"].mean > 0.05
    assert card["KAR"].mean > 0.05


def test_real_values_are_judged_in_one_unit():
    values, others = X[:, 0].astype(float), 5 + 3 * X[:, 0].astype(float)  # other rows may lie elsewhere and be spread wider
    scaled = lx.audit(explained(SHOWS_THE_CAUSE), X, values, train=(X, 0.2 * values, explained(SHOWS_THE_CAUSE)), measures=[])
    assert scaled.verdict == "honest"
    rows = _other_rows((X, others), None, Problem.of(X, values), ClassSelection(None, None)).rows
    units = (others - values.mean()) / values.std()
    assert np.allclose(rows.target.loc, units, atol=1e-4)


@pytest.mark.usefixtures("idle_judges")
def test_scores_against_a_class_count_as_much_as_those_for_it():
    truth = SHOWS_THE_CAUSE[:FEW]
    card = lx.audit(np.where(truth, -1.0, 0.1), X[:FEW], Y[:FEW], keep=1, truth=truth, measures=[])
    assert card["Median rank"].mean == 1


@pytest.mark.usefixtures("idle_readers")
def test_categories_of_either_part_are_known():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(b=np.where(X[:, 1] > 0, "yes", "no"))
    half = ROWS // 2
    here, there = frame[:half].assign(b="no"), frame[half:]
    card = lx.audit(SHOWS_THE_CAUSE[:half], here, Y[:half], train=(there, Y[half:]), measures=[])
    assert card["eACC"].mean > 0.8


class OffTheData(torch.nn.Module):
    """A model that answers by one column on the data, and always the same where the others are taken out."""

    def forward(self, x):
        masked = (x[:, 1:].abs() < 1e-3).all(1)
        said = torch.where(masked, torch.ones(()), 4 * x[:, 0].sign())
        return torch.stack([-said, said], 1)


def test_an_explanation_by_masking_a_model_that_answers_otherwise_there_is_off_the_data():
    rows = np.where(np.abs(X) < 0.1, 0.5, X).astype(np.float32)
    rows = (rows - rows.mean(0)) / rows.std(0)
    other = np.random.default_rng(1).permuted(rows, axis=0)  # columns are independent, so that these are other rows of the same kind
    settings = {"model": OffTheData(), "train": (other, None, explained(SHOWS_THE_CAUSE)), "measures": ["FS-M", "off the data"]}
    card = lx.audit(explained(SHOWS_THE_CAUSE), rows, **settings)
    assert card.verdict == "off the data"
    assert card.encodes is False
    assert all(fact in card.why for fact in ("EVAL-X", "AUROC", "%"))
    own = explained(SHOWS_THE_CAUSE, perturbation_based=False)  # it was not made by masking this model
    assert lx.audit(own, rows, **settings).verdict == "honest"


def test_who_asks_the_model_off_the_data():
    network = FirstColumn()
    for method, asks in (("self", True), ("surrogate", False)):
        explainer = lx.Explainer("lex", keep=1, epochs=1, regime=method, device="cpu").fit(X, model=network)
        assert explainer.explain(X[:5]).perturbation_based is asks
    assert BASELINES["ablation"]().fit(X, model=network).explain(X[:5]).perturbation_based is True
    assert BASELINES["random"]().fit(X, model=network).explain(X[:5]).perturbation_based is False
    assert lx.as_explanation(SHOWS_THE_CAUSE[:5], X[:5]).perturbation_based is None  # another tool's: nobody knows


@pytest.mark.parametrize(
    ("apart", "shown", "verdict"),
    [
        (0.80, 0.5, "off the data"),
        (0.76, 0.5, "off the data"),
        (0.75, 0.5, "honest"),
        (0.5, 0.5, "honest"),
        (0.9, 0.75, "honest"),
        (0.9, 0.85, "honest"),
    ],
)
def test_the_threshold_of_off_the_data(apart, shown, verdict):
    """Rows with hidden features are clearly detected, and the model contradicts the evaluator in more than a tenth of the rows."""

    def line(key, low, high):
        return CardLine(key, key, Estimate((low + high) / 2, low, high, 100), True, "")

    lines = (line("eacc", 0.9, 0.95), line("fs_m_mean", shown, shown + 0.05), line("off_data_mean", apart, apart + 0.05))
    card = Card("honest", False, "why", lines)
    assert withdraw_if_off_data(card).verdict == verdict
    assert withdraw_if_off_data(replace(card, verdict="encodes")).verdict == "encodes"


@pytest.mark.parametrize(
    ("measures", "words"),
    [
        (["odd"], "Unknown measure 'odd'"),
        (["fidelity"], "needs a model"),
        (["robustness"], "needs the explainer"),
        (["break-even"], r"model.*explainer.*shap \('lexplain\[peers\]'\)"),
        (["sanity"], "needs an explainer that can be fitted"),
    ],
)
def test_measures_that_cannot_be_taken_are_refused(measures, words):
    with pytest.raises(ValueError, match=words):
        lx.audit(explained(SHOWS_THE_CAUSE), X, Y, measures=measures)


def test_a_model_is_never_asked_about_more_rows_than_may_be_in_flight(short_judges):
    class Counting(FirstColumn):
        def forward(self, x):
            sizes.append(len(x))
            return super().forward(x)

    half, sizes = ROWS // 2, []
    parts = [(X[at], explained(SHOWS_THE_CAUSE)[at]) for at in (slice(0, half), slice(half, None))]
    short_judges(judge=5, reader=5)
    settings = {"model": Counting(), "train": (parts[1][0], None, parts[1][1]), "measures": ["curves", "infidelity"]}
    few = lx.audit(parts[0][1], parts[0][0], **settings, max_rows=70)
    assert max(sizes) <= 70
    many = lx.audit(parts[0][1], parts[0][0], **settings)
    assert max(sizes) > half
    assert few["Infidelity"].mean == pytest.approx(many["Infidelity"].mean)
    assert few.tradeoff["eacc"].tolist() == many.tradeoff["eacc"].tolist()


@pytest.mark.usefixtures("idle_judges")
def test_the_truth_of_pixels_judges_patches():
    images = np.random.default_rng(0).random((40, 4, 4))
    features = Patches(2).fit(images)
    mask = torch.tensor([[1, 0, 0, 0], [0, 0, 1, 1]]).bool().repeat(20, 1)
    explanation = Explanation(mask.float(), mask, features.names, images, "sufficient", features)
    left = np.zeros((40, 4, 4), dtype=bool)
    left[:, :, :2] = True  # patches 0 and 2
    card = lx.audit(explanation, images, np.arange(40) % 2, truth=left, measures=[])
    assert card["TPR"].mean == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert card["FDR"].mean == pytest.approx((0 + 1 / 2) / 2)


@pytest.mark.usefixtures("idle_judges")
def test_a_measure_is_known_by_its_key_its_label_and_its_family(cause):
    some = find_measures(["fidelity", "eACC", "mask_only_acc"], MEASURES)
    assert [measure.key for measure in some] == ["fs_m", "fu_m", "fs_a", "fu_a", "eacc", "mask_only_acc"]
    card = lx.audit(*cause, measures=["e_log_likelihood"])
    assert card["eACC"] == card["eacc"]
    assert card["e-Log-likelihood"].mean < 0


@pytest.mark.usefixtures("idle_judges")
def test_a_measure_of_ones_own_is_taken(cause):
    def first(evaluation):
        return evaluation.mask[:, 0].double()

    mine = Measure("first", "First", first, higher_is_better=None, description="how often the first feature is kept", percent=True)
    card = lx.audit(*cause, measures=[mine])
    assert card["First"].mean == 1


def test_neither_labels_nor_a_model_is_refused():
    with pytest.raises(ValueError, match=r"y .*labels.*model"):
        lx.audit(explained(SHOWS_THE_CAUSE), X)
