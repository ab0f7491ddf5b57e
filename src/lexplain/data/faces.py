"""Photographs of smiling and other faces, with a box around the mouth as ground truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexplain import check
from lexplain.core import Dataset

from .cache import File, require_known_format
from .images import RawImages, divided, rows_and_seed
from .photographs import PhotoArchive, album

SIDE, PATCH = 64, 4  # pixels of an image and of a feature, both ways
CORNERS = ("x_lmouth", "y_lmouth", "x_rmouth", "y_rmouth")


@dataclass(frozen=True)
class Faces:
    """Photographs of faces with the corners of the mouth. Call it to get the Dataset."""

    name: str
    description: str
    files: tuple[File, ...]
    columns: str = f"{SIDE} x {SIDE} pixels"
    truth_sizes: tuple[str, ...] = ("the mouth",)
    control_flow: None = None

    def __call__(self, *, rows: int | None = None, seed: int = 0, box_height: float = 2.0, box_width: float = 1.0) -> Dataset:
        """Split the images. The true features are those whose middle is in the box around the mouth.

        Args:
            rows: Number of training rows; validation rows in proportion, and at most as many test rows. None: all.
            seed: Random seed of the split and the order.
            box_height: Height of the box across the mouth, in lengths of the mouth. 2 in the paper, 1 in its code.
            box_width: Width of the box along the mouth, in lengths of the mouth. 1 in the paper, 1.8 in its code.
        """
        rows_and_seed(rows, seed)
        check.positive(box_height=box_height, box_width=box_width)
        found = album(self.files[0], "smile", *CORNERS, side=SIDE, mode="RGB")
        truth = mouth_units(_corners(found), height=box_height, width=box_width)
        pictures = RawImages(found, found.labels("smile"), found.test, truth)
        return divided(self.name, self.description, pictures, rows=rows, split=np.random.default_rng(seed), patch=PATCH)


def _corners(found: PhotoArchive) -> np.ndarray:
    """The left and the right end of each mouth (n, 2, 2), as (x, y) in pixels."""
    try:
        ends = np.array([found.table[column] for column in CORNERS], dtype=np.float64).T.reshape(-1, 2, 2)
    except ValueError:
        ends = np.full((1, 2, 2), np.nan)
    require_known_format(bool(np.isfinite(ends).all()), found.file, f"labels.csv has cells in {', '.join(CORNERS)} that are not numbers")
    return ends


def mouth_units(ends: np.ndarray, *, height: float, width: float, side: int = SIDE, patch: int = PATCH) -> np.ndarray:
    """Find the squares of an image whose middle is in the oriented box around the mouth.

    Args:
        ends: Left and right end of each mouth (n, 2, 2), as (x, y), where (0, 0) is the middle of the first pixel.
        height: Height of the box across the line between the ends, in lengths of that line.
        width: Width of the box along that line, in lengths of that line.
        side: Side of the image in pixels.
        patch: Side of a square in pixels.

    Returns:
        (n, units) of bool, row by row.
    """
    line = ends[:, 1] - ends[:, 0]  # (n, 2)
    length = np.linalg.norm(line, axis=1, keepdims=True)  # (n, 1)
    along = line / np.maximum(length, 1e-9)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    middles = np.arange(side // patch) * patch + (patch - 1) / 2
    units = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)  # (units, 2) as (x, y), row by row
    centre = ends.mean(1)  # (n, 2)

    near = np.abs(along @ units.T - (along * centre).sum(1, keepdims=True)) <= width * length / 2  # (n, units)
    level = np.abs(across @ units.T - (across * centre).sum(1, keepdims=True)) <= height * length / 2
    return np.asarray(near & level)


faces = Faces(
    "faces",
    "Whether a face smiles (class 1) or not (class 0); the box around the mouth is the ground truth.",
    (
        File(
            "mtfl_faces/mtfl_faces_64.zip",
            "dbcd2bb94f6858a226de7b3eabf0b5624d3c193868285017b0c58fd90ec3bf78",
            "https://mmlab.ie.cuhk.edu.hk/projects/TCDCN.html (it holds squares around the landmarks, 64 x 64, and labels.csv)",
            prepared=True,
        ),
    ),
)
"""10,000 faces and 2,995 for testing, in colour; features are squares of 4 x 4 pixels, a grid of 16 x 16.

They replace CelebA, for which the box was proposed. For non-commercial research only; do not publish the images.

Reference:
    Zhang, Luo, Loy and Tang, "Facial Landmark Detection by Deep Multi-task Learning", 2014; the box: Senetaire, Garreau, Frellsen and
    Mattei, "Explainability as statistical inference", 2023, section 4.3 and appendix C.3.
"""
