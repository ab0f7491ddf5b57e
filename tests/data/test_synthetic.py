import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import roc_auc_score

from lexplain.data.synthetic import L2X, SWITCHING, TARGETS, VALUES_NOISE, Formula, Synthetic

SETS = {made.name: made for made in (*SWITCHING, *L2X)}
MANY = 200_000


def bent(sine, x1, x2, x3, x4):
    return -sine * math.sin(0.2 * x1) + abs(x2) + x3 + math.exp(-x4) - 2.4


# The slow, plain twin: the papers' formulas written out for one row, with their 1-based columns.
def of_a(x):
    return x[1] * x[2], {1, 2}


def of_b(x):
    return x[3] ** 2 + x[4] ** 2 + x[5] ** 2 + x[6] ** 2 - 4, {3, 4, 5, 6}


def of_c(x):
    return bent(10, x[7], x[8], x[9], x[10]), {7, 8, 9, 10}


def of_orange(x):
    return x[1] ** 2 + x[2] ** 2 + x[3] ** 2 + x[4] ** 2 - 4, {1, 2, 3, 4}


def chosen(x, control, below, otherwise):
    log_odds, true = below(x) if x[control] < 0 else otherwise(x)
    return log_odds, true | {control}


TWINS = {
    "s1": lambda x: chosen(x, 11, of_a, of_b),
    "s2": lambda x: chosen(x, 11, of_a, of_c),
    "s3": lambda x: chosen(x, 11, of_b, of_c),
    "a": of_a,
    "b": of_b,
    "c": of_c,
    "xor": of_a,
    "orange_skin": of_orange,
    "nonlinear_additive": lambda x: (bent(100, x[1], x[2], x[3], x[4]), {1, 2, 3, 4}),
    "switch": lambda x: chosen(x, 10, lambda x: (bent(100, x[5], x[6], x[7], x[8]), {5, 6, 7, 8}), of_orange),
}


@pytest.mark.parametrize("name", SETS)
def test_formulas_and_truth_are_those_of_the_papers(name):
    part = SETS[name](rows=200, seed=1, noise_columns=2).test
    for row, probabilities, truth in zip(part.x, part.probabilities, part.truth, strict=True):
        log_odds, true = TWINS[name]([None, *map(float, row)])
        assert probabilities[1] == pytest.approx(1 / (1 + math.exp(log_odds)), abs=1e-6)
        assert set(np.flatnonzero(truth) + 1) == true


@pytest.mark.parametrize(
    ("name", "rate", "accuracy", "auroc"),
    [("s1", 0.528, 0.728, 0.822), ("s2", 0.510, 0.727, 0.823), ("s3", 0.539, 0.823, 0.904)],
)
def test_class_rate_and_ceiling(name, rate, accuracy, auroc):
    part = SETS[name](rows=MANY).train
    p1 = part.probabilities[:, 1]
    slack = 3 * math.sqrt(0.25 / MANY) + 0.0005  # three standard deviations, and the rounding of the published digits
    assert part.y.mean() == pytest.approx(rate, abs=slack)
    assert ((p1 > 0.5) == part.y).mean() == pytest.approx(accuracy, abs=slack)
    assert roc_auc_score(part.y, p1) == pytest.approx(auroc, abs=slack)


def test_ceiling_of_nonlinear_additive():
    part = SETS["nonlinear_additive"](rows=MANY).train
    assert ((part.probabilities[:, 1] > 0.5) == part.y).mean() == pytest.approx(0.973, abs=0.0016)


@pytest.mark.parametrize(
    ("name", "sizes"), [("s1", {3, 5}), ("s2", {3, 5}), ("s3", {5}), ("a", {2}), ("b", {4}), ("c", {4}), ("switch", {5})]
)
def test_number_of_true_features(name, sizes):
    assert set(SETS[name](rows=100).train.truth.sum(1).tolist()) == sizes == set(SETS[name].truth_sizes)


def test_class_one_is_where_the_log_odds_are_low():
    part = SETS["a"](rows=20_000).train
    log_odds = part.x[:, 0] * part.x[:, 1]
    assert part.y[log_odds > 3].mean() < 0.1
    assert part.y[log_odds < -3].mean() > 0.9


@pytest.mark.parametrize(
    ("x11", "true"), [(-1e-30, [0, 1, 10]), (0.0, [2, 3, 4, 5, 10]), (-0.0, [2, 3, 4, 5, 10]), (1e-30, [2, 3, 4, 5, 10])]
)
def test_a_tie_goes_to_the_second_formula(x11, true):
    x = np.zeros((1, 11), dtype=np.float32)
    x[0, 10] = x11
    log_odds, truth = SETS["s1"].log_odds_and_truth(x)
    assert np.flatnonzero(truth[0]).tolist() == true
    assert log_odds[0] == (-4 if 2 in true else 0)


@pytest.mark.parametrize("name", SETS)
def test_labels_are_drawn_with_the_true_probabilities(name):
    part = SETS[name](rows=MANY, seed=2).train
    p1 = part.probabilities[:, 1].astype(np.float64)
    bins = (p1 * 10).astype(int).clip(0, 9)
    for b in range(10):
        y, p = part.y[bins == b], p1[bins == b]
        assert len(p) > 0
        assert abs((y - p).sum()) < 4 * math.sqrt((p * (1 - p)).sum())


