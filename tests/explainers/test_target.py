"""What is explained: labels, soft targets, real values, or what a model says."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from torch import nn

from lexplain.core import Classes, RealValue
from lexplain.models import NetworkFunction, as_function, from_labels, from_model

X = np.random.default_rng(0).normal(size=(30, 3))
KIND = np.where(X[:, 0] > 0.5, "c", np.where(X[:, 0] > 0, "a", "b"))


# ---- labels ----


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", "a", "b"], ["a", "b"]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
        ([7, -2, 7], [-2, 7]),
        (np.array([True, False, True]), [False, True]),
        (np.array([1.0, 0.0, 1.0], dtype=np.float32), [0.0, 1.0]),
        (np.array([[7], [-2], [7]]), [-2, 7]),
    ],
    ids=["list", "objects", "categories", "whole numbers", "truths", "whole floats", "a column"],
)
def test_labels_become_one_hot_rows(labels, classes):
    target = from_labels(labels)
    assert target.values.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert target.values.dtype == torch.float32
    assert target.outputs == Classes(2)
    assert target.classes.tolist() == classes


def test_probabilities_stay_as_they_are():
    soft = np.array([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5]])
    target = from_labels(soft)
    assert torch.equal(target.values, torch.tensor(soft, dtype=torch.float32))
    assert target.outputs == Classes(3)
    assert target.classes.tolist() == [0, 1, 2]


def test_probabilities_that_miss_one_by_rounding_are_mended():
    target = from_labels(np.array([[0.3333, 0.6666], [-1e-6, 1.0]]))
    assert torch.allclose(target.values.sum(1), torch.ones(2), atol=1e-7)
    assert (target.values >= 0).all()


def test_real_values_are_standardised_and_come_back():
    values = np.array([1000.5, 3000.25, 2000.0, 0.125])
    target = from_labels(values)
    assert target.outputs == RealValue()
    assert target.classes is None
    assert target.values.mean().abs() < 1e-6
    assert target.values.std(correction=0) == pytest.approx(1)
    assert np.allclose(target.values.numpy() * target.scale + target.mean, values, rtol=1e-5)


# ---- models ----


def test_a_classifier_is_asked_for_probabilities_and_names_its_classes():
    model = LogisticRegression().fit(X, KIND)
    target, ask = from_model(model, X)
    assert np.allclose(target.values, model.predict_proba(X), atol=1e-6)
    assert target.classes.tolist() == ["a", "b", "c"]
    assert np.allclose(ask(X), model.predict_proba(X))
    assert ask.calls == 1  # the same rows are asked for once


def test_a_pipeline_is_a_model_too():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, KIND)
    target, _ = from_model(model, X)
    assert target.classes.tolist() == ["a", "b", "c"]


def test_a_regressor_is_asked_for_values():
    model = LinearRegression().fit(X, 5 + 2 * X[:, 0])
    target, _ = from_model(model, X)
    assert target.outputs == RealValue()
    assert np.allclose(target.values * target.scale + target.mean, 5 + 2 * X[:, 0], atol=1e-5)


def test_a_classifier_that_knows_labels_alone_is_refused():
    model = SVC().fit(X, KIND)
    with pytest.raises(TypeError, match=r"SVC has classes but no predict_proba.* CalibratedClassifierCV"):
        from_model(model, X)
    with pytest.raises(ValueError, match="predict_proba rather than predict"):
        from_model(model.predict, X)


@pytest.mark.parametrize("shape", [(30,), (30, 1)])
def test_one_number_a_row_is_a_value(shape):
    target, _ = from_model(lambda rows: (100 * rows[:, 0]).reshape(shape), X)
    assert target.values.shape == (30,)
    assert target.scale == pytest.approx(100 * X[:, 0].std())


def test_a_function_that_returns_lists_or_tensors():
    net = nn.Linear(3, 2)
    for model in (lambda rows: [[0.5, 0.5]] * 15 + [[0.25, 0.75]] * 15, lambda rows: net(torch.as_tensor(rows).float()).softmax(1)):
        target, _ = from_model(model, X)
        assert target.outputs == Classes(2)
        assert target.classes.tolist() == [0, 1]


@pytest.mark.parametrize("model", [3, "name", None, [1]])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(TypeError, match=f"model must be .*got {type(model).__name__}"):
        as_function(model)


# ---- networks ----


def test_logits_become_probabilities_and_probabilities_stay():
    net = nn.Linear(3, 4)
    logits = as_function(net)
    probabilities = as_function(nn.Sequential(net, nn.Softmax(1)))
    assert isinstance(logits, NetworkFunction)
    assert np.allclose(logits(X), probabilities(X), atol=1e-6)
    assert not logits.probabilities
    assert probabilities.probabilities
    with torch.no_grad():
        assert np.allclose(logits(X), net(torch.tensor(X).float()).softmax(1), atol=1e-6)


def test_a_network_of_one_value_is_left_alone():
    net = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
    with torch.no_grad():
        assert np.allclose(as_function(net)(X), net(torch.tensor(X).float()))


@pytest.mark.parametrize("training", [True, False])
def test_a_network_is_asked_in_evaluation_mode_and_its_mode_given_back(training):
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.9), nn.Linear(3, 2)).train(training)
    ask = as_function(net)
    assert np.array_equal(ask(X), ask(X))
    assert net.training == training
    assert net[0].running_mean.tolist() == [0, 0, 0]


def test_a_network_that_fails_is_given_its_mode_back():
    net = nn.Linear(5, 2).train()
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        as_function(net)(X)
    assert net.training


def test_a_network_takes_frames_and_its_own_precision():
    net = nn.Linear(3, 2).double()
    assert np.allclose(as_function(net)(pd.DataFrame(X)), as_function(net)(X))


def test_a_network_without_parameters():
    class Sum(nn.Module):
        def forward(self, x):
            return x.sum(1)

    assert np.allclose(as_function(Sum())(X), X.sum(1), atol=1e-6)


def test_whole_numbers_of_a_floating_type_are_real_values():
    many = np.arange(60) % 30
    assert from_labels(many.astype(float)).outputs.real
    assert not from_labels(many).outputs.real  # whole numbers of a whole type are classes
    assert not from_labels((many % 3).astype(float)).outputs.real


def test_a_bound_predict_proba_keeps_its_class_names():
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "yes", "no"))
    assert from_model(model.predict_proba, X)[0].classes.tolist() == ["no", "yes"]
