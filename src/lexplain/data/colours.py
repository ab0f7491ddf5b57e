"""Toy colours: 5 x 5 images of four colours. Each of two rules alone determines the class."""

from __future__ import annotations

import numpy as np

from lexplain.core import DataSplit

from .confounded import Confounded

SIDE = 5
PALETTE = np.array([(255, 0, 0), (0, 255, 0), (0, 128, 255), (128, 0, 255)], dtype=np.float32) / 255  # red, green, blue, violet
TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = (0, 0), (0, 4), (4, 0), (4, 4)
CORNERS, TOP = (TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT), ((0, 1), (0, 2), (0, 3))


def rule_mask(pixels: tuple[tuple[int, int], ...]) -> np.ndarray:
    """(75,) of bool: the three channels of some pixels, such as `CORNERS` or `TOP`; an irrelevant_mask for that rule."""
    mask = np.zeros((SIDE, SIDE, 3), dtype=bool)
    for row, column in pixels:
        mask[row, column] = True
    return mask.reshape(-1)


def draw(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Colour numbers (n, 5, 5) and classes (n,): class 0 obeys both rules, class 1 breaks both.

    Rule 1: the corners have one colour. Rule 2: the three pixels between the upper corners differ. Pixels that break a rule by chance in
    class 0 or obey it by chance in class 1 are sampled again.
    """
    y = generator.integers(2, size=rows)
    pixels = generator.integers(4, size=(rows, SIDE, SIDE))
    same = y == 0
    for corner in CORNERS[:3]:
        pixels[same, corner[0], corner[1]] = pixels[same, 4, 4]
    # One corner gets another colour than the opposite one; either of the two pairs with probability 1/2.
    first = generator.integers(2, size=rows).astype(bool)
    step = generator.integers(1, 4, size=rows)  # to any of the three other colours
    for chosen, changed, kept in ((~same & first, TOP_RIGHT, BOTTOM_LEFT), (~same & ~first, TOP_LEFT, BOTTOM_RIGHT)):
        clash = chosen & (pixels[:, changed[0], changed[1]] == pixels[:, kept[0], kept[1]])
        pixels[clash, changed[0], changed[1]] = (pixels[clash, kept[0], kept[1]] + step[clash]) % 4
    top = pixels[:, 0, 1:4]  # a view
    while True:
        ordered = np.sort(top, axis=1)
        wrong = (ordered[:, 1:] != ordered[:, :-1]).all(1) != same
        if not wrong.any():
            return pixels, y
        place = generator.integers(3, size=int(wrong.sum()))
        top[np.flatnonzero(wrong), place] = generator.integers(4, size=len(place))


def _part(rows: int, generator: np.random.Generator) -> DataSplit:
    pixels, y = draw(rows, generator)
    truth = rule_mask(CORNERS) | rule_mask(TOP)
    return DataSplit(PALETTE[pixels].reshape(rows, -1), y, np.broadcast_to(truth, (rows, len(truth))))


def _colours(rows: int | None, seed: int) -> tuple[DataSplit, DataSplit, DataSplit]:
    many = rows or 20_000
    sizes = (many, max(many // 10, 10), many)
    train, validation, test = (_part(size, np.random.default_rng([place, seed])) for place, size in enumerate(sizes))
    return train, validation, test


colours = Confounded(
    "colours",
    "5 x 5 pictures of four colours: class 0 has four corners of one colour and three different pixels between the upper ones, "
    "class 1 neither.",
    tuple(f"pixel {i},{j} {channel}" for i in range(SIDE) for j in range(SIDE) for channel in ("red", "green", "blue")),
    _colours,
    (21,),
)
"""Both rules are correct. With `rule_mask(CORNERS)` or `rule_mask(TOP)` as irrelevant_mask, only the other one can be used.

Reference:
    Ross, Hughes and Doshi-Velez, "Right for the Right Reasons: Training Differentiable Models by Constraining their Explanations", 2017,
    section 4.1, and the code released with it. Values are from 0 to 1 here and from 0 to 255 there.
"""
