"""The arguments and options of the commands: their types and help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

METHOD_NAMES = (
    "basex",
    "contributions",
    "gains",
    "invase",
    "l2x",
    "lex",
    "meed",
    "realx",
    "sufficient",
    "vibi",
)  # METHODS, without importing torch

# ---- of several commands ----

Data = Annotated[str, Argument(metavar="DATA", help="A built-in data set (see: lexplain data), or a .csv or .npz file.")]
Model = Annotated[Path, Argument(metavar="MODEL", help="File written by lexplain fit.")]
Label = Annotated[
    str | None, Option(metavar="COLUMN", help="Target column of a CSV file. Default: the last column called y, label, target or class.")
]
OutputColumns = Annotated[
    str | None, Option(metavar="COL,COL", help="Columns with a model's probabilities of all classes, used as the target.")
]
Device = Annotated[str, Option(help="auto (a GPU if there is one), cpu, cuda or cuda:1.")]
Seed = Annotated[int, Option(help="Random seed.")]
Seeds = Annotated[int, Option(min=1, help="Number of repetitions, with different random seeds.")]
Recompute = Annotated[bool, Option("--recompute", help="Recompute results stored by other code versions.")]
Workers = Annotated[int, Option(min=1, help="Number of processes.")]

# ---- data ----

DatasetName = Annotated[str | None, Argument(help="A data set. By default, all of them are listed.")]
TrainRows = Annotated[int | None, Option(help="Number of training rows.")]
NoiseColumns = Annotated[int, Option(help="Number of columns of noise to append.")]
Correlation = Annotated[float, Option(help="Correlation of neighbouring columns, from 0 to below 1.")]
TargetKind = Annotated[str, Option(help="Type of the target: labels, probabilities or values.")]
SplitName = Annotated[str, Option(help="Split to write: train, validation or test.")]
PartFile = Annotated[Path | None, Option(help="Write the split to this file: .csv, or .npz (with the ground truth).")]

# ---- fit ----

ModelFile = Annotated[Path, Option(help="Write the explainer to this .lex file.")]
MethodName = Annotated[
    str,
    Option(
        help=f"default or one of: {', '.join(METHOD_NAMES)}. default is gains for tables and sufficient for images. contributions and meed "
        "need a model, so use them from Python."
    ),
]
Keep = Annotated[
    str | None,
    Option(
        metavar="5|0.3|auto",
        help="Features to keep per row: a number, a rate, or auto (for gains: as few as --tolerance allows). Default: for gains, every "
        "feature whose replacement changes the prediction by at least 0.0055 nats; for sufficient, 10 %; otherwise set by the method.",
    ),
]
Penalty = Annotated[
    float | None, Option(help="Instead of --keep, for gains, realx, invase and basex: cost, in nats, of keeping all features.")
]
Patch = Annotated[
    int | None,
    Option(min=1, help="For images: side of a patch in pixels. Default: set by the data set, or at most 64 patches per side."),
]
Imputer = Annotated[str | None, Option(help="Imputer that replaces hidden values, such as GaussianMixture. Default: set by the method.")]
Continuity = Annotated[
    float | None,
    Option(help="For images: cost per pair of a kept and a hidden neighbour, such as 0.01. Higher values give connected masks."),
]
Tolerance = Annotated[
    float | None,
    Option(help="With --keep auto: accepted change of predictions, in nats (0.01: the predicted class becomes about 1 % less probable)."),
]
TolerancePoints = Annotated[float | None, Option(help="Instead of --tolerance: points of accuracy that may be lost.")]
Budget = Annotated[
    str, Option(help="default, or thorough (gains: three times as many networks, trained more often; other methods: twice the steps).")
]
RegimeName = Annotated[str | None, Option(help="free (selector and predictor are trained together) or fixed (predictor first).")]
Epochs = Annotated[int | None, Option(help="Passes over the rows.")]
BatchSize = Annotated[int | None, Option(help="Rows per training step.")]
LearningRate = Annotated[float | None, Option(help="Learning rate of the optimiser.")]
Checkpoint = Annotated[Path | None, Option(help="File for the training state. Run again to resume.")]
Background = Annotated[
    int | None,
    Option(min=0, help="Training rows to store in the file, for imputation; 0 stores none. Default: at most 2,000."),
]
FitReport = Annotated[Path | None, Option(help="Write a page about the fit to this .html file.")]

# ---- explain ----

Verify = Annotated[
    bool, Option("--verify", help="Query the explainer's predictor: keep the fewest features of each row under which its answer holds.")
]

ExplanationFile = Annotated[Path | None, Option(help="Write the explanations of all rows: .csv, .json or .html.")]
RowsShown = Annotated[int, Option(min=0, help="Number of rows to print.")]

# ---- audit ----

Audited = Annotated[
    Path,
    Argument(metavar="EXPLANATION", help="File written by lexplain fit, or another tool's scores or masks of DATA (.csv, .npy, .json)."),
]
EvaluatorRows = Annotated[
    str | None,
    Option(
        metavar="DATA",
        help="Other rows, to train the evaluators on. Default: the train split of a built-in data set. For a file, evaluators trained on "
        "one half of it evaluate the other half.",
    ),
]
KeepForScores = Annotated[int | None, Option(min=1, help="For scores of another tool: number of features per row that count as kept.")]
Measures = Annotated[list[str] | None, Option(help="Measure to add, such as retraining; repeatable. --measure list shows all names.")]
Margin = Annotated[float, Option(min=0.0, help="Information, in nats, that an honest choice of features may reveal beyond their values.")]
CardFile = Annotated[Path | None, Option(help="Write the card: .html, .json, .csv or .parquet.")]

# ---- compare ----

Explainers = Annotated[list[str], Argument(metavar="EXPLAINER...", help="default, realx, l2x ... or shap, lime, saliency ...")]
Datasets = Annotated[list[str], Option("--data", metavar="DATA", help="A built-in data set (see: lexplain data); repeatable.")]
KeepForAll = Annotated[
    int | None, Option(min=1, help="Number of features to keep. Default: the number of true features if known, otherwise half of all.")
]
ComparedMeasures = Annotated[list[str] | None, Option(help="Measure to compare, such as eACC; repeatable. --measure list shows all names.")]
TestRows = Annotated[int | None, Option(min=1, help="Maximum number of test rows to explain. Default: all; 200 for shap and lime.")]
TableFile = Annotated[Path | None, Option(help="Write the table: .csv, .json, .parquet, .html or .md.")]
Store = Annotated[Path | None, Option(help="Folder for finished results. Run again to resume.")]

# ---- demo, reproduce ----

DemoPage = Annotated[Path, Option(help="File of the page.")]
DemoQuick = Annotated[bool, Option(help="Fewer rows and shorter fits.")]
TableName = Annotated[str | None, Argument(help="Table to reproduce. By default, all tables are listed.")]
TableQuick = Annotated[bool, Option(help="Less data and training, to test that it runs.")]
ResultsFolder = Annotated[Path, Option(help="Folder of the results.")]

# ---- right-reasons ----

NetworkFile = Annotated[Path | None, Option(help="Write the network to this .safetensors file.")]
Irrelevant = Annotated[list[str] | None, Option(metavar="COLUMN", help="Column that the network must not use; repeatable.")]
Annotations = Annotated[
    Path | None, Option(help='A .csv file with two columns: "row" (from 0), and "feature" (one that the network must not use in this row).')
]
Strength = Annotated[str, Option(metavar="auto|10", help="Weight of the penalty on the columns that must not be used.")]
OtherRows = Annotated[str | None, Option(metavar="DATA", help="Rows to explain and to test the accuracy on. Default: the training rows.")]
PredictionFile = Annotated[Path | None, Option(help="Write the predictions for the rows of --test to this .csv file.")]
ExplanationPage = Annotated[Path | None, Option(help="Write a page of explanations of the rows of --test to this .html file.")]
EpochsOfNetwork = Annotated[int, Option(min=1, help="Passes over the rows.")]
