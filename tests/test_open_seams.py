"""An outsider adds a kind of input with its parts, a method and a measure, and uses them everywhere without a change in the library.

The kind is one that the library does not have: phrases, plain strings of any length. It is registered in one call; all else is passed as
it is. Rows that are explained may hold words that no row of the fit has, and may be longer than all of them.
"""

from dataclasses import dataclass
from html import escape
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

import lexplain as lx
from lexplain.auditing import Measure
from lexplain.baselines import RandomBaseline
from lexplain.core.contracts import Encoded
from lexplain.core.dataset import Dataset, DataSplit
from lexplain.estimators import StraightThrough
from lexplain.evaluation import Evaluation
from lexplain.features import FeatureKind
from lexplain.kinds import Kind, Pace
from lexplain.masks import FixedRate, top_k_mask
from lexplain.methods import METHODS, Method, Parts, recipe
from lexplain.methods.parts import predictor_part, selector_part
from lexplain.methods.plans import PredictorSchedule, Turns
from lexplain.methods.sizes import MaskFactory
from lexplain.models import QueriedModel
from lexplain.objectives import Objective
from lexplain.report.pictures import Pictures, RowPictures
from lexplain.report.rows import features_table

KIND = "phrases"
OPINIONS = ("bad", "good")  # the word that decides
FILLERS = ("the", "film", "was", "really", "quite", "and", "so")
UNKNOWN = "…"  # any word that no row of the fit has
SIZE = 6  # words of the longest phrase of the fit


# ---- a kind of features: the words of a phrase ----


@dataclass(frozen=True)
class Phrases(FeatureKind):
    """The words of a phrase are its features. A word is encoded as a row of zeros with a single one, and padding as zeros.

    One more place holds the words of a phrase beyond the longest of the fit. They are not features: every mask leaves them visible.
    """

    kind: ClassVar[str] = KIND
    numeric: ClassVar[bool] = False
    vocabulary: tuple[str, ...] = ()
    longest: int = 0

    @property
    def shape(self):
        return (self.longest + 1, len(self.vocabulary)) if self.vocabulary else ()

    @property
    def names(self):
        return tuple(f"word {place + 1}" for place in range(self.longest))

    def check(self, X):
        rows = list(X)
        if not all(isinstance(row, str) for row in rows):
            raise TypeError("phrases are strings")
        return rows

    def fit(self, X):
        return Phrases((*sorted({word for row in X for word in row.split()}), UNKNOWN), max(len(row.split()) for row in X))

    def encode(self, X, device="cpu"):
        x, lengths = torch.zeros(len(X), *self.shape), torch.tensor([len(row.split()) for row in X])
        known = {word: index for index, word in enumerate(self.vocabulary)}
        for row, phrase in enumerate(X):
            for place, word in enumerate(phrase.split()):
                x[row, min(place, self.longest), known.get(word, known[UNKNOWN])] = 1
        longer = (lengths - self.longest).clamp(min=0)
        valid = torch.arange(self.longest) < lengths[:, None]
        return Encoded(x.to(device), valid.to(device), longer.to(device) if longer.any() else None)

    def decode(self, x):
        return [" ".join(self.vocabulary[index] for place in row for index in place.nonzero()[:, 0].tolist()) for row in x]

    def expand(self, mask):
        beyond = torch.ones_like(mask[..., :1])
        return torch.cat([mask, beyond], -1).unsqueeze(-1).expand(*mask.shape[:-1], *self.shape)

    def gather(self, values):
        return values[..., :-1, :].sum(-1)

    def expand_scores(self, scores):
        return scores

    def row_names(self, X):
        return tuple(tuple(row.split()[: self.longest]) for row in X)

    def state(self):
        return {"vocabulary": list(self.vocabulary), "longest": self.longest}


def restore(state):
    return Phrases(tuple(state["vocabulary"]), state["longest"])


# ---- its networks, its imputer and its picture ----


class ScoreWords(nn.Module):
    """Score each word by itself, with the phrase as a whole beside it."""

    def __init__(self, words, context):
        super().__init__()
        self.word, self.phrase, self.out = nn.Linear(words, 16), nn.Linear(words + context, 16), nn.Linear(16, 1)

    def forward(self, x, context=None):
        whole = x.mean(1) if context is None else torch.cat([x.mean(1), context], 1)
        return self.out((self.word(x[:, :-1]) + self.phrase(whole).unsqueeze(1)).relu()).squeeze(-1)


