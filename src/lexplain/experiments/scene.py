"""What all explainers of a data set and a seed share: rows, targets, the judge, and a network to explain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from torch import Tensor, nn

from .. import __version__
from ..core import Dataset, Outputs, Part, Trial, seeded
from ..core.contracts import Features, Model
from ..core.digest import digest
from ..core.files import read_file, write_atomically
from ..core.kinds import kind_of
from ..core.rows import MAX_ROWS
from ..core.splits import tenth
from ..evaluation.evaluators import KIND, Evaluators
from ..masks import Coins, FixedMasks
from ..methods import Step
from ..models import EncodedModel, Problem, Target
from ..objectives import cross_entropy
from ..training import train_network

NETWORK_STEPS = 2000  # optimiser steps of the common network
JUDGE_SEED = 1000  # added to the seed, so that the judge shares no draw with an explainer


@dataclass(frozen=True)
class Scene:
    """A data set and a seed, and what is explained there."""

    label: str
    data: Dataset
    seed: int
    model: Model = None  # what is explained; None: labels, or a network of our own
    judge_steps: int | None = None
    network_steps: int | None = None

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
        part = self.data.test
        return Problem.of(part.x, None if self.model is not None else part.y, self.model, like=self._train)

    @property
    def test_target(self) -> Target:
        """What the test rows are explained as, in the classes and the units of the training rows."""
        return self._test.target

    def trial(self, part: Part) -> Trial:
        """The encoded rows of a part with their targets, in the classes and the units of the training rows."""
        if part is self.data.train or part is self.data.test:
            return (self._train if part is self.data.train else self._test).trial()
        return Problem.of(part.x, None if self.model is not None else part.y, self.model, like=self._train).trial()

    @cached_property
    def digest(self) -> str:
        """Everything that the judge and the network depend on; a model is told by what it says."""
        parts = (self.data.train, self.data.test)
        says = None if self.model is None else [Problem.of(part.x, None, self.model, self.features).target.values for part in parts]
        return digest(__version__, self.data, self.seed, says)

    # ---- learned once, and kept ----

    def evaluators(self, folder: Path) -> Evaluators:
        """EVAL-X of the training rows, and judges that learn on other masks: they know no explainer, and judge test rows alone."""

        def file(masks: FixedMasks) -> Path:
            told = (self.digest, self.judge_steps) if masks is Coins else (self.digest, self.judge_steps, masks)
            return folder / f"judge-{digest(*told)}.safetensors"

        train, seed = self.trial(self.data.train), self.seed + JUDGE_SEED
        return Evaluators(self.features, self.outputs, seed=seed, rows=train, steps=self.judge_steps, file=file)

    def network(self, folder: Path) -> Model:
        """A small network that learned the training labels, for explainers of models, as a model of raw rows."""
        steps = self.network_steps or NETWORK_STEPS
        with seeded(self.seed):
            blank = kind_of(self.features).predictor(self.features, self.outputs.count, sees_mask=False)
        path = folder / f"network-{digest(self.digest, steps)}.safetensors"
        if path.exists():
            blank.load_state_dict(read_file(path, KIND)[0])
            encoded = blank.eval().requires_grad_(False)
        else:
            encoded = self._learned(blank, steps)
            write_atomically(path, encoded.state_dict(), {"format": KIND})
        return (kind_of(self.features).as_model or EncodedModel)(encoded, self.features, self.target)

    def _learned(self, network: nn.Module, steps: int) -> nn.Module:
        def loss(trial: Trial) -> Tensor:
            return cross_entropy(trial.target, self.outputs.from_network(network(trial.x))).mean()

        step, parts = Step("network", network, loss, loss), tenth(self.trial(self.data.train), self.seed)
        warmup = kind_of(self.features).pace.warmup_steps
        return train_network(network, step, parts, steps=steps, patient=True, warmup_steps=warmup, max_rows=MAX_ROWS, seed=self.seed)
