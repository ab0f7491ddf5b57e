"""Files that a failure leaves whole."""

import json
import os

import numpy as np
import pytest
import torch
from torch import nn

from lexplain.core import files
from lexplain.core.files import read_file, write_atomically, write_bytes
from lexplain.core.rows import plain


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "file"


def test_what_is_written_is_read(path):
    shared = torch.arange(6.0).reshape(2, 3)
    tensors = {"a": shared, "b": shared.T, "c": torch.tensor([True]), "d": nn.Parameter(torch.ones(2)), "e": torch.zeros(())}
    write_atomically(path, tensors, {"format": "kind", "note": ["é", None, 1.5]})
    got, record = read_file(path, "kind")
    assert record == {"format": "kind", "note": ["é", None, 1.5]}
    assert all(torch.equal(got[name], tensor) for name, tensor in tensors.items())


def test_what_cannot_be_written_leaves_the_old_file(path):
    write_atomically(path, {"a": torch.ones(1)}, {"format": "kind"})
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_atomically(path, {"a": torch.zeros(1)}, {"format": "kind", "object": object()})
    assert read_file(path, "kind")[0]["a"] == 1
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mask", [0o022, 0o077])
@pytest.mark.parametrize(
    "write", [lambda path: write_bytes(path, b"1"), lambda path: write_atomically(path, {}, {})], ids=["bytes", "tensors"]
)
def test_who_may_read_a_file_is_what_the_umask_says(write, mask, path):
    before = os.umask(mask)
    try:
        write(path)
    finally:
        os.umask(before)
    assert oct(path.stat().st_mode & 0o777) == oct(0o666 & ~mask)


def test_bytes_replace_a_file_whole_or_not_at_all(path, monkeypatch):
    assert write_bytes(str(path), b"old") == path
    monkeypatch.setattr(files.os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_bytes(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_what_is_missing_or_of_another_kind_is_refused(path):
    with pytest.raises(FileNotFoundError, match="File not found"):
        read_file(path, "kind")
    write_atomically(path, {"a": torch.ones(1)}, {"format": "other"})
    with pytest.raises(ValueError, match=r"'other'.*'kind'"):
        read_file(path, "kind")
    write_bytes(path, b"text")
    with pytest.raises(ValueError, match="cannot be read as a safetensors file"):
        read_file(path, "kind")


def test_numbers_become_plain():
    assert (
        json.dumps([plain(value) for value in (np.int64(3), np.float64(0.5), np.bool_(True), "a", None, 2)])
        == '[3, 0.5, true, "a", null, 2]'
    )
