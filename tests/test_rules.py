"""Rules that hold for every file of the library, read from its syntax: open types, kinds of features, methods by name, and sizes."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lexplain
from lexplain.methods import METHODS

ROOT = Path(lexplain.__file__).parent
FILES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def called(node: ast.expr) -> str:
    """The last part of a name such as `explainer.features_`; "" of what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """The last parts of all names in an expression."""
    return {called(each) for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute))}


def owners(tree: ast.Module) -> dict[int, str]:
    """The dotted name of the innermost function or class that each node lies in; "" at the top."""
    found: dict[int, str] = {}

    def visit(node: ast.AST, within: str) -> None:
        found[id(node)] = within
        inner = f"{within}.{node.name}".lstrip(".") if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else within
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(tree, "")
    return found


# ---- `Any` stands at public doors alone ----

DOORS = {
    "explainers/explainer.py": {"Explainer": "what users have: rows, labels and models of any type"},
    "auditing/audit.py": {"audit": "what users have, and what any tool returned"},
    "experiments/compare.py": {"compare": "what users have"},
    "core/contracts.py": {
        "": "RawRows, Labels, Model and the others, which say the same everywhere else",
        "Estimator": "each estimator names what it needs of a mask distribution",
    },
    "core/explanation.py": {"Explanation.to_shap": "shap has no types"},
    "core/seeding.py": {"_repeatable": "torch has no types for the switches of cuDNN"},
    "networks/replay.py": {"scores_on_cpu": "torch has no types for the switches of cuDNN"},
    "cli/app.py": {"OneLineErrors": "typer's contexts have no types"},
}
ELEMENTS = {"Series", "Index", "dtype", "ndarray"}  # of pandas and NumPy, whose elements nobody knows before rows are there
RECORDS = {"dict", "Mapping"}  # by name: a JSON record, settings, or a row of a DataFrame
KEYS = {"str", "Hashable"}


def open_types(tree: ast.Module) -> Iterator[ast.Name]:
    """Every `Any` that is no element of pandas or NumPy, no value of a record by name, and no `*args` or `**options`."""
    excused: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            by_name = called(node.value) in RECORDS and called(inner[0]) in KEYS
            excused |= {id(each) for each in inner} if called(node.value) in ELEMENTS or by_name else set()
        elif isinstance(node, ast.arguments):
            excused |= {id(each.annotation) for each in (node.vararg, node.kwarg) if each is not None}
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Any" and id(node) not in excused)


def wrong_types(source: str, path: Path) -> list[str]:
    tree = ast.parse(source)
    within, doors = owners(tree), DOORS.get(path.as_posix(), {})
    arguments = [node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation is not None]
    bare = [node for node in arguments if node.arg == "features" and "Any" in names_in(node.annotation)]
    found = [f"{path}:{node.lineno}: features: Any; write Features" for node in bare]
    for node in open_types(tree):
        owner = within[id(node)]
        if not any(owner == door or owner.startswith(f"{door}.") for door in doors if door or not owner):
            found.append(f"{path}:{node.lineno}: Any; write RawRows, Labels, Model, RandomState or Json of core.contracts, or a type")
    return found


# ---- nobody asks which kind features are ----

KINDS = {"Columns", "Groups", "Patches", "FeatureKind"}
FEATURES = {"features", "features_", "_features", "blank"}
RANKS = {  # who looks at the number of axes, and is no answer to which kind features are
    "imputers/vaeac.py": "an imputer learns from encoded rows alone, and reads (channels, rows, columns) as an image",
    "data/files.py": "a file holds a table or images, whatever they are explained as",
    "data/facts.py": "the same",
    "right_reasons/annotation.py": "a picture that somebody painted marks in",
    "report/figures/another_explanation.py": "rows are drawn as the images that they are said to be",
}


def may_ask(path: Path) -> bool:
    return path.parts[0] in ("features", "kinds")


def is_features(node: ast.expr) -> bool:
    return called(node) in FEATURES


