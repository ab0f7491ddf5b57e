import doctest

import numpy as np
import pytest

from lexplain.report import formatting
from lexplain.report.formatting import format_duration, format_number, shorten


def test_examples_run():
    assert doctest.testmod(formatting) == (0, 6)


@pytest.mark.parametrize("value", [0.0, -0.5, 9.999, 10.0, 999.9, -1e12, 1e-9, np.float32(0.25), np.int64(-3)])
def test_numbers_are_near_what_they_say(value):
    assert float(format_number(value).replace(",", "")) == pytest.approx(float(value), rel=0.06, abs=1e-12)


@pytest.mark.parametrize(("value", "said"), [(None, "–"), (np.nan, "–"), (np.inf, "∞"), (-np.inf, "-∞"), (np.True_, "yes"), ("a", "a")])
def test_what_is_no_number_is_said_too(value, said):
    assert format_number(value) == said


@pytest.mark.parametrize("most", [1, 2, 3, 10])
def test_short_is_short(most):
    assert len(shorten("abcdefghijklmnop", most)) == most
    assert shorten("a\x00b\n c") == "a b c"


@pytest.mark.parametrize(
    ("ms", "said"), [(1e-5, "0.01 µs"), (0.999, "999 µs"), (1, "1 ms"), (999, "999 ms"), (59_000, "59 s"), (7.2e6, "120 min")]
)
def test_durations(ms, said):
    assert format_duration(ms) == said
