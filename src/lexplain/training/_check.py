"""What this folder refuses: what was given, what is needed, the way out."""

from __future__ import annotations

from typing import Any

import torch


def device_there(kind: str, index: str) -> None:
    """Refuse a device that this machine has not."""
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}[kind]
    if there == 0 or (index and not (index.isdecimal() and int(index) < there)):
        name = f"{kind}:{index}" if index else kind
        raise ValueError(f"device={name!r}, but torch sees {there} {kind.upper()} device(s) here; use device='auto' or 'cpu'")


def precision_fits(scaler: Any) -> None:
    """Refuse a precision whose gradients must be scaled, which the loop does not do."""
    if scaler is not None:
        raise ValueError("this Fabric scales its loss (precision='16-mixed'), which is not supported; use precision='bf16-mixed'")


def require_finite_training(best: Any) -> None:
    """Refuse the result of a training whose every check was NaN or infinite."""
    if not best:
        raise FloatingPointError("the training diverged: no epoch's check is a finite number; use a smaller learning_rate")
