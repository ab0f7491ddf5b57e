"""A progress bar with a rate, on terminals alone."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text


class Rate(ProgressColumn):
    """Epochs and rows a second."""

    def render(self, task: Task) -> Text:
        """The speed so far, or dots before there is one."""
        if not task.speed:
            return Text("…")
        return Text(f"{task.speed:.1f} epochs/s, {task.speed * task.fields['rows']:,.0f} rows/s")


class Progress:
    """Show how far a training is. It says nothing where standard error is no terminal."""

    def __init__(self, label: str, total: int, rows: int) -> None:
        console = Console(stderr=True)
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            Rate(),
            TextColumn("check {task.fields[check]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bars.add_task(label, total=total, rows=rows, check="…")

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()

    def advance(self, epochs: int, check: float) -> None:
        """Say that so many more epochs are done, and how well the last one did."""
        self._bars.update(self._task, advance=epochs, check=f"{check:.4f}")
