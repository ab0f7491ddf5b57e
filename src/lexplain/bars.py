"""Bars with a rate for work that takes a while; they say nothing where standard error is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

Said = Callable[[float, Task], str]  # a speed, and what it is the speed of, in words


class Rate(ProgressColumn):
    """How fast the work goes."""

    def __init__(self, said: Said) -> None:
        super().__init__()
        self.said = said

    def render(self, task: Task) -> Text:
        """The speed so far, or dots before there is one."""
        return Text(self.said(task.speed, task) if task.speed else "…")


def bars(said: Said, *more: ProgressColumn, transient: bool = False, auto_refresh: bool = True) -> Progress:
    """Bars with a name, a count, a rate, more columns, and the time that is left."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(said), *more, TimeRemainingColumn())
    return Progress(*columns, console=console, transient=transient, disable=not console.is_terminal, auto_refresh=auto_refresh)


def counted(label: str, steps: int) -> Iterator[int]:
    """Count steps, and show how far they are."""
    with bars(lambda speed, _: f"{speed:.1f} steps/s", transient=True) as shown:
        yield from shown.track(range(steps), description=label)
