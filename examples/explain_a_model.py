"""Which five measurements made a gradient-boosting model call this tumour benign or malignant, and is the answer honest?"""

import argparse
from pathlib import Path

from sklearn.ensemble import GradientBoostingClassifier

import lexplain as lx


def main(epochs: int | None, out: Path) -> None:
    """Explain a model post hoc, audit the explanation, write the page."""
    data = lx.load_data("breast_cancer", seed=0)
    X, X_test = data.frame(data.train), data.frame(data.test)
    model = GradientBoostingClassifier(random_state=0).fit(X, data.train.y)

    explainer = lx.Explainer("realx", keep=5, epochs=epochs).fit(X, model=model)
    e = explainer.explain(X_test)
    for row in range(3):
        print(row, [f"{name} ({score:.2f})" for name, score in e.as_list(row)])

    card = lx.audit(e, X_test, model=model, train=(X, None, explainer.explain(X)))
    print(card)
    out.write_text(e.to_html())
    explainer.save(out.with_suffix(".lex"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--out", type=Path, default=Path("explanation.html"))
    told = parser.parse_args()
    main(told.epochs, told.out)
