"""Files that earlier code wrote are read by this code, say what they said then, and are written again as they were."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open

import lexplain as lx

BASE = Path(__file__).parent / "fixtures" / "base"
NAMES = {  # the features of each explainer
    "mixed": ("money", "age", "job", "owns"),
    "patches": tuple(f"r{row} c{column}" for row in range(1, 5) for column in range(1, 5)),
    "default": ("x1", "x2", "x3", "x4"),
    "real": ("x1", "x2", "x3", "x4"),
    "background": ("x1", "x2", "x3", "x4"),
}
FIELDS = ["group", "key", "metric", "rows", "higher_is_better"]  # of a card's line, whatever its number
UNJUDGED = ["acc", "auroc", "auprc", "kept", "selection_rate", "empty"]  # the others come from networks and forests that are trained anew


def expected(name):
    with np.load(BASE / f"{name}.npz") as file:
        return dict(file)


def rows_of(name):
    columns = {key[2:]: value for key, value in expected(name).items() if key.startswith("X.")}
    if "all" in columns:
        return columns["all"]
    columns.pop("y")
    return pd.DataFrame({key: value.astype(object) if value.dtype.kind == "U" else value for key, value in columns.items()})


def content(path):
    """The tensors and the record of a file."""
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["lexplain"])  # noqa: SIM118  a handle is no dict


def assert_same_file(one, two):
    (tensors, record), (others, other) = content(one), content(two)
    assert record == other
    assert tensors.keys() == others.keys()
    assert all(value.dtype == others[name].dtype and torch.equal(value, others[name]) for name, value in tensors.items())


def assert_close(found, wanted):
    assert np.shape(found) == wanted.shape
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_an_explainer_says_what_it_said(name):
    answers, explainer = expected(name), lx.Explainer.load(BASE / f"{name}.lex", device="cpu")
    e = explainer.explain(rows_of(name))
    assert e.names == NAMES[name]
    assert_close(e.scores, answers["scores"])
    assert np.array_equal(e.mask, answers["mask"])
    if name != "background":
        assert_close(e.kept_prediction, answers["prediction"])
        predicted = explainer.predict(rows_of(name))
        assert_close(predicted, answers["predicted"]) if name == "real" else np.testing.assert_array_equal(predicted, answers["predicted"])


@pytest.mark.parametrize("name", NAMES)
def test_an_explainer_is_written_again_as_it_was(name, tmp_path):
    explainer = lx.Explainer.load(BASE / f"{name}.lex", device="cpu")
    explainer.save(tmp_path / "again.lex")
    assert_same_file(tmp_path / "again.lex", BASE / f"{name}.lex")
    one, two = (each.explain(rows_of(name)) for each in (explainer, lx.Explainer.load(tmp_path / "again.lex", device="cpu")))
    assert one == two


def test_an_explainer_brings_its_path_along():
    path = lx.Explainer.load(BASE / "default.lex", device="cpu").path_
    assert path.columns[:3].tolist() == ["price", "kept", "cost"]
    assert path["price"].is_monotonic_increasing and path["chosen"].sum() == 1


def test_an_explainer_without_background_refuses_to_predict():
    explainer = lx.Explainer.load(BASE / "background.lex", device="cpu")
    with pytest.raises(ValueError, match=r"background=0.* explain works"):
        explainer.predict(rows_of("background"))
    with pytest.raises(ValueError, match=r"saved with background=0"):
        explainer.explain(rows_of("background")).kept_prediction  # noqa: B018  a property that predicts


def test_a_model_that_is_right_for_the_right_reasons_says_what_it_said(tmp_path):
    answers, rows = expected("reasons"), rows_of("mixed")
    model = lx.RightReasons.load(BASE / "reasons.lex", device="cpu")
    e = model.explain(rows)
    assert_close(e.scores, answers["scores"])
    assert np.array_equal(e.mask, answers["mask"])
    assert_close(model.predict_proba(rows), answers["prediction"])
    assert np.array_equal(model.predict(rows), answers["predicted"])
    model.save(tmp_path / "again.lex")
    assert_same_file(tmp_path / "again.lex", BASE / "reasons.lex")
    again = lx.RightReasons.load(tmp_path / "again.lex", device="cpu")
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))


def test_an_explanation_in_json_is_read_and_written_again_as_it_was():
    text, answers = (BASE / "explanation.json").read_text(), expected("mixed")
    e = lx.Explanation.from_json(text)
    assert np.array_equal(e.scores, answers["scores"]) and np.array_equal(e.mask, answers["mask"])
    assert (e.names, e.classes, e.method) == (NAMES["mixed"], ("no", "yes"), "realx")
    assert np.array_equal(np.array(e.classes)[e.target], answers["predicted"])
    assert e.to_json() == text
    rows = lx.Explainer.load(BASE / "mixed.lex", device="cpu").explain(rows_of("mixed"))
    rows.prediction  # noqa: B018  read, so that the explained classes are in the text
    one, two = (json.loads(each) for each in (rows.to_json(), text))
    assert_close(one.pop("scores"), np.array(two.pop("scores")))
    assert one.pop("target") == rows.prediction.argmax(1).tolist() and two.pop("target") == rows.kept_prediction.argmax(1).tolist()
    assert one == two


def test_a_card_has_the_lines_that_it_had(short_judges):
    short_judges(judge=20, reader=20)
    rows, wanted = rows_of("mixed"), json.loads((BASE / "card.json").read_text())
    e = lx.Explainer.load(BASE / "mixed.lex", device="cpu").explain(rows)
    found = json.loads(lx.audit(e, rows, expected("mixed")["X.y"], device="cpu").to_json())
    assert list(found) == list(wanted)
    for key in ("format", "method", "rows", "margin"):
        assert found[key] == wanted[key]
    one, two = (pd.DataFrame(card["metrics"]) for card in (found, wanted))
    assert one.columns.tolist() == two.columns.tolist()
    pd.testing.assert_frame_equal(one[FIELDS], two[FIELDS])
    one, two = (frame.set_index("key").loc[UNJUDGED, ["value", "low", "high"]] for frame in (one, two))
    pd.testing.assert_frame_equal(one, two, atol=1e-5)


def test_a_comparison_has_the_table_that_it_had(short_judges):
    short_judges(reader=20)
    explainers = {name: lx.Explainer(name, keep=2, epochs=1, device="cpu") for name in ("l2x", "lex")}
    compared = lx.compare(explainers, lx.load_data("s3", rows=60), seeds=1, evaluator_steps=20, network_steps=20)
    found, wanted = json.loads(compared.to_json()), json.loads((BASE / "comparison.json").read_text())
    assert list(found) == list(wanted) and found["format"] == wanted["format"]
    for part, numbers in {"table": ["value", "low", "high"], "ledger": ["fit_seconds", "explain_seconds", "ms_a_row"]}.items():
        one, two = pd.DataFrame(found[part]), pd.DataFrame(wanted[part])
        assert one.columns.tolist() == two.columns.tolist()
        pd.testing.assert_frame_equal(one.drop(columns=numbers), two.drop(columns=numbers))
        assert one[numbers].notna().to_numpy().all()
