"""How few features make a model's answer hold: query the model on rows whose other features come from other rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..bars import bars
from ..core.contracts import Encoded, Features, RawRows
from ..core.rows import take_rows
from ..imputers import Donors
from ..models import QueriedModel

FIRST_DRAWS = 8  # a test ends after these if too many have failed already
SIZE_DRAWS, PRUNE_DRAWS, CONFIRM_DRAWS = 32, 64, 96
BLOCKS = 16  # features are pruned and given back one by one, or in this many blocks if more are kept
AGAIN = 32  # rows that are queried twice, to see whether the model repeats its answers
WITHIN = 0.2  # standard deviations of the model's outputs by which a real value may move
ROWS_AT_ONCE = 1000
KEPT, FIRST_PRUNE, FIRST_CONFIRM = 0, 1, 1 + BLOCKS  # numbers of tests, each with its own draws


class VerifyWarning(UserWarning):
    """The model was queried, but what was measured should not be trusted."""


class Verified(NamedTuple):
    """The features that rows keep, and how far the model's answer holds."""

    mask: Tensor  # (b, d) of bool
    holds: Tensor  # (b,) share of draws in which the answer holds
    holds_se: Tensor  # (b,) its standard error
    verified: Tensor  # (b,) of bool: whether that is enough
    model_rows: Tensor  # (b,) number of queries of the model


