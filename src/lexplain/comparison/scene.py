"""What all explainers of a data set and a seed share: rows, targets, the judge, and a network to explain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .. import __version__, check
from ..core import Dataset, Part, Trial, as_target, seeded
from ..features import features_for
from ..objectives import cross_entropy
from ..predictors import Outputs, Target, from_labels, from_model, network_for
from ..training import Evaluator, read_file, train_evaluator, write_atomically
from ..training.learning import learn, split
from .digest import digest

NETWORK_STEPS = 2000  # optimiser steps of the common network
JUDGE_SEED = 1000  # added to the seed, so that the judge shares no draw with an explainer
MAX_ROWS = 100_000


@dataclass(frozen=True)
class Scene:
    """A data set and a seed, and what is explained there."""

    label: str
    data: Dataset
    seed: int
    model: Any = None  # what is explained; None: labels, or a network of our own
    judge_steps: int | None = None
    network_steps: int | None = None

    @cached_property
    def features(self) -> Any:
        """What can be on or off."""
        return (self.data.features if self.data.features is not None else features_for(self.data.train.x)).fit(self.data.train.x)

    @cached_property
    def target(self) -> Target:
        """What the training rows are explained as."""
        return from_labels(self.data.train.y) if self.model is None else from_model(self.model, self.data.train.x)[0]

    @property
    def outputs(self) -> Outputs:
        """What is predicted."""
        return self.target.outputs

    def trial(self, part: Part) -> Trial:
        """The encoded rows of a part with their targets, in the classes and the units of the training rows."""
        known = self.target
        if self.model is not None:
            said = from_model(self.model, part.x)[0]
        else:
            said = from_labels(check.in_classes(part.y, known.classes, self.label))
        values = said.values
        if known.outputs.real:
            values = (values * said.scale + said.mean - known.mean) / known.scale
        return Trial(self.features.encode(part.x), as_target(values, known.outputs.real))

    @cached_property
    def digest(self) -> str:
        """Everything that the judge and the network depend on; a model is told by what it says."""
        says = None if self.model is None else [from_model(self.model, part.x)[0].values for part in (self.data.train, self.data.test)]
        return digest(__version__, self.data, self.seed, says)

    # ---- learned once, and kept ----

    def judge(self, folder: Path) -> Evaluator:
        """EVAL-X of the training rows: it knows no explainer, and judges test rows alone."""
        seed = self.seed + JUDGE_SEED

        def train() -> Evaluator:
            parts = split(self.trial(self.data.train), seed)
            return train_evaluator(self.features, self.outputs, *parts, steps=self.judge_steps, seed=seed)

        with seeded(seed):
            blank = Evaluator(self.features, self.outputs)
        judge: Evaluator = _kept(folder / f"judge-{digest(self.digest, self.judge_steps)}.safetensors", blank, train)
        return judge

    def network(self, folder: Path) -> Any:
        """A small network that learned the training labels, for explainers of models: an `nn.Module` of raw rows.

        Where columns hold categories, which no network eats, it is a function of rows.
        """
        steps = self.network_steps or NETWORK_STEPS
        with seeded(self.seed):
            blank = network_for(self.features.shape, self.outputs.count, sees_mask=False)
        encoded = _kept(folder / f"network-{digest(self.digest, steps)}.safetensors", blank, partial(self._learned, blank, steps))
        if self.features.categorical:
            return _Asked(encoded, self)
        if not getattr(self.features, "images", False):
            return _of_raw_rows(encoded, self.features, self.target)
        as_given = self.features.layout == "NCHW" and self.features.dtype == "float32"  # then encoding changes nothing
        return encoded if as_given and not self.outputs.real else _Asked(encoded, self)

    def _learned(self, network: nn.Sequential, steps: int) -> nn.Sequential:
        def loss(trial: Trial) -> Tensor:
            return cross_entropy(trial.target, self.outputs.from_network(network(trial.x))).mean()

        learn(network, loss, loss, split(self.trial(self.data.train), self.seed), settings=(steps, MAX_ROWS, self.seed))
        return network


def rows_at(x: Any, at: np.ndarray) -> Any:
    """Some rows of a part."""
    return x.iloc[at] if isinstance(x, pd.DataFrame) else x[at]


def _kept(path: Path, blank: Any, train: Callable[[], Any]) -> Any:
    """What was trained before, in the blank one; or what trains now, kept for the next time."""
    if path.exists():
        blank.load_state_dict(read_file(path, "lexplain.judge/1")[0])
        return blank.eval().requires_grad_(False)
    trained = train()
    write_atomically(path, trained.state_dict(), {"format": "lexplain.judge/1"})
    return trained


def _of_raw_rows(encoded: nn.Sequential, features: Any, target: Target) -> nn.Sequential:
    """The same network of rows in their own units, answering in the target's: both are one more linear map, put into the ends."""
    linear = [layer for layer in encoded if isinstance(layer, nn.Linear)]
    mean, scale = (torch.as_tensor(each) for each in (features.mean, features.scale))
    first, last = linear[0], linear[-1]
    weight = first.weight.double() / scale
    first.bias.copy_(first.bias - weight @ mean)
    first.weight.copy_(weight)
    last.weight.mul_(target.scale)
    last.bias.mul_(target.scale).add_(target.mean)
    return encoded


class _Asked:
    """A network as a function of a table with categories: class probabilities, or values."""

    def __init__(self, encoded: nn.Sequential, scene: Scene) -> None:
        self.encoded, self.features, self.target = encoded, scene.features, scene.target

    @torch.no_grad()
    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        """Ask the network."""
        output = self.encoded(self.features.encode(rows)).double()
        real = self.target.outputs.real
        answer: np.ndarray = (output * self.target.scale + self.target.mean if real else output.softmax(1)).numpy()
        return answer
