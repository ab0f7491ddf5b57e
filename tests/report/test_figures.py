import sys
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from lexplain.measures import Estimate
from lexplain.report import (
    certainty,
    cost,
    feature_rates,
    honesty,
    kept_tradeoff,
    path,
    row_bars,
    save,
    selection_map,
    strip,
    sweep,
    to_svg,
    truth_tradeoff,
)
from lexplain.report.figures.canvas import BLUE, ORANGE

HONESTY = pd.DataFrame(
    [
        ("realx", 0.81, 0.80, 0.82, 0.80, 0.79, 0.81, "honest"),
        ("basex", 0.99, 0.98, 1.00, 0.53, 0.51, 0.55, "encodes"),
        ("unsure", 0.70, np.nan, np.nan, np.nan, np.nan, np.nan, "not judged"),
    ],
    columns=["method", "acc", "acc_low", "acc_high", "eacc", "eacc_low", "eacc_high", "verdict"],
)
TRUTH = pd.DataFrame({"method": ["realx", "l2x", "$lime$"], "tpr": [0.9, 0.9, 0.2], "fdr": [0.1, 0.1, 1.0]})
COST = pd.DataFrame({"method": ["shap", "realx"], "ms": [812.0, 0.0042]})
SWEEP = pd.DataFrame(
    {"rate": [0.5, 0.1, 0.1, 0.5], "accuracy": [0.8, 0.7, 0.75, 0.85], "who": ["ours", "ours", "LEX (published)", "LEX (published)"]}
)
PATH = pd.DataFrame(
    {
        "price": [0.001, 0.006, 0.1],
        "kept": [9.0, 4.2, 1.0],
        "cost": [0.0, 0.01, 0.2],
        "cost_low": [0.0, 0.005, 0.1],
        "cost_high": [0.0, 0.02, 0.3],
        "eacc": [0.9, 0.89, 0.7],
        "eacc_low": [0.88, 0.87, 0.6],
        "eacc_high": [0.92, 0.91, 0.8],
        "eacc_of_all": 0.9,
        "chosen": [False, True, False],
    }
)
KEPT = pd.DataFrame({"kept": [2, 0, 1], "eacc": [0.9, 0.5, 0.7], "low": [0.85, 0.45, 0.65], "high": [0.95, 0.55, 0.75]})
SWEEP = SWEEP.assign(low=SWEEP["accuracy"] - 0.1, high=SWEEP["accuracy"] + 0.1)

FIGURES = {
    "selection_map": selection_map,
    "row_bars": lambda explanation, ax=None: row_bars(explanation, 0, ax=ax),
    "feature_rates": feature_rates,
    "honesty": lambda explanation, ax=None: honesty(HONESTY, ax=ax),
    "truth_tradeoff": lambda explanation, ax=None: truth_tradeoff(TRUTH, ax=ax),
    "cost": lambda explanation, ax=None: cost(COST, ax=ax),
    "sweep": lambda explanation, ax=None: sweep(SWEEP, x="rate", y="accuracy", by="who", low="low", high="high", ax=ax),
    "path": lambda explanation, ax=None: path(PATH, ax=ax),
    "path without a judge": lambda explanation, ax=None: path(PATH.loc[:, ~PATH.columns.str.startswith("eacc")], ax=ax),
    "certainty": lambda explanation, ax=None: certainty(Estimate(0.06, 0.02, 0.1, 500, 0.9), margin=0.05, ax=ax),
    "kept_tradeoff": lambda explanation, ax=None: kept_tradeoff(KEPT, own=(1.4, 0.8, 0.75, 0.86), every=0.9, ax=ax),
}


def texts_of(ax):
    return [text.get_text() for text in (*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels())]


