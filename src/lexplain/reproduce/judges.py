"""Judges of a data set and a seed, trained once, kept in a file, and shared by all cells and processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from lightning_fabric import Fabric
from torch import nn

from .. import check
from ..core import Classes, Dataset, Part
from ..core.digest import short_digest
from ..data import load_data
from ..evaluation import Evaluators
from ..features import Patches, patches_of
from ..masks import Coins, FixedMasks, UniformRate
from ..networks import cnn, mlp
from ..training import fabric_of
from .cells import Cell, trial_of

SEED = 1000  # added to the seed, so that a judge shares no draw with a method
CHECKED = 4000  # validation images that choose the best epoch
# EVAL-X has seen half of the features; few features are new to it, so that a second one has learned on every number of them.
MASKS: dict[str, FixedMasks] = {"EVAL-X": Coins, "EVAL-X, any rate": UniformRate, "FULL": partial(Coins, rate=1.0)}


@dataclass(frozen=True)
class Task:
    """What is learned: a data set, the size of its features, how much of it, and the kind of networks."""

    data: str
    seed: int
    patch: int | None = None  # None: the data set's own
    rows: int | None = None
    networks: str = "conv"  # "conv", "deep" (normalised convolutions), "half" (deep and narrow, of images of half the size), or "dense"
    balanced: bool = False  # rows of the rarer classes are repeated for training, so that all classes are as many


def task_of(cell: Cell) -> Task:
    """What a cell's method and its judges learn."""
    told = {name: cell.training[name] for name in ("patch", "rows", "networks", "balanced") if name in cell.training}
    return Task(cell.data, cell.seed, **told)


@lru_cache(maxsize=2)
def scene(task: Task) -> tuple[Dataset, Patches, Classes]:
    """The data of a task, its features and what is predicted."""
    data = load_data(task.data, seed=task.seed, rows=task.rows)
    if task.balanced:
        data = replace(data, train=_balanced(data.train), validation=_balanced(data.validation))
    features = Patches(task.patch) if task.patch is not None else patches_of(data.features)
    return data, features.fit(data.train.x), Classes(int(data.train.y.max()) + 1)


def _balanced(part: Part) -> Part:
    """Rows of each class in turn, as many as the largest class has; those of the others come again."""
    members = [np.flatnonzero(part.y == label) for label in np.unique(part.y)]
    turns = np.stack([np.resize(rows, max(map(len, members))) for rows in members], axis=1).ravel()
    truth, chances = (None if column is None else column[turns] for column in (part.truth, part.probabilities))
    return Part(part.x[turns], part.y[turns], truth, chances)


def predictor_network(task: Task, features: Patches, outputs: Classes, *, sees_mask: bool) -> nn.Module:
    """The kind of network that a task's predictors and judges are."""
    check.one_of(task.networks, ["conv", "deep", "half", "dense"], "networks")
    if task.networks == "half":
        return at_half_size(partial(cnn, outputs=outputs.count, sees_mask=sees_mask, width=16, norm=True), features.shape)
    if task.networks == "dense":
        return mlp(features.shape, outputs.count, sees_mask=sees_mask, activation=nn.ReLU)
    return cnn(features.shape, outputs.count, sees_mask=sees_mask, norm=task.networks == "deep")


def at_half_size(network: Callable[[tuple[int, ...]], nn.Module], shape: Sequence[int]) -> nn.Module:
    """A network of images whose squares of 2 x 2 pixels are averaged: a quarter of the work."""
    channels, rows, columns = shape
    return nn.Sequential(nn.AvgPool2d(2), network((channels, rows // 2, columns // 2)))


def mixed_fabric() -> Fabric:
    """A GPU with half-precision products where there is one, which is twice as fast; else the CPU."""
    fabric = fabric_of("auto")
    return Fabric(accelerator="cuda", devices=1, precision="bf16-mixed") if fabric.device.type == "cuda" else fabric


@dataclass(frozen=True)
class Judge:
    """A judge to be trained: of a task, on one kind of masks."""

    task: Task
    kind: str
    steps: int

    def path(self, folder: Path) -> Path:
        """Where it is kept."""
        told = asdict(self)
        if not self.task.balanced:
            del told["task"]["balanced"]  # files that were kept before it could be told are found
        name = f"{self.task.data}-{self.kind}-{self.task.seed}".replace(" ", "_")
        return folder / f"{name}-{short_digest(told)}.safetensors"


def evaluators_of(task: Task, steps: int, folder: Path) -> Evaluators:
    """The judges of a task, by the masks of `MASKS`, which are kept in a folder."""
    data, features, outputs = scene(task)
    kinds = {masks: kind for kind, masks in MASKS.items()}
    return Evaluators(
        features,
        outputs,
        seed=task.seed + SEED,
        rows=trial_of(features, data.train),
        split=lambda train: (train, trial_of(features, data.validation, CHECKED)),
        steps=steps,
        network=partial(predictor_network, task, features, outputs, sees_mask=True),
        fabric=mixed_fabric(),
        file=lambda masks: Judge(task, kinds[masks], steps).path(folder),
    )


def prepare(judge: Judge, folder: Path) -> None:
    """Train a judge if it is not kept yet."""
    if not judge.path(folder).exists():
        evaluators_of(judge.task, judge.steps, folder).of(masks=MASKS[judge.kind])
