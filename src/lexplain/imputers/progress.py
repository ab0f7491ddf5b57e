"""A bar for imputers that take a while to learn, on terminals alone."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class Rate(ProgressColumn):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        """The speed so far, or dots before there is one."""
        return Text(f"{task.speed:.1f} steps/s" if task.speed else "…")


def counted(label: str, steps: int) -> Iterator[int]:
    """Count steps, and show how far they are where standard error is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield from bars.track(range(steps), description=label)
