"""The loss of "right for the right reasons": a penalty on input gradients along marked inputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy

from .. import check

SCALES, TARGETS = ("log", "linear"), ("sum", "max", "label")


@dataclass(frozen=True)
class PenaltySettings:
    """Which slopes are penalised and what is summed; see `right_reasons_loss`."""

    scale: str = "log"
    target: str | int = "sum"
    normalise: bool = True
    l2: float = 0.0  # price of squared weights, divided by the rows of a batch


def refuse_variant(scale: str, target: str | int) -> None:
    """Refuse a gradient that is not defined, or always 0."""
    check.one_of(scale, SCALES, "scale")
    if not isinstance(target, (int, np.integer)) or isinstance(target, bool):
        check.one_of(str(target), TARGETS, "target (or the index of a class)")
    if scale == "linear" and target == "sum":
        raise ValueError("probabilities sum to 1 whatever the input is, so that their sum has no slope; choose scale='log' or target='max'")


@contextmanager
def differentiable_twice(network: nn.Module, x: Tensor) -> Iterator[None]:
    """Choose kernels whose gradients have gradients: cuDNN's recurrent ones and the fused attention ones have none."""
    recurrent = x.is_cuda and any(isinstance(part, nn.RNNBase) for part in network.modules())
    with torch.backends.cudnn.flags(enabled=not recurrent and torch.backends.cudnn.enabled), sdpa_kernel(SDPBackend.MATH):
        yield


def explained_output(output: Tensor, *, scale: str = "log", target: str | int = "sum", y: Tensor | None = None) -> Tensor:
    """The numbers (b,) whose slopes explain a network's output: logits (b, c), or values (b,) or (b, 1).

    Args:
        output: what the network returned.
        scale: `"log"` or `"linear"` probabilities; of a real value it is the value itself.
        target: `"sum"` over the classes, `"max"` (the predicted class), `"label"` (the row's own class), or the index of a class.
        y: (b,) classes, which only `"label"` needs; or (b, c) probabilities, of which the largest counts.
    """
    if output.ndim == 1 or output.shape[1] == 1:
        return output.reshape(len(output))
    values = output.log_softmax(1) if scale == "log" else output.softmax(1)
    if target == "sum":
        return values.sum(1)
    if target == "max":
        return values.max(1).values
    if target == "label":
        assert y is not None
        index = y if y.ndim == 1 else y.argmax(1)
        return values.gather(1, index[:, None]).squeeze(1)
    return values[:, int(target)]


def input_gradients(
    network: nn.Module, x: Tensor, *, scale: str = "log", target: str | int = "sum", y: Tensor | None = None, keep_graph: bool = False
) -> tuple[Tensor, Tensor]:
    """The slopes (b, ...) of a network's output for rows x (b, ...), and that output.

    Args:
        network: maps rows to logits (b, c), or to values (b,) or (b, 1).
        x: the rows.
        scale: see `explained_output`, as for target and y.
        target: likewise.
        y: likewise.
        keep_graph: make the slopes differentiable again.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, section 3.1.
    """
    x = x.detach().requires_grad_()
    with torch.enable_grad(), differentiable_twice(network, x):
        output: Tensor = network(x)
        total = explained_output(output, scale=scale, target=target, y=y).sum()
        (slopes,) = torch.autograd.grad(total, x, create_graph=keep_graph)
    return slopes, output


class Terms(NamedTuple):
    """The terms of the loss of a batch; all but the first are None where no row is annotated."""

    prediction_loss: Tensor  # mean loss of the labels
    gradient_penalty: Tensor | None = None  # gradient penalty, before it is multiplied by the strength
    marked: Tensor | None = None  # mean squared slope along marked inputs
    unmarked: Tensor | None = None  # mean squared slope along the other inputs of annotated rows


