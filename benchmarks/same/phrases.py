"""A kind of input that the library does not have: phrases, lists of words that differ in length. Not a group of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import torch
from torch import nn

from lexplain.core.contracts import Encoded
from lexplain.features import FeatureKind

from .places import first_of

KIND, MADE = "phrases", "made"
WORDS = ("and", "bad", "film", "good", "quite", "really", "the", "was")
LONGEST = 6


@dataclass(frozen=True)
class Phrases(FeatureKind):
    """The words of a phrase are its features: encoded as a row of zeros with a single one, and padding as zeros."""

    kind: ClassVar[str] = KIND
    numeric: ClassVar[bool] = False
    longest: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Of encoded rows."""
        return (self.longest, len(WORDS)) if self.longest else ()

    @property
    def names(self) -> tuple[str, ...]:
        """One per place of a word."""
        return tuple(f"word {place + 1}" for place in range(self.longest))

    def fit(self, X: Any) -> Phrases:
        """Find the longest phrase."""
        return Phrases(max(map(len, X)))

    def encode(self, X: Any, device: Any = "cpu") -> Encoded:
        """One-hot words, and which of them there are."""
        x, valid = torch.zeros(len(X), *self.shape), torch.zeros(len(X), self.longest, dtype=torch.bool)
        for row, words in enumerate(X):
            for place, word in enumerate(words):
                x[row, place, WORDS.index(word)] = 1
            valid[row, : len(words)] = True
        return Encoded(x.to(device), valid.to(device))

    def decode(self, x: Any) -> Any:
        """The words again."""
        seen, words = (x.amax(-1) > 0).tolist(), x.argmax(-1).tolist()
        return [[WORDS[i] for i, there in zip(*row, strict=True) if there] for row in zip(words, seen, strict=True)]

    def expand(self, mask: Any) -> Any:
        """A mask of words as one of encoded rows."""
        return mask.unsqueeze(-1).expand(*mask.shape, len(WORDS))

    def gather(self, values: Any) -> Any:
        """The other way round: sums."""
        return values.sum(-1)

    def on_inputs(self, scores: Any) -> Any:
        """Each word is an input."""
        return scores

    def row_names(self, X: Any) -> Any:
        """The words of each row."""
        return tuple(map(tuple, X))

    def state(self) -> dict[str, Any]:
        """What a file keeps."""
        return {"longest": self.longest}


class ScoreWords(nn.Module):
    """Score each word by itself."""

    def __init__(self, context: int) -> None:
        super().__init__()
        self.word, self.context = nn.Linear(len(WORDS), 1), context

    def forward(self, x: Any, context: Any = None) -> Any:
        """One score per word."""
        return self.word(x).squeeze(-1)


class BagOfWords(nn.Module):
    """Predict from which words are there."""

    def __init__(self, shape: Any, count: int) -> None:
        super().__init__()
        self.longest, self.body = shape[0], nn.Linear(shape[1], count)

    def forward(self, x: Any) -> Any:
        """One logit per class."""
        return self.body(x[:, : self.longest].amax(1))


def restore(state: Any) -> Phrases:
    """Features of a file."""
    return Phrases(state["longest"])


def selector(features: Any, *, context: int, activation: Any = None) -> nn.Module:  # noqa: ARG001  as above
    """The selector network of the kind."""
    return ScoreWords(context)


def predictor(features: Any, count: int, *, sees_mask: bool, activation: Any = None) -> nn.Module:  # noqa: ARG001  as above
    """The predictor network of the kind."""
    return BagOfWords(features.shape, count)


@contextmanager
def known() -> Iterator[type[Phrases]]:
    """The kind, known to the library: registered, or for a while a line in each table by kind of older trees."""
    import lexplain as lx
    from lexplain.imputers import Constant

    if hasattr(lx, "register"):  # it stays known: no other case has rows that suit it
        kind, pace = (first_of(f"lexplain.kinds:{name}", f"lexplain.core.kinds:{name}") for name in ("Kind", "Pace"))
        lx.register(
            kind(
                name=KIND,
                suits=lambda rows: isinstance(rows, list) and isinstance(rows[0], list) and isinstance(rows[0][0], str),
                features=Phrases,
                restore=restore,
                selector=selector,
                predictor=predictor,
                imputer=lambda: Constant,
                method=lambda: lx.METHODS["lex"],
                pace=pace(batch_size=100),
            )
        )
        yield Phrases
        return
    lines = {
        "features.by_kind:RESTORE": restore,
        "selectors.by_kind:NETWORKS": first_of("lexplain.selectors.by_kind:SelectorNetworks")(selector),
        "predictors.by_kind:NETWORKS": first_of("lexplain.predictors.by_kind:PredictorNetworks")(predictor),
        "imputers.by_kind:DEFAULTS": Constant,
        "methods.by_kind:DEFAULTS": lx.METHODS["lex"],
        "training.by_kind:PACES": first_of("lexplain.training.by_kind:Pace")(batch_size=100),
    }
    with ExitStack() as stack:
        for table, line in lines.items():
            stack.enter_context(patch.dict(first_of(f"lexplain.{table}"), {KIND: line}))
        yield Phrases


def phrases(rows: int, seed: int) -> tuple[list[list[str]], np.ndarray]:
    """Phrases of 1 to 6 words, one of which is an opinion; and which opinion it is."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, rows)
    fillers = [word for word in WORDS if word not in ("bad", "good")]
    X = [[str(word) for word in draw.choice(fillers, draw.integers(0, LONGEST))] for _ in range(rows)]
    for words, label in zip(X, y, strict=True):
        words.insert(int(draw.integers(0, len(words) + 1)), ("bad", "good")[label])
    return X, y


def says(rows: Any) -> np.ndarray:
    """A model of phrases: class probabilities."""
    good = np.array([0.5 + 0.45 * (("good" in words) - ("bad" in words)) for words in rows])
    return np.stack([1 - good, good], 1)