@dataclass(frozen=True)
class Verifier:
    """Find the smallest set of features, along an order of the features, under which a model's answer holds.

    The answer holds in a draw if the model gives the same class, or a similar value, when the features that are not kept take the values
    of a donor: one of the background rows that are nearest on the kept features.

    Args:
        query: The model.
        features: Fitted features.
        background: Raw rows to draw donors from.
        real: Whether the output is a real value.
        holds: Share of draws in which the answer must hold.
        within: How far the output may move: a real value in standard deviations, the probability of the predicted class in points of
            probability. None: `WITHIN` for real values; the predicted class must stay the same.
        spread: Standard deviation of the model's outputs on training rows. None: on the background rows.
        max_model_rows: Maximum number of queries per row. None: no limit.
        max_rows: Maximum number of rows that are composed at once.
        seed: Seed of the draws. The draws of a row depend on it and on the row's content only.
    """

    query: QueriedModel
    features: Features
    background: RawRows
    real: bool
    holds: float = 0.95
    within: float | None = None
    spread: float | None = None
    max_model_rows: int | None = None
    max_rows: int = 100_000
    seed: int = 0

    @cached_property
    def donors(self) -> Donors:
        """The imputer that selects donors."""
        return Donors.fit(self.features.encode(self.background).x)

    @cached_property
    def background_outputs(self) -> Tensor:
        """The model's outputs (m, c) for the background rows."""
        return self.outputs(self.background, again=True)

    def outputs(self, rows: RawRows, *, again: bool = False) -> Tensor:
        """The model's outputs (n, c) for raw rows. again: whether the same rows may come again."""
        values = np.ascontiguousarray(self.query(rows, again=again))
        return torch.as_tensor(values, dtype=torch.float64).reshape(len(values), -1)

    def answers(self, outputs: Tensor, first: Tensor, index: Tensor) -> Tensor:
        """Whether outputs (n, m, c) give the answer of the first outputs (n, c), whose predicted class is `index` (n,)."""
        if not self.real and self.within is None:
            return outputs.argmax(2) == index[:, None]
        moved = outputs.gather(2, index[:, None, None].expand(-1, outputs.shape[1], 1))[..., 0] - first.gather(1, index[:, None])
        return moved.abs() <= self._most

    @cached_property
    def _most(self) -> float:
        """How far the output may move."""
        within = WITHIN if self.within is None else self.within
        if not self.real:
            return within
        return within * (float(self.background_outputs.std(correction=0)) if self.spread is None else self.spread)

    def __call__(self, X: RawRows, order: Tensor, mask: Tensor | None = None) -> Verified:
        """Verify rows.

        Args:
            X: Raw rows.
            order: Scores (b, d); features are added from the highest score to the lowest.
            mask: Masks (b, d) to measure. None: the smallest set is searched.
        """
        encoded, outputs = self.features.encode(X), self.outputs(X, again=True)
        self._repeats(X, outputs)
        parts = []
        size = max(1, min(ROWS_AT_ONCE, self.max_rows // CONFIRM_DRAWS))
        with bars(lambda speed, _: f"{speed:,.0f} rows/s", transient=True) as bar:
            task = bar.add_task("verify", total=len(outputs))
            for start in range(0, len(outputs), size):
                rows = slice(start, start + size)
                some = Encoded(encoded.x[rows], None if encoded.valid is None else encoded.valid[rows])
                search = _Search(self, take_rows(X, np.arange(len(outputs))[rows]), some, outputs[rows], order[rows])
                parts.append(search.smallest() if mask is None else search.measured(mask[rows]))
                bar.update(task, advance=len(some.x))
        return Verified(*(torch.cat(column) for column in zip(*parts, strict=True)))

    def _repeats(self, X: RawRows, outputs: Tensor) -> None:
        """Warn if the model answers the same rows differently when it is queried again."""
        again = self.outputs(take_rows(X, np.arange(min(AGAIN, len(outputs)))))
        differs = ((again - outputs[: len(again)]).abs() > 1e-3 * outputs.abs().max()).any(1)
        if differs.any():
            warnings.warn(
                f"the model changes its answer between calls: {int(differs.sum())} of {len(again)} rows that were queried twice got other "
                "outputs, so what holds cannot be measured exactly; fix the model's random seed, or switch it to evaluation mode",
                VerifyWarning,
                stacklevel=4,
            )


class _Search:
    """The search for the kept features of some rows, which are tested together."""

    def __init__(self, verifier: Verifier, X: RawRows, encoded: Encoded, outputs: Tensor, order: Tensor) -> None:
        self.verifier, self.X, self.x, self.outputs = verifier, X, encoded.x, outputs
        self.index = torch.zeros(len(outputs), dtype=torch.int64) if verifier.real else outputs.argmax(1)
        self.valid = torch.ones(order.shape, dtype=torch.bool) if encoded.valid is None else encoded.valid
        ranked = order.double().masked_fill(~self.valid, -torch.inf).argsort(dim=1, descending=True, stable=True)
        self.place = ranked.argsort(1)  # (b, d): 0 for the first feature of the order
        self.count = self.valid.sum(1)
        self.seeds = _seeds(encoded.x, verifier.seed)
        self.model_rows = torch.ones(len(outputs), dtype=torch.int64)
        self.ended = torch.zeros(len(outputs), dtype=torch.bool)  # at the limit of queries
        self.share = torch.ones(len(outputs), dtype=torch.float64)  # of the set that is kept so far; 1 if all features are kept
        self.draws = torch.zeros(len(outputs), dtype=torch.int64)  # that `share` was measured with; 0: exact

    def measured(self, mask: Tensor) -> Verified:
        """How far the answer holds under masks (b, d)."""
        rows = (~(mask | ~self.valid).all(1)).nonzero()[:, 0]
        self._test(rows, mask[rows], CONFIRM_DRAWS, FIRST_CONFIRM, whole=True)
        return self._result(mask & self.valid, (self.share >= self.verifier.holds) & ~self.ended)

    def smallest(self) -> Verified:
        """The smallest set of features that holds: a prefix of the order, pruned and confirmed."""
        mask = self._pruned(self._prefix())
        return self._confirmed(mask)

    def _prefix(self) -> Tensor:
        """The sizes (b,) of the smallest prefixes that hold, by doubling and bisection; all features if no smaller prefix holds."""
        low, high = torch.zeros_like(self.count), self.count.clone()
        empty = self.verifier.answers(self.verifier.background_outputs.expand(len(high), -1, -1), self.outputs, self.index).double().mean(1)
        holds = (empty >= self.verifier.holds) & (high > 0)
        high[holds], self.share[holds], self.draws[holds] = 0, empty[holds], len(self.verifier.background)
        size = torch.ones_like(high)
        while True:
            rows = ((low + 1 < high) & ~self.ended).nonzero()[:, 0]
            if len(rows) == 0:
                return high
            passed = self._test(rows, self.place[rows] < size[rows, None], SIZE_DRAWS, KEPT)
            tested = rows[~self.ended[rows]]
            passed = passed[~self.ended[rows]]
            high[tested[passed]], low[tested[~passed]] = size[tested[passed]], size[tested[~passed]]
            doubled = 2 * low.clamp_min(1)
            size = torch.where((high == self.count) & (doubled < high), doubled, (low + high) // 2)

    def _pruned(self, size: Tensor) -> Tensor:
        """Masks (b, d) of prefixes without the features that can be spared, tried from the last of the order."""
        mask = (self.place < size[:, None]) & self.valid
        width = (size + BLOCKS - 1) // BLOCKS
        for block in range(BLOCKS):
            end = size - block * width
            without = mask & ~((self.place < end[:, None]) & (self.place >= (end - width)[:, None]))
            rows = ((end > 0) & without.any(1) & ~self.ended).nonzero()[:, 0]
            passed = self._test(rows, without[rows], PRUNE_DRAWS, FIRST_PRUNE + block)
            mask[rows[passed]] = without[rows[passed]]
        return mask

    def _confirmed(self, mask: Tensor) -> Verified:
        """Confirm masks (b, d) with fresh draws; where they fail, give back the next features of the order and try again."""
        open_ = mask.any(1) & (mask != self.valid).any(1) & ~self.ended
        width = (self.count + BLOCKS - 1) // BLOCKS if mask.shape[1] > 2 * BLOCKS else torch.ones_like(self.count)
        test = FIRST_CONFIRM
        while open_.any():
            rows = open_.nonzero()[:, 0]
            passed = self._test(rows, mask[rows], CONFIRM_DRAWS, test)
            rest = rows[~passed]
            hidden = torch.where(mask[rest] | ~self.valid[rest], mask.shape[1], self.place[rest])
            mask[rest] |= (hidden.argsort(1).argsort(1) < width[rest, None]) & (hidden < mask.shape[1])
            full = rest[(mask[rest] == self.valid[rest]).all(1)]
            self.draws[full] = 0
            open_[rows[passed]] = open_[full] = False
            open_ &= ~self.ended
            test += 1
        return self._result(mask, ~self.ended)

    def _result(self, mask: Tensor, verified: Tensor) -> Verified:
        self.share[(mask == self.valid).all(1)] = 1.0
        self.share[self.ended & (mask != self.valid).any(1)] = torch.nan  # not confirmed
        smoothed = (self.share * self.draws + 1) / (self.draws + 2)  # so that the error is not 0 where all draws agree
        error = torch.where(self.draws > 0, (smoothed * (1 - smoothed) / self.draws.clamp_min(1)).sqrt(), 0.0)
        return Verified(mask, self.share.float(), error.float(), verified, self.model_rows)

    def _test(self, rows: Tensor, mask: Tensor, draws: int, test: int, *, whole: bool = False) -> Tensor:
        """Whether the answer holds often enough (r,) for some rows under masks (r, d).

        Sets `share` where it does, and `ended` where the limit of queries does not allow the test. Unless `whole`, a test ends once too
        many of its draws have failed.
        """
        most, required = self.verifier.max_model_rows, ceil(self.verifier.holds * draws - 1e-9)
        if most is not None:
            self.ended[rows] |= self.model_rows[rows] + draws > most
        held, left = torch.zeros(len(rows), dtype=torch.int64), ~self.ended[rows]
        for first, last in ((0, draws),) if whole else ((0, FIRST_DRAWS), (FIRST_DRAWS, draws)):
            places = left.nonzero()[:, 0]
            if len(places) == 0:
                break
            held[places] += self._held(rows[places], mask[places], first, last, test)
            self.model_rows[rows[places]] += last - first
            left = left & (whole | (held >= required - (draws - last)))
        passed = left & (whole | (held >= required))
        self.share[rows[passed]], self.draws[rows[passed]] = held[passed].double() / draws, draws
        return passed

    def _held(self, rows: Tensor, mask: Tensor, first: int, last: int, test: int) -> Tensor:
        """In how many of the draws from `first` to `last` the answer holds, (r,)."""
        verifier, draws = self.verifier, last - first
        visible = mask | ~self.valid[rows]
        donors = verifier.donors.draw(
            self.x[rows], verifier.features.expand(visible), _uniform(self.seeds[rows.numpy()], test, first, last)
        )
        parts = []
        step = max(1, verifier.max_rows // draws)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            own = take_rows(self.X, rows[some].repeat_interleave(draws).numpy())
            others = take_rows(verifier.background, donors[some].flatten().numpy())
            composed = verifier.features.compose(own, visible[some].repeat_interleave(draws, 0), others)
            outputs = verifier.outputs(composed).reshape(-1, draws, self.outputs.shape[1])
            parts.append(verifier.answers(outputs, self.outputs[rows[some]], self.index[rows[some]]).sum(1))
        return torch.cat(parts)


def _mixed(value: np.ndarray) -> np.ndarray:
    """Pseudo-random whole numbers from whole numbers (splitmix64, Steele, Lea and Flood 2014)."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))


def _seeds(x: Tensor, seed: int) -> np.ndarray:
    """One seed (n,) per row, from its content."""
    bits = (x.flatten(1).float() + 0.0).numpy().view(np.uint32).astype(np.uint64)
    places = np.arange(bits.shape[1], dtype=np.uint64) << np.uint64(32)
    return _mixed(_mixed(bits + places).sum(1, dtype=np.uint64) + np.uint64(seed))


def _uniform(seeds: np.ndarray, test: int, first: int, last: int) -> Tensor:
    """Numbers (n, last - first) in [0, 1) for draws of a test, by row."""
    draws = np.arange(first, last, dtype=np.uint64) + (np.uint64(test) << np.uint64(32))
    return torch.from_numpy((_mixed(seeds[:, None] + _mixed(draws)[None]) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
