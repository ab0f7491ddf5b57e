"""Peak memory when the number of rows grows tenfold: max_rows limits the rows sent to a model at once, so that it stays flat.

    python benchmarks/memory.py [--quick] [--out docs/results/bench-memory.md]

Each measurement is a process of its own. What is reported is the peak beyond that of the same process with the rows, their masks and the
networks already in memory: rows themselves have to be somewhere.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from measure import Sheet, machine
from rich.console import Console
from run import page

from lexplain.core.files import write_bytes

MAX_ROWS = 20_000
ROWS = 20_000
COLUMNS = 40
GROWS = 1.5  # times as much memory for ten times the rows is no longer flat

SETTING = """
import sys, torch
from torch import nn
from lexplain.core import Explanation
from lexplain.features import Columns
from lexplain.imputers import Marginal
from lexplain.masks import Bernoulli
from lexplain.methods import METHODS
from lexplain.core import Classes
import lexplain as lx
from lexplain.measures import QueriedFunction, curves, fidelity, sensitivity
from lexplain.evaluation import evaluator, retrained
evaluator.EVALUATOR_STEPS = evaluator.READER_STEPS = 50  # memory is measured here, not how well they predict
retrained.RETRAINING_STEPS = 50
MEASURES = ["fidelity", "off the data"]  # curves and infidelity have lines of their own, or ask about few rows
rows, columns, most = map(int, sys.argv[2:])
x = torch.randn(rows, columns)
features = Columns().fit(x[:1000].numpy())
mask = torch.rand(rows, columns) < 0.3
scores = torch.rand(rows, columns)
network = nn.Sequential(nn.Linear(columns, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 2), nn.Softmax(1)).eval()
fill = Marginal(x[:1000])
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024
model = QueriedFunction(network, most)
network(x[:100]); fidelity.same_class(model, features, x[:100], mask[:100])
before = peak()
"""
WORK = {
    "fidelity (FS-M)": "fidelity.same_class(model, features, x, mask, imputer=fill)",
    "insertion": "[curves.area(curves.curve(model, features, x[at], scores[at], imputer=fill), columns)"
    " for at in torch.arange(rows).split(most)]",
    "sensitivity": "[sensitivity.sensitivity(QueriedFunction(lambda z: z * 2, most), x[at:at + most], draws=5)"
    " for at in range(0, rows, most)]",
    "a method's prediction": "[m.probabilities(x[at:at + most // 20], mask[at:at + most // 20]) for m in"
    " [METHODS['realx'](features, Classes(2), keep=5).eval()] for at in range(0, rows, most // 20)]",
    "an audit of a model's explanation": "lx.audit(Explanation(scores, mask, features.names), x.numpy(), model=network, measures=MEASURES,"
    " train=(x[:1000].numpy(), None, Explanation(scores[:1000], mask[:1000], features.names)), max_rows=most)",
}
SMALLER = {"an audit of a model's explanation": 10}  # rows and max_rows divided by so many: each row is asked for some forty times


def megabytes(name: str, rows: int) -> float:
    """Peak memory of one piece of work beyond what its rows take, in a process of its own."""
    script = SETTING + WORK[name] + "\nprint(peak() - before)"
    smaller = SMALLER.get(name, 1)
    words = [sys.executable, "-c", script, name, str(rows // smaller), str(COLUMNS), str(MAX_ROWS // smaller)]
    # glibc keeps what large tensors leave behind, in pieces; told so, it hands them back, and the peak is what is in use
    told = {"MALLOC_MMAP_THRESHOLD_": "131072", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, **told})
    return float(done.stdout.split()[-1])


def run(*, quick: bool = False) -> list[Sheet]:
    """One line a piece of work: megabytes for some rows, and for ten times as many."""
    some = ROWS // 5 if quick else ROWS
    lines = []
    for name in WORK:
        once, tenfold = megabytes(name, some), megabytes(name, 10 * some)
        lines.append([name, f"{once:.0f}", f"{tenfold:.0f}", f"{tenfold / max(once, 1):.2f}"])
    head = ["work", f"MB for {some:,} rows", f"MB for {10 * some:,} rows", "times"]
    told = [f"max_rows = {MAX_ROWS:,}; {COLUMNS} columns; one thread. Peak beyond rows, masks and networks; results of a row stay."]
    told += [f"{name}: a {part}th of the rows and of max_rows; its judges learn from 1,000 other rows." for name, part in SMALLER.items()]
    return [Sheet("Memory when rows grow tenfold", head, lines, told)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, help="the page to write")
    told = parser.parse_args()
    sheets = run(quick=told.quick)
    for sheet in sheets:
        sheet.show(Console(width=160))
    if told.out is not None:
        command = f"python benchmarks/memory.py{' --quick' if told.quick else ''} --out {told.out}"
        write_bytes(told.out, page(command, machine(), sheets).encode())
