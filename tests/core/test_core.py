import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from lexplain.core import Batch, Dataset, DataSplit, Explanation, as_target, concat_batches, target_values

SCORES = torch.tensor([[0.1, 0.9, 0.5], [0.3, 0.3, 0.2], [0.0, 0.7, 0.8]])
MASK = torch.tensor([[False, True, True], [True, True, False], [False, False, True]])
NAMES = ("age", "income", "place")
PROBABILITIES = torch.tensor([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])


def explanation(**more):
    return Explanation(SCORES, MASK, NAMES, **more)


# ---- Trial ----


def whole():
    return Batch(
        torch.arange(6.0).reshape(3, 2),
        as_target(PROBABILITIES, real=False),
        valid=MASK[:, :2],
        context=PROBABILITIES,
        explainer_masks=~MASK[:, :2],
        irrelevant=MASK[:, 1:],
        aux_target=SCORES,
        progress=0.4,
        p="masks",
        mask=torch.ones(1),
        predicted=as_target(PROBABILITIES, real=False),
    )


def test_some_rows_of_a_trial():
    rows = torch.tensor([2, 0])
    some = whole().take(rows)
    assert len(some) == 2
    assert len(whole()) == 3
    assert some.x.tolist() == [[4, 5], [0, 1]]
    assert torch.allclose(some.target.probs, PROBABILITIES[rows])
    assert torch.equal(some.valid, MASK[rows, :2])
    assert torch.equal(some.context, PROBABILITIES[rows])
    assert torch.equal(some.explainer_masks, ~MASK[rows, :2])
    assert torch.equal(some.irrelevant, MASK[rows, 1:])
    assert torch.equal(some.aux_target, SCORES[rows])
    assert some.progress == 0.4
    assert some.p is None  # what has become of the rows is forgotten
    assert some.mask is None
    assert some.predicted is None
    bare = Batch(torch.zeros(3, 2), as_target(torch.zeros(3), real=True)).take(slice(0, 2))
    assert (bare.valid, bare.context, len(bare)) == (None, None, 2)


@pytest.mark.parametrize("real", [False, True])
def test_a_trial_moves_whole(real):
    target = as_target(torch.zeros(3), real=True) if real else as_target(PROBABILITIES, real=False)
    moved = Batch(
        torch.zeros(3, 2), target, valid=MASK, context=PROBABILITIES, explainer_masks=MASK, irrelevant=MASK, aux_target=SCORES
    ).to("meta")
    for part in (
        moved.x,
        moved.valid,
        moved.context,
        moved.explainer_masks,
        moved.irrelevant,
        moved.aux_target,
        target_values(moved.target),
    ):
        assert part.device.type == "meta"
    assert isinstance(moved.target, type(target))


@pytest.mark.parametrize("real", [False, True])
def test_two_trials_are_joined(real):
    target = as_target(torch.arange(3.0), real=True) if real else as_target(PROBABILITIES, real=False)
    full = replace(whole(), target=target)
    both = concat_batches(full, full.take(torch.tensor([1])))
    assert both.x.tolist() == [[0, 1], [2, 3], [4, 5], [2, 3]]
    assert isinstance(both.target, type(target))
    assert torch.allclose(target_values(both.target), target_values(target)[[0, 1, 2, 1]])
    for name in ("valid", "context", "explainer_masks", "irrelevant", "aux_target"):
        assert torch.equal(getattr(both, name), getattr(full, name)[[0, 1, 2, 1]])
        assert getattr(concat_batches(full, replace(full, **{name: None})), name) is None
    assert (both.p, both.mask, both.predicted) == (None, None, None)


# ---- Explanation ----


@pytest.mark.parametrize(
    ("scores", "mask", "names"),
    [(SCORES, MASK[:2], NAMES), (SCORES, MASK, NAMES[:2]), (SCORES[0], MASK[0], NAMES)],
    ids=["rows differ", "names differ", "one axis"],
)
def test_refuses_parts_that_do_not_fit(scores, mask, names):
    with pytest.raises(ValueError, match=r"cores of shape .*\(rows, features\)"):
        Explanation(scores, mask, names)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (1, [1]),
        (-1, [2]),
        (slice(0, 2), [0, 1]),
        ([2, 0], [2, 0]),
        (torch.tensor([2, 0]), [2, 0]),
        (torch.tensor([True, False, True]), [0, 2]),
    ],
    ids=str,
)
@pytest.mark.parametrize("framed", [True, False])
def test_some_rows_of_an_explanation(rows, expected, framed):
    data = np.arange(9).reshape(3, 3)
    data = pd.DataFrame(data, index=["a", "b", "c"]) if framed else data
    some = explanation(data=data, target_index=torch.tensor([1, 0, 1]), compute_prediction=lambda: PROBABILITIES, method="l2x")[rows]
    assert len(some) == len(expected)
    assert torch.equal(some.scores, SCORES[expected])
    assert torch.equal(some.mask, MASK[expected])
    assert np.asarray(some.data).tolist() == [[3 * i, 3 * i + 1, 3 * i + 2] for i in expected]
    assert some.target_index.tolist() == [[1, 0, 1][i] for i in expected]
    assert torch.equal(some.prediction, PROBABILITIES[expected])
    assert (some.method, some.names) == ("l2x", NAMES)
    assert explanation()[rows].data is None


