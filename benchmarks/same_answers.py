"""Do two commits give the same answers? Ask both the same questions, on one machine and one thread, and compare.

    python benchmarks/same_answers.py BASE                      # BASE against the working tree
    python benchmarks/same_answers.py BASE OTHER                # two commits
    python benchmarks/same_answers.py BASE --keep FILE --short  # BASE's answers are kept in a file, and read the next time

The questions lie in `benchmarks/same/`, one file per group: fits of every method, audits, baselines, right reasons, cards, comparisons, a
tiny cell of each table, what files hold, texts, and the random state after each public call. All arrays must be equal to the last bit, and
texts by their SHA-256. After 300 optimiser steps of a fit at least 99.5 % of the entries of all masks must be equal; `--short` leaves these
fits out. The exit status is 1 where answers differ. Times, dates, machines and digests of code are left out: no two runs agree on them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Collection
from pathlib import Path

import numpy as np
from same import GROUPS, Wanted, cases

ROOT = Path(__file__).resolve().parent.parent
EQUAL = 0.995  # share of the entries of masks after many steps
COMMIT, CASES, SECONDS = "(commit)", "(cases)", "(seconds)"  # entries of a file of answers that are no answers
RAISED = "raised"  # ends the name of the answer of a case that failed
Answers = dict[str, np.ndarray]


# ---- in the process of one commit ----


def answers(wanted: Wanted) -> Answers:
    """What the imported lexplain says to each case, the groups of these cases, and the CPU seconds that each group took."""
    import torch

    found: Answers = {}
    groups: dict[str, str] = {}
    seconds: dict[str, float] = {}
    for name, (group, case) in cases(wanted).items():
        torch.manual_seed(0)
        np.random.seed(0)  # noqa: NPY002  the library is watched for draws from the global state
        began = time.process_time()
        try:
            found |= {f"{name}/{key}": np.asarray(value) for key, value in case().items()}
        except Exception as raised:
            traceback.print_exc()
            found[f"{name}/{RAISED}"] = np.array(f"{type(raised).__name__}: {raised}")
        groups[name] = group
        seconds[group] = seconds.get(group, 0.0) + time.process_time() - began
    return {**found, CASES: np.array(json.dumps(groups)), SECONDS: np.array(json.dumps(seconds))}


# ---- in the process that compares ----


def ask(source: Path, folder: Path, name: str, wanted: Wanted) -> Answers:
    """The answers of the lexplain below a folder, from a process of its own."""
    out = folder / f"{name}.npz"
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    words = [sys.executable, str(Path(__file__).resolve()), "--answer", str(out), *wanted.words]
    subprocess.run(words, env=environment, cwd=source, check=True)
    found = read(out)
    told = ", ".join(f"{group} {seconds:.0f}" for group, seconds in json.loads(str(found[SECONDS])).items())
    print(f"CPU seconds of {name}: {told}", flush=True)
    return found


def read(path: Path) -> Answers:
    """A file of answers."""
    with np.load(path) as kept:
        return dict(kept)


def checked_out(commit: str, folder: Path) -> Path:
    """A commit's files in a folder of their own."""
    place = folder / commit.replace("/", "_")
    place.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive, check=True)
    return place


def whole_name(commit: str) -> str:
    """The full name of a commit."""
    told = subprocess.run(["git", "rev-parse", "--verify", f"{commit}^{{commit}}"], cwd=ROOT, check=True, capture_output=True, text=True)
    return told.stdout.strip()


def listed(answer: Answers) -> dict[str, str]:
    """The cases that answers are of, with their groups."""
    groups: dict[str, str] = json.loads(str(answer[CASES]))
    return groups


def kept_answers(path: Path, commit: str) -> Answers:
    """The answers that a file keeps of a commit; those of another one are refused."""
    kept = read(path) if path.exists() else {CASES: np.array("{}"), COMMIT: np.array(commit)}
    if str(kept[COMMIT]) != commit:
        raise SystemExit(f"{path} holds the answers of {kept[COMMIT]}, not of {commit}: choose another file, or delete it")
    return kept


def joined(kept: Answers, new: Answers) -> Answers:
    """Answers kept before, with new ones in place of those to the same cases."""
    fresh = listed(new)
    old = {name: value for name, value in kept.items() if case_of(name, fresh) is None}
    return {**old, **new, CASES: np.array(json.dumps(listed(kept) | fresh))}


