import numpy as np
from sklearn.datasets import load_breast_cancer

from lexplain.data.tabular import breast_cancer


def test_every_tumour_is_in_one_part_with_its_own_label():
    data, table = breast_cancer(seed=1), load_breast_cancer()
    parts = (data.train, data.validation, data.test)
    got = sorted((row.tobytes(), int(label)) for part in parts for row, label in zip(part.x, part.y, strict=True))
    assert got == sorted((row.tobytes(), int(label)) for row, label in zip(table.data.astype(np.float32), table.target, strict=True))
    assert data.names == tuple(table.feature_names)


def test_split_is_60_15_25_with_the_classes_in_proportion():
    data = breast_cancer()
    parts = (data.train, data.validation, data.test)
    assert np.allclose([len(part) / 569 for part in parts], [0.6, 0.15, 0.25], atol=0.005)
    assert np.allclose([part.y.mean() for part in parts], 357 / 569, atol=0.01)


def test_truth_is_not_known():
    data = breast_cancer()
    assert all(part.truth is None and part.probabilities is None for part in (data.train, data.validation, data.test))
