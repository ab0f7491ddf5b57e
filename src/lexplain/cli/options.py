"""The arguments and options of the commands: their types and what the help says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

METHOD_NAMES = ("basex", "gains", "invase", "l2x", "lex", "meed", "realx", "sufficient", "vibi")  # METHODS, without importing torch

# ---- of several commands ----

Data = Annotated[str, Argument(metavar="DATA", help="A built-in data set (see: lexplain data), or a .csv or .npz file.")]
Model = Annotated[Path, Argument(metavar="MODEL", help="What lexplain fit wrote.")]
Label = Annotated[
    str | None, Option(metavar="COLUMN", help="The target column of a CSV file. Default: the last one called y, label, target or class.")
]
OutputColumns = Annotated[str | None, Option(metavar="COL,COL", help="Columns with a model's recorded class probabilities, as the target.")]
Device = Annotated[str, Option(help="auto, cpu, cuda or cuda:1.")]
Seed = Annotated[int, Option(help="The same seed gives the same result.")]
Seeds = Annotated[int, Option(min=1, help="How many times to repeat it.")]
Recompute = Annotated[bool, Option("--recompute", help="Compute again the cells that earlier code computed.")]
Workers = Annotated[int, Option(min=1, help="Processes at a time.")]

# ---- data ----

DatasetName = Annotated[str | None, Argument(help="A data set; without one, all of them are listed.")]
TrainRows = Annotated[int | None, Option(help="Rows to train on.")]
NoiseColumns = Annotated[int, Option(help="Columns of noise to append.")]
Correlation = Annotated[float, Option(help="Correlation of neighbouring columns, from 0 to below 1.")]
TargetKind = Annotated[str, Option(help="What y is: labels, probabilities or values.")]
SplitName = Annotated[str, Option(help="Which split to write: train, validation or test.")]
PartFile = Annotated[Path | None, Option(help="Write the part: .csv, or .npz with the truth.")]

# ---- fit ----

ModelFile = Annotated[Path, Option(help="Where to keep the explainer: a .lex file.")]
MethodName = Annotated[
    str, Option(help=f"default or one of: {', '.join(METHOD_NAMES)}. (meed needs a model that can be called: use it from Python.)")
]
Keep = Annotated[
    str | None,
    Option(
        metavar="5|0.3|auto",
        help="How many features of a row to keep, or which share; auto: gains chooses. Default for images: a tenth.",
    ),
]
Penalty = Annotated[float | None, Option(help="Instead of --keep: the price of keeping every feature.")]
Patch = Annotated[
    int | None, Option(min=1, help="For images: the side of a patch in pixels. Default: the data set's own, else 1 up to 64 pixels.")
]
Imputer = Annotated[str | None, Option(help="What replaces hidden values, such as GaussianMixture. Default: the method's own.")]
Continuity = Annotated[
    float | None, Option(help="For images: the price of each break in a mask, such as 0.01. Higher prices give connected masks.")
]
Tolerance = Annotated[float | None, Option(help="With --keep auto: by how many nats predictions may move.")]
TolerancePoints = Annotated[float | None, Option(help="Instead of --tolerance: points of accuracy that a judge may lose.")]
Budget = Annotated[str, Option(help="default, or thorough: three times the networks, and more rounds.")]
RegimeName = Annotated[str | None, Option(help="free: predictor and selector learn together; fixed: the predictor learns first.")]
Epochs = Annotated[int | None, Option(help="Passes over the rows.")]
BatchSize = Annotated[int | None, Option(help="Rows of a training step.")]
LearningRate = Annotated[float | None, Option(help="Size of a training step.")]
Checkpoint = Annotated[Path | None, Option(help="Keep the training state here, and resume from it when run again.")]
Background = Annotated[
    int | None,
    Option(min=0, help="Training rows that the file may hold, to draw hidden values from; 0: none. Default: at most 2,000."),
]
FitReport = Annotated[Path | None, Option(help="Write a page about the fit: .html.")]

# ---- explain ----

ExplanationFile = Annotated[Path | None, Option(help="Write all rows: .csv, .json or .html.")]
RowsShown = Annotated[int, Option(min=0, help="How many rows to show.")]

# ---- audit ----

Audited = Annotated[
    Path,
    Argument(metavar="EXPLANATION", help="What lexplain fit wrote, or any tool's scores or masks of DATA's rows: .csv, .npy, .json."),
]
EvaluatorRows = Annotated[str | None, Option(metavar="DATA", help="Other rows, which the judges learn from. Default: halves of DATA.")]
KeepForScores = Annotated[int | None, Option(min=1, help="For another tool's scores: how many features of a row count as kept.")]
Measures = Annotated[list[str] | None, Option(help="A measure to take, such as retraining; repeatable. Default: the quick ones.")]
Margin = Annotated[float, Option(min=0.0, help="Nats of encoding that are tolerated.")]
CardFile = Annotated[Path | None, Option(help="Write the card: .html, .json, .csv or .parquet.")]

# ---- compare ----

Explainers = Annotated[list[str], Argument(metavar="EXPLAINER...", help="default, realx, l2x ... or shap, lime, saliency ...")]
Datasets = Annotated[list[str], Option("--data", metavar="DATA", help="A built-in data set (see: lexplain data); repeatable.")]
KeepForAll = Annotated[int | None, Option(min=1, help="Features to keep. Default: as many as really decide, else half.")]
ComparedMeasures = Annotated[list[str] | None, Option(help="A measure to compare by, such as eACC; repeatable.")]
TestRows = Annotated[int | None, Option(min=1, help="Most test rows to explain. Default: all, but 200 for shap and lime.")]
TableFile = Annotated[Path | None, Option(help="Write the table: .csv, .json, .parquet, .html or .md.")]
Store = Annotated[Path | None, Option(help="Keep finished cells in this folder, and resume from it when run again.")]

# ---- demo, reproduce ----

DemoPage = Annotated[Path, Option(help="Where to write the page.")]
DemoQuick = Annotated[bool, Option(help="Fewer rows and shorter fits.")]
TableName = Annotated[str | None, Argument(help="A table; without one, all of them are listed.")]
TableQuick = Annotated[bool, Option(help="Smaller sizes, to see that it runs.")]
ResultsFolder = Annotated[Path, Option(help="Folder of the results.")]

# ---- right-reasons ----

NetworkFile = Annotated[Path | None, Option(help="Where to keep the model: a .safetensors file.")]
Irrelevant = Annotated[list[str] | None, Option(metavar="COLUMN", help="A column that the network must not use; repeatable.")]
Annotations = Annotated[Path | None, Option(help="A .csv with the columns row (from 0) and feature: what must not be used in which row.")]
Strength = Annotated[str, Option(metavar="auto|10", help="Weight of the penalty on what must not be used.")]
OtherRows = Annotated[str | None, Option(metavar="DATA", help="Other rows, to score and explain. Default: the training rows.")]
PredictionFile = Annotated[Path | None, Option(help="Write the predictions for the rows of --test: .csv.")]
ExplanationPage = Annotated[Path | None, Option(help="Write a page of explanations of the rows of --test: .html.")]
EpochsOfNetwork = Annotated[int, Option(min=1, help="Passes over the rows.")]