def part_of(kept: Answers, wanted: Wanted) -> Answers:
    """The answers to the cases that are asked for."""
    some = {case for case, group in listed(kept).items() if wanted.has(case, group)}
    found = {name: value for name, value in kept.items() if case_of(name, some) is not None}
    return {**found, CASES: np.array(json.dumps({case: group for case, group in listed(kept).items() if case in some}))}


def case_of(name: str, among: Collection[str]) -> str | None:
    """The case that an array belongs to: what stands before one of the slashes of its name."""
    parts = name.split("/")
    return next((case for end in range(len(parts) - 1, 0, -1) if (case := "/".join(parts[:end])) in among), None)


def base_answers(commit: str, new: Answers, keep: Path | None, wanted: Wanted, folder: Path) -> Answers:
    """The answers of the commit to compare with: computed, or as far as they are there read from a file."""
    if keep is None:
        return ask(checked_out(commit, folder), folder, "base", wanted)
    kept = kept_answers(keep, whole_name(commit))
    if not set(listed(new)) <= {case for case in listed(kept) if f"{case}/{RAISED}" not in kept}:  # what failed is asked again
        kept = joined(kept, ask(checked_out(commit, folder), folder, "base", wanted))
        np.savez_compressed(keep, **kept)
    return part_of(kept, wanted)


def compared(one: Answers, other: Answers) -> bool:
    """Print what differs; whether all is as equal as it must be."""
    from same.fits import MANY

    good = listed(one).keys() == listed(other).keys()
    for case in sorted(listed(one).keys() ^ listed(other).keys()):
        print(f"only one has the case {case}")
    alike = listed(one).keys() & listed(other).keys()
    one, other = ({name: value for name, value in each.items() if case_of(name, alike)} for each in (one, other))
    for name, value in [*one.items(), *other.items()]:
        if name.endswith(f"/{RAISED}"):
            print(f"{name}: {value}")
            good = False
    for name in sorted(set(one) ^ set(other)):
        print(f"only one has {name}")
        good = False
    both = [name for name in one if name in other]
    exact = [name for name in both if f"/{MANY}/" not in name]
    for name in exact:
        if not same(one[name], other[name]):
            good = False
            print(f"differs: {name}{by_how_much(one[name], other[name])}")
    masks = [name for name in both if f"/{MANY}/" in name and name.endswith("/mask")]
    for name in masks:
        share = float((one[name] == other[name]).mean())
        if share < EQUAL:
            good = False
        if share < 1:
            print(f"masks equal in {share:.2%}: {name}")
    print(f"{len(exact)} arrays, {len(masks)} masks after {MANY} steps: {'the same' if good else 'NOT the same'}")
    return good


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays are equal to the last bit."""
    return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def by_how_much(one: np.ndarray, other: np.ndarray) -> str:
    """The words that follow the name of an array that differs."""
    if one.dtype.kind in "biuf" and other.dtype.kind in "biuf" and one.shape == other.shape:
        return f" by up to {np.nanmax(np.abs(one.astype(float) - other.astype(float)), initial=0):.3g}"
    return f": {one} and {other}" if one.ndim == other.ndim == 0 else f": {one.dtype} {one.shape} and {other.dtype} {other.shape}"


def main() -> None:
    """Compare two commits, or answer for one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="*", help="one commit, to compare with the working tree, or two")
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", help="the name of a group, or a part of the names of cases, such as gains/s3 or /20")
    parser.add_argument("--groups", type=lambda text: tuple(text.split(",")), default=(), help=f"some of {','.join(GROUPS)}")
    parser.add_argument("--short", action="store_true", help="leave out the fits of 300 steps")
    parser.add_argument("--keep", type=Path, help="a file for the first commit's answers; delete it after a change of benchmarks/same")
    args = parser.parse_args()
    if unknown := set(args.groups) - set(GROUPS):
        parser.error(f"no group is called {', '.join(sorted(unknown))}; choose from {', '.join(GROUPS)}")
    wanted = Wanted(args.groups, args.only, args.short)
    if args.answer is not None:
        import torch

        torch.set_num_threads(1)
        np.savez(args.answer, **answers(wanted))
        return
    if len(args.commits) not in (1, 2):
        parser.error("one or two commits are needed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if args.keep is not None:
            kept_answers(args.keep, whole_name(args.commits[0]))  # refuse the file of another commit before anything is computed
        new = ask(ROOT if len(args.commits) == 1 else checked_out(args.commits[1], folder), folder, "new", wanted)
        base = base_answers(args.commits[0], new, args.keep, wanted, folder)
    sys.exit(0 if compared(base, new) else 1)


if __name__ == "__main__":
    main()
