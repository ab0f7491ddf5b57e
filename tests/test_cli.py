import ast
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

from lexplain import METHODS, Explainer, __version__, as_explanation, audit, cli, load_data
from lexplain.auditing.card import MARGIN
from lexplain.cli.rows import explanation_as_csv
from lexplain.core import Explanation
from lexplain.explainers import FitWarning
from lexplain.imputers import NoBackground


def lexplain(*words):
    """Run a command in this process."""
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def plain(text):
    """Text without colours and line ends."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())


def well(*words):
    result = lexplain(*words)
    assert result.exit_code == 0, result.output
    return plain(result.output)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the rows of a small data set, as files, and an explainer fitted to them."""
    folder = tmp_path_factory.mktemp("flow")
    for part in ("train", "test"):
        for ending in ("csv", "npz"):
            well("data", "s3", "--rows", 60, "--split", part, "--out", folder / f"{part}.{ending}")
    well("fit", folder / "train.csv", "--keep", 5, "--epochs", 1, "--device", "cpu", "--out", folder / "model.lex")
    return folder


@pytest.fixture
def quick_judges(short_judges):
    """Evaluators trained for a few steps, for tests that do not depend on their predictions."""
    short_judges(judge=5, reader=5)


def test_images_are_fitted_explained_and_audited(tmp_path, quick_judges):
    for part in ("train", "test"):
        well("data", "sp_digits", "--rows", 60, "--split", part, "--out", tmp_path / f"{part}.npz")
    options = ["--epochs", 1, "--device", "cpu"]
    options += ["--imputer", "MixtureMeans", "--continuity", 0.01]
    said = well("fit", tmp_path / "train.npz", "--patch", 2, "--keep", 3, *options, "--out", tmp_path / "images.lex")
    assert "sufficient: 60 rows, 32 features, 10 classes; keeps 3.0 per row" in said
    well("explain", tmp_path / "images.lex", tmp_path / "test.npz", "--out", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().count("data:image/png") >= 10
    assert "eACC" in well("audit", tmp_path / "images.lex", tmp_path / "test.npz", "--train", tmp_path / "train.npz")
    told = plain(lexplain("fit", "s3", "--patch", 2, "--out", tmp_path / "m.lex").output)
    assert "--patch 2 is for images" in told


# ---- what is asked before anything is loaded ----


def test_help_needs_nothing_heavy():
    script = "import sys, lexplain.cli; print([m for m in ('torch', 'numpy', 'pandas', 'lightning_fabric', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", ["data", "fit", "explain", "audit", "compare", "demo", "reproduce", "right-reasons"])
def test_every_command_has_help_with_an_example(command):
    assert f"Try: lexplain {command}" in well(command, "--help").replace("│", "")


def test_version_and_bare_call():
    assert well("--version") == f"lexplain {__version__}"
    assert "reproduce" in plain(lexplain().output)


def test_help_names_what_there_is():
    told = re.search(r"--method \S+ default or one of: (.*?)\. ", plain(well("fit", "--help").replace("│", "")))[1]
    assert told.split(", ") == sorted(METHODS)
    assert f"[default: {MARGIN}]" in plain(lexplain("audit", "--help").output.replace("│", ""))


# ---- the flow ----


def test_data_lists_and_describes():
    listed = well("data")
    assert all(name in listed for name in ("s1", "orange_skin", "breast_cancer"))
    told = well("data", "s1", "--rows", 40, "--noise-columns", 2, "--correlation", 0.5)
    assert "train 40, validation 10, test 40" in told
    assert "13: x1, x2, …, x13" in told
    assert "x11, which decides" in told
    assert "best accuracy" in told


def test_data_writes_the_part_that_is_asked_for(place):
    data = load_data("s3", rows=60)
    table = pd.read_csv(place / "test.csv")
    assert np.array_equal(table["y"], data.test.y)
    with np.load(place / "train.npz", allow_pickle=False) as stored:
        assert np.array_equal(stored["truth"], data.train.truth)


