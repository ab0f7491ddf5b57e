"""Bars with a rate for work that takes a while; they say nothing where standard error is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich import progress

    FormatRate = Callable[[float, progress.Task], str]  # a speed, and what it is the speed of, in words


def bars(said: FormatRate, *formats: str, elapsed: bool = False, transient: bool = False, auto_refresh: bool = True) -> progress.Progress:
    """Bars with a name, a count, a rate, columns of such formats, the time it took if asked for, and the time that is left."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    more: list[progress.ProgressColumn] = [progress.TextColumn(text) for text in formats]
    more += [progress.TimeElapsedColumn()] if elapsed else []
    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn(), _rate(said), *more)
    hidden = not console.is_terminal
    return progress.Progress(
        *columns, progress.TimeRemainingColumn(), console=console, transient=transient, disable=hidden, auto_refresh=auto_refresh
    )


def _rate(said: FormatRate) -> progress.ProgressColumn:
    """The column that tells how fast the work goes."""
    from rich import progress
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            """The speed so far, or dots before there is one."""
            return Text(said(task.speed, task) if task.speed else "…")

    return Rate()


def progress_range(label: str, steps: int) -> Iterator[int]:
    """Count steps, and show how far they are."""
    with bars(lambda speed, _: f"{speed:.1f} steps/s", transient=True) as shown:
        yield from shown.track(range(steps), description=label)


@contextmanager
def training_bar(label: str, total: int, rows: int) -> Iterator[Callable[[int, float], None]]:
    """The bar of a training; the function that it yields adds finished epochs and shows how well the last one did."""
    with bars(
        lambda speed, task: f"{speed:.1f} epochs/s, {speed * task.fields['rows']:,.0f} rows/s",
        "check {task.fields[check]}",
        transient=True,
    ) as shown:
        task = shown.add_task(label, total=total, rows=rows, check="…")
        yield lambda epochs, check: shown.update(task, advance=epochs, check=f"{check:.4f}")
