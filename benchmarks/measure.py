"""What every benchmark shares: calls timed in turn, a sheet of results, and the machine they ran on."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import lexplain

Call = Callable[[int], Any]  # takes the number of the repeat, so that it can bring other rows each time


@dataclass(frozen=True)
class Times:
    """Seconds (repeats,) that a call took."""

    wall: np.ndarray
    cpu: np.ndarray  # of all this process's threads: it knows no waiting for a core that others hold

    @property
    def ms(self) -> float:
        """The median wall time in milliseconds."""
        return float(np.median(self.wall)) * 1e3


def interleaved(calls: Mapping[str, Call], repeats: int, *, seconds: float, fewest: int = 5, warmup: int = 3) -> dict[str, Times]:
    """Time each call, all of them once a repeat, so that a busy spell of the machine strikes all alike.

    Each repeat starts with another call: none is always the one after a certain other.

    Args:
        calls: what to time, by name.
        repeats: how often, at most.
        seconds: after which no repeat is begun, if there are the fewest.
        fewest: how often, at least.
        warmup: repeats that are not counted.
    """
    names = list(calls)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    end = time.perf_counter() + seconds
    for repeat in range(-warmup, repeats):
        if repeat >= fewest and time.perf_counter() > end:
            break
        shift = repeat % len(names)
        for name in names[shift:] + names[:shift]:
            wall, cpu = time.perf_counter(), time.process_time()
            calls[name](repeat)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            if repeat >= 0:
                took[name].append((wall, cpu))
    return {name: Times(*np.array(pairs).T) for name, pairs in took.items()}


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch use so many threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class Sheet:
    """A table of results, for a terminal and for a page."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def show(self, console: Console) -> None:
        """Print it."""
        table = Table(title=self.title, title_justify="left")
        for place, heading in enumerate(self.headings):
            table.add_column(heading, justify="left" if place == 0 else "right")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)
        for note in self.notes:
            console.print(f"  {note}", highlight=False)
        console.print()

    def markdown(self) -> str:
        """It as Markdown."""
        lines = [f"## {self.title}", "", _line(self.headings), _line(["---", *["---:"] * (len(self.headings) - 1)])]
        lines += [_line(row) for row in self.rows]
        lines += ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def machine() -> list[str]:
    """The machine, the packages and the day, one a line."""
    busy = f"{os.getloadavg()[0]:.1f} processes wanted a core when it began" if hasattr(os, "getloadavg") else "load unknown"
    there = [name for name in ("torch", "numpy", "lime", "shap") if find_spec(name) is not None]
    packages = ", ".join([f"lexplain {lexplain.__version__}", *(f"{name} {version(name)}" for name in there)])
    return [
        f"{cpu_model()}, {os.cpu_count()} cores ({busy})",
        f"torch uses {torch.get_num_threads()} threads where a table does not say otherwise",
        f"{platform.system()}, Python {platform.python_version()}, {packages}",
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC",
    ]


def cpu_model() -> str:
    """What the processor calls itself."""
    told = Path("/proc/cpuinfo")
    if told.is_file():
        for line in told.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
