"""Where the time of training goes, as shares of all that the loop takes.

    python benchmarks/step_shares.py [--quick]

Each part of the loop is timed by itself: what runs inside another part is taken off that one, so that the shares sum to 100 %.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from measure import Sheet
from rich.console import Console

import lexplain as lx
from lexplain import imputers, masks
from lexplain.core import Batch
from lexplain.features import Columns
from lexplain.training.fit import _Run

TAKES, DRAWS, PASSES, MOVES, CHECKS = "taking rows", "drawing what is hidden", "forward and backward", "optimiser", "validation check"
GOALS, LOOP = "goals of a phase", "the loop itself"
PARTS = (TAKES, DRAWS, PASSES, MOVES, CHECKS, GOALS, LOOP)
WHOLE = (CHECKS, GOALS)  # what happens inside them is theirs
METHODS = {"default": {}, "realx": {"keep": 5}, "l2x": {"keep": 5}}
ROWS, BATCH = 10_000, 1000


class Ledger:
    """Seconds of each part, none of them counted twice."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock, self.seconds, self.stack, self.since = clock, dict.fromkeys(PARTS, 0.0), list[str](), 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Book the block on a part, unless a part that is booked as a whole is under way, or training has not begun."""
        if not self.stack and name != LOOP:
            yield
            return
        self._book()
        self.stack.append(self.stack[-1] if self.stack and self.stack[-1] in WHOLE else name)
        try:
            yield
        finally:
            self._book()
            self.stack.pop()

    def _book(self) -> None:
        now = self.clock()
        if self.stack:
            self.seconds[self.stack[-1]] += now - self.since
        self.since = now

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose time is booked on a part."""

        def run(*args: Any, **named: Any) -> Any:
            with self.part(name):
                return function(*args, **named)

        return run

    def shares(self) -> dict[str, float]:
        """Percent of each part; they sum to 100."""
        total = sum(self.seconds.values())
        return {name: 100 * seconds / total for name, seconds in self.seconds.items()}


@contextmanager
def booked(ledger: Ledger) -> Iterator[None]:
    """Let everything that trains inside the block be booked."""
    kinds = [kind for module in (imputers, masks) for kind in vars(module).values() if isinstance(kind, type)]
    drawn = [(kind, name) for kind in kinds for name in ("forward", "sample", "relaxed", "coupled") if name in vars(kind)]
    places = [(Batch, "take", TAKES), (Columns, "expand", DRAWS), *((kind, name, DRAWS) for kind, name in drawn)]
    places += [(_Run, "_descend", PASSES), (_Run, "_validate", CHECKS), (_Run, "_start", GOALS), (_Run, "train", LOOP)]
    make = _Run._optimiser

    def optimiser(run: _Run, step: Any) -> torch.optim.Optimizer:
        made: Any = make(run, step)
        made.step = ledger.timed(MOVES, made.step)
        return made

    with ExitStack() as stack:
        for owner, name, part in places:
            stack.callback(setattr, owner, name, vars(owner)[name])
            setattr(owner, name, ledger.timed(part, vars(owner)[name]))
        stack.callback(setattr, _Run, "_optimiser", make)
        _Run._optimiser = optimiser  # type: ignore[method-assign]
        yield


def run(*, quick: bool = False) -> list[Sheet]:
    """One row a method."""
    data, epochs, lines = lx.load_data("s3", rows=ROWS, seed=0), 4 if quick else None, []
    for name, sizes in METHODS.items():
        ledger = Ledger()
        explainer = lx.Explainer(name, **sizes, epochs=epochs, batch_size=BATCH, device="cpu", random_state=0)
        with booked(ledger):
            explainer.fit(data.train.x, data.train.y)
        lines.append([name, f"{sum(ledger.seconds.values()):.1f}", *(f"{share:.1f}" for share in ledger.shares().values())])
    head = ["method", "training s", *(f"{part} %" for part in PARTS)]
    notes = [
        f"Labels of s3, {ROWS:,} rows, steps of {BATCH:,}, {epochs or 'the default number of'} epochs; threads: {torch.get_num_threads()}.",
        "Taking rows: those of a step. Drawing what is hidden: masks and imputed values. Goals of a phase: what each feature is worth, "
        "measured once a phase, and whatever else a phase begins with. The loop itself: orders of rows, the best epoch's copy.",
    ]
    return [Sheet("Where the time of training goes", head, lines, notes)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    for sheet in run(quick=parser.parse_args().quick):
        sheet.show(Console(width=200))
