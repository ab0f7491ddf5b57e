"""The README and the map agree with the library: what the first lines print, the picture, names, commands and paths."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import lexplain
from lexplain.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
FIRST_LINES = next(text for language, text in BLOCKS if language == "pycon").splitlines()
SHOWN = [ast.literal_eval(line) for line in FIRST_LINES if not line.startswith(">>> ")]


def test_the_first_lines_print_what_the_readme_shows():
    setup = next(text for language, text in BLOCKS if language == "python").partition("explainer = ")[0]
    fit, explain, *values = [line.removeprefix(">>> ") for line in FIRST_LINES if line.startswith(">>> ")]
    kept = "print(float(explanation.mask.sum(1).float().mean()))"
    code = "\n".join([setup, fit, explain, *(f"print({value})" for value in values), kept])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # without the short trainings of tests
    scores, holds, kept = done.stdout.splitlines()
    assert ast.literal_eval(scores) == pytest.approx(SHOWN[0], abs=0.03)
    assert list(ast.literal_eval(scores)) == list(SHOWN[0])
    assert ast.literal_eval(holds) == pytest.approx(SHOWN[1], abs=0.02)
    stated = float(re.search(r"On average, ([\d.]+) of the 30\s", README)[1])
    assert float(kept) == pytest.approx(stated, abs=0.1) and stated <= 3


def test_the_picture_shows_the_features_of_the_first_lines():
    picture = (ROOT / "docs" / "explained_row.svg").read_text()
    labels = re.findall(r"<text style=\"font-weight: 700[^>]*>([^<]*) = [^<]*</text>", picture)  # names of kept features are bold
    assert labels == list(SHOWN[0])


def test_the_readme_names_what_is_public():
    assert set(re.findall(r"\blx\.(\w+)", README)) <= set(lexplain.__all__)
    dotted = set(re.findall(r"\b(lexplain(?:\.[a-z]\w*)+)\.(\w+)", README)) | {
        (module, name.strip())
        for module, names in re.findall(r"^from (lexplain[\w.]*) import (.*)$", README, re.MULTILINE)
        for name in names.split(",")
    }
    missing = [f"{module}.{name}" for module, name in dotted if not hasattr(importlib.import_module(module), name)]
    assert missing == []


def test_the_readme_uses_commands_and_options_that_exist():
    commands = get_command(app).commands
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    code = "\n".join([*(text for language, text in BLOCKS if not language), *re.findall(r"`([^`\n]+)`", prose)])
    calls = re.findall(r"^lexplain ([a-z][a-z-]*)(.*)$", code, re.MULTILINE)
    assert len(calls) >= 8
    for name, arguments in calls:
        known = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", arguments)) <= known, name


def test_the_map_names_files_that_exist():
    folder = Path(lexplain.__file__).parent
    table = (ROOT / "docs" / "map.md").read_text().partition("| --- |")[2].split("\n\n")[0]
    paths = re.findall(r"`([a-z_]+/[\w/.]*|[a-z_]+\.py)`", table)
    assert len(paths) > 50
    assert [path for path in paths if not (folder / path).exists()] == []