def asks_rank(node: ast.Compare) -> bool:
    """Whether an expression compares the number of axes of encoded rows with a number that only some kinds have."""
    parts = [node.left, *node.comparators]
    numbers = [n.value for part in parts for n in ast.walk(part) if isinstance(n, ast.Constant) and isinstance(n.value, int)]
    for part in parts:
        if isinstance(part, ast.Call) and called(part.func) == "len" and part.args and called(part.args[0]).endswith("shape") and numbers:
            return True
        axes = part.func if isinstance(part, ast.Call) else part
        if isinstance(axes, ast.Attribute) and axes.attr in ("ndim", "dim"):
            many = any(number >= 3 for number in numbers) or any(isinstance(op, (ast.Gt, ast.GtE)) for op in node.ops)
            if numbers and many:
                return True
    return False


def in_refusals(tree: ast.Module) -> set[int]:
    """Every comparison in the test of an `if` that only raises: whoever refuses a shape must look at it."""
    refusals = [node for node in ast.walk(tree) if isinstance(node, ast.If) and all(isinstance(each, ast.Raise) for each in node.body)]
    return {id(each) for node in refusals for each in ast.walk(node.test) if isinstance(each, ast.Compare)}


def kind_questions(tree: ast.Module, path: Path) -> Iterator[tuple[int, str]]:
    refused = in_refusals(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node.func) == "isinstance" and len(node.args) == 2:
            if names_in(node.args[1]) & KINDS or is_features(node.args[0]):
                yield node.lineno, "isinstance of features"
        elif isinstance(node, ast.Call) and called(node.func) in ("getattr", "hasattr") and node.args and is_features(node.args[0]):
            yield node.lineno, f"{called(node.func)} of features"
        elif isinstance(node, ast.Call) and called(node.func) == "len" and node.args and called(node.args[0]) == "shape":
            holder = node.args[0].value if isinstance(node.args[0], ast.Attribute) else None
            if holder is not None and is_features(holder):
                yield node.lineno, "the rank of features.shape"
        elif isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            of_kind = any(isinstance(part, ast.Attribute) and part.attr == "kind" and is_features(part.value) for part in parts)
            if of_kind and not (isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(parts[1], (ast.Name, ast.Attribute))):
                yield node.lineno, "features.kind compared"
            elif asks_rank(node) and path.as_posix() not in RANKS and id(node) not in refused:
                yield node.lineno, "the rank of a shape"


def wrong_questions(source: str, path: Path) -> list[str]:
    if may_ask(path):
        return []
    asked = kind_questions(ast.parse(source), path)
    return [f"{path}:{line}: {what}; ask `core.kinds.kind_of(features)`" for line, what in asked]


# ---- nobody recognises a method by its name ----

PLANS = {"Rounds", "Turns", "Together"}
MENUS = ("methods", "reproduce", "cli", "cli.py", "demo.py")


def docstrings(tree: ast.Module) -> set[int]:
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}


def wrong_names(source: str, path: Path) -> list[str]:
    if path.parts[0] in MENUS:
        return []
    tree = ast.parse(source)
    told, found = docstrings(tree), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in METHODS and id(node) not in told:
            found.append((node.lineno, f"the name {node.value!r}"))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and called(node.comparators[0]) in METHODS:
            found.append((node.lineno, "a comparison with a recipe"))
        elif isinstance(node, ast.Call) and called(node.func) == "isinstance" and len(node.args) == 2 and names_in(node.args[1]) & PLANS:
            found.append((node.lineno, "isinstance of a plan"))
    return [f"{path}:{line}: {what}; let the recipe or the plan say what has to be known" for line, what in found]


# ---- sizes ----

MOST_LINES, MOST_OF_A_FUNCTION, MOST_FILES = 300, 50, 20
LONG_DOORS = {
    "verify",
    "as_explanation",
    "audit",
    "compare",
    "find_another_explanation",
}  # public doors, mostly docstring


