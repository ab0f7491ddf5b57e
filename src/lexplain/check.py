"""Every refusal and its wording: what was given, what is needed, the way out. And `require` for optional tools."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor

Entry = TypeVar("Entry")
FEWEST_ROWS = 20  # a tenth of fewer rows than this cannot judge anything
MOST_CATEGORIES = 1000  # a column with more names rows rather than kinds of them, and its encoding would not fit into memory


def require(name: str, extra: str) -> ModuleType:
    """Import an optional tool, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise ImportError(f"{name} is not installed; run: pip install 'lexplain[{extra}]'") from missing


def one_of(name: str, choices: Sequence[str], what: str) -> str:
    """Refuse a name that is not on the menu."""
    if name not in choices:
        raise ValueError(f"{name!r} is no {what}; choose one of: {', '.join(sorted(choices))}")
    return name


def readable(path: Path) -> Path:
    """Refuse a file that is not there."""
    if not path.is_file():
        raise FileNotFoundError(f"no file at {path}; check the path")
    return path


def explanation_fits(scores: Tensor, mask: Tensor, names: Sequence[Any], valid: Tensor | None = None) -> None:
    """Refuse an explanation whose parts differ in shape, or that keeps padding."""
    own = len(names) > 0 and not isinstance(names[0], str)  # one tuple a row
    fits = scores.ndim == 2 and scores.shape == mask.shape and (valid is None or valid.shape == mask.shape)
    named = fits and (
        len(names) == len(scores) and all(len(row) <= scores.shape[1] for row in names) if own else len(names) == scores.shape[1]
    )
    if not named:
        raise ValueError(
            f"scores of shape {tuple(scores.shape)}, a mask of shape {tuple(mask.shape)} and {len(names)} names of "
            f"{'rows' if own else 'features'} do not fit; scores and mask must both be (rows, features)"
        )
    if valid is not None and bool((mask & ~valid).any()):
        raise ValueError("the mask keeps padding, which is no feature; a feature that is not valid can never be kept")


def explanation_record(text: str, form: str) -> dict[str, Any]:
    """Refuse text that is not one of our explanations."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as broken:
        raise ValueError(f"this is not JSON ({broken}); give what Explanation.to_json wrote") from None
    if not isinstance(record, dict) or record.get("format") != form:
        raise ValueError(f"this JSON is no lexplain explanation (format {form}); give what Explanation.to_json wrote")
    missing = {"names", "scores", "mask", "method", "target", "classes"} - set(record)
    if missing:
        raise ValueError(f"this explanation lacks {sorted(missing)}; give what Explanation.to_json wrote")
    return record


def table(X: Any) -> np.ndarray | pd.DataFrame:
    """Return a DataFrame as it is, and other rows as an array of two axes; refuse what is no table. Its numbers are not looked at."""
    if not isinstance(X, pd.DataFrame):
        return two_axes(X)
    odd = [label for label in X.columns if not isinstance(label, (str, int, float, np.number))]
    if odd:
        raise ValueError(f"the column label {odd[0]!r} is neither text nor a number; rename it, such as with X.columns.map(str)")
    names = [str(label) for label in X.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"X has more than one column named {twice[:5]}; rename them, so that each column has a name of its own")
    if 0 in X.shape:
        two_axes(np.zeros(X.shape))  # which refuses it
    for j in (j for j, dtype in enumerate(X.dtypes) if holds_categories(dtype)):
        categories(X.iloc[:, j])
    return X


def holds_categories(dtype: Any) -> bool:
    """Whether a column of this type holds categories: pandas' own, or text."""
    return isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)) or dtype == np.dtype(object)


def categories(column: pd.Series[Any]) -> None:
    """Refuse a column of categories that lacks some, mixes text with numbers, holds other things, or has too many to encode."""
    _all_there(column)
    own = isinstance(column.dtype, pd.CategoricalDtype)
    kind = pd.api.types.infer_dtype(column.cat.categories if own else column, skipna=False)
    if kind not in (("string", "integer", "floating", "boolean") if own else ("string",)):
        raise ValueError(
            f"could not convert string to float: column {str(column.name)!r} is of type {column.dtype}, but holds {_held(column)}; "
            "make it all numbers, such as with X.infer_objects(), or all text, such as with astype(str)"
        )
    many = len(column.cat.categories) if own else column.nunique()
    if many > MOST_CATEGORIES:
        raise ValueError(
            f"column {str(column.name)!r} has {many:,} categories, but at most {MOST_CATEGORIES:,} can be encoded; "
            "leave it out if it names rows, make it numbers if it holds numbers as text, or join rare categories"
        )


def known_categories(column: pd.Series[Any], known: Sequence[Any]) -> np.ndarray:
    """Return the positions (n,) of a column's cells among the categories of the fit; refuse a missing or unknown one."""
    _all_there(column)
    index = pd.Index(known)
    if isinstance(column.dtype, pd.CategoricalDtype):
        at: np.ndarray = index.get_indexer(column.cat.categories)[column.cat.codes.to_numpy()]
    else:
        at = index.get_indexer(pd.Index(column))
    if (at < 0).any():
        row = int((at < 0).argmax())
        raise ValueError(
            f"column {str(column.name)!r} holds {_plain(column.iloc[row])!r} in row {row}, which is no category of the fit "
            f"({', '.join(repr(name) for name in known[:5])}{', …' if len(known) > 5 else ''}); "
            "leave such rows out, or fit again with rows that hold it"
        )
    return at


def _all_there(column: pd.Series[Any]) -> None:
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"Input X contains NaN (first in row {int(missing.argmax())}, column {column.name}); impute or drop such rows, or make them "
            "a category of their own, such as with fillna('unknown'): missing values are not supported yet"
        )


def _held(column: pd.Series[Any]) -> str:
    """What a column holds beside numbers: its first text, else the type of its cells."""
    at = next((row for row, cell in enumerate(column) if isinstance(cell, str)), None)
    if at is not None:
        return f"text ({column.iloc[at]!r} in row {at})"
    cells = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    return f"{pd.api.types.infer_dtype(cells)} values"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def some_rows_of_a_frame(X: Any, columns: Sequence[str]) -> None:
    """Refuse no rows, and an array where the fit saw categories, which arrays do not name."""
    if not isinstance(X, pd.DataFrame):
        raise ValueError(
            f"X is a {type(X).__name__}, but columns {list(columns)[:5]} held categories in the fit; give a DataFrame with the same columns"
        )
    if len(X) == 0:
        finite_numbers(np.zeros(X.shape))


def eaten_by_network(columns: Sequence[str]) -> None:
    """Refuse to hand categories to a torch network."""
    if columns:
        raise ValueError(
            f"columns {list(columns)[:5]} hold categories, but a torch network reads numbers; pass a function of DataFrames that encodes "
            "them and asks the network, or encode them yourself and make each one a feature with Groups(...)"
        )


def two_axes(X: Any) -> np.ndarray:
    """Return rows as an array (rows, columns); refuse sparse matrices, other shapes, and no rows."""
    if hasattr(X, "toarray"):
        raise TypeError("a sparse matrix was passed, but dense data is needed; use X.toarray()")
    values = as_array(X)
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: numbers must be real")
    if values.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {values.ndim}D array instead: X has shape {values.shape}, but (rows, columns) is needed. "
            "Reshape your data with X.reshape(-1, 1) if it has one column, or X.reshape(1, -1) if it is one row"
        )
    if values.shape[0] == 0 or values.shape[1] == 0:
        raise ValueError(
            f"Found array with {values.shape[0]} sample(s) and {values.shape[1]} feature(s) (shape={values.shape}) "
            "while a minimum of 1 is required."
        )
    return values


def finite_numbers(X: Any) -> np.ndarray:
    """Return a table as an array of doubles; refuse strings, NaN, infinity and other shapes, naming the column."""
    names = [str(c) for c in X.columns] if isinstance(X, pd.DataFrame) else None
    if isinstance(X, pd.DataFrame):
        bad = [j for j, dtype in enumerate(X.dtypes) if not pd.api.types.is_numeric_dtype(dtype)]
        if bad:
            told = _held(X.iloc[:, bad[0]])
            raise ValueError(
                f"could not convert string to float: columns {[str(X.columns[j]) for j in bad]} hold {told}, but numbers are needed; "
                "encode them first, or use X.infer_objects() if they are numbers"
            )
        if any(isinstance(dtype, pd.api.extensions.ExtensionDtype) for dtype in X.dtypes):
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    raw = two_axes(X)
    try:
        values = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as broken:
        raise type(broken)(f"{broken}: every column must hold numbers; encode text first, or give a DataFrame") from None
    if not max(-float(values.min()), float(values.max())) <= GREATEST:  # both are NaN where any value is
        wrong = ~(np.abs(values) <= GREATEST)
        row, column = (int(i[0]) for i in np.nonzero(wrong))
        label = names[column] if names else str(column)
        kind = "NaN" if np.isnan(values[row, column]) else "infinity" if np.isinf(values[row, column]) else "a value too large for float32"
        raise ValueError(
            f"Input X contains {kind} (first in row {row}, column {label}); impute or drop such rows, missing values are not supported yet"
        )
    return values