def test_the_prediction_is_computed_when_read_and_once():
    calls = []

    def predict():
        calls.append(1)
        return PROBABILITIES

    e = explanation(compute_prediction=predict)
    assert calls == []
    assert torch.equal(e.prediction, PROBABILITIES)
    assert e.target.tolist() == PROBABILITIES.argmax(1).tolist()
    assert e[0].prediction.shape == (1, 2)
    assert calls == [1]


def test_the_target_is_the_class_asked_for_else_the_predicted_one():
    assert explanation(target_index=torch.tensor([0, 0, 1]), compute_prediction=lambda: PROBABILITIES).target.tolist() == [0, 0, 1]
    assert explanation(compute_prediction=lambda: PROBABILITIES).target.tolist()[:2] == [1, 0]
    assert explanation(compute_prediction=lambda: torch.randn(3, 1)).target.tolist() == [0, 0, 0]  # a real-valued output
    with pytest.raises(AttributeError, match="no model"):
        explanation().prediction  # noqa: B018


def test_a_frame_has_scores_and_what_is_kept():
    frame = explanation(data=pd.DataFrame(np.zeros((3, 3)), index=["a", "b", "c"])).to_frame()
    assert list(frame.index) == ["a", "b", "c"]
    assert np.allclose(frame["score"].to_numpy(), SCORES.numpy())
    assert np.array_equal(frame["kept"].to_numpy(), MASK.numpy())
    assert list(frame["kept"].columns) == list(NAMES)
    assert list(explanation().to_frame().index) == [0, 1, 2]


def test_a_list_of_what_is_kept_the_most_important_first():
    assert [name for name, _ in explanation().as_list(0)] == ["income", "place"]
    assert explanation().as_list(0)[0][1] == pytest.approx(0.9)
    assert [name for name, _ in explanation().as_list(0, kept_only=False)] == ["income", "place", "age"]
    assert [name for name, _ in explanation().as_list(1)] == ["age", "income"]  # a tie stays in order


@pytest.mark.parametrize(
    "more", [{}, {"target_index": torch.tensor([1, 0, 1]), "classes": ("no", "yes"), "method": "lex"}], ids=["bare", "full"]
)
def test_json_brings_it_back(more):
    text = explanation(**more).to_json()
    back = Explanation.from_json(text)
    assert torch.equal(back.scores, SCORES)
    assert torch.equal(back.mask, MASK)
    assert back.mask.dtype == torch.bool
    assert back.names == NAMES
    assert back.method == more.get("method", "")
    assert back.classes == more.get("classes")
    assert (back.target_index is None) == ("target_index" not in more)
    assert back.target_index is None or back.target_index.tolist() == [1, 0, 1]
    assert back.to_json() == text


def test_json_of_numpy_classes_and_of_a_predicted_target():
    e = explanation(compute_prediction=lambda: PROBABILITIES, classes=tuple(np.array([3, 8])))
    assert e.prediction is PROBABILITIES  # the class is known once the prediction was read
    record = json.loads(e.to_json())
    assert record["classes"] == [3, 8]
    assert record["target"] == PROBABILITIES.argmax(1).tolist()
    named = json.loads(explanation(classes=tuple(np.array(["no", "yes"]))).to_json())
    assert named["classes"] == ["no", "yes"]


def test_json_of_no_rows():
    empty = Explanation(torch.zeros(0, 3), torch.zeros(0, 3).bool(), NAMES)
    assert Explanation.from_json(empty.to_json()).scores.shape == (0, 3)


@pytest.mark.parametrize(
    "text", ["{", "[1, 2]", '{"format": "another/1"}', '{"format": "lexplain.explanation/1"}', '{"format": "lexplain.explanation/2"}']
)
def test_refuses_text_that_is_no_explanation(text):
    with pytest.raises(ValueError, match=r"Explanation\.to_json"):
        Explanation.from_json(text)


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        explanation().method = "other"


# ---- rows of different lengths ----

WORDS = (("a", "fine", "film"), ("dull",), ("too", "long"))
THERE = torch.tensor([[True, True, True], [True, False, False], [True, True, False]])


def of_texts(**more):
    return Explanation(SCORES, MASK & THERE, WORDS, valid=THERE, **more)


