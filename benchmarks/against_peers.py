"""Fit and explain 10,000 rows beside LIME and KernelSHAP on the same model, a dense network of 3 x 200.

    python benchmarks/against_peers.py [--epochs 400] [--rows 50] [--quick]

LIME (5,000 samples a row) and KernelSHAP (100 background rows) explain a few rows, each by itself; their time is extrapolated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import black_box
import numpy as np
import torch
from black_box import BlackBoxModel
from measure import Sheet
from rich.console import Console
from torch import Tensor

import lexplain as lx
from lexplain import check
from lexplain.masks import top_k_mask
from lexplain.measures import bootstrap
from lexplain.measures.truth import cfsr, fdr, tpr

MANY = 10_000
SAMPLES = 5_000  # LIME's own default
BACKGROUND = 100
SHOWN = 5  # features that LIME is asked for: as many as decide in s3


@dataclass(frozen=True, eq=False)
class Contender:
    """What one explainer took, and how it scored the features of the rows all were given."""

    name: str
    setup: float  # seconds once
    each: float  # seconds a row
    scores: Tensor  # (rows, d) higher means more important
    asked: float  # model rows for 10,000 explanations, with the setup's

    @property
    def total(self) -> float:
        """Seconds of 10,000 explanations."""
        return self.setup + MANY * self.each


def ours(data: lx.Dataset, model: BlackBoxModel, rows: int, *, method: str, epochs: int | None, keep: int | None = None) -> Contender:
    """A method with its default networks, fitted to the model; all 10,000 rows are really explained."""
    before = model.rows
    start = time.perf_counter()
    explainer = lx.Explainer(method, keep=keep, epochs=epochs, device="cpu", random_state=0).fit(data.train.x, model=model)
    fitted = time.perf_counter()
    explanation = explainer.explain(data.test.x)
    done = time.perf_counter()
    name = f"lexplain {method}" if keep is None else f"lexplain {method}, keep={keep}"
    return Contender(name, fitted - start, (done - fitted) / len(explanation), explanation.scores[:rows], model.rows - before)


def lime(data: lx.Dataset, model: BlackBoxModel, rows: int) -> Contender:
    """LIME for tables, 5 features and 5,000 samples a row."""
    lime_tabular = check.require("lime.lime_tabular", extra="peers")
    start = time.perf_counter()
    explainer = lime_tabular.LimeTabularExplainer(data.train.x, mode="classification", random_state=0)
    setup = time.perf_counter() - start

    def weights(row: np.ndarray, label: int) -> np.ndarray:
        found = explainer.explain_instance(row, model, labels=(label,), num_features=SHOWN, num_samples=SAMPLES).as_map()[label]
        scores = np.zeros(len(row))
        scores[[feature for feature, _ in found]] = [weight for _, weight in found]
        return scores

    return one_by_one("LIME", setup, 0, weights, data, model, rows)


def kernel_shap(data: lx.Dataset, model: BlackBoxModel, rows: int) -> Contender:
    """KernelSHAP with 100 background rows and as many coalitions as it chooses."""
    shap = check.require("shap", extra="peers")
    background = data.train.x[np.random.default_rng(0).choice(len(data.train), BACKGROUND, replace=False)]
    before = model.rows
    start = time.perf_counter()
    explainer = shap.KernelExplainer(model, background)
    setup = time.perf_counter() - start

    def weights(row: np.ndarray, label: int) -> np.ndarray:
        found: np.ndarray = explainer.shap_values(row, nsamples="auto", silent=True)[:, label]
        return found

    return one_by_one("KernelSHAP", setup, model.rows - before, weights, data, model, rows)


def one_by_one(
    name: str,
    setup: float,
    setup_rows: int,
    weights: Callable[[np.ndarray, int], np.ndarray],
    data: lx.Dataset,
    model: BlackBoxModel,
    rows: int,
) -> Contender:
    """Explain each row's predicted class by itself; the mean time, without a first row that warms up, stands for the others."""
    x = data.test.x[:rows]
    labels = model(x).argmax(1)
    np.random.seed(0)  # noqa: NPY002  # KernelSHAP draws from NumPy's global state
    weights(x[0], int(labels[0]))
    before, start = model.rows, time.perf_counter()
    scores = np.stack([weights(row, int(label)) for row, label in zip(x, labels, strict=True)])
    each = (time.perf_counter() - start) / rows
    return Contender(name, setup, each, torch.from_numpy(np.abs(scores)), setup_rows + MANY * (model.rows - before) / rows)


