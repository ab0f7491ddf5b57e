"""What `import lexplain` costs beside the libraries that nobody who explains predictions goes without.

    python benchmarks/import_time.py            # seven alternating runs of each, in fresh processes; exit status 1 above the limit

A ratio of medians of one run, so that it means the same on every machine.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

BASE = "import torch, sklearn.base, pandas"
OURS = "import lexplain; lexplain.Explainer"
RUNS, LIMIT = 7, 1.15


def seconds(code: str) -> float:
    """The wall time of a fresh Python that runs some code."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def main() -> int:
    """Alternate the two, so that a machine that slows down slows both; a first run of each fills the disk's cache."""
    pairs = [(seconds(BASE), seconds(OURS)) for _ in range(1 + RUNS)][1:]
    base, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{BASE}: {base:.2f} s\n{OURS}: {ours:.2f} s\nratio {ours / base:.2f}, at most {LIMIT}")
    return int(ours > LIMIT * base)


if __name__ == "__main__":
    raise SystemExit(main())
