import gzip
import hashlib
from pathlib import Path

import pooch
import pytest

from lexplain.data.cache import File, folder

CONTENT = b"a,b\n1,2\n"
FILE = File("tabular/few.csv", hashlib.sha256(CONTENT).hexdigest(), "https://example.org/few")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXPLAIN_DATA", str(tmp_path))
    (tmp_path / "tabular").mkdir()
    return tmp_path / "tabular"


def test_the_folder_is_the_variable_s_else_the_user_s_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LEXPLAIN_DATA", str(tmp_path))
    assert folder() == tmp_path
    for unset in (lambda: monkeypatch.setenv("LEXPLAIN_DATA", ""), lambda: monkeypatch.delenv("LEXPLAIN_DATA")):
        unset()
        assert folder().name == "lexplain"
        assert folder() == Path(pooch.os_cache("lexplain"))


def test_a_file_is_read_as_published_or_compressed_by_anyone(cache):
    (cache / "few.csv").write_bytes(CONTENT)
    assert FILE.read() == CONTENT
    (cache / "few.csv").unlink()
    for level in (1, 9):
        (cache / "few.csv.gz").write_bytes(gzip.compress(CONTENT, level))
        assert FILE.read() == CONTENT


def test_a_missing_file_says_where_it_goes_and_where_it_comes_from(cache):
    with pytest.raises(FileNotFoundError) as refusal:
        FILE.read()
    for word in (str(cache / "few.csv"), "few.csv.gz", "https://example.org/few", "LEXPLAIN_DATA"):
        assert word in str(refusal.value)


@pytest.mark.parametrize("name", ["few.csv", "few.csv.gz"])
def test_another_content_is_refused(cache, name):
    other = CONTENT + b"3,4\n"
    (cache / name).write_bytes(gzip.compress(other) if name.endswith("gz") else other)
    with pytest.raises(ValueError, match=rf"{name} is not the file it should be: its sha256 is \w+, but {FILE.sha256} is needed"):
        FILE.read()


@pytest.mark.parametrize("content", [b"", b"no gzip", gzip.compress(CONTENT)[:-9]], ids=["empty", "no gzip", "cut short"])
def test_a_damaged_file_is_refused(cache, content):
    (cache / "few.csv.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"is damaged, or not compressed|is not the file it should be"):
        FILE.read()
