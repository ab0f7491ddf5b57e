"""How much is kept: keep, a rate, or a price."""

import numpy as np
import pytest
import torch

from lexplain.core import Classes
from lexplain.features import Columns
from lexplain.methods import METHODS
from lexplain.objectives import Sparsity, TargetRate

COUNT = 10
FEATURES = Columns().fit(np.random.default_rng(0).normal(size=(30, COUNT)))
SUBSETS = ["contributions", "sufficient", "l2x", "lex", "meed", "vibi"]
COINS = [name for name in METHODS if name not in (*SUBSETS, "gains")]  # gains prices features one by one: test_rounds


def built(name, **size):
    return METHODS[name](FEATURES, Classes(2), **size)


def distribution(method, rows=6):
    context = torch.zeros(rows, 2) if method.reads_output else None
    return method.eval().selector(torch.randn(rows, COUNT), context)


@pytest.mark.parametrize("keep", [3, np.int64(3), np.int32(3)], ids=["int", "int64", "int32"])
@pytest.mark.parametrize("name", METHODS)
def test_a_whole_number_is_a_number_of_features(name, keep):
    method = built(name, keep=keep)
    assert (distribution(method).mode.sum(1) == 3).all()
    rates = [term.rate for term in method.objective.penalties if isinstance(term, TargetRate)]
    assert rates == ([pytest.approx(0.3)] if name in COINS else [])


@pytest.mark.parametrize(("keep", "k"), [(0.3, 3), (np.float64(0.3), 3), (np.float32(0.3), 3), (0.01, 1), (0.99, 9)])
@pytest.mark.parametrize("name", SUBSETS)
def test_a_rate_is_a_share_of_the_features(name, keep, k):
    assert (distribution(built(name, keep=keep)).mode.sum(1) == k).all()


@pytest.mark.parametrize("name", COINS)
def test_a_rate_of_coins_is_met_on_average(name):
    method = built(name, keep=0.3)
    assert [(type(term), term.rate) for term in method.objective.penalties] == [(TargetRate, 0.3)]
    assert distribution(method).k is None


@pytest.mark.parametrize("name", COINS)
def test_a_penalty_is_the_price_of_all_features(name):
    assert [(type(term), term.price, term.each) for term in built(name, penalty=0.7).objective.penalties] == [(Sparsity, 0.7, False)]
    assert [(type(term), term.price) for term in built(name, penalty=0).objective.penalties] == [(Sparsity, 0)]


@pytest.mark.parametrize(("name", "price"), [("realx", 0.1), ("basex", 0.15), ("invase", 0.1)])
def test_without_a_size_coins_pay_the_papers_price(name, price):
    assert [term.price for term in built(name).objective.penalties] == [price]


@pytest.mark.parametrize("name", SUBSETS)
def test_without_a_size_subsets_keep_a_third_and_of_images_a_tenth(name):
    assert (distribution(built(name)).mode.sum(1) == (1 if name == "sufficient" else 3)).all()


@pytest.mark.parametrize("name", SUBSETS)
def test_a_penalty_raises_if_k_is_fixed(name):
    with pytest.raises(ValueError, match=f"{name} .*penalty.*keep"):
        built(name, penalty=0.1)


@pytest.mark.parametrize("name", METHODS)
def test_keep_and_penalty_together_raise(name):
    with pytest.raises(ValueError, match=r"keep=3.*penalty=0.1"):
        built(name, keep=3, penalty=0.1)


@pytest.mark.parametrize("keep", [0, COUNT, COUNT + 1, -1, 0.0, 1.0, 1.5, -0.2, float("nan"), True, "3"], ids=repr)
@pytest.mark.parametrize("name", METHODS)
def test_a_size_out_of_range_raises(name, keep):
    with pytest.raises(ValueError, match="keep"):
        built(name, keep=keep)


@pytest.mark.parametrize("penalty", [-0.1, float("nan"), float("inf"), "0.1"], ids=repr)
@pytest.mark.parametrize("name", COINS)
def test_a_penalty_out_of_range_raises(name, penalty):
    with pytest.raises(ValueError, match="penalty"):
        built(name, penalty=penalty)


@pytest.mark.parametrize("penalty", [np.float32(0.5), np.float64(0.5), np.int64(1)], ids=["float32", "float64", "int64"])
def test_a_price_may_be_numpys(penalty):
    assert built("realx", penalty=penalty).objective.penalties[0].price == penalty
