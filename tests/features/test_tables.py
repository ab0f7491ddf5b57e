import json

import numpy as np
import pandas as pd
import pytest

from lexplain.features import ColumnType
from lexplain.features.tables import as_type

COLUMNS = {
    "float": pd.Series([1.5, 2.5]),
    "int8": pd.Series([1, 2], dtype=np.int8),
    "bool": pd.Series([True, False]),
    "nullable int": pd.Series([1, 2], dtype="Int64"),
    "nullable float": pd.Series([1.5, 2.5], dtype="Float32"),
    "nullable bool": pd.Series([True, False], dtype="boolean"),
    "object": pd.Series(["b", "a"], dtype=object),
    "text": pd.Series(["b", "a"], dtype="string"),
    "inferred text": pd.Series(["b", "a"]),
    "category": pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["c", "b", "a"], ordered=True)),
    "numbered category": pd.Series([7, 3], dtype="category"),
    "category of truths": pd.Series([True, False], dtype="category"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_column_type_keeps_its_promises(name):
    column = COLUMNS[name]
    column_type = ColumnType.of(column)
    restored = ColumnType.restore(json.loads(json.dumps(column_type.state())))
    assert restored == column_type
    block = np.zeros((2, column_type.width))
    if column_type.categories is None:
        block[:, 0] = column.astype(float)
    else:
        block[[0, 1], [column_type.categories.index(cell) for cell in column]] = 1
    pd.testing.assert_series_equal(pd.Series(restored.decode(block)), column)


def test_text_is_sorted_and_categories_keep_their_order():
    assert ColumnType.of(COLUMNS["object"]).categories == ("a", "b")
    assert ColumnType.of(COLUMNS["category"]).categories == ("b", "a")  # those that a row holds
    assert ColumnType.of(COLUMNS["float"]).categories is None


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_whole_numbers_are_rounded_and_kept_in_range(dtype):
    far = as_type(np.array([1.6, 2.4, -1e300, 1e300]), np.dtype(dtype))
    assert far[:3].tolist() == [2, 2, np.iinfo(dtype).min]
    assert far[3] >= np.iinfo(dtype).max * 0.999
    assert as_type(np.array([127.0]), np.dtype(np.int8)).tolist() == [127]


def test_truths_are_above_one_half():
    assert as_type(np.array([0.2, 0.5, 0.7, 3.0]), np.dtype(bool)).tolist() == [False, False, True, True]
