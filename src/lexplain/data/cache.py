"""One folder for the files of data sets: where they lie, whether they hold what they should, and the one downloader."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path


def folder() -> Path:
    """Where files are looked for: the environment variable LEXPLAIN_DATA, else the user's cache."""
    if given := os.environ.get("LEXPLAIN_DATA"):
        return Path(given).expanduser()
    import pooch  # only here: built-in data sets need no cache

    return Path(pooch.os_cache("lexplain"))


@dataclass(frozen=True)
class Download:
    """A file on the web that is compressed with gzip: its address, and what it must be."""

    address: str
    sha256: str  # of the compressed file, as it comes

    def fetch(self, path: Path) -> None:
        """Put it at `path`, whole and as published, or leave nothing there and say what to do by hand."""
        import pooch

        try:  # pooch writes under a temporary name, compares, then renames
            pooch.retrieve(self.address, f"sha256:{self.sha256}", fname=path.name, path=path.parent)
        except (OSError, ValueError) as failed:  # no network, no such page, no room, no right to write, or another file
            why = str(failed).strip().split("\n")[0][:200] or type(failed).__name__
            raise FileNotFoundError(
                f"no file at {path}, and {self.address} could not be fetched ({why}); put that file there by hand, "
                "or set LEXPLAIN_DATA to the folder that your data sets lie in"
            ) from None


@dataclass(frozen=True)
class File:
    """A file of a data set, told by what it holds, as it was published or compressed with gzip."""

    path: str  # in the folder; compressed, its name ends in .gz
    sha256: str  # of its content, so that it does not matter who compressed it
    origin: str  # where it is published
    download: Download | None = None  # where it is fetched from when it is missing; None: somebody must put it there
    prepared: bool = False  # made from what lies at the origin, where it is not found as it is

    def read(self) -> bytes:
        """The content, which is refused if it is not the expected one."""
        plain = folder() / self.path
        packed = plain.with_name(plain.name + ".gz")
        if self.download is not None and not packed.is_file() and not plain.is_file():
            self.download.fetch(packed)
        try:
            content = gzip.decompress(packed.read_bytes()) if packed.is_file() else self._checked_there(plain).read_bytes()
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise ValueError(
                f"{packed} is damaged, or not compressed with gzip; put it there anew, or without .gz as it was published"
            ) from None
        got = hashlib.sha256(content).hexdigest()
        if got != self.sha256:
            path = packed if packed.is_file() else plain
            raise ValueError(
                f"{path} is not the file it should be: its sha256 is {got}, but {self.sha256} is needed; get it anew from {self.origin}"
            )
        return content

    def _checked_there(self, path: Path) -> Path:
        """Refuse a data set whose file has not been put into the cache, and say where it goes and where it comes from."""
        if not path.is_file():
            way = f"it was prepared from {self.origin}, and is not published itself: put a copy of it there" if self.prepared else ""
            way = way or f"get {path.name} from {self.origin} and put it there"
            raise FileNotFoundError(
                f"no file at {path}, nor at {path}.gz; {way}, or set LEXPLAIN_DATA to the folder that your data sets lie in"
            )
        return path


def require_known_format(good: bool, file: str, why: str) -> None:
    """Refuse a file whose content is not of the form it should have."""
    if not good:
        raise ValueError(f"{file} is not understood: {why}; put the file there that the data set was made of")