def read(drawn):
    """The figure's SVG, which must be well-formed and point nowhere."""
    svg = to_svg(drawn)
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "http" not in svg.replace('xmlns="http://www.w3.org/2000/svg"', "").replace('xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    return svg


@pytest.mark.parametrize("name", FIGURES)
def test_figure_keeps_its_promises(name, make):
    draw = FIGURES[name]
    own = draw(make())
    assert isinstance(own, Axes)
    assert to_rgba(own.figure.get_facecolor()) == (1, 1, 1, 1)
    assert read(own) == to_svg(draw(make())) == to_svg(own.figure)
    figure = Figure(figsize=(8, 8))
    given = figure.add_subplot(2, 2, 3)
    assert draw(make(), ax=given) is given
    assert given.collections or given.patches or given.lines
    figure.draw_without_rendering()


def test_any_explanation_can_be_drawn(explanation):
    read(row_bars(explanation, 0))
    read(selection_map(explanation, truth=explanation.scores > 0.3))
    feature_rates(explanation)


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_is_cut_or_tiny(name, make):
    figure = FIGURES[name](make()).figure
    figure.draw_without_rendering()
    inner = figure.get_tightbbox()
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_text() and text.get_visible():
            assert text.get_fontsize() >= 7.5
    assert inner.width <= figure.get_figwidth() + 1.5
    assert inner.height <= figure.get_figheight() + 0.5


def test_no_figure_touches_pyplot_or_the_settings(make):
    before = dict(matplotlib.rcParams)
    to_svg(selection_map(make()))
    assert dict(matplotlib.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


def test_a_dark_style_of_the_user_leaves_the_card_legible(make):
    with matplotlib.rc_context({"text.color": "white", "axes.labelcolor": "white", "xtick.color": "white", "axes.facecolor": "black"}):
        ax = row_bars(make(), 0)
        labels = [ax.xaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels(), *ax.get_legend().get_texts()]
    assert to_rgba("white") not in [to_rgba(label.get_color()) for label in labels]
    assert to_rgba(ax.get_facecolor()) == (1, 1, 1, 1)


def test_map_fills_what_is_kept_and_outlines_what_is_true(make):
    explanation = make(rows=12)
    truth = torch.zeros(12, 4, dtype=torch.bool)
    truth[:5, 0] = truth[5:, 3] = True
    ax = selection_map(explanation, truth=truth)
    kept, true = (found for found in ax.collections if isinstance(found, PatchCollection))
    assert len(kept.get_paths()) == int(explanation.mask.sum())
    assert len(true.get_paths()) == 12
    rows = [int(label.get_text()) for label in ax.get_yticklabels()]
    assert set(rows[:5]) == {0, 1, 2, 3, 4}
    cells = {(round(p.vertices[:4, 0].mean()), rows[round(p.vertices[:4, 1].mean())]) for p in kept.get_paths()}
    assert cells == {(j, i) for i, j in explanation.mask.nonzero().tolist()}
    assert to_svg(selection_map(explanation, truth=truth.numpy())) == to_svg(selection_map(explanation, truth=truth))


def test_map_is_darker_for_a_higher_score(make):
    explanation = make(rows=1, scores=torch.tensor([[0.1, 0.9, 0.5, 0.2]]), mask=torch.tensor([[True, True, True, False]]))
    low, high, middle = selection_map(explanation).findobj(PatchCollection)[0].get_facecolor()[:, :3].sum(1)
    assert high < middle < low


def test_map_shows_so_many_rows_and_features_and_says_so(make):
    ax = selection_map(make(rows=100, names=tuple(f"g{j}" for j in range(200))), rows=7)
    assert len(ax.get_yticklabels()) == 7
    assert len(ax.get_xticklabels()) == 40
    assert ax.get_title(loc="left") == "Features kept in 7 of 100 rows, 40 of 200 features"


def test_map_refuses_what_does_not_fit(make):
    with pytest.raises(ValueError, match="do not fit"):
        selection_map(make(), truth=np.ones((3, 4), dtype=bool))
    for draw in (selection_map, feature_rates):
        with pytest.raises(ValueError, match="least one row"):
            draw(make()[:0])


def test_bars_show_scores_values_and_the_class(make):
    explanation = make()
    ax = row_bars(explanation, 3)
    order = explanation.scores[3].argsort(descending=True).tolist()
    names = [f"{explanation.names[j]} = {explanation.data.iloc[3, j]:.3f}" for j in order]
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(explanation.scores[3][order].tolist())
    assert [bar.get_facecolor() == to_rgba(BLUE) for bar in ax.patches] == explanation.mask[3][order].tolist()
    target = int(explanation.target[3])
    assert ax.get_title(loc="left") == f"Row 3: predicted {('no', 'yes')[target]} ({float(explanation.prediction[3, target]):.0%})"


def test_bars_of_many_features_show_the_kept_ones_first(make):
    explanation = make(names=tuple(f"g{j}" for j in range(200)), mask=torch.arange(200).expand(40, 200) < 3)
    ax = row_bars(explanation, 0, max_features=10)
    assert len(ax.patches) == 10
    assert sum(bar.get_facecolor() == to_rgba(BLUE) for bar in ax.patches) == 3
    assert "190 more features" in ax.get_xlabel()


def test_rates_are_shares_of_rows(make):
    explanation = make()
    ax = feature_rates(explanation)
    rates = explanation.mask.float().mean(0)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(rates.sort(descending=True).values.tolist())
    assert len(feature_rates(explanation, max_features=2).patches) == 2


def test_honesty_colours_those_whose_intervals_part():
    ax = honesty(HONESTY)
    said = {text.get_text(): to_rgba(text.get_color()) for text in ax.texts}
    assert said["+46.0 points"] == to_rgba(ORANGE) == said["encodes"]
    assert said["+1.0 points"] != to_rgba(ORANGE)
    assert "gap unknown" in said
    touching = HONESTY.assign(eacc_high=HONESTY["acc_low"])
    assert to_rgba(ORANGE) not in [to_rgba(line.get_color()) for line in honesty(touching).lines]


def test_tradeoff_labels_stay_apart():
    crowd = pd.DataFrame({"method": [f"method {j}" for j in range(9)], "tpr": np.linspace(0.8, 0.85, 9), "fdr": np.linspace(0.2, 0.25, 9)})
    ax = truth_tradeoff(crowd)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() if not text.arrow_patch else matplotlib.text.Text.get_window_extent(text) for text in ax.texts]
    assert len(boxes) == 10
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_cost_is_sorted_and_refuses_what_has_no_logarithm():
    ax = cost(COST)
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["realx", "shap"]
    assert [bar.get_x() + bar.get_width() for bar in ax.patches] == pytest.approx([0.0042, 812.0])
    with pytest.raises(ValueError, match="above 0"):
        cost(COST.assign(ms=[0.0, 1.0]))


def test_sweep_sorts_its_points_and_dashes_what_is_published():
    ax = sweep(SWEEP, x="rate", y="accuracy", by="who")
    ours, published = ax.lines
    assert ours.get_xydata().tolist() == [[0.1, 0.7], [0.5, 0.8]]
    assert (ours.is_dashed(), published.is_dashed()) == (False, True)
    assert not ax.collections
    assert len(sweep(SWEEP, x="rate", y="accuracy", by="who", low="low", high="high").collections) == 2
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1", "0.5"]


@pytest.mark.parametrize(("most", "scale"), [(9.0, "linear"), (40.0, "symlog")])
def test_a_strip_is_logarithmic_far_beyond_its_line_alone(most, scale):
    table = pd.DataFrame({"error": [0.2, most], "who": ["a", "b"], "seed": ["0", "0"]})
    ax = strip(table, value="error", by="who", colour="seed", line=1.0, title="Who errs?")
    assert ax.get_xscale() == scale
    assert {float(line.get_xdata()[0]) for line in ax.lines if len(line.get_xdata())} == {0.2, most, 1.0}


def test_path_goes_from_few_features_to_many_and_marks_the_chosen_point():
    upper = path(PATH)
    lower = upper.figure.axes[1]
    for ax, column in ((upper, "cost"), (lower, "eacc")):
        line, mark = ax.lines[0], ax.lines[2]
        assert line.get_xydata().tolist() == PATH[["kept", column]].iloc[::-1].to_numpy().tolist()
        assert mark.get_xydata().tolist() == PATH.loc[[1], ["kept", column]].to_numpy().tolist()
        assert len(ax.collections) == 1
    assert [text.get_text() for text in upper.get_legend().get_texts()] == ["chosen: 4.2 features at 0.006 nats each"]
    assert [text.get_text() for text in lower.get_legend().get_texts()] == ["from all features: 0.900"]
    dashed = lower.lines[3]
    assert dashed.is_dashed()
    assert list(dashed.get_ydata()) == [0.9, 0.9]
    assert lower.get_xlim() == upper.get_xlim()


def test_path_without_a_judge_or_a_choice():
    ax = path(PATH.drop(columns=["eacc", "eacc_low", "eacc_high", "eacc_of_all"]).assign(chosen=False))
    assert ax.figure.axes == [ax]
    assert ax.get_legend() is None
    assert len(ax.lines) == 1
    assert ax.get_xlabel()


def test_panels_of_a_path_do_not_overlap_wherever_they_are_drawn():
    placed, laid_out, free = Figure(figsize=(8, 8)), Figure(figsize=(7, 7), layout="constrained"), Figure(figsize=(7, 7))
    for ax in (None, placed.add_subplot(2, 2, 3), laid_out.add_subplot(), free.add_axes((0.1, 0.1, 0.8, 0.8))):
        upper = path(PATH, ax=ax)
        upper.figure.draw_without_rendering()
        lower = upper.figure.axes[-1]
        assert lower is not upper
        assert upper.get_tightbbox().y0 > lower.get_tightbbox().y1


def test_path_is_legible_under_a_dark_style():
    with matplotlib.rc_context({"text.color": "white", "axes.labelcolor": "white", "xtick.color": "white", "ytick.color": "white"}):
        axes = path(PATH).figure.axes
        drawn = [[ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels(), *ax.get_legend().get_texts()] for ax in axes]
    assert to_rgba("white") not in [to_rgba(text.get_color()) for texts in drawn for text in texts]
    assert [to_rgba(ax.get_facecolor()) for ax in axes] == [(1, 1, 1, 1)] * 2


def test_path_refuses_a_table_that_lacks_something():
    with pytest.raises(ValueError, match=r"not \['chosen'\]"):
        path(PATH.drop(columns="chosen"))
    with pytest.raises(ValueError, match=r"not \['eacc_of_all'\]"):
        path(PATH.drop(columns="eacc_of_all"))
    with pytest.raises(ValueError, match="no row"):
        path(PATH.iloc[:0])


ESTIMATES = {
    "honest": Estimate(0.01, -0.004, 0.025, 500, 0.9),
    "encodes": Estimate(0.4, 0.358, 0.444, 500, 0.9),
    "open": Estimate(0.06, 0.025, 0.097, 500, 0.9),
    "weak": Estimate(-0.2, -0.22, -0.18, 500, 0.9),
    "far": Estimate(3.0, 2.96, 3.04, 500, 0.9),
    "exact": Estimate(0.0, 0.0, 0.0, 1, 0.9),
    "close": Estimate(0.052, 0.051, 0.053, 10**6, 0.9),
}


@pytest.mark.parametrize("name", ESTIMATES)
def test_certainty_draws_the_estimate_among_zones_whose_names_can_be_read(name):
    estimate = ESTIMATES[name]
    ax = certainty(estimate, margin=0.05)
    drawn = [line.get_xydata().tolist() for line in ax.lines]
    assert [[estimate.low, 0.5], [estimate.high, 0.5]] in drawn
    assert [[estimate.mean, 0.5]] in drawn
    assert [[0.05, 0], [0.05, 1]] in drawn
    low, high = ax.get_xlim()
    assert low < min(0, estimate.low)
    assert high > max(0.05, estimate.high)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 2
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(ax.figure.bbox.x0 <= box.x0 and box.x1 <= ax.figure.bbox.x1 for box in boxes)


def test_zones_of_certainty_meet_where_the_interval_would_touch_the_margin():
    ax = certainty(ESTIMATES["open"], margin=0.05)
    named = {text.get_text(): area.get_datalim(ax.transData) for text, area in zip(ax.texts, ax.collections, strict=True)}
    assert list(named) == ["honest", "cannot tell", "encodes"]
    assert named["honest"].x1 == named["cannot tell"].x0 == pytest.approx(0.05 - (0.097 - 0.06))
    assert named["cannot tell"].x1 == named["encodes"].x0 == pytest.approx(0.05 + (0.06 - 0.025))


def test_certainty_of_nothing_is_refused():
    with pytest.raises(ValueError, match="nan"):
        certainty(Estimate(np.nan, np.nan, np.nan, 0), margin=0.05)


def test_kept_tradeoff_is_sorted_and_marks_the_explanation():
    ax = kept_tradeoff(KEPT, own=(1.4, 0.8, 0.75, 0.86), every=0.9)
    curve, level, bar, mark = ax.lines
    assert curve.get_xydata().tolist() == [[0, 0.5], [1, 0.7], [2, 0.9]]
    assert list(level.get_ydata()) == [0.9, 0.9]
    assert bar.get_xydata().tolist() == [[1.4, 0.75], [1.4, 0.86]]
    assert mark.get_xydata().tolist() == [[1.4, 0.8]]
    assert [text.get_text() for text in ax.get_legend().get_texts()][2] == "this explanation: 1.4 features, 80.0%"
    band = ax.collections[0].get_datalim(ax.transData)
    assert (band.x0, band.y0, band.x1, band.y1) == pytest.approx((0, 0.45, 2, 0.95))


def test_kept_tradeoff_of_a_curve_alone():
    ax = kept_tradeoff(KEPT.iloc[:1])
    assert len(ax.lines) == 1
    with pytest.raises(ValueError, match=r"not \['high'\]"):
        kept_tradeoff(KEPT.drop(columns="high"))


@pytest.mark.parametrize("draw", [honesty, truth_tradeoff, cost], ids=lambda f: f.__name__)
def test_tables_that_lack_something_are_refused(draw):
    with pytest.raises(ValueError, match=r"columns \['method'\] but not \["):
        draw(pd.DataFrame({"method": ["realx"]}))
    with pytest.raises(ValueError, match="no row"):
        draw(pd.concat([HONESTY, TRUTH, COST]).iloc[:0])


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_save_writes_the_same_bytes_again(kind, make, tmp_path):
    one, two = (save(row_bars(make(), 0), tmp_path / "deep" / f"{n}.{kind}").read_bytes() for n in (1, 2))
    assert one == two
    assert len(one) > 1000
    assert len(list((tmp_path / "deep").iterdir())) == 2


def test_save_refuses_other_kinds(make, tmp_path):
    with pytest.raises(ValueError, match=r"\.svg, \.png or \.pdf"):
        save(row_bars(make(), 0), tmp_path / "figure.docx")


def test_a_figure_that_cannot_be_drawn_leaves_the_old_file(make, tmp_path, monkeypatch):
    path = save(row_bars(make(), 0), tmp_path / "figure.svg")
    old = path.read_bytes()
    broken = row_bars(make(), 1)
    monkeypatch.setattr(broken, "draw", lambda renderer: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(broken, path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_names_are_drawn_as_they_are(make, hard_names):
    labels = [label.get_text() for label in row_bars(make(names=hard_names, data="none"), 0).get_yticklabels()]
    svg = to_svg(row_bars(make(names=hard_names, data="none"), 0))
    assert "&lt;script&gt;" in svg
    assert "<script" not in svg
    assert ">price in $ and $</text>" in svg
    assert "日本語" in svg
    assert max(len(label) for label in labels) <= 40
