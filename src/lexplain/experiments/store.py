"""A folder of finished cells. Each is computed once, and its record contains machine, date and revision."""

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
CHECKOUT = Path(__file__).parents[3]  # folder of the repository, if the package is in a checkout
Record = dict[str, Any]  # settings, results and origin of a cell: plain values and arrays
Compute = Callable[[Cell], Mapping[str, Any]]
Shares = Callable[
    [Cell], Iterable[tuple[str, Callable[[], object]]]
]  # from a cell to what it shares with others: names, and functions that train them
Task = TypeVar("Task")
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
    """Compute the cells that are not in the folder yet, and return the records of all finished cells, in the order of the cells.

    A record contains the cell's `key` and settings, its results, `machine`, `date`, `revision` and `commit`, and `fresh`: whether it has
    the current revision. A record without a revision has revision 0. After an interruption (Ctrl-C), the finished cells are returned, and
    the same call resumes with the others. A record with an "error" is returned but not stored, so that its cell is computed again.

    Args:
        cells: Requested cells. Cells with the same key count as one.
        compute: Function from a cell to its results: plain values, and arrays, which are stored in a separate file. With several processes,
            it must be a function of a module.
        folder: Folder of the records.
        revision: Revision of the code that computes the cells. It is raised when their numbers change.
        workers: Number of processes. With several, what cells share is trained first, so that it is trained only once.
        recompute: Recompute cells of another revision.
        render_only: Compute no cells.
        shares: Function from a cell to what it shares with others, such as an evaluator. Each name is trained once.
    """
    folder.mkdir(parents=True, exist_ok=True)
    requested = {cell.key: cell for cell in cells}
    done = {key: record for key in requested if (record := read_cell(folder, key, revision)) is not None}
    missing = [cell for key, cell in requested.items() if key not in done or (recompute and not done[key]["fresh"])]
    if missing and not render_only:
        with _processes(workers) as pool:
            ready = pool is None or shares is None or _trained(missing, shares, pool)
            recorded = partial(_recorded, compute, revision)
            for cell, record in _finished(missing if ready else [], recorded, pool=pool, before=len(requested) - len(missing)):
                if "error" not in record:
                    _write(folder, record)
                done[cell.key] = {**record, "fresh": True}
    return [done[key] for key in requested if key in done]


def read_cell(folder: Path, key: str, revision: int) -> Record | None:
    """The record of a finished cell. None if it is missing or incomplete."""
    path = folder / f"{key}.json"
    try:
        record = json.loads(path.read_text())
        arrays = {}
        if record.pop("arrays", []):
            with path.with_suffix(".npz").open("rb") as file, np.load(file) as content:
                arrays = dict(content)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    return {**record, **arrays, "key": key, "fresh": record.get("revision", 0) == revision}


def _write(folder: Path, record: Record) -> None:
    """Write a record. The JSON file comes last: if it exists, the record is complete."""
    arrays = {name: value for name, value in record.items() if isinstance(value, np.ndarray)}
    path = folder / f"{record['key']}.json"
    if arrays:
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # numpy's stubs confuse array names with options
        write_bytes(path.with_suffix(".npz"), content.getvalue())
        record = {**{name: value for name, value in record.items() if name not in arrays}, "arrays": sorted(arrays)}
    write_bytes(path, json.dumps(record, indent=1).encode())


def _recorded(compute: Compute, revision: int, cell: Cell) -> Record:
    where = {"machine": machine(), "date": date.today().isoformat(), "revision": revision, "commit": commit()}
    return {"key": cell.key, **cell.facts(), **compute(cell), **where}


# ---- run tasks in one or several processes ----


def _trained(missing: Sequence[Cell], shares: Shares, pool: Executor) -> bool:
    """Train what cells share. False if it was interrupted."""
    tasks = list({name: train for cell in missing for name, train in shares(cell)}.values())
    return len(list(_finished(tasks, _tried, pool=pool, label="evaluators"))) == len(tasks)


def _tried(train: Callable[[], object]) -> None:
    """Train what cells share. If that fails, the cells that need it record the error."""
    with suppress(Exception):
        train()


def _finished(
    tasks: Sequence[Task], compute: Callable[[Task], Result], *, pool: Executor | None, before: int = 0, label: str = "cells"
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, as soon as it is finished. An interruption (Ctrl-C) stops without an error."""
    # Trainings in this process show their own bars, so this bar is refreshed only when a cell is finished.
    with bars(lambda speed, _: f"{60 * speed:.1f} cells/min", elapsed=True, auto_refresh=pool is not None) as progress:
        bar = progress.add_task(label, total=before + len(tasks), completed=before)
        try:
            for task, result in _computed(tasks, compute, pool):
                progress.update(bar, advance=1, refresh=True)
                yield task, result
        except KeyboardInterrupt:
            log.warning("Interrupted. Finished cells are kept in the store, if there is one; run the same call again to resume")


def _computed(tasks: Sequence[Task], compute: Callable[[Task], Result], pool: Executor | None) -> Iterator[tuple[Task, Result]]:
    if pool is None:
        for task in tasks:
            yield task, compute(task)
        return
    waiting = {pool.submit(compute, task): task for task in tasks}
    for future in as_completed(waiting):
        yield waiting[future], future.result()


@contextmanager
def _processes(workers: int) -> Iterator[Executor | None]:
    """A pool of processes with one thread each, because more threads compete for the same cores. None for one worker."""
    if workers == 1:
        yield None
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


# ---- origin of a record ----


@lru_cache(maxsize=1)
def machine() -> str:
    """Processor, cores and GPU of this machine, and the version of torch."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    name = next(models, platform.processor() or platform.machine())
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{name}, {os.cpu_count()} cores{gpu}, torch {torch.__version__}"


@lru_cache(maxsize=1)
def commit() -> str:
    """The commit of the checkout, marked as dirty if files have changed. Without a checkout, the version."""
    if (CHECKOUT / ".git").exists():
        command = ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty"]
        with suppress(OSError, subprocess.CalledProcessError):
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603  no part comes from a user
    return __version__
