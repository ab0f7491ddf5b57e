"""Faces that smile or do not, with the box around the mouth as the truth."""

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
    """Photographs of faces with the corners of the mouth: call it to split them and to draw the boxes."""

    name: str
    description: str
    files: tuple[File, ...]
    columns: str = f"{SIDE} x {SIDE} pixels"
    truth_sizes: tuple[str, ...] = ("the mouth",)
    control_flow: None = None

    def __call__(self, *, rows: int | None = None, seed: int = 0, box_height: float = 2.0, box_width: float = 1.0) -> Dataset:
        """Split the images, and call the features true whose middle lies in the box around the mouth.

        Args:
            rows: How many to train on, with validation in proportion and as many at most to test on. None: all.
            seed: Decides the split and the order.
            box_height: Of the box across the mouth, in lengths of the mouth. The paper says 2; its code draws 1.
            box_width: Of the box along the mouth. The paper says 1; its code draws 1.8.
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
    require_known_format(bool(np.isfinite(ends).all()), found.file, f"labels.csv has cells in {', '.join(CORNERS)} that are no numbers")
    return ends


def mouth_units(ends: np.ndarray, *, height: float, width: float, side: int = SIDE, patch: int = PATCH) -> np.ndarray:
    """Which squares of an image have their middle in the oriented box around the mouth.

    Args:
        ends: The left and the right end of each mouth (n, 2, 2), as (x, y), where (0, 0) is the middle of the first pixel.
        height: Of the box across the line between the ends, in lengths of that line.
        width: Of the box along that line.
        side: Of the image, in pixels.
        patch: Of a square, in pixels.

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
    "Whether a face smiles (class 1) or not (class 0); the box around the mouth is the truth.",
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

They stand in for CelebA, on which the box was proposed. For research that is not commercial: publish none of the images.

Reference:
    Zhang, Luo, Loy and Tang, "Facial Landmark Detection by Deep Multi-task Learning", 2014; the box: Senetaire, Garreau, Frellsen and
    Mattei, "Explainability as statistical inference", 2023, section 4.3 and appendix C.3.
"""
