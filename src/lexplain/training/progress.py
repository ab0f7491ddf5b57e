"""The bar of a training."""

from __future__ import annotations

from types import TracebackType

from rich.progress import TextColumn

from ..bars import bars


class Progress:
    """Show how far a training is. It says nothing where standard error is no terminal."""

    def __init__(self, label: str, total: int, rows: int) -> None:
        self._bars = bars(
            lambda speed, task: f"{speed:.1f} epochs/s, {speed * task.fields['rows']:,.0f} rows/s",
            TextColumn("check {task.fields[check]}"),
            transient=True,
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
