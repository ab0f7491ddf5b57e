"""The program: its commands, in the order of the help, and its error messages."""

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
    """Commands that print errors on one line, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command. If LEXPLAIN_DEBUG is set, errors keep their traceback."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            typer.secho(str(stop) or "Stopped.", fg="yellow", err=True)
            raise typer.Exit(130) from None
        except (ValueError, TypeError, OSError, ImportError, FloatingPointError) as error:
            if os.environ.get("LEXPLAIN_DEBUG") or isinstance(error, BrokenPipeError):  # the reader of a pipe has stopped
                raise
            typer.secho("Error: " + " ".join(str(error).split()), fg="red", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(cls=OneLineErrors, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for command in (data, fit, explain, audit, compare, demo, reproduce, right_reasons):
    app.command()(command)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"lexplain {__version__}")
        raise typer.Exit


@app.callback()
def _start(version: Annotated[bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")] = False) -> None:
    """Explain predictions row by row, and test whether the explanations are honest."""


def main() -> None:
    """Run the command line. If LEXPLAIN_DEBUG is set, errors keep their traceback."""
    app()
