"""Cells on images: fitted from labels, evaluated on the test images, and drawn from masks that are stored next to the cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from .. import check, estimators, imputers
from ..core import Batch, DataSplit, Explanation, Outputs, seeded
from ..core.contracts import Features
from ..core.kinds import kind_of
from ..data import load_data
from ..evaluation import Evaluators, Others, Run as Resources
from ..experiments.cell import Cell
from ..experiments.scenario import Scenario
from ..features import Patches, patches_of
from ..masks import FixedRate, RandomMasks, UniformRate
from ..measures import means
from ..measures.prediction import accuracy
from ..methods import METHODS, TEST_IMPUTATIONS, Method, Parts
from ..models import Trained
from ..networks import MLP, UNet, cnn, mlp
from ..objectives import Continuity
from ..training import Settings, fabric_of, fit
from .table import Drawn

AT_ONCE = 1000  # images that are explained at once
CHECKED = 4000  # validation images for choosing the best epoch
SHOWN = 6  # test images whose masks are stored for figures
JOINT = ("l2x", "invase", "basex", "realx", "meed", "vibi")  # methods whose predictors see the mask
# EVAL-X is trained with about half of the features visible, so smaller masks are new to it. A second one is trained on all sizes.
MASKS: dict[str, RandomMasks] = {"EVAL-X": FixedRate, "EVAL-X, any rate": UniformRate, "FULL": partial(FixedRate, rate=1.0)}
EVALUATORS = ("EVAL-X", "FULL")  # the default of cells


# ---- data and networks ----


def scene_of_cell(cell: Cell) -> Scenario:
    """The images of a cell, with the features and the kind of networks of its training."""
    how = cell.training
    size, networks = (how.get("patch"), how.get("rows")), how.get("networks", "conv")
    return _scene(cell.data, cell.seed, *size, networks, how.get("balanced", False), how.get("judge_steps"))


@lru_cache(maxsize=2)
def _scene(name: str, seed: int, patch: int | None, rows: int | None, networks: str, balanced: bool, steps: int | None) -> Scenario:
    data = load_data(name, seed=seed, rows=rows)
    if balanced:
        data = replace(data, train=_balanced(data.train), validation=_balanced(data.validation))
    features = patches_of(data.features) if patch is None else Patches(patch)
    return Scenario(name, replace(data, features=features), seed, evaluator_steps=steps, networks=networks)


def _balanced(part: DataSplit) -> DataSplit:
    """Rows of all classes in turn. Rows of smaller classes are repeated until all classes have the same size."""
    members = [np.flatnonzero(part.y == label) for label in np.unique(part.y)]
    turns = np.stack([np.resize(rows, max(map(len, members))) for rows in members], axis=1).ravel()
    truth, chances = (None if column is None else column[turns] for column in (part.truth, part.probabilities))
    return DataSplit(part.x[turns], part.y[turns], truth, chances)


def predictor_network(networks: str, features: Features, outputs: Outputs, *, sees_mask: bool) -> nn.Module:
    """The network of predictors and evaluators. "deep" convolutions are normalised; "half" are deep, on images of half the size."""
    check.one_of(networks, ["conv", "deep", "half", "dense"], "networks")
    if networks == "half":
        return at_half_size(partial(cnn, outputs=outputs.count, sees_mask=sees_mask, width=16, norm=True), features.shape)
    if networks == "dense":
        return mlp(features.shape, outputs.count, sees_mask=sees_mask, activation=nn.ReLU)
    return cnn(features.shape, outputs.count, sees_mask=sees_mask, norm=networks == "deep")


def at_half_size(network: Callable[[tuple[int, ...]], nn.Module], shape: Sequence[int]) -> nn.Module:
    """A network on averages of 2 x 2 pixels, which needs a quarter of the computation."""
    channels, rows, columns = shape
    return nn.Sequential(nn.AvgPool2d(2), network((channels, rows // 2, columns // 2)))


def mixed_fabric() -> Fabric:
    """A GPU with half-precision products, which are twice as fast, if available; otherwise the CPU."""
    fabric = fabric_of("auto")
    return Fabric(accelerator="cuda", devices=1, precision="bf16-mixed") if fabric.device.type == "cuda" else fabric


def _evaluators(scene: Scenario, folder: Path) -> Evaluators:
    """The evaluators of images, which are stored in a folder."""
    return replace(
        scene.evaluators(folder / "judges"),
        split=lambda train: (train, scene.batch(scene.data.validation).take(slice(0, CHECKED))),
        network=partial(predictor_network, scene.networks, scene.features, scene.outputs, sees_mask=True),
        fabric=mixed_fabric(),
    )


def shares(cell: Cell, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """The evaluators that cells with the same images share."""
    settings = {name: value for name, value in cell.training.items() if name in ("patch", "rows", "networks", "balanced", "judge_steps")}
    for kind in cell.training.get("judges", EVALUATORS):
        yield f"{kind} {cell.data} {cell.seed} {settings}", partial(_train_evaluator, cell, kind, folder)


def _train_evaluator(cell: Cell, kind: str, folder: Path) -> None:
    _evaluators(scene_of_cell(cell), folder).of(masks=MASKS[kind])


# ---- a cell ----


def compute(cell: Cell, folder: Path) -> dict[str, float]:
    """Compute all numbers of a cell, and store its masks of the first test images."""
    scene, fabric, how = scene_of_cell(cell), mixed_fabric(), cell.training
    train, validation = scene.batch(scene.data.train), scene.batch(scene.data.validation).take(slice(0, CHECKED))
    batch = how.get("batch_size", 256)
    settings = Settings(
        epochs=max(1, round(how["steps"] * batch / len(train))),
        batch_size=batch,
        warmup_steps=how.get("warmup_steps", 0),
        max_rows=max(4 * batch, kind_of(scene.features).pace.max_rows(scene.features) // 4),  # many cells may share a GPU
        seed=cell.seed,
    )
    with seeded(cell.seed):
        began = time.monotonic()
        method = build(cell, scene, train.x.to(fabric.device), validation.x.to(fabric.device)).to(fabric.device)
        if fabric.device.type == "cuda":
            # The memory layout of tensor cores.
            method.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in torch's stubs
        imputed = time.monotonic()
        fit(method, method.phases(), train, validation, settings, fabric=fabric)
        seconds = time.monotonic()
    method.eval()
    numbers = evaluate(method, scene, train, cell, folder)
    return {"imputer_seconds": imputed - began, "fit_seconds": seconds - imputed, **numbers}


def build(cell: Cell, scene: Scenario, train: Tensor, background: Tensor) -> Method:
    """The method of a cell. Its imputer (name, settings) is fitted to training images; its background rows are validation images."""
    options: dict[str, Any] = dict(cell.options)
    surrogate, connected = options.pop("surrogate", False), options.pop("connected", 0.0)
    features, outputs = scene.features, scene.outputs
    name, settings = options.pop("imputer", ("", {}))
    imputer = _imputer(name, settings, train, background) if name else None
    if "estimator" in options:
        options["estimator"] = getattr(estimators, options["estimator"])()
    network = _selector_network(scene, options.pop("width", 32))
    sees_mask = options.pop("sees_mask", cell.method in JOINT)
    predictor = Trained(predictor_network(scene.networks, features, outputs, sees_mask=sees_mask), outputs, sees_mask=sees_mask)
    mask_costs = (Continuity(connected, features.neighbours()),) if connected else ()
    if surrogate:  # the predictor is trained on random masks with rate 1/2 only, not on the selector's masks or masks of all sizes
        options |= {"masks": FixedRate, "own_share": 0.0}
    return METHODS[cell.method](features, outputs, Parts(network, predictor, imputer, mask_costs), **options)


def _selector_network(scene: Scenario, width: int) -> nn.Module:
    features = patches_of(scene.features)
    if scene.networks == "dense":
        return MLP(features.shape, features.count, activation=nn.ReLU)
    if scene.networks == "half":
        return at_half_size(partial(UNet, grid=features.grid, width=width), features.shape)
    return UNet(features.shape, features.grid, width=width)


def _imputer(name: str, settings: dict[str, Any], train: Tensor, background: Tensor) -> nn.Module:
    kind: type[nn.Module] = getattr(imputers, name)
    if name == "Constant":
        return kind(**settings)
    if name == "Marginal":
        return kind(background)
    extra = {"background": background} if name.endswith("Rows") else {}
    fitted: nn.Module = kind.fit(train, **extra, **settings)  # type: ignore[attr-defined]  # all other imputers have it
    return fitted.eval().requires_grad_(False)


def evaluate(method: Method, scene: Scenario, train: Batch, cell: Cell, folder: Path) -> dict[str, float]:
    """The papers' measures on the test images, by evaluators that are trained on the training images only."""
    evaluators, rows, features = cell.training.get("judges", EVALUATORS), scene.batch(scene.data.test), scene.features
    device, size = next(method.parameters()).device, max(1, kind_of(features).pace.max_rows(features) // TEST_IMPUTATIONS)
    explained = [method.explain(x.to(device)) for x in torch.split(rows.x, AT_ONCE)]
    scores, mask = (torch.cat([each.cpu() for each in column]) for column in zip(*explained, strict=True))
    keep_masks(folder, cell, mask)

    def own() -> Tensor:
        outputs = []
        for x, kept in zip(torch.split(rows.x, AT_ONCE), torch.split(mask, AT_ONCE), strict=True):
            parts = zip(torch.split(x.to(device), size), torch.split(kept.to(device), size), strict=True)
            with seeded(cell.seed):
                outputs += [method.probabilities(*part).cpu() for part in parts]
        return torch.cat(outputs)

    evaluation = scene.evaluation(
        Explanation(scores, mask, features.names, compute_kept_prediction=own),
        _evaluators(scene, folder),
        Others(train),
        run=Resources(mixed_fabric(), cell.seed, AT_ONCE),
    )
    values = means(evaluation, ["acc", "eacc", "eauroc", "fdr", *(["eacc_any_rate"] if "EVAL-X, any rate" in evaluators else [])])
    numbers = {"ACC": values["acc"], "eACC": values["eacc"], "eAUROC": values["eauroc"]}
    numbers |= {"kept": float((100 * mask.double().mean(1)).mean()), "breaks": float(_breaks(mask, patches_of(features)).mean())}
    if "eacc_any_rate" in values:
        numbers["eACC, any rate"] = values["eacc_any_rate"]
    if "FULL" in evaluators:
        numbers["FULL ACC"] = float(accuracy(evaluation.predict_all(MASKS["FULL"]), evaluation.labels).mean())
    return numbers | ({"wrong": values["fdr"]} if "fdr" in values else {})


def _breaks(mask: Tensor, features: Patches) -> Tensor:
    """Pairs of neighbours with only one of them kept, per kept feature (b,)."""
    squares = mask.reshape(len(mask), -1, *features.grid).double()
    breaks = squares.diff(dim=2).abs().sum((1, 2, 3)) + squares.diff(dim=3).abs().sum((1, 2, 3))
    return breaks / mask.sum(1).clamp_min(1)


# ---- masks of cells, and their figure ----


def keep_masks(folder: Path, cell: Cell, mask: Tensor) -> None:
    """Store the masks of the first test images of a cell."""
    place = _place(folder, cell)
    place.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(place, mask=mask[:SHOWN].numpy())


def masks_of(cell: Cell, folder: Path) -> Tensor | None:
    """The masks of the first test images of a cell; None if they were not stored, because it was computed elsewhere."""
    place = _place(folder, cell)
    if not place.exists():
        return None
    with place.open("rb") as file, np.load(file) as kept:
        return torch.as_tensor(kept["mask"])


def gallery(cells: Sequence[Cell], folder: Path, *, images: int = 5, note: str = "") -> Drawn:
    """Draw test images and the pixels that cells of seed 0 keep, with one line per cell; None if no cell has masks."""
    from ..report import masks_side_by_side

    first = [cell for cell in cells if cell.seed == 0]
    masks = {cell.label: kept for cell in first if (kept := masks_of(cell, folder)) is not None}
    if not masks:
        return None
    scene = scene_of_cell(first[0])
    x, features = scene.data.test.x[:SHOWN], scene.features
    shown = {label: Explanation(mask.float(), mask, features.names, x, label, features) for label, mask in masks.items()}
    missing = [cell.label for cell in first if cell.label not in masks]
    note += f"; the masks of {', '.join(missing)} were not stored" if missing else ""
    return masks_side_by_side(shown, images=images, title=f"Pixels kept in the first test images (seed 0{note})")


def _place(folder: Path, cell: Cell) -> Path:
    return folder / "masks" / f"{cell.key}.npz"
