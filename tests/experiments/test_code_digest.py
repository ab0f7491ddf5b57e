"""The digest of code: what changes it, and what does not."""

from functools import partial

import pytest

from lexplain.experiments import code_digest as module
from lexplain.experiments.code_digest import Name, code_digest, digest_of

FILES = {
    "__init__.py": "from .far.away import unheard_of",
    "start.py": '''"""Begin."""
from . import check, other
from .near import Base, unused

FACTOR = 2  # a comment
NOTES = "words of a page"

def compute(cell: int) -> float:
    """Compute."""
    from .inside import late
    return Base().value(cell) * FACTOR + late(cell)

def draw() -> str:
    return NOTES + str(other)
''',
    "near.py": "from .far import SIZE\nclass Base:\n    def value(self, x):\n        return x + SIZE\n\ndef unused():\n    pass\n",
    "inside.py": "from .far.away import deep as late\n",
    "far/__init__.py": "from .size import SIZE as SIZE, OTHER as OTHER\n",
    "far/size.py": "SIZE = 3\nOTHER = 4\n",
    "far/away.py": "if TYPE_CHECKING:\n    from ..other import thing\n\ndef deep(x):\n    check.positive(x)\n    return x\n",
    "check.py": "def positive(x): pass\n",
    "other.py": "thing = 1\n",
}


@pytest.fixture
def package(tmp_path):
    for name, content in FILES.items():
        path = tmp_path / "lexplain" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "lexplain"


def digest(package, name="compute"):
    digest_of.cache_clear()
    return digest_of(package, (Name(("lexplain", "start"), name),))


def changed(package, file, old, new):
    """Whether a change of one file changes the digest."""
    before = digest(package)
    path = package / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    return digest(package) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("start.py", "FACTOR = 2", "FACTOR = 3"),
        ("start.py", "* FACTOR", "/ FACTOR"),
        ("near.py", "x + SIZE", "x - SIZE"),
        ("far/size.py", "SIZE = 3", "SIZE = 4"),
        ("far/away.py", "return x", "return -x"),
        ("inside.py", "deep as late", "shallow as late"),
        ("near.py", "class Base:", "register()\nclass Base:"),
    ],
)
def test_code_that_is_reached_counts(package, file, old, new):
    assert changed(package, file, old, new)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("start.py", '"""Compute."""', '"""Compute with care."""'),
        ("start.py", '"""Begin."""', ""),
        ("start.py", "# a comment", "# another"),
        ("start.py", "cell: int", "cell: object"),
        ("start.py", "return Base", "return  (Base)"),
        ("start.py", "words of a page", "other words"),
        ("start.py", "return NOTES", "return 2 * NOTES"),
        ("near.py", "    pass", "    return 1"),
        ("far/size.py", "OTHER = 4", "OTHER = 5"),
        ("far/__init__.py", ", OTHER as OTHER", ""),
        ("check.py", "pass", "raise ValueError"),
        ("other.py", "1", "2"),
        ("__init__.py", "unheard_of", "heard_of"),
    ],
)
def test_words_and_code_that_is_not_reached_do_not_count(package, file, old, new):
    assert not changed(package, file, old, new)


def test_a_module_counts_as_a_whole(package):
    before = digest(package, "")
    (package / "start.py").write_text(FILES["start.py"].replace("words of a page", "other words"))
    assert digest(package, "") != before


def test_functions_classes_modules_and_partial_functions_have_a_digest():
    assert code_digest(digest_of) == code_digest(partial(digest_of, 1)) == code_digest(partial(partial(digest_of), 1))
    assert code_digest(Name) != code_digest(module)
    assert code_digest(Name, digest_of) == code_digest(digest_of, Name)
    assert len(code_digest(Name)) == 12


def test_code_outside_the_package_has_a_digest_that_never_changes():
    assert code_digest(test_a_module_counts_as_a_whole) == code_digest(partial)
