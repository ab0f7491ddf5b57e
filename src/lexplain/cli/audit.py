"""`lexplain audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import options
from .output import Contents, show_table, write_out

if TYPE_CHECKING:
    from ..auditing import Card


def audit(
    explanation: options.Audited,
    data: options.Data,
    label: options.Label = None,
    probabilities: options.OutputColumns = None,
    train: options.EvaluatorRows = None,
    keep: options.KeepForScores = None,
    measure: options.Measures = None,
    margin: options.Margin = 0.02,
    out: options.CardFile = None,
    device: options.Device = "auto",
) -> None:
    """Test whether explanations are honest.

    An explanation is honest if the choice of features reveals almost nothing beyond their values.
    Networks (evaluators) test this on rows that they were not trained on. A built-in data set is audited on its test split.
    Try: lexplain audit model.lex s3 --out card.html
    """
    from .. import auditing, check
    from ..data import DATASETS
    from ..explainers import Explainer
    from ..models.target import in_classes
    from .rows import read_scores, rows_with_target, writable

    writable(out, (".html", ".json", ".csv", ".parquet"))
    if train is not None and Path(train).exists() and Path(data).exists() and Path(train).samefile(data):
        raise ValueError(
            f"--train {train} contains the rows to audit. The evaluators need other rows for training, so pass these, or leave --train out."
        )
    ours = Explainer.load(explanation) if check.ending(explanation, (".lex", ".csv", ".npy", ".json")) == ".lex" else None
    known, classes = (None, None) if ours is None else (ours.features_, getattr(ours, "classes_", None))
    rows, others = rows_with_target(data, "test", label, probabilities, known=known), None
    if train is not None or data in DATASETS:
        learn = rows_with_target(train or data, "train", label, probabilities, known=known)
        others = (learn.x, in_classes(learn.y, classes), *(() if ours is None else (ours.explain(learn.x),)))
    card = auditing.audit(
        read_scores(explanation) if ours is None else ours.explain(rows.x),
        rows.x,
        in_classes(rows.y, classes),
        train=others,
        explainer=ours,
        truth=rows.truth,
        control_flow=rows.control_flow,
        keep=keep,
        measures=measure,
        margin=margin,
        device=device,
    )
    _show(card, out)


def _show(card: Card, out: options.CardFile) -> None:
    """Print the verdict and the measures of the card, and write the output file."""
    colour = {"honest": "green", "encodes": "red"}.get(card.verdict, "yellow")
    typer.echo(typer.style(card.verdict.upper(), fg=colour, bold=True) + f": {card.why}.")
    better = {True: "higher", False: "lower", None: ""}
    lines = [(line.label, line.estimate, better[line.higher_is_better], line.description) for line in card.lines]
    show_table(["measure", "value [interval]", "better", "how to read it"], lines)
    contents: Contents = {
        ".html": card.to_html,
        ".json": card.to_json,
        ".parquet": card.to_parquet,
        ".csv": lambda: card.to_frame().to_csv(index=False),
    }
    write_out(out, contents)
