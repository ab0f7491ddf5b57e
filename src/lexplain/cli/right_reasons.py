"""`lexplain right-reasons`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options
from .output import show_table, write_out

if TYPE_CHECKING:
    import numpy as np

    from ..core import Explanation
    from ..core.contracts import Features


def right_reasons(
    data: options.Data,
    out: options.NetworkFile = None,
    label: options.Label = None,
    irrelevant: options.Irrelevant = None,
    annotations: options.Annotations = None,
    strength: options.Strength = "auto",
    test: options.OtherRows = None,
    predictions: options.PredictionFile = None,
    report: options.ExplanationPage = None,
    epochs: options.EpochsOfNetwork = 64,
    seed: options.Seed = 0,
    device: options.Device = "auto",
) -> None:
    """Train a network that does not use some columns, and show what it uses.

    Try: lexplain right-reasons train.csv --label y --irrelevant age --out model.safetensors
    """
    import pandas as pd

    from ..core.kinds import features_for
    from ..data import DATASETS
    from ..data.files import find_rows
    from ..right_reasons import RightReasons
    from .rows import rows_with_target, writable

    for path, ending in ((out, ".safetensors"), (predictions, ".csv"), (report, ".html")):
        writable(path, (ending,))
    rows = rows_with_target(data, "train", label)
    features = (features_for(rows.x) if rows.features is None else rows.features).fit(rows.x)
    mask = _irrelevant_mask(irrelevant or [], annotations, features, len(rows.x))
    settings: dict[str, Any] = {"strength": _strength_asked(strength), "epochs": epochs, "random_state": seed, "device": device}
    plain = RightReasons(features=features, **settings).fit(rows.x, rows.y)
    right = RightReasons(features=features, **settings).fit(rows.x, rows.y, irrelevant_mask=mask)
    other = rows if test is None else find_rows(test, "test", None if test in DATASETS else label, known=features)
    explained = right.explain(other.x)
    _show_use(plain.explain(other.x), explained)
    scores = "" if other.y is None else f"; score {plain.score(other.x, other.y):.3f} plain, {right.score(other.x, other.y):.3f} annotated"
    used = f"; {right.still_used_:.0%} of held-out predictions still change when the marked columns change"
    typer.echo(f"{len(rows.x):,} rows, strength {right.strength_:.3g}{scores}{used}")
    if out is not None:
        right.save(out)
        typer.echo(f"Written to {out}")
    write_out(predictions, {".csv": lambda: pd.DataFrame({"prediction": right.predict(other.x)}).to_csv(index_label="row")})
    write_out(report, {".html": explained.to_html})


def _strength_asked(strength: str) -> float | str:
    """Parse the weight of a penalty, or "auto"."""
    try:
        return strength if strength == "auto" else float(strength)
    except ValueError:
        raise ValueError(f"--strength must be auto or a number, got {strength!r}.") from None


def _irrelevant_mask(columns: list[str], annotations: Path | None, features: Features, rows: int) -> np.ndarray:
    """The mask of columns that must not be used: some in all rows, and those that a file marks per row."""
    import numpy as np

    from ..right_reasons import mask_from_columns, mask_from_table

    mask = mask_from_columns(columns, features.names).astype(np.float32)
    if annotations is None:
        return mask
    marked = mask_from_table(annotations, features.names, rows)
    return np.fmax(marked, mask) if columns else marked


def _show_use(plain: Explanation, right: Explanation) -> None:
    """Print the share of each feature in the input gradients, without and with the annotation."""
    names = right.column_names
    before, after = (explanation.scores.mean(0) / explanation.scores.mean(0).sum() for explanation in (plain, right))
    order = before.maximum(after).argsort(descending=True).tolist()[:15]
    show_table(["column", "plain", "annotated"], [(names[j], f"{float(before[j]):.1%}", f"{float(after[j]):.1%}") for j in order])
