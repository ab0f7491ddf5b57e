"""What this folder refuses, beside the generic refusals of `lexplain.check`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from ..core.contracts import Features


def numeric(features: Features) -> None:
    """Refuse features without gradients, such as token ids."""
    if not features.numeric:
        raise TypeError(
            f"features of kind {features.kind!r} are encoded as ids, which have no gradients; "
            "pass embedded rows (n, tokens, dimensions) and a network that reads them, without features="
        )


def network_given(network: nn.Module | None, path: Path) -> nn.Module:
    """Refuse to load the weights of a user's own network without that network."""
    if network is None:
        raise ValueError(f"{path} holds the weights of a network of your own; build it again and pass RightReasons.load(path, network=...)")
    return network


def weights_fit(network: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Refuse weights of another network."""
    needed = {(name, tuple(value.shape)) for name, value in network.state_dict().items()}
    found = {(name, tuple(value.shape)) for name, value in tensors.items()}
    if needed != found:
        raise ValueError(
            f"the weights in {path} do not fit the network: they differ in {sorted(needed ^ found)[:4]}; pass the network that was saved"
        )


def search_reads_inputs(features: Features | None) -> None:
    """Refuse a search among features: it marks inputs as the network reads them."""
    if features is not None:
        raise ValueError(
            f"trainer has features={type(features).__name__}(...), but find_another_explanation marks inputs as the network reads them; "
            "pass encoded rows, features.encode(X).x, and a trainer without features"
        )
