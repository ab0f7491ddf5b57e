"""How EVAL-X comes to be: the one place where judges of explanations are trained, kept and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from torch import nn

from ..core import Outputs, Trial, seeded
from ..core.contracts import Features
from ..core.files import read_file, write_atomically
from ..core.splits import tenth
from ..masks import Coins, FixedMasks
from .evaluator import Evaluator

if TYPE_CHECKING:
    from lightning_fabric import Fabric

KIND = "lexplain.judge/1"
Split = Callable[[Trial], tuple[Trial, Trial]]  # rows to those to learn from, and those to choose the best epoch on


@dataclass(eq=False)
class Evaluators:
    """EVAL-X, and judges that learned on other masks: each is trained once, or read from its file, and shared."""

    features: Features
    outputs: Outputs
    _: KW_ONLY
    seed: int  # of weights, training and the default split
    rows: Trial | None = None  # to learn from; None: those given to `of`
    split: Split | None = None  # None: a tenth, drawn by the seed, chooses the best epoch
    steps: int | None = None  # of the optimiser; None: 4,000
    network: Callable[[], nn.Module] | None = None  # builds a network; None: the default predictor network
    fabric: Fabric | None = None  # device and precision of the training; None: the CPU
    file: Callable[[FixedMasks], Path] | None = None  # masks to the file that keeps their judge; None: nothing is kept
    _ready: dict[tuple[int, FixedMasks], Evaluator] = field(default_factory=dict, init=False, repr=False)

    def of(self, learn: Trial | None = None, masks: FixedMasks = Coins, *, fold: int = 0) -> Evaluator:
        """The judge of some masks, which learned from `rows` if they are given, else from `learn`.

        Args:
            learn: Rows to learn from. None: `rows`, which must then be given.
            masks: Masks to learn on. Judges are kept by the identity of these and of the fold, so pass the same object again.
            fold: Which part of the rows `learn` is.
        """
        place = (fold if self.rows is None else 0, masks)
        if place not in self._ready:
            rows = learn if self.rows is None else self.rows
            assert rows is not None
            self._ready[place] = self._read_or_trained(rows, masks)
        return self._ready[place]

    def _read_or_trained(self, learn: Trial, masks: FixedMasks) -> Evaluator:
        path = None if self.file is None else self.file(masks)
        with seeded(self.seed):
            network = None if self.network is None else self.network()
            judge = Evaluator(self.features, self.outputs, network=network, masks=masks)
        if path is not None and path.exists():
            judge.load_state_dict(read_file(path, KIND)[0])
            return judge.to("cpu" if self.fabric is None else self.fabric.device).eval().requires_grad_(False)
        parts = tenth(learn, self.seed) if self.split is None else self.split(learn)
        judge.fit(*parts, steps=self.steps, fabric=self.fabric, seed=self.seed)
        if path is not None:
            write_atomically(path, judge.state_dict(), {"format": KIND})
        return judge
