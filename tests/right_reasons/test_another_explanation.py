"""Models that are right for different reasons."""

import numpy as np
import pytest
import torch
from torch import nn

import lexplain as lx

SOON = {"epochs": 30, "batch_size": 64, "learning_rate": 1e-2}


def two_reasons(n=300):
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=n)
    x = draw.normal(size=(n, 3)).astype(np.float32) * 0.3
    x[:, 0] += 4 * y
    x[:, 1] += 2 * y
    return x, y


def network():
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))


@pytest.fixture(scope="module")
def found():
    return lx.find_another_explanation(
        network, *two_reasons(), max_models=4, trainer=lx.RightReasons(nn.Identity(), strength=100.0, **SOON)
    )


def test_it_finds_both_reasons_and_stops_when_there_is_no_third(found):
    first, second = (e.mask.float().mean(0) for e in found.explain(two_reasons()[0])[:2])
    assert first[0] > 0.9
    assert second[1] > 0.9 > 0.1 > second[0]
    assert min(found.held_out_scores[:2]) > 0.95
    assert len(found) == 3
    assert "falls to" in found.stop_reason
    assert found.held_out_scores[2] < 0.9


def test_masks_grow_and_the_numbers_are_there(found):
    assert not found.masks[0].any()
    assert all((after | before == after).all() for before, after in zip(found.masks, found.masks[1:], strict=False))
    table = found.table()
    assert table["forbidden"].is_monotonic_increasing
    assert table.index.tolist() == [1, 2, 3]
    assert 0 < found.diversity < 1
    assert np.allclose(np.diag(found.cosines), 1, atol=1e-4)
    assert (np.diag(found.disagreement) == 0).all()
    off = found.disagreement[~np.eye(3, dtype=bool)]
    assert found.diversity == pytest.approx(off.mean())


def test_explanations_that_stop_changing_end_the_search():
    x, y = two_reasons()
    free = lx.RightReasons(nn.Identity(), strength=0.0, **SOON)  # nothing is forbidden in earnest
    found = lx.find_another_explanation(lambda: nn.Linear(1, 2), x[:, :1], y, max_models=5, trainer=free)
    assert len(found) == 2
    assert "are the same as those of an earlier one" in found.stop_reason


def test_the_same_seed_finds_the_same_models():
    x, y = two_reasons(100)
    soon = lx.RightReasons(nn.Identity(), **SOON | {"epochs": 3})
    said = [lx.find_another_explanation(network, x, y, max_models=2, max_drop=1.0, trainer=soon, random_state=5) for _ in range(2)]
    assert all(np.array_equal(a.predict_proba(x), b.predict_proba(x)) for a, b in zip(said[0].models, said[1].models, strict=True))
    assert torch.equal(said[0].explain(x)[1].scores, said[1].explain(x)[1].scores)


def test_the_figure_has_a_panel_for_each_model_and_row(found):
    from lexplain.report import another_explanation, to_svg

    figure = another_explanation(found, two_reasons()[0][:2], titles=("class 0", "class 1"))
    assert len(figure.axes) == 6
    text = to_svg(figure)
    assert "model 2" in text
    assert f"held out {found.held_out_scores[1]:.1%}" in text


def test_a_trainer_with_features_raises():
    x, y = two_reasons(60)
    with pytest.raises(ValueError, match=r"trainer .*features=Columns"):
        lx.find_another_explanation(network, x, y, trainer=lx.RightReasons(features=lx.Columns()))