def test_fit_says_what_it_did_and_is_the_library_s_fit(place, tmp_path):
    said = well("fit", place / "train.csv", "--keep", 5, "--epochs", 1, "--device", "cpu", "--out", tmp_path / "again.lex")
    assert "gains: 60 rows, 11 features, 2 classes; keeps 5.0 per row" in said
    assert f"Next: lexplain explain {tmp_path / 'again.lex'} {place / 'train.csv'}" in said
    data = load_data("s3", rows=60)
    rows = pd.read_csv(place / "train.csv")
    own = Explainer(keep=5, epochs=1, device="cpu").fit(rows.drop(columns="y"), rows["y"])
    test = data.frame(data.test)
    assert np.allclose(Explainer.load(tmp_path / "again.lex").explain(test).scores, own.explain(test).scores)


def test_a_file_without_background_rows_is_written_if_asked(place, tmp_path):
    words = ["--method", "lex", "--imputer", "Marginal", "--keep", 2, "--epochs", 1, "--device", "cpu"]
    done = lexplain("fit", place / "train.csv", *words, "--background", 0, "--out", tmp_path / "m.lex")
    assert done.exit_code == 0, done.output
    assert isinstance(Explainer.load(tmp_path / "m.lex", device="cpu").method_.imputer, NoBackground)


def test_options_of_fit_reach_the_explainer(place, tmp_path, monkeypatch):
    seen = {}
    monkeypatch.setattr(Explainer, "fit", lambda self, X, y, checkpoint: seen.update(self.get_params(), checkpoint=checkpoint) or 1 / 0)
    words = {
        "method": "lex",
        "penalty": 0.5,
        "regime": "fixed",
        "epochs": 3,
        "batch-size": 7,
        "learning-rate": 0.5,
        "seed": 9,
        "imputer": "Gaussian",
    }
    words["continuity"] = 0.25
    options = [word for pair in words.items() for word in (f"--{pair[0]}", pair[1])]
    lexplain("fit", place / "train.csv", *options, "--device", "cpu", "--checkpoint", "here", "--out", tmp_path / "m.lex")
    assert {name.replace("-", "_"): value for name, value in words.items() if name != "seed"}.items() <= seen.items()
    assert (seen["random_state"], seen["device"], seen["checkpoint"]) == (9, "cpu", Path("here"))


@pytest.mark.parametrize("words", [{"tolerance": 0.02, "budget": "thorough"}, {"tolerance-points": 1.5, "budget": "default"}], ids=str)
def test_what_auto_is_told_reaches_the_explainer(place, tmp_path, monkeypatch, words):
    seen = {}
    monkeypatch.setattr(Explainer, "fit", lambda self, X, y, checkpoint: seen.update(self.get_params()) or 1 / 0)
    options = [word for pair in words.items() for word in (f"--{pair[0]}", pair[1])]
    lexplain("fit", place / "train.csv", "--method", "gains", "--keep", "auto", *options, "--out", tmp_path / "m.lex")
    assert {"keep": "auto", **{name.replace("-", "_"): value for name, value in words.items()}}.items() <= seen.items()


@pytest.mark.parametrize("method", ["gains", "default"])
def test_fit_tells_what_was_chosen_and_writes_a_page(place, tmp_path, monkeypatch, method):
    monkeypatch.setattr("lexplain.explainers.path.EVALUATOR_STEPS", 10)
    words = ["--method", method, "--keep", "auto", "--epochs", 2, "--device", "cpu"]
    result = lexplain("fit", place / "train.csv", *words, "--out", tmp_path / "m.lex", "--report", tmp_path / "new/page.html")
    assert result.exit_code == 0, result.output
    explainer = Explainer.load(tmp_path / "m.lex")
    point = explainer.path_.query("chosen").iloc[0]
    told = [line for line in result.stdout.splitlines() if line.startswith("Chosen on held-out rows: ")]
    assert len(told) == 1
    assert f"keeps {point['kept']:.1f} features at " in told[0]
    assert "predictions change by " in told[0]
    assert f"Written to {tmp_path / 'new/page.html'}" in plain(result.stdout)
    assert "The path in numbers" in (tmp_path / "new/page.html").read_text()
    assert os.listdir(tmp_path / "new") == ["page.html"]  # no temporary file is left


