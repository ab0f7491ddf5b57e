"""What a training step of the default method costs beside the bare passes and optimiser steps of the same networks.

    python benchmarks/train_step.py [--device cpu|cuda] [--quick]

The promise: at most 1.5 times as long, on the same number of rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from lightning_fabric import Fabric
from measure import Sheet
from rich.console import Console
from torch import Tensor, nn

import lexplain as lx
from lexplain.core import Batch, as_target
from lexplain.features import Columns
from lexplain.imputers import Marginal
from lexplain.methods import Parts, Phase, gains
from lexplain.models import from_labels
from lexplain.training import Settings, fit

RATIO = 1.5
ROWS, BATCH = 10_000, 1000
EPOCHS = 20


def bare(network: nn.Module, x: Tensor, outputs: int, batch: int, epochs: int) -> Callable[[], None]:
    """Forward, backward and optimiser step of a network on as many rows, with the plainest loss."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-5, fused=True)
    goal = torch.zeros(batch, outputs, device=x.device)

    def loop() -> None:
        network.train().requires_grad_(True)
        for _ in range(epochs):
            for start in range(0, len(x), batch):
                rows = x[start : start + batch]
                optimiser.zero_grad(set_to_none=True)
                nn.functional.mse_loss(network(rows), goal[: len(rows)]).backward()
                optimiser.step()

    return loop


def seconds(work: Callable[[], None], device: str) -> float:
    """How long a piece of work takes, once warm."""
    if device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def run(*, quick: bool, device: str = "cpu") -> list[Sheet]:
    """One row a phase: the loop's milliseconds a step, the bare network's, and their ratio."""
    data = lx.load_data("s3", rows=ROWS, seed=0)
    features = Columns().fit(data.train.x)
    target = from_labels(data.train.y)
    rows = Batch(features.encode(data.train.x).x, as_target(target.values, target.outputs.real))
    validation, fabric = rows.take(slice(0, 10)), Fabric(accelerator=device, devices=1)
    method = gains(features, target.outputs, Parts(imputer=Marginal.fit(rows.x))).to(device)
    first, regress, later, *_ = method.phases()
    epochs, lines = 2 if quick else EPOCHS, []
    goals = rows.to(device)
    nothing = lambda batch, _: torch.zeros(len(batch), features.count, device=batch.x.device)  # noqa: E731
    known = {"predictor, every feature": first, "selector": regress, "predictor, what is kept": later}
    for name, phase in known.items():
        ready = Phase(phase.name, phase.steps, 1.0, make_aux_targets=nothing)  # goals are measured once a phase, not in the step
        network = method.selector.network if name == "selector" else method.predictor.network
        width = features.count if name == "selector" else target.outputs.count

        def whole(phase: Phase = ready) -> None:
            fit(method, [phase], goals, validation, Settings(epochs=epochs), fabric=fabric)

        plain = bare(network, goals.x, width, BATCH, epochs)
        times = [(seconds(whole, device), seconds(plain, device)) for _ in range(2 if quick else 5)][1:]  # the first is to warm up
        step = 1000 / (epochs * ROWS / BATCH)
        ours, theirs = (sorted(one)[len(one) // 2] * step for one in zip(*times, strict=True))
        lines.append([name, f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}", "yes" if ours <= RATIO * theirs else "NO"])
    head = ["step", "ms", "bare ms", "ratio", f"at most {RATIO}"]
    return [Sheet(f"A training step of the default method, {BATCH} rows, {device}, {torch.get_num_threads()} threads", head, lines)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--quick", action="store_true")
    told = parser.parse_args()
    for sheet in run(quick=told.quick, device=told.device):
        sheet.show(Console(width=160))
