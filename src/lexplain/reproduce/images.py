"""A cell on images: fit from labels, explain the test images, judge."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from .. import estimators, imputers
from ..auditing import means
from ..core import Classes, Dataset, Explanation, Trial, seeded
from ..core.kinds import kind_of
from ..evaluation import Evaluation, Others, Run as Judging
from ..experiments.running import finished
from ..features import Patches
from ..masks import Coins
from ..methods import METHODS, TEST_IMPUTATIONS, Method, Parts
from ..metrics import accuracy
from ..models import Target, Trained
from ..networks import MLP, UNet
from ..objectives import Continuity
from ..training import Settings, fit
from .cells import Cell, Run, trial_of
from .gallery import keep_masks
from .judges import CHECKED, MASKS, Judge, Task, at_half_size, evaluators_of, mixed_fabric, predictor_network, prepare, scene, task_of

AT_ONCE = 1000  # images that are explained together
JOINT = ("l2x", "invase", "basex", "realx", "meed", "vibi")  # their predictors see the mask


def judges_of(cell: Cell) -> list[Judge]:
    """Who judges a cell."""
    return [Judge(task_of(cell), kind, cell.training["judge_steps"]) for kind in cell.training.get("judges", ("EVAL-X", "FULL"))]


def run_images(run: Run, cells: Sequence[Cell]) -> pd.DataFrame:
    """Train the judges, then compute the cells that are missing."""
    return run.cells(cells, partial(compute, folder=run.folder), prepare=partial(_train_judges, folder=run.folder / "judges"))


def _train_judges(missing: Sequence[Cell], pool: Executor | None, *, folder: Path) -> bool:
    """Train the judges of cells that are not kept yet; whether all are there now."""
    wanted = {judge: None for cell in missing for judge in judges_of(cell) if not judge.path(folder).exists()}
    ready = list(finished(list(wanted), partial(prepare, folder=folder), pool=pool, label="judges"))
    return len(ready) == len(wanted)


def compute(cell: Cell, folder: Path) -> dict[str, float]:
    """Everything the tables need of one cell; the masks of the first test images are kept beside it."""
    data, features, outputs = scene(task_of(cell))
    fabric, how = mixed_fabric(), cell.training
    train, validation = trial_of(features, data.train), trial_of(features, data.validation, CHECKED)
    batch = how.get("batch_size", 256)
    settings = Settings(
        epochs=max(1, round(how["steps"] * batch / len(train))),
        batch_size=batch,
        warmup_steps=how.get("warmup_steps", 0),
        max_rows=max(4 * batch, kind_of(features).pace.max_rows(features) // 4),  # many cells may share a GPU
        seed=cell.seed,
    )
    with seeded(cell.seed):
        began = time.monotonic()
        method = build(cell, features, outputs, train.x.to(fabric.device), validation.x.to(fabric.device)).to(fabric.device)
        if fabric.device.type == "cuda":
            # The order that tensor cores read.
            method.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stubs forget it
        imputed = time.monotonic()
        fit(method, method.phases(), train, validation, settings, fabric=fabric)
        seconds = time.monotonic()
    method.eval()
    found = judge(method, features, data, train, cell, folder)
    return {"imputer_seconds": imputed - began, "fit_seconds": seconds - imputed, **found}


def build(cell: Cell, features: Patches, outputs: Classes, train: Tensor, background: Tensor) -> Method:
    """The recipe of a cell; its imputer, given as (name, settings), learns from training images and draws from validation images."""
    options: dict[str, Any] = dict(cell.options)
    surrogate, connected = options.pop("surrogate", False), options.pop("connected", 0.0)
    task = task_of(cell)
    name, settings = options.pop("imputer", ("", {}))
    imputer = _imputer(name, settings, train, background) if name else None
    if "estimator" in options:
        options["estimator"] = getattr(estimators, options["estimator"])()
    network = _selector_network(task, features, options.pop("width", 32))
    sees_mask = options.pop("sees_mask", cell.method in JOINT)
    predictor = Trained(predictor_network(task, features, outputs, sees_mask=sees_mask), outputs, sees_mask=sees_mask)
    mask_costs = (Continuity(connected, features.neighbours()),) if connected else ()
    if surrogate:  # the predictor learns on fair coins alone: never on the selector's masks, nor on those of every size
        options |= {"masks": Coins, "own_share": 0.0}
    return METHODS[cell.method](features, outputs, Parts(network, predictor, imputer, mask_costs), **options)


def _selector_network(task: Task, features: Patches, width: int) -> nn.Module:
    if task.networks == "dense":
        return MLP(features.shape, features.count, activation=nn.ReLU)
    if task.networks == "half":
        return at_half_size(partial(UNet, grid=features.grid, width=width), features.shape)
    return UNet(features.shape, features.grid, width=width)


def _imputer(name: str, settings: dict[str, Any], train: Tensor, background: Tensor) -> nn.Module:
    kind: type[nn.Module] = getattr(imputers, name)
    if name == "Constant":
        return kind(**settings)
    if name == "Marginal":
        return kind(background)
    beside = {"background": background} if name.endswith("Rows") else {}
    fitted: nn.Module = kind.fit(train, **beside, **settings)  # type: ignore[attr-defined]  # all others learn
    return fitted.eval().requires_grad_(False)


def judge(method: Method, features: Patches, data: Dataset, train: Trial, cell: Cell, folder: Path) -> dict[str, float]:
    """The papers' metrics on the test images, by judges that have seen the training images alone."""
    task, judges = task_of(cell), [each.kind for each in judges_of(cell)]
    rows, outputs, labels = trial_of(features, data.test), scene(task)[2], torch.as_tensor(data.test.y)
    device, few = next(method.parameters()).device, max(1, kind_of(features).pace.max_rows(features) // TEST_IMPUTATIONS)
    explained = [method.explain(x.to(device)) for x in torch.split(rows.x, AT_ONCE)]
    scores, mask = (torch.cat([each.cpu() for each in column]) for column in zip(*explained, strict=True))
    keep_masks(folder, cell, mask)

    def own() -> Tensor:
        found = []
        for x, kept in zip(torch.split(rows.x, AT_ONCE), torch.split(mask, AT_ONCE), strict=True):
            parts = zip(torch.split(x.to(device), few), torch.split(kept.to(device), few), strict=True)
            with seeded(cell.seed):
                found += [method.probabilities(*part).cpu() for part in parts]
        return torch.cat(found)

    evaluation = Evaluation(
        Explanation(scores, mask, features.names, predict=own),
        features,
        rows,
        Target(torch.eye(outputs.count)[labels], outputs, None),  # of all classes, whichever the test images have
        Judging(mixed_fabric(), cell.seed, AT_ONCE),
        evaluators_of(task, cell.training["judge_steps"], folder / "judges"),
        Others(train),
        truth=None if data.test.truth is None else torch.as_tensor(data.test.truth),
    )
    found = means(evaluation, ["acc", "eacc", "eauroc", "fdr", *(["eacc_any_rate"] if "EVAL-X, any rate" in judges else [])])
    numbers = {"ACC": found["acc"], "eACC": found["eacc"], "eAUROC": found["eauroc"]}
    numbers |= {"kept": float((100 * mask.double().mean(1)).mean()), "breaks": float(_breaks(mask, features).mean())}
    if "eacc_any_rate" in found:
        numbers["eACC, any rate"] = found["eacc_any_rate"]
    if "FULL" in judges:
        numbers["FULL ACC"] = float(accuracy(evaluation.everything(MASKS["FULL"]), labels).mean())
    return numbers | ({"wrong": found["fdr"]} if "fdr" in found else {})


def _breaks(mask: Tensor, features: Patches) -> Tensor:
    """How many pairs of neighbours (b,) differ, for each feature that is kept."""
    squares = mask.reshape(len(mask), -1, *features.grid).double()
    breaks = squares.diff(dim=2).abs().sum((1, 2, 3)) + squares.diff(dim=3).abs().sum((1, 2, 3))
    return breaks / mask.sum(1).clamp_min(1)
