"""Descriptions of data sets, and their splits as the content of a file."""

from __future__ import annotations

import io

import numpy as np

from .. import check
from ..core import Dataset
from ..core.kinds import kind_of
from ..features.tables import holds_categories


def part_as_bytes(data: Dataset, part: str, ending: str) -> bytes:
    """A split of a data set as the content of a file: columns and y as .csv, or also ground truth and probabilities as .npz."""
    rows = getattr(data, check.one_of(part, ["train", "validation", "test"], "part"))
    if ending == ".csv":
        if rows.x.ndim > 2:
            raise ValueError(f"{data.name} contains images of shape {tuple(rows.x.shape[1:])}, which are not a table. Write an .npz file.")
        frame = data.frame(rows)
        targets = {"y": rows.y} if rows.y.ndim == 1 else {f"y{c}": rows.y[:, c] for c in range(rows.y.shape[1])}
        frame = frame.assign(**targets)
        return frame.to_csv(index=False).encode()
    if rows.x.ndim == 2 and any(holds_categories(dtype) for dtype in data.frame(rows).dtypes):
        raise ValueError(f"{data.name} has categorical columns, which cannot be stored in an .npz file. Write a .csv file.")
    x = rows.x if rows.x.ndim > 2 else data.frame(rows).to_numpy()
    known = {"x": x, "y": rows.y, "truth": rows.truth, "probabilities": rows.probabilities, "names": np.asarray(data.names)}
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **{name: array for name, array in known.items() if array is not None})
    return content.getvalue()


def facts(data: Dataset) -> dict[str, str]:
    """Facts about a data set, by name."""
    train, test = data.train, data.test
    text = {"rows": ", ".join(f"{part} {len(getattr(data, part)):,}" for part in ("train", "validation", "test")), **_columns(data)}
    if train.truth is not None:
        sizes, counts = np.unique(train.truth.sum(1), return_counts=True)
        each = ", ".join(f"{k} ({n / len(train):.0%} of the rows)" for k, n in zip(sizes, counts, strict=True))
        text["true features"] = each if len(sizes) <= 12 else f"from {sizes[0]} to {sizes[-1]}, {train.truth.sum(1).mean():.3g} on average"
    if data.control_flow is not None:
        text["control flow"] = f"{data.names[data.control_flow]}, which decides which other features matter"
    if train.y.ndim == 1 and train.y.dtype.kind in "iub":
        classes, counts = np.unique(train.y, return_counts=True)
        text["classes"] = ", ".join(f"{c} ({n / len(train):.1%})" for c, n in zip(classes, counts, strict=True))
    elif train.y.ndim == 1:
        text["values"] = f"from {train.y.min():.3g} to {train.y.max():.3g}, {train.y.mean():.3g} on average"
    if test.probabilities is not None:
        text["best accuracy"] = f"{test.probabilities.max(1).mean():.1%}, of a model that returns the true probabilities"
    return text


def _columns(data: Dataset) -> dict[str, str]:
    """Columns and categories of a table, or the sizes of an image and its features, as text."""
    in_words = None if data.features is None else kind_of(data.features).size_in_words
    if in_words is not None and data.features is not None:
        return in_words(data, data.features)
    many = len(data.names)
    text = {"columns": f"{many}: {', '.join(data.names) if many <= 12 else f'{data.names[0]}, {data.names[1]}, …, {data.names[-1]}'}"}
    frame = data.frame(data.train)
    categories = {str(name): frame[name].nunique() for name in frame.columns if holds_categories(frame[name].dtype)}
    if categories:
        text["categories"] = ", ".join(f"{name} ({n})" for name, n in categories.items())
    return text
