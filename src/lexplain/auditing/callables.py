"""Callables for an audit: a model and an explainer of raw rows as functions of encoded rows, and further fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from sklearn.base import clone
from torch import Tensor, nn

from ..core import Explanation
from ..core.contracts import Features, Labels, Model, RawRows, ToolExplainer
from ..core.rows import as_array
from ..evaluation import Callables, reinitialised
from ..measures.stability import permute_labels
from ..models import on_encoded
from .class_selection import ClassSelection


@dataclass(frozen=True)
class ForeignExplainer:
    """An explainer of any tool (an object with `explain`, or a function of rows) that explains one class per row."""

    tool: ToolExplainer
    one_class: ClassSelection

    def explain(self, X: RawRows) -> Explanation:
        """The output of the tool as an Explanation."""
        output = (self.tool.explain if hasattr(self.tool, "explain") else self.tool)(X)
        is_mask = str(getattr(output, "dtype", "")).removeprefix("torch.") == "bool"  # for a mask, keep is not needed
        return replace(self.one_class, keep=None if is_mask else self.one_class.keep or 1)(output, X)


def make_callables(
    explainer: ToolExplainer,
    model: Model,
    features: Features,
    *,
    real: bool,
    one_class: ClassSelection,
    known_rows: tuple[RawRows, ...] | None = None,
    outputs: Tensor | None = None,
    refit: tuple[RawRows, RawRows, Labels, Model] | None = None,
) -> Callables:
    """Functions of encoded rows that call a model and an explainer. Either may be None.

    Args:
        explainer: Object with `explain`, or a function of rows.
        model: The explained model, or a `QueriedModel` of it.
        features: Features that encode and decode rows.
        real: Whether real values are predicted.
        one_class: Selects the explained class.
        known_rows: Raw rows whose cells reach the model unchanged, such as explained and background rows. None: those of `refit`.
        outputs: Outputs (n, c) of the model for the explained rows. None: they are not known.
        refit: The explained rows, and rows, labels and model to fit the explainer on again. None: it is not fitted again.
    """
    predict = model if model is not None else getattr(explainer, "predict" if real else "predict_proba", None)
    decode = features.decoder(*((refit or ())[:2] if known_rows is None else known_rows))
    wrapped = ForeignExplainer(explainer, one_class)
    fit_again: Callable[[int, str], Explanation] | None = None
    randomised: tuple[str, ...] = ()
    if refit is not None and hasattr(explainer, "fit"):
        fit_again, (labels, explained) = _refits(explainer, *refit), refit[2:]
        randomised = ("model",) if isinstance(explained, nn.Module) else ("labels",) if explained is None and labels is not None else ()
    return Callables(
        model=None if model is None or real else on_encoded(model, decode),
        outputs=None if real else outputs,
        explain=None if explainer is None else lambda x: wrapped.explain(features.decode(x.cpu())).scores.to(x.device),
        predict=None if predict is None else on_encoded(predict, decode),
        fit_seconds=getattr(explainer, "fit_seconds_", None),
        refit=fit_again,
        randomised=randomised,
    )


def _refits(explainer: ToolExplainer, X: RawRows, rows: RawRows, labels: Labels, model: Model) -> Callable[[int, str], Explanation]:
    """A function that fits a copy of the explainer, with another seed or to a randomised target, and explains the same rows."""

    def fit_again(seed: int, what: str) -> Explanation:
        fresh = clone(explainer).set_params(random_state=seed)
        if model is not None:
            fresh.fit(rows, model=reinitialised(model, seed=seed) if what == "model" else model)
        else:
            values = as_array(labels)
            shuffled = permute_labels(torch.arange(len(values)), generator=torch.Generator().manual_seed(seed)).numpy()
            fresh.fit(rows, values[shuffled] if what == "labels" else values)
        explained: Explanation = fresh.explain(X)
        return explained

    return fit_again
