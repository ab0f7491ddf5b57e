"""The front door: what can be explained by which method, and what an explanation promises."""

import copy
import pickle
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score
from torch import nn

from lexplain.baselines import RandomBaseline
from lexplain.core import Classes, RealValue
from lexplain.explainers import Explainer
from lexplain.explainers.one_pass import kept_prediction
from lexplain.features import Columns, Groups, Patches
from lexplain.imputers import Constant, Gaussian, GaussianMixture, IndependentGaussian, Marginal
from lexplain.masks import FixedRate
from lexplain.methods import METHODS, realx
from lexplain.methods.plans.paths import Contributions
from lexplain.models import BlackBox, Frozen, Trained
from lexplain.networks import MLP, mlp

COUNT = 5
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(3, 2, size=(100, COUNT))
FRESH = GENERATOR.normal(3, 2, size=(30, COUNT))
LABELS = (X[:, 0] > 3).astype(int)
VALUES = 1000 + 100 * X[:, 1]
COINS = ["basex", "invase", "realx"]  # a coin a feature; the others keep k, always


def quick(method="realx", **more):
    return Explainer(method, **{"epochs": 1, "batch_size": 50, **more})


def chance(rows):
    """A black box that says (no, yes) from the first column."""
    yes = expit(np.asarray(rows)[:, 0] - 3)
    return np.stack([1 - yes, yes], 1)


def level(rows):
    """A black box that says one number, far from 0 and of large scale."""
    return 1000 + 100 * np.asarray(rows)[:, 1]


def network(kind):
    torch.manual_seed(0)
    layers = {"logits": [nn.Linear(COUNT, 3)], "probabilities": [nn.Linear(COUNT, 3), nn.Softmax(1)], "value": [nn.Linear(COUNT, 1)]}
    return nn.Sequential(nn.Linear(COUNT, COUNT), nn.Dropout(0.5), nn.Tanh(), *layers[kind])


def said(net, rows=FRESH):
    """What a network says in evaluation mode."""
    with torch.no_grad():
        return copy.deepcopy(net).eval()(torch.as_tensor(rows, dtype=torch.float32)).numpy()


@lru_cache
def fitted(method, **more):
    """One small fit of each method, shared by the tests that only read it."""
    given = {"model": chance} if METHODS[method].reads_output else {"y": LABELS}
    return quick(method, **more).fit(X, **given)


def all_shown(explainer):
    """Fresh rows where the explainer has its networks, and masks that show all of them."""
    return explainer.features_.encode(FRESH, explainer.method_.selector.offset.device), torch.ones(30, COUNT).bool()


def weights(explainer):
    return torch.cat([value.flatten().float() for value in explainer.method_.state_dict().values()])


# ---- which method explains what ----

