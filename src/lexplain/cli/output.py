"""Tables, warnings and files that the commands write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import typer

Contents = Mapping[str, Callable[[], str | bytes]]  # functions that make the content of a file, by its ending


def show_table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, box=None, header_style="bold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    Console(markup=False, highlight=False).print(table)  # names of columns may contain brackets


def shown_number(cell: object) -> object:
    """A cell as text: numbers have three digits, and NaN is empty."""
    from ..measures.statistics import decimals

    return "" if cell != cell else decimals(cell, 3) if isinstance(cell, float) else cell


def warn(text: str) -> None:
    """Print a warning to stderr."""
    typer.secho(f"Warning: {text}", fg="yellow", err=True)


def write_out(out: Path | None, contents: Contents) -> None:
    """Write the output file, if any, in the format of its ending, and print its name."""
    if out is not None:
        from ..core.files import write_bytes

        content = contents[out.suffix.lower()]()
        write_bytes(out, content if isinstance(content, bytes) else content.encode())
        typer.echo(f"Written to {out}")