def test_findings_are_told_once_and_in_words_alone(place, tmp_path, monkeypatch):
    monkeypatch.setattr("lexplain.explainers.explainer.findings", lambda *_, **__: ["the sky is low; look up"])
    words = ["--keep", 5, "--epochs", 1, "--device", "cpu", "--report", tmp_path / "page.html", "--out", tmp_path / "m.lex"]
    with warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        result = lexplain("fit", place / "train.csv", *words)
    assert not [warning for warning in leaked if issubclass(warning.category, FitWarning)]
    assert plain(result.stderr) == "Warning: the sky is low; look up."
    assert "sky" not in result.stdout
    assert "Chosen" not in result.stdout
    assert "The sky is low; look up." in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(("word", "size"), [("3", 3), ("0.3", 0.3), ("auto", "auto")])
def test_keep_is_a_number_a_rate_or_auto(place, tmp_path, monkeypatch, word, size):
    seen = []
    monkeypatch.setattr(Explainer, "fit", lambda self, X, y, checkpoint: seen.append(self.keep) or 1 / 0)
    lexplain("fit", place / "train.csv", "--keep", word, "--out", tmp_path / "m.lex")
    assert seen == [size]
    assert type(seen[0]) is type(size)


def test_explain_shows_rows_and_writes_all(place, tmp_path):
    said = well("explain", place / "model.lex", place / "test.csv", "--rows", 2, "--out", tmp_path / "e.csv")
    explanation = Explainer.load(place / "model.lex").explain(pd.read_csv(place / "test.csv").drop(columns="y"))
    table = pd.read_csv(tmp_path / "e.csv")
    names = [f"x{j}" for j in range(1, 12)]
    assert table.columns.tolist() == ["row", *(f"score:{n}" for n in names), *(f"kept:{n}" for n in names)]
    assert np.array_equal(table.filter(like="kept:").to_numpy(), explanation.mask.int())
    assert table["row"].tolist() == list(range(60))
    for name, _ in explanation.as_list(0):
        assert f"{name} = " in said
    assert len(re.findall(r"predicted [01] \(\d+%\)", said)) == 2


def test_explain_verifies_rows_by_the_explainers_predictor(place, tmp_path):
    said = well("explain", place / "model.lex", place / "test.csv", "--verify", "--rows", 3, "--out", tmp_path / "e.csv")
    rows = pd.read_csv(place / "test.csv").drop(columns="y")
    explanation = Explainer.load(place / "model.lex").explain(rows, verify=True)
    table = pd.read_csv(tmp_path / "e.csv")
    assert np.array_equal(table.filter(like="kept:").to_numpy(), explanation.mask.int())
    assert np.allclose(table["holds"], explanation.holds) and table["verified"].tolist() == explanation.verified.tolist()
    assert len(re.findall(r"in \d+%", said)) + said.count("holds only with") == 3
    well("explain", place / "model.lex", place / "test.csv", "--verify", "--out", tmp_path / "e.html")
    assert f"{int(explanation.verified.sum())} of 60 rows are verified" in (tmp_path / "e.html").read_text()


def test_explain_writes_json_and_html(place, tmp_path):
    for ending, start in (("json", "{"), ("html", "<!")):
        well("explain", place / "model.lex", place / "test.npz", "--rows", 0, "--out", tmp_path / f"new/e.{ending}")
        assert (tmp_path / f"new/e.{ending}").read_text().startswith(start)
    assert len(json.loads((tmp_path / "new/e.json").read_text())["mask"]) == 60
    assert sorted(os.listdir(tmp_path / "new")) == ["e.html", "e.json"]  # no temporary file is left


def test_explanation_as_csv():
    scores, mask = torch.tensor([[0.5, 0.25], [0.1, 0.9]]), torch.tensor([[True, False], [False, True]])
    text = explanation_as_csv(Explanation(scores, mask, ("a", "b")))
    assert text.splitlines() == ["row,score:a,score:b,kept:a,kept:b", "0,0.5,0.25,1,0", "1,0.1,0.9,0,1"]
    data = pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["u", "v"])
    assert explanation_as_csv(Explanation(scores, mask, ("a", "b"), data)).splitlines()[2].startswith("v,")


