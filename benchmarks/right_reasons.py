"""How much longer a training step with the "right for the right reasons" penalty takes than a plain step of the same network.

    python benchmarks/right_reasons.py [--device cpu|cuda] [--quick]

The target: at most 3 times as long where every row is annotated; rows without annotation need no second derivative.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise

import torch
from measure import Sheet, interleaved
from rich.console import Console
from torch import Tensor, nn

from lexplain.right_reasons import right_reasons_loss

RATIO = 3.0
BATCH = 256
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "50, 30 (the paper's)": (lambda: _dense(784, 50, 30, 10), (784,)),
    "512, 512": (lambda: _dense(784, 512, 512, 10), (784,)),
    "two convolutions": (lambda: _convolutions(), (1, 28, 28)),
}


def _dense(*sizes: int) -> nn.Module:
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _convolutions() -> nn.Module:
    body = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*body, nn.Flatten(), nn.Linear(32 * 49, 10))


def step(make: Callable[[], nn.Module], x: Tensor, share: float) -> Callable[[int], None]:
    """A training step with a share of the rows annotated."""
    network = make().to(x.device)
    optimiser = torch.optim.Adam(network.parameters(), fused=True)
    y = torch.arange(len(x), device=x.device) % 10
    mask = torch.zeros(x.shape, dtype=torch.bool, device=x.device)
    mask.view(len(x), -1)[: round(share * len(x)), :16] = True
    marks = mask if share else None

    def once(_: int) -> None:
        optimiser.zero_grad(set_to_none=True)
        right_reasons_loss(network, x, y, marks, strength=1.0).backward()
        optimiser.step()
        if x.is_cuda:
            torch.cuda.synchronize()

    return once


def run(*, quick: bool, device: str = "cpu") -> list[Sheet]:
    """One line a network: a plain step, and one with all or a tenth of the rows annotated."""
    lines = []
    for name, (make, shape) in NETWORKS.items():
        x = torch.rand(BATCH, *shape, device=device)
        calls = {label: step(make, x, share) for label, share in (("plain", 0.0), ("all", 1.0), ("tenth", 0.1))}
        times = interleaved(calls, 20 if quick else 200, seconds=1 if quick else 10)
        plain, every, tenth = (times[label].ms for label in ("plain", "all", "tenth"))
        kept = "yes" if every <= RATIO * plain else "NO"
        lines.append([name, f"{plain:.2f}", f"{every:.2f}", f"{every / plain:.2f}", f"{tenth / plain:.2f}", kept])
    head = ["network", "plain ms", "all annotated ms", "ratio", "ratio, a tenth", f"at most {RATIO:g}"]
    return [Sheet(f"A step with the right-reasons penalty, {BATCH} rows, {device}, {torch.get_num_threads()} threads", head, lines)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    for sheet in run(quick=arguments.quick, device=arguments.device):
        sheet.show(Console(width=160))