def found(contender: Contender, data: lx.Dataset) -> list[str]:
    """TPR, FDR and CFSR of the top features, as many as decide each row, with 95 % intervals."""
    rows = len(contender.scores)
    assert data.test.truth is not None  # s3 has both
    assert data.control_flow is not None
    truth = torch.from_numpy(data.test.truth[:rows])
    mask = torch.stack([top_k_mask(scores, int(true.sum())) for scores, true in zip(contender.scores, truth, strict=True)])
    values = (tpr(mask, truth), fdr(mask, truth), cfsr(mask, data.control_flow))
    return [f"{100 * e.mean:.0f} [{100 * e.low:.0f}, {100 * e.high:.0f}]" for e in map(bootstrap, values)]


def number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def run(*, quick: bool = False, epochs: int | None = None, rows: int = 50, model_epochs: int = 5) -> list[Sheet]:
    """Train the model, let all explain it, and lay out."""
    if quick:
        epochs, rows, model_epochs = epochs or 2, min(rows, 2), 2
    data = lx.load_data("s3", rows=MANY, seed=0)
    model = black_box.train(data.train, epochs=model_epochs)
    accuracy = float((model(data.test.x).argmax(1) == data.test.y).mean())
    assert data.test.probabilities is not None
    best = float((data.test.probabilities.argmax(1) == data.test.y).mean())
    first = ours(data, model, rows, method="default", epochs=epochs)
    told = [ours(data, model, rows, method=name, epochs=epochs, keep=SHOWN) for name in ("default", "realx")]
    peers = [lime(data, model, rows), kernel_shap(data, model, rows)]
    table = []
    for c in (first, *told, *peers):
        even = "-" if c not in peers else f"{ceil(first.setup / (c.each - first.each)):,}" if c.each > first.each else "never"
        speed = [number(value) for value in (c.setup, 1e3 * c.each, c.total, 1e3 * c.total / MANY, c.total / first.total)]
        table.append([c.name, *speed, even, f"{c.asked:,.0f}", *found(c, data)])
    speeds = ["fit s", "explain ms a row", f"s for {MANY:,}", "ms an explanation", "times the first", "break-even rows", "model rows asked"]
    return [
        Sheet(
            f"Fit and explain {MANY:,} rows of s3, beside LIME and KernelSHAP",
            ["explainer", *speeds, "TPR %", "FDR %", "CFSR %"],
            table,
            [
                f"The model: 3 x 200, {model_epochs} epochs, accuracy {accuracy:.3f} (the best possible model: {best:.3f}).",
                f"lexplain explained all {MANY:,} rows; LIME and KernelSHAP explained {rows}, whose mean time is extrapolated to {MANY:,}.",
                "An explanation's ms share the fit among all. Break-even: from so many rows on the first line, with its fit, is faster.",
                f"LIME is told to show {SHOWN} features, and so are two lines of lexplain; its first chooses by itself.",
                f"TPR, FDR and CFSR: the features of highest |score|, as many as decide the row, on the same {rows} test rows, "
                "with 95 % bootstrap intervals; for context, and with this many features FDR = 100 - TPR.",
                f"LIME: {SAMPLES:,} samples and {SHOWN} features a row, for which its own default is forward selection. "
                f"KernelSHAP: {BACKGROUND} background rows, nsamples auto (all 2,046 coalitions of 11 features).",
            ],
        )
    ]


def main() -> None:
    """Print the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, help="of lexplain's fit; its own default unless told")
    parser.add_argument("--rows", type=int, default=50, help="that LIME and KernelSHAP explain")
    parser.add_argument("--quick", action="store_true", help="2 epochs, 2 rows: to see that it runs, not to quote")
    told = parser.parse_args()
    for sheet in run(quick=told.quick, epochs=told.epochs, rows=told.rows):
        sheet.show(Console(width=200))


if __name__ == "__main__":
    main()
