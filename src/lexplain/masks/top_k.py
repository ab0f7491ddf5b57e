"""Masks with exactly k features."""

from __future__ import annotations

from functools import cached_property
from itertools import permutations
from math import factorial, pi

import torch
from torch import Tensor

from ..core.contracts import CoupledSample
from .noise import exponential, gumbel

OFF = -1e9  # the logit of padding: finite, so that differences of two of them are not NaN
MOST_ORDERS = 5040  # maximum number of orders of a set that log_prob sums over
MOST_SOFTMAXES = 32  # maximum k for successive softmaxes; beyond it they are too slow
SHORT = 32  # number of features below which a row is short
NUDGE = 1e-7  # added to scores, so that of equal scores at the edge only the kept one is above one half
BISECTIONS = 32  # to find the level between k scores and the others to the last bit of float32


def top_k_mask(scores: Tensor, k: int, valid: Tensor | None = None) -> Tensor:
    """Mask of exactly the k highest scores (ties by position), or of all valid ones if there are fewer."""
    return top_k_and_level(scores, k, valid)[0]


def top_k_and_level(scores: Tensor, k: int, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The mask of the k highest scores, and the level (..., 1) between the lowest kept and the highest other score."""
    ranked = scores if valid is None else scores.masked_fill(~valid, float("-inf"))
    best, level = _best(ranked, min(k, scores.shape[-1]))
    mask = torch.zeros_like(scores, dtype=torch.bool).scatter_(-1, best, True)
    if valid is not None:
        mask = mask & valid
    if valid is not None or k >= scores.shape[-1]:  # if all are kept, the level is below all scores
        below = scores.masked_fill(~mask, float("inf")).amin(-1, keepdim=True) - 1
        level = torch.where(level.isfinite(), level, below)
    return mask, level


def edge_scores(logits: Tensor, mask: Tensor, level: Tensor) -> Tensor:
    """Distances of log-weights (..., d) to the level at the edge of the kept features, in (0, 1): above one half if a feature is kept.

    An arctangent has long tails; with a logistic curve, scores far above the edge would become equal.
    """
    distance = (logits - level).to(torch.promote_types(logits.dtype, torch.float32))
    return torch.rsub(distance.atan(), 0.5 - NUDGE, alpha=(4 * NUDGE - 1) / pi).add_(mask, alpha=2 * NUDGE)  # few kernels, for speed


def _best(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Indices (..., k) of the highest scores, ties by position, and the middle (..., 1) between the last of them and the next, if any."""
    # On a CPU, topk is several times faster than sorting long rows; on a GPU, the check for ties would synchronise.
    if scores.device.type == "cpu" and k < scores.shape[-1] and scores.shape[-1] >= SHORT:
        best = scores.topk(k + 1, dim=-1)
        if bool((best.values[..., k - 1] > best.values[..., k]).all()):  # topk does not break ties by position
            return best.indices[..., :k], best.values[..., k - 1 :].mean(-1, keepdim=True)
    values, order = scores.sort(dim=-1, descending=True, stable=True)
    if k == scores.shape[-1]:
        return order, torch.full_like(values[..., :1], float("-inf"))
    return order[..., :k], values[..., k - 1 : k + 1].mean(-1, keepdim=True)


def among_valid(mask: Tensor, k: int, valid: Tensor | None) -> Tensor:
    """Masks (..., d), hard or soft, with padding hidden, and with all valid features visible in rows with at most k of them."""
    if valid is None:
        return mask
    return torch.where(_at_most(k, valid), valid.to(mask.dtype), mask.masked_fill(~valid, 0))


def _at_most(k: int, valid: Tensor) -> Tensor:
    """Rows (..., 1) with at most k valid features, which are all visible whatever their scores."""
    return valid.sum(-1, keepdim=True) <= k


def relaxed_top_k(perturbed: Tensor, k: int, temperature: float, valid: Tensor | None = None) -> Tensor:
    """A soft k-hot vector in (0, 1) that sums to k: sigmoids around the level that k valid scores exceed.

    The successive softmaxes of Xie and Ermon sum to k too, but their entries go beyond 1 unless the temperature is very low.

    Args:
        perturbed: Scores (..., d); those of padding must be finite and have no effect.
        k: Sum of the result; rows with at most k valid features have 1 for each.
        temperature: Temperature of the sigmoids.
        valid: (b, d) of bool; False is padding, which gets 0.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix D (relaxed subsets); Amos et al., The Limited
        Multi-Label Projection Layer, 2019, section 3, for this projection and its gradient.
    """
    with torch.no_grad():
        # Padding must not widen the bracket: bisections from -1e9 would stop far from the level.
        lowest = perturbed if valid is None else perturbed.masked_fill(~valid, float("inf"))
        highest = perturbed if valid is None else perturbed.masked_fill(~valid, float("-inf"))
        low = lowest.amin(-1, keepdim=True) - 20 * temperature
        high = highest.amax(-1, keepdim=True) + 20 * temperature
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            soft = torch.sigmoid((perturbed - middle) / temperature)
            soft = soft if valid is None else soft.masked_fill(~valid, 0)
            above = soft.sum(-1, keepdim=True) > k
            low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return _about_level(perturbed, (low + high) / 2, k, temperature, valid)


def successive_top_k(perturbed: Tensor, k: int, temperature: float, valid: Tensor | None = None) -> Tensor:
    """A soft k-hot vector from k softmaxes, each without the earlier winners; clipped to [0, 1], with the gradient of the sum.

    Its gradient reaches features far from the level between kept and not kept, where sigmoids are flat. Args as for `relaxed_top_k`.

    Reference:
        Xie and Ermon, Reparameterizable Subset Sampling via Continuous Relaxations, 2019, algorithm 2.
    """
    eps = torch.finfo(perturbed.dtype).tiny
    alpha, total = perturbed / temperature, torch.zeros_like(perturbed)
    if valid is not None:
        alpha = alpha.masked_fill(~valid, OFF)
    for _ in range(k):
        share = alpha.softmax(-1)
        total = total + share
        # The reference adds log(1 - share) to the scores before dividing by the temperature.
        alpha = alpha + torch.log((1 - share).clamp_min(eps)) / temperature
    return among_valid(total + (total.clamp(0, 1) - total).detach(), k, valid)


def threshold_top_k(perturbed: Tensor, k: int, temperature: float, valid: Tensor | None = None) -> Tensor:
    """Sigmoids around the middle between the k-th valid score and the next: close to `relaxed_top_k`, without a search for the level.

    The sum is k if scores are symmetric around the level; gradients do not change the sum. Args as for `relaxed_top_k`.
    """
    if k >= perturbed.shape[-1]:
        return among_valid(torch.ones_like(perturbed) + 0 * perturbed, k, valid)
    ranked = perturbed.detach() if valid is None else perturbed.detach().masked_fill(~valid, float("-inf"))
    best = ranked.topk(k + 1, dim=-1).values
    return _about_level(perturbed, best[..., k - 1 :].mean(-1, keepdim=True), k, temperature, valid)


def _about_level(perturbed: Tensor, level: Tensor, k: int, temperature: float, valid: Tensor | None) -> Tensor:
    """Sigmoids of the distance to a level that moves with the scores so that the sum is constant (implicit function theorem)."""
    with torch.no_grad():
        if valid is not None:  # a row of few features has no level; infinity would make gradients NaN
            level = level.masked_fill(_at_most(k, valid), 0)
        soft = torch.sigmoid((perturbed - level) / temperature)
        slope = soft * (1 - soft)
        slope = slope if valid is None else slope.masked_fill(~valid, 0)
        slope = slope / slope.sum(-1, keepdim=True).clamp_min(torch.finfo(perturbed.dtype).tiny)
    level = level + (slope * (perturbed - perturbed.detach())).sum(-1, keepdim=True)  # a term of value 0 that carries its gradient
    return among_valid(torch.sigmoid((perturbed - level) / temperature), k, valid)


def chance_of_a_win(logits: Tensor, k: int) -> Tensor:
    """Probability (b, d) of being sampled in at least one of k independent draws."""
    short = logits.shape[-1] < SHORT and logits.device.type == "cpu"
    # On a CPU, a softmax over columns is six times faster than over short rows, and four times slower than over long rows.
    share = logits.T.softmax(0).T.contiguous() if short else logits.softmax(-1)
    return 1 - (1 - share) ** k


class ShowsK:
    """Mode and scores of distributions over k features: those with the highest weights."""

    logits: Tensor
    k: int
    valid: Tensor | None

    @cached_property
    def _kept(self) -> tuple[Tensor, Tensor]:
        return top_k_and_level(self.logits, self.k, self.valid)

    @property
    def mode(self) -> Tensor:
        """The k features of highest weight."""
        return self._kept[0]

    @property
    def scores(self) -> Tensor:
        """Distance (b, d) of each feature to the edge of the features that `mode` keeps, in (0, 1): above one half is kept."""
        scores = edge_scores(self.logits, *self._kept)
        return scores if self.valid is None else scores * self.valid


class TopK(ShowsK):
    """The k features with the highest noisy scores are visible (Plackett-Luce, weighted reservoir sampling).

    Args:
        logits: Log-weights (b, d).
        k: Number of visible features; all valid features if there are fewer.
        valid: (b, d) of bool; False is padding, which is never visible.
        temperature: Temperature of the relaxed masks.

    Reference:
        Senetaire et al., Explainability as Statistical Inference, 2023, appendix D; Kool et al., Stochastic Beams, 2019.
    """

    def __init__(self, logits: Tensor, k: int, valid: Tensor | None = None, *, temperature: float = 0.5) -> None:
        self.logits = logits if valid is None else logits.masked_fill(~valid, OFF)
        self.k, self.valid, self.temperature = min(k, logits.shape[-1]), valid, temperature

    def _hard(self, perturbed: Tensor) -> Tensor:
        return top_k_mask(perturbed.detach(), self.k, self.valid)

    def _soft(self, perturbed: Tensor) -> Tensor:
        return relaxed_top_k(perturbed, self.k, self.temperature, self.valid)

    def _perturbed(self, shape: tuple[int, ...]) -> Tensor:
        return self.logits + gumbel(self.logits.detach(), shape)

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample hard masks (*shape, b, d) with exactly k ones."""
        return self._hard(self._perturbed(shape))

    def draw(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Sample hard masks and the log-probability of the ORDER they were sampled in: unbiased for any function of the set."""
        perturbed = self._perturbed(shape).detach()
        return self._hard(perturbed), self.order_log_prob(perturbed.argsort(dim=-1, descending=True))

    def paired(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Sample hard masks and soft masks with the same noise, for the straight-through gradient."""
        perturbed = self._perturbed(shape)
        soft = successive_top_k if self.k <= MOST_SOFTMAXES else threshold_top_k
        return self._hard(perturbed), soft(perturbed, self.k, self.temperature, self.valid)

    def relaxed(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample soft masks that sum to k and carry gradients to the logits."""
        return self._soft(self._perturbed(shape))

    def _chosen_and_rest(self, order: Tensor) -> tuple[Tensor, Tensor]:
        """Log-weights of the first k of an order, and of all features left when each was sampled, both (*shape, b, k)."""
        ordered = self.logits.expand(order.shape).gather(-1, order)
        left = ordered.flip(-1).logcumsumexp(-1).flip(-1)
        return ordered[..., : self.k], left[..., : self.k]

    def order_log_prob(self, order: Tensor) -> Tensor:
        """Log-probability (*shape, b) that the first k of an order (*shape, b, d) are sampled in this order."""
        chosen, left = self._chosen_and_rest(order)
        terms = chosen - left
        if self.valid is not None:
            terms = terms * self.valid.expand(order.shape).gather(-1, order)[..., : self.k]
        return terms.sum(-1)

    def log_prob(self, mask: Tensor) -> Tensor:
        """Log-probability of a SET: the sum over all orders of its members, so only for small k."""
        if factorial(self.k) > MOST_ORDERS:
            raise ValueError(
                f"The probability of a set of {self.k} features is a sum over {factorial(self.k)} orders. Use `draw`, which needs only one."
            )
        members = mask.float().argsort(dim=-1, descending=True, stable=True)
        orders = []
        for order in permutations(range(self.k)):
            index = torch.tensor([*order, *range(self.k, mask.shape[-1])], device=mask.device)
            orders.append(self.order_log_prob(members[..., index]))
        # Padding that completes a sample can be in any order: count one. Sets of another size, or with padding, are impossible.
        valid = torch.ones_like(mask, dtype=torch.bool) if self.valid is None else self.valid
        size = valid.sum(-1).clamp_max(self.k)
        total = torch.stack(orders).logsumexp(0) - torch.lgamma(torch.tensor(self.k + 1.0)) + torch.lgamma(size + 1.0)
        return total.masked_fill((mask.sum(-1) != size) | (mask.bool() & ~valid).any(-1), float("-inf"))

    def coupled(self, shape: tuple[int, ...] = ()) -> CoupledSample:
        """Sample a hard mask, its relaxation, and a second relaxation given the order of the hard mask (REBAR).

        The keys are arrival times of exponential clocks: given the order, the gaps between arrivals are independent.
        """
        perturbed = self._perturbed(shape)
        order = perturbed.detach().argsort(dim=-1, descending=True)
        _, left = self._chosen_and_rest(order)
        log_gap = torch.log(exponential(perturbed.detach()))
        arrival = (log_gap[..., : self.k] - left).logcumsumexp(-1)  # log e_1 ... log e_k
        fresh = torch.log(exponential(perturbed.detach()))  # not log_gap, whose first entries are used above
        late = torch.logaddexp(arrival[..., -1:], fresh - self.logits)  # arrival times of items that were not sampled
        given = (-late).scatter(-1, order[..., : self.k], -arrival)
        hard = self._hard(perturbed)
        return CoupledSample(hard, self._soft(perturbed), self._soft(given), self.order_log_prob(order))

    @property
    def mean(self) -> Tensor:
        """Probability (b, d) of being among k independent draws: a cheap lower bound of being kept, lower if few weights dominate."""
        return among_valid(chance_of_a_win(self.logits, self.k), self.k, self.valid)
