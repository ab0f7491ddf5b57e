"""Synthetic data sets with known ground truth: Gaussian columns, and one or two formulas for the log-odds, chosen by a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from lexplain import check
from lexplain.core import Dataset, DataSplit

TARGETS = ("labels", "probabilities", "values")
VALUES_NOISE = 0.1  # standard deviation of the noise on real-valued targets
Column: TypeAlias = NDArray[np.float64]  # (n,)


@dataclass(frozen=True)
class Formula:
    """The log-odds of class 0 against class 1, and the columns that they depend on."""

    columns: tuple[int, ...]
    log_odds: Callable[..., Column]  # takes these columns, each (n,)


@dataclass(frozen=True)
class Synthetic:
    """A synthetic data set. Call it to sample its rows.

    The splits are sampled separately. Fewer rows are the first of more rows, and noise columns do not change the others, so that changing
    `rows` or `noise_columns` changes nothing else.

    Args:
        formulas: One formula for all rows; or two, for rows with a control-flow column below 0 and for the others.
        gap: Shift of the control-flow column, up or down at random in each row.
    """

    name: str
    description: str
    columns: int
    formulas: tuple[Formula, ...]
    control_flow: int | None = None
    gap: float = 0.0

    @property
    def truth_sizes(self) -> tuple[int, ...]:
        """Number of true features; several numbers if it depends on the row."""
        return tuple(sorted({len(formula.columns) + (self.control_flow is not None) for formula in self.formulas}))

    def __call__(
        self, *, rows: int = 10_000, seed: int = 0, noise_columns: int = 0, correlation: float = 0.0, target: str = "labels"
    ) -> Dataset:
        """Sample `rows` training rows, as many test rows, and a tenth (at least 10) for validation.

        Args:
            rows: Number of training rows.
            seed: Random seed; the same seed gives the same rows.
            noise_columns: Number of uninformative standard normal columns to append.
            correlation: ρ of the Toeplitz matrix ρ^|i-j| of the noise of all columns, in [0, 1).
            target: Type of y: `"labels"` (n,), sampled with the true probabilities; `"probabilities"` (n, 2), the true ones;
                or `"values"` (n,), the log-odds of class 0 plus noise of standard deviation 0.1, not standardised. Real values have
                no class probabilities: `DataSplit.probabilities` is None.
        """
        draw_fits(rows, seed, noise_columns, correlation)
        check.one_of(target, TARGETS, "target")
        train, validation, test = (
            self._draw(np.random.default_rng([part, seed]), size, noise_columns, correlation, target)
            for part, size in enumerate((rows, max(rows // 10, 10), rows))
        )
        names = tuple(f"x{j + 1}" for j in range(self.columns + noise_columns))
        return Dataset(self.name, self.description, train, validation, test, names, control_flow=self.control_flow)

    def _draw(self, generator: np.random.Generator, rows: int, noise_columns: int, correlation: float, target: str) -> DataSplit:
        # one stream per purpose, so that sampling more of one does not change the others
        own, noise, sides, answers = generator.spawn(4)
        white = np.concatenate([own.standard_normal((rows, self.columns)), noise.standard_normal((rows, noise_columns))], axis=1)
        z = correlate(white, correlation)
        if self.control_flow is not None:
            z[:, self.control_flow] += self.gap * sides.choice([-1.0, 1.0], rows)
        x = z.astype(np.float32)
        log_odds, truth = self.log_odds_and_truth(x)
        y, probabilities = _answer(log_odds, target, answers)
        return DataSplit(x, y, truth, probabilities)

    def log_odds_and_truth(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The log-odds (n,) of class 0 and the true features (n, D) of rows x (n, D)."""
        exact = x.astype(np.float64)
        side = np.zeros(len(x), dtype=int) if self.control_flow is None else (x[:, self.control_flow] >= 0).astype(int)  # (n,)
        log_odds = np.stack([formula.log_odds(*exact[:, formula.columns].T) for formula in self.formulas])  # (formulas, n)
        true = np.zeros((len(self.formulas), x.shape[1]), dtype=bool)
        for row, formula in zip(true, self.formulas, strict=True):
            row[list(formula.columns)] = True
        if self.control_flow is not None:
            true[:, self.control_flow] = True
        return log_odds[side, np.arange(len(x))], true[side]


