"""A fresh network that learns from rows as they are given, and networks with weights drawn anew."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from .. import check
from ..core import Batch, Outputs, seeded
from ..core.contracts import Features
from ..core.kinds import kind_of
from ..core.rows import MAX_ROWS
from ..core.splits import tenth
from ..methods import Step
from ..models import Trained
from ..objectives import cross_entropy
from ..training.network import train_network

if TYPE_CHECKING:
    from lightning_fabric import Fabric

RETRAINING_STEPS = 2000  # optimiser steps at most
SALT = 7_368_787  # so that a model that began from some seed does not begin there again


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
    rows: Batch,
    features: Features,
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
        features: what the rows are made of.
        outputs: what is predicted.
        network: whose architecture to take, with weights drawn anew; None: the default predictor network.
        steps: of the optimiser, at most; None: 2,000.
        max_rows: most model rows in flight.
        fabric: device and precision; None: the CPU.
        seed: of the weights, the order of rows and the tenth.
    """
    with seeded(seed):
        template = kind_of(features).predictor(features, outputs.count, sees_mask=False) if network is None else network
    model = Retrained(reinitialised(template, seed=seed), outputs)
    check.enough_rows(len(rows))

    def loss(batch: Batch) -> Tensor:
        return cross_entropy(batch.target, model.predictor(batch.x, batch.x)).mean()

    return train_network(
        model,
        Step("retrained network", model.predictor, loss, loss),
        tenth(rows, seed),
        steps=steps or RETRAINING_STEPS,
        warmup_steps=kind_of(features).pace.warmup_steps,
        max_rows=max_rows,
        fabric=fabric,
        seed=seed,
    )


def reinitialised(module: nn.Module, *, seed: int = 0) -> nn.Module:
    """A copy of a module whose parameters are drawn anew; the module itself is left alone.

    A layer that can reset itself does. Parameters of any other are drawn from a normal of the size they had.

    Args:
        module: with any weights.
        seed: of the draws.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 3 (model parameter randomisation).
    """
    fresh = copy.deepcopy(module)
    with seeded(SALT + seed), torch.no_grad():
        for layer in fresh.modules():
            if next(layer.parameters(recurse=False), None) is None:
                continue
            reset = getattr(layer, "reset_parameters", None) or getattr(layer, "_reset_parameters", None)
            if reset is not None:
                reset()
                continue
            for weight in layer.parameters(recurse=False):
                weight.copy_(torch.randn_like(weight) * weight.square().mean().sqrt())
    return fresh
