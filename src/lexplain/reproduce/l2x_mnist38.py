"""L2X, table 4: the four patches from which a network distinguishes 3 from 8."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..core import Batch, seeded
from ..experiments.cell import Cell
from ..experiments.scenario import Scenario
from ..explainers import Explainer
from ..features import patches_of
from ..imputers import Constant
from ..measures.prediction import accuracy
from ..methods import METHODS, Parts, Phase, Step
from ..models import Frozen, Trained
from ..networks import UNet, cnn
from ..objectives import cross_entropy
from ..training import Settings, fabric_of, fit
from .images import gallery, keep_masks, scene_of_cell
from .page import mean_and_spread, strip_of_seeds
from .table import Page, Results, Table

PUBLISHED = 95.8
SIZE: dict[str, Any] = {"steps": 2000, "model_steps": 1000}
QUICK: dict[str, Any] = {"rows": 2000, "steps": 300, "model_steps": 200, "batch_size": 64, "width": 8}
SMALL: dict[str, Any] = {"steps": 1000, "model_steps": 500, "batch_size": 64, "width": 8}  # enough if no predictor is trained
L2X: dict[str, Any] = {"keep": 4, "temperature": 0.5}
LINES = {"l2x": (L2X, SIZE), "l2x, the network itself predicts": ({**L2X, "itself": True}, SMALL)}


def cells(quick: bool, seeds: int) -> list[Cell]:
    """L2X with its own predictor, and with the explained network as the predictor, for each seed."""
    lines = [(label, options, QUICK if quick else size) for label, (options, size) in LINES.items()]
    return [Cell("mnist38", label, "l2x", seed, options, size) for seed in range(seeds) for label, options, size in lines]


def network(cell: Cell, scene: Scenario) -> nn.Module:
    """A convolutional network that distinguishes 3 from 8."""
    train, validation = scene.batch(scene.data.train), scene.batch(scene.data.validation)
    features, outputs = scene.features, scene.outputs
    with seeded(cell.seed + 1):
        model = Trained(cnn(features.shape, outputs.count, sees_mask=False), outputs, sees_mask=False)

        def loss(batch: Batch) -> torch.Tensor:
            return cross_entropy(batch.target, model(batch.x, batch.x)).mean()

        epochs = max(1, round(cell.training["model_steps"] * 128 / len(train)))
        settings = Settings(epochs=epochs, batch_size=128, seed=cell.seed)
        fit(model, [Phase("model", (Step("model", model, loss, loss),))], train, validation, settings, fabric=fabric_of("auto"))
    return model.network.eval().requires_grad_(False)


def compute(cell: Cell, folder: Path) -> dict[str, float]:
    """Explain the network's predictions, and query it again with only the kept patches visible and the others black."""
    scene = scene_of_cell(cell)
    model = network(cell, scene)
    data, features, outputs = scene.data, patches_of(scene.features), scene.outputs
    batch = cell.training.get("batch_size", 256)
    epochs = max(1, round(cell.training["steps"] * batch / len(data.train)))
    began = time.monotonic()
    options = dict(cell.options)
    predictor = Frozen(model, outputs, to_raw=features.as_network_input) if options.pop("itself", False) else None
    with seeded(cell.seed):
        selector = UNet(features.shape, features.grid, width=cell.training.get("width", 32))
        method = METHODS[cell.method](features, outputs, Parts(selector, predictor, Constant(0.0)), **options)
    explainer = Explainer(method, epochs=epochs, batch_size=batch, random_state=cell.seed)
    explainer.fit(data.train.x, model=model)
    seconds = time.monotonic() - began
    explanation = explainer.explain(data.test.x)
    keep_masks(folder, cell, explanation.mask)
    visible = features.expand(explanation.mask) * torch.as_tensor(data.test.x)
    outputs_full, labels = _outputs(model, torch.as_tensor(data.test.x)), torch.as_tensor(data.test.y)
    numbers = {"post-hoc ACC": accuracy(_outputs(model, visible), outputs_full.argmax(1)), "model ACC": accuracy(outputs_full, labels)}
    return {"fit_seconds": seconds, **{name: float(values.double().mean()) for name, values in numbers.items()}}


@torch.no_grad()
def _outputs(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    device = next(model.parameters()).device
    return torch.cat([model(part.to(device)).softmax(1).cpu() for part in torch.split(x, 1000)])


def page(results: Results) -> Page:
    """The share of images for which the network predicts the same class from four patches."""
    frame = results.frame(percent=("post-hoc ACC", "model ACC"))
    title, called = "Same prediction from four patches", f"published: {PUBLISHED:g}"
    strip = partial(strip_of_seeds, frame, "post-hoc ACC", "post-hoc accuracy, %", line=PUBLISHED, title=title, called=called)
    return Page(
        frame,
        [("Post-hoc accuracy", mean_and_spread(frame, ["label"], ["post-hoc ACC", "model ACC", "fit_seconds"]))],
        {"seeds": strip, "kept": lambda: gallery(results.cells, results.run.folder)},
    )


TABLE = Table(
    "l2x-mnist38",
    "L2X, table 4: the four patches from which a network distinguishes 3 from 8",
    "L2X, table 4: 3 against 8, four patches of 4 x 4 pixels",
    "Post-hoc accuracy: share of images for which the network predicts the same class when all but four of 49 patches are black. "
    f"Published for L2X: {PUBLISHED}. The explained convolutional network is ours, not the paper's. As published, L2X trains its own "
    "predictor on images with black patches. The network itself was never trained on such images and may predict differently. In the "
    "second line, the network itself is the predictor, so the patches are chosen for its predictions. In the first line, the result "
    "depends strongly on the seed.",
    cells,
    compute,
    page,
)
