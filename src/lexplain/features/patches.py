"""Features of images: single pixels or patches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeGuard

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ..core.contracts import Encoded, RawRows
from ..core.rows import as_array, choose_cells
from .feature_kind import FeatureKind, truth_of, truth_values
from .images import finite_span, image_array, image_layout, same_images, same_units
from .tables import as_type, storable

MOST = 64  # patches along the longer side if no size is given
SENT = ("bool", "uint8", "int8", "int16", "float16", "float32")  # types that are sent to a device unchanged; others become float32 first


@dataclass(frozen=True)
class Patches(FeatureKind):
    """Patches of pixels are the features: the pixels of a patch, in all channels, are visible or hidden together.

    Encoded images are (n, channels, rows, columns). Unsigned integers are divided by the largest value of their type, so that bytes become
    numbers in [0, 1]; other numbers stay unchanged. 0 is black, not the mean. Images must have the units of `fit`: after a fit on numbers
    in [0, 1], bytes stored as floats raise an error. Shapes: b or n images, d features.

    Args:
        size: Side of a patch in pixels, or (rows, columns). 1: single pixels. None: the smallest size with at most 64 patches per side.
            Patches at the right and lower edge may be smaller.
        layout: "NCHW" (channels first), "NHWC" (channels last), or "NHW" (no channel axis). None: the channel axis is the one with 1, 3
            or 4 entries.
        each_channel: Whether each channel of a patch is a feature.

    Example:
        >>> import numpy as np
        >>> fitted = Patches(4).fit(np.zeros((2, 28, 56), dtype=np.uint8))
        >>> fitted.shape, fitted.grid, fitted.count
        ((1, 28, 56), (7, 14), 98)
    """

    kind: ClassVar[str] = "patches"
    size: int | tuple[int, int] | None = 1
    layout: str | None = None
    each_channel: bool = False
    shape: tuple[int, ...] = ()  # of an encoded image: channels, rows, columns
    dtype: str = "float32"  # of the images that a model expects
    span: tuple[float, float] | None = None  # smallest and largest number in fit; None: unknown

    def fit(self, X: RawRows) -> Patches:
        """Learn layout, shape and type from training images."""
        images = image_array(X)
        span = finite_span(images)
        layout = image_layout(images.shape, self.layout)
        shape = {"NHW": (1, *images.shape[1:]), "NHWC": (images.shape[-1], *images.shape[1:-1]), "NCHW": images.shape[1:]}[layout]
        size = _patch_size(-(-max(shape[1:]) // MOST) if self.size is None else self.size)
        if size[0] > shape[-2] or size[1] > shape[-1]:
            raise ValueError(
                f"Patches of {size[0]} x {size[1]} pixels are larger than the images of {shape[-2]} x {shape[-1]}. Pass a smaller size."
            )
        return replace(self, size=size, layout=layout, shape=tuple(map(int, shape)), dtype=str(images.dtype), span=span)

    def check(self, X: RawRows) -> np.ndarray:
        """Return images as an array; raise if they are not images."""
        return image_array(X)

    # ---- features ----

    @property
    def grid(self) -> tuple[int, int]:
        """Number of rows and columns of patches."""
        _, rows, columns = self.shape
        high, wide = _patch_size(self.size)
        return -(-rows // high), -(-columns // wide)

    @property
    def count(self) -> int:
        """Number of features."""
        return self.layers * self.grid[0] * self.grid[1] if self.shape else 0

    @property
    def layers(self) -> int:
        """Features per patch: the number of channels if `each_channel`, otherwise 1."""
        return self.shape[0] if self.each_channel else 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """One name per feature: row and column in the grid of patches, from 1, and the channel if `each_channel`."""
        if not self.shape:
            return ()
        places = [f"r{r + 1} c{c + 1}" for r in range(self.grid[0]) for c in range(self.grid[1])]
        return tuple(places) if not self.each_channel else tuple(f"{place} ch{k + 1}" for k in range(self.shape[0]) for place in places)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """One name per pixel and channel, in the order of the encoded image."""
        if not self.shape:
            return ()
        channels, rows, columns = self.shape
        places = [f"y{r + 1} x{c + 1}" for r in range(rows) for c in range(columns)]
        return tuple(places) if channels == 1 else tuple(f"{place} ch{k + 1}" for k in range(channels) for place in places)

    # ---- masks ----

    def expand(self, mask: Tensor) -> Tensor:
        """Expand feature masks (..., d) to encoded masks (..., channels, rows, columns)."""
        channels, rows, columns = self.shape
        high, wide = _patch_size(self.size)
        squares = mask.reshape(*mask.shape[:-1], self.layers, *self.grid)
        if high > 1:
            squares = squares.repeat_interleave(high, -2)
        if wide > 1:
            squares = squares.repeat_interleave(wide, -1)
        return squares[..., :rows, :columns].expand(*mask.shape[:-1], channels, rows, columns)

    def gather(self, values: Tensor) -> Tensor:
        """Sum values of encoded images (b, channels, rows, columns) within each feature (b, d)."""
        _, rows, columns = self.shape
        (high, wide), (down, across) = _patch_size(self.size), self.grid
        full = pad(values, (0, across * wide - columns, 0, down * high - rows))
        sums = full.reshape(len(values), -1, down, high, across, wide).sum((3, 5))
        return (sums if self.each_channel else sums.sum(1)).flatten(1)

    def expand_scores(self, scores: Tensor) -> Tensor:
        """Give each pixel and channel the score of its patch."""
        return self._laid_out(self.expand(scores))

    def neighbours(self) -> Tensor:
        """Pairs (m, 2) of patches that share an edge, in the same channel if `each_channel`."""
        index = torch.arange(self.count).reshape(self.layers, *self.grid)
        down = torch.stack([index[:, :-1].flatten(), index[:, 1:].flatten()], 1)
        across = torch.stack([index[:, :, :-1].flatten(), index[:, :, 1:].flatten()], 1)
        return torch.cat([down, across])

    def feature_truth(self, given: object, rows: int) -> Tensor:
        """Convert ground truth per patch, per pixel, or per square of another size to patches (n, d).

        A patch is true if half of its pixels are true. In an image without such a patch, those with the most true pixels are true, so that
        small objects are not lost. `given` has the shape of the images, or is (n, m), with one value per patch, pixel or square. Other and
        ambiguous shapes raise an error.
        """
        known = truth_values(given)
        pixels = None if known.ndim < 2 or known.shape == (rows, self.count) else self._pixels(known)
        if pixels is None:
            return truth_of(known, rows, self.count)
        if not self.each_channel:
            pixels = pixels.any(1, keepdim=True)
        alike = replace(self, shape=(self.layers, *self.shape[1:]))
        counts = alike.gather(pixels.float().expand(-1, *alike.shape))
        half = alike.gather(torch.ones(1, *alike.shape)) / 2
        return truth_of((counts >= torch.minimum(half, counts.amax(1, keepdim=True))) & (counts > 0), rows, self.count)

    def _pixels(self, truth: Tensor) -> Tensor | None:
        """Ground truth as (n, channels or 1, rows, columns); None if its pixels cannot be determined."""
        channels, rows, columns = self.shape
        if truth.ndim == 4:
            first = truth.movedim(-1, 1) if self.layout == "NHWC" else truth
            return first if first.shape[1:] in ((1, rows, columns), (channels, rows, columns)) else None
        flat = truth.flatten(1)
        sides = [side for side in range(1, max(rows, columns) + 1) if -(-rows // side) * -(-columns // side) == flat.shape[1]]
        sides = [side for side in sides if rows % side == columns % side == 0] or sides
        if len(sides) != 1:
            return None
        return replace(self, size=sides[0], shape=(1, rows, columns), each_channel=False).expand(flat)

    # ---- images ----

    def encode(self, X: RawRows, device: torch.device | str = "cpu") -> Encoded:
        """Convert images to a tensor (b, channels, rows, columns) on a device. Never shares memory with X."""
        encoded, check_numbers = self.encode_unchecked(X, device)
        check_numbers()
        return encoded

    def encode_unchecked(self, X: RawRows, device: torch.device | str = "cpu") -> tuple[Encoded, Callable[[], None]]:
        """Encode without checking the values; return the result, and a function that checks them."""
        images, last = image_array(X), self.layout == "NHWC"
        same_images(images.shape, self.shape, self.layout)
        with np.errstate(over="ignore"):  # values too large for float32 raise below
            if torch.device(device).type == "cpu":
                x = torch.from_numpy(np.array(np.moveaxis(images, -1, 1) if last else images, dtype=np.float32, order="C"))
            else:  # bytes are sent as bytes; torch warns of read-only arrays
                sent = np.require(images, images.dtype if images.dtype in SENT else np.float32, ["C", "W"])
                received = torch.from_numpy(sent).to(device)
                # Flat: with one channel both layouts have the same numbers, but strides that choose other kernels.
                x = (received.movedim(-1, 1) if last else received).flatten().float()
        x = x.view(len(images), *self.shape)
        scale = _scale_of(images.dtype)
        return Encoded(x.div_(scale) if scale != 1 else x), partial(self._check_numbers, images)

    def _check_numbers(self, images: np.ndarray) -> None:
        """Check that images are finite and in the units of the fit."""
        span = finite_span(images)
        if self.span is not None:
            same_units(images.dtype, span, np.dtype(self.dtype), self.span)

    def compose(self, rows: RawRows, mask: Tensor, donors: RawRows) -> RawRows:
        """Images with the pixels of donor images where a mask (n, d) is False."""
        return choose_cells(rows, self._laid_out(self.expand(mask)).numpy(), donors)

    def pack(self, rows: RawRows) -> dict[str, Tensor] | None:
        """The images as a tensor."""
        return {"images": torch.from_numpy(storable(image_array(rows)))}

    def unpack(self, tensors: Mapping[str, Tensor]) -> np.ndarray:
        """Undo `pack`."""
        return tensors["images"].numpy()

    def as_network_input(self, x: Tensor) -> Tensor:
        """Encoded images, back in the layout and units of the fit, as a tensor with gradients."""
        return self._laid_out(x) * _scale_of(np.dtype(self.dtype))

    def decode(self, x: Tensor) -> np.ndarray:
        """Convert encoded images to the layout and type of the fit."""
        return as_type(self.as_network_input(x.detach()).cpu().numpy(), np.dtype(self.dtype))

    def as_model_input(self, X: RawRows, x: Tensor) -> RawRows:
        """X if it has the type of the rows of `fit`, otherwise x decoded."""
        return X if str(as_array(X).dtype) == self.dtype else self.decode(x)

    def _laid_out(self, x: Tensor) -> Tensor:
        """Numbers of pixels (n, channels, rows, columns) in the layout of the images."""
        return x.squeeze(1) if self.layout == "NHW" else x.movedim(1, -1) if self.layout == "NHWC" else x

    # ---- files ----

    def state(self) -> dict[str, Any]:
        """Everything learned and set, as JSON values."""
        settings = {"size": list(_patch_size(self.size)), "layout": self.layout, "each_channel": self.each_channel}
        return {**settings, "shape": list(self.shape), "dtype": self.dtype, "span": None if self.span is None else list(self.span)}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Patches:
        """Rebuild the object from its `state`."""
        size, shape = _patch_size(tuple(state["size"])), tuple(int(n) for n in state["shape"])
        span = None if state["span"] is None else (float(state["span"][0]), float(state["span"][1]))
        return cls(size, str(state["layout"]), bool(state["each_channel"]), shape, str(np.dtype(state["dtype"])), span)


def is_patches(features: object) -> TypeGuard[Patches]:
    """Whether features are patches of images, for figures that only draw images."""
    return isinstance(features, Patches)


def patches_of(features: object) -> Patches:
    """Return features that are patches; raise for other kinds."""
    if not isinstance(features, Patches):
        raise TypeError(f"{type(features).__name__} features are not patches of images. Explain images with features=Patches(...).")
    return features


def _scale_of(dtype: np.dtype[Any]) -> float:
    """The factor from encoded values to values of a type."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def _patch_size(size: object) -> tuple[int, int]:
    """Return the rows and columns of a patch; raise if size is not one or two positive integers."""
    both = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    if len(both) != 2 or not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 1 for n in both):
        raise ValueError(f"size must be a positive number of pixels, or (rows, columns), got {size!r}.")
    return int(both[0]), int(both[1])
