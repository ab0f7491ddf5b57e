"""One folder for the files of data sets: where they lie, and whether they hold what they should."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from lexplain import check


def folder() -> Path:
    """Where files are looked for: the environment variable LEXPLAIN_DATA, else the user's cache."""
    if given := os.environ.get("LEXPLAIN_DATA"):
        return Path(given)
    import pooch  # only here: built-in data sets need no cache

    return Path(pooch.os_cache("lexplain"))


@dataclass(frozen=True)
class File:
    """A file of a data set, told by what it holds, as it was published or compressed with gzip."""

    path: str  # in the folder; compressed, its name ends in .gz
    sha256: str  # of its content, so that it does not matter who compressed it
    origin: str  # where it is published

    def read(self) -> bytes:
        """The content, which is refused if it is not the expected one."""
        plain = folder() / self.path
        packed = plain.with_name(plain.name + ".gz")
        content = _unpacked(packed) if packed.is_file() else check.data_file_there(plain, self.origin).read_bytes()
        check.same_content(packed if packed.is_file() else plain, hashlib.sha256(content).hexdigest(), self.sha256, self.origin)
        return content


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(f"{path} is damaged, or not compressed with gzip; put it there anew, or without .gz as it was published") from None