def test_each_row_may_have_names_of_its_own():
    e = of_texts()
    assert e.names_per_row
    assert not explanation().names_per_row
    assert e.row_names(1) == ("dull", "", "")
    assert explanation().row_names(1) == NAMES
    assert e.column_names == ("1", "2", "3")
    assert explanation().column_names == NAMES
    assert e.feature_counts.tolist() == [3, 1, 2]
    assert explanation().feature_counts.tolist() == [3, 3, 3]
    assert [name for name, _ in e.as_list(0)] == ["fine", "film"]
    assert [name for name, _ in e.as_list(2, kept_only=False)] == ["long", "too"]  # padding is no feature, however high its score
    assert e.to_frame()["name"].to_numpy().tolist() == [["a", "fine", "film"], ["dull", "", ""], ["too", "long", ""]]
    some = e[[2, 1]]
    assert some.names == (WORDS[2], WORDS[1])
    assert torch.equal(some.valid, THERE[[2, 1]])


def test_json_brings_rows_of_different_lengths_back():
    back = Explanation.from_json(of_texts().to_json())
    assert back.names == WORDS
    assert torch.equal(back.valid, THERE)
    assert back.valid.dtype == torch.bool
    empty = Explanation.from_json(of_texts()[[]].to_json())
    assert (len(empty), empty.scores.shape, empty.names) == (0, (0, 3), ("1", "2", "3"))


def test_padding_cannot_be_kept():
    with pytest.raises(ValueError, match="mask keeps padding"):
        Explanation(SCORES, torch.ones(3, 3).bool(), WORDS, valid=THERE)
    for names in (WORDS[:2], (("one", "name", "too", "many"), *WORDS[1:])):
        with pytest.raises(ValueError, match="do not fit"):
            Explanation(SCORES, MASK & THERE, names, valid=THERE)
    with pytest.raises(ValueError, match="do not fit"):
        Explanation(SCORES, MASK & THERE, WORDS, valid=THERE[:, :2])


def test_cells_are_what_a_row_holds():
    e = explanation(data=pd.DataFrame({"age": [1, 2, 3], "income": [0.5, 1.5, 2.5], "place": ["a", "b", "c"]}))
    assert e.cell_values(1) == [2, 1.5, "b"]
    assert e[[2]].cell_values(0) == [3, 2.5, "c"]
    assert explanation().cell_values(0) == [None, None, None]
    assert of_texts(data=["a fine film", "dull", "too long"]).cell_values(0) == [None, None, None]


# ---- Dataset ----


def test_a_part_as_a_frame():
    part = DataSplit(np.zeros((4, 3), dtype=np.float32), np.zeros(4))
    data = Dataset("toy", "a toy", part, part, part, NAMES)
    assert len(part) == 4
    assert list(data.frame(data.test).columns) == list(NAMES)
    mixed = pd.DataFrame({"a": [1], "b": ["x"]})
    assert data.frame(DataSplit(mixed, np.zeros(1))) is mixed


@pytest.mark.parametrize(("rows", "most", "sizes"), [(5, 9, [5]), (5, 5, [5]), (5, 2, [2, 2, 1])])
def test_a_trial_in_parts_is_whole(rows, most, sizes):
    batch = Batch(torch.arange(rows)[:, None].float(), as_target(torch.full((rows, 2), 0.5), real=False), aux_target=torch.rand(rows, 3))
    parts = batch.chunks(most)
    assert [len(part) for part in parts] == sizes
    assert torch.equal(torch.cat([part.x for part in parts]), batch.x)
    assert torch.equal(torch.cat([part.aux_target for part in parts]), batch.aux_target)


# ---- shap ----

BASE = torch.tensor([0.5, -0.25, 1.0])
FORTY = torch.linspace(-1, 1, 120).reshape(40, 3)
ROWS = pd.DataFrame({"age": np.arange(40), "income": np.linspace(0, 1, 40), "place": ["town", "land"] * 20})


