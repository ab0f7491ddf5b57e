"""The examples run, at tiny size, and so does what the README shows."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
ARGUMENTS = {
    "audit_shap.py": ["--rows", "300", "--trees", "5"],
    "compare_explainers.py": ["--rows", "300", "--epochs", "1", "--seeds", "1"],
    "explain_a_model.py": ["--epochs", "1", "--out", "page.html"],
    "explain_images.py": ["1"],
    "group_columns.py": ["--rows", "200", "--epochs", "1"],
}
WORDS = {"audit_shap.py": "FS-M", "compare_explainers.py": "ablation", "explain_a_model.py": "eACC", "group_columns.py": "bent sum"} | {
    "explain_images.py": "in the panel that decides"
}


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(ARGUMENTS)


def test_the_picture_of_the_library_says_what_its_script_draws():
    docs = EXAMPLES.parent / "docs"
    drawn = runpy.run_path(str(docs / "flow.py"))["flow"]()
    words = [line for text in drawn.texts for line in text.get_text().splitlines()]
    assert {"raw input", "selector", "imputer", "predictor", "objective", "evaluator", "verdict"} <= set(words)
    picture = (docs / "flow.svg").read_text()
    assert [line for line in words if line not in picture] == []


@pytest.fixture(autouse=True)
def short_trainings(tmp_path, monkeypatch, short_judges):
    short_judges(judge=50, reader=50, retraining=50)
    monkeypatch.setattr("lexplain.experiments.scenario.NETWORK_STEPS", 50)
    monkeypatch.setattr("lexplain.explainers.fitting.STEPS", 10)
    monkeypatch.setattr("lexplain.explainers.path.POINTS", 21)
    monkeypatch.setattr("lexplain.explainers.card.SEARCH_ROWS", 5)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("block", range(2), ids=["twenty lines", "images"])
def test_what_the_readme_shows_runs(block):
    blocks = re.findall(r"```python\n(.*?)```", (EXAMPLES.parent / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    exec("import lexplain as lx\n" + blocks[block], {})  # it is ours


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_example_runs(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, *ARGUMENTS[name]])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert WORDS[name] in printed
    assert len((EXAMPLES / name).read_text().splitlines()) < 60
