"""What REBAR draws."""

from typing import NamedTuple

from torch import Tensor


class Coupled(NamedTuple):
    """A hard mask, its relaxation, one more relaxation given the hard mask, and the log-probability of the draw."""

    hard: Tensor  # (*shape, b, d) of bool
    soft: Tensor  # (*shape, b, d), carries gradients
    soft_given_hard: Tensor  # (*shape, b, d), carries gradients
    log_prob: Tensor  # (*shape, b)
