"""Tables on images: which cells they have, what a cell computes, and that judges are trained once."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from lexplain import imputers
from lexplain.core import Dataset, Part
from lexplain.estimators import Rebar
from lexplain.evaluation import Evaluator
from lexplain.imputers import Constant, Marginal
from lexplain.masks import Coins, UniformRate
from lexplain.methods import Together
from lexplain.reproduce import gallery, images, judges, lex_faces, lex_panels, realx_image_tables
from lexplain.reproduce.cells import Cell, Run

WHERE = {"machine": "one", "date": "2026-01-01", "code": "a", "fresh": True}
TINY = {"rows": 60, "steps": 2, "batch_size": 20, "judge_steps": 2}


def cell(label="marginal", method="sufficient", **options):
    return Cell("sp_digits", label, method, 0, {"width": 4, "keep": 0.1, **options}, TINY)


@pytest.mark.parametrize("name", lex_panels.NAMES)
def test_the_panels_have_both_lines_over_all_rates_and_every_imputation_at_one(name):
    panels = lex_panels.PANELS[name]
    over = lex_panels.cells_over_rates(panels, quick=False, seeds=5)
    assert len(over) == len({each.key for each in over})
    best = [(each.options["keep"], each.seed) for each in over if each.label.startswith(lex_panels.BEST)]
    assert sorted(best) == [(rate, seed) for rate in sorted(panels.rates) for seed in range(5)]
    zero = {(each.options["keep"], each.seed) for each in over if each.label == lex_panels.ZERO}
    assert zero == set(best), "zero imputation stands beside every cell of the best line"
    compared = lex_panels.cells_at_one_rate(panels, quick=False, seeds=5)
    assert len(compared) == len({each.key for each in compared})
    for seed in range(lex_panels.FEW_SEEDS):
        mine = [each for each in compared if each.seed == seed]
        assert {each.label for each in mine} - {"GMM, full recipe"} == set(lex_panels.IMPUTATIONS)
        sizes = {each.training["batch_size"] for each in mine if each.label in lex_panels.IMPUTATIONS}
        assert sizes == ({128} if panels.light else {256}), "imputations are compared by one recipe"
    assert {each.options["keep"] for each in compared} == {panels.at}


def test_every_imputer_of_lex_is_compared():
    names = {options["imputer"][0] for options in lex_panels.IMPUTATIONS.values()}
    assert names == set(imputers.IMPUTERS) - {"Gaussian", "IndependentGaussian"}


@pytest.mark.parametrize("name", realx_image_tables.TABLES)
def test_the_tables_of_realx_have_four_methods(name):
    made = realx_image_tables.cells(realx_image_tables.TABLES[name], quick=False, seeds=2)
    assert len(made) == len({each.key for each in made}) == 8
    assert {each.method for each in made} == {"realx", "l2x", "invase", "basex"}


def test_faces_have_a_tenth_first():
    made = lex_faces.cells(quick=False, seeds=1)
    assert [each.options["keep"] for each in made] == [0.1] * len(lex_faces.LINES) + list(lex_faces.OTHER_RATES)


@pytest.mark.parametrize("method", ["sufficient", "realx", "l2x"])
def test_a_cell_is_computed_and_judged(method, tmp_path):
    numbers = images.compute(cell(method=method), tmp_path)
    assert {"ACC", "eACC", "eAUROC", "FULL ACC", "kept", "wrong", "breaks"} <= set(numbers)
    assert numbers["kept"] == pytest.approx(10, abs=0.7) if method != "realx" else True
    assert 0 <= numbers["wrong"] <= 1
    assert json.dumps(numbers)
    kept = gallery.masks_of(cell(method=method), tmp_path)
    assert kept.shape == (gallery.SHOWN, 128)
    assert kept.dtype == torch.bool
    assert len(gallery.gallery([cell(method=method), cell("another")], tmp_path).axes) == 10, "five images, and one row of what is kept"
    assert gallery.gallery([cell("another")], tmp_path) is None


def test_judges_are_trained_once(tmp_path, monkeypatch):
    images.compute(cell(), tmp_path)
    monkeypatch.setattr(Evaluator, "fit", lambda *_, **__: pytest.fail("trained again"))
    again = images.compute(cell("zero", imputer=("Constant", {"value": 0.0})), tmp_path)
    assert "eACC" in again
    other = judges.Judge(replace(images.task_of(cell()), seed=1), "EVAL-X", 2)
    assert other.path(tmp_path) != images.judges_of(cell())[0].path(tmp_path)


def test_classes_are_balanced_by_repeating_the_rarer_ones():
    part = Part(np.arange(7)[:, None], np.array([0, 1, 1, 0, 1, 1, 1]))
    found = judges._balanced(part)
    assert found.y.tolist() == [0, 1] * 5
    assert found.x[found.y == 0].ravel().tolist() == [0, 3, 0, 3, 0]
    assert found.x[found.y == 1].ravel().tolist() == [1, 2, 4, 5, 6]


def test_balance_is_told_to_the_judges_and_leaves_the_test_images_alone(tmp_path, monkeypatch):
    plain, balanced = (cell(), replace(cell(), training={**TINY, "balanced": True}))
    paths = {images.judges_of(each)[0].path(tmp_path) for each in (plain, balanced)}
    assert len(paths) == 2, "a judge of other rows is another judge"
    rare = Part(np.zeros((8, 1, 8, 8), dtype=np.float32), np.array([0] * 6 + [1] * 2))
    monkeypatch.setattr(judges, "load_data", lambda *_, **__: Dataset("rare", "", rare, rare, rare, (), images.Patches(2)))
    data = judges.scene(replace(images.task_of(balanced), data="rare"))[0]
    assert [np.bincount(part.y).tolist() for part in (data.train, data.validation, data.test)] == [[6, 6], [6, 6], [6, 2]]


def test_networks_of_half_the_size_see_means_of_squares():
    seen = judges.at_half_size(lambda shape: torch.nn.Unflatten(3, (shape[2], 1)), (1, 4, 6))(torch.arange(24.0).reshape(1, 1, 4, 6))
    assert seen.shape == (1, 1, 2, 3, 1)
    assert seen[0, 0, 0, 0, 0] == (0 + 1 + 6 + 7) / 4


def test_a_cell_names_its_estimator_and_size_of_networks():
    told = Cell("sp_digits", "realx", "realx", 0, {"width": 4, "keep": 0.1, "estimator": "Rebar"}, {**TINY, "networks": "half"})
    data, features, outputs = images.scene(images.task_of(told))
    x = features.encode(data.train.x[:4]).x
    method = images.build(told, features, outputs, x, x)
    assert isinstance(method.plan.estimator, Rebar)
    assert method.selector.network(x).shape == (4, features.count)
    assert method.predictor.network[0].kernel_size == 2


def test_a_cell_names_its_masks_and_prices():
    data, features, outputs = images.scene(images.task_of(cell()))
    x = features.encode(data.train.x[:4]).x
    plain = images.build(cell(last=0.3), features, outputs, x, x)
    assert plain.plan.schedule.masks is UniformRate
    assert plain.objective.mask_costs == ()
    surrogate = images.build(cell(surrogate=True, last=0.3), features, outputs, x, x).plan
    assert (surrogate.schedule.masks, surrogate.schedule.own_share, surrogate.schedule.last) == (Coins, 0.0, 0.3)
    assert isinstance(surrogate, Together)
    connected = images.build(cell(connected=0.003), features, outputs, x, x).objective.mask_costs
    assert [term.price for term in connected] == [0.003]
    assert torch.equal(connected[0].neighbours, features.neighbours())


def test_judges_that_are_not_there_are_trained_before_the_cells(tmp_path):
    frame = images.run_images(Run("table", out=tmp_path), [cell()])
    assert frame["fresh"].tolist() == [True]
    assert {path.name.split("-")[1] for path in (tmp_path / "table" / "judges").iterdir()} == {"EVAL", "FULL"}


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


@pytest.mark.parametrize("name", ["lex-sp-mnist", "realx-table2"])
def test_the_page_is_written_beside_what_is_published(name, tmp_path, monkeypatch):
    module = lex_panels if name.startswith("lex") else realx_image_tables
    numbers = {"ACC": 0.9, "eACC": 0.8, "eAUROC": 0.95, "FULL ACC": 0.97, "kept": 5.0, "wrong": 0.01, "breaks": 2.0, "fit_seconds": 1.0}

    def finished(run, made, compute, *, prepare):
        return pd.DataFrame({"key": c.key, **c.facts(), **WHERE} for c in made).assign(
            imputer_seconds=0.1, **numbers, **{"eACC, any rate": 0.85}
        )

    monkeypatch.setattr(Run, "cells", finished)
    page = module.reproduce(Run(name, quick=True, seeds=1, out=tmp_path)).read_text()
    assert f"lexplain reproduce {name} --quick --seeds 1" in page
    assert "| 90.0 | 80.0 |" in page
    assert ("published" in page.lower()) == (module is realx_image_tables) or "publishes" in page


def test_the_page_of_faces_shows_how_much_lies_on_the_mouth(tmp_path, monkeypatch):
    def finished(run, made, compute, *, prepare):
        numbers = {"ACC": 0.9, "eACC": 0.8, "eAUROC": 0.95, "FULL ACC": 0.97, "wrong": 0.25, "breaks": 2.0, "fit_seconds": 1.0}
        return pd.DataFrame({"key": c.key, **c.facts(), **WHERE} for c in made).assign(**numbers)

    truth = np.zeros((4, 10), dtype=bool)
    truth[:, :2] = True
    test = Part(np.zeros((4, 1)), np.zeros(4, dtype=int), truth)
    monkeypatch.setattr(Run, "cells", finished)
    monkeypatch.setattr(lex_faces, "scene", lambda _: (Dataset("faces", "", test, test, test, ()), None, None))
    written = lex_faces.reproduce(Run(lex_faces.NAME, seeds=1, out=tmp_path))
    assert "covers 20.0 % of the patches" in written.read_text()
    assert "| 75.0 | 90.0 | 80.0 |" in written.read_text()
    assert "![inside](inside.svg)" in written.read_text()
    assert "by chance: 20.0" in (written.parent / "inside.svg").read_text()
