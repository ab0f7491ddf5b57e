"""What the benchmarks reckon with: a ledger that counts nothing twice, a page of which one part is measured anew, and equal answers."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    """The folder's modules, found as its scripts find each other."""
    if not FOLDER.is_dir():
        pytest.skip("the benchmarks are not part of this distribution")
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in set(sys.modules) - before:
        if str(FOLDER) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.usefixtures("benchmarks")
def test_nothing_is_booked_twice():
    import step_shares as s

    now = [0.0]

    def passes(seconds, *inside):
        for part in inside:
            part()
        now[0] += seconds

    ledger = s.Ledger(lambda: now[0])
    take, draw = ledger.timed(s.TAKES, lambda: passes(1)), ledger.timed(s.DRAWS, lambda: passes(2))
    take()  # before training begins: not booked
    descend = ledger.timed(s.PASSES, lambda: passes(4, draw))
    judge = ledger.timed(s.CHECKS, lambda: passes(8, draw, take))  # a check is booked as a whole
    ledger.timed(s.LOOP, lambda: passes(3, take, descend, judge))()
    wanted = {s.TAKES: 1, s.DRAWS: 2, s.PASSES: 4, s.CHECKS: 11, s.LOOP: 3, s.MOVES: 0, s.GOALS: 0}
    assert ledger.seconds == wanted
    assert sum(ledger.shares().values()) == pytest.approx(100)
    assert ledger.shares()[s.PASSES] == pytest.approx(100 * 4 / 21)


@pytest.mark.usefixtures("benchmarks")
def test_every_part_of_a_training_is_booked_and_left_as_it_was(monkeypatch):
    import step_shares as s

    import lexplain as lx
    from lexplain.training.fit import _Run

    before = {name: vars(_Run)[name] for name in ("_descend", "_validate", "_start", "train", "_optimiser")}
    data, ledger, ticks = lx.load_data("s3", rows=60), s.Ledger(lambda: ticks.append(0) or float(len(ticks))), []
    with s.booked(ledger):
        lx.Explainer("realx", keep=3, epochs=1, device="cpu").fit(data.train.x, data.train.y)
    assert all(ledger.seconds[part] > 0 for part in s.PARTS)
    assert {name: vars(_Run)[name] for name in before} == before
    assert ledger.stack == []


@pytest.mark.usefixtures("benchmarks")
def test_one_part_takes_its_old_place_on_the_page():
    from measure import Sheet
    from run import page, renewed

    first, second, third = (Sheet(f"Table {name}", ["a", "b"], [[name, "1"]]) for name in "xyz")
    text = page("make", ["a machine"], [first, second, third])
    fresh = Sheet("Table y", ["a", "b"], [["y", "2"]], ["how"])
    got = renewed(text, [fresh], "alone")
    assert got == page("make", ["a machine"], [first, Sheet("Table y", ["a", "b"], [["y", "2"]], ["how", "alone"]), third])
    again = renewed(got, [fresh], "alone")
    assert again == got
    new = Sheet("Table w", ["a", "b"], [["w", "3"]])
    assert renewed(text, [new], "alone") == page(
        "make", ["a machine"], [first, second, Sheet("Table w", ["a", "b"], [["w", "3"]], ["alone"]), third]
    )


