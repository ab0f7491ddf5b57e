"""What every kind of the library promises: networks of the right shape, a default method and imputer, and features that come back."""

import json

import numpy as np
import pytest
import torch
from torch import nn

from lexplain.core.kinds import kind_of
from lexplain.features import Columns, Groups, Patches
from lexplain.imputers import Marginal
from lexplain.kinds import OURS
from lexplain.methods import Recipe, gains, sufficient
from lexplain.networks import MLP, UNet

FEATURES = {
    "columns": Columns().fit(np.eye(4)),
    "groups": Groups({"both": [0, 2]}).fit(np.eye(4)),
    "patches": Patches(2).fit(np.zeros((1, 8, 8))),
}


def test_every_kind_is_tried():
    assert {features.kind for features in FEATURES.values()} == {kind.name for kind in OURS}


@pytest.mark.parametrize("name", FEATURES)
def test_its_networks_fit_its_rows(name):
    features = FEATURES[name]
    kind, x = kind_of(features), torch.rand(5, *features.shape)
    assert kind.selector(features, context=0)(x).shape == (5, features.count)
    assert kind.selector(features, context=2)(x, torch.rand(5, 2)).shape == (5, features.count)
    assert (kind.regressor or kind.selector)(features, context=0, activation=nn.SiLU)(x).shape == (5, features.count)
    assert kind.predictor(features, 3, sees_mask=False)(x).shape == (5, 3)
    assert kind.predictor(features, 2, sees_mask=True)(torch.cat([x, x], 1)).shape == (5, 2)
    assert kind.ensemble(features, 3, members=2)(x).shape == (5, 3)


@pytest.mark.parametrize("name", FEATURES)
def test_its_features_come_back_from_a_file(name):
    features = FEATURES[name]
    again = kind_of(features.kind).restore(json.loads(json.dumps(features.state())))
    assert type(again) is type(features)
    assert again.names == features.names and again.shape == features.shape


@pytest.mark.parametrize("name", FEATURES)
def test_its_defaults_are_parts_of_ours(name):
    kind = kind_of(FEATURES[name])
    assert isinstance(kind.method(), Recipe) and issubclass(kind.imputer(), nn.Module)
    assert not kind.features().is_fitted


def test_tables_and_images_differ_where_they_should():
    table, images = FEATURES["columns"], FEATURES["patches"]
    assert isinstance(kind_of(table).selector(table, context=0), MLP)
    assert isinstance(kind_of(images).selector(images, context=0), UNet)
    assert isinstance(kind_of(images).regressor(images, context=0), MLP)  # the gain of a patch is not shared with its neighbours
    convolutions = {
        name: any(isinstance(layer, nn.Conv2d) for layer in kind_of(each).predictor(each, 2, sees_mask=True))
        for name, each in FEATURES.items()
    }
    assert convolutions == {"columns": False, "groups": False, "patches": True}
    assert kind_of(table).method() is gains and kind_of(images).method() is sufficient
    assert kind_of(table).imputer() is kind_of(images).imputer() is Marginal
    assert kind_of(table).flat and not kind_of(images).flat
    assert kind_of(table).pace.batch_size > kind_of(images).pace.batch_size
