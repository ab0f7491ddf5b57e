"""The training loop."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn

from ..bars import training_bar
from ..core import Batch, seeded
from ..methods import Phase, Step
from .checkpoint import Checkpoint, pack, pack_optimiser, unpack, unpack_optimiser
from .settings import Settings, fabric_of

if TYPE_CHECKING:
    from lightning_fabric import Fabric

log = logging.getLogger("lexplain")
Result = TypeVar("Result")
GOAL_ROWS = {"cpu": 8192}  # maximum rows per call when auxiliary targets are computed; what fits a cache is fastest


def fit(
    module: nn.Module,
    phases: Sequence[Phase],
    train: Batch,
    validation: Batch,
    settings: Settings,
    *,
    fabric: Fabric | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[dict[str, Any]]:
    """Train a module in phases, restore the best epoch of each phase on the validation rows, and return one record per epoch.

    Args:
        module: Module that contains all parts that a phase trains.
        phases: Training phases, in order.
        train: Training rows.
        validation: Rows that select the best epoch.
        settings: Training length, learning rate and memory limit.
        fabric: Device, precision and number of processes. None: one process on the CPU.
        checkpoint: File for the training state; an interrupted fit resumes from it. None: no state is saved.
    """
    fabric = fabric or fabric_of("cpu")
    if getattr(fabric.strategy.precision, "scaler", None) is not None:
        raise ValueError("A Fabric that scales its loss (precision='16-mixed') is not supported. Use precision='bf16-mixed'.")
    module.to(fabric.device)
    with seeded(settings.seed + fabric.global_rank):
        run = _Run(module, train.to(fabric.device), validation.to(fabric.device), settings, fabric, checkpoint)
        run.resume(phases)
        for index in range(run.phase, len(phases)):
            run.train(index, phases[index])
    return run.records


class _Run:
    """The state of one training; a checkpoint saves all of it."""

    def __init__(
        self, module: nn.Module, train: Batch, validation: Batch, settings: Settings, fabric: Fabric, checkpoint: Checkpoint | None
    ) -> None:
        self.module, self.every, self.rows, self.settings = module, train, train, settings
        self.eval_rows = self.validation = validation
        self.fabric, self.checkpoint, self.written = fabric, checkpoint, time.monotonic()
        self.order = torch.Generator().manual_seed(settings.seed)
        self.max_rows = settings.max_rows
        self.records: list[dict[str, Any]] = []
        self.phase = self.epoch = self.waited = 0
        self.best, self.best_state = inf, dict[str, Tensor]()
        self.optimisers: dict[str, torch.optim.Optimizer] = {}
        self.chosen: Tensor | None = None
        self.focused: nn.Module | None = None
        self.stored: dict[str, Tensor] | None = None

    def train(self, index: int, phase: Phase) -> None:
        """Run one phase until it ends or patience runs out, then restore its best epoch."""
        self._start(index, phase)
        epochs = max(1, round(self.settings.epochs * phase.share * len(self.every) / len(self.rows)))  # fewer rows, as many steps
        with training_bar(phase.name, epochs, len(self.rows)) as advance:
            advance(self.epoch, self.best)
            while self.epoch < epochs and (self.settings.patience is None or self.waited < self.settings.patience):
                began = time.monotonic()
                self._epoch(phase, epochs)
                loss = self._validate(phase)
                self.epoch += 1
                self.records.append({"phase": phase.name, "epoch": self.epoch, "check": loss, "seconds": time.monotonic() - began})
                self._keep_best(loss, settled=self.epoch > phase.burn_in * epochs or self.epoch == epochs)
                self._write_checkpoint()
                advance(1, loss)
        if not self.best_state:
            raise FloatingPointError("Training diverged: the validation loss was never a finite number. Use a smaller learning_rate.")
        self.module.load_state_dict(self.best_state)
        self._write_checkpoint(ended=True)

    def _start(self, index: int, phase: Phase) -> None:
        if self.stored is None or self.phase != index:
            self.phase, self.epoch, self.waited, self.best, self.best_state = index, 0, 0, inf, {}
        if phase.on_start is not None and self.stored is None:
            with seeded(self.settings.seed + index):  # the same in every process
                phase.on_start(self.every, self.eval_rows, self._target_rows())
        self.optimisers = {step.name: self._optimiser(step) for step in phase.steps}
        self._set_aux_targets(phase)
        self.focused = None
        if self.stored is not None:
            for name, optimiser in self.optimisers.items():
                unpack_optimiser(f"optimiser/{name}", self.stored, optimiser)
            self.stored = None

    def _set_aux_targets(self, phase: Phase) -> None:
        """Sample the rows of the phase and compute their auxiliary targets, once. A resumed phase reads both from the checkpoint."""
        resumed = self.stored or {}
        sampled = phase.sample_rows is not None and phase.sample_rows < len(self.every)
        self.chosen = resumed.get("goal/rows")
        if sampled and self.chosen is None:
            self.chosen = torch.randperm(len(self.every), generator=self.order)[: phase.sample_rows]
        self.rows = self.every if self.chosen is None else self.every.take(self.chosen.to(self.fabric.device))
        self.validation = self.eval_rows
        if "goal/train" in resumed:
            targets = [resumed[f"goal/{part}"].to(self.fabric.device) for part in ("train", "validation")]
        elif phase.make_aux_targets is not None:
            targets = [phase.make_aux_targets(part, self._target_rows()) for part in (self.rows, self.validation)]
        else:  # the rows may already have auxiliary targets
            return
        self.rows, self.validation = (
            replace(part, aux_target=target) for part, target in zip((self.rows, self.validation), targets, strict=True)
        )

    def _target_rows(self) -> int:
        return min(self.max_rows, GOAL_ROWS.get(self.fabric.device.type, self.max_rows))

    def _optimiser(self, step: Step) -> torch.optim.Optimizer:
        parameters = list(step.module.parameters())
        decay = self.settings.weight_decay if step.decay is None else step.decay
        return torch.optim.AdamW(parameters, lr=self.settings.learning_rate, weight_decay=decay, fused=True)

    def _epoch(self, phase: Phase, epochs: int) -> None:
        settings, fabric, done = self.settings, self.fabric, self.epoch / epochs
        self._set_rates(phase, settings.schedule(done))
        order = torch.randperm(len(self.rows), generator=self.order).to(fabric.device)
        batches = torch.split(order, settings.batch_size)
        warmup = min(settings.warmup_steps, epochs * len(batches) // 10)
        for index, rows in enumerate(batches, start=1 + self.epoch * len(batches)):
            if index <= warmup:
                self._set_rates(phase, settings.schedule(done) * index / warmup)
            mine = rows[fabric.global_rank :: fabric.world_size]
            batch = replace(self.rows.take(mine), progress=done)
            for step in phase.steps:
                self._descend(step, batch, weight=len(mine) * fabric.world_size / len(rows))

    def _set_rates(self, phase: Phase, factor: float) -> None:
        for step in phase.steps:
            for group in self.optimisers[step.name].param_groups:
                group["lr"] = self.settings.learning_rate * step.learning_rate_factor * factor

    def _descend(self, step: Step, batch: Batch, *, weight: float) -> None:
        """Do one optimiser step, with as many rows at once as fit in memory. weight: weight of these rows in the mean over processes."""
        optimiser = self.optimisers[step.name]
        if self.focused is not step.module:  # only when the module changes, because it takes as long as a small step
            self.module.eval().requires_grad_(False)  # other modules are frozen: no gradients, no dropout, no moving statistics
            step.module.train().requires_grad_(True)
            self.focused = step.module

        def backward(parts: int) -> None:
            optimiser.zero_grad(set_to_none=True)
            for part in _parts(batch, parts):
                with self.fabric.autocast():
                    loss = step.loss(part)
                share = weight * len(part) / len(batch)
                self.fabric.backward(loss if share == 1 else loss * share)

        optimiser.zero_grad(set_to_none=True)
        if len(batch):  # a process may have no rows of a small last batch, but all take part in all_reduce below
            self._while_it_fits(step, len(batch), backward)
        if self.fabric.world_size > 1:
            for parameter in step.module.parameters():
                gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                parameter.grad = self._mean_of_processes(gradient)
        optimiser.step()

    def _while_it_fits(self, step: Step, rows: int, work: Callable[[int], Result]) -> Result:
        """Call `work` with the number of parts to split `rows` into: as few as the device's memory allows."""
        while True:
            try:
                return work(ceil(rows / max(1, self.max_rows // step.model_rows_per_row)))
            except torch.cuda.OutOfMemoryError:  # noqa: PERF203  it has to be retried
                if self.max_rows <= step.model_rows_per_row:
                    raise
                self.max_rows = max(step.model_rows_per_row, min(self.max_rows, rows * step.model_rows_per_row) // 2)
                log.warning("Out of device memory; continuing with at most %d rows at once", self.max_rows)
                torch.cuda.empty_cache()

    def _mean_of_processes(self, value: Tensor) -> Tensor:
        mean = self.fabric.all_reduce(value, reduce_op="mean")
        assert isinstance(mean, Tensor)
        return mean

    @torch.no_grad()
    def _validate(self, phase: Phase) -> float:
        """Validation loss of the phase's last step, with the same random numbers in all epochs."""
        self.module.eval()
        self.focused = None
        step, batch = phase.steps[-1], replace(self.validation, progress=1.0)

        def total(parts: int) -> Tensor:
            with seeded(self.settings.seed):
                terms = [step.validation_loss(part) * (len(part) / len(batch)) for part in _parts(batch, parts)]
            return torch.stack(terms).sum()

        loss = self._while_it_fits(step, len(batch), total)
        return float(loss if self.fabric.world_size == 1 else self._mean_of_processes(loss))

    def _keep_best(self, loss: float, *, settled: bool) -> None:
        if not settled:
            return
        if loss < self.best:
            self.best, self.waited = loss, 0
            self.best_state = {name: value.detach().clone() for name, value in self.module.state_dict().items()}
        else:
            self.waited += 1

    def _write_checkpoint(self, *, ended: bool = False) -> None:
        if self.checkpoint is None or self.fabric.global_rank or (not ended and time.monotonic() - self.written < self.checkpoint.seconds):
            return
        tensors = pack("module", self.module.state_dict()) | pack("best", self.best_state)
        for name, optimiser in self.optimisers.items():
            tensors |= pack_optimiser(f"optimiser/{name}", optimiser)
        if self.rows.aux_target is not None and self.validation.aux_target is not None and not ended:
            tensors |= {"goal/train": self.rows.aux_target, "goal/validation": self.validation.aux_target}
        if self.chosen is not None and not ended:
            tensors["goal/rows"] = self.chosen
        tensors |= {"rng/order": self.order.get_state(), "rng/cpu": torch.get_rng_state()}
        if self.fabric.device.type == "cuda":
            tensors["rng/cuda"] = torch.cuda.get_rng_state(self.fabric.device)
        best = None if self.best == inf else self.best
        phase, epoch = (self.phase + 1, 0) if ended else (self.phase, self.epoch)
        self.checkpoint.write(tensors, {"phase": phase, "epoch": epoch, "waited": self.waited, "best": best, "records": self.records})
        self.written = time.monotonic()

    def resume(self, phases: Sequence[Phase]) -> None:
        """Load the state from the checkpoint, if there is one."""
        saved = self.checkpoint.read() if self.checkpoint is not None else None
        if saved is None:
            return
        tensors, record = saved
        self.module.load_state_dict(unpack("module", tensors))
        self.phase, self.epoch, self.waited = record["phase"], record["epoch"], record["waited"]
        self.best, self.records = inf if record["best"] is None else record["best"], record["records"]
        self.best_state = {name: value.to(self.fabric.device) for name, value in unpack("best", tensors).items()}
        self.order.set_state(tensors["rng/order"])
        torch.set_rng_state(tensors["rng/cpu"])
        if self.fabric.global_rank:  # the file holds the random state of the first process, which the others must not repeat
            torch.manual_seed(self.settings.seed + self.fabric.global_rank + self.fabric.world_size * len(self.records))
        elif "rng/cuda" in tensors:
            torch.cuda.set_rng_state(tensors["rng/cuda"], self.fabric.device)
        if self.epoch:
            self.stored = tensors
        assert self.checkpoint is not None
        log.info("Resuming from %s: phase %d of %d, epoch %d", self.checkpoint.path, self.phase + 1, len(phases), self.epoch)


def _parts(batch: Batch, parts: int) -> list[Batch]:
    """Split a batch into at most `parts` batches."""
    if parts == 1:
        return [batch]
    return [batch.take(rows) for rows in torch.arange(len(batch), device=batch.x.device).chunk(parts)]
