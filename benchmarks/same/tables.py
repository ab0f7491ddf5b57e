"""One tiny cell of each table of the papers: what its record holds, but for times, and the masks that cells on images keep.

Data sets that come with the library stand in for those that must be fetched: a cell takes any.
"""

from __future__ import annotations

import tempfile
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from . import Case
from .given import numbers
from .places import first_of, short

IMAGE: dict[str, Any] = {"rows": 60, "steps": 2, "batch_size": 20, "judge_steps": 2}
PANEL = {**IMAGE, "judges": ["EVAL-X", "EVAL-X, any rate"]}
TINY: dict[str, Any] = {"epochs": 1, "rows": 100}
POWER: dict[str, Any] = {"rows": 100, "judge_steps": 20}
MARGINAL: tuple[str, dict[str, Any]] = ("Marginal", {})
FACES: dict[str, Any] = {"connected": 0.003, "keep": 0.1, "width": 4}
SURROGATE: dict[str, Any] = {"surrogate": True, "keep": 0.25, "width": 4}
IRIS: dict[str, Any] = {"epochs": 5, "held_out": 0.0}
DEEP: dict[str, Any] = {**IMAGE, "networks": "deep", "balanced": True}
MODEL: dict[str, Any] = {"rows": 60, "steps": 2, "model_steps": 3, "width": 4}
ZERO: tuple[str, dict[str, Any]] = ("Constant", {"value": 0.0})
INSIDE: tuple[str, dict[str, Any]] = ("Likelihood", {"masks": 1, "imputations": 2})
GAUSSIAN: tuple[str, dict[str, Any]] = ("IndependentGaussian", {})
# Each cell: its table and the file at BASE that computes it; data, label, method, options and training.
CELLS: list[tuple[str, str, tuple[Any, ...]]] = [
    ("audit-order", "audit_order:compute", ("s3", "l2x", "l2x", {"keep": 3}, {"epochs": 2, "rows": 200, "learning_rate": 1e-3})),
    ("audit-power", "audit_power:compute", ("s1", "position", "planted", {}, POWER)),
    (
        "audit-power",
        "audit_power:compute",
        ("digits", "L2X, k = 1, digits", "l2x", {"keep": 1}, {**POWER, "epochs": 1, "batch_size": 100, "learning_rate": 1e-3}),
    ),
    (
        "audit-power",
        "audit_power:compute",
        ("s1", "REAL-X", "realx", {"penalty": 0.05}, {**POWER, "epochs": 1, "batch_size": 250, "learning_rate": 1e-3}),
    ),
    ("default", "default_method:compute", ("s3", "S3", "default", {"epochs": 4}, {"draw": {"rows": 200}})),
    ("default", "default_method:compute", ("xor", "xor", "l2x", {"keep": 2, "epochs": 4}, {"draw": {"rows": 200}})),
    ("realx-table1", "synthetic:compute", ("s3", "realx", "realx", {"penalty": 0.1}, {**TINY, "learning_rate": 3e-4})),
    ("lex-figure3", "synthetic:compute", ("s3", "Gaussian", "lex", {"imputer": GAUSSIAN, "objective": INSIDE, "keep": 5}, TINY)),
    ("lex-figure3", "synthetic:compute", ("s3", "surrogate zero", "lex", {"imputer": ZERO, "surrogate": True, "keep": 5}, TINY)),
    ("real-tables", "real_tables:compute", ("breast_cancer", "LIME", "LIME", {}, {"rows": 10})),
    ("real-tables", "real_tables:compute", ("breast_cancer", "default", "default", {}, {"epochs": 2, "rows": 10})),
    (
        "l2x-mnist38",
        "l2x_mnist38:compute",
        ("sp_digits", "l2x", "l2x", {"keep": 4}, MODEL),
    ),
    ("realx-table2", "images:compute", ("sp_digits", "realx", "realx", {"penalty": 8.0}, {**IMAGE, "networks": "dense"})),
    (
        "realx-table3",
        "images:compute",
        ("sp_digits", "l2x", "l2x", {"keep": 4, "width": 4}, DEEP),
    ),
    (
        "lex-faces",
        "images:compute",
        ("sp_digits", "zero", "sufficient", {"imputer": ZERO, **FACES}, IMAGE),
    ),
    ("lex-sp-mnist", "images:compute", ("sp_digits", "marginal", "sufficient", {"imputer": MARGINAL, "keep": 0.1, "width": 4}, PANEL)),
    (
        "lex-sp-fashion",
        "images:compute",
        ("sp_digits", "zero", "sufficient", {"imputer": ZERO, **SURROGATE}, PANEL),
    ),
    ("rrr-colours", "rrr:compute_fit", ("colours", "no corners", "right reasons", {}, {"epochs": 2, "rows": 200})),
    ("rrr-colours", "rrr:compute_search", ("colours", "search", "find another", {}, {"epochs": 1, "rows": 60})),
    ("rrr-decoy", "rrr:compute_fit", ("decoy_digits", "annotated", "right reasons", {}, {"epochs": 2})),
    ("rrr-decoy", "rrr:compute_selection", ("decoy_digits", "l2x, annotated", "l2x", {"keep": 12, "price": 3.0}, {"epochs": 1})),
    (
        "rrr-iris-cancer",
        "rrr:compute_iris",
        ("iris_cancer", "annotated", "right reasons", {"standardised": True}, IRIS),
    ),
    ("rrr-newsgroups", "rrr:compute_words", ("iris_cancer", "words", "find another", {}, {"epochs": 1})),
    ("rrr-lambda-sweep", "rrr:compute_fit", ("decoy_digits", "annotated", "right reasons", {"strength": 10.0}, {"epochs": 1})),
    ("rrr-speed", "rrr:compute_speed", ("iris_cancer", "input gradients", "input gradients", {}, {"epochs": 1})),
]


