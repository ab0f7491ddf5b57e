"""The folder of downloaded data sets: paths, checksums and downloads."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path


def folder() -> Path:
    """The data folder: the environment variable LEXPLAIN_DATA, otherwise the user's cache."""
    if given := os.environ.get("LEXPLAIN_DATA"):
        return Path(given).expanduser()
    import pooch  # imported here, since most data sets need no download

    return Path(pooch.os_cache("lexplain"))


@dataclass(frozen=True)
class Download:
    """A gzip file on the web, with its checksum."""

    address: str
    sha256: str  # of the compressed file

    def fetch(self, path: Path) -> None:
        """Download it to `path`. If that fails, write nothing and raise an error that explains how to do it by hand."""
        import pooch

        try:  # pooch writes under a temporary name, compares, then renames
            pooch.retrieve(self.address, f"sha256:{self.sha256}", fname=path.name, path=path.parent)
        except (OSError, ValueError) as failed:  # no network, page not found, no space, no permission, or wrong content
            why = str(failed).strip().split("\n")[0][:200] or type(failed).__name__
            raise FileNotFoundError(
                f"File not found: {path}, and {self.address} could not be downloaded ({why}). Put that file there by hand, "
                "or set LEXPLAIN_DATA to your data folder."
            ) from None


@dataclass(frozen=True)
class File:
    """A file of a data set, identified by its content; it may be compressed with gzip."""

    path: str  # in the data folder; with .gz appended if it is compressed
    sha256: str  # of the uncompressed content
    origin: str  # where it is published
    download: Download | None = None  # if it is missing; None: the user must put it there
    prepared: bool = False  # made from data at the origin, which is published in another form

    def read(self) -> bytes:
        """Return the content; raise if it is not the expected one."""
        plain = folder() / self.path
        packed = plain.with_name(plain.name + ".gz")
        if self.download is not None and not packed.is_file() and not plain.is_file():
            self.download.fetch(packed)
        try:
            content = gzip.decompress(packed.read_bytes()) if packed.is_file() else self._require(plain).read_bytes()
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise ValueError(
                f"{packed} is damaged, or not compressed with gzip. Replace it, or put the uncompressed file there without .gz."
            ) from None
        got = hashlib.sha256(content).hexdigest()
        if got != self.sha256:
            path = packed if packed.is_file() else plain
            raise ValueError(f"{path} has the wrong content: sha256 {got}, expected {self.sha256}. Download it again from {self.origin}.")
        return content

    def _require(self, path: Path) -> Path:
        """Return a path; if no file is there, raise an error that explains where to get it."""
        if not path.is_file():
            hint = f"It was prepared from {self.origin} and is not published itself: put a copy of it there" if self.prepared else ""
            hint = hint or f"Download {path.name} from {self.origin} and put it there"
            raise FileNotFoundError(f"File not found: {path} (or {path}.gz). {hint}, or set LEXPLAIN_DATA to your data folder.")
        return path


def require_known_format(good: bool, file: str, why: str) -> None:
    """Check that a file has the expected format."""
    if not good:
        raise ValueError(f"{file} cannot be read: {why}. Put the original file of the data set there.")
