"""The loss of "right for the right reasons": a penalty on the gradients of marked inputs."""

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
    """Which input gradients are penalised, and how they are summed; see `right_reasons_loss`."""

    scale: str = "log"
    target: str | int = "sum"
    normalise: bool = True
    l2: float = 0.0  # weight of the squared parameters, divided by the batch size


def check_variant(scale: str, target: str | int) -> None:
    """Raise if a gradient is not defined or always 0."""
    check.one_of(scale, SCALES, "scale")
    if not isinstance(target, (int, np.integer)) or isinstance(target, bool):
        check.one_of(str(target), TARGETS, "target (or the index of a class)")
    if scale == "linear" and target == "sum":
        raise ValueError("Linear probabilities always sum to 1, so their sum has a zero gradient. Use scale='log' or target='max'.")


@contextmanager
def differentiable_twice(network: nn.Module, x: Tensor) -> Iterator[None]:
    """Choose kernels that support second derivatives; cuDNN's recurrent kernels and fused attention do not."""
    recurrent = x.is_cuda and any(isinstance(part, nn.RNNBase) for part in network.modules())
    with torch.backends.cudnn.flags(enabled=not recurrent and torch.backends.cudnn.enabled), sdpa_kernel(SDPBackend.MATH):
        yield


def explained_output(output: Tensor, *, scale: str = "log", target: str | int = "sum", y: Tensor | None = None) -> Tensor:
    """The number per row (b,) whose input gradients explain a network's output.

    Args:
        output: Logits (b, c), or values (b,) or (b, 1).
        scale: `"log"` or `"linear"` probabilities. Real values are used unchanged.
        target: `"sum"` over the classes, `"max"` (the predicted class), `"label"` (the row's class), or the index of a class.
        y: (b,) classes, or (b, c) probabilities whose largest counts. Only needed for `"label"`.
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
    """Input gradients (b, ...) of a network's output for rows x (b, ...), and that output.

    Args:
        network: Network from rows to logits (b, c), or to values (b,) or (b, 1).
        x: Encoded rows (b, ...).
        scale: `"log"` or `"linear"` probabilities. Real values are used unchanged.
        target: `"sum"` over the classes, `"max"` (the predicted class), `"label"` (the row's class), or the index of a class.
        y: (b,) classes, or (b, c) probabilities whose largest counts. Only needed for `"label"`.
        keep_graph: Whether the gradients can be differentiated again.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, section 3.1.
    """
    x = x.detach().requires_grad_()
    with torch.enable_grad(), differentiable_twice(network, x):
        output: Tensor = network(x)
        total = explained_output(output, scale=scale, target=target, y=y).sum()
        (gradients,) = torch.autograd.grad(total, x, create_graph=keep_graph)
    return gradients, output


class Terms(NamedTuple):
    """The loss terms of a batch. All but the first are None if no row is annotated."""

    prediction_loss: Tensor  # mean loss of the labels
    gradient_penalty: Tensor | None = None  # without the factor `strength`
    marked: Tensor | None = None  # mean squared gradient of marked inputs
    unmarked: Tensor | None = None  # mean squared gradient of the other inputs of annotated rows


def loss_terms(
    network: nn.Module, x: Tensor, y: Tensor, irrelevant_mask: Tensor | None, variant: PenaltySettings = PenaltySettings()
) -> Terms:
    """The loss of the labels and the gradient penalty of a batch.

    Only annotated rows are differentiated twice, unless the network has batch normalisation, which needs all rows together.
    """
    marked = None if irrelevant_mask is None else irrelevant_mask.flatten(1).any(1)  # (b,)
    if irrelevant_mask is None or marked is None or not bool(marked.any()):
        return Terms(label_loss(network(x), y))
    together = bool(marked.all()) or any(isinstance(part, nn.modules.batchnorm._BatchNorm) for part in network.modules())
    chosen = slice(None) if together else marked
    gradients, output = input_gradients(network, x[chosen], scale=variant.scale, target=variant.target, y=y[chosen], keep_graph=True)
    where = irrelevant_mask[chosen].to(gradients.dtype)
    squares, marks = (where * gradients).square().sum(), where.sum()
    count = marked.sum() * x[0].numel() - marks  # unmarked inputs of annotated rows
    unmarked = ((1 - where) * gradients.detach()).square().flatten(1).sum(1)[marked[chosen]].sum() / count.clamp_min(1)
    if not together:
        output, y = torch.cat([output, network(x[~marked])]), torch.cat([y[marked], y[~marked]])
    return Terms(label_loss(output, y), squares / (marks if variant.normalise else len(x)), squares.detach() / marks, unmarked)


def label_loss(output: Tensor, y: Tensor) -> Tensor:
    """Mean cross-entropy of logits (b, c) for classes (b,) or probabilities (b, c); for real values (b,) half the mean squared error."""
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
    """The loss of "right for the right reasons" on a batch, for your own training loop.

    It is the cross-entropy of the labels (for real values half the squared error), plus `strength` times the squared gradients of the
    output with respect to marked inputs. Without marks it is the plain loss, at no extra cost.

    Args:
        network: Network from rows to logits (b, c), or to values (b,) or (b, 1).
        x: Rows (b, ...).
        y: Classes (b,), probabilities (b, c), or real values (b,).
        irrelevant_mask: Mask of the shape of x, 1 = must not be used. Rows of zeros have no marks. None: no marks.
        strength: Weight of the penalty (lambda_1 of the paper).
        scale: Whether to use "log" or "linear" probabilities (the paper: "log").
        target: "sum" over the classes (the paper), "max" (the predicted class), "label" (the row's class), or the index of a class.
        normalise: Whether to divide the penalty by the number of marks, so that the strength does not depend on it. False: by the number of
            rows, which gives the published loss divided by the batch size. The published strength 1000 is for inputs from 0 to 255, and
            corresponds to 1000 / 255**2 for inputs from 0 to 1.

    Example:
        >>> network = nn.Linear(2, 3)
        >>> x, y, mask = torch.randn(4, 2), torch.tensor([0, 1, 2, 0]), torch.tensor([[1, 0]] * 4)
        >>> loss = right_reasons_loss(network, x, y, mask, strength=10.0)
        >>> loss.backward()

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, section 3.2.
    """
    check_variant(scale, target)
    if irrelevant_mask is not None and irrelevant_mask.shape != x.shape:
        raise ValueError(
            f"irrelevant_mask has shape {tuple(irrelevant_mask.shape)}, but must have the shape of the inputs, {tuple(x.shape)}."
        )
    terms = loss_terms(network, x, y, irrelevant_mask, PenaltySettings(scale, target, normalise))
    return terms.prediction_loss if terms.gradient_penalty is None else terms.prediction_loss + strength * terms.gradient_penalty
