"""How much of the training table a fitted explainer, its file and its copies hold."""

import copy
import pickle

import numpy as np
import pytest
import torch
from safetensors import safe_open

import lexplain as lx
from lexplain.imputers import IMPUTERS, MAX_BACKGROUND, KMeansRows, Marginal, MixtureRows, NoBackground, background_of, limit_background
from lexplain.methods import Parts, lex

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(300, 6)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
QUICK = {"keep": 2, "epochs": 2, "device": "cpu"}


def rows_in(path, explainer, rows):
    """How many rows of a table lie in a file, as the explainer encodes them."""
    content = path.read_bytes()
    return sum(content.find(row.numpy().tobytes()) >= 0 for row in explainer.features_.encode(rows).x)


def test_a_file_of_a_large_fit_is_small_and_holds_a_stated_number_of_rows_or_none(tmp_path):
    table = GENERATOR.normal(size=(200_000, 30)).astype(np.float32)
    quick = {"keep": 5, "epochs": 1, "batch_size": 20_000, "device": "cpu"}
    explainer = lx.Explainer("lex", imputer=Marginal, **quick).fit(table, (table[:, 0] > 0).astype(int))
    explainer.save(tmp_path / "some.lex")
    explainer.save(tmp_path / "none.lex", background=0)
    assert (tmp_path / "some.lex").stat().st_size < 2_000_000
    with safe_open(tmp_path / "some.lex", "pt") as file:
        assert len(file.get_tensor("imputer.background")) == MAX_BACKGROUND
        assert f'"background_rows": {MAX_BACKGROUND}' in file.metadata()["lexplain"]
    known = {tuple(row) for row in explainer.method_.imputer.background.tolist()}
    encoded = explainer.features_.encode(table).x
    kept = table[[i for i, row in enumerate(encoded.tolist()) if tuple(row) in known][:50]]
    assert len(kept) == 50 and rows_in(tmp_path / "some.lex", explainer, kept) == 50  # the search finds what is there
    assert rows_in(tmp_path / "none.lex", explainer, kept) == rows_in(tmp_path / "none.lex", explainer, table[:500]) == 0


@pytest.mark.parametrize("imputer", [Marginal, KMeansRows, MixtureRows])
def test_without_background_it_explains_and_refuses_to_predict(tmp_path, imputer):
    explainer = lx.Explainer("lex", imputer=imputer, **QUICK).fit(X, Y)
    explainer.save(tmp_path / "none.lex", background=0)
    again = lx.Explainer.load(tmp_path / "none.lex", device="cpu")
    assert torch.equal(again.explain(X).scores, explainer.explain(X).scores)
    for ask in (lambda: again.explain(X).kept_prediction, lambda: again.predict(X)):
        with pytest.raises(ValueError, match=r"background=0.* explain works"):
            ask()
    assert explainer.explain(X).kept_prediction.shape == (300, 2)  # the explainer itself is left as it was
    explainer.save(tmp_path / "few.lex", background=20)
    few = lx.Explainer.load(tmp_path / "few.lex", device="cpu")
    assert len(background_of(few.method_.imputer)) == 20 and few.explain(X).kept_prediction.shape == (300, 2)


def test_imputers_without_rows_are_saved_as_they_are(tmp_path):
    explainer = lx.Explainer("lex", **QUICK).fit(X, Y)  # independent Gaussians
    explainer.save(tmp_path / "none.lex", background=0)
    assert torch.equal(
        lx.Explainer.load(tmp_path / "none.lex", device="cpu").explain(X).kept_prediction, explainer.explain(X).kept_prediction
    )


def test_rows_held_out_are_in_no_background():
    explainer = lx.Explainer("lex", imputer=Marginal, **QUICK).fit(X, Y)
    drawn = {tuple(row) for row in background_of(explainer.method_.imputer).tolist()}
    held = [tuple(row) for part in (explainer.splits_.validation, explainer.splits_.test) for row in part.x.tolist()]
    assert held and not drawn & set(held)
    assert drawn == {tuple(row) for row in explainer.splits_.train.x.tolist()}


@pytest.mark.parametrize("make", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))], ids=["copy", "pickle"])
def test_copies_hold_no_rows_of_the_fit_but_the_background(make):
    explainer = lx.Explainer("realx", **QUICK).fit(X, Y)
    again = make(explainer)
    assert torch.equal(again.explain(X).scores, explainer.explain(X).scores)
    assert not hasattr(again, "splits_")
    with pytest.raises(ValueError, match=r"lx\.audit"):
        _ = again.card_
    content = pickle.dumps(again)
    assert not any(row.numpy().tobytes() in content for row in explainer.features_.encode(X).x)


def test_a_pickle_holds_a_stated_number_of_rows():
    table = GENERATOR.normal(size=(4000, 3)).astype(np.float32)
    settings = {"keep": 1, "epochs": 1, "batch_size": 2000, "device": "cpu"}
    explainer = lx.Explainer("lex", imputer=Marginal, **settings).fit(table, (table[:, 0] > 0).astype(int))
    content = pickle.dumps(explainer)
    assert sum(row.numpy().tobytes() in content for row in explainer.features_.encode(table).x) == MAX_BACKGROUND


@pytest.mark.parametrize("name", [name for name in IMPUTERS if "Rows" in name or name == "Marginal"])
def test_fewer_rows_of_every_imputer_that_keeps_them(name):
    fitted = IMPUTERS[name].fit(torch.as_tensor(X))
    fewer = limit_background(fitted, 40)
    assert type(fewer) is IMPUTERS[name] and len(background_of(fewer)) == 40
    assert {tuple(row) for row in background_of(fewer).tolist()} < {tuple(row) for row in X.tolist()}
    assert limit_background(fewer, 40) is fewer


def test_bad_numbers_of_rows_and_imputers_of_ones_own_are_refused(tmp_path):
    class Mine(Marginal):
        """An imputer of one's own."""

    explainer = lx.Explainer("lex", imputer=Mine, **QUICK).fit(X, Y)
    with pytest.raises(ValueError, match=r"background=0 .*imputer Mine"):
        explainer.save(tmp_path / "a.lex", background=0)
    for odd in (-1, 2.5, "all"):
        with pytest.raises(ValueError, match=f"background .*0 or more, got {odd!r}"):
            explainer.save(tmp_path / "a.lex", background=odd)
    assert not (tmp_path / "a.lex").exists()
    with pytest.raises(ValueError, match="background=0"):
        NoBackground()(torch.zeros(1, 2), torch.zeros(1, 2))


def test_a_method_of_parts_is_loaded_whatever_number_of_rows_its_file_holds(tmp_path):
    features, outputs = lx.Columns().fit(X), lx.Explainer("lex", **QUICK).fit(X, Y).outputs_

    def made():
        return lex(features, outputs, Parts(imputer=Marginal(torch.as_tensor(X))), keep=2)

    explainer = lx.Explainer(made(), epochs=2, device="cpu").fit(X, Y)
    explainer.save(tmp_path / "few.lex", background=10)
    again = lx.Explainer.load(tmp_path / "few.lex", method=made(), device="cpu")
    assert torch.equal(again.explain(X).scores, explainer.explain(X).scores)
    assert len(background_of(again.method_.imputer)) == 10
