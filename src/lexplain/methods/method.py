"""Where the parts meet: what a method predicts and says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from ..core import Batch, reshape_batch
from ..core.contracts import Features, MaskDistribution, Predictor
from ..features import encoded_mask
from ..models.asked import network_output
from ..networks import Selector
from ..objectives import Objective, cross_entropy
from .plans import Phase, Plan

TEST_IMPUTATIONS = 20  # draws averaged in a prediction where the imputer is random


class Method(nn.Module):
    """A selector, an imputer and a predictor, what they are to make small, and a plan by which they learn it.

    Args:
        name: for tables and files.
        features: feature masks to raw masks.
        selector: rows to a distribution over masks.
        imputer: fills what is hidden.
        predictor: predicts from a filled row; trains if it is a `Trained`.
        objective: the cost of a row's masks.
        plan: how it learns: `Turns`, `Together` or `Rounds`.
    """

    def __init__(
        self,
        name: str,
        *,
        features: Features,
        selector: Selector,
        imputer: nn.Module,
        predictor: Predictor,
        objective: Objective,
        plan: Plan,
    ) -> None:
        super().__init__()
        self.name, self.features, self.objective = name, features, objective
        self.selector: Selector = selector
        self.imputer = imputer
        self.predictor: Predictor = predictor
        self.plan: Plan = plan  # registered where it holds networks of its own, which nobody needs after training

    @property
    def reads_output(self) -> bool:
        """Whether the selector sees the model's output beside the row."""
        return self.selector.reads_output

    # ---- what runs ----

    def predict(self, batch: Batch, mask: Tensor, predictor: Predictor | None = None) -> Distribution:
        """Predictions of batch (M, L, K, b) from masks (M, L, b, d), with K fresh imputations each."""
        outer, inner, rows, _ = mask.shape
        lead = (outer, inner, self.objective.likelihood.imputations, rows)
        shape = batch.x.shape[1:]
        raw = encoded_mask(self.features, mask, batch.valid).unsqueeze(2).expand(*lead, *shape).reshape(-1, *shape)
        x = batch.x.expand(*lead, *shape).reshape(-1, *shape)
        return reshape_batch((predictor or self.predictor)(self.imputer(x, raw), raw), lead)

    def predict_full(self, x: Tensor) -> Distribution:
        """The predictor's distribution (b,) of full rows."""
        return self.predictor(x, torch.ones_like(x, dtype=torch.bool))

    def distribution(self, batch: Batch) -> MaskDistribution:
        """The selector's distribution over masks."""
        return self.selector(batch.x, batch.context, batch.valid)  # type: ignore[no-any-return]  # nn.Module's call

    def kl_to_full(self, batch: Batch, mask: Tensor) -> Tensor:
        """How far (M, b) predictions from masks (M, 1, b, d) are from the predictor's own of full rows: KL in nats, outside the log.

        Every mask of a row meets the same imputed values, so that masks can be compared.
        """
        raw = encoded_mask(self.features, mask.squeeze(1), batch.valid)
        filled = torch.vmap(lambda shown: self.imputer(batch.x, shown), randomness="same")(raw)
        whole = self.predict_full(batch.x)
        masked = reshape_batch(self.predictor(filled.flatten(0, 1), raw.flatten(0, 1)), raw.shape[:2])
        return cross_entropy(whole, masked) - cross_entropy(whole, whole)

    # ---- how it learns ----

    def phases(self) -> list[Phase]:
        """What the training loop does, in order."""
        return self.plan.phases(self)

    def check_parts(self, batch: Batch) -> None:
        """Run every step on a few rows, so that parts that do not fit refuse before training starts."""
        with _read_by("selector", batch.x):
            logits = self.selector.logits(batch.x, batch.context)
        self._refuse_other_than_scores(logits, len(batch))
        with _read_by("predictor", batch.x):
            predicted = self.predict_full(batch.x)
        outputs = self.predictor.outputs
        network_output(getattr(predicted, "mean" if outputs.real else "logits"), len(batch), outputs.count, outputs.real)
        p = self.distribution(batch)
        lacking = [name for name in ("mode", "scores") if not hasattr(p, name)]
        if lacking:
            raise TypeError(f"{type(p).__name__} has no `{'` and no `'.join(lacking)}`, which every distribution over masks needs (b, d)")
        self.plan.check_parts(self, p)
        self._refuse_other_than_scores(p.logits, len(batch))
        for phase in self.phases():
            if phase.make_aux_targets is not None:  # its goals would move the threshold; what they are made of must work
                self.kl_to_full(batch, torch.ones(1, 1, len(batch), self.features.count, dtype=torch.bool, device=batch.x.device))
            for step in phase.steps:
                step.loss(replace(batch, aux_target=p.logits.detach()))

    def _refuse_other_than_scores(self, logits: Tensor, rows: int) -> None:
        shape = (rows, self.features.count)
        if tuple(logits.shape) != shape:
            raise ValueError(
                f"the selector network returned shape {tuple(logits.shape)} for {rows} rows, "
                f"but one score for each of {self.features.count} features is needed: {shape}"
            )

    # ---- what it says ----

    @torch.no_grad()
    def explain(self, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Scores and masks, both (b, d), in one forward pass of the selector.

        Args:
            x: encoded rows.
            context: what the selector may see of a model's output.
            valid: (b, d) of bool, false where there is no feature.
        """
        p = self.selector(x, context, valid)
        return p.scores, p.mode

    @torch.no_grad()
    def probabilities(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Class probabilities (b, c), or values (b, 1), from what a mask (b, d) shows, averaged over imputations.

        Every row meets the same noise, so that its prediction does not depend on the rows beside it.
        """
        draws = TEST_IMPUTATIONS if getattr(self.imputer, "random", True) else 1
        raw = encoded_mask(self.features, mask, valid)

        def fill(row: Tensor, shown: Tensor) -> Tensor:
            filled: Tensor = self.imputer(row.expand(draws, *row.shape), shown.expand(draws, *shown.shape))
            return filled

        filled = torch.vmap(fill, out_dims=1, randomness="same")(x, raw)  # (draws, b, ...)
        shown = raw.expand(draws, *raw.shape)
        means = self.predictor.outputs.means(self.predictor(filled.flatten(0, 1), shown.flatten(0, 1)))
        return means.reshape(draws, len(x), -1).mean(0)


@contextmanager
def _read_by(part: str, x: Tensor) -> Iterator[None]:
    """Name the network that could not read rows, and their shape."""
    try:
        yield
    except (ValueError, torch.OutOfMemoryError):  # what refuses in words of its own, and what is no fault of the network
        raise
    except Exception as failed:
        why = (str(failed) or type(failed).__name__).splitlines()[0]
        raise ValueError(f"the {part} cannot read rows of shape {tuple(x.shape)}: {why}") from failed
