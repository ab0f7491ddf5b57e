"""Do two commits give the same answers? Fit every method with both, on one machine and one thread, and compare.

    python benchmarks/same_answers.py BASE            # BASE against the working tree
    python benchmarks/same_answers.py BASE OTHER      # two commits

After 20 optimiser steps scores, predictions and the numbers of an audit must be equal to the last bit. After 300 steps at least 99.5 % of
the entries of all masks must be equal. The exit status is 1 where they are not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FEW, MANY = 20, 300  # optimiser steps
EQUAL = 0.995  # share of the entries of masks
ALIASES = {"hold": "sufficient"}  # methods that were renamed: the old name and the new one


# ---- in the process of one commit ----


def mixed_table(rows: int) -> Any:
    """A DataFrame of numbers, whole numbers, booleans, text and categories, with labels and what a model says of it."""
    import pandas as pd

    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 80, rows),
            "income": np.exp(draw.normal(10, 1, rows)),
            "owner": draw.random(rows) < 0.4,
            "city": draw.choice(["Bern", "Basel", "Chur"], rows),
            "grade": pd.Categorical(draw.choice(["low", "middle", "high"], rows), ["low", "middle", "high"], ordered=True),
            "noise": draw.normal(size=rows),
        }
    )
    return frame, (mixed_model(frame)[:, 1] > draw.random(rows)).astype(int)


def mixed_model(frame: Any) -> np.ndarray:
    """A function of the mixed table to class probabilities."""
    odds = (frame["age"].to_numpy(dtype=float) - 45) / 15 + 2 * (frame["city"] == "Chur").to_numpy() - frame["owner"].to_numpy(dtype=float)
    return np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))], 1)


def linear_model(rows: np.ndarray) -> np.ndarray:
    """A function of any array of rows to class probabilities."""
    flat = np.asarray(rows, dtype=float).reshape(len(rows), -1)
    odds = flat @ np.linspace(-1, 1, flat.shape[1])
    return np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))], 1)


def cases() -> dict[str, tuple[Any, Any, Any, Any, dict[str, Any]]]:
    """Rows to learn from, labels, rows to explain, a model, and settings of each data set."""
    import lexplain as lx
    from lexplain.features import Patches

    s3, digits = lx.load_data("s3", rows=200, seed=3), lx.load_data("sp_digits", rows=40, seed=3)
    frame, labels = mixed_table(200)
    return {
        "s3": (s3.train.x, s3.train.y, s3.test.x[:100], linear_model, {}),
        "mixed": (frame, labels, frame.iloc[:100], mixed_model, {}),
        "digits": (digits.train.x, digits.train.y, digits.test.x[:20], linear_model, {"features": Patches(2)}),
    }


def answers(only: str | None) -> dict[str, np.ndarray]:
    """What the imported lexplain says, by method, data set, regime and number of steps."""
    import lexplain as lx

    found: dict[str, np.ndarray] = {}
    for data, (x, y, shown, model, settings) in cases().items():
        for method in sorted(lx.METHODS):
            for steps in (FEW, MANY):
                regimes = ["surrogate"] if method == "meed" else ["free"]
                if steps == FEW and data != "digits" and method in ("gains", "lex", "realx", "hold", "sufficient"):
                    regimes += ["fixed", "self", "surrogate"]
                for regime in dict.fromkeys(regimes):
                    name = f"{ALIASES.get(method, method)}/{data}/{regime}/{steps}"
                    if only is None or only in name:
                        found |= {
                            f"{name}/{key}": value for key, value in one_fit(method, regime, steps, x, y, shown, model, settings).items()
                        }
    if only is None or only == "audit":
        found |= audited(*cases()["s3"][0:3:2])
    return found


def one_fit(method: str, regime: str, steps: int, x: Any, y: Any, shown: Any, model: Any, settings: Any) -> dict[str, np.ndarray]:
    """Scores, masks and predictions of one fit."""
    import lexplain as lx

    size = {} if method == "gains" else {"keep": 3}
    explainer = lx.Explainer(method, epochs=steps, batch_size=len(x), regime=regime, device="cpu", random_state=7, **size, **settings)
    explainer.fit(x, y if regime in ("free", "fixed") else None, model=model if regime in ("self", "surrogate") else None)
    explanation = explainer.explain(shown)
    return {
        "scores": explanation.scores.numpy(),
        "mask": explanation.mask.numpy(),
        "prediction": explanation.prediction.numpy(),
    }


def audited(x: Any, shown: Any) -> dict[str, np.ndarray]:
    """The numbers of an audit of a short fit: judges, readers, retrained networks and curves."""
    import lexplain as lx

    explainer = lx.Explainer("gains", keep=3, epochs=FEW, batch_size=len(x), device="cpu", random_state=7).fit(x, model=linear_model)
    card = lx.audit(explainer.explain(shown), shown, model=linear_model, train=(x, None, explainer.explain(x)), device="cpu")
    table = card.to_frame().set_index("metric")[["value", "low", "high"]]
    return {f"audit/s3/surrogate/{FEW}/{label}": row.to_numpy(dtype=float) for label, row in table.iterrows()}


# ---- in the process that compares ----


def ask(source: Path, folder: Path, name: str, only: str | None) -> dict[str, np.ndarray]:
    """The answers of the lexplain below a folder, from a process of its own."""
    out = folder / f"{name}.npz"
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    words = [sys.executable, str(Path(__file__).resolve()), "--answer", str(out), *(["--only", only] if only else [])]
    subprocess.run(words, env=environment, cwd=source, check=True)
    with np.load(out) as kept:
        return dict(kept)


def checked_out(commit: str, folder: Path) -> Path:
    """A commit's files in a folder of their own."""
    place = folder / commit.replace("/", "_")
    place.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive, check=True)
    return place


def compared(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """Print what differs; whether all is as equal as it must be."""
    good = True
    for name in sorted(set(one) ^ set(other)):
        print(f"only one has {name}")
        good = False
    few = [name for name in one if name in other and f"/{FEW}/" in name]
    for name in few:
        if one[name].shape != other[name].shape or not np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f"):
            good = False
            same_shape = one[name].shape == other[name].shape
            print(
                f"differs: {name}"
                + (f" by up to {np.abs(one[name].astype(float) - other[name].astype(float)).max():.3g}" if same_shape else "")
            )
    masks = [name for name in one if name in other and f"/{MANY}/" in name and name.endswith("/mask")]
    for name in masks:
        share = float((one[name] == other[name]).mean())
        if share < EQUAL:
            good = False
        if share < 1:
            print(f"masks equal in {share:.2%}: {name}")
    print(f"{len(few)} arrays after {FEW} steps, {len(masks)} masks after {MANY}: {'the same' if good else 'NOT the same'}")
    return good


def main() -> None:
    """Compare two commits, or answer for one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="*", help="one commit, to compare with the working tree, or two")
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", help="only fits whose name (method/data/regime/steps) holds this; audit: the audit alone")
    told = parser.parse_args()
    if told.answer is not None:
        import torch

        torch.set_num_threads(1)
        np.savez(told.answer, **answers(told.only))
        return
    if len(told.commits) not in (1, 2):
        parser.error("one or two commits are needed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sources = [checked_out(commit, folder) for commit in told.commits] + [ROOT] * (len(told.commits) == 1)
        found = [ask(source, folder, str(place), told.only) for place, source in enumerate(sources)]
    sys.exit(0 if compared(*found) else 1)


if __name__ == "__main__":
    main()