def same_columns(given: Any, count: int, names: Sequence[str] | None) -> None:
    """Refuse rows whose columns are not those of the fit."""
    shape = given.shape if isinstance(given, pd.DataFrame) else as_array(given).shape  # np.shape refuses some that can become arrays
    if len(shape) == 2 and shape[1] != count:
        raise ValueError(f"X has {shape[1]} features, but Explainer is expecting {count} features as input; pass the columns of the fit")
    if names is not None and isinstance(given, pd.DataFrame):
        got = [str(c) for c in given.columns]
        if got != list(names):
            odd = [c for c in got if c not in names] or got
            raise ValueError(
                f"The feature names should match those that were passed during fit: got {odd[:5]}, "
                f"needed {list(names)[:5]}…, in that order; rename or reorder the columns"
            )


def enough_rows(rows: int) -> None:
    """Refuse a fit on too few rows to split."""
    if rows < FEWEST_ROWS:
        raise ValueError(
            f"n_samples={rows} is too few: at least {FEWEST_ROWS} rows are needed to fit and to check the fit on rows it has not seen"
        )


def same_length(rows: int, y: Any) -> None:
    """Refuse labels that do not belong to the rows."""
    if rows != len(y):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X has {rows} rows and y {len(y)}; give one y a row")


def network_reads(model: Any, to_network: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Refuse a torch network of rows that no network could read."""
    if isinstance(model, torch.nn.Module):
        to_network(x[:1])


def several_classes(classes: np.ndarray) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes.tolist()}), so nothing can be explained; give rows of at least two classes")


def keep_or_penalty(keep: Any, penalty: Any, count: int) -> None:
    """Refuse a size that cannot be kept, or two ways of saying it."""
    if keep is not None and penalty is not None:
        raise ValueError(
            f"both keep={keep} and penalty={penalty} were given; give keep (how much to show) or penalty (its price), not both"
        )
    if penalty is not None and not (isinstance(penalty, (int, float, np.integer, np.floating)) and math.isfinite(penalty) and penalty >= 0):
        raise ValueError(f"penalty={penalty!r}, but a finite number of at least 0 is needed (the price of keeping every feature)")
    if keep is None or (isinstance(keep, str) and keep == "auto"):
        return
    if isinstance(keep, bool) or not isinstance(keep, (int, float, np.integer, np.floating)):
        raise ValueError(f"keep={keep!r}, but a number of features (1 to {count - 1}), a rate between 0 and 1, or 'auto' is needed")
    if isinstance(keep, (int, np.integer)) and not 1 <= keep < count:
        raise ValueError(f"keep={keep}, but of {count} features 1 to {count - 1} can be kept; keeping all of them explains nothing")
    if isinstance(keep, (float, np.floating)) and not 0 < keep < 1:
        raise ValueError(f"keep={keep}, but a rate lies between 0 and 1; for a number of features give a whole number")


def no_penalty(name: str, penalty: Any) -> None:
    """Refuse a price where the number of features kept is fixed."""
    if penalty is not None:
        raise ValueError(f"{name} keeps a fixed number of features and has no penalty; give keep instead")


def kind_explained(name: str, kind: str, kinds: Sequence[str] | None) -> None:
    """Refuse a kind of features that a method does not explain."""
    if kinds is not None and kind not in kinds:
        raise ValueError(f"method {name!r} explains features of kind {', '.join(kinds)}, not {kind}; choose another method")


def tolerances(keep: Any, nats: Any, points: Any, can_choose: bool) -> None:
    """Refuse keep="auto" of a method that has no path, and tolerances that say nothing or contradict each other."""
    if keep == "auto" and not can_choose:
        raise ValueError(
            "keep='auto' needs method 'gains', which prices every feature and is the default for tables, not for images; "
            "give keep a number or a rate"
        )
    if keep != "auto" and (nats is not None or points is not None):
        raise ValueError("a tolerance was given, but only keep='auto' of the default method heeds it; leave keep and penalty out")
    if nats is not None and points is not None:
        raise ValueError(f"both tolerance={nats} (nats) and tolerance_points={points} were given; give one of them")
    positive(tolerance=nats, tolerance_points=points)


def evidence_there(evidence: Any) -> None:
    """Refuse the card of an explainer whose rows are gone."""
    if evidence is None:
        raise ValueError("this explainer was loaded from a file, which holds no rows to judge it by; use lx.audit with rows of yours")


def points_fit(points: float | None, real: bool) -> None:
    """Refuse a tolerance of accuracy where there is none."""
    if points is not None and real:
        raise ValueError("a real-valued target has no accuracy; give tolerance in nats instead of tolerance_points")


def model_output(output: np.ndarray, rows: int) -> np.ndarray:
    """Refuse a model whose output is neither (rows, classes) nor (rows,)."""
    good = output.ndim in (1, 2) and output.shape[0] == rows and (output.ndim == 1 or output.shape[1] >= 1)
    if not good:
        raise ValueError(
            f"the model returned shape {output.shape} for {rows} rows, but ({rows}, classes) probabilities or ({rows},) values are needed; "
            "pass predict_proba, or wrap the model in a function that returns one row a row"
        )
    if not np.issubdtype(output.dtype, np.number):
        raise ValueError(f"the model returned {output.dtype} values, but numbers are needed; pass predict_proba rather than predict")
    if not np.isfinite(output).all():
        raise ValueError("the model returned NaN or infinity for some rows; mend the model, or drop those rows")
    return output


def fitted(explainer: Any) -> None:
    """Refuse to explain before fit."""
    if not hasattr(explainer, "method_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"This {type(explainer).__name__} instance is not fitted yet; call fit(X, y) or fit(X, model=...) first")


def path_there(path: pd.DataFrame | None) -> pd.DataFrame:
    """Refuse to draw a path that was not walked."""
    if path is None:
        raise ValueError("this fit has no path of prices, which only keep='auto' of the default method walks; leave keep and penalty out")
    return path


def groups_fit(groups: Mapping[str, Sequence[str | int]], columns: Sequence[str]) -> None:
    """Refuse groups of columns that do not exist or are named twice."""
    seen: dict[int, str] = {}
    for name, members in groups.items():
        for column in members:
            known = column in columns if isinstance(column, str) else 0 <= column < len(columns)
            if not known:
                raise ValueError(f"group {name!r} names column {column!r}, which is not there; the columns are {list(columns)[:20]}")
            j = columns.index(column) if isinstance(column, str) else int(column)
            if j in seen:
                raise ValueError(f"column {columns[j]!r} is in the groups {seen[j]!r} and {name!r}; a column belongs to one group")
            seen[j] = name
        if not members:
            raise ValueError(f"group {name!r} has no columns; name at least one, or leave the group out")
    for name in groups:
        if name in columns and columns.index(name) not in seen:
            raise ValueError(f"group {name!r} has the name of a column outside it, so the two could not be told apart; rename the group")


def draw_fits(rows: int, seed: int, noise_columns: int, correlation: float) -> None:
    """Refuse sizes that are no whole numbers, too few rows, and a correlation outside [0, 1)."""
    for name, value in (("rows", rows), ("seed", seed), ("noise_columns", noise_columns)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise ValueError(f"{name}={value!r}, but a whole number of at least 0 is needed")
    enough_rows(rows)
    if not 0 <= correlation < 1:
        raise ValueError(f"correlation={correlation!r}, but a number of at least 0 and below 1 is needed; 0 means independent columns")


def estimator_fits(estimator: Any, p: Any, predictor: Any) -> None:
    """Refuse an estimator that asks more of the masks or of the predictor than they can do."""
    name, kind = type(estimator).__name__, type(p).__name__
    if not hasattr(estimator, "needs"):
        raise TypeError(f"estimator={estimator!r}, but an object of `lexplain.estimators` is needed, such as Reinforce()")
    if not hasattr(p, estimator.needs):
        raise TypeError(
            f"{name} needs a mask distribution with `{estimator.needs}`, which {kind} has not; "
            "choose an estimator that needs less, such as Pathwise (`relaxed`) or Reinforce (`draw`)"
        )
    if estimator.needs_gradient and not getattr(predictor, "differentiable", True):
        raise TypeError(f"{name} needs gradients through the predictor, which a black box has not; choose Reinforce, or regime='surrogate'")


def logits_fit(logits: Tensor, shape: tuple[int, int]) -> None:
    """Refuse a selector network whose output is not one score a feature."""
    if tuple(logits.shape) != shape:
        raise ValueError(
            f"the selector network returned shape {tuple(logits.shape)} for {shape[0]} rows, "
            f"but one score for each of {shape[1]} features is needed: {shape}"
        )


@contextmanager
def eaten(part: str, x: Tensor) -> Iterator[None]:
    """Say which network could not read rows, and of what shape they were."""
    try:
        yield
    except (ValueError, torch.OutOfMemoryError):  # what refuses in words of its own, and what is no fault of the network
        raise
    except Exception as failed:
        why = (str(failed) or type(failed).__name__).splitlines()[0]
        raise ValueError(f"the {part} cannot read rows of shape {tuple(x.shape)}: {why}") from failed


def networks_given(**networks: Any) -> None:
    """Refuse what is no network."""
    for name, network in networks.items():
        if network is not None and not callable(network):
            raise TypeError(f"{name}={network!r} is no network; give an nn.Module, or leave it out for one that suits the rows")


def imputer_given(imputer: Any) -> None:
    """Refuse what is no imputer, or a class whose fit needs an object first."""
    if not callable(imputer):
        raise TypeError(f"imputer={imputer!r} is no imputer; give one, its class, its name, or a number to put everywhere")
    fit = getattr(imputer, "fit", None)
    if inspect.isclass(imputer) and fit is not None and not inspect.ismethod(fit):
        raise TypeError(f"{imputer.__name__}.fit needs an object; make it a class method that returns a fitted one, or pass a fitted one")


def shows_what_it_keeps(p: Any) -> None:
    """Refuse a distribution over masks that cannot say what it keeps."""
    lacking = [name for name in ("mode", "scores") if not hasattr(p, name)]
    if lacking:
        raise TypeError(f"{type(p).__name__} has no `{'` and no `'.join(lacking)}`, which every distribution over masks needs (b, d)")


def prediction_fits(predicted: Any, rows: int, outputs: Any) -> None:
    """Refuse a predictor network whose output does not fit the target."""
    network_output(predicted.mean if outputs.real else predicted.logits, rows, outputs.count, outputs.real)


def hard_mask(mask: Tensor) -> Tensor:
    """Return a mask as bool; refuse one that holds other values than 0 and 1."""
    if mask.dtype is not torch.bool and not ((mask == 0) | (mask == 1)).all():
        raise ValueError("a mask of 0 and 1 is needed, but this one holds other values; threshold it first, such as mask > 0.5")
    return mask.bool()


def mask_against_truth(mask: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return a mask and the truth as bool; refuse them where rows or features differ."""
    if truth.ndim != 2 or mask.shape[-2:] != truth.shape:
        raise ValueError(
            f"values of shape {tuple(mask.shape)} do not fit a truth of shape {tuple(truth.shape)}; "
            "the truth must be (rows, features), and the values the same or (samples, rows, features)"
        )
    return hard_mask(mask), hard_mask(truth)


def scores_against_truth(scores: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Return scores and the truth as bool; refuse them where rows or features differ, or where scores cannot be ranked."""
    unknown = scores.isnan()
    _, truth = mask_against_truth(unknown, truth)
    if unknown.any():
        raise ValueError("some scores are NaN, which cannot be ranked; give every feature a score, such as 0")
    return scores, truth


def probabilities_and_labels(probabilities: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return probabilities and labels as class indices; refuse those that do not fit."""
    if probabilities.ndim != 2 or probabilities.shape[1] < 2 or labels.shape != probabilities.shape[:1] or len(labels) == 0:
        raise ValueError(
            f"probabilities of shape {tuple(probabilities.shape)} and labels of shape {tuple(labels.shape)} do not fit; "
            "(rows, classes) of at least one row and two classes, and (rows,) are needed"
        )
    if probabilities.isnan().any():
        raise ValueError("some probabilities are NaN; mend the model, or drop those rows")
    index = labels.long()
    if (index != labels).any() or index.min() < 0 or index.max() >= probabilities.shape[1]:
        raise ValueError(f"labels must be class indices from 0 to {probabilities.shape[1] - 1}, as the probabilities' columns; encode them")
    return probabilities, index


def masks_and_labels(train_mask: Tensor, train_labels: Tensor, mask: Tensor, labels: Tensor) -> None:
    """Refuse masks of differing features, or labels that do not belong to them."""
    fits = train_mask.ndim == mask.ndim == 2 and train_mask.shape[1] == mask.shape[1] and len(train_mask) > 0 and len(mask) > 0
    if not fits or train_labels.shape != train_mask.shape[:1] or labels.shape != mask.shape[:1]:
        raise ValueError(
            f"masks of shapes {tuple(train_mask.shape)} and {tuple(mask.shape)} with labels of shapes {tuple(train_labels.shape)} and "
            f"{tuple(labels.shape)} do not fit; (rows, features) with the same features, and one label a row, are needed"
        )


def values_to_average(values: Tensor) -> None:
    """Refuse what holds not one number per instance, or an infinite one."""
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"values of shape {tuple(values.shape)} cannot be averaged; one number an instance, (rows,), is needed")
    if values.isinf().any():
        raise ValueError("some values are infinite, so their mean is too; bound them, or set them to NaN to leave these instances out")


def paired(a: Tensor, b: Tensor) -> None:
    """Refuse to pair values of different instances."""
    if a.shape != b.shape:
        raise ValueError(f"values of shapes {tuple(a.shape)} and {tuple(b.shape)} cannot be paired; measure both on the same rows")


def interval(level: float, resamples: int) -> None:
    """Refuse a level that is no probability, or too few resamples."""
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(f"level={level} and resamples={resamples}, but a level between 0 and 1 and at least one resample are needed")


def target_values(y: Any) -> np.ndarray:
    """Return y as an array of one value a row, or of one row of probabilities a row."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None; give labels y, or model= to explain a model")
    values = as_array(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(f"y has shape {values.shape}, but one label or value a row is needed, or (rows, classes) probabilities")
    if pd.isna(values).any() or (np.issubdtype(values.dtype, np.number) and not np.isfinite(values).all()):
        raise ValueError("Input y contains NaN or infinity; drop such rows")
    return values


def probabilities(values: np.ndarray) -> np.ndarray:
    """Refuse rows that are no probabilities."""
    if not np.issubdtype(values.dtype, np.number) or (values < -1e-4).any() or (np.abs(values.sum(1) - 1) > 1e-2).any():
        raise ValueError(
            f"an output of shape {values.shape} must hold class probabilities, but its rows are not all at least 0 with a sum of 1; "
            "give probabilities (for logits, their softmax), or one value a row"
        )
    clipped = np.clip(values, 0, None)
    result: np.ndarray = clipped / clipped.sum(1, keepdims=True)
    return result


def several_values(scale: float) -> None:
    """Refuse a real-valued target that never changes."""
    if not scale > 0:
        raise ValueError("the target has one value only, so nothing can be explained; give rows whose target differs")


def enough_features(count: int) -> None:
    """Refuse a table of one feature."""
    if count < 2:
        raise ValueError(f"n_features={count}: with {count} feature(s) there is nothing to select; at least 2 are needed")


def regime_fits(regime: str | None, y: Any, model: Any, reads_output: bool) -> str:
    """Choose the regime from what was given, or refuse one that lacks what it needs."""
    if regime is None:
        if y is not None and model is not None:
            raise ValueError(
                "both y and model were given; give y to learn from labels, model to explain it, "
                "or regime='fixed' to explain labels by a fixed model"
            )
        regime = "free" if model is None else "surrogate"
    one_of(regime, ["free", "fixed", "self", "surrogate"], "regime")
    if regime in ("free", "fixed") and y is None:
        target_values(y)
    if regime in ("self", "surrogate") and model is None:
        raise ValueError(f"regime={regime!r} explains a model, but none was given; pass fit(X, model=...)")
    if regime == "free" and model is not None:
        raise ValueError("regime='free' learns a model of its own, but a model was given; use regime='fixed', 'self' or 'surrogate'")
    if reads_output and model is None:
        raise ValueError("this method shows the selector the model's output, so it needs a model; pass fit(X, model=...)")
    return regime


def parts_given_once(explainer: Any) -> None:
    """Refuse parts beside a Method that already has them."""
    parts = ("keep", "penalty", "features", "selector", "predictor", "imputer", "continuity", "options")
    given = [name for name in parts if getattr(explainer, name) not in (None, {})]
    if given:
        raise ValueError(f"a Method built from parts was given together with {given}; put these into the Method")


def method_options(options: Any, recipe: Any, parameters: Collection[str], *, learns: bool) -> None:
    """Refuse settings that a method has not, that have a parameter of their own, or that would be ignored."""
    if options is None:
        return
    if not isinstance(options, dict):
        raise ValueError(f"options={options!r}, but a dictionary of settings of the method is needed")
    known = list(recipe.options)
    odd = sorted(str(name) for name in options if name not in known)
    if odd:
        told = f"it has: {', '.join(known)}" if known else "it has none"
        own = [name for name in odd if name in parameters]
        way = f"; of Explainer itself: {', '.join(own)}" if own else ""
        raise ValueError(f"no options of method {recipe.name!r}: {', '.join(odd)}; {told}{way}")
    idle = [name for name in recipe.joint_options if name in options]
    if idle and not learns:
        raise ValueError(f"options {', '.join(idle)} say how a predictor learns beside the selector, but here it does not; leave them out")


def positive(**numbers: float | None) -> None:
    """Refuse settings that are not above zero."""
    for name, value in numbers.items():
        if value is not None:
            above_zero(**{name: value})


def above_zero(**numbers: Any) -> None:
    """Refuse what is no number above zero, None too."""
    for name, value in numbers.items():
        if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and value > 0):
            raise ValueError(f"{name}={value!r}, but a number above 0 is needed")


def within(low: float, high: float, **numbers: float) -> None:
    """Refuse settings that do not lie between two numbers."""
    for name, value in numbers.items():
        if not (isinstance(value, (int, float, np.number)) and low <= value <= high):
            raise ValueError(f"{name}={value!r}, but a number from {low:g} to {high:g} is needed")


def counts(**numbers: int | None) -> None:
    """Refuse settings that are not whole numbers above zero."""
    for name, value in numbers.items():
        if value is not None and not (isinstance(value, (int, np.integer)) and value > 0):
            raise ValueError(f"{name}={value!r}, but a whole number above 0 is needed")


def device_there(kind: str, index: str) -> None:
    """Refuse a device that this machine has not."""
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}[kind]
    if there == 0 or (index and not (index.isdecimal() and int(index) < there)):
        name = f"{kind}:{index}" if index else kind
        raise ValueError(f"device={name!r}, but torch sees {there} {kind.upper()} device(s) here; use device='auto' or 'cpu'")


def precision_fits(scaler: Any) -> None:
    """Refuse a precision whose gradients must be scaled, which the loop does not do."""
    if scaler is not None:
        raise ValueError("this Fabric scales its loss (precision='16-mixed'), which is not supported; use precision='bf16-mixed'")


def went_well(best: Any) -> None:
    """Refuse the result of a training whose every check was NaN or infinite."""
    if not best:
        raise FloatingPointError("the training diverged: no epoch's check is a finite number; use a smaller learning_rate")


def outputs_fit(said: Any, wanted: Any, who: str) -> None:
    """Refuse a predictor or a model whose output is not of the target's kind."""
    if said is not None and said != wanted:
        told, needed = (f"{o.count} classes" if not o.real else "one real value" for o in (said, wanted))
        raise ValueError(f"{who} says {told} a row, but the target is {needed}; give one that fits the target")


def model_there(model: Any) -> None:
    """Refuse to go on without the model that is explained."""
    if model is None:
        raise ValueError("the explained model is needed here and is not stored in the file; load with Explainer.load(path, model=...)")


def known_classes(target: Any, classes: np.ndarray | None, rows: int) -> np.ndarray:
    """Turn class labels into their indices, or refuse one that was not seen in fit."""
    if classes is None:
        raise ValueError(f"target={target!r} names a class, but a real-valued output has none; leave target out")
    labels = as_array(target)
    if labels.ndim > 1 or (labels.ndim == 1 and len(labels) != rows):
        raise ValueError(f"target has shape {labels.shape} for {rows} rows; give one class label, or one a row")
    known = {label: index for index, label in enumerate(classes.tolist())}
    asked = np.broadcast_to(labels, (rows,)).tolist()
    odd = [label for label in asked if label not in known]
    if odd:
        raise ValueError(f"target {odd[0]!r} is no class of the fit; the classes are {classes.tolist()}")
    return np.array([known[label] for label in asked], dtype=np.int64)


def label_or_model(y: Any, model: Any) -> Any:
    """Return the labels to read: none with a model, whose answer is the target; refuse where neither is given."""
    if model is None and y is None:
        raise ValueError("the audit was given neither labels nor a model; pass y, the labels of X, or the model that was explained")
    return None if model is not None else y


def audit_fits(explanation: Any, X: Any, target: Tensor) -> None:
    """Refuse rows that are not those of the explanation."""
    if not len(explanation) == len(X) == len(target):
        raise ValueError(
            f"the explanation has {len(explanation)} rows, X {len(X)} and the target {len(target)}; give the rows that were explained"
        )
    if len(X) < 2 * FEWEST_ROWS:
        raise ValueError(f"{len(X)} rows are too few to audit: at least {2 * FEWEST_ROWS} are needed, and a few hundred to tell much")


def of_one_type(values: np.ndarray, classes: np.ndarray) -> bool:
    """Whether labels can be read in some classes: probabilities can, and numbers where the classes are numbers."""
    return values.ndim == 2 or (values.dtype.kind in "biuf") == (np.asarray(classes).dtype.kind in "biuf")


def same_classes(other: Any, target: Any) -> Any:
    """Refuse rows to learn from whose classes are not those judged."""
    if other.outputs != target.outputs or (target.classes is not None and list(other.classes) != list(target.classes)):
        raise ValueError(
            f"the rows to learn from have the classes {other.classes}, but those judged have {target.classes}; give the same kind of target"
        )
    return other


def ending(path: Path, endings: Sequence[str]) -> str:
    """Return the ending of a file's name; refuse one that cannot be read or written."""
    if path.suffix.lower() not in endings:
        raise ValueError(f"{path} ends in {path.suffix!r}, which is not known here; choose one of: {', '.join(endings)}")
    return path.suffix.lower()


def file_of_rows(path: Path, names: Sequence[str], rows: int) -> None:
    """Refuse a file without rows, with a column without a name, or with two columns of one name."""
    if "" in names:
        raise ValueError(f"{path}: column {names.index('') + 1} has no name, as row numbers often have none; name it, or leave it out")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} has more than one column named {twice[:5]}; rename them, so that each column has a name of its own")
    if rows == 0:
        raise ValueError(f"{path} holds no rows, only a header; give a file with rows")


