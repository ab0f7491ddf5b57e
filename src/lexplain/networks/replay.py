"""Fast scores of few rows on a GPU, with the kernels of a U-Net recorded as a CUDA graph."""

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
MOST = 2**16  # values of an input above which kernels take longer than their launch
PATIENCE = 3  # equal calls before a recording, which takes as long as some tens of calls


@dataclass
class _Tape:
    """Calls and recording of one selector."""

    key: object
    calls: int = 0
    graph: torch.cuda.CUDAGraph | None = None
    x: Tensor | None = None
    scores: Tensor | None = None

    def record(self, selector: Selector, x: Tensor) -> None:
        """Run a selector and record its kernels with the memory they use; without effect if that fails."""
        graph, before = torch.cuda.CUDAGraph(), torch.cuda.current_stream(x.device)
        try:
            # Memory that is reused must not belong to a caller's inference mode.
            with torch.inference_mode(False), torch.no_grad(), torch.cuda.device(x.device):
                aside = torch.cuda.Stream(x.device)  # type: ignore[no-untyped-call]  # torch does not type it
                aside.wait_stream(before)
                with torch.cuda.stream(aside):
                    self.x = x.clone()
                    selector.logits(self.x)  # initialisation of libraries cannot be recorded
                with torch.cuda.graph(graph, stream=aside, capture_error_mode="thread_local"):
                    self.scores = selector.logits(self.x)
                before.wait_stream(aside)
            self.graph = graph
        except RuntimeError as failed:  # too little memory, or a library that cannot be recorded
            log.info("Explaining single rows without a recording of the selector (%s)", failed)
            with torch.cuda.device(x.device):
                torch.cuda.set_stream(before)
            self.x = self.scores = None

    def play(self, x: Tensor) -> Tensor:
        """Scores from the recording, on the CPU."""
        assert self.x is not None
        assert self.scores is not None and self.graph is not None
        self.x.copy_(x)
        self.graph.replay()
        return self.scores.cpu()


_TAPES: WeakKeyDictionary[Selector, _Tape] = WeakKeyDictionary()
_ONE_AT_A_TIME = Lock()  # a recording has one buffer for inputs and one for outputs


@torch.no_grad()
def scores_on_cpu(selector: Selector, x: Tensor, context: Tensor | None = None, valid: Tensor | None = None) -> Tensor:
    """Scores (b, d) on the CPU of rows on a GPU. A U-Net that is called repeatedly in the same way is recorded once, then replayed.

    For few rows, launching kernels takes longer than running them. Each call uses the current weights; a selector that is moved or has
    other parts is recorded again.
    """
    small = x.is_cuda and x.numel() <= MOST and context is None and valid is None and not torch.is_autocast_enabled("cuda")
    places = _places(selector) if small else None
    if places is None:
        return selector.logits(x, context, valid).cpu()
    cudnn: Any = torch.backends.cudnn
    modes = cudnn.enabled, cudnn.conv.fp32_precision, cudnn.deterministic, cudnn.benchmark
    key = x.shape, x.stride(), x.dtype, x.device, selector.spread, places, modes
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
    """Addresses and strides of weights; None if it cannot be recorded: not our U-Net, in training mode, or with hooks."""
    if type(selector) is not Selector or type(selector.network) is not UNet:
        return None
    places: list[object] = []
    for module in selector.modules():
        if module.training or module._forward_hooks or module._forward_pre_hooks:
            return None
        held = (*module._parameters.values(), *module._buffers.values())
        places += [(tensor.data_ptr(), tensor.stride()) for tensor in held if tensor is not None]
    return tuple(places)
