"""`lexplain demo`."""

from __future__ import annotations

from pathlib import Path

from .options import DemoPage, DemoQuick, Seed


def demo(out: DemoPage = Path("report.html"), seed: Seed = 0, quick: DemoQuick = False) -> None:
    """Fit, explain and audit on data whose truth is known, and write a page about it.

    Try: lexplain demo --quick
    """
    from ..demo import run
    from .rows import writable

    writable(out, (".html",))
    run(out, seed=seed, quick=quick)
