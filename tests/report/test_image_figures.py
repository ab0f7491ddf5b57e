from dataclasses import replace
from types import SimpleNamespace

import matplotlib.text
import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from lexplain import Explainer, Explanation
from lexplain.features import Patches
from lexplain.imputers import Constant, Marginal
from lexplain.report import (
    feature_rates,
    image_grid,
    image_kept,
    image_overlay,
    image_scores,
    imputation_grid,
    row_bars,
    selection_map,
    to_svg,
)
from lexplain.report.figures.canvas import ORANGE
from lexplain.report.images.picture import CAPTIONS, HIDDEN, scale_of

KINDS = {
    "grey": {},
    "colour": {"channels": 3, "layout": "NHWC"},
    "patches, cut at the edge": {"channels": 3, "layout": "NCHW", "patches": Patches((4, 3), layout="NCHW")},
    "each channel": {"channels": 3, "layout": "NCHW", "patches": Patches(2, layout="NCHW", each_channel=True)},
    "bytes": {"dtype": "uint8"},
}
ALONE = {"image_overlay": image_overlay, "image_kept": image_kept, "image_scores": image_scores}


def picture(ax):
    (image,) = ax.images
    return np.asarray(image.get_array())


def blocks(enlarged, shape):
    """An enlarged picture (rows, columns, 3) as the squares (image rows, image columns, pixels, 3) that image pixels became."""
    times = scale_of(*shape[-2:])
    squares = enlarged.reshape(shape[-2], times, shape[-1], times, 3)
    return squares.transpose(0, 2, 1, 3, 4).reshape(shape[-2], shape[-1], -1, 3)


