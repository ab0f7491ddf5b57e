"""Networks trained from scratch on unchanged rows, and networks with new random weights."""

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

RETRAINING_STEPS = 2000  # maximum number of optimiser steps
SALT = 7_368_787  # so that new weights differ from those of a model made with the same seed


class Retrained(nn.Module):
    """Network from rows (n, ...) to class probabilities (n, c), or values (n, 1)."""

    def __init__(self, network: nn.Module, outputs: Outputs) -> None:
        super().__init__()
        self.predictor = Trained(network, outputs, sees_mask=False)

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """Outputs of the network, computed on its device and returned on the device of the rows."""
        device = next(self.parameters()).device
        output: Tensor = self.predictor.network(x.to(device))
        return (output if self.predictor.outputs.real else output.softmax(1)).to(x.device)


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
        rows: Training rows, other than those to be evaluated.
        features: Fitted features of the rows.
        outputs: Type of the predictions.
        network: Network with the architecture to use; its weights are not used. None: the default predictor network.
        steps: Maximum number of optimiser steps. None: 2,000.
        max_rows: Maximum number of rows sent to the network at once.
        fabric: Device and precision. None: the CPU.
        seed: Seed of the weights, the order of rows and the tenth.
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
    """A copy of a module with new random parameters.

    Layers with `reset_parameters` are reset. Parameters of other layers are sampled from a normal distribution of the same mean square.

    Args:
        module: Module to copy; it is not changed.
        seed: Seed of the random numbers.

    Reference: Adebayo et al., Sanity Checks for Saliency Maps, 2018, section 3 (model parameter randomisation).
    """
    copied = copy.deepcopy(module)
    with seeded(SALT + seed), torch.no_grad():
        for layer in copied.modules():
            if next(layer.parameters(recurse=False), None) is None:
                continue
            reset = getattr(layer, "reset_parameters", None) or getattr(layer, "_reset_parameters", None)
            if reset is not None:
                reset()
                continue
            for weight in layer.parameters(recurse=False):
                weight.copy_(torch.randn_like(weight) * weight.square().mean().sqrt())
    return copied