def columns_there(wanted: Sequence[str], columns: Sequence[str], path: Path) -> None:
    """Refuse a file that lacks columns."""
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise ValueError(f"{path} has no column named {missing[:5]}; its columns are {list(columns)[:20]}")


def columns_of_numbers(frame: pd.DataFrame, path: Path) -> None:
    """Refuse columns that hold text, naming them."""
    bad = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if bad:
        odd = frame[bad[0]][_numbers_in(frame[bad[0]]).isna() & frame[bad[0]].notna()]
        shown = f" ({odd.iloc[0]!r} in row {odd.index[0]} of {bad[0]!r})" if len(odd) else ""
        raise ValueError(
            f"{path}: columns {bad[:5]} hold text{shown}, but numbers are needed there; mend or leave out such rows or columns"
        )


def columns_of_one_kind(frame: pd.DataFrame, path: Path) -> None:
    """Refuse columns that hold both numbers and text, where one of the two is likely a mistake."""
    for name in (name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])):
        column, numbers = frame[name].dropna(), _numbers_in(frame[name].dropna())
        if numbers.notna().any() and numbers.isna().any():
            text, number = column[numbers.isna()], column[numbers.notna()]
            raise ValueError(
                f"{path}: column {name!r} holds text ({text.iloc[0]!r} in row {text.index[0]}) among numbers ({number.iloc[0]!r} in row "
                f"{number.index[0]}); make it all numbers, or all text such as {'n' + str(number.iloc[0])!r}, or leave it out"
            )


