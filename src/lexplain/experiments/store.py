"""A folder of finished cells: each is computed once, and its record says by which machine, when, and by which code."""

from __future__ import annotations

import io
import json
import os
import platform
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch

from ..core.files import write_bytes
from .running import finished, processes, write_json

Record = dict[str, Any]  # what a cell is, what came out of it, and where that comes from: plain values, and arrays


class StoredCell(Protocol):
    """Something to compute that has a name of its own."""

    @property
    def key(self) -> str:
        """A name that the same cell always has, and no other: that of its file."""

    def facts(self) -> Record:
        """What it is, in plain values, to stand at the head of its record."""


AnyCell = TypeVar("AnyCell", bound=StoredCell)
Prepare = Callable[[Sequence[AnyCell], Executor | None], bool]


def run_cells(
    cells: Sequence[AnyCell],
    compute: Callable[[AnyCell], Mapping[str, Any]],
    folder: Path,
    *,
    code: str,
    workers: int = 1,
    again: bool = False,
    only_read: bool = False,
    prepare: Prepare[AnyCell] | None = None,
) -> list[Record]:
    """Compute the cells that are not in the folder yet, and return the records of all that are finished, in the order of the cells.

    A record holds the cell's `key` and facts, what was computed, `machine`, `date` and `code`; and `fresh`, which says whether it is of the
    present code. An interruption (Ctrl-C) leaves the finished ones, which are returned; the same call goes on with the rest. What has an
    "error" is returned, but not kept, so that it is tried again.

    Args:
        cells: what is asked for.
        compute: a cell to what came out: plain values, and arrays, which lie in a file of their own; of a module, where other processes
            compute it.
        folder: where the records lie.
        code: the digest of the present code (`code_digest`).
        workers: processes.
        again: compute cells anew that are of other code.
        only_read: compute nothing.
        prepare: done first with the cells that will be computed and the pool of processes, such as training what they share; where it
            returns False, nothing is computed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = {cell.key: record for cell in cells if (record := read_cell(folder, cell.key, code)) is not None}
    missing = [cell for cell in cells if cell.key not in done or (again and not done[cell.key]["fresh"])]
    if missing and not only_read:
        with processes(workers) as pool:
            wanted = missing if prepare is None or prepare(missing, pool) else []
            for cell, record in finished(wanted, partial(_recorded, compute), pool=pool, before=len(cells) - len(missing)):
                record["code"] = code
                if "error" not in record:
                    _write(folder, record)
                done[cell.key] = {**record, "fresh": True}
    return [done[cell.key] for cell in cells if cell.key in done]


def read_cell(folder: Path, key: str, code: str) -> Record | None:
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
    known = record.get("code")
    return {**record, **arrays, "key": key, "code": known, "fresh": known == code}


def _write(folder: Path, record: Record) -> None:
    """Keep a record; its JSON comes last, and says that all is there."""
    arrays = {name: value for name, value in record.items() if isinstance(value, np.ndarray)}
    path = folder / f"{record['key']}.json"
    if arrays:
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # numpy's stubs take the names for options
        write_bytes(path.with_suffix(".npz"), content.getvalue())
        record = {**{name: value for name, value in record.items() if name not in arrays}, "arrays": sorted(arrays)}
    write_json(path, record)


def _recorded(compute: Callable[[AnyCell], Mapping[str, Any]], cell: AnyCell) -> Record:
    return {"key": cell.key, **cell.facts(), **compute(cell), "machine": machine(), "date": date.today().isoformat()}


@lru_cache(maxsize=1)
def machine() -> str:
    """What this machine is, in a few words."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        name = models[0] if models else name
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{name}, {os.cpu_count()} cores{gpu}, torch {torch.__version__}"
