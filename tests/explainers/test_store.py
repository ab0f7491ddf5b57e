"""What is saved comes back the same, and what is not ours is refused: one safetensors file, no pickle."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from scipy.special import expit
from torch import nn

from lexplain.core import Classes
from lexplain.explainers import Explainer
from lexplain.features import Columns, Groups
from lexplain.imputers import (
    VAEAC,
    Constant,
    Gaussian,
    GaussianMixture,
    IndependentGaussian,
    KMeansRows,
    LogisticMeans,
    LogisticMixture,
    Marginal,
    MixtureMeans,
    MixtureRows,
)
from lexplain.methods import METHODS, Parts, l2x, realx
from lexplain.models import Trained
from lexplain.networks import MLP, mlp

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(3, 2, size=(60, 4))
FRESH = GENERATOR.normal(3, 2, size=(20, 4))
Y = np.where(X[:, 0] > 3, "yes", "no")
FRAME = pd.DataFrame(X, columns=["age", "height", "weight", "pulse"])


def chance(rows):
    yes = expit(np.asarray(rows)[:, 0] - 3)
    return np.stack([1 - yes, yes], 1)


def level(rows):
    return 1000 + 100 * np.asarray(rows)[:, 1]


def network(kind="logits"):
    torch.manual_seed(0)
    last = {"logits": [nn.Linear(4, 3)], "probabilities": [nn.Linear(4, 3), nn.Softmax(1)], "value": [nn.Linear(4, 1)]}[kind]
    return nn.Sequential(nn.Linear(4, 4), nn.Tanh(), *last)


def quick(method="realx", **more):
    return Explainer(method, **{"epochs": 1, "batch_size": 60, **more})


def same(one, two, rows=FRESH):
    """Whether two explainers say the same of rows they have not seen, to the last bit."""
    first, second = one.explain(rows), two.explain(rows)
    assert torch.equal(first.mask, second.mask)
    assert torch.equal(first.scores, second.scores)
    assert torch.equal(first.kept_prediction, second.kept_prediction)
    assert first.names == second.names
    assert first.classes == second.classes
    assert first.method == second.method
    assert (one.predict(rows) == two.predict(rows)).all()


def record_of(path):
    with safe_open(path, framework="pt") as stored:
        return json.loads(stored.metadata()["lexplain"])


def rewritten(path, change):
    """The same file with another record."""
    with safe_open(path, framework="pt") as stored:
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118  a safetensors handle is no dict
    record = record_of(path)
    change(record)
    save_file(tensors, path, metadata={"lexplain": json.dumps(record)})
    return path


@pytest.fixture
def saved(tmp_path):
    quick().fit(X, Y).save(tmp_path / "model.lex")
    return tmp_path / "model.lex"


# ---- round trips ----


@pytest.mark.parametrize("method", ["default", *(name for name in METHODS if not METHODS[name].reads_output)])
def test_in_situ(method, tmp_path):
    explainer = quick(method, keep=2).fit(X, Y)
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex")
    same(explainer, again)
    assert again.get_params() == explainer.get_params()
    assert again.classes_.tolist() == ["no", "yes"]
    assert again.n_features_in_ == 4
    assert again.score(X, Y) == explainer.score(X, Y)


@pytest.mark.parametrize("kind", ["logits", "probabilities", "value"])
@pytest.mark.parametrize("method", METHODS)
def test_a_network_explained_by_itself(method, kind, tmp_path):
    net = network(kind)
    explainer = quick(method, regime="self").fit(X, model=net)
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex", model=copy.deepcopy(net))
    same(explainer, again)
    with safe_open(tmp_path / "model.lex", framework="pt") as stored:
        assert not [name for name in stored.keys() if name.startswith(("predictor.", "baseline."))]  # noqa: SIM118  the user's own


@pytest.mark.parametrize("model", [chance, level], ids=["classes", "values"])
@pytest.mark.parametrize("method", METHODS)
def test_a_black_box_explained_by_a_surrogate(method, model, tmp_path):
    explainer = quick(method).fit(X, model=model)
    explainer.save(tmp_path / "model.lex")
    same(explainer, Explainer.load(tmp_path / "model.lex", model=model))


@pytest.mark.parametrize("model", [chance, level], ids=["classes", "values"])
@pytest.mark.parametrize("method", ["lex", "invase"])
def test_a_black_box_explained_by_itself(method, model, tmp_path):
    explainer = quick(method, regime="self").fit(X, model=model)
    explainer.save(tmp_path / "model.lex")
    same(explainer, Explainer.load(tmp_path / "model.lex", model=model))


@pytest.mark.parametrize("model", [None, "logits"], ids=["learned", "given"])
def test_labels_explained_by_a_fixed_model(model, tmp_path):
    model = model and network(model)
    explainer = quick("l2x", regime="fixed").fit(X, np.arange(60) % 3, model=model)
    explainer.save(tmp_path / "model.lex")
    same(explainer, Explainer.load(tmp_path / "model.lex", model=model))


@pytest.mark.parametrize(
    "y", [1000 + 100 * X[:, 1], chance(X), X[:, 0] > 3, (X[:, 0] > 3) * 7.0], ids=["real", "soft", "bool", "float labels"]
)
def test_targets_of_every_kind(y, tmp_path):
    explainer = quick().fit(X, y)
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex")
    same(explainer, again)
    assert again.predict(FRESH).dtype == explainer.predict(FRESH).dtype


@pytest.mark.parametrize(
    "imputer", [Constant, IndependentGaussian, Gaussian, Marginal, Constant(torch.arange(4.0)), Gaussian(torch.zeros(4), torch.eye(4))]
)
@pytest.mark.parametrize("method", ["lex", "realx"])
def test_every_imputer(method, imputer, tmp_path):
    explainer = quick(method, imputer=imputer).fit(X, Y)
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex")
    same(explainer, again)
    # The explainer can be fitted anew with the same kind of imputer.
    assert isinstance(again.imputer, type(explainer.method_.imputer))
    known = explainer.method_.imputer.state_dict()
    assert all(torch.equal(value, known[name].cpu()) for name, value in again.imputer.state_dict().items())


ENCODED = torch.tensor((X - X.mean(0)) / X.std(0), dtype=torch.float32)
LEARNED = {
    "gaussian mixture": lambda: GaussianMixture.fit(ENCODED, components=3),
    "mixture means": lambda: MixtureMeans.fit(ENCODED, components=3),
    "mixture rows": lambda: MixtureRows.fit(ENCODED, components=3),
    "k-means rows": lambda: KMeansRows.fit(ENCODED, components=3),
    "logistic mixture": lambda: LogisticMixture.fit(ENCODED.sigmoid(), components=3, steps=2),
    "logistic means": lambda: LogisticMeans.fit(ENCODED.sigmoid(), components=3, steps=2),
    "autoencoder": lambda: VAEAC.fit(ENCODED, latent=3, width=5, steps=2, logistic=True, noise=False),
}


@pytest.mark.parametrize("name", LEARNED)
def test_imputers_that_learn(name, tmp_path):
    explainer = quick("lex", imputer=LEARNED[name]()).fit(X, Y)
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex")
    same(explainer, again)
    assert getattr(again.imputer, "settings", None) == getattr(explainer.method_.imputer, "settings", None)
    assert not list(explainer.method_.imputer.parameters()) or not next(again.imputer.parameters()).requires_grad


@pytest.mark.parametrize("groups", [{"body": ["height", "weight"]}, {"body": [np.int64(1), 2]}])
def test_groups_and_names(groups, tmp_path):
    explainer = quick(keep=1, features=Groups(groups=groups)).fit(FRAME, Y)
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex")
    same(explainer, again, FRAME)
    assert again.get_feature_names_out().tolist() == ["body", "age", "pulse"]
    assert again.feature_names_in_.tolist() == list(FRAME.columns)
    assert again.n_features_in_ == 4
    same(explainer.fit(FRAME, Y), again.fit(FRAME, Y), FRAME)
    with pytest.raises(ValueError, match="feature names should match"):
        again.explain(FRAME[FRAME.columns[::-1]])


def test_a_rate_that_was_met(tmp_path):
    explainer = quick(keep=np.float64(0.3), random_state=np.int64(7), max_rows=9).fit(X, Y)
    assert explainer.method_.selector.offset != 0
    explainer.save(tmp_path / "model.lex")
    again = Explainer.load(tmp_path / "model.lex")
    same(explainer, again)
    assert (again.keep, again.random_state, again.max_rows) == (0.3, 7, 9)


def test_a_loaded_explainer_is_saved_and_pickled_like_any_other(tmp_path):
    explainer = quick("lex", regime="self").fit(X, model=chance)
    explainer.save(tmp_path / "one.lex")
    loaded = Explainer.load(tmp_path / "one.lex")
    loaded.save(tmp_path / "two.lex")
    same(explainer, Explainer.load(tmp_path / "two.lex", model=chance))
    again = pickle.loads(pickle.dumps(loaded))
    assert torch.equal(again.explain(FRESH).mask, explainer.explain(FRESH).mask)


# ---- what the user must bring ----


def test_networks_of_ones_own_come_back_with_a_method(tmp_path):
    parts = {"selector": MLP((4,), 4, hidden=(8,)), "predictor": mlp((4,), 2, sees_mask=False, hidden=(8,))}
    explainer = quick("l2x", keep=2, **parts).fit(X, Y)
    path = tmp_path / "model.lex"
    explainer.save(path)
    with pytest.raises(ValueError, match=r"Explainer\.load\(path, method=\.\.\.\)"):
        Explainer.load(path)
    rebuilt = l2x(Columns().fit(X), Classes(2), Parts(**parts), keep=2)
    before = copy.deepcopy(rebuilt.state_dict())
    again = Explainer.load(path, method=rebuilt)
    same(explainer, again)
    assert all(torch.equal(value, before[name]) for name, value in rebuilt.state_dict().items())  # it was copied, not filled
    assert (again.fit(X, Y).transform(FRESH).sum(1) == 2).all()


def test_a_method_built_from_parts_comes_back_with_a_method(tmp_path):
    def built():
        return realx(Groups(groups={"body": [1, 2]}).fit(X), Classes(2), keep=1)

    explainer = quick(built()).fit(X, Y)
    explainer.save(tmp_path / "model.lex")
    with pytest.raises(ValueError, match=r"method=\.\.\."):
        Explainer.load(tmp_path / "model.lex")
    same(explainer, Explainer.load(tmp_path / "model.lex", method=built()))


def test_an_imputer_of_ones_own_is_not_taken_for_ours(tmp_path):
    class Constant(nn.Module):  # the name of one of ours
        random = False

        def forward(self, x, mask):
            return mask * x + ~mask.bool() * 5.0

    explainer = quick("lex", imputer=Constant()).fit(X, Y)
    explainer.save(tmp_path / "model.lex")
    with pytest.raises(ValueError, match=r"method=\.\.\."):
        Explainer.load(tmp_path / "model.lex")


def test_a_method_that_does_not_fit_the_weights(tmp_path, saved):
    with pytest.raises(ValueError, match=r"do not fit the method: .*selector"):
        Explainer.load(saved, method=realx(Columns().fit(X), Classes(2), Parts(selector=MLP((4,), 4, hidden=(8,)))))


def test_a_missing_model_is_asked_for_only_where_it_is_needed(tmp_path):
    path = tmp_path / "model.lex"
    needed = r"Explainer\.load\(path, model=\.\.\.\)"
    explainer = quick("l2x", regime="self").fit(X, model=network())
    explainer.save(path)
    again = Explainer.load(path)
    assert torch.equal(again.explain(FRESH).mask, explainer.explain(FRESH).mask)  # the selector alone explains
    with pytest.raises(ValueError, match=needed):
        again.predict(FRESH)
    with pytest.raises(ValueError, match=needed):
        again.explain(FRESH).prediction  # noqa: B018

    explainer = quick("l2x").fit(X, model=network())
    explainer.save(path)
    same(explainer, Explainer.load(path))  # a surrogate lies in the file

    explainer = quick("meed").fit(X, model=chance)
    explainer.save(path)
    with pytest.raises(ValueError, match=needed):
        Explainer.load(path).explain(FRESH)  # this selector sees the model's output


# ---- the file ----


def test_the_file_is_tensors_and_json_and_holds_no_pickle(saved):
    with safe_open(saved, framework="pt") as stored:
        assert list(stored.metadata()) == ["lexplain"]
        assert {name.split(".")[0] for name in stored.keys()} == {"selector", "imputer", "predictor", "rows"}  # noqa: SIM118
    record = record_of(saved)
    assert record["format"] == "lexplain.explainer/2"
    assert record["method"] == "realx"
    raw = saved.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    assert (
        sum(end - start for name, entry in header.items() if name != "__metadata__" for start, end in [entry["data_offsets"]])
        == len(raw) - 8 - length
    )
    assert {entry["dtype"] for name, entry in header.items() if name != "__metadata__" and not name.startswith("rows.")} == {"F32"}


def test_neither_saving_nor_loading_pickles(tmp_path, monkeypatch):
    explainer = quick("lex", imputer=Marginal).fit(X, Y)
    for name in ("dump", "dumps", "load", "loads", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, None)
    explainer.save(tmp_path / "model.lex")
    same(explainer, Explainer.load(tmp_path / "model.lex"))


def test_saves_into_new_folders_and_under_plain_strings(tmp_path):
    explainer = quick().fit(X, Y)
    explainer.save(str(tmp_path / "new" / "folder" / "model.lex"))
    same(explainer, Explainer.load(str(tmp_path / "new" / "folder" / "model.lex")))


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failed_save_leaves_the_old_file_whole_and_nothing_beside_it(saved, monkeypatch, error):
    def fail(tensors, path, metadata):
        with open(path, "wb") as half:
            half.write(b"half a file")
        raise error("half-way")

    old = saved.read_bytes()
    explainer = quick(random_state=1).fit(X, Y)
    monkeypatch.setattr("lexplain.core.files.save_file", fail)
    with pytest.raises(error, match="half-way"):
        explainer.save(saved)
    assert saved.read_bytes() == old
    assert [path.name for path in saved.parent.iterdir()] == ["model.lex"]
    monkeypatch.undo()
    explainer.save(saved)
    assert saved.read_bytes() != old
    assert [path.name for path in saved.parent.iterdir()] == ["model.lex"]


FOREIGN = {
    "text": (lambda path: path.write_text("hello, this is no model\n" * 10), "cannot be read as a safetensors file"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be read as a safetensors file"),
    "a pickle": (lambda path: path.write_bytes(pickle.dumps({"weights": [1, 2]})), "cannot be read as a safetensors file"),
    "torch's own": (lambda path: torch.save({"weights": torch.zeros(3)}, path), "cannot be read as a safetensors file"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-100]), "cannot be read as a safetensors file"),
    "truncated early": (lambda path: path.write_bytes(path.read_bytes()[:100]), "cannot be read as a safetensors file"),
    "another program's": (lambda path: save_file({"w": torch.zeros(3)}, path), "wrong format: got None"),
    "with other notes": (lambda path: save_file({"w": torch.zeros(3)}, path, metadata={"format": "pt"}), "wrong format"),
    "with broken notes": (lambda path: save_file({"w": torch.zeros(3)}, path, metadata={"lexplain": "{"}), "cannot be read"),
    "a list of notes": (lambda path: save_file({"w": torch.zeros(3)}, path, metadata={"lexplain": "[1]"}), "wrong format"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_and_damaged_files_are_refused(name, saved):
    spoil, words = FOREIGN[name]
    spoil(saved)
    with pytest.raises(ValueError, match=words) as refused:
        Explainer.load(saved)
    assert str(saved) in str(refused.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"File not found.*missing.lex"):
        Explainer.load(tmp_path / "missing.lex")
    with pytest.raises(FileNotFoundError, match="File not found"):
        Explainer.load(tmp_path)


def set_in(*keys, value):
    def change(record):
        for key in keys[:-1]:
            record = record[key]
        record[keys[-1]] = value

    return change


BAD_RECORDS = {
    "a later format": (set_in("format", value="lexplain.explainer/3"), "lexplain.explainer/3.*'lexplain.explainer/2'"),
    "a checkpoint": (set_in("format", value="lexplain.checkpoint/1"), "lexplain.checkpoint/1"),
    "features that run a program": (
        set_in("features", "kind", value="os.system"),
        "Unknown kind of features 'os.system'. Choose one of: columns, patches",
    ),
    "features of another module": (set_in("features", "kind", value="check"), "kind of features 'check'"),
    "an imputer that runs code": (set_in("imputer", value="exec"), "imputer 'exec'.*: Constant"),
    "an imputer of another kind": (set_in("imputer", value="fill"), "imputer 'fill'"),
    "an imputer of other tensors": (set_in("imputer", value="Marginal"), "damaged.*imputer.background"),
    "settings that an imputer has not": (set_in("imputer_settings", value={"evil": 1}), "damaged.*evil"),
    "a method that is no method": (set_in("method", value="eval"), "method 'eval'.*: basex"),
    "a parameter that is none": (set_in("parameters", "evil", value=1), "damaged.*evil"),
    "no features": (lambda record: record.pop("features"), "damaged.*features"),
    "no target": (lambda record: record.pop("target"), "damaged.*target"),
    "outputs that are none": (set_in("outputs", value=3), "damaged"),
    "other outputs": (set_in("outputs", "count", value=5), "do not fit the method"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_bad_records_are_refused_and_run_nothing(name, saved):
    change, words = BAD_RECORDS[name]
    with pytest.raises(ValueError, match="(?s)" + words):
        Explainer.load(rewritten(saved, change))


def test_the_record_rewritten_as_it_was_is_read(saved):
    # So that the refusals above are due to what they change.
    before = Explainer.load(saved)
    same(before, Explainer.load(rewritten(saved, lambda record: None)))
    assert isinstance(before.method_.predictor, Trained)