def _numbers_in(column: pd.Series[Any]) -> pd.Series[Any]:
    numbers: pd.Series[Any] = pd.to_numeric(column, errors="coerce")
    return numbers


def writes_numbers(frame: pd.DataFrame, name: str) -> np.ndarray:
    """Return the columns of a data set as one array; refuse those with categories, which such a file cannot hold."""
    if any(holds_categories(dtype) for dtype in frame.dtypes):
        raise ValueError(f"{name} has columns of categories, which an .npz file cannot hold; write a .csv file")
    return frame.to_numpy()


def data_file_there(path: Path, origin: str, prepared: bool) -> Path:
    """Refuse a data set whose file has not been put into the cache, and say where it goes and where it comes from."""
    if not path.is_file():
        way = f"it was prepared from {origin}, and is not published itself: put a copy of it there" if prepared else ""
        way = way or f"get {path.name} from {origin} and put it there"
        raise FileNotFoundError(
            f"no file at {path}, nor at {path}.gz; {way}, or set LEXPLAIN_DATA to the folder that your data sets lie in"
        )
    return path


def same_content(path: Path, got: str, needed: str, origin: str) -> None:
    """Refuse a file that is not the published one."""
    if got != needed:
        raise ValueError(f"{path} is not the file it should be: its sha256 is {got}, but {needed} is needed; get it anew from {origin}")


