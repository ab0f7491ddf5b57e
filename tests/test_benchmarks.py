"""What the benchmarks reckon with: a ledger that counts nothing twice, and a page of which one part is measured anew."""

import sys
from pathlib import Path

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

    before = {name: vars(_Run)[name] for name in ("_descend", "_judge", "_start", "train", "_optimiser")}
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
