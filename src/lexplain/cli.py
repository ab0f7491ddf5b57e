"""The command line: the library's own words. Heavy imports lie inside the commands, so that help comes at once."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from . import __version__

Data = Annotated[str, Argument(metavar="DATA", help="A built-in data set (see: lexplain data), or a .csv or .npz file.")]
Model = Annotated[Path, Argument(metavar="MODEL", help="What lexplain fit wrote.")]
Label = Annotated[str | None, Option(metavar="COLUMN", help="The CSV's target. Default: the last column called y, label, target or class.")]
Outputs = Annotated[str | None, Option(metavar="COL,COL", help="Columns with a model's recorded class probabilities, as the target.")]
Device = Annotated[str, Option(help="auto, cpu, cuda or cuda:1.")]


class _Group(TyperGroup):
    """Commands whose refusals are one line, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            typer.secho(str(stop) or "Stopped.", fg="yellow", err=True)
            raise typer.Exit(130) from None
        except (ValueError, TypeError, OSError, ImportError, FloatingPointError) as refusal:
            if os.environ.get("LEXPLAIN_DEBUG") or isinstance(refusal, BrokenPipeError):  # the reader of a pipe has seen enough
                raise
            typer.secho("Error: " + " ".join(str(refusal).split()), fg="red", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(cls=_Group, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line; with LEXPLAIN_DEBUG set, refusals come with their traceback."""
    app()


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"lexplain {__version__}")
        raise typer.Exit


@app.callback()
def _start(version: Annotated[bool, Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False) -> None:
    """Say which features made a prediction, row by row, and whether that answer is honest."""


@app.command()
def data(
    name: Annotated[str | None, Argument(help="A data set; without one, all of them are listed.")] = None,
    rows: Annotated[int | None, Option(help="Rows to train on.")] = None,
    seed: Annotated[int, Option(help="The same seed gives the same rows.")] = 0,
    noise_columns: Annotated[int, Option(help="Columns to append that decide nothing.")] = 0,
    correlation: Annotated[float, Option(help="Of neighbouring columns, from 0 to below 1.")] = 0.0,
    target: Annotated[str, Option(help="What y is: labels, probabilities or values.")] = "labels",
    part: Annotated[str, Option(help="What to write: train, validation or test.")] = "train",
    out: Annotated[Path | None, Option(help="Write the part: .csv, or .npz with the truth.")] = None,
) -> None:
    """List the built-in data sets, describe one, or write it to a file.

    Try: lexplain data s3 --rows 1000 --out train.csv
    """
    from . import check
    from .data import describe, load_data
    from .data.files import ENDINGS, facts, part_as_bytes

    ending = check.writable(out, ENDINGS)
    if name is None and out is None:
        menu = describe()
        return _table([str(column) for column in menu.columns], menu.itertuples(index=False))
    loaded = load_data(name or "", rows=rows, seed=seed, noise_columns=noise_columns, correlation=correlation, target=target)
    _table([loaded.name, loaded.description], facts(loaded).items())
    return _write(out, {ending: lambda: part_as_bytes(loaded, part, ending)})


@app.command()
def fit(
    data: Data,
    out: Annotated[Path, Option(help="Where to keep the explainer: a .lex file.")],
    method: Annotated[str, Option(help="default, gains, hold, realx, lex, l2x, invase, basex or vibi.")] = "default",
    keep: Annotated[
        str | None,
        Option(
            metavar="5|0.3|auto",
            help="How many features of a row to keep, or which share; auto: gains chooses. Of images, a tenth unless told.",
        ),
    ] = None,
    penalty: Annotated[float | None, Option(help="Instead of --keep: the price of keeping every feature.")] = None,
    patch: Annotated[
        int | None,
        Option(
            min=1,
            help="Of images: the side of a patch in pixels. Default: the data set's own, else 1 up to 64 pixels.",
        ),
    ] = None,
    imputer: Annotated[
        str | None, Option(help="What stands in for hidden values, such as GaussianMixture. Default: the method's own.")
    ] = None,
    continuity: Annotated[
        float | None, Option(help="Of images: the price of each break in a mask, for connected ones, such as 0.01.")
    ] = None,
    tolerance: Annotated[float | None, Option(help="With --keep auto: nats by which predictions may move.")] = None,
    tolerance_points: Annotated[float | None, Option(help="Instead: points of accuracy that a judge may lose.")] = None,
    budget: Annotated[str, Option(help="default, or thorough: three times the networks, and more rounds.")] = "default",
    label: Label = None,
    outputs: Outputs = None,
    regime: Annotated[str | None, Option(help="free: predictor and selection learn together; fixed: the predictor first.")] = None,
    epochs: Annotated[int | None, Option(help="Passes over the rows.")] = None,
    batch_size: Annotated[int | None, Option(help="Rows of a training step.")] = None,
    learning_rate: Annotated[float | None, Option(help="Size of a training step.")] = None,
    seed: Annotated[int, Option(help="The same seed gives the same explainer.")] = 0,
    device: Device = "auto",
    checkpoint: Annotated[Path | None, Option(help="Keep the training here, and go on from it when run again.")] = None,
    report: Annotated[Path | None, Option(help="Write a page about the fit: .html.")] = None,
) -> None:
    """Learn which features make a prediction, from labels or from what a model said.

    A built-in name means its train part. With --outputs the target is a model's recorded class probabilities (post hoc): name them all.

    Try: lexplain fit s3 --keep 5 --out model.lex
    """
    from . import check
    from .data.files import find_rows
    from .explainers import Explainer, FitWarning
    from .features import Patches
    from .report import fit_page
    from .report.wording import chosen_point

    check.writable(out, (".lex", ".safetensors"))
    check.writable(report, (".html",))
    rows = find_rows(data, "train", label, outputs)
    explainer = Explainer(method, keep=check.size_asked(keep), penalty=penalty, regime=regime, device=device, random_state=seed)
    explainer.set_params(epochs=epochs, batch_size=batch_size, learning_rate=learning_rate)
    explainer.set_params(tolerance=tolerance, tolerance_points=tolerance_points, budget=budget)
    explainer.set_params(imputer=imputer, continuity=continuity)
    explainer.set_params(features=rows.features if patch is None else Patches(check.patch_of(patch, rows.x)))
    began = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # told below, in words alone
            explainer.fit(rows.x, rows.y, checkpoint=checkpoint)
    except KeyboardInterrupt:
        resume = f"Run the same command again to go on from {checkpoint}." if checkpoint is not None and checkpoint.exists() else ""
        raise KeyboardInterrupt(f"Stopped. {resume}") from None
    seconds = perf_counter() - began
    explainer.save(out)
    kind = "real values" if explainer.outputs_.real else f"{explainer.outputs_.count} classes"
    kept = float(explainer.explain(rows.x).mask.sum(1).double().mean())
    method, count = explainer.method_.name, explainer.features_.count
    typer.echo(f"{method}: {len(rows.x):,} rows, {count} features, {kind}; keeps {kept:.1f} a row; {seconds:.1f} s; file {out}")
    if explainer.path_ is not None:
        typer.echo(f"Chosen on held-out rows: {chosen_point(explainer.path_)}.")
    for finding in explainer.findings_:
        typer.secho(f"Warning: {finding}.", fg="yellow", err=True)
    _write(report, {".html": lambda: fit_page(explainer, version=__version__)})
    typer.echo("Next: " + shlex.join(["lexplain", "explain", str(out), data]))


@app.command()
def explain(
    model: Model,
    data: Data,
    out: Annotated[Path | None, Option(help="Write all rows: .csv, .json or .html.")] = None,
    rows: Annotated[int, Option(min=0, help="How many rows to show.")] = 10,
    device: Device = "auto",
) -> None:
    """Say which features made the prediction of each row.

    A built-in name means its test part. Columns that the fit did not know are left out. Try: lexplain explain model.lex s3 --out page.html
    """
    from . import check
    from .data.files import explanation_as_csv, find_rows
    from .explainers import Explainer
    from .report.rows import read_row
    from .report.wording import shorten

    check.writable(out, (".csv", ".json", ".html"))
    explainer = Explainer.load(model, device=device)
    explanation = explainer.explain(find_rows(data, "test", known=explainer.features_).x)
    shown = [read_row(explanation, row, most=12, kept_only=True) for row in range(min(rows, len(explanation)))]
    kept = [", ".join(shorten(item.label, 40) for item in row.items) + (", …" if row.left_out_kept else "") for row in shown]
    _table(["row", "outcome", "kept, the most important first"], [(r.label, r.outcome, k) for r, k in zip(shown, kept, strict=True)])
    _write(out, {".csv": lambda: explanation_as_csv(explanation), ".json": explanation.to_json, ".html": explanation.to_html})


@app.command()
def audit(
    explanation: Annotated[
        Path,
        Argument(metavar="EXPLANATION", help="What lexplain fit wrote, or any tool's scores or masks of DATA's rows: .csv, .npy, .json."),
    ],
    data: Data,
    label: Label = None,
    outputs: Outputs = None,
    train: Annotated[str | None, Option(metavar="DATA", help="Other rows, which the judges learn from. Default: halves of DATA.")] = None,
    keep: Annotated[int | None, Option(min=1, help="Of another tool's scores, how many features of a row count as kept.")] = None,
    measure: Annotated[
        list[str] | None, Option(help="A measure to take, such as retraining; again for more. Default: the quick ones.")
    ] = None,
    margin: Annotated[float, Option(min=0.0, help="Nats of encoding to let pass.")] = 0.02,
    out: Annotated[Path | None, Option(help="Write the card: .html, .json, .csv or .parquet.")] = None,
    device: Device = "cpu",
) -> None:
    """Say whether explanations are honest, with judges that have not seen the rows they judge.

    A built-in name means its test part, and judges that learn from its train part. Try: lexplain audit model.lex s3 --out card.html
    """
    from . import check
    from .auditing import audit as judge
    from .data import DATASETS
    from .data.files import find_rows, read_scores
    from .explainers import Explainer

    if check.writable(out, (".html", ".json", ".csv", ".parquet")) == ".parquet":
        check.parquet_possible()
    check.other_rows(train, data)
    ours = Explainer.load(explanation) if check.ending(explanation, (".lex", ".csv", ".npy", ".json")) == ".lex" else None
    known, classes = (None, None) if ours is None else (ours.features_, getattr(ours, "classes_", None))
    rows, others = find_rows(data, "test", label, outputs, known=known), None
    if train is not None or data in DATASETS:
        seen = find_rows(train or data, "train", label, outputs, known=known)
        learned = () if ours is None else (ours.explain(seen.x),)
        others = (seen.x, check.in_classes(seen.y, classes, train or data), *learned)
    judged = read_scores(explanation) if ours is None else ours.explain(rows.x)
    card = judge(
        judged,
        rows.x,
        check.in_classes(rows.y, classes, data),
        train=others,
        explainer=ours,
        truth=rows.truth,
        control_flow=rows.control_flow,
        keep=keep,
        measures=measure,
        margin=margin,
        device=device,
    )
    colour = {"honest": "green", "encodes": "red"}.get(card.verdict, "yellow")
    typer.echo(typer.style(card.verdict.upper(), fg=colour, bold=True) + f": {card.why}.")
    better = {True: "higher", False: "lower", None: ""}
    lines = [(line.label, line.estimate, better[line.higher_is_better], line.reads) for line in card.lines]
    _table(["metric", "value [interval]", "better", "how to read it"], lines)
    made: dict[str, Callable[[], str | bytes]] = {".html": card.to_html, ".json": card.to_json, ".parquet": card.to_parquet}
    _write(out, made | {".csv": lambda: card.to_frame().to_csv(index=False)})


@app.command()
def compare(
    explainers: Annotated[list[str], Argument(metavar="EXPLAINER...", help="default, realx, l2x ... or shap, lime, saliency ...")],
    data: Annotated[list[str], Option(metavar="DATA", help="A built-in data set (see: lexplain data); may be given several times.")],
    seeds: Annotated[int, Option(min=1, help="How many times to repeat it.")] = 3,
    keep: Annotated[int | None, Option(min=1, help="Features to keep. Default: as many as really decide, else half.")] = None,
    metric: Annotated[list[str] | None, Option(help="A number to compare by, such as eACC; may be given several times.")] = None,
    rows: Annotated[int | None, Option(min=1, help="Most test rows to explain. Default: all, but 200 for shap and lime.")] = None,
    out: Annotated[Path | None, Option(help="Write the table: .csv, .json, .parquet, .html or .md.")] = None,
    store: Annotated[Path | None, Option(help="Keep finished cells in this folder, and go on from it when run again.")] = None,
    workers: Annotated[int, Option(min=1, help="Processes at a time.")] = 1,
) -> None:
    """Compare explainers on data sets, judged alike: by EVAL-X, by encoding, and by the truth where it is known.

    Try: lexplain compare realx l2x shap --data s3 --data s1 --keep 5 --out table.csv
    """
    from . import check
    from .comparison import compare as run
    from .report import Section, page
    from .reproduce.tables import comparison_page

    if check.writable(out, (".csv", ".json", ".parquet", ".html", ".md")) == ".parquet":
        check.parquet_possible()
    found = run(explainers, data, metric or None, seeds, keep=keep, rows=rows, store=store, workers=workers)
    first, tests = found.first_tests()
    parts = {
        "Means over seeds": found.summary().reset_index(),
        f"Paired tests of {first}": tests,
        "What it cost": found.costs().reset_index(),
    }
    shown = {title: part.map(_number) for title, part in parts.items()}
    for title, part in shown.items():
        typer.secho(title, bold=True)
        _table([str(name) for name in part.columns], part.itertuples(index=False))
    for line in found.failures():
        typer.secho(f"Warning: {line}", fg="yellow", err=True)
    lead = f"{len(set(explainers))} explainers, {len(set(data))} data sets, {seeds} seeds, judged alike."
    sections = [Section(title, table=part) for title, part in parts.items()]
    made: dict[str, Callable[[], str | bytes]] = {".csv": found.to_csv, ".json": found.to_json, ".parquet": found.to_parquet}
    made |= {".html": lambda: page("Explainers compared", lead, sections, version=__version__)}
    told = [("--data", name) for name in data] + [("--seeds", seeds)] + [("--metric", name) for name in metric or ()]
    told += [(option, number) for option, number in (("--keep", keep), ("--rows", rows)) if number is not None]
    command = shlex.join(["lexplain", "compare", *explainers, *(str(word) for pair in told for word in pair)])
    _write(out, made | {".md": lambda: comparison_page(command, lead, shown)})


@app.command()
def demo(
    out: Annotated[Path, Option(help="Where to write the page.")] = Path("report.html"),
    seed: Annotated[int, Option(help="The same seed gives the same page.")] = 0,
    quick: Annotated[bool, Option(help="Fewer rows and shorter fits.")] = False,
) -> None:
    """Fit, explain and audit on data whose truth is known, and write a page about it.

    Try: lexplain demo --quick
    """
    from . import check
    from .demo import run

    check.writable(out, (".html",))
    run(out, seed=seed, quick=quick)


@app.command()
def reproduce(
    name: Annotated[str | None, Argument(help="A table; without one, all of them are listed.")] = None,
    quick: Annotated[bool, Option(help="Smaller sizes, to see that it runs.")] = False,
    seeds: Annotated[int, Option(min=1, help="How many times to repeat it.")] = 3,
    out: Annotated[Path, Option(help="Folder of the results.")] = Path("docs/results"),
    workers: Annotated[int, Option(min=1, help="Processes at a time.")] = 1,
) -> None:
    """Make a table of the papers anew, with the published numbers beside ours.

    Try: lexplain reproduce NAME --quick
    """
    from . import reproduce as tables

    if name is None:
        _table(["table", "what it is"], tables.TABLES.items())
    else:
        typer.echo(f"Written to {tables.reproduce(name, quick=quick, seeds=seeds, out=out, workers=workers)}")


@app.command("right-reasons")
def right_reasons(
    data: Data,
    out: Annotated[Path | None, Option(help="Where to keep the model: a .safetensors file.")] = None,
    label: Label = None,
    irrelevant: Annotated[list[str] | None, Option(metavar="COLUMN", help="A column that must not decide; again for more.")] = None,
    annotations: Annotated[
        Path | None, Option(help="A .csv with the columns row (from 0) and feature: what must not decide where.")
    ] = None,
    strength: Annotated[str, Option(metavar="auto|10", help="What wrong reasons cost beside wrong answers.")] = "auto",
    test: Annotated[str | None, Option(metavar="DATA", help="Other rows, to score and explain. Default: the training rows.")] = None,
    predictions: Annotated[Path | None, Option(help="Write what the model says of the rows of --test: .csv.")] = None,
    report: Annotated[Path | None, Option(help="Write a page of explanations of the rows of --test: .html.")] = None,
    epochs: Annotated[int, Option(min=1, help="Passes over the rows.")] = 64,
    seed: Annotated[int, Option(help="The same seed gives the same model.")] = 0,
    device: Device = "auto",
) -> None:
    """Train a network that must not use some columns, and see what it uses instead.

    Try: lexplain right-reasons train.csv --label y --irrelevant age --out model.safetensors
    """
    import numpy as np
    import pandas as pd

    from . import check
    from .data import DATASETS
    from .data.files import find_rows
    from .right_reasons.annotation import mask_from_columns, mask_from_table
    from .right_reasons.right_table import RightTable

    for path, ending in ((out, ".safetensors"), (predictions, ".csv"), (report, ".html")):
        check.writable(path, (ending,))
    rows = find_rows(data, "train", label)
    mask = mask_from_columns(irrelevant or [], rows.names).astype(np.float32)
    if annotations is not None:
        marked = mask_from_table(annotations, rows.names, len(rows.x))
        mask = np.fmax(marked, mask) if irrelevant else marked
    plain, told = (RightTable(strength=check.strength_asked(strength), epochs=epochs, random_state=seed, device=device) for _ in range(2))
    plain.fit(rows.x, rows.y)
    told.fit(rows.x, rows.y, irrelevant_mask=mask)
    judged = rows if test is None else find_rows(test, "test", None if test in DATASETS else label, known=told.features)
    explained = told.explain(judged.x)
    _uses(rows.names, plain.explain(judged.x).scores, explained.scores)
    scored = "" if judged.y is None else f"; score {plain.score(judged.x, judged.y):.3f} plain, {told.score(judged.x, judged.y):.3f} now"
    used = f"; {told.model.still_used_:.0%} of held-out answers change with what was marked"
    typer.echo(f"{len(rows.x):,} rows, strength {told.model.strength_:.3g}{scored}{used}")
    if out is not None:
        told.save(out)
        typer.echo(f"Written to {out}")
    _write(predictions, {".csv": lambda: pd.DataFrame({"prediction": told.predict(judged.x)}).to_csv(index_label="row")})
    _write(report, {".html": explained.to_html})


def _uses(names: Sequence[str], plain: Any, told: Any) -> None:
    """Show which share of all slopes each column has, without and with the annotation."""
    before, after = (scores.mean(0) / scores.mean(0).sum() for scores in (plain, told))
    order = before.maximum(after).argsort(descending=True).tolist()[:15]
    _table(["column", "plain", "now"], [(names[j], f"{float(before[j]):.1%}", f"{float(after[j]):.1%}") for j in order])


def _number(cell: Any) -> Any:
    """A cell as it is shown: three digits, and nothing where there is no number."""
    from .metrics.statistics import decimals

    return "" if cell != cell else decimals(cell, 3) if isinstance(cell, float) else cell


def _table(head: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*head, box=None, header_style="bold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    Console(markup=False, highlight=False).print(table)  # names of columns may hold brackets


def _write(out: Path | None, made: Mapping[str, Callable[[], str | bytes]]) -> None:
    if out is not None:
        from .report.write import write_atomically

        content = made[out.suffix.lower()]()
        write_atomically(out, content if isinstance(content, bytes) else content.encode())
        typer.echo(f"Written to {out}")


if __name__ == "__main__":
    main()
