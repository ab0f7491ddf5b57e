"""One audit as users run it, with judges, readers and retrained networks of full length."""

from __future__ import annotations

import numpy as np

from . import Case
from .fits import FEW, data
from .given import linear_model


def cases() -> dict[str, Case]:
    """One audit."""
    return {f"audit/s3/surrogate/{FEW}": audited}


def audited() -> dict[str, np.ndarray]:
    """The numbers of an audit of a short fit: judges, readers, retrained networks and curves."""
    import lexplain as lx

    x, _, shown = data()["s3"][:3]
    explainer = lx.Explainer("gains", keep=3, epochs=FEW, batch_size=len(x), device="cpu", random_state=7).fit(x, model=linear_model)
    card = lx.audit(explainer.explain(shown), shown, model=linear_model, train=(x, None, explainer.explain(x)), device="cpu")
    table = card.to_frame().set_index("metric")[["value", "low", "high"]]
    return {label: row.to_numpy(dtype=float) for label, row in table.iterrows()}
