"""Tasks one after the other or in several processes, with a bar, until they are done or somebody stops them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import torch

from ..bars import bars
from ..core.files import write_bytes

log = logging.getLogger("lexplain")
Given = TypeVar("Given")
Result = TypeVar("Result")


def finished(
    tasks: Sequence[Given], compute: Callable[[Given], Result], *, pool: Executor | None = None, before: int = 0, label: str = "cells"
) -> Iterator[tuple[Given, Result]]:
    """Each task with its result, as soon as it is there; an interruption (Ctrl-C) ends them early, without an error.

    Args:
        tasks: what to compute.
        compute: a task to its result; of a module, where other processes compute it.
        pool: of processes; None: all is computed in this one.
        before: tasks that were done earlier, for the bar.
        label: what the bar calls them.
    """
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
def processes(workers: int) -> Iterator[Executor | None]:
    """A pool of so many processes of one thread each, for more would only wait for each other; None for one worker."""
    if workers == 1:
        yield None
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record so that it is there whole or not at all."""
    write_bytes(path, json.dumps(record, indent=1).encode())
