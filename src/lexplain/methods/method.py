"""The object that a recipe builds: selector, imputer, predictor, objective and plan."""

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
from ..models.queried import network_output
from ..networks import Selector
from ..objectives import Objective, cross_entropy
from .plans import Phase, Plan

TEST_IMPUTATIONS = 20  # imputations averaged per prediction if the imputer is random


class Method(nn.Module):
    """A selector, an imputer and a predictor, with the objective and the plan that train them.

    Shapes: b rows, d features, c classes; M x L masks per row, K imputations per mask.

    Args:
        name: Name in tables and files.
        features: Fitted features; they expand feature masks to encoded masks.
        selector: Network from rows to a distribution over masks.
        imputer: Replaces hidden values.
        predictor: Predicts the target from an imputed row. `Trained(network)` is trained; others stay fixed.
        objective: Cost of a mask, which training minimises.
        plan: Training schedule, an object of `lexplain.methods.plans`.
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
        self.plan: Plan = plan  # a submodule if it is an nn.Module; its networks are only needed in training

    @property
    def reads_output(self) -> bool:
        """Whether the selector reads the model's output in addition to the row."""
        return self.selector.reads_output

    # ---- forward passes ----

    def predict(self, batch: Batch, mask: Tensor, predictor: Predictor | None = None) -> Distribution:
        """Predictions (M, L, K, b) from masks (M, L, b, d). The L masks are averaged by the objective; each call imputes K times."""
        outer, inner, rows, _ = mask.shape
        lead = (outer, inner, self.objective.likelihood.imputations, rows)
        shape = batch.x.shape[1:]
        encoded = encoded_mask(self.features, mask, batch.valid).unsqueeze(2).expand(*lead, *shape).reshape(-1, *shape)
        x = batch.x.expand(*lead, *shape).reshape(-1, *shape)
        return reshape_batch((predictor or self.predictor)(self.imputer(x, encoded), encoded), lead)

    def predict_full(self, x: Tensor) -> Distribution:
        """Predicted distributions (b,) for full rows."""
        return self.predictor(x, torch.ones_like(x, dtype=torch.bool))

    def distribution(self, batch: Batch) -> MaskDistribution:
        """The selector's distribution over masks."""
        return self.selector(batch.x, batch.context, batch.valid)  # type: ignore[no-any-return]  # nn.Module's call

    def kl_to_full(self, batch: Batch, mask: Tensor) -> Tensor:
        """KL divergence (M, b), in nats, between predictions from full rows and from one imputation per mask (M, 1, b, d).

        All masks of a row use the same imputed values, so that masks can be compared.
        """
        encoded = encoded_mask(self.features, mask.squeeze(1), batch.valid)
        imputed = torch.vmap(lambda visible: self.imputer(batch.x, visible), randomness="same")(encoded)
        full = self.predict_full(batch.x)
        masked = reshape_batch(self.predictor(imputed.flatten(0, 1), encoded.flatten(0, 1)), encoded.shape[:2])
        return cross_entropy(full, masked) - cross_entropy(full, full)

    # ---- training ----

    def phases(self) -> list[Phase]:
        """The phases of training, in order."""
        return self.plan.phases(self)

    def check_parts(self, batch: Batch) -> None:
        """Run each step on a few rows, so that incompatible parts raise an error before training starts."""
        with _read_by("selector", batch.x):
            logits = self.selector.logits(batch.x, batch.context)
        self._check_scores(logits, len(batch))
        with _read_by("predictor", batch.x):
            predicted = self.predict_full(batch.x)
        outputs = self.predictor.outputs
        network_output(getattr(predicted, "mean" if outputs.real else "logits"), len(batch), outputs.count, outputs.real)
        p = self.distribution(batch)
        lacking = [name for name in ("mode", "scores") if not hasattr(p, name)]
        if lacking:
            raise TypeError(f"{type(p).__name__} does not have `{'` and `'.join(lacking)}` (b, d). All distributions over masks need it.")
        self.plan.check_parts(self, p)
        self._check_scores(p.logits, len(batch))
        for phase in self.phases():
            if phase.make_aux_targets is not None:  # computing the targets would move the threshold, so only `kl_to_full` is tried
                self.kl_to_full(batch, torch.ones(1, 1, len(batch), self.features.count, dtype=torch.bool, device=batch.x.device))
            for step in phase.steps:
                step.loss(replace(batch, aux_target=p.logits.detach()))

    def _check_scores(self, logits: Tensor, rows: int) -> None:
        shape = (rows, self.features.count)
        if tuple(logits.shape) != shape:
            raise ValueError(
                f"The selector network returned shape {tuple(logits.shape)} for {rows} rows, expected {shape}: "
                f"one score for each of {self.features.count} features."
            )

    # ---- results ----

    @torch.no_grad()
    def explain(self, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Scores and masks, both (b, d), in one forward pass of the selector.

        Args:
            x: Encoded rows.
            context: The model's output, for selectors that read it.
            valid: (b, d) of bool, False for padding.
        """
        p = self.selector(x, context, valid)
        return p.scores, p.mode

    @torch.no_grad()
    def probabilities(self, x: Tensor, mask: Tensor, valid: Tensor | None = None) -> Tensor:
        """Class probabilities (b, c), or values (b, 1), from the features visible in a mask (b, d), averaged over imputations.

        All rows use the same random numbers for imputation, so that a prediction does not depend on the other rows.
        """
        samples = TEST_IMPUTATIONS if getattr(self.imputer, "random", True) else 1
        encoded = encoded_mask(self.features, mask, valid)

        def impute(row: Tensor, visible: Tensor) -> Tensor:
            imputed: Tensor = self.imputer(row.expand(samples, *row.shape), visible.expand(samples, *visible.shape))
            return imputed

        imputed = torch.vmap(impute, out_dims=1, randomness="same")(x, encoded)  # (samples, b, ...)
        visible = encoded.expand(samples, *encoded.shape)
        means = self.predictor.outputs.means(self.predictor(imputed.flatten(0, 1), visible.flatten(0, 1)))
        return means.reshape(samples, len(x), -1).mean(0)


@contextmanager
def _read_by(part: str, x: Tensor) -> Iterator[None]:
    """Raise an error that names the network that failed, and the shape of the rows."""
    try:
        yield
    except (ValueError, torch.OutOfMemoryError):  # these have a clear message, or the network is not the cause
        raise
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"The {part} failed on rows of shape {tuple(x.shape)}: {reason}") from error