def in_classes(y: Any, classes: np.ndarray | None) -> np.ndarray:
    """Return labels as one-hot rows of the fit's classes, some of which they may lack; other targets as they are."""
    values = target_values(y)
    if classes is None or values.ndim == 2:
        return values
    rows: np.ndarray = np.eye(len(classes))[known_classes(values, classes, len(values))]
    return rows


def arrays_fit(path: Path, arrays: Mapping[str, np.ndarray], *, target: bool) -> None:
    """Refuse arrays of a file that do not belong together, or lack the target where it is needed."""
    missing = [name for name in (("x", "y") if target else ("x",)) if name not in arrays]
    if missing:
        raise ValueError(f"{path} has no array named {missing}; give x (rows, columns), y (rows,) to learn from, and names if you like")
    shapes = {name: array.shape for name, array in arrays.items()}
    x, y, names = shapes["x"], shapes.get("y"), shapes.get("names")
    if len(x) not in (2, 3, 4) or 0 in x or arrays["x"].dtype.kind not in "biuf":
        needed = "numbers of shape (rows, columns), or images such as (n, channels, rows, columns), are needed"
        raise ValueError(f"{path}: x is {arrays['x'].dtype} of shape {x}, but {needed}")
    if y is not None and (len(y) not in (1, 2) or y[0] != x[0]):
        raise ValueError(f"{path}: x has {x[0]} rows and y the shape {y}; give one label or value, or one row of probabilities, a row")
    if len(x) == 2 and names is not None and (names != x[1:] or arrays["names"].dtype.kind != "U"):
        raise ValueError(f"{path}: x has {x[1]} columns and names the shape {names}; give one text a column, or leave names out")


def as_many_outputs(got: int, needed: int) -> None:
    """Refuse a model that answers with another number of classes than it did when it was asked first."""
    if got != needed:
        raise ValueError(
            f"the model returned {got} numbers a row, but {needed} are needed, one for each of the classes; pass predict_proba"
        )


def some_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Refuse to write a table of nothing."""
    if frame.empty:
        raise ValueError("no cell is finished yet, so there is no table to write; run the command again and leave it more time")
    return frame


def classifier_has_probabilities(model: Any) -> None:
    """Refuse a classifier that names classes without saying how likely they are: its labels would be taken for real values."""
    if hasattr(model, "classes_") and not hasattr(model, "predict_proba") and not isinstance(model, type):
        raise TypeError(
            f"{type(model).__name__} has classes but no predict_proba; wrap it in CalibratedClassifierCV, or pass a function that returns "
            "(rows, classes) probabilities"
        )


def several_seeds(values: Tensor) -> Tensor:
    """Return values of several fits; refuse those of one, or of another shape."""
    if values.ndim != 3 or len(values) < 2:
        raise ValueError(f"values of shape {tuple(values.shape)} are not of several seeds; stack at least two: (seeds, rows, features)")
    return values


def probability_values(values: Tensor) -> Tensor:
    """Return p-values in double precision; refuse those that are none."""
    values = torch.as_tensor(values, dtype=torch.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p-values are (tests,) numbers from 0 to 1, but {values.tolist()} was given; leave out what was not tested")
    return values


def classes_to_agree_on(said: Tensor) -> Tensor:
    """Return what a model says (rows, classes); refuse values, on which two models never name the same class."""
    if said.ndim != 2 or said.shape[1] < 2:
        raise ValueError(
            f"the model says values of shape {tuple(said.shape)}, but agreement needs probabilities (rows, classes) of several classes; "
            "for a real-valued model use infidelity, or the area under the insertion curve"
        )
    return said


def scores_of_rows(scores: Tensor, x: Tensor, count: int) -> Tensor:
    """Return scores; refuse those that are not one for each row and feature."""
    if scores.shape != (len(x), count) or scores.isnan().any():
        raise ValueError(
            f"scores of shape {tuple(scores.shape)} do not fit {len(x)} rows of {count} features; "
            "give one score, not NaN, for each feature of each row: (rows, features)"
        )
    return scores


def shares(values: Sequence[float]) -> None:
    """Refuse shares that do not rise, or that lie outside 0 to 1."""
    rising = all(a < b for a, b in pairwise(values))
    if len(values) < 2 or not rising or values[0] < 0 or values[-1] > 1:
        raise ValueError(f"fractions={tuple(values)}, but at least two that rise from 0 or more to 1 or less are needed")


def rows_to_tell_apart(filled: Tensor, real: Tensor, folds: int) -> None:
    """Refuse rows of differing shape, or too few for each fold to hold some of both."""
    if filled.shape[1:] != real.shape[1:] or folds < 2 or min(len(filled), len(real)) < folds:
        raise ValueError(
            f"filled rows of shape {tuple(filled.shape)} and real ones of shape {tuple(real.shape)} in folds={folds}, "
            "but rows of one shape, two folds or more, and at least as many rows of each kind as folds are needed"
        )


class NoBase:
    """Stands where shap looks for the value that scores add up from, and refuses to be one: the wording of that refusal."""

    shape = ()  # shap takes a mean of rows for one that has lost its base values

    def __init__(self, method: str) -> None:
        self.method = method

    def __repr__(self) -> str:
        return "none: these scores do not add up to a prediction"

    def __float__(self) -> float:
        raise ValueError(
            f"the scores of {self.method or 'this method'} say what matters, not how far each feature moves the prediction: they add up to "
            "nothing, so that waterfall and force plots would mislead; use beeswarm, bar or scatter plots, or an additive method"
        )

    def __radd__(self, other: Any) -> Any:  # shap's force plots add the scores up before they look
        return other + float(self)

    def __add__(self, other: Any) -> NoBase:  # shap computes with explanations, such as e * 2, base values and all
        return self

    __sub__ = __mul__ = __truediv__ = __add__


def base_fits(base: Tensor | None, rows: int) -> None:
    """Refuse base values that are not one a row."""
    if base is not None and tuple(base.shape) != (rows,):
        raise ValueError(f"base has shape {tuple(base.shape)}, but {rows} explained rows need one base value each: ({rows},)")


def foreign_scores(scores: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the scores of rows of a shape as they are; refuse other shapes, other things than numbers, NaN and infinity."""
    if scores.dtype.kind not in "biuf":
        raise TypeError(f"the scores are of type {scores.dtype}, but numbers are needed, one for each feature of each row")
    if scores.shape != shape or len(shape) < 2:
        raise ValueError(
            f"the scores have shape {scores.shape}, but X has shape {shape}; both must be (rows, features), in the same order; "
            "scores of several classes have them as a last axis and need target="
        )
    wrong = ~np.isfinite(scores)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"the scores hold {scores[place]} (first at {place}), which cannot be ranked; mend the explainer, or drop such rows"
        )
    return scores


def rows_of_numbers(scores: Any) -> np.ndarray:
    """Return nested lists and the like as one array; refuse rows that differ in length."""
    try:
        return np.asarray(scores)
    except (TypeError, ValueError) as ragged:
        raise ValueError(f"the scores are no table of numbers ({ragged}); give one score for each feature of each row") from None


def class_of_each(target: Any, classes: Sequence[int], rows: int) -> np.ndarray:
    """Return the class (rows,) whose scores are meant; refuse to guess, and classes that were not explained."""
    if target is None:
        raise ValueError(
            f"these are the scores of {len(classes)} classes ({list(classes)[:10]}), but one class a row is explained at a time; "
            "give target=, the class of each row, such as model.predict_proba(X).argmax(1)"
        )
    return class_indices(target, rows, classes)


def class_indices(target: Any, rows: int, classes: Sequence[int] | None = None) -> np.ndarray:
    """Return one class index a row, from one for each or one for all; refuse labels, and those not among the classes."""
    asked = as_array(target)
    if asked.dtype.kind not in "iu" or asked.shape not in ((), (rows,)):
        raise ValueError(
            f"target is of type {asked.dtype} and shape {asked.shape}, but {rows} rows need the index of a class, one for all or ({rows},)"
        )
    odd = [int(c) for c in asked.reshape(-1) if c < 0 or (classes is not None and c not in classes)]
    if odd:
        raise ValueError(
            f"target holds {odd[0]}, which was not explained; the classes are {'0, 1, ...' if classes is None else list(classes)}"
        )
    return np.broadcast_to(asked, (rows,)).astype(np.int64)


