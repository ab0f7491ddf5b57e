"""Pictures of what cells on images kept, from the explanations kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core import Explanation, Part
from ..features import Patches
from .cells import Cell

SHOWN = 6  # test images whose explanations are kept for figures


def keep_examples(folder: Path, cell: Cell, test: Part, scores: Tensor, mask: Tensor, answers: Tensor) -> None:
    """Keep the explanations of the first test images beside a cell."""
    place = folder / "examples" / f"{cell.key}.npz"
    place.parent.mkdir(parents=True, exist_ok=True)
    said = answers[:SHOWN].argmax(1).numpy()
    np.savez_compressed(place, x=test.x[:SHOWN], y=test.y[:SHOWN], scores=scores[:SHOWN].numpy(), mask=mask[:SHOWN].numpy(), said=said)


def example(cell: Cell, folder: Path) -> Explanation | None:
    """The explanation of the first test images of a cell; None where it was computed elsewhere and not kept."""
    path = folder / "examples" / f"{cell.key}.npz"
    if not path.exists():
        return None
    with path.open("rb") as file, np.load(file) as kept:
        x, scores, mask, said = (kept[name] for name in ("x", "scores", "mask", "said"))
    side = round((x.shape[2] * x.shape[3] / mask.shape[1]) ** 0.5)
    features = Patches(side, layout="NCHW").fit(x)
    told = torch.as_tensor(said)
    return Explanation(torch.as_tensor(scores), torch.as_tensor(mask), features.names, x, cell.label, features, asked=told)


def gallery(cells: Sequence[Cell], folder: Path, *, images: int = 5) -> Any:
    """One row a cell: the same test images with what each cell kept; None where no cell has any."""
    from ..report import masks_side_by_side

    found = {cell.label: kept for cell in cells if (kept := example(cell, folder)) is not None}
    return masks_side_by_side(found, images=images) if found else None