@pytest.fixture
def shap():
    pytest.importorskip("matplotlib").use("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what shap itself imports
        yield pytest.importorskip("shap")
    pytest.importorskip("matplotlib.pyplot").close("all")


def of_forty_rows(**more):
    return Explanation(FORTY, FORTY > 0, NAMES, method="realx", **{"data": ROWS, **more})


def test_shap_is_given_what_there_is(shap):
    given = of_forty_rows().to_shap()
    assert isinstance(given, shap.Explanation)
    assert np.array_equal(given.values, FORTY.numpy())
    assert given.feature_names == list(NAMES)
    assert given.data[:3].tolist() == [[0, 0, 1], [1, 1 / 39, 0], [2, 2 / 39, 1]]  # categories as numbers,
    assert given.display_data[1].tolist() == [1, 1 / 39, "land"]  # and as they are
    plain = of_forty_rows(data=np.arange(120).reshape(40, 3)).to_shap()
    assert plain.data[1].tolist() == [3, 4, 5]
    assert plain.display_data is None
    assert of_forty_rows(data=None).to_shap().data is None


def test_shap_is_given_the_values_of_features(shap):
    from lexplain.features import Groups

    swapped = Groups(groups={"last": ["place"]}).fit(ROWS)  # groups come first
    given = of_forty_rows(features=swapped).to_shap()
    assert given.display_data[1].tolist() == ["land", 1, 1 / 39]
    joined = Groups(groups={"both": ["place", "age"]}).fit(ROWS)
    two = Explanation(FORTY[:, :2], FORTY[:, :2] > 0, joined.names, data=ROWS, features=joined)
    assert two.to_shap().data is None  # a group has no one value


PLOTS = {
    "beeswarm": lambda shap, e: shap.plots.beeswarm(e, show=False),
    "bar": lambda shap, e: shap.plots.bar(e, show=False),
    "bar of a row": lambda shap, e: shap.plots.bar(e[0], show=False),
    "scatter": lambda shap, e: shap.plots.scatter(e[:, "income"], color=e[:, "age"], show=False),
    "scatter of categories": lambda shap, e: shap.plots.scatter(e[:, "place"], show=False),
    "heatmap": lambda shap, e: shap.plots.heatmap(e, show=False),
}


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("additive", [True, False])
def test_shap_draws_it(shap, plot, additive):
    more = {"additive": True, "base_values": torch.zeros(40)} if additive else {}
    ax = PLOTS[plot](shap, of_forty_rows(**more).to_shap())
    words = " ".join(text.get_text() for text in ax.figure.findobj(match=lambda a: hasattr(a, "get_text")))
    assert "income" in words or "place" in words


SUMS = {
    "waterfall": lambda shap, e: shap.plots.waterfall(e[0], show=False),
    "force": lambda shap, e: shap.plots.force(e[0], matplotlib=True, show=False),
    "force of all": lambda shap, e: shap.plots.force(e),
    "decision": lambda shap, e: shap.plots.decision(e.base_values[0] if hasattr(e.base_values, "__len__") else e.base_values, e.values),
}


@pytest.mark.parametrize("plot", SUMS)
def test_shap_adds_up_what_adds_up_alone(shap, plot):
    SUMS[plot](shap, of_forty_rows(additive=True, base_values=torch.linspace(0, 1, 40)).to_shap())
    for more in ({}, {"additive": True}, {"base_values": torch.zeros(40)}):  # both are needed: that they do, and from where
        with pytest.raises(ValueError, match=r"realx.* do not add up .*beeswarm"):
            SUMS[plot](shap, of_forty_rows(**more).to_shap())


def test_shap_computes_with_it(shap):
    given = of_forty_rows().to_shap()
    assert np.allclose((given * 2).values, 2 * FORTY)
    assert np.allclose(given.abs.mean(0).values, FORTY.abs().mean(0))
    assert "do not add up" in repr(given)
    added = of_forty_rows(additive=True, base_values=torch.linspace(0, 1, 40)).to_shap()
    assert added[3].base_values == pytest.approx(3 / 39)


def test_shap_may_be_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    with pytest.raises(ImportError, match=r"shap is not installed.*'lexplain\[peers\]'"):
        explanation().to_shap()


def test_the_base_goes_where_the_rows_go():
    e = explanation(additive=True, base_values=BASE)
    assert e[[2, 0]].base_values.tolist() == [1.0, 0.5]
    assert e[1].additive
    assert explanation()[1].base_values is None
    back = Explanation.from_json(e.to_json())
    assert back.additive
    assert torch.equal(back.base_values, BASE)
    old = {name: value for name, value in json.loads(explanation().to_json()).items() if name not in ("additive", "base")}
    assert Explanation.from_json(json.dumps(old)).additive is False  # what was written before there was a base
    with pytest.raises(ValueError, match=r"base_values has shape \(2,\).* \(3,\)"):
        explanation(base_values=BASE[:2])


def test_explanations_are_equal_by_what_they_say():
    one, other = explanation(), explanation()
    assert one == other
    assert one != replace(one, mask=~one.mask) and one != replace(one, method="another") and one != "text"
    assert one != replace(one, target_index=torch.zeros(len(one), dtype=torch.long))
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_json_runs_no_predictor():
    calls = []

    def predict():
        calls.append(1)
        return torch.eye(3)[: len(explanation())]

    e = explanation(compute_prediction=predict, target_index=None)
    assert json.loads(e.to_json())["target"] is None and not calls
    _ = e.prediction
    assert json.loads(e.to_json())["target"] == e.target.tolist()
