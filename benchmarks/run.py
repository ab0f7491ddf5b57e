"""Run every benchmark, print the tables, and write them to docs/results/bench.md.

    make bench                                  # = python benchmarks/run.py
    python benchmarks/run.py --quick            # a minute: to see that it runs; writes nothing unless --out is given
    python benchmarks/run.py --only step-shares # one part, whose table takes its old one's place on the page

Nothing here fails because the machine was slow: the tables say what was measured, and whether it is within the limits.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import against_peers
import explain_speed
import step_shares
import train_step
import verify_speed
from measure import Sheet, machine
from rich.console import Console

import right_reasons
from lexplain import check
from lexplain.core.files import write_bytes

BENCHMARKS = {
    "explain": explain_speed.run,
    "train-step": train_step.run,
    "step-shares": step_shares.run,
    "right-reasons": right_reasons.run,
    "verify": verify_speed.run,
    "peers": against_peers.run,
}
PAGE = Path(__file__).resolve().parent.parent / "docs" / "results" / "bench.md"


def page(command: str, told: list[str], sheets: list[Sheet]) -> str:
    """The results as a Markdown page: the command first, then the machine, then the tables."""
    head = ["# Benchmarks", "", f"Made by `{command}`.", "", *(f"- {line}" for line in told), ""]
    return "\n".join(head) + "\n" + "\n".join(sheet.markdown() for sheet in sheets)


def renewed(text: str, sheets: list[Sheet], remark: str) -> str:
    """A page with some of its tables measured anew: each takes the place of the one of its name, or the one that the last but one had."""
    head, *parts = text.split("\n## ")
    for sheet in sheets:
        new = replace(sheet, notes=[*sheet.notes, remark]).markdown().removeprefix("## ")
        at = next((place for place, part in enumerate(parts) if part.startswith(f"{sheet.title}\n")), None)
        if at is None:
            parts.insert(max(0, len(parts) - 1), new)
        else:
            parts[at] = new
    return "\n## ".join([head, *(part.rstrip("\n") + "\n" for part in parts)])


def main() -> None:
    """Run all, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repeats, rows and epochs: to see that it runs, not to quote")
    parser.add_argument("--out", type=Path, help=f"the page to write; {PAGE.relative_to(PAGE.parents[2])} unless --quick")
    parser.add_argument("--only", choices=list(BENCHMARKS), help="measure this part alone; the page keeps its others")
    told = parser.parse_args()
    console = Console(width=200)
    for peer in ("lime", "shap") if told.only in (None, "peers", "verify") else ():  # better missed now than after the first benchmark
        check.require(peer, extra="peers")
    facts = machine()
    for line in facts:
        console.print(line, highlight=False)
    sheets = []
    for benchmark in BENCHMARKS.values() if told.only is None else [BENCHMARKS[told.only]]:
        for sheet in benchmark(quick=told.quick):
            sheet.show(console)
            sheets.append(sheet)
    out = told.out or (None if told.quick else PAGE)
    if out is not None:
        command = shlex.join(["python", "benchmarks/run.py", *sys.argv[1:]]) + ("" if sys.argv[1:] else " (`make bench`)")
        whole = page(command, facts, sheets)
        if told.only is not None and out.is_file():
            whole = renewed(out.read_text(), sheets, f"Measured by itself with `{command}`: {facts[0]}; {facts[-1]}.")
        console.print(f"written to {write_bytes(out, whole.encode())}")


if __name__ == "__main__":
    main()
