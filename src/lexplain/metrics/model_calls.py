"""Ask a model about many copies of rows, few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor


def in_parts(function: Callable[..., Tensor], *rows: Tensor, max_rows: int) -> Tensor:
    """Give a function tensors (n, ...) with at most `max_rows` rows at a time, fewer where the device runs out of memory."""
    try:
        return torch.cat([function(*part) for part in zip(*(torch.split(tensor, max_rows) for tensor in rows), strict=True)])
    except torch.cuda.OutOfMemoryError:
        fewer = min(max_rows, len(rows[0])) // 2
        if fewer == 0:
            raise
    torch.cuda.empty_cache()
    return in_parts(function, *rows, max_rows=fewer)


@torch.no_grad()
def ask(model: Callable[[Tensor], Tensor], x: Tensor, *, max_rows: int) -> Tensor:
    """What a model says (n, c) of rows (n, ...), in double precision and without gradients."""
    return in_parts(lambda part: model(part).detach().double(), x, max_rows=max_rows)


def together(copies: int, rows: int, max_rows: int) -> Iterator[range]:
    """So many copies of rows in groups, each of as many copies as may be in flight and of one at the least."""
    size = max(1, max_rows // max(1, rows))
    return (range(first, min(first + size, copies)) for first in range(0, copies, size))


def copied(x: Tensor, copies: int) -> Tensor:
    """Rows (b, ...) again and again: (copies x b, ...)."""
    return x.expand(copies, *x.shape).flatten(0, 1)


def explained(model: Callable[[Tensor], Tensor], x: Tensor, target: Tensor | None, *, max_rows: int) -> tuple[Tensor, Tensor]:
    """The class explained (b,), the predicted one unless given, and what the model says of it (b,) on whole rows."""
    said = ask(model, x, max_rows=max_rows)
    target = said.argmax(1) if target is None else target.to(said.device)
    return target, said.gather(1, target[:, None]).squeeze(1)


def said_of(model: Callable[[Tensor], Tensor], x: Tensor, target: Tensor, *, max_rows: int) -> Tensor:
    """What a model says (copies, b) of the class explained (b,), from rows (copies x b, ...)."""
    copies = len(x) // len(target)
    return ask(model, x, max_rows=max_rows).gather(1, copied(target, copies)[:, None]).reshape(copies, len(target))
