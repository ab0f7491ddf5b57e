"""Words that hide the meaning do not come back: in comments and strings of src, in its templates, in the documents, and in names."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import lexplain

SRC = Path(lexplain.__file__).parent
ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/map.md", "docs/glossary.md", "docs/results/README.md")
EXCEPTIONS = {  # strings in saved files and cached results (FROZEN), and a saved tensor name: a file of src, and the literal
    ("evaluation/evaluator.py", "lexplain.judge/1"),
    ("experiments/scenario.py", "judge-{}.safetensors"),
    ("reproduce/images.py", "judges"),
    ("reproduce/lex_panels.py", "judges"),
    ("reproduce/rrr_tables.py", "asked"),
    ("networks/unet.py", "beside"),
}
UNITS = r"row|name|number|value|column|score|mark|label|line|cell|point|file|tensor|text|entry|array|logit|class|tuple"
COUNTED = r"features?|milliseconds?|seconds?|numbers?|masks?|draws?|subsets?|rows?"
RULES = {  # pattern: what to write, a sentence that it finds, and one that it does not
    r"\b(un)?told\b": ("by default; pass", "Half of them unless told.", "Half of them by default."),
    r"\bsaid\b": ("output, text", "What the model said.", "What the model returned."),
    r"\basked\b": ("requested, queried", "The class asked for.", "The requested class."),
    r"\banew\b": ("again, resampled", "Draw it anew.", "Resample it."),
    r"\bbeside\b": ("next to, in addition to", "A file beside it.", "A file besides it."),
    r"\blikewise\b": ("repeat the sentence", "seed: likewise.", "seed: Random seed."),
    r"\b(is|are|was|were) no\b(?! (longer|more|less|better|worse|fewer))": ("is not a", "3 is no class.", "It is no longer a class."),
    r"\bha(s|ve|d) not\b(?! (been|yet|seen|begun))": ("does not have", "It has not a name.", "It has not been fitted."),
    r"\b([Nn]obody|[Ss]omebody|[Ww]hoever)\b": ("name the actor", "Nobody knows it.", "It is unknown."),
    r"(?<!each )(?<!some )(?<!none )(?<!all )\bof (which|whom)\b": ("two sentences", "Rows of which few are", "Rows, none of which are"),
    r"\b(so many|at the (most|least))\b": ("at most n", "Draw so many rows.", "Draw at most n rows."),
    rf"\b[Oo]ne ({UNITS}) an? [a-z]+": ("one ... per ...", "One row an instance.", "One row per instance."),
    rf"\b({COUNTED}) an? (row|feature|step|class|instance|explanation|mask)\b": ("per", "five features a row", "five features per row"),
    r"\b(in flight|mend(s|ed)?|truths|foret(ell|old)|go(es|ing)? on)\b": ("at once; fix; resume", "A fit goes on.", "A fit resumes."),
    r"\b[Rr]efus(e|es|ed|al|als|ing)\b": ("raise, check, error", "Refuse such rows.", "Raise for such rows."),
    r"\b[Jj]udg(e|es|ed|ing|ement)\b": ("evaluator, evaluate", "A judge reads it.", "An evaluator reads it."),
}
NAMES = {"told", "said", "says", "asked", "beside", "untold", "unseen", "blank", "wanted", "judged", "there"}


def comments(source: str) -> Iterator[tuple[int, str]]:
    """The comments of a file; a comment of several lines is one text."""
    block: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, whole = token.start[0], token.line.lstrip().startswith("#")
            if block and not (whole and line - 1 in block):
                yield min(block), " ".join(block.values())
                block = {}
            block[line] = token.string.lstrip("# ")
    yield min(block, default=0), " ".join(block.values())


def strings(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a file, as Python joins them: parts in neighbouring quotes are one text, and `{}` stands for values."""
    tree = ast.parse(source)
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in joined for part in node.values}
    for node in joined:
        yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def texts(path: Path) -> Iterator[tuple[int, str]]:
    source, line = path.read_text(), 1
    if path.suffix == ".py":
        frozen = {literal for file, literal in EXCEPTIONS if SRC / file == path}
        yield from comments(source)
        yield from ((line, text) for line, text in strings(source) if text not in frozen)
    else:
        for paragraph in source.split("\n\n"):
            yield line, paragraph
            line += paragraph.count("\n") + 2


GROUPS = {
    "source": sorted([*SRC.rglob("*.py"), *SRC.rglob("*.html")]),
    "documents": [ROOT / name for name in DOCUMENTS],
}
READ = {group: [(path, line, " ".join(text.split())) for path in paths for line, text in texts(path)] for group, paths in GROUPS.items()}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("pattern", RULES, ids=[instead for instead, _, _ in RULES.values()])
def test_words_are_plain(pattern, group):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[max(0, hit.start() - 40) : hit.end() + 40]!r}; write {RULES[pattern][0]}"
        for path, line, text in READ[group]
        for hit in re.finditer(pattern, text)
    ]
    assert not found, f"{len(found)} places:\n" + "\n".join(found)


@pytest.mark.parametrize("pattern", RULES, ids=[instead for instead, _, _ in RULES.values()])
def test_each_pattern_finds_what_it_is_for(pattern):
    _, bad, good = RULES[pattern]
    assert re.search(pattern, bad) and not re.search(pattern, good)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """The comments and docstrings of a file."""
    yield from comments(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


def test_tests_call_evaluators_by_their_name():
    pattern = next(pattern for pattern in RULES if "[Jj]udg" in pattern)
    files = sorted((ROOT / "tests").rglob("*.py"))
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files for line, text in prose(path.read_text()) if re.search(pattern, text)]
    assert not found


def defined(source: str) -> Iterator[tuple[int, str]]:
    """Every name that a file defines or imports: functions, classes, parameters, attributes and variables."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.keyword) and not isinstance(getattr(node, "ctx", None), ast.Load):
            names = (getattr(node, field, None) for field in ("name", "asname", "arg", "id", "attr"))
            yield from ((node.lineno, name) for name in names if isinstance(name, str))


def wrong_names(source: str, path: str) -> list[str]:
    allowed = {literal for file, literal in EXCEPTIONS if file == path}
    return [f"{path}:{line}: {name}" for line, name in defined(source) if name.lstrip("_") in NAMES - allowed]


def test_names_are_nouns_and_verbs():
    files = [path for path in GROUPS["source"] if path.suffix == ".py"]
    found = [place for path in files for place in wrong_names(path.read_text(), path.relative_to(SRC).as_posix())]
    assert not found, f"{len(found)} names:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "good"),
    [
        ("def told(x): ...", False),
        ("def f(wanted): ...", False),
        ("_there = 1", False),
        ("self.blank = 1", False),
        ("class C:\n    judged: int", False),
        ("import a as unseen", False),
        ("x = other.said", True),
        ("f(told=1)", True),
        ("def expected(requested): text = 1", True),
    ],
)
def test_the_rule_of_names_finds_what_it_is_for(source, good):
    assert (wrong_names(source, "masks/a.py") == []) == good


def test_exceptions_are_few_and_needed():
    assert len(EXCEPTIONS) <= 10
    for file, literal in EXCEPTIONS:
        source = (SRC / file).read_text()
        assert literal in {text for _, text in [*strings(source), *defined(source)]}, (file, literal)
