"""Run every benchmark, print the tables, and write them to docs/results/bench.md.

    make bench                                  # = python benchmarks/run.py
    python benchmarks/run.py --quick            # a minute: to see that it runs; writes nothing unless --out is given

Nothing here fails because the machine was slow: the tables say what was measured, and whether it is within the limits.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

import against_peers
import explain_speed
import right_reasons
import train_step
from measure import Sheet, machine
from rich.console import Console

from lexplain import check
from lexplain.report.write import write_atomically

PAGE = Path(__file__).resolve().parent.parent / "docs" / "results" / "bench.md"


def page(command: str, told: list[str], sheets: list[Sheet]) -> str:
    """The results as a Markdown page: the command first, then the machine, then the tables."""
    head = ["# Benchmarks", "", f"Made by `{command}`.", "", *(f"- {line}" for line in told), ""]
    return "\n".join(head) + "\n" + "\n".join(sheet.markdown() for sheet in sheets)


def main() -> None:
    """Run all, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repeats, rows and epochs: to see that it runs, not to quote")
    parser.add_argument("--out", type=Path, help=f"the page to write; {PAGE.relative_to(PAGE.parents[2])} unless --quick")
    told = parser.parse_args()
    console = Console(width=200)
    for peer in ("lime", "shap"):  # better missed now than after the first benchmark
        check.require(peer, extra="peers")
    facts = machine()
    for line in facts:
        console.print(line, highlight=False)
    sheets = []
    for benchmark in (explain_speed.run, train_step.run, right_reasons.run, against_peers.run):
        for sheet in benchmark(quick=told.quick):
            sheet.show(console)
            sheets.append(sheet)
    out = told.out or (None if told.quick else PAGE)
    if out is not None:
        command = shlex.join(["python", "benchmarks/run.py", *sys.argv[1:]]) + ("" if sys.argv[1:] else " (`make bench`)")
        console.print(f"written to {write_atomically(out, page(command, facts, sheets).encode())}")


if __name__ == "__main__":
    main()
