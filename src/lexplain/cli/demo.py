"""`lexplain demo`."""

from __future__ import annotations

from pathlib import Path

from . import options


def demo(out: options.DemoPage = Path("report.html"), seed: options.Seed = 0, quick: options.DemoQuick = False) -> None:
    """Explain a model and the labels of synthetic data, audit the explanations, and write a page about them.

    Try: lexplain demo --quick
    """
    from ..demo import run
    from .rows import writable

    writable(out, (".html",))
    run(out, seed=seed, quick=quick)
