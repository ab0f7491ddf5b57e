"""Tables on images: which cells they have, what a cell computes, and that evaluators are trained once."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from lexplain import imputers
from lexplain.core import Dataset, DataSplit
from lexplain.estimators import Rebar
from lexplain.evaluation import Evaluator
from lexplain.experiments.cell import Cell
from lexplain.imputers import Constant, Marginal
from lexplain.masks import FixedRate, UniformRate
from lexplain.methods import Together
from lexplain.reproduce import TABLES, images, lex_faces, lex_panels
from lexplain.reproduce.table import Run

TINY = {"rows": 60, "steps": 2, "batch_size": 20, "judge_steps": 2}


def cell(label="marginal", method="sufficient", **options):
    return Cell("sp_digits", label, method, 0, {"width": 4, "keep": 0.1, **options}, TINY)


@pytest.mark.parametrize("panels", lex_panels.PANELS, ids=lambda panels: panels.name)
def test_the_panels_have_both_lines_over_all_rates_and_every_imputation_at_one(panels):
    over = lex_panels.cells_over_rates(panels, False, 5)
    assert len(over) == len({each.key for each in over})
    best = [(each.options["keep"], each.seed) for each in over if each.label.startswith(lex_panels.BEST)]
    assert sorted(best) == [(rate, seed) for rate in sorted(panels.rates) for seed in range(5)]
    zero = {(each.options["keep"], each.seed) for each in over if each.label == lex_panels.ZERO}
    assert zero == set(best), "zero imputation stands beside every cell of the best line"
    compared = lex_panels.cells_at_one_rate(panels, False, 5)
    assert len(compared) == len({each.key for each in compared})
    for seed in range(lex_panels.FEW_SEEDS):
        mine = [each for each in compared if each.seed == seed]
        assert {each.label for each in mine} - {"GMM, full recipe"} == set(lex_panels.IMPUTATIONS)
        sizes = {each.training["batch_size"] for each in mine if each.label in lex_panels.IMPUTATIONS}
        assert sizes == ({128} if panels.light else {256}), "imputations are compared by one recipe"
    assert {each.options["keep"] for each in compared} == {panels.at}


def test_every_imputer_of_lex_is_compared():
    names = {options["imputer"][0] for options in lex_panels.IMPUTATIONS.values()}
    assert names == set(imputers.IMPUTERS) - {"Donors", "Gaussian", "IndependentGaussian"}


@pytest.mark.parametrize("name", ["realx-table2", "realx-table3"])
def test_the_tables_of_realx_have_four_methods(name):
    made = TABLES[name].cells(False, 2)
    assert len(made) == len({each.key for each in made}) == 8
    assert {each.method for each in made} == {"realx", "l2x", "invase", "basex"}


def test_faces_have_a_tenth_first():
    made = lex_faces.cells(False, 1)
    assert [each.options["keep"] for each in made] == [0.1] * len(lex_faces.LINES) + list(lex_faces.OTHER_RATES)


@pytest.mark.parametrize("method", ["sufficient", "realx", "l2x"])
def test_a_cell_is_computed_and_judged(method, tmp_path):
    numbers = images.compute(cell(method=method), tmp_path)
    assert {"ACC", "eACC", "eAUROC", "FULL ACC", "kept", "wrong", "breaks"} <= set(numbers)
    assert numbers["kept"] == pytest.approx(10, abs=0.7) if method != "realx" else True
    assert 0 <= numbers["wrong"] <= 1
    assert json.dumps(numbers)
    kept = images.masks_of(cell(method=method), tmp_path)
    assert kept.shape == (images.SHOWN, 128)
    assert kept.dtype == torch.bool
    assert len(images.gallery([cell(method=method), cell("another")], tmp_path).axes) == 10, "five images, and one row of what is kept"
    assert images.gallery([cell("another")], tmp_path) is None


def test_judges_are_trained_once(tmp_path, monkeypatch):
    images.compute(cell(), tmp_path)
    monkeypatch.setattr(Evaluator, "fit", lambda *_, **__: pytest.fail("trained again"))
    again = images.compute(cell("zero", imputer=("Constant", {"value": 0.0})), tmp_path)
    assert "eACC" in again
    assert judge_file(replace(cell(), seed=1), tmp_path) != judge_file(cell(), tmp_path)


def judge_file(cell, folder):
    return images._evaluators(images.scene_of_cell(cell), folder).file(FixedRate)


def test_classes_are_balanced_by_repeating_the_rarer_ones():
    part = DataSplit(np.arange(7)[:, None], np.array([0, 1, 1, 0, 1, 1, 1]))
    found = images._balanced(part)
    assert found.y.tolist() == [0, 1] * 5
    assert found.x[found.y == 0].ravel().tolist() == [0, 3, 0, 3, 0]
    assert found.x[found.y == 1].ravel().tolist() == [1, 2, 4, 5, 6]


def test_balance_is_told_to_the_judges_and_leaves_the_test_images_alone(tmp_path, monkeypatch):
    plain, balanced = (cell(), replace(cell(), training={**TINY, "balanced": True}))
    assert judge_file(plain, tmp_path) != judge_file(balanced, tmp_path), "evaluators of other rows are other evaluators"
    rare = DataSplit(np.zeros((8, 1, 8, 8), dtype=np.float32), np.array([0] * 6 + [1] * 2))
    monkeypatch.setattr(images, "load_data", lambda *_, **__: Dataset("rare", "", rare, rare, rare, (), images.Patches(2)))
    data = images.scene_of_cell(replace(balanced, data="rare")).data
    assert [np.bincount(part.y).tolist() for part in (data.train, data.validation, data.test)] == [[6, 6], [6, 6], [6, 2]]


def test_networks_of_half_the_size_see_means_of_squares():
    seen = images.at_half_size(lambda shape: torch.nn.Unflatten(3, (shape[2], 1)), (1, 4, 6))(torch.arange(24.0).reshape(1, 1, 4, 6))
    assert seen.shape == (1, 1, 2, 3, 1)
    assert seen[0, 0, 0, 0, 0] == (0 + 1 + 6 + 7) / 4


def test_a_cell_names_its_estimator_and_size_of_networks():
    told = Cell("sp_digits", "realx", "realx", 0, {"width": 4, "keep": 0.1, "estimator": "Rebar"}, {**TINY, "networks": "half"})
    scene = images.scene_of_cell(told)
    x, features = scene.features.encode(scene.data.train.x[:4]).x, scene.features
    method = images.build(told, scene, x, x)
    assert isinstance(method.plan.estimator, Rebar)
    assert method.selector.network(x).shape == (4, features.count)
    assert method.predictor.network[0].kernel_size == 2


def test_a_cell_names_its_masks_and_prices():
    scene = images.scene_of_cell(cell())
    x = scene.features.encode(scene.data.train.x[:4]).x
    plain = images.build(cell(last=0.3), scene, x, x)
    assert plain.plan.schedule.masks is UniformRate
    assert plain.objective.mask_costs == ()
    surrogate = images.build(cell(surrogate=True, last=0.3), scene, x, x).plan
    assert (surrogate.schedule.masks, surrogate.schedule.own_share, surrogate.schedule.last) == (FixedRate, 0.0, 0.3)
    assert isinstance(surrogate, Together)
    connected = images.build(cell(connected=0.003), scene, x, x).objective.mask_costs
    assert [term.price for term in connected] == [0.003]
    assert torch.equal(connected[0].neighbours, scene.features.neighbours())


def test_cells_of_the_same_images_share_their_judges(tmp_path):
    shared = {name: train for label in ("marginal", "zero") for name, train in images.shares(cell(label), tmp_path)}
    assert [name.split(" ")[0] for name in shared] == ["EVAL-X", "FULL"]
    for train in shared.values():
        train()
    assert len(list((tmp_path / "judges").iterdir())) == 2
    assert judge_file(cell(), tmp_path).exists()
    other = {name for name, _ in images.shares(replace(cell(), training={**TINY, "balanced": True}), tmp_path)}
    assert not other & set(shared)
    assert all(
        TABLES[name].shares is images.shares for name in ("lex-faces", "lex-sp-mnist", "lex-sp-fashion", "realx-table2", "realx-table3")
    )


def test_imputers_learn_from_training_images_and_draw_from_others():
    train, background = torch.rand(40, 1, 4, 4), torch.full((9, 1, 4, 4), 0.5)
    assert isinstance(images._imputer("Constant", {"value": 3.0}, train, background), Constant)
    marginal = images._imputer("Marginal", {}, train, background)
    assert isinstance(marginal, Marginal)
    rows = images._imputer("MixtureRows", {"components": 2}, train, background)
    hidden = torch.zeros(5, 1, 4, 4, dtype=torch.bool)
    assert torch.equal(marginal(train[:5], hidden), background[:5])
    assert torch.equal(rows(train[:5], hidden), background[:5])


def test_breaks_are_counted_for_each_patch_kept():
    features = images.Patches(1).fit(np.zeros((1, 3, 3)))
    block, apart = torch.zeros(9, dtype=torch.bool), torch.zeros(9, dtype=torch.bool)
    block[[4, 5]], apart[[0, 8]] = True, True
    assert images._breaks(torch.stack([block, apart]), features).tolist() == [5 / 2, 4 / 2]


JUDGED = {"ACC": 0.9, "eACC": 0.8, "eAUROC": 0.95, "FULL ACC": 0.97, "kept": 5.0, "wrong": 0.01, "breaks": 2.0, "fit_seconds": 1.0}


@pytest.mark.parametrize("name", ["lex-sp-mnist", "realx-table2"])
def test_the_page_is_written_beside_what_is_published(name, tmp_path, written):
    numbers = {**JUDGED, "imputer_seconds": 0.1, "eACC, any rate": 0.85}
    page = written(TABLES[name], Run(name, quick=True, seeds=1, out=tmp_path), numbers).read_text()
    assert f"lexplain reproduce {name} --quick --seeds 1" in page
    assert "| 90.0 | 80.0 |" in page
    assert ("published" in page.lower()) == name.startswith("realx") or "publishes" in page


def test_the_page_of_faces_shows_how_much_lies_on_the_mouth(tmp_path, monkeypatch, written):
    truth = np.zeros((4, 10), dtype=bool)
    truth[:, :2] = True
    test = DataSplit(np.zeros((4, 1)), np.zeros(4, dtype=int), truth)
    monkeypatch.setattr(lex_faces, "load_data", lambda *_, **__: Dataset("faces", "", test, test, test, ()))
    page = written(lex_faces.TABLE, Run("lex-faces", seeds=1, out=tmp_path), {**JUDGED, "wrong": 0.25})
    assert "covers 20.0 % of the patches" in page.read_text()
    assert "| 75.0 | 90.0 | 80.0 |" in page.read_text()
    assert "![inside](inside.svg)" in page.read_text()
    assert "by chance: 20.0" in (page.parent / "inside.svg").read_text()
