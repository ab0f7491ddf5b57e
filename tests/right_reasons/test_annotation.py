"""Masks from what people say."""

import numpy as np
import pandas as pd
import pytest

from lexplain.right_reasons.annotation import expand_annotation, mask_from_columns, mask_from_image, mask_from_table, mask_from_words

NAMES = ("age", "dose", "post code")


def test_columns_and_words():
    assert mask_from_columns(["dose"], NAMES).tolist() == [False, True, False]
    assert mask_from_words(["Post*", "re"], ["Posting", "post", "re", "are"]).tolist() == [True, False, True, False]
    assert mask_from_words(["post*"], ["Posting", "a.b"], ignore_case=True).tolist() == [True, False]
    with pytest.raises(ValueError, match=r"\['sex'\].*age, dose, post code"):
        mask_from_columns(["sex"], NAMES)
    with pytest.raises(ValueError, match=r"\['x'\].*vocabulary"):
        mask_from_words(["x"], ["y"])


def test_a_table_of_marks(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("row,feature\n0,age\n0,dose\n2,\n")
    mask = mask_from_table(path, NAMES, 4)
    assert np.array_equal(mask, [[1, 1, 0], [np.nan] * 3, [0, 0, 0], [np.nan] * 3], equal_nan=True)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"row": [0], "column": ["age"]}, r"\['feature'\]"),
        ({"row": [4], "feature": ["age"]}, r"[Ll]ine 1 .*4.* 0 to 3"),
        ({"row": [0.5], "feature": ["age"]}, r"[Ll]ine 1 .*0\.5"),
        ({"row": [1], "feature": ["sex"]}, "sex"),
    ],
)
def test_tables_that_do_not_fit(table, message):
    with pytest.raises(ValueError, match=message):
        mask_from_table(pd.DataFrame(table), NAMES, 4)


def test_a_mask_image(tmp_path):
    from matplotlib.image import imsave

    painted = np.zeros((4, 5, 3))
    painted[1, 2, 0] = 1.0
    imsave(tmp_path / "mask.png", painted)
    mask = mask_from_image(tmp_path / "mask.png", (4, 5))
    assert np.argwhere(mask).tolist() == [[1, 2]]
    assert mask_from_image(tmp_path / "mask.png", (3, 4, 5)).sum() == 3
    with pytest.raises(ValueError, match=r"\(4, 5\).*\(5, 4\)"):
        mask_from_image(tmp_path / "mask.png", (5, 4))


def test_marks_of_tokens_are_those_of_their_embeddings():
    marks = expand_annotation([[0, 1], [0, 0], [1, 1]], (3, 2, 4))
    assert marks.shape == (3, 2, 4)
    assert marks[0].sum() == 4
    assert marks[0, 1].all()
