"""A fresh network that learns from rows as they are given."""

from __future__ import annotations

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from .. import check
from ..core import Trial, seeded
from ..methods import Phase, Step
from ..objectives import cross_entropy
from ..predictors import Outputs, Trained, network_for
from .fit import fit
from .reinitialise import reinitialised
from .settings import Settings, rise_for

RETRAINING_STEPS = 2000  # optimiser steps at most
MAX_ROWS = 100_000  # model rows in flight, unless told


class Retrained(nn.Module):
    """Say what the classes' probabilities (n, c), or the values (n, 1), of rows (n, ...) are."""

    def __init__(self, network: nn.Module, outputs: Outputs) -> None:
        super().__init__()
        self.predictor = Trained(network, outputs, sees_mask=False)

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """Ask the network, on the device it learned on; the answer is where the rows are."""
        device = next(self.parameters()).device
        said: Tensor = self.predictor.network(x.to(device))
        return (said if self.predictor.outputs.real else said.softmax(1)).to(x.device)


def retrain(
    rows: Trial,
    outputs: Outputs,
    *,
    network: nn.Module | None = None,
    steps: int | None = None,
    max_rows: int = MAX_ROWS,
    fabric: Fabric | None = None,
    seed: int = 0,
) -> Retrained:
    """Train a network from scratch on all but a tenth of the rows, and keep its best epoch on that tenth.

    Args:
        rows: to learn from; not those that will be judged.
        outputs: what is predicted.
        network: whose architecture to take, with weights drawn anew; None: the default predictor network.
        steps: of the optimiser, at most; None: 2,000.
        max_rows: most model rows in flight.
        fabric: device and precision; None: the CPU.
        seed: of the weights, the order of rows and the tenth.
    """
    with seeded(seed):
        template = network_for(rows.x.shape[1:], outputs.count, sees_mask=False) if network is None else network
    model = Retrained(reinitialised(template, seed=seed), outputs)
    check.enough_rows(len(rows))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))
    held = max(5, len(rows) // 10)
    learn, judge = (rows.take(part.to(rows.x.device)) for part in (order[held:], order[:held]))

    def loss(trial: Trial) -> Tensor:
        return cross_entropy(trial.target, model.predictor(trial.x, trial.x)).mean()

    batch = min(256, max(32, len(learn) // 10))
    epochs = max(5, round((steps or RETRAINING_STEPS) * batch / len(learn)))
    rise = rise_for(rows.x.shape[1:])
    settings = Settings(epochs=epochs, batch_size=batch, rise=rise, patience=max(10, epochs // 4), max_rows=max_rows, seed=seed)
    fit(model, [Phase("retrained", (Step("predictor", model.predictor, loss, loss),))], learn, judge, settings, fabric=fabric)
    return model.eval().requires_grad_(False)
