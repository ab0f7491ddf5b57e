"""What explaining an image costs beside the bare forward of its U-Net, and how long panels of 28 x 56 pixels take to train on.

    python benchmarks/image_speed.py [--device cuda] [--quick] [--out docs/results/bench-images.md]

The promise: an image costs at most 1.3 bare forwards, in batches and singly; a full training fits into 10 minutes on one data-centre GPU.
Images are noise: nothing here depends on what they show.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import Sheet, Times, interleaved, machine, threads
from rich.console import Console
from run import page

import lexplain as lx
from lexplain.core.files import write_bytes
from lexplain.reproduce.lex_panels import LONG

SHAPE, CLASSES = (1, 28, 56), 10
BATCHES = {256: 40, 1: 400}  # images, and repeats at most
RATIO, MINUTES = 1.3, 10.0
STEPS, BATCH, TIMED = LONG.steps, 256, 120  # of a full training (lexplain reproduce lex-sp-mnist), and the steps that are timed


def fitted(device: str) -> lx.Explainer:
    """An explainer of noise, trained for a moment."""
    draw = np.random.default_rng(0)
    x, y = draw.random((64, *SHAPE), dtype=np.float32), draw.integers(0, CLASSES, 64)
    y[:CLASSES] = range(CLASSES)
    return lx.Explainer("sufficient", keep=0.1, epochs=1, batch_size=32, device=device).fit(x, y)


def explaining(device: str, *, seconds: float) -> Sheet:
    """`explain` beside the bare U-Net."""
    explainer = fitted(device)
    network: Any = explainer.method_.selector.network
    lines = []
    for count in sorted({1, torch.get_num_threads()}) if device == "cpu" else [1]:
        for rows, repeats in BATCHES.items():
            x = np.random.default_rng(1).random((rows, *SHAPE), dtype=np.float32)
            encoded = explainer.features_.encode(x, device).x

            def bare(_: int, encoded: torch.Tensor = encoded) -> Any:
                with torch.inference_mode():
                    return network(encoded).cpu()  # the answer is on the CPU, as an explanation is

            with threads(count):
                times: dict[str, Times] = interleaved(
                    {"explain": lambda _, x=x: explainer.explain(x), "bare": bare}, repeats, seconds=seconds
                )
            ratio = float(np.median(times["explain"].wall / times["bare"].wall))
            within = "yes" if ratio <= RATIO else "NO"
            lines.append([f"{rows}", str(count), f"{times['bare'].ms:.2f}", f"{times['explain'].ms:.2f}", f"{ratio:.2f}", within])
    head = ["images", "threads", "bare ms", "explain ms", "ratio", f"at most {RATIO:g}"]
    return Sheet(f"explain beside the bare U-Net, 28 x 56 pixels, {device}", head, lines)


def shares(device: str, *, repeats: int) -> Sheet:
    """Where the time of `explain` goes, each part waited for: together they take longer than in one go."""
    explainer = fitted(device)
    selector: Any = explainer.method_.selector
    lines = []
    for rows in BATCHES:
        x = np.random.default_rng(1).random((rows, *SHAPE), dtype=np.float32)
        parts: dict[str, list[float]] = {}
        for _ in range(repeats):
            at = _now(device)
            there = explainer.features_.encode(x, device).x
            at = _took(parts, "check, encode, to the device", at, device)
            with torch.no_grad():
                logits = selector.logits(there)
                at = _took(parts, "network", at, device)
                p = selector.family(logits, None)
                told = p.scores, p.mode
                at = _took(parts, "scores and mask", at, device)
                told = tuple(each.cpu() for each in told)
                _took(parts, "back", at, device)
        lines.append([str(rows), *(f"{1000 * float(np.median(times)):.2f}" for times in parts.values())])
    return Sheet(f"Where the time of explain goes, {device}, ms", ["images", *parts], lines)


def _now(device: str) -> float:
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()


def _took(parts: dict[str, list[float]], name: str, began: float, device: str) -> float:
    now = _now(device)
    parts.setdefault(name, []).append(now - began)
    return now


def training(device: str, *, quick: bool) -> Sheet:
    """How long a full training of switching panels takes, from the time of some steps."""
    draw = np.random.default_rng(0)
    rows = BATCH * (4 if quick else TIMED)
    x, y = draw.random((rows, *SHAPE), dtype=np.float32), draw.integers(0, CLASSES, rows)
    seconds = []
    for epochs in (1, 2):  # the difference is one epoch without what is done once
        began = time.perf_counter()
        lx.Explainer("sufficient", keep=0.1, epochs=epochs, batch_size=BATCH, device=device).fit(x, y)
        seconds.append(time.perf_counter() - began)
    step = (seconds[1] - seconds[0]) / (0.85 * rows / BATCH)  # of the rows, a tenth and a twentieth are set aside
    minutes = step * STEPS / 60
    within = "yes" if minutes <= MINUTES else "NO"
    head = ["device", f"ms a step of {BATCH} images", f"minutes of {STEPS:,} steps", f"at most {MINUTES:g} (on a GPU)"]
    return Sheet(
        "Training on switching panels", head, [[device, f"{1000 * step:.1f}", f"{minutes:.1f}", within if device != "cpu" else "-"]]
    )


def run(*, quick: bool = False, device: str = "cpu", seconds: float = 10.0) -> list[Sheet]:
    """Measure and lay out."""
    told = explaining(device, seconds=1.0 if quick else seconds)
    return [told, shares(device, repeats=3 if quick else 30), training(device, quick=quick or device == "cpu")]


def main() -> None:
    """Print the sheets, and write the page where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--quick", action="store_true", help="a second a line: to see that it runs, not to quote")
    parser.add_argument("--out", type=Path, help="the page to write")
    told = parser.parse_args()
    sheets = run(quick=told.quick, device=told.device)
    for sheet in sheets:
        sheet.show(Console(width=160))
    if told.out is not None:
        command = f"python benchmarks/image_speed.py --device {told.device}{' --quick' if told.quick else ''} --out {told.out.name}"
        gpu = [f"GPU: {torch.cuda.get_device_name()}"] if told.device == "cuda" else []
        write_bytes(told.out, page(command, [*machine(), *gpu], sheets).encode())


if __name__ == "__main__":
    main()
