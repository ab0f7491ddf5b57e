"""Pictures of what cells on images kept, from the explanations kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import Explanation
from ..features import Patches
from .cells import Cell


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
