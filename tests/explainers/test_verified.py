"""`Explainer.verify`: the model that is explained, or the explainer's own predictor, is queried."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

import lexplain as lx

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "u": RANDOM.normal(size=300),
        "v": RANDOM.integers(0, 50, 300),
        "kind": pd.Categorical(RANDOM.choice(["a", "b", "c"], 300)),
        "yes": RANDOM.random(300) > 0.5,
    }
)
LABELS = np.where((TABLE["u"] > 0) & (TABLE["kind"] != "a"), "in", "out")
MODEL = HistGradientBoostingClassifier(max_iter=30, categorical_features="from_dtype").fit(TABLE, LABELS)


@pytest.fixture(scope="module")
def explainer():
    return lx.Explainer("realx", epochs=5).fit(TABLE, model=MODEL)


def test_the_model_gets_rows_of_real_cells_with_the_types_of_the_fit():
    got = []

    def model(rows):
        got.append(rows)
        return MODEL.predict_proba(rows)

    explainer = lx.Explainer("l2x", epochs=1).fit(TABLE, model=model)
    got.clear()
    explainer.explain(TABLE[:20], verify=True)
    assert sum(map(len, got)) > 20
    for rows in got:
        assert rows.dtypes.equals(TABLE.dtypes)
        assert all(rows[column].isin(TABLE[column]).all() for column in TABLE)


def test_explain_and_verify_agree_and_the_prediction_is_the_models(explainer):
    e = explainer.explain(TABLE, verify=True)
    assert e == explainer.verify(explainer.explain(TABLE))
    assert np.allclose(e.prediction, MODEL.predict_proba(TABLE), atol=1e-6)
    assert e.verified.all() and (e.holds >= 0.95).all() and 1 <= e.mask.sum(1).double().mean() < 3
    assert not torch.allclose(e.kept_prediction, e.prediction, atol=1e-3)  # the predictor's, from the kept features
    assert np.allclose(e.kept_prediction.sum(1), 1, atol=1e-5)


def test_without_a_model_the_own_predictor_is_queried():
    explainer = lx.Explainer("realx", epochs=20).fit(TABLE, LABELS)
    e = explainer.explain(TABLE, verify=True)
    own = explainer.method_.predict_full(explainer.features_.encode(TABLE).x).probs
    assert torch.allclose(e.prediction, own) and e.verified.all()
    real = lx.Explainer("realx", epochs=20).fit(TABLE, TABLE["v"] * 100.0 + RANDOM.normal(size=300))
    e = real.explain(TABLE[:50], verify=True)
    assert e.verified.all() and e.mask[:, 1].all() and e.prediction.std() > 500


def test_with_keep_the_mask_stays_and_is_measured():
    explainer = lx.Explainer("l2x", keep=1, epochs=2).fit(TABLE, model=MODEL)
    e, plain = explainer.explain(TABLE, verify=True), explainer.explain(TABLE)
    assert torch.equal(e.mask, plain.mask) and plain.holds is None
    assert 0 < e.verified.double().mean() < 1 and torch.equal(e.verified, e.holds >= 0.95)


def test_a_file_holds_the_rows_and_a_pickle_does_not(explainer, tmp_path):
    e = explainer.explain(TABLE[:30], verify=True)
    explainer.save(tmp_path / "all.lex")
    again = lx.Explainer.load(tmp_path / "all.lex", model=MODEL, device="cpu")
    assert again.explain(TABLE[:30], verify=True) == e
    pd.testing.assert_frame_equal(again.background_, TABLE)
    explainer.save(tmp_path / "none.lex", background=0)
    for each in (lx.Explainer.load(tmp_path / "none.lex", model=MODEL, device="cpu"), pickle.loads(pickle.dumps(explainer))):
        with pytest.raises(ValueError, match="Pass background="):
            each.explain(TABLE[:5], verify=True)
        assert each.verify(each.explain(TABLE[:30]), background=TABLE) == e
    with pytest.raises(ValueError, match=r"Explainer.load\(path, model=...\)"):
        lx.Explainer.load(tmp_path / "all.lex", device="cpu").explain(TABLE[:5], verify=True)


def test_rows_that_change_after_the_fit_change_nothing():
    rows = RANDOM.normal(size=(60, 3))
    explainer = lx.Explainer("realx", epochs=1).fit(rows, model=lambda x: np.stack([x[:, 0] > 0, x[:, 0] <= 0], 1).astype(float))
    before = explainer.explain(rows[:5].copy(), verify=True)
    shown = rows[:5].copy()
    rows[:] = 0
    assert explainer.explain(shown, verify=True) == before


def test_what_was_found_goes_through_json_pickle_and_a_choice_of_rows(explainer):
    e = explainer.explain(TABLE[:30], verify=True)
    assert lx.Explanation.from_json(e.to_json()) == e and pickle.loads(pickle.dumps(e)) == e
    assert torch.equal(e[[3, 4]].holds, e.holds[3:5]) and torch.equal(e[2].model_rows, e.model_rows[2:3])
    with pytest.raises(TypeError, match=r"got ndarray. Pass explainer.explain\(X\)"):
        explainer.verify(e.scores.numpy())
    with pytest.raises(ValueError, match="has no rows"):
        explainer.verify(lx.Explanation.from_json(e.to_json()))


def test_images_are_verified_by_patches():
    images = RANDOM.integers(0, 256, size=(60, 8, 8), dtype=np.uint8)

    def bright(rows):
        yes = rows[:, :4, :4].mean((1, 2)) > 127
        assert rows.dtype == np.uint8
        return np.stack([~yes, yes], 1).astype(float)

    explainer = lx.Explainer("l2x", features=lx.Patches(4), keep=1, epochs=1).fit(images, model=bright)
    explainer.set_params(keep=None)
    e = explainer.explain(images, verify=True)
    assert e.mask[:, 0].all() and e.verified.all() and e.mask.sum() < 60 * 4