def says_what_is_kept(keep: Any, count: int, *, mask: bool, sparse: bool) -> None:
    """Refuse a size that cannot be kept, one beside a mask, and none beside scores that leave no feature out."""
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r}, but scores are cut at a number of features (1 to {count - 1}) or at a rate between 0 and 1")
    if mask and keep is not None:
        raise ValueError(f"keep={keep} was given together with a mask of truths, which says itself what is kept; leave keep out")
    keep_or_penalty(keep, None, count)
    if keep is None and not (mask or sparse):
        raise ValueError(
            "these scores say how much every feature matters, not which of them are kept; give keep=, how many to keep of each row "
            f"(1 to {count - 1}) or a rate such as 0.3"
        )


def one_explanation_a_row(given: int, rows: int) -> None:
    """Refuse a list of explanations that is longer or shorter than the rows."""
    if given != rows:
        raise ValueError(f"{given} explanation(s) were given for {rows} rows of X; give one for each row, in the same order")


def explains_columns(places: Sequence[int], shape: tuple[int, ...]) -> None:
    """Refuse weights of other things than the columns of a table, such as words or segments."""
    if len(shape) != 2 or max(places, default=0) >= shape[1]:
        raise ValueError(
            f"the explanation weighs feature {max(places, default=0)}, but X has shape {shape}; "
            "give the table that was explained: words and segments are no columns"
        )


def one_input(tensors: int) -> None:
    """Refuse the attributions of a model of several inputs."""
    if tensors != 1:
        raise ValueError(f"a tuple of {tensors} tensors, one for each input of a model, was given; give that of one input")