def test_probabilities_as_target():
    labels, soft = SETS["s1"](rows=50, seed=4), SETS["s1"](rows=50, seed=4, target="probabilities")
    assert soft.train.y.shape == (50, 2)
    assert np.array_equal(soft.train.y, labels.train.probabilities)
    assert np.array_equal(soft.train.x, labels.train.x)


def test_values_are_the_log_odds_with_a_little_noise():
    part = SETS["s3"](rows=MANY, target="values").train
    log_odds, _ = SETS["s3"].log_odds_and_truth(part.x)
    noise = part.y - log_odds
    assert part.probabilities is None
    assert noise.std() == pytest.approx(VALUES_NOISE, rel=0.01)
    assert abs(noise.mean()) < 4 * VALUES_NOISE / math.sqrt(MANY)
    assert abs(np.corrcoef(noise, log_odds)[0, 1]) < 4 / math.sqrt(MANY)


@pytest.mark.parametrize("correlation", [0.0, 0.6])
@pytest.mark.parametrize("name", ["s1", "switch"])
def test_columns_are_correlated_as_asked(name, correlation):
    x = SETS[name](rows=MANY, noise_columns=2, correlation=correlation).train.x.astype(np.float64)
    if name == "switch":
        x[:, 9] -= 3 * np.sign(x[:, 9])
    steps = np.abs(np.subtract.outer(np.arange(x.shape[1]), np.arange(x.shape[1])))
    assert np.abs(np.cov(x.T) - correlation**steps).max() < 0.02
    assert np.abs(x.mean(0)).max() < 0.015


def test_switch_column_is_a_fair_mixture_whose_sign_decides():
    part = SETS["switch"](rows=MANY).train
    side = part.x[:, 9]
    assert (side > 0).mean() == pytest.approx(0.5, abs=0.004)
    assert np.abs(side).mean() == pytest.approx(3, abs=0.01)
    assert np.array_equal(part.truth[side >= 0], np.tile([True] * 4 + [False] * 5 + [True], ((side >= 0).sum(), 1)))
    assert np.array_equal(part.truth[side < 0], np.tile([False] * 4 + [True] * 4 + [False, True], ((side < 0).sum(), 1)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SETS)
def test_rows_asked_for_and_noise_columns_change_nothing_else(name, target):
    few = SETS[name](rows=40, seed=5, correlation=0.3, target=target)
    more = SETS[name](rows=300, seed=5, correlation=0.3, target=target, noise_columns=4)
    columns = SETS[name].columns
    for small, large in zip((few.train, few.validation, few.test), (more.train, more.validation, more.test), strict=True):
        assert np.array_equal(small.x, large.x[: len(small), :columns])
        assert np.array_equal(small.y, large.y[: len(small)])
        assert np.array_equal(small.truth, large.truth[: len(small), :columns])


def test_own_formula():
    own = Synthetic("own", "x2 decides.", 3, (Formula((1,), lambda x2: 50 * x2),))
    part = own(rows=100).train
    clear = np.abs(part.x[:, 1]) > 0.5
    assert np.array_equal(part.y[clear], (part.x[clear, 1] < 0).astype(int))
    assert np.array_equal(part.truth, np.tile([False, True, False], (100, 1)))


@settings(max_examples=60, deadline=None)
@given(
    made=st.sampled_from(list(SETS.values())),
    rows=st.integers(20, 200),
    seed=st.integers(0, 2**64),
    noise_columns=st.integers(0, 5),
    correlation=st.floats(0, 1, exclude_max=True),
    target=st.sampled_from(TARGETS),
)
def test_any_draw_keeps_its_promises(made, rows, seed, noise_columns, correlation, target):
    data, again = (made(rows=rows, seed=seed, noise_columns=noise_columns, correlation=correlation, target=target) for _ in range(2))
    width = made.columns + noise_columns
    assert data.names == tuple(f"x{j}" for j in range(1, width + 1))
    for part, twin, size in zip(
        (data.train, data.validation, data.test),
        (again.train, again.validation, again.test),
        (rows, max(rows // 10, 10), rows),
        strict=True,
    ):
        assert part.x.shape == part.truth.shape == (size, width)
        assert part.x.dtype == np.float32
        assert np.isfinite(part.x).all()
        assert part.truth.dtype == bool
        assert not part.truth[:, made.columns :].any()
        assert part.y.shape == ((size, 2) if target == "probabilities" else (size,))
        assert part.y.dtype == (np.int64 if target == "labels" else np.float32)
        assert (part.probabilities is None) == (target == "values")
        if part.probabilities is not None:
            assert np.allclose(part.probabilities.sum(1), 1, atol=1e-6)
        assert np.array_equal(part.x, twin.x)
        assert np.array_equal(part.y, twin.y)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rows": -1}, "rows must be .*-1"),
        ({"rows": 100.0}, "rows must be .*100.0"),
        ({"rows": 19}, "19 is too few: at least 20"),
        ({"seed": -1}, "seed must be .*-1"),
        ({"noise_columns": -2}, "noise_columns must be .*-2"),
        ({"noise_columns": True}, "noise_columns must be .*True"),
        ({"correlation": 1}, "correlation must be .*1"),
        ({"correlation": -0.1}, "correlation must be .*-0.1"),
        ({"correlation": math.nan}, "correlation must be .*nan"),
        ({"target": "classes"}, "Unknown target 'classes'. Choose one of: labels, probabilities, values"),
    ],
)
def test_refusals(options, told):
    with pytest.raises(ValueError, match=told):
        SETS["s1"](**options)