def answers_of(commit="a commit", **arrays):
    """Answers to one case of a group, as they are kept in a file."""
    cases = {"cards/one": "cards", "gains/s3/free/20": "fits", "gains/s3/free/300": "fits"}
    usual = {"cards/one/p": np.array([0.25, np.nan]), "cards/one/why": np.array("so"), "gains/s3/free/20/mask": np.ones((4, 100), bool)}
    usual["gains/s3/free/300/mask"] = np.ones((4, 100), bool)
    return {**usual, **arrays, "(cases)": np.array(json.dumps(cases)), "(commit)": np.array(commit)}


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cards/one/p", np.array([0.25 + 2**-54, np.nan]), "differs: cards/one/p by up to 5.55e-17"),
        ("cards/one/p", np.array([0.25, np.nan], np.float32), "differs: cards/one/p"),
        ("cards/one/why", np.array("as"), "differs: cards/one/why: so and as"),
        ("cards/one/more", np.zeros(1), "only one has cards/one/more"),
        ("cards/one/raised", np.array("ValueError: no"), "cards/one/raised: ValueError: no"),
    ],
)
def test_one_bit_is_another_answer(name, value, words, capsys):
    import same_answers as s

    assert s.compared(answers_of(), answers_of("another"))
    assert not s.compared(answers_of(), answers_of(**{name: value}))
    assert words in capsys.readouterr().out
    assert not s.compared(answers_of(), {**answers_of(), "(cases)": np.array('{"cards/one": "cards"}')})
    assert "only one has the case gains/s3/free/20" in capsys.readouterr().out


@pytest.mark.usefixtures("benchmarks")
def test_a_case_that_fails_on_both_sides_is_no_equal_answer():
    import same_answers as s

    failed = {"cards/one/raised": np.array("ValueError: no")}
    assert not s.compared(answers_of(**failed), answers_of(**failed))


@pytest.mark.usefixtures("benchmarks")
def test_after_many_steps_few_entries_of_masks_may_differ():
    import same_answers as s

    for flips, good in ((1, True), (3, False)):  # of 400
        mask = np.ones((4, 100), bool)
        mask[0, :flips] = False
        assert s.compared(answers_of(), answers_of(**{"gains/s3/free/300/mask": mask})) is good
        assert not s.compared(answers_of(), answers_of(**{"gains/s3/free/20/mask": mask}))


@pytest.mark.usefixtures("benchmarks")
def test_kept_answers_are_those_of_their_commit_and_of_what_is_asked_for(tmp_path):
    import same_answers as s
    from same import Wanted

    path = tmp_path / "kept.npz"
    assert s.listed(s.kept_answers(path, "a commit")) == {}
    np.savez(path, **answers_of())
    with pytest.raises(SystemExit, match="holds the answers of a commit, not of another"):
        s.kept_answers(path, "another")
    kept = s.kept_answers(path, "a commit")
    assert set(s.part_of(kept, Wanted(short=True, groups=("fits",)))) == {"gains/s3/free/20/mask", "(cases)"}
    assert set(s.part_of(kept, Wanted(only="cards"))) == {"cards/one/p", "cards/one/why", "(cases)"}
    more = s.joined(kept, {"cards/one/new": np.ones(1), "(cases)": np.array('{"cards/one": "cards"}')})
    assert {name for name in more if name.startswith("cards")} == {"cards/one/new"}
    assert s.listed(more) == s.listed(kept)
    assert str(more["(commit)"]) == "a commit"


@pytest.mark.usefixtures("benchmarks")
def test_every_group_has_cases_of_its_own():
    from same import GROUPS, Wanted, cases

    found = cases(Wanted())
    assert {group for group, _ in found.values()} == set(GROUPS)
    assert set(cases(Wanted(only="audit"))) == {"audit/s3/surrogate/20"}
    assert not any(name.endswith("/300") for name in cases(Wanted(short=True)))


@pytest.mark.usefixtures("benchmarks")
def test_constants_are_short_for_a_while_only():
    from same.places import first_of, place_of, short

    holder, name = place_of("lexplain.evaluation.evaluator:EVALUATOR_STEPS", "lexplain.training.evaluator:JUDGE_STEPS")
    before = getattr(holder, name)
    with short(judge=7):
        assert getattr(holder, name) == 7
    assert getattr(holder, name) == before > 7
    with pytest.raises(LookupError, match="has none of lexplain"):
        first_of("lexplain.nowhere:Thing")


