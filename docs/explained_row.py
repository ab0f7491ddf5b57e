"""Draws docs/explained_row.svg, the explained row at the top of the README: `python docs/explained_row.py` (about 20 seconds)."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from sklearn.ensemble import GradientBoostingClassifier

import lexplain as lx
from lexplain.report import row_bars, save


def explained_row() -> Axes:
    """Draw the row that the README explains, with the model and the explainer of its first lines."""
    data = lx.load_data("breast_cancer", seed=0)
    X, X_test = data.frame(data.train), data.frame(data.test)
    model = GradientBoostingClassifier(random_state=0).fit(X, data.train.y)
    explainer = lx.Explainer().fit(X, model=model)
    return row_bars(explainer.explain(X_test, verify=True), 0, max_features=8)


if __name__ == "__main__":
    save(explained_row(), Path(__file__).with_suffix(".svg"))
