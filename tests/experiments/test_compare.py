"""Explainers are evaluated in the same way, cells are computed once, and tables say what was found."""

import json
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

import lexplain as lx
from lexplain import cli
from lexplain.baselines import BASELINES, KernelSHAP
from lexplain.core import Dataset, DataSplit
from lexplain.evaluation import Evaluator
from lexplain.experiments.cell import FEW_ROWS, MIN_MASKS, Contest
from lexplain.experiments.comparison import COLUMNS, COSTS, comparison_of
from lexplain.experiments.scenario import Scenario
from lexplain.kinds import columns as of_tables
from lexplain.measures import COMPARED, MEASURES, Measure
from lexplain.measures.prediction import accuracy

pytest.importorskip("captum")
running = import_module("lexplain.experiments.compare")  # the function has the module's name
store = import_module("lexplain.experiments.store")
scenes = import_module("lexplain.experiments.scenario")
QUICK = {"evaluator_steps": 20, "network_steps": 20}
DEFAULT = [MEASURES[key].label for key in COMPARED]
L2X = lx.Explainer("l2x", keep=2, epochs=2, device="cpu")


@pytest.fixture(scope="module")
def data():
    return lx.load_data("s3", rows=60)


@pytest.fixture(scope="module")
def found(data, shorten_judges):
    """Two explainers of different kinds, two seeds, the default metrics."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_judges(patch, reader=20)
        return lx.compare({"l2x": L2X, "saliency": "saliency"}, data, seeds=2, **QUICK)


# ---- the table ----


def test_the_table_is_tidy(found):
    assert list(found.table.columns) == COLUMNS
    assert not found.table.duplicated(["explainer", "data", "seed", "metric"]).any()
    own = {(name, 0): set(DEFAULT) - ({"ACC"} if name == "saliency" else set()) for name in ("l2x", "saliency")}  # no predictor, no ACC
    for (name, seed), metrics in own.items():
        here = found.table[(found.table["explainer"] == name) & (found.table["seed"] == seed)]
        assert set(here["metric"]) == metrics
    assert len(found.table) == 2 * (2 * len(DEFAULT) - 1)
    assert (found.table["low"] <= found.table["value"]).all() and (found.table["value"] <= found.table["high"]).all()
    assert dict(zip(found.table["explainer"], found.table["explains"], strict=True)) == {"l2x": "labels", "saliency": "a network"}
    better = found.table.drop_duplicates("metric").set_index("metric")["higher_is_better"]
    assert better["eACC"] is True and better["FDR"] is False and better["Kept"] is None


def test_every_number_is_the_mean_of_its_rows(found):
    for line in found.table.itertuples():
        assert line.value == pytest.approx(found.values[line.explainer, line.data, line.seed, line.metric].mean())
    assert {len(values) for values in found.values.values()} == {60}


def test_the_ledger_counts_what_was_asked(found):
    assert list(found.fits.columns) == COSTS
    assert len(found.fits) == 4
    asked = found.fits.groupby("explainer")["model_rows"].max()
    assert asked["l2x"] == 0 and asked["saliency"] >= 120  # the training rows once, and the test rows
    assert (found.fits[["fit_seconds", "explain_seconds", "ms_a_row"]] > 0).all(axis=None)
    assert found.fits["ms_a_row"].to_numpy() == pytest.approx(1000 * found.fits["explain_seconds"].to_numpy() / 60)


def test_the_summary_is_the_mean_over_seeds(found):
    summary = found.summary()
    assert list(summary.columns) == list(DEFAULT)
    lines = found.table[(found.table["explainer"] == "l2x") & (found.table["metric"] == "eAUROC")]
    assert lines["value"].nunique() == 2
    assert summary.loc[("l2x", "s3"), "eAUROC"] == pytest.approx(lines["value"].mean())
    assert summary.loc[("l2x", "s3"), "Kept"] == 2 and summary.loc[("saliency", "s3"), "Kept"] == 5


def test_the_same_seed_gives_the_same_table(data):
    asked = ["ACC", "eACC", "median rank"]
    one, two = (lx.compare({"l2x": L2X, "random": "random"}, data, asked, seeds=[4], **QUICK) for _ in range(2))
    pd.testing.assert_frame_equal(one.table, two.table)
    assert not one.table["value"].equals(lx.compare({"l2x": L2X, "random": "random"}, data, asked, seeds=[5], **QUICK).table["value"])


# ---- evaluators ----


def test_the_judge_is_that_of_the_training_rows_and_reads_what_is_kept(data, tmp_path, monkeypatch):
    seen = []
    real = Evaluator.fit

    def watched(self, train, validation, **settings):
        seen.append(torch.cat([train.x, validation.x]))
        return real(self, train, validation, **settings)

    monkeypatch.setattr(Evaluator, "fit", watched)
    found = lx.compare(["all", "random"], data, ["eACC"], seeds=1, store=tmp_path, **QUICK)
    assert len(seen) == 1  # one evaluator for both
    scene = Scenario("s3", data, 0, **QUICK)
    rows = scene.features.encode(data.train.x).x
    assert {tuple(row) for row in seen[0].tolist()} == {tuple(row) for row in rows.tolist()}
    x = scene.features.encode(data.test.x).x
    says = scene.evaluators(tmp_path).of().probabilities(x, torch.ones(len(x), 11, dtype=torch.bool))
    assert len(seen) == 1  # read from the folder
    expected = accuracy(says, torch.as_tensor(data.test.y)).mean()
    assert found.summary().loc[("all", "s3"), "eACC"] == pytest.approx(float(expected))


def test_baselines_are_ranked_by_absolute_scores(data):
    class Against(BASELINES["random"]):
        """The truth, as evidence against the class."""

        name = "against"

        def _scores(self, rows):
            return -torch.as_tensor(data.test.truth[rows.position]).float()

    found = lx.compare({"against": Against()}, data, ["median rank", "TPR"], seeds=1)
    assert found.summary().iloc[0].tolist() == [3.0, 1.0]


def test_a_given_model_is_explained_by_all_and_is_the_target(data):
    def first_column(rows):
        yes = (np.asarray(rows)[:, 0] > 0).astype(float)
        return np.stack([1 - yes, yes], 1)

    found = lx.compare({"l2x": L2X, "ablation": "ablation", "random": "random"}, data, ["mask-only ACC", "ACC"], 1, model=first_column)
    assert dict(zip(found.fits["explainer"], found.fits["explains"], strict=True)) == {
        "l2x": "the model",
        "ablation": "the model",
        "random": "nothing",
    }
    labels = Scenario("s3", data, 0, first_column).batch(data.test).target.probs.argmax(1)
    assert torch.equal(labels, torch.as_tensor(data.test.x[:, 0] > 0).long())


def test_a_scenario_queries_its_rows_once(data):
    queried = []

    def first_column(rows):
        queried.append(len(rows))
        yes = (np.asarray(rows)[:, 0] > 0).astype(float)
        return np.stack([1 - yes, yes], 1)

    scene = Scenario("s3", data, 0, first_column)
    assert scene.digest == Scenario("s3", data, 0, first_column).digest
    queried.clear()
    for part in (data.train, data.test):
        assert len(scene.batch(part)) == len(part)
    assert queried == []
    again = replace(scene)
    assert again.digest == scene.digest and len(again.batch(data.test)) == len(again.batch(data.test))
    assert queried == [len(data.train), len(data.test)]


def test_real_values_have_no_classes():
    data = lx.load_data("s3", rows=60, target="values")
    found = lx.compare(["random", "saliency"], data, ["eACC", "ACC", "TPR"], seeds=1, **QUICK)
    assert set(found.table["metric"]) == {"TPR"}
    shifted = Scenario("s3", data, 0).batch(data.test).target.loc
    y = data.train.y
    assert torch.allclose(shifted, torch.as_tensor((data.test.y - y.mean()) / y.std()), atol=1e-4)


@pytest.mark.parametrize("target", ["labels", "values"])
def test_the_network_of_raw_rows_answers_as_that_of_encoded_ones(tmp_path, target):
    drawn = lx.load_data("s3", rows=60, target=target)
    train = DataSplit(drawn.train.x * 7 + 30, drawn.train.y * (1 if target == "labels" else 9))
    scene = Scenario("far", Dataset("far", "", train, train, train, drawn.names), 0, **QUICK)
    blanks = []
    with pytest.MonkeyPatch.context() as patch:
        tables = of_tables.COLUMNS

        def watched(network, *more):
            blanks.append(network(scene.features.encode(train.x).x))
            return tables.as_model(network, *more)

        mine = replace(tables, as_model=watched)
        patch.setattr(scenes, "kind_of", lambda features: mine)
        network = scene.network(tmp_path)
        again = scene.network(tmp_path)
    raw = network(torch.as_tensor(train.x))
    assert torch.allclose(raw, blanks[0] * scene.target.scale + scene.target.mean, atol=1e-3)
    assert torch.equal(raw, again(torch.as_tensor(train.x)))  # kept in the folder


def test_a_network_of_categories_is_a_function():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.standard_normal(60), "b": pd.Categorical(rng.choice(["u", "v"], 60)), "c": rng.standard_normal(60)})
    part = DataSplit(x, (x["a"] > 0).to_numpy().astype(int))
    found = lx.compare(["ablation", "saliency"], Dataset("mixed", "", part, part, part, tuple(x)), ["eACC"], seeds=1, **QUICK)
    assert found.fits["explainer"].tolist() == ["ablation"]
    assert "saliency" in found.failures()[0]


# ---- how much is kept, and how many rows ----


def sizes(explainers, data, keep):
    scene = Scenario("s3", data, 0)
    return {name: running._prepared(each, scene, keep).keep for name, each in running._explainers(explainers).items()}


def test_what_is_kept(data):
    names = ["l2x", "lex", "vibi", "meed", "saliency", "default", "realx", "invase", "basex"]
    assert sizes(names, data, None) == {**dict.fromkeys(names[:5], 5), **dict.fromkeys(names[5:])}
    assert sizes(names, data, 3) == dict.fromkeys(names, 3)
    assert sizes({"own": L2X, "priced": lx.Explainer("realx", penalty=1.0)}, data, 3) == {"own": 2, "priced": None}
    blind = Dataset("s3", "", DataSplit(data.train.x, data.train.y), data.validation, data.test, data.names)
    assert sizes(["saliency"], blind, None) == {"saliency": 6}
    several = lx.compare(["random"], [data, lx.load_data("s1", rows=30)], ["kept"], seeds=1, keep={"s1": 2})
    assert several.summary()["Kept"].tolist() == [5.0, 2.0]


def test_each_seed_fits_a_copy_with_that_seed(data):
    assert running._prepared(L2X, Scenario("s3", data, 7), None).random_state == 7
    assert L2X.random_state == 0


def test_rows_are_limited_and_tests_meet_on_common_rows(data):
    wide, few = lx.compare("random", data, ["TPR"], 1), lx.compare("random", data, ["TPR"], 1, rows=20)
    assert few.table["rows"].tolist() == [20] and wide.table["rows"].tolist() == [60]
    at = few.values["random", "s3", 0, "TPR"].index
    assert len(at) == 20 and at.is_unique
    joined = comparison_of([_done("a", 0, wide), _done("b", 0, few)], [MEASURES["tpr"]])
    assert joined.tests("TPR")["rows"].tolist() == [20]


def _done(name, seed, found):
    values = found.values["random", "s3", seed, "TPR"]
    record = {
        "explainer": name,
        "data": "s3",
        "seed": seed,
        "explains": "",
        "rows": len(values),
        "cost": {},
        "estimates": {"tpr": [0, 0, 0]},
    }
    return {**record, "at": values.index.to_numpy(), "measured": ["tpr"], "values": values.to_numpy()[None]}


def test_those_that_fit_a_model_to_each_row_explain_few():
    scene = Scenario("s3", lx.load_data("s3", rows=2000), 0)
    for each in (BASELINES["shap"], BASELINES["lime"]):
        assert Contest(each(), scene, ()).test_rows == FEW_ROWS
        assert Contest(each(), scene, ()).train_rows == 0  # too few to learn from masks
        assert Contest(each(), scene, (), 50).test_rows == 50
        assert Contest(each(), scene, (), MIN_MASKS).train_rows == MIN_MASKS
    assert Contest(L2X, scene, ()).test_rows == Contest(L2X, scene, (), 50).train_rows == 2000


def test_encoding_is_left_out_where_too_few_masks_are_known(data):
    pytest.importorskip("shap")
    found = lx.compare({"shap": KernelSHAP(samples=20)}, data, ["encoding", "TPR"], 1, rows=5, **QUICK)
    assert found.table["metric"].tolist() == ["TPR"]


# ---- what can be read off ----


def by_hand(scores, label="eACC"):
    """A comparison of given per-row values, by explainer and seed."""
    cells, key = [], label.lower()
    for (name, seed), values in scores.items():
        facts = {"explainer": name, "data": "d", "seed": seed, "explains": "labels", "rows": len(values), "cost": {}}
        mean = float(np.mean(values))
        numbers = {"at": np.arange(len(values)), "measured": [key], "values": np.asarray([values], float)}
        cells.append({**facts, "estimates": {key: [mean, mean, mean]}, **numbers})
    return comparison_of(cells, [MEASURES[key]])


@pytest.mark.parametrize(("label", "ranks"), [("eACC", [1.0, 2.75, 2.25]), ("FDR", [3.0, 1.25, 1.75])])
def test_ranks_respect_the_direction(label, ranks):
    values = {("a", 0): [0.9], ("b", 0): [0.5], ("c", 0): [0.5], ("a", 1): [0.8], ("b", 1): [0.1], ("c", 1): [0.2]}
    table = by_hand(values, label).ranks()
    assert table[label].tolist() == ranks and table.index.tolist() == ["a", "b", "c"]


def test_what_has_no_direction_has_no_rank():
    assert by_hand({("a", 0): [1.0], ("b", 0): [2.0]}, "Kept").ranks().empty


@pytest.mark.parametrize(("label", "winner"), [("eACC", "a"), ("FDR", "b"), ("Kept", "")])
def test_tests_are_paired_and_corrected(label, winner):
    ones, half = [1.0] * 8, [1.0] * 7 + [0.0]
    tests = by_hand({("a", 0): ones, ("b", 0): [0.0] * 8, ("c", 0): half}, label).tests(label)
    assert tests[["explainer", "other"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    # By flipping all signs: 2 of 2^8 sums are as far as 8 ones; 1 difference is as far either way; 2 of 2^7 are as far as 7 ones.
    assert tests["p"].tolist() == [2 / 256, 1.0, 2 / 128]
    assert tests["p_holm"].tolist() == [6 / 256, 1.0, 4 / 128]  # times 3, 1 and 2, in order of size
    assert tests["difference"].tolist() == [1.0, 0.125, -0.875]
    assert tests["better"].tolist() == [winner, "", {"a": "c", "b": "b", "": ""}[winner]]


def test_the_correction_is_for_all_data_and_seeds():
    values = {(name, seed): [float(name == "a")] * 8 for name in "ab" for seed in range(3)}
    assert by_hand(values).tests("eACC")["p_holm"].tolist() == [6 / 256] * 3


def test_the_first_tests_are_of_what_two_share(found):
    assert found.main_tests()[0] == "eACC"  # one of the two has no ACC
    assert by_hand({("a", 0): [1.0]}).main_tests()[0] == "nothing"


# ---- a folder to go on from ----


def test_a_stopped_comparison_goes_on(data, tmp_path, monkeypatch):
    computed, judges = [], []
    compute, train = running.compute, Evaluator.fit

    def counted(cell, folder):
        computed.append(cell.label)
        if len(computed) == 2:
            raise KeyboardInterrupt
        return compute(cell, folder)

    monkeypatch.setattr(running, "compute", counted)
    monkeypatch.setattr(Evaluator, "fit", lambda *a, **k: judges.append(1) or train(*a, **k))
    asked = (["random", "all", "saliency"], data, ["eACC", "TPR"], 1)
    stopped = lx.compare(*asked, store=tmp_path, **QUICK)
    assert computed == ["random", "all"] and set(stopped.table["explainer"]) == {"random"}
    whole = lx.compare(*asked, store=tmp_path, **QUICK)
    assert computed == ["random", "all", "all", "saliency"] and set(whole.table["explainer"]) == {"random", "all", "saliency"}
    again = lx.compare(*asked, store=tmp_path, **QUICK)
    assert len(computed) == 4 and len(judges) == 1
    pd.testing.assert_frame_equal(whole.table, again.table)
    pd.testing.assert_frame_equal(whole.fits, again.fits)
    pd.testing.assert_frame_equal(whole.tests("eACC"), again.tests("eACC"))
    lx.compare({"random": BASELINES["random"](keep=2)}, *asked[1:], store=tmp_path, **QUICK)
    assert len(computed) == 5  # other settings are another cell


def test_half_a_cell_is_computed_anew(data, tmp_path):
    asked = ("random", data, ["TPR"], 1)
    whole = lx.compare(*asked, store=tmp_path)
    (arrays,) = tmp_path.glob("*.npz")
    arrays.write_bytes(arrays.read_bytes()[:50])
    pd.testing.assert_frame_equal(lx.compare(*asked, store=tmp_path).table, whole.table)
    arrays.unlink()
    pd.testing.assert_frame_equal(lx.compare(*asked, store=tmp_path).table, whole.table)


def test_cells_of_earlier_code_are_named_and_computed_anew_if_asked(data, tmp_path, monkeypatch):
    asked = ("random", data, ["TPR"], 1)
    assert lx.compare(*asked, store=tmp_path).stale_cells() == []
    monkeypatch.setattr(running, "REVISION", running.REVISION + 1)
    assert lx.compare(*asked, store=tmp_path).stale_cells() == ["random on s3, seed 0"]
    assert lx.compare(*asked, store=tmp_path, recompute=True).stale_cells() == []
    assert lx.compare(*asked, store=tmp_path).stale_cells() == []


class Broken(BASELINES["random"]):
    """Fails, until it is repaired."""

    repaired = False

    def _scores(self, rows):
        if not self.repaired:
            raise RuntimeError("no luck")
        return super()._scores(rows)


def test_a_failure_is_told_and_the_others_go_on(data, tmp_path, monkeypatch):
    asked = ({"broken": Broken(), "random": "random"}, data, ["TPR"], 1)
    found = lx.compare(*asked, store=tmp_path)
    assert found.table["metric"].tolist() == ["error", "TPR"]
    assert found.table["error"].tolist() == ["RuntimeError: no luck", ""]
    assert found.failures() == ["broken on s3, seed 0: RuntimeError: no luck"]
    assert found.summary().index.tolist() == [("random", "s3")] and found.ranks()["TPR"].tolist() == [1.0]
    monkeypatch.setattr(Broken, "repaired", True)
    assert lx.compare(*asked, store=tmp_path).failures() == []  # failures are tried again


def test_a_comparison_stopped_among_its_judges_computes_no_cell(data, monkeypatch):
    def stopped(tasks, compute, *, pool, before=0, label=""):
        assert label == "evaluators" or not tasks
        return iter(())

    monkeypatch.setattr(store, "_finished", stopped)
    with pytest.raises(ValueError, match="No cell is finished yet"):
        lx.compare("random", data, ["eACC"], 1, workers=2)


def test_several_processes_find_the_same(data, tmp_path):
    asked = ({"l2x": L2X, "saliency": "saliency"}, data, ["eACC", "TPR"], 1)
    one, two = (lx.compare(*asked, workers=workers, store=tmp_path / str(workers), **QUICK) for workers in (1, 2))
    pd.testing.assert_frame_equal(one.table, two.table)
    assert {path.name for path in (tmp_path / "1").iterdir()} == {path.name for path in (tmp_path / "2").iterdir()}


# ---- metrics of one's own, refusals ----


def first_kept(evaluation):
    return evaluation.mask.double().argmax(-1)


WHERE = Measure("where", "Where", first_kept, higher_is_better=False, description="place of the first feature kept")


def test_a_measure_of_ones_own(data):
    assert lx.compare("all", data, [WHERE, "kept"], 1).summary().loc[("all", "s3")].to_dict() == {"Where": 0.0, "Kept": 11.0}


def test_measures_of_an_audit_are_those_of_a_comparison(data):
    """The model can be asked in a comparison too, and a number of the explainer's cost has no rows to pair."""
    found = lx.compare(["saliency"], data, ["FS-M", "milliseconds_a_row", "acc"], 1, **QUICK)
    assert found.table["metric"].tolist() == ["FS-M", "Milliseconds a row"]
    assert {key[3] for key in found.values} == {"FS-M"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"explainers": ["realy"]}, "Unknown explainer 'realy'. Choose one of: ablation"),
        ({"explainers": {"a": "shapp"}}, "Unknown explainer 'shapp'"),
        ({"explainers": {"a": 3}}, "an Explainer .* got 3"),
        ({"data": "s4"}, "Unknown data set 's4'. Choose one of"),
        ({"measures": ["eaccc"]}, "Unknown measure 'eaccc'. Choose one of: acc"),
        ({"seeds": 0}, "seeds .* got 0"),
        ({"seeds": [1, 1]}, "seeds .*1, 1"),
        ({"keep": 12}, "keep must be an integer from 1 to 11 .*12"),
        ({"keep": {"s1": 2}}, "Unknown data set of this comparison 's1'. Choose one of: s3"),
        ({"rows": 0}, "rows must be .*0"),
        ({"workers": 2, "model": lambda rows: rows}, "cannot be sent to other processes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_refusals(data, words, told):
    with pytest.raises((ValueError, TypeError), match=told.replace("(", r"\(")):
        lx.compare(**{"explainers": ["random"], "data": data, **words})
    with pytest.raises(ValueError, match=r"'AUROC'.* TPR"):
        lx.compare("random", data, ["TPR"], 1).tests("AUROC")


# ---- to other places ----


def test_exports(found, tmp_path):
    read_back = pd.read_csv(tmp_path / "t.csv") if found.to_csv(tmp_path / "t.csv") else None
    assert read_back["value"].to_numpy() == pytest.approx(found.table["value"].to_numpy())
    record = json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(name))  # no NaN, which is no JSON
    assert record["format"] == "lexplain.comparison/1" and len(record["table"]) == len(found.table) and len(record["ledger"]) == 4
    assert "saliency" in found._repr_html_() and "NaN" not in found._repr_html_()