@pytest.mark.usefixtures("benchmarks")
def test_times_are_no_answers():
    from same.given import numbers

    record = {"fit_seconds": 1.0, "ms": 2.0, "date": "today", "ACC": 0.5, "path": {"explain_seconds": 1.0, "cost": np.ones(2)}}
    assert set(numbers(record)) == {"ACC", "path/cost"}


@pytest.mark.usefixtures("benchmarks")
def test_a_way_counts_the_files_and_functions_that_a_call_enters():
    from threading import Thread

    from way import way_of

    import lexplain as lx
    from lexplain.core.splits import halves

    way, answers = way_of(lambda: [halves(rows, seed=0) for rows in (4, 5)])
    assert (way, len(answers)) == ({"core/splits.py": {"halves"}}, 2)
    thread = Thread(target=lambda: lx.Columns().fit([[1.0], [2.0]]))
    way, _ = way_of(lambda: (thread.start(), thread.join()))
    assert "Columns.fit" in way["features/columns.py"]


@pytest.mark.usefixtures("benchmarks")
def test_quality_compares_with_the_committed_figures(tmp_path, monkeypatch):
    import quality as q

    assert {(label, name) for label in q.USUAL for name in ("TPR", "FDR")} <= set(q.committed()), (
        "the page has what `make quality` measures"
    )
    fits = pd.DataFrame({"set": ["S1"] * 2, "TPR": [97.0, 99.0], "FDR": [2.0, 4.0], "CFSR": 100.0, "kept": 4.0, "fit seconds": 1.0})
    lines = q.table(fits)
    page = tmp_path / "quality.md"
    rows = [" | ".join(map(str, line)) for line in [lines.columns, ["---"] * len(lines.columns), *lines.to_numpy()]]
    page.write_text("A title\n\n" + "\n".join(f"| {row} |" for row in rows))
    monkeypatch.setattr(q, "PAGE", page)
    known = q.committed()
    assert known["S1", "TPR"] == (98.0, 1.41) and known["S1", "FDR"] == (3.0, 1.41)
    page.write_text(q.page_of(q.table(fits.assign(set="S3, 300 columns", TPR=90.0))))
    page.write_text(q.page_of(q.table(fits.assign(set="XOR", TPR=80.0))))
    page.write_text(q.page_of(q.table(fits.assign(set="XOR", TPR=85.0))))
    both = {label: mean for (label, name), (mean, _) in q.committed().items() if name == "TPR"}
    assert list(both.items()) == [("S1", 98.0), ("XOR", 85.0), ("S3, 300 columns", 90.0)], "lines of other sets stay, in the order of SETS"
    assert not q.worse(fits, known)
    assert not q.worse(fits.assign(TPR=94.0, FDR=1.0), known), "within three standard deviations, and better"
    assert [line.split(",")[0] for line in q.worse(fits.assign(TPR=93.0, FDR=8.0, CFSR=98.9), known)] == [
        "S1: TPR 93.00",
        "S1: FDR 8.00",
        "S1: CFSR 98.90",
    ]


@pytest.mark.usefixtures("benchmarks")
def test_quality_knows_its_sets():
    import quality as q

    x, y, test, truth, control_flow = q.data_of("linear", 0, 0)
    assert x.shape == test.shape == truth.shape == (10_000, 10) and truth.sum() == 50_000 and control_flow is None
    assert np.corrcoef(x[:, :5].sum(1), y)[0, 1] == pytest.approx(1 / 1.25**0.5, abs=0.02)


@pytest.mark.usefixtures("benchmarks")
def test_all_work_whose_memory_is_measured_runs():
    import memory as m

    script = m.SETTING.replace("evaluator.EVALUATOR_STEPS =", "assert hasattr(evaluator, 'EVALUATOR_STEPS')\nevaluator.EVALUATOR_STEPS =")
    code = "\n".join([script, *m.WORK.values(), "print(peak() >= before)"])
    done = subprocess.run([sys.executable, "-c", code, "all", "1100", "6", "400"], capture_output=True, text=True, check=False)
    assert done.stdout.split()[-1:] == ["True"], done.stderr
