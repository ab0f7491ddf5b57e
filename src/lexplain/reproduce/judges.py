"""Judges of a data set and a seed, trained once, kept in a file, and shared by all cells and processes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path

from lightning_fabric import Fabric
from torch import nn

from ..core import Dataset, Part, Trial, as_target, seeded
from ..data import load_data
from ..features import Patches
from ..masks import Coins, FixedMasks, UniformRate
from ..predictors import DenseNet, Outputs, cnn, from_labels, mlp
from ..training import Evaluator, fabric_of, read_file, train_evaluator, write_atomically

KIND = "lexplain.judge/1"
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
    networks: str = "conv"  # "conv", "deep" (normalised convolutions), "densenet" (of 28 layers), or "dense"


@lru_cache(maxsize=2)
def scene(task: Task) -> tuple[Dataset, Patches, Outputs]:
    """The data of a task, its features and what is predicted."""
    data = load_data(task.data, seed=task.seed, rows=task.rows)
    features = Patches(task.patch) if task.patch is not None else data.features
    return data, features.fit(data.train.x), Outputs(int(data.train.y.max()) + 1)


def trial_of(features: Patches, outputs: Outputs, part: Part, most: int | None = None) -> Trial:
    """Images with their labels as targets; no more than so many of them."""
    values = from_labels(part.y).values[:most]
    assert values.shape[1] == outputs.count
    return Trial(features.encode(part.x[:most]), as_target(values, real=False))


def predictor_network(task: Task, features: Patches, outputs: Outputs, *, sees_mask: bool) -> nn.Module:
    """The kind of network that a task's predictors and judges are."""
    if task.networks == "densenet":
        return DenseNet(features.shape, outputs.count, sees_mask=sees_mask, blocks=(2, 4, 6), growth=16)
    if task.networks == "dense":
        return mlp(features.shape, outputs.count, sees_mask=sees_mask, activation=nn.ReLU)
    return cnn(features.shape, outputs.count, sees_mask=sees_mask, norm=task.networks == "deep")


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
        text = json.dumps(asdict(self), sort_keys=True)
        name = f"{self.task.data}-{self.kind}-{self.task.seed}".replace(" ", "_")
        return folder / f"{name}-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}.safetensors"

    def ready(self, folder: Path) -> Evaluator:
        """The judge, read from its file or trained and kept there."""
        _, features, outputs = scene(self.task)
        fabric = mixed_fabric()
        path, seed = self.path(folder), self.task.seed + SEED
        if path.exists():
            judge = Evaluator(features, outputs, network=predictor_network(self.task, features, outputs, sees_mask=True))
            judge.load_state_dict(read_file(path, KIND)[0])
            return judge.to(fabric.device).eval().requires_grad_(False)
        judge = self._trained(features, outputs, seed, fabric)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, judge.state_dict(), {"format": KIND})
        return judge

    def _trained(self, features: Patches, outputs: Outputs, seed: int, fabric: Fabric) -> Evaluator:
        data = scene(self.task)[0]
        with seeded(seed):
            network = predictor_network(self.task, features, outputs, sees_mask=True)
        parts = trial_of(features, outputs, data.train), trial_of(features, outputs, data.validation, CHECKED)
        return train_evaluator(
            features, outputs, *parts, masks=MASKS[self.kind], network=network, steps=self.steps, fabric=fabric, seed=seed
        )


def prepare(judge: Judge, folder: Path) -> None:
    """Train a judge if it is not kept yet."""
    if not judge.path(folder).exists():
        judge.ready(folder)