def draw_fits(rows: int, seed: int, noise_columns: int, correlation: float) -> None:
    """Check that sizes are integers, that there are enough rows, and that correlation is in [0, 1)."""
    for name, value in (("rows", rows), ("seed", seed), ("noise_columns", noise_columns)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise ValueError(f"{name} must be an integer of at least 0, got {value!r}.")
    check.enough_rows(rows)
    if not 0 <= correlation < 1:
        raise ValueError(f"correlation must be at least 0 (independent columns) and below 1, got {correlation!r}.")


def correlate(white: np.ndarray, correlation: float) -> np.ndarray:
    """Give white noise (n, D) the covariance ρ^|i-j|: each column is ρ times the previous one plus independent noise."""
    z = white.copy()
    for j in range(1, z.shape[1]):
        z[:, j] = correlation * z[:, j - 1] + np.sqrt(1 - correlation**2) * white[:, j]
    return z


def _answer(log_odds: np.ndarray, target: str, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    if target == "values":
        return (log_odds + VALUES_NOISE * generator.standard_normal(len(log_odds))).astype(np.float32), None
    # expit does not overflow, unlike 1 / (1 + exp(l))
    probabilities = np.stack([expit(log_odds), expit(-log_odds)], axis=1).astype(np.float32)  # (n, 2)
    if target == "probabilities":
        return probabilities, probabilities
    return (generator.random(len(log_odds)) < expit(-log_odds)).astype(np.int64), probabilities


def product(x1: Column, x2: Column) -> Column:
    """x1 x2: neither column is informative alone."""
    return x1 * x2


def sphere(x1: Column, x2: Column, x3: Column, x4: Column) -> Column:
    """Squared length minus 4: class 1 is inside the sphere of radius 2."""
    return x1**2 + x2**2 + x3**2 + x4**2 - 4


def additive(x1: Column, x2: Column, x3: Column, x4: Column) -> Column:
    """A sum of nonlinear functions of four columns (INVASE's constants)."""
    return -10 * np.sin(0.2 * x1) + np.abs(x2) + x3 + np.exp(-x4) - 2.4


def steep_additive(x1: Column, x2: Column, x3: Column, x4: Column) -> Column:
    """The same with a sine ten times as high (the constants of L2X's code, which differ from those of its paper)."""
    return -100 * np.sin(0.2 * x1) + np.abs(x2) + x3 + np.exp(-x4) - 2.4


_A, _B, _C = Formula((0, 1), product), Formula((2, 3, 4, 5), sphere), Formula((6, 7, 8, 9), additive)
SWITCHING = (
    Synthetic("s1", "x1·x2 decides where x11 < 0, the length of x3…x6 elsewhere (S1; INVASE's syn4).", 11, (_A, _B), 10),
    Synthetic("s2", "x1·x2 decides where x11 < 0, a sum of bent x7…x10 elsewhere (S2; INVASE's syn5).", 11, (_A, _C), 10),
    Synthetic("s3", "The length of x3…x6 decides where x11 < 0, a sum of bent x7…x10 elsewhere (S3; INVASE's syn6).", 11, (_B, _C), 10),
    Synthetic("a", "x1·x2 decides everywhere (INVASE's syn1).", 11, (_A,)),
    Synthetic("b", "The length of x3…x6 decides everywhere (INVASE's syn2).", 11, (_B,)),
    Synthetic("c", "A sum of bent x7…x10 decides everywhere (INVASE's syn3).", 11, (_C,)),
)
"""S1 to S3, whose formula depends on the sign of x11, and the three formulas alone.

Labels follow P(y = 1 | x) = 1 / (1 + exp(l)): class 1 has low log-odds l.

Reference:
    Jethani, Sudarshan, Aphinyanaphongs and Ranganath, "Have We Learned to Explain?: How Interpretability Methods Can Learn to Encode
    Predictions in their Interpretations", 2021, section 6.3; Yoon, Jordon and van der Schaar, "INVASE: Instance-wise Variable Selection
    using Neural Networks", 2019, synthetic data experiments (the constants are those of its code).
"""

_FRONT, _BACK = (0, 1, 2, 3), (4, 5, 6, 7)
L2X = (
    Synthetic("xor", "x1·x2 decides, as in an exclusive or (L2X).", 10, (Formula((0, 1), product),)),
    Synthetic("orange_skin", "The length of x1…x4 decides: class 1 is the flesh, class 0 the skin (L2X).", 10, (Formula(_FRONT, sphere),)),
    Synthetic("nonlinear_additive", "A sum of bent x1…x4 decides, nearly without noise (L2X).", 10, (Formula(_FRONT, steep_additive),)),
    Synthetic(
        "switch",
        "The length of x1…x4 decides where x10 is positive, a sum of bent x5…x8 where it is negative (L2X).",
        10,
        (Formula(_BACK, steep_additive), Formula(_FRONT, sphere)),
        control_flow=9,
        gap=3.0,
    ),
)
"""L2X's four sets, with the constants, signs and column order of the authors' code if it differs from the paper.

The sign of x10 chooses the formula of `switch`, so that the ground truth is a function of the row. In the authors' code it is the component
that x10 was sampled from, which has the other sign in one row of 740.

Reference:
    Chen, Song, Wainwright and Jordan, "Learning to Explain: An Information-Theoretic Perspective on Model Interpretation", 2018,
    section 4.1, and the code released with it.
"""
