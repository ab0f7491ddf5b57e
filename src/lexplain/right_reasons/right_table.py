"""A network for a table that is right for the right reasons, as a file: what `lexplain right-reasons` makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from .. import check
from ..core import Explanation, seeded
from ..features import Columns
from ..predictors import Outputs, Target, from_labels, mlp
from ..training import fabric_of, read_file, write_atomically
from . import RightReasons
from .right_reasons import largest

KIND = "lexplain.right_reasons/1"
HIDDEN = (50, 30)


class RightTable:
    """Train a dense network on a table of numbers and categories, forbidden to use what people marked.

    Args:
        strength: as for `RightReasons`, as are the others.
        epochs: likewise.
        random_state: likewise.
        device: likewise.
    """

    def __init__(self, *, strength: float | str = "auto", epochs: int = 64, random_state: int = 0, device: Any = "auto") -> None:
        self.strength, self.epochs, self.random_state, self.device = strength, epochs, random_state, device

    def fit(self, X: pd.DataFrame | np.ndarray, y: Any, *, irrelevant_mask: np.ndarray | None = None) -> RightTable:
        """Learn from rows and an annotation of their columns: (d,) for all rows, or (n, d) with rows of NaN where nobody looked."""
        self.features = Columns().fit(X)
        outputs = from_labels(y).outputs
        with seeded(self.random_state):
            network = _network(self.features.shape, outputs.count)
        given = None if irrelevant_mask is None else torch.as_tensor(check.as_array(irrelevant_mask).astype(np.float32))
        marks = None if given is None else self.features.expand(given)
        batch = min(256, max(16, len(y) // 10))
        self.model = RightReasons(
            network, strength=self.strength, epochs=self.epochs, batch_size=batch, device=self.device, random_state=self.random_state
        )
        self.model.fit(self.features.encode(X).numpy(), y, irrelevant_mask=None if marks is None else marks.numpy())
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Classes or values (n,)."""
        said: np.ndarray = self.model.predict(self.features.encode(X).numpy())
        return said

    def score(self, X: Any, y: Any) -> float:
        """Accuracy, or R² of real values."""
        return float(self.model.score(self.features.encode(X).numpy(), y))

    def explain(self, X: Any) -> Explanation:
        """How much each column matters for each row: the length of its slopes in units of its spread."""
        x = self.features.encode(X)
        slopes = torch.from_numpy(self.model.input_gradients(x.numpy()))
        sizes = self.features.gather(slopes.square()).sqrt()
        return Explanation(
            scores=sizes,
            mask=largest(sizes),
            feature_names=self.features.names,
            data=X if isinstance(X, pd.DataFrame) else check.as_array(X),
            method="input gradients",
            features=self.features,
            predict=lambda: self.model._say(x.numpy()),
            classes=None if self.model.outputs_.real else tuple(self.model.classes_.tolist()),
        )

    def save(self, path: str | Path) -> None:
        """Write one safetensors file; no pickle."""
        target = self.model.target_
        record = {
            "format": KIND,
            "features": self.features.state(),
            "outputs": {"count": target.outputs.count, "real": target.outputs.real},
            "target": {"mean": target.mean, "scale": target.scale},
            "classes": None if target.classes is None else target.classes.tolist(),
            "strength": self.model.strength_,
        }
        write_atomically(Path(path), self.model.network_.state_dict(), record)

    @classmethod
    def load(cls, path: str | Path, *, device: Any = "auto") -> RightTable:
        """Read what `save` wrote, onto a device."""
        tensors, record = read_file(Path(path), KIND)
        made = cls(strength=record["strength"], device=device)
        made.features = Columns().restore(record["features"])
        outputs = Outputs(**record["outputs"])
        network = _network(made.features.shape, outputs.count)
        network.load_state_dict(tensors)
        network.to(fabric_of(device).device)
        model = RightReasons(network, strength=record["strength"], device=device)
        model.network_, model.strength_, model.outputs_ = network.eval().requires_grad_(False), record["strength"], outputs
        classes = None if record["classes"] is None else np.asarray(record["classes"])
        model.target_ = Target(torch.zeros(0), outputs, classes, **record["target"])
        if classes is not None:
            model.classes_ = classes
        model.input_shape_, model.names_ = made.features.shape, tuple(f"x{j + 1}" for j in range(made.features.shape[0]))
        made.model = model
        return made


def _network(shape: tuple[int, ...], outputs: int) -> nn.Module:
    return mlp(shape, outputs, sees_mask=False, hidden=HIDDEN, activation=nn.ReLU)
