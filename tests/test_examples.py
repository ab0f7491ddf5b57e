"""The examples run, at tiny size."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
ARGUMENTS = {
    "explain_a_model.py": ["--epochs", "1", "--out", "page.html"],
    "group_columns.py": ["--rows", "200", "--epochs", "1"],
}


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_example_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("lexplain.training.evaluator.JUDGE_STEPS", 50)
    monkeypatch.setattr("lexplain.training.evaluator.READER_STEPS", 50)
    monkeypatch.setattr(sys, "argv", [name, *ARGUMENTS[name]])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert {"explain_a_model.py": "eACC", "group_columns.py": "bent sum"}[name] in printed
    assert len((EXAMPLES / name).read_text().splitlines()) < 60
