"""Files that a failure leaves whole: of bytes, and of tensors with a JSON record (safetensors, no pickle)."""

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
    """An empty file beside a path, which takes the path's place if the block succeeds; folders are made."""
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
    """Write a file beside its place and rename it there; folders are made."""
    with _replacing(path) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def write_atomically(path: Path, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
    """Write tensors and a JSON record into one safetensors file; a failure leaves the old file whole."""
    with _replacing(path) as temporary:
        copies = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
        mode = temporary.stat().st_mode & 0o777  # as the umask says: safetensors would let the owner alone read the file
        save_file(copies, temporary, metadata={"lexplain": json.dumps(record)})
        temporary.chmod(mode)


def read_file(path: Path, file_format: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_atomically` wrote, or say why not."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file at {path}; check the path")
    try:
        with safe_open(path, framework="pt") as stored:
            record = json.loads((stored.metadata() or {}).get("lexplain", "null"))
            if isinstance(record, dict) and record.get("format") == file_format:
                return {name: stored.get_tensor(name) for name in stored.keys()}, record  # noqa: SIM118  a safetensors handle is no dict
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as broken:
        raise ValueError(f"{path} cannot be read as a safetensors file ({broken}); it is damaged or of another program") from None
    found = record.get("format") if isinstance(record, dict) else None
    raise ValueError(f"{path} is a safetensors file, but not one of the kind needed: it says {found!r}, needed is {file_format!r}")


def refuse_other_weights(path: Path, tensors: Mapping[str, Tensor], needed: Mapping[str, Tensor], what: str) -> None:
    """Refuse the tensors of a file whose names or shapes are not those needed."""
    odd = {(name, tuple(value.shape)) for name, value in tensors.items()} ^ {(name, tuple(value.shape)) for name, value in needed.items()}
    if odd:
        raise ValueError(f"the weights in {path} do not fit the {what}: they differ in {sorted(odd)[:4]}; pass the {what} that was saved")
