"""What a recipe says of itself, and how it is sized and called."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from lexplain.core import Classes
from lexplain.features import Columns, Patches
from lexplain.imputers import Constant
from lexplain.masks import TopK
from lexplain.methods import METHODS, Parts, gains, lex, realx, recipe
from lexplain.models import Frozen
from lexplain.networks import Ensemble

FEATURES, OUTPUTS = Columns().fit(np.random.default_rng(0).normal(size=(30, 9))), Classes(2)
SEEN = []


@recipe(sized_by="k", size=1 / 3, kinds=("columns",))
def mine(features, outputs, parts, *, k, bend=0.5):
    """Keep what is mine."""
    SEEN.append({"k": k, "bend": bend, "parts": parts})
    return lex.build(features, outputs, parts, k=k)


@recipe(sized_by="price", size=0.7)
def priced(features, outputs, parts, *, size):
    """Keep what is worth its price."""
    SEEN.append(size)
    return realx.build(features, outputs, parts, size=size)


@pytest.mark.parametrize("name", METHODS)
def test_every_recipe_says_what_it_is(name):
    one = METHODS[name]
    assert one.name == name
    assert one.__doc__ == one.build.__doc__
    assert one.sized_by in ("k", "price", "path")
    assert one.has_path == (one.sized_by == "path")
    assert (one.size is None) == one.has_path
    assert set(one.joint_training_options) <= set(one.options)
    assert not {"k", "size", "parts", "features", "outputs"} & set(one.options)
    method = one(FEATURES, OUTPUTS)
    assert method.name == name
    assert method.reads_output == one.reads_output
    assert method.plan.supports_mask_costs == one.supports_mask_costs
    assert method.plan.measures_gains == one.has_path


@pytest.mark.parametrize("name", METHODS)
def test_a_recipe_is_copied_and_pickled_as_itself(name):
    one = METHODS[name]
    assert copy.deepcopy(one) is one
    assert pickle.loads(pickle.dumps(one)) is one


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_pickled(name):
    method = METHODS[name](FEATURES, OUTPUTS)
    again = pickle.loads(pickle.dumps(method))
    assert again.state_dict().keys() == method.state_dict().keys()


def test_a_recipe_of_ones_own_is_sized_as_ours_are():
    for size, k in (({}, 3), ({"keep": 2}, 2), ({"keep": 0.5}, 4)):
        method = mine(FEATURES, OUTPUTS, **size, bend=2.0)
        assert SEEN[-1] == {"k": k, "bend": 2.0, "parts": Parts()}
        assert isinstance(method.selector(torch.zeros(2, 9)), TopK)
    assert mine.options == ("bend",)
    with pytest.raises(ValueError, match=r"mine .*penalty"):
        mine(FEATURES, OUTPUTS, penalty=0.1)
    priced(FEATURES, OUTPUTS)
    assert (SEEN[-1].k, SEEN[-1].rate, SEEN[-1].penalty) == (None, None, 0.7)
    priced(FEATURES, OUTPUTS, keep=0.2)
    assert (SEEN[-1].k, SEEN[-1].rate, SEEN[-1].penalty) == (None, 0.2, None)


def test_another_kind_of_features_raises():
    images = Patches(2).fit(np.zeros((1, 8, 8)))
    with pytest.raises(ValueError, match="mine"):
        mine(images, OUTPUTS)


def test_only_what_scales_itself_is_told_that_the_budget_is_thorough():
    plain, thorough = (gains(FEATURES, OUTPUTS, thorough=told) for told in (False, True))
    one, two = ([*method.predictor.network.modules()] for method in (plain, thorough))
    members = [next(len(each.weights[0]) for each in modules if isinstance(each, Ensemble)) for modules in (one, two)]
    assert members[1] > members[0]
    assert len(thorough.phases()) > len(plain.phases())
    assert realx(FEATURES, OUTPUTS, thorough=True).name == "realx"


# ---- what the user brings ----


@pytest.mark.parametrize("name", METHODS)
def test_a_fixed_predictor_that_is_still_to_be_learned_learns_first_and_rests(name):
    phases = METHODS[name](FEATURES, OUTPUTS, Parts(regime="fixed")).phases()
    assert phases[0].steps[0].name == "predictor"
    assert not any(step.name == "predictor" for phase in phases[1:] for step in phase.steps)
    frozen = Frozen(nn.Linear(9, 2), OUTPUTS, to_raw=FEATURES.as_network_input)
    steps = [
        step.name for phase in METHODS[name](FEATURES, OUTPUTS, Parts(regime="fixed", predictor=frozen)).phases() for step in phase.steps
    ]
    assert "predictor" not in steps


@pytest.mark.parametrize("name", METHODS)
def test_parts_that_are_given_are_used(name):
    imputer, network = Constant(0.5), nn.Linear(9, 2)
    method = METHODS[name](FEATURES, OUTPUTS, Parts(imputer=imputer, predictor=network))
    assert method.imputer is imputer
    assert method.predictor.network is network
