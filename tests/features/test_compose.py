"""`compose`: raw rows with cells of donors. `pack`: raw rows in files."""

import numpy as np
import pandas as pd
import pytest
import torch

from lexplain.features import Columns, Groups, Patches

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "float": np.where(RANDOM.random(50) > 0.5, -0.0, RANDOM.normal(size=50) * 1e9),
        "small": RANDOM.normal(size=50).astype(np.float32),
        "whole": RANDOM.integers(-(2**60), 2**60, 50),
        "bit": RANDOM.random(50) > 0.5,
        "nullable": pd.array(RANDOM.integers(0, 9, 50), dtype="Int64"),
        "category": pd.Categorical(RANDOM.choice(["x", "y"], 50), categories=["z", "y", "x"], ordered=True),
        "text": RANDOM.choice(["one", "two"], 50),
    },
    index=RANDOM.permutation(50),
)
ROWS = {
    "frame": FRAME,
    "object text": FRAME.astype({"text": object}),
    "numbers": FRAME[["float", "float"]].set_axis(["a", "b"], axis=1),
    "array": FRAME[["float", "small"]].to_numpy(),
    "float32": FRAME[["small", "small"]].to_numpy(),
    "whole": FRAME[["whole", "whole"]].to_numpy(),
    "tensor": torch.from_numpy(np.array(FRAME[["small", "small"]])),
}


def bits(cells):
    """Cells as text that tells -0.0 from 0.0."""
    return [repr(cell) for cell in (cells.tolist() if hasattr(cells, "tolist") else list(cells))]


@pytest.mark.parametrize("name", ROWS)
def test_cells_are_the_rows_own_or_the_donors_unchanged(name):
    rows = ROWS[name]
    donors = rows.iloc[::-1] if isinstance(rows, pd.DataFrame) else rows.flip(0) if isinstance(rows, torch.Tensor) else rows[::-1]
    mask = torch.from_numpy(RANDOM.random((50, rows.shape[1])) > 0.5)
    made = Columns().fit(rows).compose(rows, mask, donors)
    assert type(made) is type(rows) and made.shape == rows.shape
    tables = [each if isinstance(each, pd.DataFrame) else pd.DataFrame(np.asarray(each)) for each in (made, rows, donors)]
    assert tables[0].dtypes.equals(tables[1].dtypes) and list(tables[0].columns) == list(tables[1].columns)
    for j in range(rows.shape[1]):
        got, own, other = (bits(table.iloc[:, j]) for table in tables)
        assert got == [own[i] if mask[i, j] else other[i] for i in range(50)]


def test_rows_that_lack_a_category_can_be_composed():
    features = Columns().fit(FRAME)
    some = FRAME[FRAME["category"] == "x"].assign(category=lambda rows: rows["category"].cat.remove_unused_categories())
    donors = FRAME.iloc[: len(some)]
    made = features.compose(some, torch.zeros(len(some), 7, dtype=torch.bool), donors)
    assert made["category"].tolist() == donors["category"].tolist() and made["category"].dtype == FRAME["category"].dtype


def test_columns_of_a_group_come_from_one_row():
    features = Groups({"pair": ["float", "text"]}).fit(FRAME)
    mask = torch.zeros(50, 6, dtype=torch.bool)
    mask[:, 0] = True
    made = features.compose(FRAME, mask, FRAME.iloc[::-1])
    assert made["float"].tolist() == FRAME["float"].tolist() and made["text"].tolist() == FRAME["text"].tolist()
    assert made["whole"].tolist() == FRAME["whole"].tolist()[::-1]


@pytest.mark.parametrize("shape", [(5, 8, 6), (5, 8, 6, 3), (5, 3, 8, 6)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_pixels_are_the_images_own_or_the_donors(shape, dtype):
    images = (RANDOM.random(shape) * 255).astype(dtype)
    features = Patches(4).fit(images)
    mask = torch.from_numpy(RANDOM.random((5, features.count)) > 0.5)
    made = features.compose(images, mask, images[::-1])
    kept = features._laid_out(features.expand(mask)).numpy()
    assert made.dtype == dtype and (made == np.where(kept, images, images[::-1])).all()
    assert kept.any() and not kept.all()


@pytest.mark.parametrize("name", [name for name in ROWS if name != "tensor"])
def test_packed_rows_are_unpacked_as_they_were(name):
    rows = ROWS[name]
    features = Columns().fit(rows)
    again = features.unpack(features.pack(rows))
    if isinstance(rows, pd.DataFrame):
        pd.testing.assert_frame_equal(again, rows.reset_index(drop=True))
    else:
        assert again.dtype == rows.dtype and np.array_equal(again, rows)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_packed_images_are_unpacked_as_they_were(dtype):
    images = (RANDOM.random((5, 8, 8)) * 200).astype(dtype)
    features = Patches(4).fit(images)
    again = features.unpack(features.pack(images))
    assert again.dtype == dtype and np.array_equal(again, images)