def mask_of_rows(mask: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a mask as bool, in the shape of the rows it belongs to; refuse one that has no such shape, or other values than 0 and 1."""
    try:
        return hard_mask(mask).expand(*shape)
    except RuntimeError:
        raise ValueError(f"the mask has shape {tuple(mask.shape)}, but these rows need {tuple(shape)}, 1 where they are visible") from None


def baseline_given(name: str, needs: Sequence[str], y: Any, model: Any) -> None:
    """Refuse to fit a baseline without what it explains."""
    if "network" in needs and not isinstance(model, torch.nn.Module):
        got = "none was given" if model is None else f"the model is a {type(model).__name__}"
        raise TypeError(
            f"{name} needs gradients, which a torch.nn.Module has, but {got}; pass fit(X, model=network), "
            "or choose a baseline that only asks the model, such as shap, lime or ablation"
        )
    if "model" in needs and model is None and not ("y" in needs and y is not None):
        also = " or labels" if "y" in needs else ""
        raise ValueError(
            f"{name} explains a model{also}, but none was given; pass fit(X, model=...), such as a classifier fitted to X and y"
        )


def kept_features(keep: Any, count: int) -> int:
    """Return how many features a baseline keeps, half of them unless told; refuse what is no number of features."""
    if keep is None:
        return (count + 1) // 2
    if isinstance(keep, bool) or not isinstance(keep, (int, np.integer)) or not 1 <= keep <= count:
        raise ValueError(f"keep={keep!r}, but a baseline keeps a whole number of features, 1 to {count}")
    return int(keep)


def truth_values(truth: object) -> Tensor:
    """Return the truth of whatever shape as bool."""
    return torch.as_tensor(as_array(truth)).bool()


def truth_of(truth: object, rows: int, count: int) -> Tensor:
    """Return the truth (rows, features) of the rows explained; refuse that of others."""
    known = truth_values(truth)
    if known.shape != (rows, count):
        raise ValueError(
            f"the truth has shape {tuple(known.shape)}, but {rows} rows of {count} features are explained; "
            "explain the rows that it is the truth of"
        )
    return known


def for_kind(table: Mapping[str, Entry], kind: str, what: str, where: str) -> Entry:
    """Return the entry of a table by kind; refuse a kind that is not in it."""
    if kind not in table:
        raise ValueError(f"no {what} is known for features of kind {kind!r}, only for {', '.join(sorted(table))}; add a line to {where}")
    return table[kind]


def few_players(count: int, most: int) -> None:
    """Refuse to enumerate too many subsets."""
    if not 1 <= count <= most:
        raise ValueError(
            f"{count} players have {2.0**count:.3g} subsets; with 1 to {most} players all can be visited, with more use KernelSHAP"
        )


NOT_ADDITIVE = (
    "deepshap's values do not add up to the network's answer: shap has no rule for one of its layers (it knows linear ones, pooling, ReLU, "
    "GELU, Sigmoid, Tanh and Softplus, each used once); choose integrated_gradients or shap, which need no rules"
)


def no_trees(model: Any, why: Exception) -> TypeError:
    """Word the refusal of a model that is not made of trees."""
    return TypeError(
        f"treeshap reads trees, but shap finds none in a {type(model).__name__} ({str(why)[:80]}); give a forest or boosted trees, "
        "or choose shap, which asks any model"
    )


def share_of_one(**numbers: float) -> None:
    """Refuse settings that do not lie between 0 and 1."""
    for name, value in numbers.items():
        if not 0 < value < 1:
            raise ValueError(f"{name}={value!r}, but a number between 0 and 1 is needed")


def array_file(path: Path) -> np.ndarray:
    """Return the array in a .npy file; refuse a file that holds anything else, and pickles."""
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as broken:
        raise ValueError(f"{path} holds no plain array ({broken}); write numbers with numpy.save") from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{path} holds several arrays; write the scores alone with numpy.save")
    return found


def table_of_numbers(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a table of scores; refuse one with text in it."""
    odd = [str(name) for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if odd:
        raise ValueError(f"{path} has text in {', '.join(odd[:3])}; a file of scores has one column of numbers a feature, and nothing else")
    return frame


def same_features(got: int, needed: int) -> None:
    """Refuse to compare an explanation of other features than the data set's."""
    if got != needed:
        raise ValueError(f"the explanation has {got} features, but the data set's judge knows {needed}; give both the same features")


def known_sizes(keep: Any, labels: Collection[str]) -> None:
    """Refuse numbers of features for data sets that are not compared."""
    for label in keep if isinstance(keep, Mapping) else ():
        one_of(label, list(labels), "data set of this comparison")


def seeds_asked(seeds: Any) -> list[int]:
    """Return the seeds meant by a number of them, or by themselves; refuse none."""
    every = list(range(seeds)) if isinstance(seeds, (int, np.integer)) else [int(seed) for seed in seeds]
    if not every or len(set(every)) < len(every):
        raise ValueError(f"seeds={seeds!r}, but how many (at least 1), or different whole numbers, are needed")
    return every


def metric_fits(label: str, names: Sequence[str], offered: Sequence[str]) -> None:
    """Refuse a metric that asks for what a comparison does not know."""
    unknown = [name for name in names if name not in offered]
    if unknown:
        raise ValueError(f"the metric {label!r} asks for {', '.join(unknown)}, but a comparison offers: {', '.join(offered)}")


def explainer_given(explainer: Any, kinds: tuple[type, ...]) -> Any:
    """Return an explainer to compare; refuse other things."""
    if not isinstance(explainer, kinds):
        needed = "a name, an Explainer or a baseline with its settings, such as Explainer('l2x', keep=5)"
        raise TypeError(f"{explainer!r} is a {type(explainer).__name__}, but {needed}, is needed")
    return explainer


def can_travel(model: Any, workers: int) -> None:
    """Refuse to hand a model to other processes that cannot be handed over."""
    if workers > 1:
        try:
            pickle.dumps(model)
        except Exception as stays:  # what pickle raises depends on what it meets
            raise TypeError(f"the model cannot be sent to other processes ({stays}); use workers=1, or a function of a module") from stays


def parquet_possible() -> None:
    """Refuse to write Parquet without the library that does."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as missing:
        raise ImportError(
            "writing Parquet needs pyarrow, which is not installed; run: pip install 'lexplain[parquet]', or write .csv"
        ) from missing


def continuity_fits(price: Any, method: Any, prices_masks: bool) -> None:
    """Refuse a price of ragged masks that is not above 0, or where masks are not drawn while training."""
    positive(continuity=price)
    if not prices_masks:
        raise ValueError(
            f"continuity={price} prices masks while they are learned, but method {method!r} regresses gains of single features; "
            "choose another method, such as 'sufficient' or 'realx'"
        )


def baseline_explains(name: str, kind: str, kinds: Sequence[str] | None) -> None:
    """Refuse a kind of features that a baseline does not explain."""
    if kinds is not None and kind not in kinds:
        raise ValueError(f"{name} explains features of kind {', '.join(kinds)}, not {kind}; choose another baseline, such as 'random'")


# ---- images ----

LAYOUTS = ("NCHW", "NHWC", "NHW")
SLACK = 0.5  # how far brighter or darker images may be than [0, 1] and still be of these units
BRIGHT, FAR = 128, 10  # numbers as large are bytes, whatever their type; and so many times larger than the fit's are of other units
GREATEST = float(np.finfo(np.float32).max)
CHANNELS = (1, 3, 4)  # of grey, colour, and colour with transparency: what tells a channel axis from an axis of pixels


def as_array(X: Any) -> np.ndarray:
    """Rows as an array, whatever device a tensor, or a list of them, lies on and whether it carries gradients or not."""
    if isinstance(X, (list, tuple)) and X and all(isinstance(each, Tensor) and each.shape == X[0].shape for each in X):
        X = torch.stack(list(X))
    if isinstance(X, Tensor):
        X = X.detach().cpu()
        return np.asarray(X.float() if X.dtype is torch.bfloat16 else X)  # NumPy has no bfloat16
    return np.asarray(X)


def image_array(X: Any) -> np.ndarray:
    """Return images as an array of numbers, NaN and infinity among them; refuse other shapes and text."""
    if isinstance(X, pd.DataFrame):
        raise TypeError(
            "X is a DataFrame, but an array of images is needed: (n, channels, rows, columns), (n, rows, columns, channels) or "
            "(n, rows, columns); use X.to_numpy().reshape(...), or leave features out to explain columns"
        )
    values = as_array(X)
    if values.dtype.kind not in "biuf":
        way = "; use np.stack(X), which needs images of one size" if values.dtype.kind == "O" else ""
        raise ValueError(f"images hold {values.dtype}, but numbers are needed{way}")
    if values.ndim not in (3, 4) or 0 in values.shape:
        raise ValueError(
            f"X has shape {values.shape}, but images are (n, channels, rows, columns), (n, rows, columns, channels) or (n, rows, columns), "
            "none of them 0; one image is X[None]"
        )
    return values


def finite_span(images: np.ndarray) -> tuple[float, float]:
    """Return the least and the greatest number of images; refuse NaN, infinity and what float32 has not, naming the first such image."""
    span = float(images.min()), float(images.max())
    if not max(map(abs, span)) <= GREATEST:  # both are NaN where any value is
        odd = np.flatnonzero(~(np.abs(images.reshape(len(images), -1)) <= GREATEST).all(1))
        first = images[odd[0]]
        kind = "NaN" if np.isnan(first).any() else "infinity" if np.isinf(first).any() else "a value too large for float32"
        raise ValueError(
            f"Input X contains {kind} (in {len(odd)} of {len(images)} images, first in image {odd[0]}); fill what is missing, "
            "or drop such images"
        )
    return span


def large_enough(shape: Sequence[int], side: int) -> None:
    """Refuse images that a deep network would halve to nothing."""
    if min(shape[-2:]) < side:
        raise ValueError(f"images of {shape[-2]} x {shape[-1]} pixels are too small for a DenseNet, which needs {side} x {side}; use `cnn`")


def image_layout(shape: Sequence[int], layout: str | None) -> str:
    """Return the layout of images, told or read off their shape; refuse one that does not fit, or cannot be told."""
    if layout is not None:
        one_of(layout, list(LAYOUTS), "layout")
        if len(layout) != len(shape):
            raise ValueError(f"layout={layout!r} has {len(layout)} axes, but X has shape {tuple(shape)}")
        return layout
    if len(shape) == 3:
        return "NHW"
    first, last = shape[1] in CHANNELS, shape[-1] in CHANNELS
    if first == last:
        both = "either axis could be" if first else "no axis looks like"
        raise ValueError(f"X has shape {tuple(shape)}, where {both} the channels; say Patches(layout='NCHW') or Patches(layout='NHWC')")
    return "NCHW" if first else "NHWC"


def patch_size(size: Any) -> tuple[int, int]:
    """Return the rows and columns of a patch; refuse what are not one or two whole numbers from 1."""
    both = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    if len(both) != 2 or not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 1 for n in both):
        raise ValueError(f"a patch of size {size!r} was asked for, but a whole number of pixels from 1, or (rows, columns), is needed")
    return int(both[0]), int(both[1])


def patches_fit(size: tuple[int, int], shape: Sequence[int]) -> None:
    """Refuse patches larger than the image."""
    if size[0] > shape[-2] or size[1] > shape[-1]:
        raise ValueError(
            f"patches of {size[0]} x {size[1]} pixels are larger than the images of {shape[-2]} x {shape[-1]}; give a smaller size"
        )


def same_images(given: Sequence[int], shape: Sequence[int], layout: str | None) -> None:
    """Refuse images of another shape than those of the fit."""
    channels, rows, columns = shape
    needed = {"NCHW": (channels, rows, columns), "NHWC": (rows, columns, channels), "NHW": (rows, columns)}[str(layout)]
    if tuple(given[1:]) != needed:
        way = "X[None]" if tuple(given) == needed else "X[:, None]" if (given[0], 1, *given[1:]) == (given[0], *needed) else "such images"
        raise ValueError(f"X has shape {tuple(given)}, but the fit was of images (n, {', '.join(map(str, needed))}), {layout}; pass {way}")


def same_units(given: np.dtype[Any], span: tuple[float, float], dtype: np.dtype[Any], known: tuple[float, float]) -> None:
    """Refuse images in other units than those of the fit: bytes and numbers in [0, 1] are of the same units, all else must be alike."""
    whole, was_whole = given.kind == "u", dtype.kind == "u"
    in_unit = was_whole or (known[0] >= 0 and known[1] <= 1)
    size = max(map(abs, known))
    if whole:
        fits = given == dtype if was_whole else in_unit
    elif in_unit:
        fits = span[0] >= -SLACK and span[1] <= 1 + SLACK
    else:  # numbers of any units: those of a fit on bytes, or far beyond those of the fit, can be told
        fits = max(map(abs, span)) <= FAR * size and not (size >= BRIGHT and span[0] >= 0 and 0 < span[1] <= 1)
    if not fits:
        was = f"{dtype}" if was_whole else f"{dtype} from {known[0]:g} to {known[1]:g}"
        way = "numbers in [0, 1]: divide bytes by 255" if in_unit else f"{dtype} in the same units"
        way = f"{dtype}, or {way}" if was_whole else way
        raise ValueError(f"images are {given} from {span[0]:g} to {span[1]:g}, but the fit was of {was}; pass {way}")


def not_fetched(path: Path, address: str, failed: Exception) -> FileNotFoundError:
    """What to say where a file could not be fetched: in one line, which file goes where."""
    why = str(failed).strip().split("\n")[0][:200] or type(failed).__name__
    return FileNotFoundError(
        f"no file at {path}, and {address} could not be fetched ({why}); put that file there by hand, "
        "or set LEXPLAIN_DATA to the folder that your data sets lie in"
    )


def understood(good: bool, file: str, why: str) -> None:
    """Refuse a file whose content is not of the form it should have."""
    if not good:
        raise ValueError(f"{file} is not understood: {why}; put the file there that the data set was made of")


def rows_and_seed(rows: int | None, seed: int) -> None:
    """Refuse numbers of rows and seeds that no data set has."""
    draw_fits(FEWEST_ROWS if rows is None else rows, seed, 0, 0.0)


def rows_there(name: str, rows: int | None, there: int) -> int:
    """Return how many of a data set's rows to train on; refuse more than there are."""
    if rows is not None and rows > there:
        raise ValueError(f"rows={rows:,}, but {name} has {there:,} to train on; ask for at most so many")
    return there if rows is None else rows


def no_table(ending: str, name: str, shape: Sequence[int]) -> None:
    """Refuse to write images as a table."""
    if ending == ".csv" and len(shape) > 2:
        raise ValueError(f"{name} holds images of shape {tuple(shape[1:])}, which are no table; write an .npz file")


def unit_values(x: Tensor) -> Tensor:
    """Refuse rows that an imputer for images of [0, 1] cannot learn from."""
    low, high = (float(x.min()), float(x.max())) if x.numel() else (0.0, 0.0)
    if not (low >= 0 and high <= 1):
        raise ValueError(f"rows from {low:.4g} to {high:.4g} do not lie in [0, 1], which this imputer needs; divide pixels by 255")
    return x


def explains_images(patches: bool, data: Any) -> None:
    """Refuse to draw the images of an explanation that is not of images, or came without them."""
    if not patches:
        raise TypeError("this explanation is not of images, so there is none to draw; explain with features=Patches(...), or use row_bars")
    if data is None:
        raise ValueError("this explanation came without its images; give them with dataclasses.replace(explanation, data=images)")


def rows_to_draw(rows: Sequence[int], many: int) -> list[int]:
    """Return positions of rows to draw; refuse none, and those that are not there."""
    if not rows or not all(-many <= row < many for row in rows):
        raise ValueError(f"rows {list(rows)[:5]} were asked for, but at least one of the {many} rows, counted from 0, is needed")
    return [int(row) % many for row in rows]


def class_to_audit(target: Any, classes: np.ndarray | None, rows: int, several: Sequence[int] | None) -> np.ndarray:
    """Return the index (rows,) of the class whose explanation is judged; refuse labels that cannot be told among the classes explained."""
    _places_are_classes(classes, several)
    return known_classes(target.detach().cpu() if isinstance(target, Tensor) else target, classes, rows)


def says_which_class(says: Any, classes: np.ndarray | None, several: Sequence[int]) -> Any:
    """Return the model that predicts the class meant; refuse to guess it without one, and a model of other classes."""
    if says is None:
        raise ValueError(
            f"these are the scores of {len(several)} classes, but the explanation of one class a row is judged; give target=, one label "
            "for all rows or one a row, or model= alone, whose predicted class is then meant; where other rows, or an explainer that is "
            "asked again, have scores of several classes too, one label a row of X does not tell theirs"
        )
    _places_are_classes(classes, several)
    return says


def _places_are_classes(classes: np.ndarray | None, several: Sequence[int] | None) -> None:
    """Refuse scores of more or fewer classes than the target has, where only their place says whose they are."""
    if isinstance(several, range) and (classes is None or len(several) != len(classes)):
        known = "no classes, but a real value" if classes is None else f"{len(classes)}: {classes.tolist()[:10]}"
        raise ValueError(
            f"these are the scores of {len(several)} classes, but the target has {known}, so that their order does not say whose they are; "
            "give the model that was explained, or rows with every class, or choose by place: as_explanation(explanation, X, target=place)"
        )


def class_explained(index: np.ndarray, asked: Tensor | None) -> np.ndarray:
    """Return the index (rows,) of the class explained; refuse another one than the explanation itself says."""
    if asked is not None and (asked.cpu().numpy() != index).any():
        row = int((asked.cpu().numpy() != index).argmax())
        raise ValueError(
            f"target says class {int(index[row])} of row {row}, but the explanation is of class {int(asked[row])}; leave target out"
        )
    return index


def right_reasons_variant(scale: str, target: Any) -> None:
    """Refuse a gradient that is not defined, or always 0."""
    one_of(scale, ["log", "linear"], "scale")
    if not isinstance(target, (int, np.integer)) or isinstance(target, bool):
        one_of(str(target), ["sum", "max", "label"], "target (or the index of a class)")
    if scale == "linear" and target == "sum":
        raise ValueError("probabilities sum to 1 whatever the input is, so that their sum has no slope; choose scale='log' or target='max'")


def marks_fit(mask: Any, x: Any) -> None:
    """Refuse marks that are not one for each input."""
    if tuple(mask.shape) != tuple(x.shape):
        raise ValueError(f"irrelevant_mask has shape {tuple(mask.shape)}, but inputs of shape {tuple(x.shape)} need one mark each")


def truth_there(truth: np.ndarray | None) -> np.ndarray:
    """Refuse a part of which nobody knows what decides."""
    if truth is None:
        raise ValueError("nobody knows which features of this part may decide; give an irrelevant_mask of your own")
    return np.asarray(truth, dtype=bool)


def annotated_names(wanted: Collection[str], names: Sequence[str]) -> None:
    """Refuse names that no feature has."""
    odd = [name for name in wanted if name not in names]
    if odd:
        raise ValueError(f"no feature is called {odd[:5]}; the features are: {', '.join(map(str, names[:20]))}{'…' * (len(names) > 20)}")


def annotation_table(table: pd.DataFrame, names: Sequence[str], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and features of an annotation; refuse marks that no row or feature has."""
    missing = [name for name in ("row", "feature") if name not in table.columns]
    if missing:
        raise ValueError(f"the annotation has the columns {list(map(str, table.columns))}; {missing} are needed too")
    row = pd.to_numeric(table["row"], errors="coerce").to_numpy(dtype=float)
    bad = ~((row >= 0) & (row < rows) & (row == np.floor(row)))
    if bad.any():
        raise ValueError(
            f"line {int(np.flatnonzero(bad)[0]) + 1} marks row {table['row'].iloc[int(np.flatnonzero(bad)[0])]!r}, "
            f"but rows are numbered from 0 to {rows - 1}"
        )
    feature = table["feature"].to_numpy(dtype=object)
    annotated_names(sorted({name for name in feature if isinstance(name, str)}), names)
    return row.astype(int), feature


def picture_fits(got: tuple[int, ...], shape: Sequence[int]) -> None:
    """Refuse a painted mask of another size."""
    if tuple(got) != tuple(shape)[-2:] or len(shape) not in (2, 3):
        raise ValueError(f"the picture is {got} (height, width), but an input has shape {tuple(shape)}; paint one of the input's size")


def some_word_found(found: np.ndarray, words: Collection[str]) -> None:
    """Refuse a list of words of which the vocabulary has none."""
    if not found.any():
        raise ValueError(f"none of the words {list(words)[:5]} is in the vocabulary; try ignore_case=True, or a * for any letters")


def row_numbers(rows: Any, given: int, count: int) -> np.ndarray:
    """Return the numbers of annotated rows; refuse some that do not fit."""
    index = as_array(rows)
    if (
        index.ndim != 1
        or len(index) != given
        or index.dtype.kind not in "iu"
        or (len(index) and not (0 <= index.min() <= index.max() < count))
    ):
        raise ValueError(f"annotated_rows must be {given} row numbers from 0 to {count - 1}, one for each row of irrelevant_mask")
    return index


def annotation_fits(marks: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse an annotation of another shape, or of other values than 0, 1 and NaN for rows that nobody looked at."""
    spread = marks.shape + (1,) * (len(shape) - marks.ndim)
    if marks.ndim > len(shape) or marks.ndim == 0 or any(a not in (b, 1) for a, b in zip(spread, shape, strict=True)):
        raise ValueError(
            f"irrelevant_mask has shape {marks.shape}, but inputs of shape {shape} need that shape, or {shape[1:]} for all rows"
        )
    if not np.isin(marks[~np.isnan(marks)], (0, 1)).all():
        raise ValueError("irrelevant_mask must hold 1 (must not be used), 0, or NaN for rows that nobody annotated")


def network_output(output: Any, rows: int, count: int, real: bool) -> None:
    """Refuse a network whose output does not fit the target."""
    shape = tuple(output.shape)
    fits = shape in ((rows,), (rows, 1)) if real else shape == (rows, count)
    if not fits:
        needed = f"({rows},) or ({rows}, 1), one value a row" if real else f"({rows}, {count}), one logit a class (two for two classes),"
        raise ValueError(f"the network returned shape {shape} for {rows} rows, but {needed} is needed")


def strength_fits(strength: Any) -> None:
    """Refuse a strength that is neither a number from 0 on nor auto."""
    if strength != "auto" and not (isinstance(strength, (int, float, np.number)) and math.isfinite(strength) and strength >= 0):
        raise ValueError(f"strength={strength!r}, but 'auto' or a number from 0 on is needed")


def inputs(X: Any) -> np.ndarray:
    """Return inputs of any shape (n, ...) as float32; refuse what is not a finite number."""
    if isinstance(X, pd.DataFrame) or np.ndim(X) == 2:
        return finite_numbers(X).astype(np.float32)
    values = np.require(as_array(X), np.float32, "W")  # torch warns of arrays that may not be written to
    if values.ndim < 2 or 0 in values.shape:
        raise ValueError(f"X has shape {values.shape}, but (rows, ...) with at least one row and one input is needed")
    if not np.isfinite(values).all():
        raise ValueError("Input X contains NaN or infinity; impute or drop such rows")
    return values


def fitted_network(trained: Any) -> None:
    """Refuse to predict before fit."""
    if not hasattr(trained, "network_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(trained).__name__} is not fitted yet; call fit first")


def same_input_shape(got: tuple[int, ...], needed: tuple[int, ...]) -> None:
    """Refuse inputs of another shape than those of the fit."""
    if tuple(got) != tuple(needed):
        raise ValueError(f"inputs have shape {tuple(got)}, but those of the fit had {tuple(needed)}; give inputs of that shape")


def classes_there(real: bool) -> None:
    """Refuse probabilities of real values."""
    if real:
        raise AttributeError("a real-valued target has no class probabilities; use predict")


def post_fits(name: str, *, plain: bool) -> None:
    """Refuse a member of an archive of posts that is something else."""
    if not plain:
        raise ValueError(f"the archive of posts holds {name!r}, which is none; put the archive there anew as it was published")
