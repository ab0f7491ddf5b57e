"""Pictures of what cells on images kept, from the masks kept beside them; the images themselves come from their data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..core import Explanation
from .cells import Cell
from .judges import scene, task_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 6  # test images whose masks are kept for figures


def keep_masks(folder: Path, cell: Cell, mask: Tensor) -> None:
    """Keep the masks of the first test images beside a cell."""
    place = _place(folder, cell)
    place.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(place, mask=mask[:SHOWN].numpy())


def masks_of(cell: Cell, folder: Path) -> Tensor | None:
    """The masks of the first test images of a cell; None where it was computed elsewhere and they were not kept."""
    place = _place(folder, cell)
    if not place.exists():
        return None
    with place.open("rb") as file, np.load(file) as kept:
        return torch.as_tensor(kept["mask"])


def gallery(cells: Sequence[Cell], folder: Path, *, images: int = 5, told: str = "") -> Figure | None:
    """One row a cell of seed 0: test images with what each cell kept; None where no cell has any."""
    from ..report import masks_side_by_side

    first = [cell for cell in cells if cell.seed == 0]
    found = {cell.label: kept for cell in first if (kept := masks_of(cell, folder)) is not None}
    if not found:
        return None
    data, features, _ = scene(task_of(first[0]))
    x = data.test.x[:SHOWN]
    shown = {label: Explanation(mask.float(), mask, features.names, x, label, features) for label, mask in found.items()}
    lost = [cell.label for cell in first if cell.label not in found]
    told += f"; the masks of {', '.join(lost)} were not kept" if lost else ""
    return masks_side_by_side(shown, images=images, title=f"What is kept of the first test images (seed 0{told})")


def _place(folder: Path, cell: Cell) -> Path:
    return folder / "masks" / f"{cell.key}.npz"
