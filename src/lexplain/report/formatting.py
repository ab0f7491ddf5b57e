"""Names, numbers and durations as text, for figures and pages."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def shorten(text: object, most: int = 28) -> str:
    """One line of printable characters, cut in the middle if it is longer than `most`.

    Example:
        >>> shorten("mean radius"), shorten("a_very_long_column_name", 12)
        ('mean radius', 'a_very…_name')
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    if len(line) <= most:
        return line
    tail = (most - 1) // 2
    return f"{line[: most - 1 - tail]}…{line[len(line) - tail :]}"


def format_number(value: object) -> str:
    """A table cell as text: numbers with about three digits, a dash for missing ones, anything else unchanged.

    Example:
        >>> [format_number(v) for v in (3, 0.91234, 12345.6, 0.0042, float("nan"), True, "honest")]
        ['3', '0.912', '12,346', '0.0042', '–', 'yes', 'honest']
    """
    if value is None:
        return "–"
    if type(value).__name__ in ("bool", "bool_"):  # numpy's bool is not a Python bool
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return str(int(value))
    return _real(float(value)) if isinstance(value, Real) else str(value)


def _real(value: float) -> str:
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.3g}"
    if abs(value) >= 0.01 or value == 0:
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return f"{value:.2g}"


def format_duration(milliseconds: float) -> str:
    """A time in a readable unit.

    Example:
        >>> [format_duration(ms) for ms in (0.0042, 3.14159, 2500, 180_000)]
        ['4.2 µs', '3.1 ms', '2.5 s', '3 min']
    """
    units = ((60_000.0, "min"), (1000.0, "s"), (1.0, "ms"), (0.001, "µs"))
    size, unit = next((pair for pair in units if milliseconds >= pair[0]), units[-1])
    value = milliseconds / size
    return f"{value:.0f} {unit}" if value >= 10 else f"{value:.2g} {unit}"


def pluralise(many: int, one: str, several: str = "") -> str:
    """A number with its noun.

    Example:
        >>> pluralise(1, "row"), pluralise(1200, "row")
        ('1 row', '1,200 rows')
    """
    return f"{many:,} {one if many == 1 else several or one + 's'}"


def some_of(some: int, of_all: int, one: str) -> str:
    """A number of rows or images, with their total number if that differs.

    Example:
        >>> some_of(3, 40, "row"), some_of(40, 40, "row")
        ('3 of 40 rows', '40 rows')
    """
    return pluralise(some, one) if some == of_all else f"{some} of {pluralise(of_all, one)}"


def format_nats(value: float) -> str:
    """A number of nats, without the rounding errors of 0.

    Example:
        >>> format_nats(0.0056), format_nats(-4.8e-9)
        ('0.0056', '0.000')
    """
    return format_number(round(float(value), 6) + 0.0)


def describe_choice(path: pd.DataFrame) -> str:
    """The chosen point of a path as text, with its price and its cost."""
    point = path[path["chosen"]].iloc[0]
    kept = f"keeps {point['kept']:.1f} features at {format_nats(point['price'])} nats each"
    interval = f"[{format_nats(point['cost_low'])}, {format_nats(point['cost_high'])}]"
    return f"{kept}; predictions change by {format_nats(point['cost'])} nats {interval}"
