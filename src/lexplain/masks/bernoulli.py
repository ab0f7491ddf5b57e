"""Independent features."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from ..core.contracts import CoupledSample
from .noise import logistic
from .top_k import edge_scores, top_k_and_level


class Bernoulli:
    """Each feature is visible independently of the others.

    Args:
        logits: Log-odds (b, d) that a feature is visible.
        valid: (b, d) of bool; False is padding, which is never visible.
        temperature: Temperature of the relaxed masks; lower is closer to hard masks.
        k: If given, `mode` keeps the k most probable features instead of those above one half.

    Reference:
        Jethani et al., Have We Learned to Explain?, 2021, appendix on REBAR; Maddison et al., The Concrete Distribution, 2017.
    """

    def __init__(self, logits: Tensor, valid: Tensor | None = None, *, temperature: float = 0.5, k: int | None = None) -> None:
        self.logits, self.valid, self.temperature, self.k = logits, valid, temperature, k

    def _on_valid(self, mask: Tensor) -> Tensor:
        return mask if self.valid is None else mask & self.valid if mask.dtype == torch.bool else mask * self.valid

    def sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample hard masks (*shape, b, d)."""
        return self._on_valid(self.logits.detach() + logistic(self.logits.detach(), shape) > 0)

    def draw(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Sample hard masks and their log-probabilities (*shape, b), for the score function."""
        mask = self.sample(shape)
        return mask, self.log_prob(mask)

    def paired(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor]:
        """Sample hard masks and soft masks with the same noise."""
        z = self.logits + logistic(self.logits.detach(), shape)
        return self._on_valid(z.detach() > 0), self._on_valid(torch.sigmoid(z / self.temperature))

    def relaxed(self, shape: tuple[int, ...] = ()) -> Tensor:
        """Sample soft masks that carry gradients to the logits."""
        return self.paired(shape)[1]

    def log_prob(self, mask: Tensor) -> Tensor:
        """Log-probability (*shape, b) of masks (*shape, b, d)."""
        terms = torch.where(mask.bool(), logsigmoid(self.logits), logsigmoid(-self.logits))
        if self.valid is not None:
            terms = torch.where(self.valid, terms, torch.where(mask.bool(), float("-inf"), 0.0))
        return terms.sum(-1)

    def coupled(self, shape: tuple[int, ...] = ()) -> CoupledSample:
        """Sample a hard mask, its relaxation, and a second relaxation given the hard mask (REBAR)."""
        a = self.logits
        z = a + logistic(a.detach(), shape)
        hard = z.detach() > 0
        # Given the hard mask, z is logistic noise truncated at 0; written with softplus it needs no clipping.
        v = logistic(a.detach(), shape)
        given = torch.where(hard, softplus(v + softplus(a)), -softplus(v + softplus(-a)))
        hard = self._on_valid(hard)
        soft, soft_given = (self._on_valid(torch.sigmoid(t / self.temperature)) for t in (z, given))
        return CoupledSample(hard, soft, soft_given, self.log_prob(hard))

    def antithetic(self, shape: tuple[int, ...] = ()) -> tuple[Tensor, Tensor, Tensor]:
        """Sample two masks with mirrored noise, and the weight (*shape, b, d) of each coordinate in DisARM's gradient."""
        a, noise = self.logits.detach(), logistic(self.logits.detach(), shape)
        one, two = a + noise > 0, a - noise > 0
        weight = torch.sigmoid(a.abs()) * (one != two) * torch.where(one, 1.0, -1.0)
        return self._on_valid(one), self._on_valid(two), self._on_valid(weight)

    @property
    def mean(self) -> Tensor:
        """Probability (b, d) that a feature is visible."""
        return self._on_valid(torch.sigmoid(self.logits))

    @property
    def mode(self) -> Tensor:
        """The mask (b, d) of the explanation: features with a probability above one half, or the k most probable."""
        return self._on_valid(self.logits > 0) if self.k is None else self._kept[0]

    @property
    def scores(self) -> Tensor:
        """Probability (b, d) of being visible; with k, distance to the edge of the kept features: above one half is kept."""
        return self.mean if self.k is None else self._on_valid(edge_scores(self.logits, *self._kept))

    @cached_property
    def _kept(self) -> tuple[Tensor, Tensor]:
        assert self.k is not None
        return top_k_and_level(self.logits, self.k, self.valid)
