import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import pooch
import pytest

from lexplain.data.cache import Download, File, folder

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
    monkeypatch.setenv("LEXPLAIN_DATA", "~/data")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder() == tmp_path / "data"
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
    with pytest.raises(ValueError, match=rf"{name} .*sha256 \w+, expected {FILE.sha256}"):
        FILE.read()


@pytest.mark.parametrize("content", [b"", b"no gzip", gzip.compress(CONTENT)[:-9]], ids=["empty", "no gzip", "cut short"])
def test_a_damaged_file_is_refused(cache, content):
    (cache / "few.csv.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged|sha256"):
        FILE.read()


# ---- downloads ----

PACKED = gzip.compress(CONTENT)
AT = "https://example.org/few.csv.gz"
FETCHED = replace(FILE, download=Download(AT, hashlib.sha256(PACKED).hexdigest()))


@pytest.fixture
def web(monkeypatch):
    """A web that answers every address with the same bytes, and keeps what it was asked; these can be changed."""
    answers = {"content": PACKED, "asked": []}

    def serve(self, url, output_file, pooch, check_only=False):
        answers["asked"].append((url, Path(output_file)))
        Path(output_file).write_bytes(answers["content"])

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", serve)
    return answers


def test_a_missing_file_is_fetched_once_under_another_name_first(cache, web):
    (cache).rmdir()  # the folder is made too
    assert FETCHED.read() == CONTENT
    assert FETCHED.read() == CONTENT
    [(url, first)] = web["asked"]
    assert url == AT
    assert first.parent == cache
    assert first.name != "few.csv.gz"
    assert [path.name for path in cache.iterdir()] == ["few.csv.gz"]
    assert (cache / "few.csv.gz").read_bytes() == PACKED


@pytest.mark.parametrize("name", ["few.csv", "few.csv.gz"])
def test_what_is_there_is_not_fetched(cache, web, name):
    (cache / name).write_bytes(gzip.compress(CONTENT, 1) if name.endswith("gz") else CONTENT)
    assert FETCHED.read() == CONTENT
    assert web["asked"] == []


def test_another_file_on_the_web_is_refused_and_not_kept(cache, web):
    web["content"] = gzip.compress(b"other")
    with pytest.raises(FileNotFoundError, match="could not be downloaded"):
        FETCHED.read()
    assert list(cache.iterdir()) == []


def test_a_failed_download_says_in_one_line_what_to_put_where(cache):
    with pytest.raises(FileNotFoundError) as refusal:
        FETCHED.read()
    for word in (str(cache / "few.csv.gz"), AT, "no network in tests", "by hand", "LEXPLAIN_DATA"):
        assert word in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert list(cache.iterdir()) == []


def test_a_file_without_an_address_is_never_fetched(cache, web):
    with pytest.raises(FileNotFoundError, match=r"Download few.csv from https://example.org/few"):
        FILE.read()
    assert web["asked"] == []
