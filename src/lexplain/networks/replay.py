"""Scores of few rows from a GPU, with the kernels of a U-Net launched as one."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from .selector import Selector
from .unet import UNet

log = logging.getLogger("lexplain")
MOST = 2**16  # values of an input beyond which kernels run for longer than they take to launch
PATIENCE = 3  # calls alike before a recording is worth its while: it takes as long as some tens of them


@dataclass
class _Tape:
    """What is known of one selector: how often it was called alike, and what was recorded of it."""

    key: object
    calls: int = 0
    graph: torch.cuda.CUDAGraph | None = None
    x: Tensor | None = None
    scores: Tensor | None = None

    def record(self, selector: Selector, x: Tensor) -> None:
        """Run a selector, and keep every kernel it launched together with the memory they read and write; or nothing, if that fails."""
        graph, before = torch.cuda.CUDAGraph(), torch.cuda.current_stream(x.device)
        try:
            # Memory that is written again and again must not belong to a caller's inference mode.
            with torch.inference_mode(False), torch.no_grad(), torch.cuda.device(x.device):
                aside = torch.cuda.Stream(x.device)  # type: ignore[no-untyped-call]  # torch types it not
                aside.wait_stream(before)
                with torch.cuda.stream(aside):
                    self.x = x.clone()
                    selector.logits(self.x)  # libraries set themselves up, which cannot be recorded
                with torch.cuda.graph(graph, stream=aside, capture_error_mode="thread_local"):
                    self.scores = selector.logits(self.x)
                before.wait_stream(aside)
            self.graph = graph
        except RuntimeError as failed:  # no memory for it, or a library that cannot be recorded: scores come without
            log.info("explaining single rows goes on without a recording of the selector (%s)", failed)
            with torch.cuda.device(x.device):
                torch.cuda.set_stream(before)
            self.x = self.scores = None

    def play(self, x: Tensor) -> Tensor:
        """Scores on the CPU."""
        assert self.x is not None
        assert self.scores is not None and self.graph is not None
        self.x.copy_(x)
        self.graph.replay()
        return self.scores.cpu()


_TAPES: WeakKeyDictionary[Selector, _Tape] = WeakKeyDictionary()
_ONE_AT_A_TIME = Lock()  # a recording has one place for its input and one for its output


@torch.no_grad()
def scores_on_cpu(selector: Selector, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> Tensor:
    """The scores (b, d) of rows on a GPU, on the CPU; a U-Net that is called again and again alike is recorded once, then replayed.

    Launching its kernels one by one takes longer than they run where rows are few. Weights are read anew at each call; a selector that
    is moved, or given other parts, is recorded again.
    """
    few = x.is_cuda and x.numel() <= MOST and context is None and valid is None and not torch.is_autocast_enabled("cuda")
    places = _places(selector) if few else None
    if places is None:
        return selector.logits(x, context, valid).cpu()
    cudnn: Any = torch.backends.cudnn
    ways = cudnn.enabled, cudnn.conv.fp32_precision, cudnn.deterministic, cudnn.benchmark
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


def _places(selector: Selector) -> tuple[object, ...] | None:
    """Where weights lie, and in which order; None: not to be recorded, since it is no U-Net of ours, learns, or is listened to."""
    if type(selector) is not Selector or type(selector.network) is not UNet:
        return None
    places: list[object] = []
    for module in selector.modules():
        if module.training or module._forward_hooks or module._forward_pre_hooks:
            return None
        held = (*module._parameters.values(), *module._buffers.values())
        places += [(tensor.data_ptr(), tensor.stride()) for tensor in held if tensor is not None]
    return tuple(places)
