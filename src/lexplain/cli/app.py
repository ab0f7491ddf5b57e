"""The program: its commands in the order of the help, and how it refuses."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

from .. import __version__
from .audit import audit
from .compare import compare
from .data import data
from .demo import demo
from .explain import explain
from .fit import fit
from .reproduce import reproduce
from .right_reasons import right_reasons


class OneLineErrors(TyperGroup):
    """Commands whose errors are one line, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; with LEXPLAIN_DEBUG set, errors keep their traceback."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            typer.secho(str(stop) or "Stopped.", fg="yellow", err=True)
            raise typer.Exit(130) from None
        except (ValueError, TypeError, OSError, ImportError, FloatingPointError) as error:
            if os.environ.get("LEXPLAIN_DEBUG") or isinstance(error, BrokenPipeError):  # the reader of a pipe has seen enough
                raise
            typer.secho("Error: " + " ".join(str(error).split()), fg="red", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(cls=OneLineErrors, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for command in (data, fit, explain, audit, compare, demo, reproduce, right_reasons):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lexplain {__version__}")
        raise typer.Exit


@app.callback()
def _start(version: Annotated[bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")] = False) -> None:
    """Say which features made a prediction, row by row, and whether that answer is honest."""


def main() -> None:
    """Run the command line; with LEXPLAIN_DEBUG set, errors come with their traceback."""
    app()