def too_long(source: str, path: Path) -> list[str]:
    count = len(source.splitlines())
    found = [f"{path}: {count} lines, above {MOST_LINES}"] if count > MOST_LINES else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            lines, said = node.end_lineno - node.lineno + 1, node.body[0]
            if node.name in LONG_DOORS and isinstance(said, ast.Expr) and said.end_lineno is not None:
                lines -= said.end_lineno - said.lineno + 1
            if lines > MOST_OF_A_FUNCTION:
                found.append(f"{path}:{node.lineno}: {node.name} has {lines} lines, above {MOST_OF_A_FUNCTION}")
    return found


def too_full(files: list[Path]) -> list[str]:
    folders = {path.parent for path in files}
    counts = {folder: sum(path.parent == folder for path in files) for folder in folders}
    return [f"{folder}: {count} files, above {MOST_FILES}" for folder, count in sorted(counts.items()) if count > MOST_FILES]


# ---- the library keeps them ----


def offenders(rule) -> str:
    return "\n".join(line for path in FILES for line in rule((ROOT / path).read_text(), path))


def test_any_stands_at_public_doors_alone():
    assert offenders(wrong_types) == ""


def test_nobody_asks_which_kind_features_are():
    assert offenders(wrong_questions) == ""


def test_nobody_recognises_a_method_by_its_name():
    assert offenders(wrong_names) == ""


def test_files_and_functions_are_short():
    assert offenders(too_long) == ""


def test_folders_are_small():
    assert "\n".join(too_full(FILES)) == ""


def test_every_exception_is_still_needed():
    for name, doors in DOORS.items():
        tree = ast.parse((ROOT / name).read_text())
        within, left = owners(tree), list(open_types(tree))
        for door in doors:
            assert any(within[id(node)] == door or within[id(node)].startswith(f"{door}.") for node in left), f"{name}: {door}"
    for name in RANKS:
        tree = ast.parse((ROOT / name).read_text())
        refused = in_refusals(tree)
        assert any(isinstance(node, ast.Compare) and asks_rank(node) and id(node) not in refused for node in ast.walk(tree)), name


# ---- and each rule bites ----


@pytest.mark.parametrize(
    ("path", "source", "good"),
    [
        ("masks/a.py", "def f(x: Any): ...", False),
        ("masks/a.py", "def f() -> Any: ...", False),
        ("masks/a.py", "def f(x: Sequence[Any]): ...", False),
        ("masks/a.py", "x: Any = 1", False),
        ("masks/a.py", "X = Callable[[Any], int]", False),
        ("masks/a.py", "def f(x: dict[int, Any]): ...", False),
        ("masks/a.py", "def f(x: dict[str, Any]): ...", True),
        ("masks/a.py", "def f(x: dict[str, list[Any]]): ...", False),
        ("masks/a.py", "def f(x: pd.Series[Any], y: np.dtype[Any]): ...", True),
        ("masks/a.py", "def f(*args: Any, **options: Any): ...", True),
        ("masks/a.py", "def f(x: RawRows): ...", True),
        ("auditing/audit.py", "def audit(X: Any): ...", True),
        ("auditing/audit.py", "def other(X: Any): ...", False),
        ("auditing/card.py", "def audit(X: Any): ...", False),
        ("explainers/explainer.py", "class Explainer:\n    def fit(self, X: Any): ...", True),
        ("explainers/explainer.py", "class Other:\n    def fit(self, X: Any): ...", False),
        ("core/contracts.py", "RawRows: TypeAlias = Any", True),
        ("core/contracts.py", "class Features:\n    def encode(self, X: Any): ...", False),
        ("core/explanation.py", "class Explanation:\n    def to_shap(self) -> Any: ...", True),
        ("core/explanation.py", "class Explanation:\n    def to_frame(self) -> Any: ...", False),
        ("check.py", "def f(x: Any): ...", False),
        ("check.py", "def f(features: Any): ...", False),
        ("explainers/explainer.py", "class Explainer:\n    def f(self, features: Any | None): ...", False),
    ],
)
def test_the_rule_of_open_types_bites(path, source, good):
    assert (wrong_types(source, Path(path)) == []) == good


