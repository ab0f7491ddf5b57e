"""What a GPU changes, and what it does not: a training step on both devices, masks that agree, and fits that repeat themselves.

    python benchmarks/gpu.py [--quick] [--out docs/results/bench-gpu.md]

Needs a CUDA device. The promises: a step costs at most 1.5 times the bare networks; the same seed gives the same masks; the same fitted
explainer on CPU and GPU agrees on at least 99.9 % of mask entries.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch
import train_step
from measure import Sheet, machine
from rich.console import Console
from run import page

import lexplain as lx
from lexplain.core.files import write_bytes

METHODS = ("default", "realx", "l2x", "invase", "basex", "lex")


def agreement(*, quick: bool) -> list[Sheet]:
    """Fit every method twice on the GPU with one seed, and explain with the same file on both devices."""
    data = lx.load_data("s3", rows=1000 if quick else 10_000, seed=0)
    lines = []
    for name in METHODS:
        size = {} if name == "default" else {"keep": 5}
        epochs = 5 if quick else None if name == "default" else 20
        masks, seconds = [], []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                began = time.perf_counter()
                explainer = lx.Explainer(name, epochs=epochs, device="cuda", random_state=0, **size).fit(data.train.x, data.train.y)
                seconds.append(time.perf_counter() - began)
                masks.append(explainer.explain(data.test.x).mask)
            explainer.save(f"{folder}/fit.lex")
            on_cpu = lx.Explainer.load(f"{folder}/fit.lex", device="cpu").explain(data.test.x).mask
        same = bool((masks[0] == masks[1]).all())
        share = float((on_cpu == masks[1]).double().mean())
        lines.append([name, f"{min(seconds):.1f}", "yes" if same else "NO", f"{100 * share:.3f}", "yes" if share >= 0.999 else "NO"])
    head = ["method", "fit s", "same seed, same masks", "mask entries that agree on CPU and GPU, %", "at least 99.9"]
    return [Sheet(f"Fits of {len(data.train):,} rows of s3 on {torch.cuda.get_device_name()}", head, lines)]


def main() -> None:
    """Print the sheets, and write the page where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows and epochs: to see that it runs, not to quote")
    parser.add_argument("--out", type=Path, help="the page to write")
    told = parser.parse_args()
    sheets = [sheet for device in ("cpu", "cuda") for sheet in train_step.run(quick=told.quick, device=device)]
    sheets += agreement(quick=told.quick)
    for sheet in sheets:
        sheet.show(Console(width=200))
    if told.out is not None:
        command = f"python benchmarks/gpu.py{' --quick' if told.quick else ''} --out {told.out.name}"
        write_bytes(told.out, page(command, [*machine(), f"GPU: {torch.cuda.get_device_name()}"], sheets).encode())


if __name__ == "__main__":
    main()