class BagOfWords(nn.Module):
    """Predict from which words are there; a mask beside them, which lies below them, tells nothing more."""

    def __init__(self, shape, count):
        super().__init__()
        self.longest, self.body = shape[0], nn.Linear(shape[1], count)

    def forward(self, x):
        return self.body(x[:, : self.longest].amax(1))


def score_words(features, *, context, activation=nn.ReLU):
    return ScoreWords(features.shape[1], context)


def bag_of_words(features, count, *, sees_mask, activation=nn.ReLU):
    return BagOfWords(features.shape, count)


class UsualWord(nn.Module):
    """Put the mixture of all words of the training rows wherever a word is off."""

    random = False

    def __init__(self, usual):
        super().__init__()
        self.register_buffer("usual", usual.clone())

    @classmethod
    def fit(cls, x, features):
        assert features.kind == KIND
        words = x.flatten(0, 1)
        return cls(words[words.sum(1) > 0].mean(0))

    def forward(self, x, mask):
        usual = self.usual.expand_as(x)
        return torch.where(mask, x, usual) if mask.dtype == torch.bool else mask * x + (1 - mask) * usual


def phrases_html(explanation, rows, *, most):
    """Each phrase as a line of text, what is kept in bold."""
    lines = []
    for row in rows:
        marked = zip(explanation.row_names(row), explanation.mask[row].tolist(), explanation.valid[row].tolist(), strict=True)
        lines.append(" ".join(f"<b>{escape(word)}</b>" if kept else escape(word) for word, kept, there in marked if there))
    return "".join(f'<p class="phrase">{line}</p>' for line in lines)


PICTURES = Pictures(noun="word", rows=RowPictures(phrases_html, features_table, lambda explanation: "Kept words are bold."))


# ---- a mask family, a recipe and a measure ----


class NoisyBest:
    """Turn on the k words whose scores are highest once uniform noise is added."""

    def __init__(self, logits, *, k, valid=None, noise=1.0):
        self.logits = logits if valid is None else logits.masked_fill(~valid, -1e9)
        self.valid, self.k, self.noise = valid, k, noise

    def _noisy(self, shape):
        return self.logits + self.noise * torch.rand(*shape, *self.logits.shape, device=self.logits.device)

    @property
    def mode(self):
        return top_k_mask(self.logits, self.k, self.valid)

    @property
    def scores(self):
        scores = (self.mode + self.logits.softmax(-1)) / 2
        return scores if self.valid is None else scores * self.valid

    @property
    def mean(self):
        return (self.k * self.logits.softmax(-1)).clamp(max=1)

    def sample(self, shape=()):
        return top_k_mask(self._noisy(shape).detach(), self.k, self.valid)

    def paired(self, shape=()):
        noisy = self._noisy(shape)
        soft = (self.k * noisy.softmax(-1)).clamp(max=1)
        return top_k_mask(noisy.detach(), self.k, self.valid), soft


@recipe(sized_by="k", size=0.3, imputer="by kind", kinds=(KIND,))
def pick_words(features, outputs, parts, *, k, noise=1.0):
    """Pick the k words from which a predictor that learns from random ones tells the target."""
    return Method(
        "pick_words",
        features=features,
        selector=selector_part(parts.selector, features, MaskFactory(NoisyBest, {"k": k, "noise": noise})),
        imputer=parts.imputer_or(UsualWord(torch.zeros(features.shape[1]))),
        predictor=predictor_part(parts.predictor, features, outputs),
        objective=Objective(mask_costs=parts.mask_costs),
        plan=parts.apply_regime(Turns(StraightThrough(), PredictorSchedule(masks=FixedRate))),
    )


def share_of_fillers(evaluation: Evaluation):
    """Which share (b,) of the kept words are fillers."""
    e = evaluation.explanation
    kept = [[name for name, _ in e.as_list(row)] for row in range(len(e))]
    return torch.tensor([sum(word not in OPINIONS for word in words) / max(1, len(words)) for words in kept])


FILLER_SHARE = Measure("fillers", "Fillers kept", share_of_fillers, False, "share of the kept words that decide nothing", percent=True)


# ---- rows, and all of this in one record ----


