"""Which code computed a number: a short digest of all the source that a function depends on."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parent.parent
NO_NUMBERS = ("check", "_check", "bars", "report", "cli")  # modules that refuse, draw and print: no number depends on them


def code_digest(*things: Any) -> str:
    """Hexadecimal digits that change when code changes on which these functions, classes or modules depend.

    Counted is what their names reach within the package: definitions, and through imports the definitions of other modules; of modules
    that are imported as a whole, all. Comments, docstrings, annotations of arguments and formatting do not count, nor do the modules of
    `NO_NUMBERS`. The versions of Python and of other libraries do not count either.
    """
    return digest_of(PACKAGE, tuple(sorted({_place(thing) for thing in things})))


class Name(NamedTuple):
    """A definition: a module, by its parts, and what it calls the thing; "" is the whole module."""

    module: tuple[str, ...]
    name: str = ""


def _place(thing: object) -> Name:
    while isinstance(thing, partial):
        thing = thing.func
    if isinstance(thing, ModuleType):
        return Name(tuple(thing.__name__.split(".")))
    named = thing if hasattr(thing, "__qualname__") else type(thing)  # an object depends on what its class does
    return Name(tuple(named.__module__.split(".")), named.__qualname__.split(".")[0])


@lru_cache(maxsize=256)
def digest_of(package: Path, names: tuple[Name, ...]) -> str:
    """The digest of what definitions depend on in a package, given as its folder."""
    sources, waiting, seen = _Sources(package), list(names), set(names)
    found: set[str] = set()
    while waiting:
        asked = waiting.pop()
        for statement in sources.statements(asked):
            found.add(f"{'.'.join(asked.module)}: {_written(statement)}")
            for name in sources.needed(asked.module, statement):
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
    return hashlib.blake2b("\n".join(sorted(found)).encode(), digest_size=6).hexdigest()


class _Module(NamedTuple):
    """The statements of a module."""

    defining: dict[str, list[ast.stmt]]  # what a name is bound by
    other: list[ast.stmt]  # what is done beside, such as a line that is added to a table


class _Sources:
    """The modules of a package, read when somebody needs them."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.read: dict[tuple[str, ...], _Module | None] = {}

    def statements(self, asked: Name) -> list[ast.stmt]:
        """The statements that make a definition, and those that are done whenever its module is imported."""
        module = self._module(asked.module)
        if module is None:
            return []
        if asked.name:
            return [*module.defining.get(asked.name, []), *module.other]
        return [*(statement for each in module.defining.values() for statement in each), *module.other]

    def needed(self, module: tuple[str, ...], statement: ast.stmt) -> Iterator[Name]:
        """The definitions that a statement names; imports count wherever they stand in it."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                yield Name(module, node.id)
            elif isinstance(node, ast.Import):
                yield from (Name(tuple(alias.name.split("."))) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                start = self._start(module, node)
                for alias in node.names:
                    inner = (*start, alias.name)
                    yield Name(inner) if self._path(inner) is not None else Name(start, alias.name)

    def _start(self, module: tuple[str, ...], node: ast.ImportFrom) -> tuple[str, ...]:
        """The module that something is imported from."""
        path = self._path(module)
        folder = module if path is not None and path.name == "__init__.py" else module[:-1]
        lead = folder[: len(folder) - node.level + 1] if node.level else ()
        return (*lead, *(node.module.split(".") if node.module else ()))

    def _path(self, module: tuple[str, ...]) -> Path | None:
        """The file of a module; None for other packages, for what is no module, and for what does not count."""
        if module[0] != self.package.name or len(module) == 1 or set(module) & set(NO_NUMBERS):
            return None  # the root imports nothing by itself: it is only the first word of a name
        place = self.package.joinpath(*module[1:])
        return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)

    def _module(self, module: tuple[str, ...]) -> _Module | None:
        if module not in self.read:
            path = self._path(module)
            self.read[module] = None if path is None else _parsed(path)
        return self.read[module]


def _parsed(path: Path) -> _Module:
    found = _Module({}, [])
    for statement in _flat(_Plain().visit(ast.parse(path.read_text())).body):
        names = list(_bound(statement))
        for name in names:
            found.defining.setdefault(name, []).append(statement)
        if not names and not isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom)):
            found.other.append(statement)
    return found


def _written(node: object) -> str:
    """What stands in a tree of syntax. Unlike `ast.dump`, it is the same in every version of Python: fields that are empty are left out."""
    if isinstance(node, ast.AST):
        fields = ((name, getattr(node, name, None)) for name in node._fields)
        return f"{type(node).__name__}({', '.join(f'{name}={_written(each)}' for name, each in fields if each not in (None, []))})"
    return f"[{', '.join(map(_written, node))}]" if isinstance(node, list) else repr(node)


def _flat(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module; `if` and `try` are opened, but what is only for type checkers is left out."""
    for statement in statements:
        if isinstance(statement, ast.If):
            if not (isinstance(statement.test, ast.Name) and statement.test.id == "TYPE_CHECKING"):
                yield from _flat(statement.body + statement.orelse)
        elif isinstance(statement, ast.Try):
            yield from _flat(statement.body + [each for handler in statement.handlers for each in handler.body] + statement.orelse)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):  # one name each, so that who needs one does not depend on the others
            yield from (_with_one_name(statement, alias) for alias in statement.names)
        else:
            yield statement


def _with_one_name(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(statement, ast.Import):
        return ast.Import([alias])
    return ast.ImportFrom(statement.module, [alias], statement.level)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a meaning to."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        if getattr(statement, "module", "") != "__future__":
            yield from (alias.asname or alias.name.split(".")[0] for alias in statement.names)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name) and _stored(node))


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Plain(ast.NodeTransformer):
    """Leave out what no number depends on: docstrings, and annotations of functions."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._without_docstring(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._without_docstring(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def _without_docstring(self, node: ast.FunctionDef | ast.ClassDef | ast.Module) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)
