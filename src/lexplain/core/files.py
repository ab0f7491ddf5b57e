"""Writing a file so that a failure leaves the old one whole."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file beside its place and rename it there; folders are made."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, place)
    finally:
        temporary.unlink(missing_ok=True)
    return place