def phrases(rows, seed):
    """Phrases of 1 to 6 words, one of which is an opinion; and which opinion it is."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, rows)
    X = [list(map(str, draw.choice(FILLERS, draw.integers(0, SIZE)))) for _ in range(rows)]
    for words, label in zip(X, y, strict=True):
        words.insert(draw.integers(0, len(words) + 1), OPINIONS[label])
    return [" ".join(words) for words in X], y


def says(rows):
    """A model of raw phrases: class probabilities."""
    assert all(isinstance(row, str) for row in rows)
    good = np.array([0.5 + 0.45 * (("good" in row.split()) - ("bad" in row.split())) for row in rows])
    return np.stack([1 - good, good], 1)


def made_strange(rows):
    """Every third phrase holds a word that no row of the fit has; every fifth is longer than all of them."""
    rows = [f"indeed {row}" if at % 3 == 0 and len(row.split()) < SIZE else row for at, row in enumerate(rows)]
    return [" ".join([row, *["so"] * (SIZE - len(row.split())), "whatever", "the"]) if at % 5 == 0 else row for at, row in enumerate(rows)]


PHRASES = Kind(
    KIND,
    suits=lambda X: isinstance(X, list) and len(X) > 0 and all(isinstance(row, str) for row in X),
    features=Phrases,
    restore=restore,
    selector=score_words,
    predictor=bag_of_words,
    imputer=lambda: UsualWord,
    method=lambda: pick_words,
    pace=Pace(batch_size=100),
    pictures=lambda: PICTURES,
)
X, Y = phrases(400, seed=0)
X_TEST, Y_TEST = phrases(120, seed=1)
X_TEST = made_strange(X_TEST)
WORDS = [row.split()[:SIZE] for row in X_TEST]
LENGTHS = torch.tensor([len(words) for words in WORDS])


@pytest.fixture(autouse=True)
def registered(register, short_judges):
    """The kind, and evaluators that are trained for a few steps."""
    register(PHRASES)
    short_judges(judge=60, reader=60)


def explainer(method="default", **settings):
    return lx.Explainer(method, epochs=settings.pop("epochs", 15), learning_rate=1e-2, device="cpu", **settings)


def without_padding(explanation):
    """Padding is never kept, and what is valid is told by the lengths of the rows."""
    there = torch.arange(SIZE) < LENGTHS[:, None]
    assert torch.equal(explanation.valid, there)
    assert not (explanation.mask & ~there).any()
    assert not explanation.scores[~there].any()
    return True


def finds_opinions(explanation):
    """On how many rows the word that decides is among those kept."""
    kept = [{name for name, _ in explanation.as_list(row)} for row in range(len(explanation))]
    return np.mean([OPINIONS[label] in words for words, label in zip(kept, Y_TEST, strict=True)])


# ---- what an outsider does with it ----


def test_a_fit_to_labels_picks_the_word_that_decides():
    fitted = explainer(keep=1).fit(X, Y)
    explanation = fitted.explain(X_TEST)
    assert without_padding(explanation)
    assert (explanation.mask.sum(1) == 1).all()
    assert finds_opinions(explanation) > 0.95
    assert fitted.score(X_TEST, Y_TEST) > 0.95
    assert fitted.method_.name == "pick_words" and isinstance(fitted.method_.imputer, UsualWord)


@pytest.mark.parametrize("regime", ["surrogate", "self"])
def test_a_fit_to_a_function_of_raw_phrases(regime):
    if regime == "self":  # a black box has no gradient: a method of ours that can do without, and an imputer that leaves hidden words out
        fitted = explainer("lex", keep=1, regime=regime, imputer=0.0, epochs=5).fit(X, model=says)
    else:
        fitted = explainer(keep=1, regime=regime).fit(X, model=says)
    explanation = fitted.explain(X_TEST)
    assert without_padding(explanation)
    assert finds_opinions(explanation) > 0.95
    assert explanation.prediction.argmax(1).tolist() == Y_TEST.tolist()


def test_answers_to_phrases_are_remembered_by_what_each_holds():
    model = QueriedModel(says)
    one, other = ["good", "so bad"], ["good so", "bad"]
    assert np.array_equal(model(one), model(list(one))) and model.calls == 1
    model(other)
    assert model.calls == 2


def test_names_are_those_of_each_row():
    explanation = explainer(keep=2, epochs=1).fit(X, Y).explain(X_TEST)
    assert explanation.names_per_row
    for row, words in enumerate(WORDS):
        assert explanation.row_names(row) == (*words, *[""] * (SIZE - len(words)))
        assert sorted(name for name, _ in explanation.as_list(row, kept_only=False)) == sorted(words)
    assert explanation.column_names == tuple(f"word {place + 1}" for place in range(SIZE))
    assert explanation.to_frame()["name"].shape == (len(X_TEST), SIZE)
    some = explanation[[3, 5]]
    assert some.row_names(1)[: LENGTHS[5]] == tuple(WORDS[5]) and some.valid.shape == (2, SIZE)
    again = lx.Explanation.from_json(explanation.to_json())
    assert again.names == explanation.names and torch.equal(again.valid, explanation.valid)


def test_k_above_the_number_of_words_keeps_all_of_them():
    explanation = explainer(keep=4, epochs=1).fit(X, Y).explain(X_TEST)
    assert without_padding(explanation)
    assert torch.equal(explanation.mask.sum(1), LENGTHS.clamp(max=4))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_our_methods_explain_the_kind_too(name):
    asked = {"model": says} if METHODS[name].reads_output else {"y": Y}
    explanation = explainer(name, keep=3, epochs=1).fit(X, **asked).explain(X_TEST)
    assert without_padding(explanation)
    assert explanation.prediction.isfinite().all()


def test_a_path_of_prices_is_walked_over_the_kind():
    fitted = explainer("gains", epochs=3, keep="auto").fit(X, Y)
    assert without_padding(fitted.explain(X_TEST))
    assert fitted.path_["kept"].max() <= SIZE


def test_one_row_says_the_same_alone_as_among_others():
    fitted = explainer(keep=2, epochs=2).fit(X, Y)
    explanation, alone = fitted.explain(X_TEST), fitted.explain(X_TEST[:1])
    assert torch.equal(alone.mask, explanation.mask[:1])
    assert torch.allclose(alone.scores, explanation.scores[:1], atol=1e-6)


def test_a_file_with_parts_of_the_outsiders_own_is_given_them_again(tmp_path):
    fitted = explainer(keep=2, epochs=3, options={"noise": 0.5}).fit(X, Y)
    explanation = fitted.explain(X_TEST)
    fitted.save(tmp_path / "own.lex")
    with pytest.raises(ValueError, match="method="):
        lx.Explainer.load(tmp_path / "own.lex")
    blank = pick_words(fitted.features_, fitted.outputs_, Parts(), keep=2, noise=0.5)
    loaded = lx.Explainer.load(tmp_path / "own.lex", method=blank, device="cpu")
    again = loaded.explain(X_TEST)
    assert loaded.features_ == fitted.features_
    assert torch.equal(again.scores, explanation.scores) and torch.equal(again.mask, explanation.mask)
    assert again.names == explanation.names
    assert torch.allclose(again.prediction, explanation.prediction)


def test_a_file_of_the_kind_alone_is_rebuilt_from_what_is_registered(tmp_path):
    fitted = explainer(keep=2, epochs=1, imputer=0.0).fit(X, Y)
    fitted.save(tmp_path / "kind.lex")
    loaded = lx.Explainer.load(tmp_path / "kind.lex", device="cpu")
    assert loaded.method_.name == "pick_words"
    assert torch.equal(loaded.explain(X_TEST).scores, fitted.explain(X_TEST).scores)


def test_an_audit_takes_a_measure_of_the_outsiders_own_and_counts_no_padding():
    fitted = explainer(keep=3, epochs=10).fit(X, model=says)
    explanation = fitted.explain(X_TEST)
    card = lx.audit(explanation, X_TEST, model=says, train=(X, None, fitted.explain(X)), explainer=fitted, measures=[FILLER_SHARE])
    known = {line.key: line for line in card.lines}
    expected = LENGTHS.clamp(max=3) / LENGTHS
    assert known["selection_rate"].estimate.mean == pytest.approx(float(expected.double().mean()), abs=1e-6)
    assert known["kept"].estimate.mean == pytest.approx(float(LENGTHS.clamp(max=3).double().mean()), abs=1e-6)
    fillers = (explanation.mask.sum(1) - 1) / explanation.mask.sum(1)  # where the opinion is among those kept
    assert known["fillers"].estimate.mean == pytest.approx(float(fillers.mean()), abs=0.05)
    assert known["fillers"].label == "Fillers kept" and known["eacc"].estimate.mean > 0.8
    assert card.verdict


def test_an_audit_asks_the_model_about_phrases_and_knows_their_truth():
    fitted = explainer(keep=1).fit(X, model=says)
    truth = np.array([[word in OPINIONS for word in words] + [False] * (SIZE - len(words)) for words in WORDS])
    given = {"train": (X, None, fitted.explain(X)), "explainer": fitted, "truth": truth}
    card = lx.audit(fitted.explain(X_TEST), X_TEST, model=says, measures=["TPR", "FPR", "fidelity"], **given)
    known = {line.key: line.estimate.mean for line in card.lines}
    assert known["tpr"] == 1 and known["fpr"] == 0
    assert known["fs_m"] == 1  # a phrase of the kept word alone has the same answer


def test_a_comparison_has_a_row_for_it():
    parts = [DataSplit(X, Y), DataSplit(*phrases(60, seed=2)), DataSplit(X_TEST, Y_TEST)]
    data = Dataset("opinions", "phrases with an opinion", *parts, names=tuple(Phrases().fit(X).names), features=Phrases())
    given = {"ours": explainer(keep=2, epochs=5), "at random": RandomBaseline(keep=2)}
    table = lx.compare(given, data, ["eACC", "Selection rate", "Kept", FILLER_SHARE], seeds=1, evaluator_steps=100)
    summary = table.summary()
    expected = float((LENGTHS.clamp(max=2) / LENGTHS).double().mean())
    assert summary["Kept"].tolist() == pytest.approx([float(LENGTHS.clamp(max=2).double().mean())] * 2)
    assert summary["Selection rate"].tolist() == pytest.approx([expected] * 2)
    ours, random = summary["Fillers kept"].tolist()
    assert ours < random


def test_the_page_shows_phrases_in_the_outsiders_own_way():
    explanation = explainer(keep=1, epochs=5).fit(X, Y).explain(X_TEST)
    page = explanation.to_html()
    assert "Kept words are bold." in page
    assert page.count('<p class="phrase">') == 20
    first = explanation.as_list(0)[0][0]
    assert f"<b>{first}</b>" in page
    assert "How often each word is kept" in page
    assert "<table" in explanation._repr_html_()


def test_what_lies_beyond_the_longest_row_of_the_fit_is_visible_and_the_explanation_says_so():
    fitted = explainer(keep=1, regime="surrogate").fit(X, model=says)
    rows = ["so so so so so so bad", "so so so so so so good", "good"]
    explanation = fitted.explain(rows)
    assert explanation.unexplained.tolist() == [1, 1, 0]
    assert explanation.prediction.argmax(1).tolist() == [0, 1, 1]  # the word beyond is seen, though it is not a feature
    assert explanation[1:].unexplained.tolist() == [1, 0]
    assert "2 rows exceed the longest row of the fit" in explanation.to_html()
    assert "exceed" not in explanation[2:].to_html()
    assert torch.equal(lx.Explanation.from_json(explanation.to_json()).unexplained, explanation.unexplained)
    shorter = fitted.explain(["good"])
    assert shorter.unexplained is None and "unexplained" not in shorter.to_json()


def test_a_word_that_no_row_of_the_fit_has_is_named_and_can_be_asked_about():
    fitted = explainer("lex", keep=1, regime="self", imputer=0.0, epochs=1).fit(X, model=says)
    explanation = fitted.explain(["indeed good", "bad"])
    assert explanation.row_names(0)[:2] == ("indeed", "good")
    assert explanation.prediction.isfinite().all()


def test_a_file_of_a_kind_that_is_not_registered_says_what_to_do(tmp_path, register):
    explainer(keep=1, epochs=1, imputer=0.0).fit(X, Y).save(tmp_path / "kind.lex")
    from lexplain.core import kinds

    kinds._REGISTERED.clear()
    with pytest.raises(ValueError, match=r"'phrases'.*lexplain\.register"):
        lx.Explainer.load(tmp_path / "kind.lex")


def test_a_recipe_refuses_kinds_that_are_not_its_own():
    with pytest.raises(ValueError, match="phrases"):
        lx.Explainer(pick_words, keep=1, epochs=1).fit(np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 2)