def loss_terms(
    network: nn.Module, x: Tensor, y: Tensor, irrelevant_mask: Tensor | None, variant: PenaltySettings = PenaltySettings()
) -> Terms:
    """The loss of the labels and the gradient penalty of a batch.

    Only annotated rows are differentiated twice, unless the network normalises over the batch, which must see its rows together.
    """
    marked = None if irrelevant_mask is None else irrelevant_mask.flatten(1).any(1)  # (b,)
    if irrelevant_mask is None or marked is None or not bool(marked.any()):
        return Terms(label_loss(network(x), y))
    together = bool(marked.all()) or any(isinstance(part, nn.modules.batchnorm._BatchNorm) for part in network.modules())
    chosen = slice(None) if together else marked
    slopes, output = input_gradients(network, x[chosen], scale=variant.scale, target=variant.target, y=y[chosen], keep_graph=True)
    where = irrelevant_mask[chosen].to(slopes.dtype)
    squares, marks = (where * slopes).square().sum(), where.sum()
    free = marked.sum() * x[0].numel() - marks  # inputs of annotated rows that may be used
    elsewhere = ((1 - where) * slopes.detach()).square().flatten(1).sum(1)[marked[chosen]].sum() / free.clamp_min(1)
    if not together:
        output, y = torch.cat([output, network(x[~marked])]), torch.cat([y[marked], y[~marked]])
    return Terms(label_loss(output, y), squares / (marks if variant.normalise else len(x)), squares.detach() / marks, elsewhere)


def label_loss(output: Tensor, y: Tensor) -> Tensor:
    """Mean cross-entropy of logits (b, c) with classes (b,) or probabilities (b, c); of real values (b,) half the mean squared error."""
    if y.ndim == 1 and y.is_floating_point():
        return (output.reshape(len(output)) - y).square().mean() / 2
    return cross_entropy(output, y)


def right_reasons_loss(
    network: nn.Module,
    x: Tensor,
    y: Tensor,
    irrelevant_mask: Tensor | None,
    *,
    strength: float | Tensor,
    scale: str = "log",
    target: str | int = "sum",
    normalise: bool = True,
) -> Tensor:
    """The loss of "right for the right reasons" on a batch, for a training loop of your own.

    It is the cross-entropy of the labels (for real values half the squared error), plus `strength` times the squared slopes of the
    network's output along the inputs that are marked as irrelevant. Without a mark it is the plain loss, at no extra cost.

    Args:
        network: maps rows to logits (b, c), or to values (b,) or (b, 1).
        x: (b, ...) rows.
        y: (b,) classes, (b, c) probabilities, or (b,) real values.
        irrelevant_mask: (b, ...) as x, 1 = must not be used; rows of zeros are not annotated. None: no row is.
        strength: lambda_1 of the paper.
        scale: see `explained_output`; the paper's loss is log and sum.
        target: likewise.
        normalise: divide the squares by the number of marks, so that the strength depends neither on it nor on the batch. False: by the
            number of rows, which is the published loss divided by the batch's size: its 1000 belongs to inputs from 0 to 255, and means
            1000 / 255**2 where inputs are from 0 to 1.

    Example:
        >>> network = nn.Linear(2, 3)
        >>> x, y, mask = torch.randn(4, 2), torch.tensor([0, 1, 2, 0]), torch.tensor([[1, 0]] * 4)
        >>> loss = right_reasons_loss(network, x, y, mask, strength=10.0)
        >>> loss.backward()

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, section 3.2.
    """
    refuse_variant(scale, target)
    if irrelevant_mask is not None and irrelevant_mask.shape != x.shape:
        raise ValueError(
            f"irrelevant_mask has shape {tuple(irrelevant_mask.shape)}, but inputs of shape {tuple(x.shape)} need one mark each"
        )
    terms = loss_terms(network, x, y, irrelevant_mask, PenaltySettings(scale, target, normalise))
    return terms.prediction_loss if terms.gradient_penalty is None else terms.prediction_loss + strength * terms.gradient_penalty
