"""The model that the benchmarks explain: a dense network of 3 x 200."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lexplain.core import DataSplit, seeded

BATCH = 100


class BlackBoxModel:
    """A trained network as a function of rows, as LIME, SHAP and lexplain all take one."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.rows = 0  # how many rows it has been asked about

    @torch.inference_mode()
    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Class probabilities (n, 2) of rows (n, 11)."""
        self.rows += len(rows)
        probabilities: np.ndarray = self.network(torch.as_tensor(rows, dtype=torch.float32)).softmax(1).numpy()
        return probabilities


def train(part: DataSplit, *, epochs: int, seed: int = 0) -> BlackBoxModel:
    """Fit the network to the labels of a part."""
    x, y = torch.from_numpy(part.x), torch.from_numpy(part.y).long()
    with seeded(seed):
        layers: list[nn.Module] = []
        for before in (x.shape[1], 200, 200):
            layers += [nn.Linear(before, 200), nn.ReLU()]
        network = nn.Sequential(*layers, nn.Linear(200, 2))
        adam = torch.optim.Adam(network.parameters(), lr=1e-3)
        for _ in range(epochs):
            for rows in torch.split(torch.randperm(len(x)), BATCH):
                adam.zero_grad()
                cross_entropy(network(x[rows]), y[rows]).backward()  # type: ignore[no-untyped-call]
                adam.step()
    return BlackBoxModel(network.eval())
