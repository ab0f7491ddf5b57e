"""The names a user types, and what importing them costs."""

import subprocess
import sys

import numpy as np
import pytest

import lexplain

SO_FAR = {  # of design.md, section 2
    "METHODS",
    "Card",
    "Columns",
    "Comparison",
    "Dataset",
    "Explainer",
    "Explanation",
    "Groups",
    "Method",
    "Patches",
    "RightReasons",
    "as_explanation",
    "audit",
    "compare",
    "find_another_explanation",
    "load_data",
    "register",
    "right_reasons_loss",
    "verify",
}


def test_the_public_names_are_those_of_the_design():
    assert set(lexplain.__all__) == SO_FAR
    assert len(lexplain.__all__) == len(SO_FAR)
    assert set(lexplain.__all__) <= set(dir(lexplain))


@pytest.mark.parametrize("name", sorted(SO_FAR))
def test_every_public_name_can_be_imported(name):
    found = getattr(lexplain, name)
    assert callable(found) or isinstance(found, dict)
    assert getattr(found, "__name__", name).lower() == name.lower()
    assert found.__doc__


def test_a_name_that_is_none():
    with pytest.raises(AttributeError, match="No lexplain attribute Explaner"):
        lexplain.Explaner  # noqa: B018


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert lexplain.__version__ == version("lexplain")


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["torch", "lightning_fabric", "lightning", "sklearn", "pandas", "numpy", "matplotlib", "scipy", "safetensors", "rich"]
    assert run(f"import sys, lexplain; print(*[name for name in {heavy} if name in sys.modules])") == []


def test_an_explainer_changes_no_setting_and_needs_no_optional_tool():
    code = """
import sys, lexplain
lexplain.Explainer
import torch
assert torch.get_default_dtype() == torch.float32
assert torch.distributions.Distribution._validate_args
assert not {"captum", "shap", "lime", "quantus", "fastapi", "ray", "matplotlib"} & set(sys.modules)
"""
    assert run(code) == []


def test_loading_and_explaining_import_no_heavy_tool(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    lexplain.Explainer(keep=1, epochs=1, random_state=0).fit(rows, rows[:, 0] > 0).save(tmp_path / "a.lex")
    code = f"""
import sys, lexplain
lexplain.Explainer
heavy = ["lightning_fabric", "torch._dynamo", "rich", "matplotlib", "jinja2"]
heavy += ["sklearn." + name for name in ("metrics", "cluster", "mixture", "ensemble", "isotonic")]
print(*[name for name in heavy if name in sys.modules])
lexplain.Explainer.load({str(tmp_path / "a.lex")!r}).explain([[0.0, 1.0, 2.0]])
print(*[name for name in heavy if name in sys.modules])
"""
    assert run(code) == []
