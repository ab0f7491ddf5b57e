"""Are another tool's explanations honest? Audit SHAP values of a model, and write a page about it."""

import argparse
import warnings
from pathlib import Path

from sklearn.ensemble import RandomForestClassifier

import lexplain as lx
from lexplain.baselines import BASELINES


def main(rows: int, trees: int, out: Path) -> None:
    """Explain a forest with TreeSHAP, and let judges that have not seen the rows say what the five best features tell."""
    data = lx.load_data("s3", rows=rows, seed=0)
    model = RandomForestClassifier(trees, min_samples_leaf=5, random_state=0).fit(data.train.x, data.train.y)
    explainer = BASELINES["treeshap"](keep=5).fit(data.train.x, model=model)
    e = explainer.explain(data.test.x)  # or what shap.TreeExplainer(model)(X) returns, with keep=5
    card = lx.audit(e, data.test.x, model=model, train=(data.train.x, None, explainer.explain(data.train.x)), truth=data.test.truth)
    print(card)
    out.write_text(card.to_html())
    print(f"written to {out}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("audit.html"))
    told = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # shap's plots ask matplotlib for what it will drop
        main(told.rows, told.trees, told.out)