def cases() -> dict[str, Case]:
    """One or more cells of each name, what they are called, and which tables there are."""
    found: dict[str, Case] = {}
    for table, place, what in CELLS:
        name = f"tables/{table}"
        several = [each[2][1] for each in CELLS if each[0] == table]
        found[name if len(several) == 1 else f"{name}, {what[1]}"] = partial(_record, table, place, what)
    return {**found, "tables/keys": _keys, "tables/names": _names}


def _cell(data: str, label: str, method: str, options: Any, training: Any, seed: int = 0) -> Any:
    place = ("lexplain.experiments.cell:Cell", "lexplain.reproduce.cells:Cell", "lexplain.comparison.cell:Cell")
    return first_of(*place)(data, label, method, seed, options, training)


def _compute(table: str, place: str) -> Any:
    """What computes a table's cells: the table itself says so, or at BASE a function."""
    known = first_of("lexplain.reproduce:TABLES")[table]
    return known.compute if hasattr(known, "compute") else first_of(f"lexplain.reproduce.{place}")


def _record(table: str, place: str, what: tuple[Any, ...]) -> dict[str, Any]:
    cell, compute = _cell(*what), _compute(table, place)
    with tempfile.TemporaryDirectory() as folder, short():
        record = compute(cell, Path(folder)) if len(signature(compute).parameters) > 1 else compute(cell)
        kept = [np.load(path)["mask"] for path in sorted(Path(folder).rglob("*.npz"))]
    told = {"keys": sorted(record), "record": dict(record)}
    return numbers({**told, "masks": dict(enumerate(kept))} if kept else told)


def _keys() -> dict[str, Any]:
    """Names of cells, by which finished ones are found."""
    return {f"{table}, {what[1]}": np.array(_cell(*what).key) for table, _, what in CELLS}


def _names() -> dict[str, Any]:
    """Every table has a cell here."""
    names = sorted(first_of("lexplain.reproduce:TABLES"))
    missing = set(names) - {table for table, *_ in CELLS}
    if missing:
        raise LookupError(f"no cell of {', '.join(sorted(missing))} is computed; add one to CELLS")
    return numbers({"names": names})