NEEDS_MODEL = "model is needed"
NEEDS_GRADIENT = r"gradients .*black box .*Reinforce.*regime='surrogate'"
SITUATIONS = {  # regime, whether y is given, the model, and the methods that cannot do it with what they say
    "free": ("free", True, None, dict.fromkeys(["contributions", "meed"], NEEDS_MODEL)),
    "fixed": ("fixed", True, None, dict.fromkeys(["contributions", "meed"], NEEDS_MODEL)),
    "fixed network": ("fixed", True, "logits", {}),
    "fixed black box": ("fixed", True, chance, dict.fromkeys(["basex", "l2x", "meed", "vibi"], NEEDS_GRADIENT)),
    "self network": ("self", False, "logits", {}),
    "self black box": ("self", False, chance, dict.fromkeys(["basex", "l2x", "meed", "vibi"], NEEDS_GRADIENT)),
    "surrogate network": ("surrogate", False, "logits", {}),
    "surrogate black box": ("surrogate", False, chance, {}),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_in_every_regime_works_or_says_why_not(method, situation):
    regime, labelled, model, refused = SITUATIONS[situation]
    model = network(model) if isinstance(model, str) else model
    classes = 3 if isinstance(model, nn.Module) else 2
    given = {"y": np.arange(100) % classes} if labelled else {}
    explainer = quick(method, regime=regime)
    if method in refused:
        with pytest.raises((ValueError, TypeError), match=refused[method]):
            explainer.fit(X, model=model, **given)
        assert not hasattr(explainer, "method_")
        return
    explainer.fit(X, model=model, **given)
    explanation = explainer.explain(FRESH)
    assert explainer.regime_ == regime
    assert explanation.method == method
    assert explanation.mask.shape == explanation.scores.shape == (30, COUNT)
    assert explanation.prediction.shape == (30, classes)
    assert torch.allclose(explanation.prediction.sum(1), torch.ones(30), atol=1e-5)
    predictor = explainer.method_.predictor
    if situation == "fixed":  # the predictor learns from masks that the selector has no say in, first, and then rests
        first, *rest = explainer.method_.phases()
        assert "predictor" in [step.name for step in first.steps]
        assert "predictor" not in [step.name for phase in rest for step in phase.steps]
        if not explainer.method_.plan.measures_gains:  # of which the predictor learns from full rows first
            assert explainer.method_.plan.schedule.masks is FixedRate
            assert explainer.method_.plan.schedule.own_share == 0
    if model is None or regime == "surrogate":
        assert isinstance(predictor, Trained)
        return
    # The frozen predictor is the model: with everything shown it says what the model says.
    assert isinstance(predictor, Frozen if isinstance(model, nn.Module) else BlackBox)
    shown = kept_prediction(explainer.method_, *all_shown(explainer), units=None, max_rows=40).numpy()
    needed = torch.as_tensor(said(model)).softmax(1).numpy() if isinstance(model, nn.Module) else chance(FRESH)
    assert np.allclose(shown, needed, atol=1e-5)


@pytest.mark.parametrize(("y", "model", "regime"), [(LABELS, None, "free"), (None, chance, "surrogate")], ids=["labels", "model"])
def test_the_regime_follows_from_what_is_given(y, model, regime):
    assert quick().fit(X, y, model=model).regime_ == regime


@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains_real_values_in_raw_units(method):
    explainer = quick(method, epochs=4).fit(X, model=level)
    values = explainer.predict(FRESH)
    assert values.shape == (30,)
    assert abs(values.mean() - 1000 - 300) < 100  # the target lies around 1,300 with a scale of 200
    assert np.allclose(values, explainer.explain(FRESH).kept_prediction[:, 0])
    assert explainer.score(FRESH, level(FRESH)) == pytest.approx(r2_score(level(FRESH), values))
    assert not hasattr(explainer, "classes_")
    assert explainer.explain(FRESH).target.tolist() == [0] * 30
    with pytest.raises(AttributeError, match="real values"):
        explainer.predict_proba(FRESH)


def test_a_real_valued_fit_learns_the_values():
    explainer = quick(epochs=40, batch_size=45, penalty=0.0, learning_rate=5e-3).fit(X, VALUES)
    assert explainer.score(X, VALUES) > 0.8
    assert np.abs(explainer.predict(X) - VALUES).mean() < 80  # a guess of the mean would be off by 160


# ---- labels, soft targets and models of every kind ----


@pytest.mark.parametrize(
    "labels",
    [np.where(LABELS, "yes", "no"), LABELS * 7 - 2, LABELS.astype(bool), LABELS.astype(float), pd.Series(LABELS).astype("category")],
)
def test_predicts_the_labels_it_was_given(labels):
    explainer = quick(epochs=30, batch_size=45, learning_rate=5e-3, penalty=0.0).fit(X, labels)
    known = np.unique(np.asarray(labels))
    assert explainer.classes_.tolist() == known.tolist()
    got = explainer.predict(X)
    assert got.dtype == known.dtype
    assert explainer.score(X, labels) == np.mean(got == np.asarray(labels))
    assert explainer.score(X, labels) > 0.8
    probabilities = explainer.predict_proba(X)
    assert np.allclose(probabilities.sum(1), 1)
    assert (known[probabilities.argmax(1)] == got).all()


def test_learns_from_soft_targets():
    soft = chance(X)
    explainer = quick(epochs=30, batch_size=45, learning_rate=5e-3, penalty=0.0).fit(X, soft)
    assert explainer.classes_.tolist() == [0, 1]
    # A model of hard labels would be off by the mean of min(p, 1 - p); one of soft targets comes closer.
    assert np.abs(explainer.predict_proba(X) - soft).mean() < 0.8 * np.minimum(soft, 1 - soft).mean()


@pytest.mark.parametrize("kind", ["logits", "probabilities", "value"])
@pytest.mark.parametrize("regime", ["self", "surrogate"])
def test_explains_a_network_and_leaves_it_alone(kind, regime):
    net = network(kind).train()
    before = copy.deepcopy(net.state_dict())
    explainer = quick("l2x", regime=regime, epochs=3).fit(X, model=net)
    assert net.training
    assert all(weight.requires_grad and weight.grad is None for weight in net.parameters())
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert explainer.outputs_ == (RealValue() if kind == "value" else Classes(3))
    if regime == "self":
        needed = torch.as_tensor(said(net))
        needed = needed.softmax(1) if kind == "logits" else needed
        units = (explainer.target_scale_, explainer.target_mean_) if kind == "value" else None
        assert torch.allclose(kept_prediction(explainer.method_, *all_shown(explainer), units=units, max_rows=40), needed, atol=1e-5)


def test_explains_a_network_of_double_precision():
    net = network("logits").double()
    explainer = quick("l2x", regime="self").fit(X, model=net)
    assert next(net.parameters()).dtype == torch.double
    assert explainer.predict_proba(FRESH).shape == (30, 3)


def test_explains_a_classifier_by_its_own_labels():
    classifier = LogisticRegression().fit(X, np.where(LABELS, "yes", "no"))
    explainer = quick(epochs=30, batch_size=45, learning_rate=5e-3, penalty=0.0).fit(X, model=classifier)
    assert explainer.classes_.tolist() == ["no", "yes"]
    assert np.mean(explainer.predict(X) == classifier.predict(X)) > 0.8
    with pytest.raises(ValueError, match=r"target .*'yes'"):
        explainer.explain(FRESH, target="yes")


def test_explains_a_regressor_in_its_own_units():
    regressor = LinearRegression().fit(X, VALUES)
    explainer = quick("lex", regime="self", keep=4).fit(X, model=regressor)
    units = (explainer.target_scale_, explainer.target_mean_)
    said = kept_prediction(explainer.method_, *all_shown(explainer), units=units, max_rows=40)
    assert np.allclose(said[:, 0], regressor.predict(FRESH), atol=1e-2)


@pytest.mark.parametrize("regime", ["self", "surrogate"])
def test_explains_a_function_of_tensors_that_carry_gradients(regime):
    net = network("logits").eval()
    explainer = quick("lex", regime=regime).fit(X, model=lambda rows: net(torch.as_tensor(rows, dtype=torch.float32)).softmax(1))
    assert np.isfinite(explainer.predict_proba(FRESH)).all()


def test_a_black_box_is_shown_a_frame_like_the_one_it_knows():
    frame, seen = pd.DataFrame(X, columns=list("abcde")), []

    def model(rows):
        seen.append(list(rows.columns))
        return chance(rows)

    quick("lex", regime="self").fit(frame, model=model)
    assert len(seen) > 2
    assert all(columns == list("abcde") for columns in seen)


# ---- explain ----


def test_the_target_is_the_predicted_class_and_no_other_can_be_asked_for():
    explainer = quick().fit(X, np.where(LABELS, "yes", "no"))
    explanation = explainer.explain(FRESH)
    assert torch.equal(explanation.target, explanation.prediction.argmax(1))
    assert explanation.classes == ("no", "yes")
    for asked in ("yes", np.where(np.arange(30) % 2, "yes", "no")):
        with pytest.raises(ValueError, match="takes no target"):
            explainer.explain(FRESH, target=asked)


def test_classes_are_found_in_whatever_order_the_model_has_them():
    class Model:
        classes_ = np.array(["z", "a"])

        def predict_proba(self, rows):
            return chance(rows)

    assert quick().fit(X, model=Model()).explain(FRESH).classes == ("z", "a")
    baseline = RandomBaseline().fit(X, model=Model())
    assert baseline.explain(FRESH, target="a").target.tolist() == [1] * 30
    assert baseline.explain(FRESH, target="z").target.tolist() == [0] * 30


@pytest.mark.parametrize("method", METHODS)
def test_explaining_a_row_does_not_depend_on_the_rows_beside_it(method):
    explainer = fitted(method)
    whole = explainer.explain(FRESH)
    for rows in (slice(0, 1), slice(3, 10), [29, 4, 4]):
        part = explainer.explain(FRESH[rows])
        assert torch.equal(part.mask, whole.mask[rows])
        assert torch.allclose(part.scores, whole.scores[rows], atol=1e-6)
        assert torch.allclose(part.prediction, whole.prediction[rows], atol=1e-6)
        assert torch.allclose(whole[rows].prediction, whole.prediction[rows], atol=0)


@pytest.mark.parametrize("imputer", [IndependentGaussian, Gaussian, Marginal])
def test_nor_where_the_imputer_is_random(imputer):
    explainer = quick("lex", imputer=imputer).fit(X, LABELS).set_params(max_rows=7)
    whole = explainer.explain(FRESH)
    assert torch.equal(explainer.explain(FRESH).prediction, whole.prediction)
    part = explainer.explain(FRESH[5:9])
    assert torch.equal(part.mask, whole.mask[5:9])
    assert torch.allclose(part.prediction, whole.prediction[5:9], atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_splitting_the_work_changes_no_explanation(method):
    explainer = copy.copy(fitted(method))
    whole, seen = explainer.explain(FRESH), []
    whole.prediction  # noqa: B018  computed now, before the work is split
    explainer.method_ = copy.deepcopy(explainer.method_)
    explainer.method_.selector.network.register_forward_hook(lambda module, inputs, output: seen.append(len(inputs[0])))
    for most in (1, 7):
        part = explainer.set_params(max_rows=most).explain(FRESH)
        assert torch.equal(part.mask, whole.mask)
        assert torch.allclose(part.scores, whole.scores, atol=1e-6)
        assert torch.allclose(part.prediction, whole.prediction, atol=1e-6)
        assert max(seen[-3:]) <= most
    explainer.set_params(max_rows=None)


@pytest.mark.parametrize("regime", ["self", "surrogate"])
def test_rows_are_counted_wherever_the_model_is_queried(regime):
    queried = []

    def model(rows):
        queried.append(len(rows))
        return chance(rows)

    explainer = quick("lex", regime=regime).fit(X, model=model)
    assert explainer.model_rows_ == sum(queried)
    assert (len(queried) > 1) == (regime == "self")  # as predictor of imputed rows
    explainer.explain(FRESH).prediction  # noqa: B018  computed now
    assert explainer.model_rows_ == sum(queried)


def test_a_prediction_is_made_when_it_is_read_and_by_the_fit_that_explained():
    asked = []

    def model(rows):
        asked.append(len(rows))
        return chance(rows)

    explainer = quick("lex", regime="self").fit(X, model=model)
    asked.clear()
    explanation = explainer.explain(FRESH)
    assert not asked
    needed = explainer.explain(FRESH).prediction
    assert asked
    explainer.set_params(regime=None).fit(X, VALUES)
    assert torch.equal(explanation.prediction, needed)


def test_an_explanation_is_plain_tensors():
    explanation = fitted("realx").explain(FRESH)
    assert explanation.mask.dtype == torch.bool
    (explanation.scores * torch.ones(COUNT, requires_grad=True)).sum().backward()
    explanation.scores[0, 0] = 0.5  # an inference tensor would refuse both


def test_an_explanation_is_pickled_with_its_prediction():
    explanation = fitted("realx").explain(FRESH)
    again = pickle.loads(pickle.dumps(explanation))
    assert torch.equal(again.mask, explanation.mask)
    assert torch.equal(again.prediction, explanation.prediction)


@pytest.mark.parametrize("method", METHODS)
def test_an_explainer_is_pickled(method):
    explainer = fitted(method)
    again = pickle.loads(pickle.dumps(explainer))
    assert torch.equal(again.explain(FRESH).mask, explainer.explain(FRESH).mask)
    assert torch.equal(again.explain(FRESH).prediction, explainer.explain(FRESH).prediction)


# ---- how much is kept ----


@pytest.mark.parametrize("keep", [1, 4, np.int64(2)])
@pytest.mark.parametrize("method", METHODS)
def test_keeps_exactly_k(method, keep):
    given = {"model": chance} if METHODS[method].reads_output else {"y": LABELS}
    explainer = quick(method, keep=keep).fit(X, **given)
    assert (explainer.transform(FRESH).sum(1) == keep).all()
    assert (explainer.transform(1000 * FRESH).sum(1) == keep).all()


@pytest.mark.parametrize("rate", [0.2, np.float64(0.6)])
@pytest.mark.parametrize("method", COINS)
def test_keeps_the_rate_asked_for_on_rows_it_has_not_seen(method, rate):
    generator = np.random.default_rng(1)
    rows, fresh = generator.normal(size=(2000, 10)), generator.normal(size=(4000, 10))
    explainer = Explainer(method, keep=rate, epochs=3, batch_size=500).fit(rows, rows[:, 0] > 0)
    assert abs(explainer.transform(fresh).mean() - rate) < 0.01


def test_a_price_is_paid():
    cheap, dear = (quick("realx", penalty=price, epochs=30, learning_rate=3e-3).fit(X, LABELS) for price in (0.0, 20.0))
    assert dear.transform(X).mean() < 0.2 < cheap.transform(X).mean()


# ---- parts ----


def test_groups_are_on_or_off_together():
    frame = pd.DataFrame(X, columns=list("abcde"))
    explainer = quick("realx", keep=1, features=Groups(groups={"ends": ["a", "e"]})).fit(frame, LABELS)
    assert explainer.n_features_in_ == COUNT
    assert explainer.get_feature_names_out().tolist() == ["ends", "b", "c", "d"]
    explanation = explainer.explain(frame)
    assert explanation.mask.shape == (100, 4)
    raw = explanation.features.expand(explanation.mask)
    assert torch.equal(raw[:, 0], explanation.mask[:, 0])
    assert torch.equal(raw[:, 4], explanation.mask[:, 0])
    assert explainer.features.columns == ()  # what was passed in is not fitted in place


def test_an_imputer_class_is_fitted_to_the_encoded_rows():
    explainer = quick("lex", imputer=Marginal).fit(X, LABELS)
    rows, drawn = explainer.features_.encode(X).x, explainer.method_.imputer.background.cpu()
    assert {tuple(row) for row in drawn.tolist()} < {tuple(row) for row in rows.tolist()}
    assert explainer.imputer is Marginal


def test_an_imputer_class_that_learns_nothing_is_built():
    explainer = quick("lex", imputer=Constant).fit(X, LABELS)
    assert isinstance(explainer.method_.imputer, Constant)


def test_an_imputer_is_known_by_its_name():
    by_name, by_class = (quick("lex", imputer=given).fit(X, LABELS) for given in ("GaussianMixture", GaussianMixture))
    assert by_name.imputer == "GaussianMixture", "what was passed in stays"
    assert type(by_name.method_.imputer) is GaussianMixture
    assert torch.equal(by_name.explain(X).scores, by_class.explain(X).scores)


def test_a_wrong_name_of_an_imputer_is_refused_before_the_model_is_asked():
    def model(rows):
        pytest.fail("asked")

    with pytest.raises(ValueError, match=r"Unknown imputer 'gmm'. Choose one of: Constant, Donors, Gaussian"):
        quick("lex", imputer="gmm").fit(X, model=model)


@pytest.mark.parametrize("value", [0.0, 0, np.float32(2.5)])
def test_a_number_is_put_everywhere(value):
    imputer = quick("lex", imputer=value).fit(X, LABELS).method_.imputer
    assert isinstance(imputer, Constant)
    assert imputer.value == value


def test_a_tensor_of_half_precision_is_explained():
    explainer = quick("lex").fit(X, LABELS)
    rows = torch.as_tensor(X, dtype=torch.bfloat16)
    assert torch.equal(explainer.explain(rows).mask, explainer.explain(rows.float()).mask)


def test_a_tensor_that_carries_gradients_is_explained():
    explainer = quick("lex").fit(X, LABELS)
    carrying = torch.as_tensor(X, dtype=torch.float64).requires_grad_()
    assert torch.equal(explainer.explain(carrying).mask, explainer.explain(X).mask)


def test_connected_masks_of_channels_are_learned():
    images = np.random.default_rng(0).random((60, 3, 8, 8)).astype(np.float32)
    explainer = Explainer("sufficient", keep=3, features=Patches(4, each_channel=True), continuity=0.01, epochs=1).fit(
        images, np.arange(60) % 2
    )
    assert explainer.explain(images).mask.sum(1).tolist() == [3] * 60


def test_an_imputer_is_used_as_it_is():
    given = Constant(7.0)
    explainer = quick("lex", imputer=given).fit(X, LABELS)
    assert explainer.method_.imputer.value == 7.0
    assert explainer.method_.imputer is not given


@pytest.mark.parametrize("method", METHODS)
def test_networks_passed_in_are_never_trained_in_place(method):
    context = 2 if METHODS[method].reads_output else 0
    parts = {
        "selector": MLP((COUNT,), COUNT, context=context, hidden=(8,)),
        "predictor": mlp((COUNT,), 2, sees_mask=False, hidden=(8,)),
        "imputer": IndependentGaussian(),
    }
    before = copy.deepcopy({name: part.state_dict() for name, part in parts.items()})
    explainer = quick(method, epochs=3, **parts)
    explainer.fit(X, **({"model": chance} if METHODS[method].reads_output else {"y": LABELS}))
    for name, part in parts.items():
        assert all(torch.equal(value, before[name][key]) for key, value in part.state_dict().items()), name
        assert all(weight.requires_grad and weight.grad is None for weight in part.parameters())
        assert part.training
    network = explainer.method_.selector.network
    trained = (network.network if isinstance(network, Contributions) else network).state_dict()
    assert any(not torch.equal(value.cpu(), before["selector"][key]) for key, value in trained.items())


def test_a_method_passed_in_is_never_trained_in_place():
    given = realx(Columns().fit(X), Classes(2))
    before = copy.deepcopy(given.state_dict())
    explainer = quick(given, epochs=3).fit(X, LABELS)
    assert all(torch.equal(value, before[key]) for key, value in given.state_dict().items())
    assert any(not torch.equal(value.cpu(), before[key]) for key, value in explainer.method_.state_dict().items())


def test_a_method_brings_its_own_features():
    features = Groups(groups={"ends": [0, 4]}).fit(X * 10)  # fitted by the user, in units of their own
    explainer = quick(realx(features, Classes(2), keep=1)).fit(X, LABELS)
    explanation = explainer.explain(FRESH)
    assert explanation.names == ("ends", "x2", "x3", "x4")
    assert (explanation.mask.sum(1) == 1).all()
    assert np.allclose(explainer.features_.mean, features.mean)


# ---- randomness ----


def test_the_same_seed_gives_the_same_result_and_another_one_another():
    one, two, other = (quick(epochs=2, random_state=seed).fit(X, LABELS) for seed in (3, 3, 4))
    assert torch.equal(weights(one), weights(two))
    assert torch.equal(one.explain(FRESH).scores, two.explain(FRESH).scores)
    assert torch.equal(one.explain(FRESH).mask, two.explain(FRESH).mask)
    assert not torch.allclose(weights(one), weights(other))


def test_the_seed_may_be_a_random_state():
    one, two = (quick(random_state=np.random.RandomState(3)).fit(X, LABELS) for _ in range(2))
    assert torch.equal(weights(one), weights(two))


def test_whatever_the_caller_drew_before_changes_nothing():
    torch.manual_seed(1)
    one = quick("lex").fit(X, LABELS)
    torch.manual_seed(2)
    np.random.seed(2)  # noqa: NPY002  a caller may
    two = quick("lex").fit(X, LABELS)
    assert torch.equal(weights(one), weights(two))
    assert torch.equal(one.explain(FRESH).prediction, two.explain(FRESH).prediction)


def test_the_callers_random_state_is_left_alone():
    torch.manual_seed(5)
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    explainer = quick("lex").fit(X, LABELS)
    explainer.explain(FRESH).kept_prediction  # noqa: B018  it draws imputations
    explainer.predict(FRESH)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert (np.random.get_state()[1] == numpy_state).all()  # noqa: NPY002


def test_history_has_a_row_an_epoch():
    explainer = quick(epochs=4, regime="fixed").fit(X, LABELS)
    lengths = {phase.name: round(4 * phase.share) for phase in explainer.method_.phases()}
    assert len(lengths) == 2
    assert explainer.history_["phase"].tolist() == [name for name, epochs in lengths.items() for _ in range(epochs)]
    assert explainer.history_["epoch"].tolist() == [1 + epoch for epochs in lengths.values() for epoch in range(epochs)]
    assert np.isfinite(explainer.history_["check"]).all()


@pytest.mark.parametrize("values", [LABELS, VALUES], ids=["labels", "values"])
def test_a_later_fit_changes_nothing_of_an_explanation(values):
    explainer = quick().fit(X, values)
    early, late = explainer.explain(FRESH), explainer.explain(FRESH)
    before = early.prediction
    explainer.set_params(random_state=1).fit(X, values[::-1].copy() if values is LABELS else -3 * values)
    assert torch.equal(late.prediction, before)  # first read after the second fit
    assert not torch.equal(explainer.explain(FRESH).prediction, before)
