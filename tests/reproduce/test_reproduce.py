"""Tables are put together from cells that are computed once, and say where they come from."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from lexplain.core import Dataset, DataSplit
from lexplain.experiments.cell import Cell
from lexplain.reproduce import TABLES, audit_order, default_method, lex_figure3, real_tables, realx_table1, reproduce
from lexplain.reproduce.page import _listed, mean_and_spread, write_page
from lexplain.reproduce.realx_table1 import exact_evaluation
from lexplain.reproduce.synthetic import compute
from lexplain.reproduce.table import Page, Run, Table


def number(cell, folder):
    return {"TPR": cell.seed / 10}


def broken(cell, folder):
    raise RuntimeError(f"cell {cell.seed}")


def cells(seeds):
    return [Cell("s1", "realx", "realx", seed, {"penalty": 0.1}, {"epochs": 1}) for seed in range(seeds)]


def table(compute=number, *, revision=1, sections=(), figures=None):
    def page(results):
        return Page(results.frame(), sections, figures or {})

    return Table("table", "a table", "A title", "Some notes.", lambda quick, seeds: cells(seeds), compute, page, revision)


def test_a_table_computes_what_is_missing(tmp_path):
    run = Run("table", seeds=2, out=tmp_path)
    first = table().results(run).frame()
    assert first["TPR"].tolist() == [0.0, 0.1]
    assert {"machine", "date", "revision", "commit", "fresh", "key", "seed", "data"} <= set(first.columns)
    pd.testing.assert_frame_equal(first, table(broken).results(run).frame())  # nothing is missing, so nothing is computed
    with pytest.raises(RuntimeError, match="cell 2"):
        table(broken).results(replace(run, seeds=3))
    assert len(list((tmp_path / "table" / "cells").glob("*.json"))) == 2


def test_cells_of_an_earlier_revision_are_computed_anew_when_asked(tmp_path):
    run = Run("table", out=tmp_path)
    table().results(replace(run, seeds=1))
    later = table(revision=2)
    assert later.results(replace(run, seeds=2)).frame()["fresh"].tolist() == [False, True]
    assert later.results(replace(run, seeds=3, render_only=True)).frame()["fresh"].tolist() == [False, True]
    assert later.results(replace(run, seeds=2, recompute=True)).frame()["fresh"].tolist() == [True, True]
    with pytest.raises(ValueError, match="No cell is finished yet"):
        later.results(Run("other", out=tmp_path, render_only=True)).frame()


def test_columns_are_in_percent_where_they_are_there(results):
    made = results(Run("table"), cells(2), numbers=lambda cell: {"TPR": 0.5, "FDR": 0.1})
    assert made.frame(percent=["TPR", "gone"])[["TPR", "FDR"]].to_numpy().tolist() == [[50.0, 0.1]] * 2
    assert made.frame(cells(1))["seed"].tolist() == [0]


def test_other_settings_are_another_cell():
    one, other = cells(1)[0], Cell("s1", "realx", "realx", 0, {"penalty": 0.2}, {"epochs": 1})
    assert one.key != other.key


def test_the_mean_over_seeds_and_its_spread():
    frame = pd.DataFrame({"data": ["s1", "s1", "s2"], "TPR": [90.0, 94.0, 50.0], "eAUROC": [0.8, 0.81, 0.7]})
    means = mean_and_spread(frame, ["data"], ["TPR", "eAUROC"])
    assert means["TPR"].tolist() == ["92.0 (2.8)", "50.0"]
    assert means["eAUROC"].tolist() == ["0.805 (0.007)", "0.700"]
    assert means["seeds"].tolist() == [2, 1]


def test_a_page_names_what_was_not_finished(tmp_path, results):
    asked = [Cell("s1", "a", "sufficient", seed, {"keep": 0.1, "imputer": ("Constant", {})}) for seed in range(3)]
    asked.append(Cell("s1", "b", "realx", 0, {"penalty": 1.0}))

    def page(finished, asked=asked):
        run = Run("table", out=tmp_path)
        return write_page(run, table(), results(run, asked, finished=[asked[place] for place in finished])).read_text()

    assert "Not finished" not in page([0, 1, 2, 3])
    assert "4 of 4 cells are computed." in page([0, 1, 2, 3])
    assert "**Not finished:** a, 10 % (seeds 1, 2); b (seed 0). Run the command again to compute them." in page([0])
    assert "1 of 4 cells are computed." in page([0])
    more = [*asked, Cell("s2", "b", "realx", 0, {"penalty": 1.0})]
    assert "4 of 5 cells are computed. **Not finished:** b, s2 (seed 0)." in page([0, 1, 2, 3], more), "several data sets are named"
    more = [*asked, *(Cell("s1", "b", "l2x", 0, {"keep": k}) for k in (3, 4))]
    assert "**Not finished:** b, 3 kept (seed 0); b, 4 kept (seed 0)." in page([0, 1, 2, 3], more), "so are several sizes of a row"


def test_many_seeds_are_named_by_the_first_and_the_last():
    assert _listed([3, 1, 2]) == "1, 2, 3"
    assert _listed({0, *range(2, 9), 20}) == "0, 2 to 8, 20"


def test_a_page_marks_what_earlier_code_computed(tmp_path, results):
    made = [Cell("s1", label, "realx", seed) for label in ("a", "b", "c", "d") for seed in range(2)]
    ages = {"a": (True, True), "b": (True, False), "c": (False, False), "d": (False, True)}
    days = {"a": "2026-01-09", "b": "2026-01-01", "c": "2026-01-01", "d": "2026-01-02"}

    def numbers(cell):
        date = "2025-12-31" if (cell.label, cell.seed) == ("c", 0) else days[cell.label]
        return {"fresh": ages[cell.label][cell.seed], "date": date, "TPR": 1.0}

    run = Run("table", out=tmp_path)
    computed = results(run, made, numbers=numbers)
    means = mean_and_spread(computed.frame(), ["label"], ["TPR"])
    assert means["label"].tolist() == ["a", "b †", "c †", "d †"]
    few = replace(table(), page=lambda results: Page(results.frame(made[:6]), [("All", means)]))
    page = write_page(run, few, computed).read_text()
    assert "8 of 8 cells are computed." in page
    assert "† **Computed by earlier code:** `b` (2026-01-01); `c` (2025-12-31 to 2026-01-01); `d` (2026-01-02)." in page
    assert "Date: 2025-12-31 to 2026-01-09." in page
    assert "earlier code" not in write_page(run, table(), results(run, made)).read_text()


def test_figures_that_are_there_stay_where_nothing_is_computed(tmp_path, results):
    from lexplain.report import sweep

    run = Run("table", seeds=1, out=tmp_path)
    computed = results(run, cells(1), numbers=lambda cell: {"k": 1, "TPR": 0.5})
    figures = {"line": lambda: sweep(computed.frame(), x="k", y="TPR", by="label"), "none": lambda: None}
    page = write_page(run, table(figures=figures), computed).read_text()
    assert "![line](line.svg)" in page
    assert "![none]" not in page
    gone = {name: lambda: pytest.fail("drawn") for name in figures}
    page = write_page(replace(run, render_only=True), table(figures=gone), computed).read_text()
    assert "![line](line.svg)" in page
    assert "![none]" not in page


def test_results_as_numbers_name_their_commit_and_no_more_than_the_page_shows(tmp_path, results):
    run = Run("table", seeds=1, out=tmp_path)
    page = write_page(run, table(), results(run, cells(1), numbers=lambda cell: {"TPR": 1 / 3}))
    frame = pd.read_csv(page.parent / "results.csv")
    assert frame.columns.tolist() == ["data", "label", "method", "seed", "machine", "date", "commit", "TPR"]
    assert frame["TPR"].item() == 0.333333


def test_no_table_says_minus_nothing_and_small_errors_have_two_digits():
    frame = pd.DataFrame({"data": ["a"], "lost": [-0.01], "wrong panel %": [0.085]})
    assert mean_and_spread(frame, ["data"], ["lost", "wrong panel %"]).iloc[0, 2:].tolist() == ["0.0", "0.09"]


def test_of_times_the_least_is_shown():
    frame = pd.DataFrame({"data": ["a", "a"], "ACC": [1.0, 2.0], "fit_seconds": [90.0, 30.0]})
    means = mean_and_spread(frame, ["data"], ["ACC", "fit_seconds"])
    assert means.iloc[0, 2:].tolist() == ["1.5 (0.7)", "30.0"]


@pytest.mark.parametrize("method", ["realx", "l2x", "invase", "basex"])
def test_every_table_has_all_its_cells(method):
    made = [cell for cell in realx_table1.cells(False, 3) if cell.method == method]
    assert len(made) == len({cell.key for cell in made}) == 9
    assert {(cell.data, *cell.options.values()) for cell in made} == {
        (data, *sizes.values()) for data, sizes in realx_table1.SIZES[method].items()
    }


def test_the_sweep_covers_every_rate():
    made = lex_figure3.cells(False, 1)
    assert {cell.options["keep"] for cell in made} == set(range(2, 10))
    assert len(made) == len({cell.key for cell in made}) == 3 * 4 * 8


def test_a_cell_of_each_kind_is_computed(short_judges, tmp_path):
    short_judges(judge=20, reader=20)
    small = {"epochs": 1, "rows": 100}
    for line, (method, options) in lex_figure3.LINES.items():
        numbers = compute(Cell("s3", line, method, 0, {**options, "keep": 5}, small), tmp_path)
        assert numbers["kept"] == 5
        assert 0 <= numbers["TPR"] <= 1
        assert json.dumps(numbers)


def test_an_unknown_table_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"table.*: .*audit-power.*default"):
        reproduce("table9", out=tmp_path)
    tables = {"audit-order", "audit-power", "default", "realx-table1", "real-tables", "lex-figure3"}
    images = {"realx-table2", "realx-table3", "l2x-mnist38", "lex-sp-mnist", "lex-sp-fashion", "lex-faces"}
    reasons = {f"rrr-{name}" for name in ("colours", "decoy", "iris-cancer", "newsgroups", "lambda-sweep", "speed")}
    assert set(TABLES) == tables | images | reasons


def test_an_exact_judge_is_hardly_worse_without_the_control_flow_feature():
    exact = exact_evaluation("s1", rows=3000, draws=60)
    shown, hidden = (exact[exact["visible features"].str.contains(word)].iloc[0] for word in ("true", "without"))
    assert shown["AUROC"] > 0.8
    assert 0 < shown["AUROC"] - hidden["AUROC"] < 0.02  # ranks survive,
    assert shown["log-likelihood"] - hidden["log-likelihood"] > 0.02  # probabilities do not


def test_a_line_of_the_default_method_is_computed(tmp_path):
    cell = Cell("s3", "S3", "default", 0, {"epochs": 8}, {"draw": {"rows": 200}})
    numbers = default_method.compute(cell, tmp_path)
    assert {"TPR", "FDR", "CFSR", "kept", "price", "cost", "fit_seconds"} <= set(numbers)
    assert json.dumps(numbers)


def test_the_default_method_has_a_cell_for_every_line():
    made = default_method.cells(False, 2)
    assert len(made) == len({cell.key for cell in made}) == 2 * (8 + 2 * 4 + 3)
    assert all(set(cell.options) <= {"keep", "budget"} for cell in made)  # one setting for every line
    assert all(cell.method == "default" or "keep" in cell.options for cell in made)  # L2X stands beside it where k is given


@pytest.fixture
def people(monkeypatch):
    """A small table with categories in the place of each real one."""
    draw = np.random.default_rng(0)
    kind = pd.Categorical(draw.choice(["c", "a", "b"], 400))
    x = pd.DataFrame(
        {"age": draw.normal(size=400), "kind": kind, "city": pd.Categorical(draw.choice(["x", "y"], 400)), "pay": draw.random(400)}
    )
    y = ((x["age"] > 0) & (x["kind"] != "b")).to_numpy(np.int64)
    parts = [DataSplit(x[start:end], y[start:end]) for start, end in ((0, 240), (240, 300), (300, 400))]
    data = Dataset("people", "People.", *parts, names=tuple(x.columns))
    monkeypatch.setattr(real_tables, "load_data", lambda name, seed: data)
    return data


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning", "ignore:.*set_bad:PendingDeprecationWarning")
def test_a_real_table_is_a_cell_of_the_numbers_of_its_page(people, written, tmp_path):
    pytest.importorskip("shap"), pytest.importorskip("lime")
    shown = ("default", "contributions", "TreeSHAP, signed", "LIME")
    made = [cell for cell in real_tables.cells(True, 1) if cell.data == "german" and cell.label in shown]
    for cell in made:
        numbers = real_tables.compute(replace(cell, training={"rows": 10, "epochs": 1, "model_rows": 2000}), tmp_path)
        assert {"kept", "holds", "least class", "model rows", "verify ms", "model ms", "explain ms"} <= set(numbers)
        assert numbers["rows"] == 10 and numbers["verify ms"] > numbers["model ms"] > 0
        assert numbers["least class"] <= numbers["holds"] <= 1 and json.dumps(numbers)
        assert ("one-pass kept" in numbers) == (cell.label in real_tables.OURS)
    page = written(
        real_tables.TABLE,
        Run("real-tables", quick=True, seeds=1, out=tmp_path),
        numbers | {"kept": 6.0, "holds": 0.93, "one-pass kept": 7.0},
    )
    assert "| german | 7.00 | 6.00 | 6.00 | 6.00* | 6.00 | 6.00 | 6.00 | 5.98 |" in page.read_text()
    assert "| breast_cancer | 0.930* | 0.930* | 0.930* | 0.930* | 0.930* | 0.930* | 0.950 |" in page.read_text()


def test_scores_of_trees_come_back_in_the_order_of_the_columns(people):
    model, rows = real_tables.model_of(people, 0), people.test.x
    codes = model.as_columns(torch.from_numpy(model.codes(rows)), rows).numpy()
    assert np.array_equal(codes[:, [0, 3]], rows[["age", "pay"]])
    assert np.array_equal(codes[:, 1:3].T, [rows["kind"].cat.codes, rows["city"].cat.codes])


def test_rows_that_measure_are_not_those_that_were_used(people):
    parts = real_tables.Sets.of(people, 7, 0)
    indices = [set(part.index) for part in (parts.test, parts.own, parts.others)]
    assert [len(part) for part in indices] == [7, 150, 150] and len(set.union(*indices)) == 307
    people.train.x["kind"] = people.train.x["kind"].cat.add_categories("once")
    people.validation.x["kind"] = people.validation.x["kind"].cat.add_categories("once")
    people.train.x.loc[parts.others.index[0], "kind"] = "once"
    parts = real_tables.Sets.of(people, 7, 0)
    assert len(parts.own) == 151 and "once" in set(parts.own["kind"]), "rows of a new category are used, since no explainer would know it"


def test_real_values_have_no_signed_line():
    made = real_tables.cells(False, 3)
    assert len({cell.key for cell in made}) == len(made) == 3 * (8 * 6 - 2)
    assert [cell.label == "KernelSHAP" for cell in made] == [False] * 3 * 38 + [True] * 3 * 8


def test_the_audit_s_order_is_a_cell_of_the_numbers_of_its_page(tmp_path, short_judges, written):
    short_judges(judge=30, reader=30, retraining=30)
    made = audit_order.cells(True, 1)
    assert len({cell.key for cell in made}) == len(made) == 5
    numbers = audit_order.compute(made[0], tmp_path)
    assert numbers["honest"] + numbers["encodes"] + numbers["cannot tell"] == 1
    page = written(audit_order.TABLE, Run("audit-order", quick=True, seeds=1, out=tmp_path), numbers).read_text()
    assert "lexplain reproduce audit-order --quick --seeds 1" in page
    assert "| s1 | l2x, k = 1 | 1 |" in page
