"""Files that are written atomically: bytes, and tensors with a JSON record (safetensors, no pickle)."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor


@contextmanager
def _replacing(path: str | Path) -> Iterator[Path]:
    """An empty file in the same folder, which replaces `path` if the block succeeds; folders are created."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        os.replace(temporary, place)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file under a temporary name and rename it; folders are created."""
    with _replacing(path) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def write_atomically(path: Path, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
    """Write tensors and a JSON record to one safetensors file; if it fails, the old file is unchanged."""
    with _replacing(path) as temporary:
        copies = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
        mode = temporary.stat().st_mode & 0o777  # that of the umask: safetensors makes files that only the owner can read
        save_file(copies, temporary, metadata={"lexplain": json.dumps(record)})
        temporary.chmod(mode)


def read_file(path: Path, file_format: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a file of `write_atomically`; raises for other files."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"File not found: {path}. Check the path.")
    try:
        with safe_open(path, framework="pt") as stored:
            record = json.loads((stored.metadata() or {}).get("lexplain", "null"))
            if isinstance(record, dict) and record.get("format") == file_format:
                return {name: stored.get_tensor(name) for name in stored.keys()}, record  # noqa: SIM118  a safetensors handle is not a dict
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as broken:
        raise ValueError(
            f"{path} cannot be read as a safetensors file ({broken}). It is damaged or was written by another program."
        ) from None
    got = record.get("format") if isinstance(record, dict) else None
    raise ValueError(f"{path} is a safetensors file of the wrong format: got {got!r}, expected {file_format!r}.")


def refuse_other_weights(path: Path, tensors: Mapping[str, Tensor], needed: Mapping[str, Tensor], what: str) -> None:
    """Check that the tensors of a file have the expected names and shapes."""
    differ = {(name, tuple(value.shape)) for name, value in tensors.items()} ^ {
        (name, tuple(value.shape)) for name, value in needed.items()
    }
    if differ:
        raise ValueError(f"The weights in {path} do not fit the {what}: {sorted(differ)[:4]} differ. Pass the {what} that was saved.")