def test_explain_takes_columns_by_name(place, tmp_path):
    rows = pd.read_csv(place / "test.csv")
    rows[[*rows.columns[::-1]]].assign(city="Rome").to_csv(tmp_path / "mixed.csv", index=False)
    well("explain", place / "model.lex", place / "test.csv", "--out", tmp_path / "a.csv")
    well("explain", place / "model.lex", tmp_path / "mixed.csv", "--out", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


@pytest.mark.usefixtures("quick_judges")
def test_audit_is_the_library_s_audit(place, tmp_path):
    words = ["audit", place / "model.lex", place / "test.npz", "--train", place / "train.csv"]
    said = well(*words, "--margin", 0.2, "--out", tmp_path / "card.json")
    data, explainer = load_data("s3", rows=60), Explainer.load(place / "model.lex")
    test, train = data.frame(data.test), data.frame(data.train)
    others = (train, data.train.y, explainer.explain(train))
    known = {"truth": data.test.truth, "explainer": explainer}
    card = audit(explainer.explain(test), test, data.test.y, train=others, margin=0.2, **known)
    assert said.startswith(f"{card.verdict.upper()}: {card.why}.")
    assert str(card["eACC"]) in said
    assert str(card["TPR"]) in said
    record = json.loads((tmp_path / "card.json").read_text())
    assert (record["verdict"], record["margin"]) == (card.verdict, 0.2)
    assert [line["metric"] for line in record["metrics"]] == [line.label for line in card.lines]


@pytest.mark.usefixtures("quick_judges")
def test_scores_of_another_tool_are_audited(place, tmp_path):
    rows = pd.read_csv(place / "test.csv")
    scores = rows.drop(columns="y").abs()
    scores.to_csv(tmp_path / "scores.csv", index=False)
    np.save(tmp_path / "scores.npy", scores.to_numpy())
    Path(tmp_path / "scores.json").write_text(audited(scores, 3).to_json())
    said = [
        well("audit", tmp_path / f"scores.{end}", place / "test.csv", "--keep", 3, "--measure", "off the data")
        for end in ("csv", "npy", "json")
    ]
    assert said[0] == said[1] == said[2]
    assert "Kept 3.000 [" in said[0]
    assert "Off the data, mean" in said[0]
    assert "Sensitivity" not in said[0]  # there is no explainer to ask again


def audited(scores, keep):
    return as_explanation(scores, scores, keep=keep)


@pytest.mark.usefixtures("quick_judges")
def test_audit_by_halves_and_other_endings(place, tmp_path):
    for ending in ("csv", "html", "parquet"):
        words = ["--measure", "off the data", "--margin", 9, "--out", tmp_path / f"card.{ending}"]
        well("audit", place / "model.lex", place / "test.csv", *words)
    table, lines = pd.read_csv(tmp_path / "card.csv"), pd.read_parquet(tmp_path / "card.parquet")
    better = [None if value != value else value in (True, "True") for value in table["higher_is_better"]]
    assert [None if value is pd.NA else value for value in lines["higher_is_better"]] == better
    assert {None, True, False} == set(better)
    pd.testing.assert_frame_equal(
        table.drop(columns="higher_is_better"), lines.drop(columns="higher_is_better"), check_dtype=False, rtol=1e-12
    )
    assert "TPR" not in pd.read_csv(tmp_path / "card.csv")["metric"].tolist()  # a CSV file knows no truth
    assert "honest" in (tmp_path / "card.html").read_text().lower()


@pytest.mark.parametrize("words", [["audit", "{}/model.lex", "{}/test.csv"], ["compare", "random", "--data", "s3"]])
def test_parquet_is_refused_before_any_work_without_its_library(place, tmp_path, monkeypatch, words):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = refused(*(word.replace("{}", str(place)) for word in words), "--out", tmp_path / "out.parquet")
    assert "pip install 'lexplain[parquet]'" in told


@pytest.mark.usefixtures("quick_judges")
def test_built_in_data_brings_its_parts_and_its_truth(tmp_path, monkeypatch):
    import lexplain.data.files as files

    monkeypatch.setattr(files, "load_data", lambda name: load_data(name, rows=60))
    asked = []
    find = files.find_rows
    monkeypatch.setattr(files, "find_rows", lambda source, part, *rest, **more: asked.append(part) or find(source, part, *rest, **more))
    well("fit", "s3", "--keep", 5, "--epochs", 1, "--device", "cpu", "--out", tmp_path / "m.lex")
    well("explain", tmp_path / "m.lex", "s3")
    said = well("audit", tmp_path / "m.lex", "s3")
    assert asked == ["train", "test", "test", "train"]
    assert "CFSR" in said
    assert "TPR" in said


@pytest.mark.usefixtures("quick_judges")
def test_recorded_outputs_are_the_target(tmp_path):
    well("data", "s3", "--rows", 60, "--target", "probabilities", "--out", tmp_path / "soft.csv")
    rows = pd.read_csv(tmp_path / "soft.csv").rename(columns={"y0": "p0", "y1": "p1"}).assign(y=1)
    rows.to_csv(tmp_path / "soft.csv", index=False)
    options = ["--probabilities", "p0,p1"]
    said = well("fit", tmp_path / "soft.csv", *options, "--keep", 5, "--epochs", 1, "--device", "cpu", "--out", tmp_path / "m.lex")
    assert "11 features, 2 classes" in said
    assert "eACC" in well("audit", tmp_path / "m.lex", tmp_path / "soft.csv", *options)


@pytest.mark.usefixtures("quick_judges")
def test_audit_of_rows_that_lack_a_class(tmp_path):
    rows = pd.read_csv(_classes(tmp_path / "three.csv"))
    well("fit", tmp_path / "three.csv", "--keep", 2, "--epochs", 1, "--device", "cpu", "--out", tmp_path / "m.lex")
    rows[rows["label"] != "b"].to_csv(tmp_path / "two.csv", index=False)
    explainer = Explainer.load(tmp_path / "m.lex")
    kept = rows[rows["label"] != "b"]
    own = explainer.score(kept.drop(columns="label"), kept["label"])
    assert f"ACC {own:.3f} [" in well("audit", tmp_path / "m.lex", tmp_path / "two.csv")


def _classes(path):
    """A CSV file of three classes named by letters."""
    x = np.random.default_rng(0).standard_normal((90, 4))
    pd.DataFrame(x, columns=["p", "q", "r", "s"]).assign(label=np.array(["a", "b", "c"])[x[:, :3].argmax(1)]).to_csv(path, index=False)
    return path


def test_demo_and_reproduce_are_called_as_they_are(tmp_path, monkeypatch):
    import lexplain.demo
    import lexplain.reproduce

    calls = []
    monkeypatch.setattr(lexplain.demo, "run", lambda out, *, seed, quick: calls.append((out, seed, quick)))
    well("demo", "--out", tmp_path / "r.html", "--seed", 3, "--quick")
    monkeypatch.setattr(lexplain.reproduce, "reproduce", lambda name, **options: calls.append((name, options)) or tmp_path / "page")
    name = next(iter(lexplain.reproduce.TABLES))
    assert f"Written to {tmp_path / 'page'}" in well("reproduce", name, "--seeds", 2, "--out", tmp_path, "--workers", 2)
    asked = {"quick": False, "seeds": 2, "out": tmp_path, "workers": 2, "recompute": False}
    assert calls == [(tmp_path / "r.html", 3, True), (name, asked)]
    assert name in well("reproduce")


# ---- refusals ----


def refused(*words):
    result = lexplain(*words)
    assert result.exit_code == 2, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.output
    assert lines[0].startswith("Error: ")
    return lines[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["data", "s4"], "Unknown data set 's4'. Choose one of"),
        (["data", "s3", "--out", "rows.xlsx"], "ends in '.xlsx', which is not supported. Choose one of: .csv, .npz"),
        (["data", "--out", "rows.csv"], "Unknown data set"),
        (["data", "s3", "--rows", 30, "--split", "all", "--out", "rows.csv"], "Unknown part 'all'"),
        (["data", "s3", "--target", "odd"], "Unknown target 'odd'"),
        (["data", "breast_cancer", "--rows", 9], "Unknown option of breast_cancer 'rows'"),
        (["fit", "none.csv", "--out", "m.lex"], "File not found: none.csv"),
        (["fit", "nothing", "--out", "m.lex"], "neither a file that ends in .csv or .npz nor a data set"),
        (["fit", "{}/train.csv", "--out", "m.pkl"], "Choose one of: .lex, .safetensors"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--method", "magic"], "Unknown method 'magic'. Choose one of: basex"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--method", "meed"], "a model is needed"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--keep", 11], "keep=11 is out of range: of 11 features, 1 to 10 can be kept"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--keep", "few"], "--keep"),
        (["explain", "{}/model.lex", "{}/train.csv", "--device", "abacus"], "Unknown device 'abacus'"),
        (["audit", "{}/model.lex", "{}/train.csv", "--device", "abacus"], "Unknown device 'abacus'"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--keep", "1.5"], "keep=1.5"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--keep", 3, "--penalty", 1], "penalty=1.0"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--method", "realx", "--keep", "auto"], "method 'gains'"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--keep", 3, "--tolerance", 1], "keep='auto'"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--method", "gains", "--tolerance", -1], "got -1.0"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--method", "gains", "--tolerance", 1, "--tolerance-points", 1], "tolerance_points=1.0"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--budget", "odd"], "Unknown budget 'odd'. Choose one of: default, thorough"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--report", "page.pdf"], "Choose one of: .html"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--regime", "odd"], "Unknown regime 'odd'"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--epochs", 0], "epochs must be a positive integer, got 0"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--device", "tpu"], "Unknown device 'tpu'"),
        (["fit", "{}/train.csv", "--out", "m.lex", "--label", "z"], "no column named ['z']"),
        (["fit", "{}/text.csv", "--out", "m.lex"], "column 'city' contains text ('Oslo' in row 1) and numbers ('7' in row 0)"),
        (["fit", "{}/train.csv", "--out", "{}"], "which is not supported"),
        (["fit", "{}/train.csv", "--out", "{}/train.csv/m.lex"], "train.csv is not a folder"),
        (["fit", "{}/bare.csv", "--out", "m.lex"], "--label: ['x1', 'x2',"),
        (["right-reasons", "{}/bare.csv"], "--label: ['x1', 'x2',"),
        (["right-reasons", "{}/train.csv", "--strength", "much"], "'much'"),
        (
            ["fit", "s3", "--label", "y", "--out", "m.lex"],
            "label and outputs are for files",
        ),
        (["explain", "none.lex", "{}/test.csv"], "File not found: none.lex"),
        (["explain", "{}/train.csv", "{}/test.csv"], "cannot be read as a safetensors file"),
        (["explain", "{}/model.lex", "none.npz"], "File not found: none.npz"),
        (["explain", "{}/model.lex", "{}/text.csv"], "no column named ['x1'"),
        (["explain", "{}/model.lex", "breast_cancer"], "X has 30 features, but Explainer is expecting 11"),
        (["explain", "{}/model.lex", "{}/test.csv", "--out", "e.pdf"], "Choose one of: .csv, .json, .html"),
        (["audit", "none.lex", "{}/test.csv"], "File not found: none.lex"),
        (["audit", "{}/model.lex", "{}/test.csv", "--out", "card.pdf"], "Choose one of: .html, .json, .csv, .parquet"),
        (["audit", "{}/test.npz", "{}/test.csv"], "Choose one of: .lex, .csv, .npy, .json"),
        (["audit", "{}/nothing.csv", "{}/test.csv", "--keep", "3"], "nothing.csv is empty"),
        (["audit", "{}/text.csv", "{}/test.csv", "--keep", "3"], "text.csv has text in city"),
        (["audit", "{}/train.csv", "{}/test.csv", "--keep", "3"], "shape (60, 12), but X has shape (60, 11)"),
        (["audit", "{}/model.lex", "{}/bare.csv"], "--label"),
        (["audit", "{}/model.lex", "{}/odd.csv"], "target contains 7, which is not a class of the fit. Classes: [0, 1]"),
        (["audit", "{}/model.lex", "{}/test.csv", "--train", "{}/test.csv"], "test.csv contains the rows to audit"),
        (["audit", "{}/model.lex", "{}/test.csv", "--train", "none.csv"], "File not found: none.csv"),
        (["demo", "--out", "page.pdf"], "Choose one of: .html"),
        (["reproduce", "nothing"], "Unknown table 'nothing'"),
    ],
    ids=lambda words: " ".join(map(str, words)) if isinstance(words, list) else "",
)
def test_bad_input_is_one_line_and_code_2(place, tmp_path, monkeypatch, words, told):
    rows = pd.read_csv(place / "test.csv")
    rows.drop(columns="y").to_csv(place / "bare.csv", index=False)
    rows.assign(y=7).to_csv(place / "odd.csv", index=False)
    (place / "text.csv").write_text("a,city,y\n1,7,0\n2,Oslo,1\n")
    (place / "nothing.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    assert told in refused(*(str(word).replace("{}", str(place)) for word in words))
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_only_the_command_line_refuses_in_words_of_its_options():
    root = Path(cli.__file__).parents[1]
    for path in (path for path in root.rglob("*.py") if "cli" not in path.relative_to(root).parts):
        for raised in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise)):
            words = [node.value for node in ast.walk(raised) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
            assert not [word for word in words if re.search(r"(^|\s)--[a-z]", word)], f"{path}:{raised.lineno}"


def test_a_file_with_text_is_fitted_explained_and_audited(tmp_path, short_judges):
    short_judges(judge=30, reader=30)
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({"age": draw.integers(1, 9, 80), "city": draw.choice(["Rome", "Oslo"], 80), "code": draw.choice(["n1", "n2"], 80)})
    rows.assign(owns=draw.random(80) < 0.5, y=np.where(rows["city"] == "Rome", "yes", "no")).to_csv(tmp_path / "rows.csv", index=False)
    files = (tmp_path / "m.lex", tmp_path / "rows.csv")
    assert "80 rows, 4 features, 2 classes" in well("fit", files[1], "--keep", 1, "--epochs", 30, "--device", "cpu", "--out", files[0])
    assert "city = " in well("explain", *files, "--out", tmp_path / "page.html")
    assert "city" in (tmp_path / "page.html").read_text()
    assert "eACC" in well("audit", *files)
    rows.assign(owns=True, city="Bonn").to_csv(tmp_path / "rows.csv", index=False)
    assert "Column 'city' contains 'Bonn' in row 0, which did not occur in fit (known: 'Oslo', 'Rome')" in refused("explain", *files)


def test_other_python_errors_are_not_hidden(place, monkeypatch):
    def broken(path, **told):
        raise KeyError("a bug")

    monkeypatch.setattr(Explainer, "load", broken)
    assert isinstance(lexplain("explain", place / "model.lex", "s3").exception, KeyError)


def test_debug_shows_where_it_was_refused(monkeypatch):
    monkeypatch.setenv("LEXPLAIN_DEBUG", "1")
    assert isinstance(lexplain("data", "s4").exception, ValueError)


@pytest.mark.parametrize("there", [True, False])
def test_an_interrupted_fit_says_how_to_go_on(place, tmp_path, monkeypatch, there):
    def stopped(self, X, y, checkpoint):
        if there:
            checkpoint.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(Explainer, "fit", stopped)
    result = lexplain("fit", place / "train.csv", "--out", tmp_path / "m.lex", "--checkpoint", tmp_path / "half")
    assert result.exit_code == 130
    assert ("Run the same command again to resume from" in result.stderr) == there
    assert result.stderr.startswith("Stopped.")


def test_the_installed_program_runs(tmp_path):
    command = [sys.executable, "-c", "from lexplain.cli import main; main()"]
    done = subprocess.run([*command, "explain", "none.lex", "s3"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: File not found: none.lex. Check the path.\n"
