import numpy as np
import pytest
from made_images import SEEN, TESTED, label_of
from sklearn.linear_model import LogisticRegression

from lexplain.data import load_data
from lexplain.data.panels import side_by_side

PANELS = {"sp_mnist": 0, "sp_fashion": 1}  # which set decides


def parts_of(data):
    return data.train, data.validation, data.test


def panels_of(part):
    """The panel that the truth names and the other (n, side, side), and whether the first is on the left."""
    n, _, side, width = part.x.shape
    assert width == 2 * side
    halves = part.x.reshape(n, side, 2, side).transpose(2, 0, 1, 3)  # left, right
    left = part.truth.reshape(n, side, 2, side)[:, 0, 0, 0]
    return np.where(left[:, None, None], halves[0], halves[1]), np.where(left[:, None, None], halves[1], halves[0]), left


@pytest.mark.parametrize("name", [*PANELS, "sp_digits"])
def test_the_truth_is_one_whole_panel(name, made_images):
    for part in parts_of(load_data(name)):
        side = part.x.shape[2]
        left = np.tile(np.repeat([True, False], side), side)
        assert {tuple(row) for row in part.truth.tolist()} == {tuple(left.tolist()), tuple((~left).tolist())}


@pytest.mark.parametrize("name", PANELS)
def test_image_i_lies_beside_image_i(name, made_images):
    kind = PANELS[name]
    seen = []
    for part, tested in zip(parts_of(load_data(name, seed=7)), (0, 0, 1), strict=True):
        who, whom = (np.rint(panel[:, 0, :3] * 255).astype(int) for panel in panels_of(part)[:2])
        assert np.array_equal(who[:, 0], whom[:, 0])
        assert (who[:, 1:] == [kind, tested]).all()
        assert (whom[:, 1:] == [1 - kind, tested]).all()
        assert np.array_equal(part.y, label_of(who[:, 0], kind))
        seen += [(i, tested) for i in who[:, 0]]
    assert sorted(seen) == sorted([(i, 0) for i in range(SEEN)] + [(i, 1) for i in range(TESTED)])


def test_by_hand():
    target, other = np.arange(1, 9).reshape(2, 1, 2, 2), -np.arange(1, 9).reshape(2, 1, 2, 2)

    class Coin:
        def random(self, n):
            return np.array([0.4999, 0.5])

    x, truth = side_by_side(target, other, Coin())
    assert x[0, 0].tolist() == [[1, 2, -1, -2], [3, 4, -3, -4]]
    assert x[1, 0].tolist() == [[-5, -6, 5, 6], [-7, -8, 7, 8]]
    assert truth.astype(int).tolist() == [[1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 0, 1, 1]]


def test_the_order_is_a_fair_coin():
    blank = np.zeros((20_000, 1, 1, 1), dtype=np.uint8)
    left = side_by_side(blank, blank, np.random.default_rng(0))[1][:, 0]
    assert left.mean() == pytest.approx(0.5, abs=4 * 0.5 / 20_000**0.5)
    assert np.corrcoef(left[1:], left[:-1])[0, 1] == pytest.approx(0, abs=4 / 20_000**0.5)


@pytest.mark.parametrize("name", PANELS)
def test_another_seed_changes_the_order_of_the_same_pairs(name, made_images):
    def left_of(seed):
        who, _, left = panels_of(load_data(name, seed=seed).test)
        return dict(zip(np.rint(who[:, 0, 0] * 255).astype(int).tolist(), left.tolist(), strict=True))

    one, other = left_of(1), left_of(2)
    assert set(one) == set(other)
    assert one == left_of(1)
    assert one != other


def test_a_digit_lies_beside_the_pixels_of_another_of_its_side_of_the_split():
    data, plain = load_data("sp_digits", seed=2), load_data("digits", seed=2)
    seen = [(row.tobytes(), int(label)) for part in (plain.train, plain.validation) for row, label in zip(part.x, part.y, strict=True)]
    tested = [(row.tobytes(), int(label)) for row, label in zip(plain.test.x, plain.test.y, strict=True)]
    for part, pool in zip(parts_of(data), (seen, seen, tested), strict=True):
        target, other, _ = panels_of(part)
        assert {(row.tobytes(), int(label)) for row, label in zip(target, part.y, strict=True)} <= set(pool)
        sorted_pool = {np.sort(np.frombuffer(row, np.float32)).tobytes() for row, _ in pool}
        assert {np.sort(row.ravel()).tobytes() for row in other} <= sorted_pool
        assert (other != target).any((1, 2)).all()


def test_which_panel_of_digits_decides_can_be_seen():
    data = load_data("sp_digits")
    sides = [part.truth[:, 0] for part in (data.train, data.test)]
    seen, tested = (part.x.reshape(len(part), -1) for part in (data.train, data.test))
    assert LogisticRegression(max_iter=500).fit(seen, sides[0]).score(tested, sides[1]) > 0.98
    mixed = data.train.y == 3
    assert 0.3 < sides[0][mixed].mean() < 0.7  # the side says nothing of the digit


@pytest.mark.parametrize("name", PANELS)
def test_published_sizes(name, loaded):
    data = loaded(name)
    assert [len(part) for part in parts_of(data)] == [48_000, 12_000, 10_000]
    assert data.train.truth[:, 0].mean() == pytest.approx(0.5, abs=0.01)
    lit = (panels_of(data.test)[0] > 0).mean()
    assert lit == pytest.approx(0.19 if name == "sp_mnist" else 0.5, abs=0.01)
