"""A folder of finished cells: each is computed once, and its record says by which machine, when, and by which revision."""

from __future__ import annotations

import io
import json
import logging
import os
import platform
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from datetime import date
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from .. import __version__
from ..bars import bars
from ..core.files import write_bytes
from .cell import Cell

log = logging.getLogger("lexplain")
CHECKOUT = Path(__file__).parents[3]  # where the package lies in a checkout of its repository
Record = dict[str, Any]  # what a cell is, what came out of it, and where that comes from: plain values, and arrays
Compute = Callable[[Cell], Mapping[str, Any]]
Shares = Callable[[Cell], Iterable[tuple[str, Callable[[], object]]]]  # a cell to what it shares with others: names, and what trains them
Given = TypeVar("Given")
Result = TypeVar("Result")


def run_cells(
    cells: Sequence[Cell],
    compute: Compute,
    folder: Path,
    *,
    revision: int,
    workers: int = 1,
    recompute: bool = False,
    render_only: bool = False,
    shares: Shares | None = None,
) -> list[Record]:
    """Compute the cells that are not in the folder yet, and return the records of all that are finished, in the order of the cells.

    A record holds the cell's `key` and facts, what was computed, `machine`, `date`, `revision` and `commit`; and `fresh`, which says
    whether it is of the present revision. A record without a revision is of revision 0. An interruption (Ctrl-C) leaves the finished ones,
    which are returned; the same call goes on with the rest. A record with an "error" is returned, but not kept, so that it is tried again.

    Args:
        cells: what is asked for; those of one key are one cell.
        compute: a cell to what came out: plain values, and arrays, which lie in a file of their own; of a module, where other processes
            compute it.
        folder: where the records lie.
        revision: of what computes the cells: raised when its numbers change.
        workers: processes. With several, what cells share is trained first, so that no two train the same.
        recompute: compute cells anew that are of another revision.
        render_only: compute nothing.
        shares: what a cell shares with others, such as an evaluator; each name is trained once.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked = {cell.key: cell for cell in cells}
    done = {key: record for key in asked if (record := read_cell(folder, key, revision)) is not None}
    missing = [cell for key, cell in asked.items() if key not in done or (recompute and not done[key]["fresh"])]
    if missing and not render_only:
        with _processes(workers) as pool:
            ready = pool is None or shares is None or _trained(missing, shares, pool)
            recorded = partial(_recorded, compute, revision)
            for cell, record in _finished(missing if ready else [], recorded, pool=pool, before=len(asked) - len(missing)):
                if "error" not in record:
                    _write(folder, record)
                done[cell.key] = {**record, "fresh": True}
    return [done[key] for key in asked if key in done]


def read_cell(folder: Path, key: str, revision: int) -> Record | None:
    """The record of a finished cell, or None where it is not there whole."""
    path = folder / f"{key}.json"
    try:
        record = json.loads(path.read_text())
        arrays = {}
        if record.pop("arrays", []):
            with path.with_suffix(".npz").open("rb") as file, np.load(file) as kept:
                arrays = dict(kept)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    return {**record, **arrays, "key": key, "fresh": record.get("revision", 0) == revision}


def _write(folder: Path, record: Record) -> None:
    """Keep a record; its JSON comes last, and says that all is there."""
    arrays = {name: value for name, value in record.items() if isinstance(value, np.ndarray)}
    path = folder / f"{record['key']}.json"
    if arrays:
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # numpy's stubs take the names for options
        write_bytes(path.with_suffix(".npz"), content.getvalue())
        record = {**{name: value for name, value in record.items() if name not in arrays}, "arrays": sorted(arrays)}
    write_bytes(path, json.dumps(record, indent=1).encode())


def _recorded(compute: Compute, revision: int, cell: Cell) -> Record:
    where = {"machine": machine(), "date": date.today().isoformat(), "revision": revision, "commit": commit()}
    return {"key": cell.key, **cell.facts(), **compute(cell), **where}


# ---- tasks, one after the other or in several processes ----


def _trained(missing: Sequence[Cell], shares: Shares, pool: Executor) -> bool:
    """Train what cells share; False: it was stopped."""
    tasks = list({name: train for cell in missing for name, train in shares(cell)}.values())
    return len(list(_finished(tasks, _tried, pool=pool, label="judges"))) == len(tasks)


def _tried(train: Callable[[], object]) -> None:
    """Train something; where that fails, the cells that need it say so."""
    with suppress(Exception):
        train()


def _finished(
    tasks: Sequence[Given], compute: Callable[[Given], Result], *, pool: Executor | None, before: int = 0, label: str = "cells"
) -> Iterator[tuple[Given, Result]]:
    """Each task with its result, as soon as it is there; an interruption (Ctrl-C) ends them early, without an error."""
    # Trainings draw bars of their own in this process: ours is drawn anew when a cell is done, not in between.
    with bars(lambda speed, _: f"{60 * speed:.1f} cells/min", elapsed=True, auto_refresh=pool is not None) as progress:
        bar = progress.add_task(label, total=before + len(tasks), completed=before)
        try:
            for task, result in _computed(tasks, compute, pool):
                progress.update(bar, advance=1, refresh=True)
                yield task, result
        except KeyboardInterrupt:
            log.warning("interrupted: what is finished is kept; the same call goes on with the rest where it has a folder to keep it in")


def _computed(tasks: Sequence[Given], compute: Callable[[Given], Result], pool: Executor | None) -> Iterator[tuple[Given, Result]]:
    if pool is None:
        for task in tasks:
            yield task, compute(task)
        return
    waiting = {pool.submit(compute, task): task for task in tasks}
    for future in as_completed(waiting):
        yield waiting[future], future.result()


@contextmanager
def _processes(workers: int) -> Iterator[Executor | None]:
    """A pool of so many processes of one thread each, for more would only wait for each other; None for one worker."""
    if workers == 1:
        yield None
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


# ---- where a record comes from ----


@lru_cache(maxsize=1)
def machine() -> str:
    """What this machine is, in a few words."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    name = next(models, platform.processor() or platform.machine())
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{name}, {os.cpu_count()} cores{gpu}, torch {torch.__version__}"


@lru_cache(maxsize=1)
def commit() -> str:
    """The commit of the checkout that runs, marked where files have changed since; without a checkout, the version."""
    if (CHECKOUT / ".git").exists():
        command = ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty"]
        with suppress(OSError, subprocess.CalledProcessError):
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603  no word of it is a user's
    return __version__