@pytest.mark.parametrize(
    ("source", "good"),
    [
        ("isinstance(x, Patches)", False),
        ("isinstance(x, (int, features.Columns))", False),
        ("isinstance(features, Other)", False),
        ("isinstance(self.features_, Other)", False),
        ("getattr(features, 'grid', None)", False),
        ("hasattr(explainer.features_, 'grid')", False),
        ("len(features.shape)", False),
        ("len(self.features.shape) == 3", False),
        ("len(shape) == 3", False),
        ("len(x.shape) > 2", False),
        ("features.kind == 'patches'", False),
        ("self.features.kind in ('patches', 'columns')", False),
        ("x.ndim == 4", False),
        ("x.dim() > 2", False),
        ("isinstance(x, Tensor)", True),
        ("getattr(imputer, 'random', True)", True),
        ("x.ndim == 1", True),
        ("[1] * (x.ndim - 1)", True),
        ("TABLE[features.kind]", True),
        ("features.kind in TABLE", True),
        ("mlp(features.shape, 3)", True),
        ("features is None", True),
        ("dtype.kind == 'f'", True),
        ("len(shape) - 1", True),
        ("if x.ndim != 3: raise ValueError('give images')", True),
        ("if x.ndim != 3 or not len(x):\n    raise ValueError('give images')", True),
        ("if x.ndim == 3:\n    raise ValueError('a')\nelif x.ndim == 4:\n    y = 1", False),
        ("if x.ndim != 3:\n    x = x[None]\n    raise ValueError('give images')", False),
        ("if features.kind == 'patches': raise ValueError('give a table')", False),
    ],
)
def test_the_rule_of_kinds_bites(source, good):
    assert (wrong_questions(source, Path("training/a.py")) == []) == good
    assert wrong_questions(source, Path("kinds/a.py")) == wrong_questions(source, Path("features/a.py")) == []


@pytest.mark.parametrize(
    ("source", "good"),
    [
        ("if method == 'gains': pass", False),
        ("FAST = {'l2x': 1}", False),
        ("recipe is sufficient", False),
        ("recipe is not methods.gains", False),
        ("gains > log(price)", True),  # a variable
        ("isinstance(method.plan, Rounds)", False),
        ("isinstance(plan, (plans.Turns, Together))", False),
        ("'''gains'''", True),
        ("raise ValueError('choose gains or lex')", True),
        ("method == 'default'", True),
        ("METHODS[name]", True),
        ("plan.measures_gains", True),
    ],
)
def test_the_rule_of_methods_bites(source, good):
    assert (wrong_names(source, Path("explainers/a.py")) == []) == good
    assert wrong_names(source, Path("methods/a.py")) == wrong_names(source, Path("demo.py")) == []


def test_the_rule_of_sizes_bites():
    path, long, said = Path("masks/a.py"), "\n".join(["    x = 1"] * 50), '    """' + "\n" * 30 + '"""\n'
    assert too_long("x = 1\n" * 301, path) and not too_long("x = 1\n" * 300, path)
    assert too_long(f"def f():\n{long}", path) and not too_long(f"def f():\n{long[:-10]}", path)
    assert too_long(f"class C:\n  def f(self):\n{long}", path)
    assert not too_long(f"@a(\n1,\n2)\ndef f():\n{long[:-10]}", path)
    short = "\n".join(["    x = 1"] * 40)
    assert too_long(f"def f():\n{said}{short}", path) and not too_long(f"def audit():\n{said}{short}", path)
    assert too_long(f"def audit():\n{said}{long}", path)
    files = [Path(f"masks/m{n}.py") for n in range(20)]
    assert not too_full([*files, Path("masks/deep/a.py")]) and too_full([*files, Path("masks/a.py")])
