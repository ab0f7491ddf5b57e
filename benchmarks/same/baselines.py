"""Every baseline on 60 rows of S3: classes, a class that is asked for, and a real value."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import Case
from .given import explained, linear_value, network, numbers, s3, three_labels, three_model

SMALL: dict[str, dict[str, Any]] = {
    "fastshap": {"steps": 20, "masks": 2},
    "cxplain": {"steps": 20, "members": 3},
    "senn": {"steps": 20},
    "lime": {"num_samples": 50},
    "infidelity": {"draws": 50},
    "shap": {"samples": 10, "background": 3},
    "smoothgrad": {"samples": 5},
    "deepshap": {"background": 7},
}
GRADIENTS = {"saliency", "gradient_x_input", "integrated_gradients", "deeplift", "smoothgrad", "deepshap"}
WITHOUT_MODEL = {"random", "all", "senn"}


def cases() -> dict[str, Case]:
    """Two for each baseline."""
    from lexplain.baselines import BASELINES

    return {f"baselines/{name}/{kind}": partial(_fit, name, kind) for name in sorted(BASELINES) for kind in ("classes", "real")}


def _model(name: str, kind: str, x: Any) -> Any:
    if name in WITHOUT_MODEL:
        return None
    if name in GRADIENTS:
        return network(x.shape[1], 3 if kind == "classes" else 1)
    if name == "treeshap":
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        if kind == "classes":
            return RandomForestClassifier(5, max_depth=3, random_state=0).fit(x, three_labels(x))
        return RandomForestRegressor(5, max_depth=3, random_state=0).fit(x, linear_value(x))
    return three_model if kind == "classes" else linear_value


def _fit(name: str, kind: str) -> dict[str, Any]:
    from lexplain.baselines import BASELINES

    x = s3(60).train.x
    shown = s3(60).test.x[:20]
    made = BASELINES[name](keep=3, random_state=2, **SMALL.get(name, {}))
    model = _model(name, kind, x)
    y = (three_labels(x) if kind == "classes" else linear_value(x)) if model is None else None
    try:
        made.fit(x, y, model=model)
        found = {"own": explained(made.explain(shown)), "model_rows": made.model_rows_}
        if kind == "classes" and name not in ("random", "all"):
            found["asked"] = explained(made.explain(shown, target=[1] * 10 + [2] * 10))
    except (ValueError, TypeError, AttributeError) as refused:  # a refusal is an answer too
        found = {"refused": f"{type(refused).__name__}: {refused}"}
    return numbers(found)
