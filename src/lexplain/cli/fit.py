"""`lexplain fit`."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from . import options
from .output import warn, write_out

if TYPE_CHECKING:
    from ..data.files import LoadedRows
    from ..explainers import Explainer


def fit(
    data: options.Data,
    out: options.ModelFile,
    method: options.MethodName = "default",
    keep: options.Keep = None,
    penalty: options.Penalty = None,
    patch: options.Patch = None,
    imputer: options.Imputer = None,
    continuity: options.Continuity = None,
    tolerance: options.Tolerance = None,
    tolerance_points: options.TolerancePoints = None,
    budget: options.Budget = "default",
    label: options.Label = None,
    probabilities: options.OutputColumns = None,
    regime: options.RegimeName = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    learning_rate: options.LearningRate = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    checkpoint: options.Checkpoint = None,
    background: options.Background = None,
    report: options.FitReport = None,
) -> None:
    """Train an explainer on labels or on the class probabilities that a model predicted.

    A built-in data set is fitted on its train split. Try: lexplain fit s3 --keep 5 --out model.lex
    """
    from .. import __version__
    from ..explainers import Explainer
    from ..features import Patches
    from ..report import fit_page
    from .rows import rows_with_target, writable

    writable(out, (".lex", ".safetensors"))
    writable(report, (".html",))
    rows = rows_with_target(data, "train", label, probabilities)
    explainer = Explainer(method, keep=_size_asked(keep), penalty=penalty, regime=regime, device=device, random_state=seed)
    explainer.set_params(epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, imputer=imputer, continuity=continuity)
    explainer.set_params(tolerance=tolerance, tolerance_points=tolerance_points, budget=budget)
    if patch is not None and rows.x.ndim < 3:
        raise ValueError(f"--patch {patch} is for images, but the rows have shape {tuple(rows.x.shape)}. Leave it out.")
    explainer.set_params(features=rows.features if patch is None else Patches(patch))
    seconds = _timed_fit(explainer, rows, checkpoint)
    explainer.save(out, background=background)
    _summarise(explainer, rows, seconds, out)
    write_out(report, {".html": lambda: fit_page(explainer, version=__version__)})
    typer.echo("Next: " + shlex.join(["lexplain", "explain", str(out), data]))


def _size_asked(keep: str | None) -> float | str | None:
    """Parse a number of features, a rate or "auto"."""
    if keep is None or keep == "auto":
        return keep
    try:
        return int(keep) if keep.strip().lstrip("+-").isdecimal() else float(keep)
    except ValueError:
        raise ValueError(f"--keep must be a number of features such as 5, a rate such as 0.3, or auto, got {keep!r}.") from None


def _timed_fit(explainer: Explainer, rows: LoadedRows, checkpoint: Path | None) -> float:
    """Fit, and return the seconds it took. If the user stops the fit, the message explains how to resume."""
    from ..explainers import FitWarning

    began = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # the summary prints the findings
            explainer.fit(rows.x, rows.y, checkpoint=checkpoint)
    except KeyboardInterrupt:
        resume = f"Run the same command again to resume from {checkpoint}." if checkpoint is not None and checkpoint.exists() else ""
        raise KeyboardInterrupt(f"Stopped. {resume}") from None
    return perf_counter() - began


def _summarise(explainer: Explainer, rows: LoadedRows, seconds: float, out: Path) -> None:
    """Print the size of the fit, the point chosen on held-out rows, and the findings."""
    from ..report.formatting import describe_choice

    kind = "real values" if explainer.outputs_.real else f"{explainer.outputs_.count} classes"
    kept = float(explainer.explain(rows.x).mask.sum(1).double().mean())
    method, count = explainer.method_.name, explainer.features_.count
    typer.echo(f"{method}: {len(rows.x):,} rows, {count} features, {kind}; keeps {kept:.1f} per row; {seconds:.1f} s; file {out}")
    if explainer.path_ is not None:
        typer.echo(f"Chosen on held-out rows: {describe_choice(explainer.path_)}.")
    for finding in explainer.findings_:
        warn(f"{finding}.")