def as_shown(explanation, row):
    """The image (rows, columns, 3) in [0, 1], by hand."""
    image = explanation.features.encode(explanation.data).x[row].numpy()
    return np.stack([image[k % len(image)] for k in range(3)], -1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_keeps_its_value_and_what_is_hidden_is_neither_black_nor_white_nor_grey(kind, make_pictures):
    explanation = make_pictures(**KINDS[kind])
    shape = explanation.features.shape
    squares, image = blocks(picture(image_kept(explanation, 2)), shape), as_shown(explanation, 2)
    raw = explanation.features.expand(explanation.mask[2]).numpy()
    seen = np.stack([raw[k % len(raw)] for k in range(3)], -1)  # (rows, columns, 3)
    assert seen.any()
    assert not seen.all()
    for r, c in np.argwhere(seen.all(-1)).tolist():
        assert squares[r, c] == pytest.approx(np.broadcast_to(image[r, c], squares[r, c].shape), abs=1e-6)
    for r, c in np.argwhere(~seen.any(-1)).tolist():
        colours = np.unique(squares[r, c], axis=0)
        assert len(colours) == 2  # stripes, in every hidden pixel
        assert (np.ptp(colours, axis=1) > 0.1).all()  # no grey
        assert colours.min() > 0.3  # not like black
        assert colours.max(0).min() < 0.75  # not like white
    for r, c in np.argwhere(seen.any(-1) & ~seen.all(-1)).tolist():  # a stripe of hidden, a stripe of what is kept and its mean
        stripe = squares[r, c][~np.isclose(squares[r, c], HIDDEN[1]).all(-1)]
        expected = np.where(seen[r, c], image[r, c], image[r, c][seen[r, c]].mean())
        assert 0 < len(stripe) < len(squares[r, c])
        assert stripe == pytest.approx(np.broadcast_to(expected, stripe.shape), abs=1e-6)


@pytest.mark.parametrize("draw", ALONE.values(), ids=ALONE)
@pytest.mark.parametrize("channels", [1, 3])
def test_layouts_and_types_give_the_same_picture(draw, channels, make_pictures):
    layouts = ["NCHW", "NHWC", *(["NHW"] if channels == 1 else [])]
    cases = [{"channels": channels, "layout": layout, "dtype": dtype} for layout in layouts for dtype in ("float32", "uint8")]
    drawn = [picture(draw(make_pictures(**case), 1)) for case in cases]
    for other in drawn[1:]:
        np.testing.assert_allclose(other, drawn[0], atol=1e-6)


def test_overlay_is_blue_on_what_is_kept_and_grey_elsewhere(make_pictures):
    explanation = make_pictures(channels=3, layout="NHWC")
    shown, kept = picture(image_overlay(explanation, 0)), explanation.mask[0].reshape(6, 8).numpy()
    assert np.ptp(shown[~kept], axis=-1).max() < 1e-6
    assert (shown[kept][:, 2] - shown[kept][:, 0]).min() > 0.2
    light = as_shown(explanation, 0) @ (0.299, 0.587, 0.114)
    assert np.corrcoef(light[~kept], shown[~kept][:, 0])[0, 1] > 0.999


def borders(region):
    """Every side of a pixel that one pixel of the region has, and not two."""
    sides = {}
    for r, c in np.argwhere(region).tolist():
        corners = [(c - 0.5, r - 0.5), (c + 0.5, r - 0.5), (c + 0.5, r + 0.5), (c - 0.5, r + 0.5)]
        for side in zip(corners, [*corners[1:], corners[0]], strict=True):
            sides[frozenset(side)] = sides.get(frozenset(side), 0) + 1
    return {side for side, times in sides.items() if times == 1}


@pytest.mark.parametrize("draw", ALONE.values(), ids=ALONE)
def test_the_outline_follows_the_truth(draw, make_pictures):
    explanation = make_pictures(channels=3, layout="NCHW", patches=Patches((4, 3), layout="NCHW"))
    truth = torch.rand(6, 6, generator=torch.Generator().manual_seed(0)) > 0.5
    ax = draw(explanation, 4, truth=truth.numpy())
    lines = [found for found in ax.findobj(LineCollection) if to_rgba(ORANGE) in map(tuple, found.get_colors())]
    drawn = [frozenset(map(tuple, side.tolist())) for found in lines for side in found.get_segments()]
    assert set(drawn) == borders(explanation.features.expand(truth)[4, 0].numpy())
    assert len(set(drawn)) == len(drawn) > 4
    assert "true feature" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert not draw(explanation, 4).collections
    with pytest.raises(ValueError, match="6 rows of 6 features"):
        draw(explanation, 4, truth=truth[:3])


def test_values_beyond_0_and_1_are_rescaled_and_the_legend_says_so(make_pictures):
    usual = make_pictures()
    data = usual.data * 6 - 2
    data[5, 0, :2] = -2.0, 4.0  # the scale is that of all the images, not of the one that is drawn
    wide = replace(usual, data=data)
    assert "Values from -2 to 4 are shown as black to white." in image_kept(wide, 0).get_xlabel()
    assert image_kept(usual, 0).get_xlabel() == ""
    kept = wide.mask[0].reshape(6, 8).numpy()
    assert blocks(picture(image_kept(wide, 0)), (6, 8))[kept][:, 0, 0] == pytest.approx((data[0][kept] + 2) / 6, abs=1e-6)
    flat = replace(usual, data=np.full_like(usual.data, 7.0))
    assert (blocks(picture(image_kept(flat, 0)), (6, 8))[kept] == 0).all()


def test_four_channels_are_colour_over_white_and_two_their_mean(make_pictures):
    clear = make_pictures(channels=4, layout="NCHW", mask=torch.ones(6, 48, dtype=torch.bool))
    red, alpha = clear.data[0, 0], clear.data[0, 3]
    assert blocks(picture(image_kept(clear, 0)), (6, 8))[:, :, 0, 0] == pytest.approx(red * alpha + 1 - alpha, abs=1e-6)
    two = make_pictures(channels=2, layout="NCHW", mask=torch.ones(6, 48, dtype=torch.bool))
    assert blocks(picture(image_kept(two, 0)), (6, 8))[:, :, 0, 1] == pytest.approx(two.data[0].mean(0), abs=1e-6)
    assert "The mean of 2 channels is shown." in image_kept(two, 0).get_xlabel()


def test_the_truth_of_pixels_is_drawn_on_patches():
    rows = np.random.default_rng(0).random((2, 4, 6))
    features = Patches(2).fit(rows)
    mask = torch.tensor([[1, 0, 0, 0, 0, 0]] * 2).bool()
    explanation = Explanation(mask.float(), mask, features.names, rows, "sufficient", features)
    pixels = features.expand(mask)[:, 0]  # (2, 4, 6)
    by_patch, by_pixel = (image_grid(explanation, rows=2, truth=truth) for truth in (mask, pixels.flatten(1)))
    assert to_svg(by_patch) == to_svg(by_pixel) == to_svg(image_grid(explanation, rows=2, truth=pixels.numpy()))
    with pytest.raises(ValueError, match=r"truth has shape \(2, 7\), but 2 rows of 6 features"):
        image_grid(explanation, truth=np.ones((2, 7), dtype=bool))


def test_scores_are_darker_where_higher_and_the_bar_says_what_they_are(make_pictures):
    explanation = make_pictures()
    ax = image_scores(explanation, 1)
    light, scores = picture(ax).sum(-1).ravel(), explanation.scores[1].numpy()
    assert np.all(np.diff(light[scores.argsort()]) <= 1e-9)
    (bar,) = ax.child_axes
    assert bar.get_ylabel() == "score,\nabove ½ is kept"
    assert bar.get_ylim() == pytest.approx((0, scores.max()))
    other = replace(explanation, method="shap", scores=explanation.scores - 0.5)
    ax = image_scores(other, 1)
    assert ax.child_axes[0].get_ylabel() == "score"
    signs, shown = other.scores[1].reshape(6, 8).numpy(), picture(ax)
    assert (shown[signs > 0.05][:, 2] > shown[signs > 0.05][:, 0]).all()  # blue
    assert (shown[signs < -0.05][:, 2] < shown[signs < -0.05][:, 0]).all()  # orange


@pytest.mark.parametrize("draw", [*ALONE.values(), row_bars], ids=[*ALONE, "row_bars"])
def test_figures_of_one_image_keep_the_promises_of_figures(draw, make_pictures):
    own = draw(make_pictures(), -1)
    assert isinstance(own, Axes)
    assert own.get_title(loc="left").startswith("Row 5: predicted ")
    assert to_rgba(own.figure.get_facecolor()) == (1, 1, 1, 1)
    assert to_svg(own) == to_svg(draw(make_pictures(), 5))
    given = Figure(figsize=(8, 8)).add_subplot(2, 2, 3)
    assert draw(make_pictures(), 0, ax=given) is given
    with pytest.raises(ValueError, match=r"below 6, counted from 0, got \[6\]"):
        draw(make_pictures(), 6)


def test_rates_are_a_map_of_the_patches(make_pictures):
    explanation = make_pictures(40, patches=Patches(2, layout="NHW"))
    rates = explanation.features.expand(explanation.mask.float().mean(0))[0].numpy()
    light = picture(feature_rates(explanation)).sum(-1)
    assert light.shape == (6, 8)
    assert np.all(np.diff(light.ravel()[rates.ravel().argsort(kind="stable")]) <= 1e-9)
    assert light.min() < light.max()


def test_masks_are_small_pictures_and_the_truth_is_outlined(make_pictures):
    explanation = make_pictures(9)
    ax = selection_map(explanation, truth=explanation.mask)
    blue = np.ptp(picture(ax), axis=-1) > 0.05
    assert blue.sum() == int(explanation.mask.sum())
    assert sorted(int(text.get_text()) for text in ax.texts) == list(range(9))
    sides = sum(len(found.get_segments()) for found in ax.findobj(LineCollection)) / 2  # each on a white one
    assert sides == sum(len(borders(mask.reshape(6, 8).numpy())) for mask in explanation.mask)
    for text in ax.texts:  # each tile holds the mask that its name says
        left, top = (round(place + 0.5) for place in text.get_position())
        assert top >= 1  # the first line has room for its names too
        assert (blue[top : top + 6, left : left + 8] == explanation.mask[int(text.get_text())].reshape(6, 8).numpy()).all()
    assert len(selection_map(explanation, rows=4).texts) == 4


def test_an_imputer_changes_only_what_is_hidden(make_pictures):
    explanation = make_pictures(channels=3, layout="NHWC")
    imputer = Marginal(explanation.features.encode(explanation.data).x)
    parts = (imputer, explanation.features, explanation.mask[2])
    figure = imputation_grid(parts, explanation.data[2], draws=3)
    image, alone, *draws = (picture(ax) for ax in figure.axes)
    kept = explanation.mask[2].reshape(6, 8).numpy()
    assert image == pytest.approx(explanation.data[2])
    assert blocks(alone, (6, 8))[kept][:, 0] == pytest.approx(image[kept])
    assert len(draws) == 3
    for draw in draws:
        assert (draw[kept] == image[kept]).all()
        assert any(np.allclose(draw[~kept], other[~kept]) for other in explanation.data)
    assert len({draw.tobytes() for draw in draws}) > 1
    assert to_svg(figure) == to_svg(imputation_grid(parts, explanation.data[2:3], draws=3))
    assert to_svg(figure) != to_svg(imputation_grid(parts, explanation.data[2], draws=3, seed=1))


def test_an_explainer_says_itself_what_is_kept_and_by_what_it_is_filled(make_pictures):
    explanation = make_pictures()
    features, imputer = explanation.features, Constant(0.5)
    fitted = SimpleNamespace(method_=SimpleNamespace(imputer=imputer), features_=features, explain=lambda X: explanation[[3]])
    assert to_svg(imputation_grid(fitted, explanation.data[3])) == to_svg(
        imputation_grid((imputer, features, explanation.mask[3]), explanation.data[3])
    )
    with pytest.raises(NotFittedError):
        imputation_grid(Explainer(), explanation.data[3])
    with pytest.raises(ValueError, match=r"mask has shape \(1, 5\), but these rows need \(1, 48\)"):
        imputation_grid((imputer, features, torch.ones(5)), explanation.data[3])


def test_grid_has_a_line_an_image_and_a_column_a_view(make_pictures):
    explanation = make_pictures(20)
    said = [explanation.classes[k] for k in explanation.prediction.argmax(1).tolist()]
    labels = [8 if row == 7 and name != 8 else 3 if row == 7 else name for row, name in enumerate(said)]
    imputer = Marginal(explanation.features.encode(explanation.data).x)
    figure = image_grid(explanation, rows=[4, 7, -1], labels=labels, truth=explanation.mask, imputer=imputer, draws=2)
    views = [ax for ax in figure.axes if ax.images]
    assert [ax.get_title() for ax in views if ax.get_title()] == [*CAPTIONS, "imputation 1", "imputation 2"]
    assert len(views) == 18
    names = {ax.get_ylabel(): ax.yaxis.label.get_color() for ax in views if ax.get_ylabel()}
    assert [name.split("\n")[0] for name in names] == ["row 4", "row 7", "row 19"]
    assert [f"true {labels[7]} (wrong)" in name for name in names] == [False, True, False]
    assert list(names.values())[1] == ORANGE
    assert picture(views[0]) == pytest.approx(np.repeat(explanation.data[4][..., None], 3, -1))
    assert (picture(views[7]) == picture(image_kept(explanation, 7))).all()  # columns come one after the other
    assert [bool(ax.findobj(LineCollection)) for ax in views[::3]] == [False, True, True, True, False, False]
    assert figure.get_suptitle() == "Pixels that realx keeps in 3 of 20 images"
    assert to_rgba(figure.get_facecolor()) == (1, 1, 1, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_of_a_grid_is_tiny_or_cut(kind, make_pictures):
    figure = image_grid(make_pictures(**KINDS[kind]), rows=2)
    figure.draw_without_rendering()
    sizes = [text.get_fontsize() for text in figure.findobj(matplotlib.text.Text) if text.get_text() and text.get_visible()]
    assert min(sizes) >= 7.5
    inner = figure.get_tightbbox()
    assert inner.width <= figure.get_figwidth() + 0.5
    assert inner.height <= figure.get_figheight() + 0.5


def test_grid_refuses_what_does_not_fit(make_pictures):
    explanation = make_pictures()
    for rows in (0, [], [6]):
        with pytest.raises(ValueError, match="below 6, counted from 0"):
            image_grid(explanation, rows=rows)
    with pytest.raises(ValueError, match="5"):
        image_grid(explanation, labels=[1] * 5)
    with pytest.raises(ValueError, match="draws"):
        image_grid(explanation, imputer=Constant(0.0), draws=0)


@pytest.mark.parametrize("draw", [*ALONE.values(), lambda e, _: image_grid(e)], ids=[*ALONE, "image_grid"])
def test_what_is_not_of_images_is_refused_in_one_line(draw, make, make_pictures):
    with pytest.raises(TypeError, match=r"features=Patches\(\.\.\.\)") as refused:
        draw(make(), 0)
    assert "\n" not in str(refused.value)
    if draw is not image_scores:
        with pytest.raises(ValueError, match="data=images"):
            draw(make_pictures(data=None), 0)


def test_draws_of_what_are_no_images_are_refused(make):
    with pytest.raises(TypeError, match="Patches"):
        imputation_grid((Constant(0.0), None, torch.ones(4)), np.ones(4))