def test_files_can_be_read_by_others(found, tmp_path):
    found.to_csv(tmp_path / "t.csv")
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "t.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_parquet_is_read_back_as_it_was(found, tmp_path):
    content = found.to_parquet(tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").read_bytes() == content
    back = pd.read_parquet(tmp_path / "t.parquet")
    wanted = found.table.assign(higher_is_better=found.table["higher_is_better"].astype("boolean"))
    pd.testing.assert_frame_equal(back, wanted, check_dtype=False)
    better = back.drop_duplicates("metric").set_index("metric")["higher_is_better"]
    assert (better["eACC"], better["FDR"], better["Kept"] is pd.NA) == (True, False, True)


def test_parquet_says_which_extra_it_needs(found, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pyarrow.* pip install 'lexplain\[parquet\]'.*\.csv"):
        found.to_parquet(tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "load_data", lambda name, seed: lx.load_data(name, rows=60, seed=seed))
    words = [
        "compare",
        "random",
        "all",
        "--data",
        "s3",
        "--data",
        "s1",
        "--seeds",
        "2",
        "--keep",
        "4",
        "--measure",
        "TPR",
        "--measure",
        "kept",
    ]
    for ending in ("csv", "json", "html", "parquet", "md"):
        out = tmp_path / f"table.{ending}"
        done = CliRunner().invoke(cli.app, [*words, "--store", str(tmp_path / "store"), "--out", str(out)], env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        assert "Paired tests of TPR" in done.output and "Cost" in done.output and f"Written to {out}" in done.output
    assert len(pd.read_csv(tmp_path / "table.csv")) == len(pd.read_parquet(tmp_path / "table.parquet")) == 2 * 2 * 2 * 2
    assert len(list((tmp_path / "store").glob("*.json"))) == 8
    assert "Explainers compared" in (tmp_path / "table.html").read_text()
    page = (tmp_path / "table.md").read_text()
    assert f"Written by `lexplain {' '.join(words[:9])} --measure TPR --measure kept --keep 4`" in page
    assert "| all | s3 | 1.000 |" in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nobody", "--data", "s3"], "Unknown explainer 'nobody'. Choose one of"),
        (["random", "--data", "s4"], "Unknown data set 's4'"),
        (["random", "--data", "s3", "--measure", "luck"], "Unknown measure 'luck'"),
        (["random", "--data", "s3", "--out", "t.xlsx"], "Choose one of: .csv, .json, .parquet, .html"),
    ],
)
def test_the_command_refuses_in_one_line(words, told):
    done = CliRunner().invoke(cli.app, ["compare", *words])
    assert done.exit_code == 2
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("Error: ") and told in lines[0]
