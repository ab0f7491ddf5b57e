"""Scores of few rows from a GPU, with the kernels of a U-Net launched as one."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from .selector import Selector
from .unet import UNet

PATIENCE = 3  # calls alike before a recording is worth its while: it takes as long as some tens of them


@dataclass
class _Tape:
    """What is known of one selector: how often it was called alike, and what was recorded of it."""

    key: Any
    calls: int = 0
    graph: Any = None
    x: Tensor | None = None
    scores: Tensor | None = None

    def record(self, selector: Selector, x: Tensor) -> None:
        """Run a selector once, and keep every kernel it launched together with the memory they read and write."""
        self.x, graph = x.clone(), torch.cuda.CUDAGraph()
        aside = torch.cuda.Stream(x.device)  # type: ignore[no-untyped-call]  # torch types it not
        aside.wait_stream(torch.cuda.current_stream(x.device))
        with torch.cuda.stream(aside):
            selector.logits(self.x)  # libraries set themselves up, which cannot be recorded
        torch.cuda.current_stream(x.device).wait_stream(aside)
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self.scores = selector.logits(self.x)
        self.graph = graph

    def play(self, x: Tensor) -> Tensor:
        """Scores on the CPU."""
        assert self.x is not None
        assert self.scores is not None
        self.x.copy_(x)
        self.graph.replay()
        return self.scores.cpu()


_TAPES: WeakKeyDictionary[Selector, _Tape] = WeakKeyDictionary()
_ONE_AT_A_TIME = Lock()  # a recording has one place for its input and one for its output


@torch.no_grad()
def scores_on_cpu(selector: Selector, x: Tensor, context: Tensor | None = None) -> Tensor:
    """The scores (b, d) of rows on a GPU, on the CPU; a U-Net that is called again and again alike is recorded once, then replayed.

    Launching its kernels one by one takes longer than they run where rows are few. Weights are read anew at each call; a selector that
    is moved, or given other parts, is recorded again.
    """
    places = _places(selector) if context is None and x.is_cuda and not torch.is_autocast_enabled("cuda") else None
    if places is None:
        return selector.logits(x, context).cpu()
    cudnn = torch.backends.cudnn
    ways = cudnn.enabled, cudnn.allow_tf32, cudnn.deterministic, cudnn.benchmark
    key = x.shape, x.stride(), x.dtype, x.device, selector.spread, places, ways
    with _ONE_AT_A_TIME:
        tape = _TAPES.get(selector)
        if tape is None or tape.key != key:
            tape = _TAPES[selector] = _Tape(key)
        tape.calls += 1
        if tape.graph is None and tape.calls == PATIENCE:
            tape.record(selector, x)
        if tape.graph is not None:
            return tape.play(x)
    return selector.logits(x).cpu()


def _places(selector: Selector) -> tuple[int, ...] | None:
    """Where weights lie; None for what is no U-Net of ours, which does the same with every input, or has layers that are listened to."""
    if type(selector) is not Selector or type(selector.network) is not UNet:
        return None
    places: list[int] = []
    for module in selector.modules():
        if module.training or module._forward_hooks or module._forward_pre_hooks:
            return None
        held = (*module._parameters.values(), *module._buffers.values())
        places += [tensor.data_ptr() for tensor in held if tensor is not None]
    return tuple(places)
