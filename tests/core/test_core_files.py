"""Writing files."""

import pytest

from lexplain.core.files import write_bytes


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = write_bytes(tmp_path / "new" / "page.html", "ä".encode())
    assert path.read_text(encoding="utf-8") == "ä"

    def full(*args):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space"):
        write_bytes(path, b"other")
    assert path.read_text(encoding="utf-8") == "ä"
    assert list(path.parent.iterdir()) == [path]
