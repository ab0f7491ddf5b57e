"""Progress bars with a rate. They are hidden if standard error is not a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich import progress

    FormatRate = Callable[[float, progress.Task], str]  # a speed and its task, to text


def bars(
    format_rate: FormatRate, *formats: str, elapsed: bool = False, transient: bool = False, auto_refresh: bool = True
) -> progress.Progress:
    """Progress bars with a name, a count, a rate, columns in `formats`, the time left and, if `elapsed`, the time taken."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    more: list[progress.ProgressColumn] = [progress.TextColumn(text) for text in formats]
    more += [progress.TimeElapsedColumn()] if elapsed else []
    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn(), _rate(format_rate), *more)
    hidden = not console.is_terminal
    return progress.Progress(
        *columns, progress.TimeRemainingColumn(), console=console, transient=transient, disable=hidden, auto_refresh=auto_refresh
    )


def _rate(format_rate: FormatRate) -> progress.ProgressColumn:
    """The column with the speed."""
    from rich import progress
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            """The speed so far, or dots if it is not known yet."""
            return Text(format_rate(task.speed, task) if task.speed else "…")

    return Rate()


def progress_range(label: str, steps: int) -> Iterator[int]:
    """Count steps and show a progress bar."""
    with bars(lambda speed, _: f"{speed:.1f} steps/s", transient=True) as bar:
        yield from bar.track(range(steps), description=label)


@contextmanager
def training_bar(label: str, total: int, rows: int) -> Iterator[Callable[[int, float], None]]:
    """Show the progress of a training. The function that is yielded adds finished epochs and shows the last validation loss."""
    with bars(
        lambda speed, task: f"{speed:.1f} epochs/s, {speed * task.fields['rows']:,.0f} rows/s",
        "check {task.fields[check]}",
        transient=True,
    ) as bar:
        task = bar.add_task(label, total=total, rows=rows, check="…")
        yield lambda epochs, check: bar.update(task, advance=epochs, check=f"{check:.4f}")
