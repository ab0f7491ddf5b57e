"""Decoding with known rows, against a loop over cells."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings, strategies as st

from lexplain.features import Columns, Groups, Patches

RANDOM = np.random.default_rng(0)
ROWS = 60
FRAME = pd.DataFrame(
    {
        "float": np.where(RANDOM.random(ROWS) > 0.5, -0.0, RANDOM.normal(size=ROWS) * 1e9),
        "small": RANDOM.normal(size=ROWS).astype(np.float32),
        "whole": RANDOM.integers(-(2**60), 2**60, ROWS),
        "bit": RANDOM.random(ROWS) > 0.5,
        "nullable": pd.array(RANDOM.integers(0, 9, ROWS), dtype="Int64"),
        "category": pd.Categorical(RANDOM.choice(["x", "y"], ROWS)),
        "text": RANDOM.choice(["one", "two"], ROWS),
    },
    index=RANDOM.permutation(ROWS),
)
TABLES = {
    "frame": FRAME,
    "numbers": FRAME[["float", "float"]].set_axis(["a", 7], axis=1),
    "array": FRAME[["float", "float"]].to_numpy() + RANDOM.normal(size=(ROWS, 2)),
    "single": FRAME[["small", "small"]].to_numpy(),
    "whole": FRAME[["whole", "whole"]].to_numpy(),
    "tensor": torch.from_numpy(np.array(FRAME[["small", "small"]])),
}


def cells_of(rows):
    """Columns of cells as text, which tells -0.0 from 0.0 and 1 from 1.0."""
    table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(np.asarray(rows))
    return [[repr(cell) for cell in table.iloc[:, j].tolist()] for j in range(table.shape[1])]


def slow(features, known, x):
    """Decoded cells by column: each is the first known cell with the same encoding, if there is one."""
    expected = cells_of(features.decode(x))
    known_cells = [[cell for column in columns for cell in column] for columns in zip(*map(cells_of, known), strict=True)]
    known_x = torch.cat([features.encode(rows).x for rows in known])
    for j, cells in enumerate(known_cells):
        encoded = (np.repeat(np.arange(len(known_cells)), [each.width for each in features.types]) == j).nonzero()[0]
        for row in range(len(x)):
            for cell, own in zip(cells, known_x[:, encoded], strict=True):
                if torch.equal(own, x[row, encoded]):
                    expected[j][row] = cell
                    break
    return expected


@pytest.mark.parametrize("name", TABLES)
def test_cells_of_known_rows_are_unchanged_and_others_are_decoded(name):
    rows = TABLES[name]
    features = Columns().fit(rows)
    known = (rows[:20], rows[20:40])
    x = features.encode(rows).x
    mixed = torch.where(torch.rand(x.shape) > 0.3, x[torch.randperm(ROWS)], 0.1 * torch.randn(x.shape))
    for encoded in (x, mixed):
        made = features.decoder(*known)(encoded)
        assert cells_of(made) == slow(features, known, encoded)
        assert type(made) is type(features.decode(encoded))
        if isinstance(made, pd.DataFrame):
            assert made.dtypes.equals(features.decode(encoded).dtypes) and list(made.columns) == list(rows.columns)
    assert cells_of(features.decoder(rows)(x)) == slow(features, (rows,), x)
    assert cells_of(features.decoder()(mixed)) == cells_of(features.decode(mixed))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(*[st.floats(-1e30, 1e30, allow_subnormal=False)] * 2), min_size=1, max_size=8),
    st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_any_numbers(known, others, random):
    rows, other = np.array(known), np.array(others)
    features = Columns().fit(np.concatenate([rows, other]))
    x = torch.cat([features.encode(rows).x, features.encode(other).x])
    x = torch.stack([x[:, 0], x[torch.tensor(random.sample(range(len(x)), len(x))), 1]], 1)
    assert cells_of(features.decoder(rows)(x)) == slow(features, (rows,), x)


def test_distinct_numbers_come_back_exactly():
    rows = RANDOM.integers(-(2**20), 2**20, (ROWS, 3)) / 7
    for features in (Columns(), Groups({"pair": [0, 2]})):
        fitted = features.fit(rows)
        x = fitted.encode(rows).x
        assert (fitted.decoder(rows)(x) == rows).all()
        assert not (fitted.decode(x) == rows).all()


def test_numbers_with_one_encoding_are_one_cell():
    rows = np.array([[0.0], [-0.0], [1.0], [1.0 + 1e-15], [5.0]])
    features = Columns().fit(rows)
    x = features.encode(rows).x
    assert cells_of(features.decoder(rows)(x)) == [["0.0", "0.0", "1.0", "1.0", "5.0"]]
    assert cells_of(features.decoder(rows[::-1])(x)) == [["-0.0", "-0.0", repr(1.0 + 1e-15), repr(1.0 + 1e-15), "5.0"]]


def test_numbers_of_another_type_have_the_type_of_the_fit():
    rows = pd.DataFrame({"number": np.arange(10), "text": "one"})
    features, other = Columns().fit(rows), rows.assign(number=rows["number"] + np.where(rows["number"] > 5, 0.4, 0.0))
    x = features.encode(other).x
    made = features.decoder(other)(x)
    assert made["number"].dtype == rows["number"].dtype and made["number"].tolist() == rows["number"].tolist()


def test_images_are_decoded():
    images = RANDOM.random((3, 8, 8))
    features = Patches(4).fit(images)
    x = features.encode(images).x
    assert np.array_equal(features.decoder(images)(x), features.decode(x))
