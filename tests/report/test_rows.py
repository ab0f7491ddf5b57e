from dataclasses import replace

import numpy as np
import pandas as pd
import torch

from lexplain.features import Columns, Groups
from lexplain.report.rows import read_row, spread_rows


def values(explanation, row=0):
    return {item.name: item.value for item in read_row(explanation, row, most=99).items}


def test_values_keep_their_kind(make):
    frame = pd.DataFrame({"age": [41, 7], "income": [1.5, 2.5], "city": ["Oslo", "Rome"], "job": [True, False]}, index=["ann", "bob"])
    explanation = replace(make(rows=2, compute_prediction=None), data=frame)
    assert values(explanation, 1) == {"age": "7", "income": "2.500", "city": "Rome", "job": "no"}
    assert read_row(explanation, 1, most=9).title == "Row bob"
    assert read_row(explanation, -1, most=9).label == "bob"


def test_values_follow_the_features_and_a_group_has_none(make):
    x = np.arange(40.0).reshape(10, 4)
    groups = Groups(groups={"last": ["x4"], "pair": ["x1", "x3"]}).fit(x)
    grouped = replace(make(rows=10, names=("last", "pair", "x2")), data=x, features=groups)
    assert values(grouped, 2) == {"last": "11.0", "pair": "", "x2": "9.000"}


def test_a_column_of_categories_has_its_value(make):
    frame = pd.DataFrame({"age": [41, 7], "city": ["Oslo", "Rome"], "land": pd.Categorical(["no", "it"])})
    explanation = replace(make(rows=2, names=("age", "city", "land")), data=frame, features=Columns().fit(frame))
    assert values(explanation, 1) == {"age": "7", "city": "Rome", "land": "it"}


def test_data_of_another_width_has_no_values(make):
    assert set(values(replace(make(), data=np.ones((40, 9)))).values()) == {""}
    assert set(values(make(data="images")).values()) == {""}


def test_kept_features_come_first_then_the_largest(make):
    scores, kept = torch.tensor([[0.1, 0.4, -0.9, 0.3, 0.2]]), torch.tensor([[True, False, False, False, False]])
    explanation = make(rows=1, names=tuple("abcde"), scores=scores, mask=kept)
    row = read_row(explanation, 0, most=3)
    assert [item.name for item in row.items] == ["b", "a", "c"]
    assert (row.left_out, row.left_out_kept) == (2, 0)
    assert [item.name for item in read_row(explanation, 0, most=3, kept_only=True).items] == ["a"]


def test_outcomes(make):
    says = torch.tensor([[0.25, 0.75]])
    usual = make(rows=1, compute_prediction=lambda: says)
    asked = torch.tensor([0])
    cases = {
        "predicted yes (75%)": usual,
        "predicted class 1 (75%)": replace(usual, classes=None),
        "no (25%)": replace(usual, target_index=asked),
        "no": replace(usual, target_index=asked, compute_prediction=None),
        "predicted 2.500": replace(usual, classes=None, compute_prediction=lambda: torch.tensor([[2.5]])),
        "": replace(usual, compute_prediction=None),
    }
    assert {said: read_row(e, 0, most=9).outcome for said, e in cases.items()} == {said: said for said in cases}


def test_rows_are_spread_over_the_predictions_or_evenly(make):
    outputs = torch.rand(40, 2, generator=torch.Generator().manual_seed(0))
    chosen = spread_rows(make(compute_prediction=lambda: outputs), 6)
    by_prediction = outputs[:, 1].argsort().tolist()
    assert chosen == [by_prediction[place] for place in (0, 8, 16, 23, 31, 39)]
    assert spread_rows(make(compute_prediction=None), 3) == [0, 20, 39]
    assert spread_rows(make(rows=2, compute_prediction=None), 6) == [0, 1]
    assert spread_rows(make()[:0], 6) == []


def test_rows_of_several_classes_come_from_all_of_them(make):
    outputs = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.9, 0.1, 0.0], [0.2, 0.7, 0.1]])
    assert spread_rows(make(rows=4, compute_prediction=lambda: outputs, classes=("a", "b", "c")), 4) == [
        0,
        2,
        3,
        1,
    ]  # by class, then by its probability
    assert len({int(outputs[row].argmax()) for row in spread_rows(make(rows=4, compute_prediction=lambda: outputs), 3)}) == 3
