"""What all explainers of a data set and a seed share: rows, targets, evaluators, and a network to explain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from .. import __version__
from ..core import Batch, Dataset, DataSplit, Explanation, Outputs, seeded
from ..core.contracts import Features, Model
from ..core.digest import digest
from ..core.files import read_file, write_atomically
from ..core.kinds import kind_of
from ..core.rows import MAX_ROWS
from ..core.splits import tenth
from ..data import load_data
from ..evaluation import Callables, Evaluation, Evaluators, Others, Run
from ..evaluation.evaluator import FORMAT
from ..masks import FixedRate, RandomMasks
from ..methods import Step
from ..models import EncodedModel, Problem, QueriedModel, Target, as_queried, from_model
from ..objectives import cross_entropy
from ..training import fabric_of, train_network

NETWORK_STEPS = 2000  # optimiser steps of the network that is explained
EVALUATOR_SEED = 1000  # added to the seed, so that evaluators and explainers use different random numbers


@dataclass(frozen=True)
class Scenario:
    """A data set, a seed, and the model that is explained."""

    label: str
    data: Dataset
    seed: int
    model: Model = None  # the explained model; None: labels, or a network trained on them
    evaluator_steps: int | None = None
    network_steps: int | None = None
    networks: str = ""  # names the networks of the evaluators, if a table has its own

    @cached_property
    def _queried(self) -> QueriedModel | None:
        return None if self.model is None else as_queried(self.model)

    @cached_property
    def _train(self) -> Problem:
        """The training rows, checked and encoded. They set classes and units."""
        return Problem.of(self.data.train.x, None if self.model is not None else self.data.train.y, self._queried, self.data.features)

    @property
    def features(self) -> Features:
        """The features, fitted to the training rows."""
        return self._train.features

    @property
    def target(self) -> Target:
        """The target of the training rows."""
        return self._train.target

    @property
    def outputs(self) -> Outputs:
        """Type of the predictions."""
        return self.target.outputs

    @cached_property
    def _test(self) -> Problem:
        return self._read(self.data.test)

    def _read(self, part: DataSplit) -> Problem:
        return Problem.of(part.x, None if self.model is not None else part.y, self._queried, like=self._train)

    def batch(self, part: DataSplit) -> Batch:
        """The encoded rows of a split with their targets, in the classes and units of the training rows."""
        return (self._train if part is self.data.train else self._test if part is self.data.test else self._read(part)).batch()

    @cached_property
    def digest(self) -> str:
        """Digest of everything that the evaluators and the network depend on. A model is identified by its outputs."""
        parts = (self.data.train, self.data.test)
        outputs = None if self.model is None else [from_model(self._queried, part.x)[0].values for part in parts]
        return digest(__version__, self.data, self.seed, outputs, self.networks)

    def evaluation(
        self,
        explanation: Explanation,
        evaluators: Evaluators,
        others: Others | None = None,
        *,
        run: Run | None = None,
        at: np.ndarray | None = None,
        has_enough_masks: bool = True,
        callables: Callables | None = None,
    ) -> Evaluation:
        """The evaluation of an explanation of the test rows.

        Args:
            explanation: Explanation of these rows.
            evaluators: Evaluators of the explanation.
            others: Rows to train on.
            run: Device, seed and maximum number of rows at once. None: the CPU and the seed of the scenario.
            at: Indices (b,) of the explained test rows. None: all.
            has_enough_masks: Whether enough rows were explained to train mask readers.
            callables: Functions that call the model and the explainer again.
        """
        part, rows, target = self.data.test, self.batch(self.data.test), self._test.target
        truth = None if part.truth is None else np.asarray(part.truth)
        if at is not None:
            index = torch.from_numpy(at)
            rows, target = rows.take(index), replace(target, values=target.values[index])
            truth = None if truth is None else truth[at]
        return Evaluation(
            explanation,
            self.features,
            rows,
            target,
            run or Run(fabric_of("cpu"), self.seed),
            evaluators,
            others,
            has_enough_masks=has_enough_masks,
            truth=None if truth is None else self.features.feature_truth(truth, len(rows)),
            control_flow=self.data.control_flow,
            callables=callables or Callables(),
        )

    # ---- trained once, and stored ----

    def evaluators(self, folder: Path | None = None) -> Evaluators:
        """Evaluators trained on the training rows, for test rows: EVAL-X, and those of other random masks.

        Args:
            folder: Folder to store them in. None: they are not stored.
        """
        train, seed = self.batch(self.data.train), self.seed + EVALUATOR_SEED
        file = None if folder is None else partial(self._file, folder)
        return Evaluators(self.features, self.outputs, seed=seed, rows=train, steps=self.evaluator_steps, file=file)

    def _file(self, folder: Path, masks: RandomMasks) -> Path:
        content = (self.digest, self.evaluator_steps) if masks is FixedRate else (self.digest, self.evaluator_steps, masks)
        return folder / f"judge-{digest(*content)}.safetensors"

    def network(self, folder: Path) -> Model:
        """A small network trained on the training labels, as a model of raw rows, for explainers that need a model."""
        steps = self.network_steps or NETWORK_STEPS
        with seeded(self.seed):
            network = kind_of(self.features).predictor(self.features, self.outputs.count, sees_mask=False)
        path = folder / f"network-{digest(self.digest, steps)}.safetensors"
        if path.exists():
            network.load_state_dict(read_file(path, FORMAT)[0])
            encoded = network.eval().requires_grad_(False)
        else:
            encoded = self._trained(network, steps)
            write_atomically(path, encoded.state_dict(), {"format": FORMAT})
        return (kind_of(self.features).as_model or EncodedModel)(encoded, self.features, self.target)

    def _trained(self, network: nn.Module, steps: int) -> nn.Module:
        def loss(batch: Batch) -> Tensor:
            return cross_entropy(batch.target, self.outputs.from_network(network(batch.x))).mean()

        step, parts = Step("network", network, loss, loss), tenth(self.batch(self.data.train), self.seed)
        warmup = kind_of(self.features).pace.warmup_steps
        return train_network(network, step, parts, steps=steps, patient=True, warmup_steps=warmup, max_rows=MAX_ROWS, seed=self.seed)


@lru_cache(maxsize=2)
def scene_of(data: str, seed: int, rows: int | None = None) -> Scenario:
    """The scenario of a data set of the library. The last two are cached."""
    return Scenario(data, load_data(data, seed=seed, rows=rows), seed)
