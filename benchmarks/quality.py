"""How well does the default find the true features? Fit it on sets with known ground truth, and compare with the committed figures.

    make quality                                     # = python benchmarks/quality.py: 20 minutes on 2 cores
    python benchmarks/quality.py --write             # also write these lines of docs/results/quality.md; the other lines stay
    python benchmarks/quality.py --sets S3 --seeds 1 # one fit

Each fit is `lx.Explainer().fit(X, y)` on 10,000 rows. Masks of 10,000 test rows are compared with the ground truth. The exit status is 1 if
a mean is worse than the committed one by more than 1 point and by more than three of its committed standard deviations.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import lexplain as lx
from lexplain.core.files import write_bytes
from lexplain.experiments.store import machine
from lexplain.explainers import FitWarning
from lexplain.measures.truth import cfsr, fdr, tpr

SETS = {
    "S1": ("s1", 0),
    "S2": ("s2", 0),
    "S3": ("s3", 0),
    "x1 x2": ("a", 0),
    "XOR": ("xor", 0),
    "S3, 60 columns": ("s3", 49),
    "S3, 300 columns": ("s3", 289),
    "linear, real values": ("linear", 0),
}
USUAL = ("S1", "S2", "S3", "x1 x2")  # what is measured unless sets are named
FIRST_SEED = 2000
NUMBERS = {"TPR": 1, "FDR": -1, "CFSR": 1}  # and whether higher is better
POINTS, SPREADS = 1.0, 3.0  # by how much a mean may be worse
PAGE = Path(__file__).resolve().parent.parent / "docs" / "results" / "quality.md"


def data_of(name: str, noise: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int | None]:
    """Training rows and labels, test rows and their ground truth, and the index of the control-flow feature."""
    if name == "linear":  # five of ten independent columns with equal coefficients; the noise is half as large as the signal
        draw = np.random.default_rng(seed)
        x = draw.standard_normal((20_000, 10))
        y = x[:, :5].sum(1) + 0.5 * 5**0.5 * draw.standard_normal(len(x))
        return x[:10_000], y[:10_000], x[10_000:], np.tile(np.arange(10) < 5, (10_000, 1)), None
    data = lx.load_data(name, seed=seed, rows=10_000, noise_columns=noise)
    return data.train.x, data.train.y, data.test.x, np.asarray(data.test.truth), data.control_flow


def one_fit(task: tuple[str, int]) -> dict[str, object]:
    """The numbers of one fit, in percent."""
    label, seed = task
    torch.set_num_threads(1)
    x, y, test, known, control_flow = data_of(*SETS[label], seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        explainer = lx.Explainer(device="cpu", random_state=seed).fit(x, y)
    mask, truth = explainer.explain(test).mask, torch.as_tensor(known)
    found = {"TPR": tpr(mask, truth), "FDR": fdr(mask, truth)}
    found |= {} if control_flow is None else {"CFSR": cfsr(mask, control_flow)}
    numbers = {name: 100 * float(values.double().nanmean()) for name, values in found.items()}
    return {"set": label, "seed": seed, "kept": float(mask.sum(1).double().mean()), "fit seconds": explainer.fit_seconds_, **numbers}


def lines_of_page() -> list[list[str]]:
    """The cells of the lines of the page's table, its head first. Empty if there is no page."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|") and "---" not in line]


def committed() -> dict[tuple[str, str], tuple[float, float]]:
    """Means and standard deviations on the page, by set and number."""
    lines = lines_of_page()
    cells = {
        (line[0], name): re.fullmatch(r"([\d.]+) \(([\d.]+)\)", cell)
        for line in lines[1:]
        for name, cell in zip(lines[0], line, strict=True)
    }
    return {key: (float(found[1]), float(found[2])) for key, found in cells.items() if found}


def table(fits: pd.DataFrame) -> pd.DataFrame:
    """One row per set: means, with standard deviations over seeds in brackets."""
    groups = fits.groupby("set", sort=False)
    columns = [*NUMBERS, "kept", "fit seconds"]
    shown = {name: [f"{m:.2f} ({s:.2f})" for m, s in zip(groups[name].mean(), groups[name].std(), strict=True)] for name in columns}
    where = {"date": date.today().isoformat(), "machine": machine()}
    return pd.DataFrame({"set": list(groups.groups), "seeds": groups.size().tolist(), **shown, **where}).replace("nan (nan)", "")


def page_of(figures: pd.DataFrame) -> str:
    """The page with these lines. Lines of other sets stay as they are."""
    head = [
        "# How well the default finds the true features",
        f"`python benchmarks/quality.py --sets SET --write` writes the line of a set (lexplain {lx.__version__}).",
        "`lx.Explainer().fit(X, y)` on 10,000 rows. Masks of 10,000 test rows are compared with the ground truth, in percent. Seconds are "
        "those of parallel processes with one thread each.",
        f"Mean over data seeds from {FIRST_SEED}, with the standard deviation in brackets. `make quality` measures it again. It exits "
        f"with 1 if a mean is worse by more than {POINTS:g} point and by more than {SPREADS:g} of these standard deviations.",
    ]
    lines = {line[0]: line for line in [*lines_of_page()[1:], *figures.to_numpy().tolist()]}
    ordered = [lines[label] for label in SETS if label in lines]
    rows = ["| " + " | ".join(map(str, line)) + " |" for line in [figures.columns, ["---"] * figures.shape[1], *ordered]]
    return "\n\n".join([*head, "\n".join(rows)]) + "\n"


def worse(fits: pd.DataFrame, known: dict[tuple[str, str], tuple[float, float]]) -> list[str]:
    """A line per mean that is worse than the committed one by more than the tolerance."""
    found = []
    for (label, name), (mean, spread) in known.items():
        values = fits.loc[fits["set"] == label, name] if name in NUMBERS and name in fits else pd.Series(dtype=float)
        lost = NUMBERS.get(name, 0) * (mean - values.mean())
        if lost > max(POINTS, SPREADS * spread):
            found.append(f"{label}: {name} {values.mean():.2f}, committed {mean:.2f} ({spread:.2f})")
    return found


def main() -> None:
    """Fit, print the figures next to the committed ones, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(USUAL), metavar="SET", help=f"of {', '.join(SETS)}")
    parser.add_argument("--seeds", type=int, default=5, help="data sets per set, from seed 2000")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes of one thread each")
    parser.add_argument("--write", nargs="?", const=PAGE, type=Path, help="write the figures to a file (docs/results/quality.md)")
    args = parser.parse_args()
    tasks = [(label, seed) for seed, label in product(range(FIRST_SEED, FIRST_SEED + args.seeds), args.sets)]
    with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        fits = pd.DataFrame(list(pool.map(one_fit, tasks))).reindex(columns=["set", "seed", *NUMBERS, "kept", "fit seconds"])
    fits = fits.sort_values("set", key=lambda column: column.map(list(SETS).index), kind="stable")
    figures = table(fits)
    print(figures.drop(columns=["date", "machine"]).to_string(index=False))
    known = committed()
    for label, name in product(figures["set"], NUMBERS):
        if (label, name) in known:
            print(f"committed: {label} {name} {known[label, name][0]:.2f} ({known[label, name][1]:.2f})")
    if args.write:
        write_bytes(args.write, page_of(figures).encode())
    lost = worse(fits, known)
    print("\n".join(["worse than committed:", *lost] if lost else ["no mean is worse than committed"]))
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
