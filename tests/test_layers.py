"""The dependency rule of design.md, section 3: imports point down, and the list of layers is the drawing."""

import ast
from pathlib import Path

import pytest

import lexplain

ROOT = Path(lexplain.__file__).parent
LAYERS = [  # a name may import from lines above its own, and from itself; names on one line never import each other
    {"__version__"},  # a word of the package, no module
    {"check", "bars"},  # the drawing puts core and check on one line; core's nouns refuse, so check lies below
    {"core"},
    {"features"},
    {"data", "masks", "estimators", "imputers", "objectives", "networks", "models"},
    {"methods"},
    {"training"},
    {"right_reasons", "evaluation"},
    {"measures"},
    {"auditing"},
    {"explainers"},
    {"baselines"},
    {"experiments"},
    {"report"},
    {"kinds"},
    {"reproduce", "demo"},
    {"cli", "server"},
    {"__init__", "__main__"},  # the public names, and the command line of `python -m lexplain`
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
NOUNS = [
    Path("core/explanation.py"),
    Path("auditing/card.py"),
    Path("explainers/explainer.py"),
]  # their exports import a renderer
FILES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def module_of(path):
    """The layer a file belongs to: its folder, or its own name."""
    return path.parts[0].removesuffix(".py")


def imports(tree, path):
    """The names right below `lexplain` that a file imports, wherever in it, as (name, line)."""
    package = ("lexplain", *path.parts[:-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = [*package[: len(package) - node.level + 1]] if node.level else []
            start += node.module.split(".") if node.module else []
            found = [[*start, alias.name] for alias in node.names]
        else:
            continue
        for parts in found:
            if parts[0] == "lexplain":
                yield (parts[1] if len(parts) > 1 else "__init__"), node.lineno


def exports(tree):
    """Lines of imports of the report inside methods of the nouns: the one exception."""
    for noun in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for method in (node for node in noun.body if isinstance(node, ast.FunctionDef)):
            yield from (
                node.lineno for node in ast.walk(method) if isinstance(node, ast.ImportFrom) and node.level and node.module == "report"
            )


def wrong_imports(source, path):
    tree, own = ast.parse(source), module_of(path)
    excused = set(exports(tree)) if path in NOUNS else set()
    return [
        f"{path}:{line}: {own} may not import {name}"
        for name, line in imports(tree, path)
        if name != own and line not in excused and not LEVEL.get(name, len(LAYERS)) < LEVEL.get(own, -1)
    ]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_point_down(path):
    assert wrong_imports((ROOT / path).read_text(), path) == []


def test_every_name_has_a_layer():
    assert {module_of(path) for path in FILES} <= set(LEVEL)
    assert len(LEVEL) == sum(len(names) for names in LAYERS)


@pytest.mark.parametrize(
    ("path", "source", "good"),
    [
        ("masks/a.py", "from .b import c", True),
        ("masks/a.py", "from . import b", True),
        ("masks/a.py", "from ..core import Trial", True),
        ("masks/a.py", "from .. import check", True),
        ("masks/a.py", "import torch\nfrom os import path", True),
        ("masks/a.py", "from ..imputers import Constant", False),
        ("masks/a.py", "from .. import imputers", False),
        ("masks/a.py", "from lexplain.imputers import Constant", False),
        ("masks/a.py", "from lexplain import imputers", False),
        ("masks/a.py", "import lexplain.imputers.constant", False),
        ("masks/a.py", "import lexplain", False),
        ("masks/a.py", "def f():\n    from ..methods import Method", False),
        ("masks/a.py", "if TYPE_CHECKING:\n    from ..methods import Method", False),
        ("masks/a.py", "from ..unheard_of import thing", False),
        ("methods/a.py", "from ..masks import Bernoulli\nfrom ..imputers import Constant", True),
        ("methods/deep/a.py", "from ...masks import Bernoulli\nfrom ..step import Step", True),
        ("methods/deep/a.py", "from ...training import fit", False),
        ("methods/a.py", "from ..training import fit", False),
        ("check.py", "from .core import Trial", False),
        ("core/explanation.py", "from .. import check", True),
        ("core/explanation.py", "from ..report import page", False),
        ("core/explanation.py", "def f():\n    from ..report import page", False),
        ("core/explanation.py", "class E:\n    def to_html(self):\n        from ..report import page", True),
        ("core/explanation.py", "class E:\n    def to_html(self):\n        from ..training import fit", False),
        ("auditing/card.py", "class Card:\n    def to_html(self):\n        from ..report import page", True),
        ("auditing/card.py", "from ..report import page", False),
        ("auditing/audit.py", "class Card:\n    def to_html(self):\n        from ..report import page", False),
        ("explainers/explainer.py", "class Explainer:\n    def plot_path(self):\n        from ..report import path", True),
        ("explainers/explainer.py", "from ..report import path", False),
        ("explainers/path.py", "class Explainer:\n    def plot_path(self):\n        from ..report import path", False),
        ("reproduce/a.py", "from .. import __version__", True),
        ("features.py", "class E:\n    def to_html(self):\n        from .report import page", False),
        ("cli/app.py", "from ..server import app", False),
        ("__init__.py", "from .explainers import Explainer\nfrom .cli import main", True),
    ],
)
def test_the_rule_sees_every_kind_of_import(path, source, good):
    assert (wrong_imports(source, Path(path)) == []) == good


def test_kinds_alone_are_imported_upwards():
    # `import_module` hides an import from the rule above.
    hidden = [path for path in FILES if 'import_module("lexplain' in (ROOT / path).read_text()]
    assert hidden == [Path("core/kinds.py")]
