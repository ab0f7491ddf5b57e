"""What all explainers of a data set and a seed share: rows, targets, the judge, and a network to explain."""

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
from ..models import EncodedModel, Problem, Target
from ..objectives import cross_entropy
from ..training import fabric_of, train_network

NETWORK_STEPS = 2000  # optimiser steps of the common network
EVALUATOR_SEED = 1000  # added to the seed, so that the judge shares no draw with an explainer


@dataclass(frozen=True)
class Scenario:
    """A data set and a seed, and what is explained there."""

    label: str
    data: Dataset
    seed: int
    model: Model = None  # what is explained; None: labels, or a network of our own
    evaluator_steps: int | None = None
    network_steps: int | None = None
    networks: str = ""  # which networks the judges are, where a table has its own

    @cached_property
    def _train(self) -> Problem:
        """The training rows, checked and encoded; they decide classes and units."""
        return Problem.of(self.data.train.x, None if self.model is not None else self.data.train.y, self.model, self.data.features)

    @property
    def features(self) -> Features:
        """What can be on or off."""
        return self._train.features

    @property
    def target(self) -> Target:
        """What the training rows are explained as."""
        return self._train.target

    @property
    def outputs(self) -> Outputs:
        """What is predicted."""
        return self.target.outputs

    @cached_property
    def _test(self) -> Problem:
        return self._read(self.data.test)

    def _read(self, part: DataSplit) -> Problem:
        return Problem.of(part.x, None if self.model is not None else part.y, self.model, like=self._train)

    def batch(self, part: DataSplit) -> Batch:
        """The encoded rows of a part with their targets, in the classes and the units of the training rows."""
        return (self._train if part is self.data.train else self._test if part is self.data.test else self._read(part)).batch()

    @cached_property
    def digest(self) -> str:
        """Everything that the judge and the network depend on; a model is told by what it says."""
        parts = (self.data.train, self.data.test)
        says = None if self.model is None else [Problem.of(part.x, None, self.model, self.features).target.values for part in parts]
        return digest(__version__, self.data, self.seed, says, self.networks)

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
        """What is known of an explanation of the test rows.

        Args:
            explanation: of these rows.
            evaluators: judge it.
            others: rows to learn from.
            run: where, by which seed, and how many rows at a time; None: the CPU, by the seed of the scene.
            at: indices (b,) of the test rows explained; None: all.
            has_enough_masks: whether enough rows were explained for a reader of masks to learn from.
            callables: what may be asked again.
        """
        part, rows, target = self.data.test, self.batch(self.data.test), self._test.target
        truth = None if part.truth is None else np.asarray(part.truth)
        if at is not None:
            some = torch.from_numpy(at)
            rows, target = rows.take(some), replace(target, values=target.values[some])
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

    # ---- learned once, and kept ----

    def evaluators(self, folder: Path | None = None) -> Evaluators:
        """EVAL-X of the training rows, and judges that learn on other masks: they know no explainer, and judge test rows alone.

        Args:
            folder: where they are kept; None: nowhere.
        """
        train, seed = self.batch(self.data.train), self.seed + EVALUATOR_SEED
        file = None if folder is None else partial(self._file, folder)
        return Evaluators(self.features, self.outputs, seed=seed, rows=train, steps=self.evaluator_steps, file=file)

    def _file(self, folder: Path, masks: RandomMasks) -> Path:
        told = (self.digest, self.evaluator_steps) if masks is FixedRate else (self.digest, self.evaluator_steps, masks)
        return folder / f"judge-{digest(*told)}.safetensors"

    def network(self, folder: Path) -> Model:
        """A small network that learned the training labels, for explainers of models, as a model of raw rows."""
        steps = self.network_steps or NETWORK_STEPS
        with seeded(self.seed):
            blank = kind_of(self.features).predictor(self.features, self.outputs.count, sees_mask=False)
        path = folder / f"network-{digest(self.digest, steps)}.safetensors"
        if path.exists():
            blank.load_state_dict(read_file(path, FORMAT)[0])
            encoded = blank.eval().requires_grad_(False)
        else:
            encoded = self._learned(blank, steps)
            write_atomically(path, encoded.state_dict(), {"format": FORMAT})
        return (kind_of(self.features).as_model or EncodedModel)(encoded, self.features, self.target)

    def _learned(self, network: nn.Module, steps: int) -> nn.Module:
        def loss(batch: Batch) -> Tensor:
            return cross_entropy(batch.target, self.outputs.from_network(network(batch.x))).mean()

        step, parts = Step("network", network, loss, loss), tenth(self.batch(self.data.train), self.seed)
        warmup = kind_of(self.features).pace.warmup_steps
        return train_network(network, step, parts, steps=steps, patient=True, warmup_steps=warmup, max_rows=MAX_ROWS, seed=self.seed)


@lru_cache(maxsize=2)
def scene_of(data: str, seed: int, rows: int | None = None) -> Scenario:
    """A data set of the library by its name; the last two are kept."""
    return Scenario(data, load_data(data, seed=seed, rows=rows), seed)
