"""Texts by their SHA-256: JSON, HTML of explanations, cards and fits, and what a comparison writes; version, date and times are empty."""

from __future__ import annotations

import json
from functools import lru_cache, partial
from typing import Any

import numpy as np

from . import Case
from .compare import _explainers, _steps
from .given import digest, explainer, linear_value, mixed_model, mixed_table, s3, three_model
from .places import first_of, short

ROWS = 100
TIMED = ("model_rows", "fit_seconds", "explain_seconds", "ms_a_row", "fresh")


def cases() -> dict[str, Case]:
    """The pages of four fits, of a card of another tool's scores, and of a comparison."""
    fits = ("labels", "auto", "three", "real", "mixed", "patches")
    found: dict[str, Case] = {f"texts/{name}": partial(_pages, name) for name in fits}
    return {**found, "texts/other tool": _other_tool, "texts/comparison": _comparison, "texts/data": _data, "texts/measures": _measures}


def _fit(name: str) -> tuple[Any, Any]:
    """A fitted explainer, and rows to explain."""
    import lexplain as lx

    if name == "patches":
        data = lx.load_data("sp_digits", rows=40, seed=3)
        return explainer("sufficient", 40, features=lx.Patches(2), epochs=2).fit(data.train.x, data.train.y), data.test.x[:8]
    if name == "mixed":
        frame, _ = mixed_table(ROWS)
        return explainer("realx", ROWS, epochs=5).fit(frame, model=mixed_model), frame.iloc[:12]
    data = s3(ROWS)
    y = linear_value(data.train.x) if name == "real" else data.train.y
    fitted = explainer("gains", ROWS, epochs=5, **({"keep": "auto"} if name == "auto" else {}))
    fitted = fitted.fit(data.train.x, model=three_model) if name == "three" else fitted.fit(data.train.x, y)
    return fitted, data.test.x[:12]


def _pages(name: str) -> dict[str, np.ndarray]:
    """All texts of a fit but the explanation's repr, which holds an address in memory."""
    from lexplain.report import card_page, explanation_page, explanation_table, fit_page

    with short():
        fitted, shown = _fit(name)
        explanation, card = fitted.explain(shown), fitted.card_
    texts = {
        "explanation json": explanation.to_json(),
        "explanation page": explanation_page(explanation),
        "explanation html": explanation.to_html(),
        "explanation table": explanation_table(explanation),
        "explanation frame": explanation.to_frame().to_csv(),
        "json with prediction": "" if explanation.prediction is None else explanation.to_json(),
        "card json": card.to_json(),
        "card page": card_page(card),
        "card html": card.to_html(),
        "card repr": repr(card),
        "fit page": fit_page(fitted),
        "explainer repr": repr(fitted),
    }
    return hashed(texts)


def hashed(texts: dict[str, str]) -> dict[str, np.ndarray]:
    """The SHA-256 of each text."""
    return {name: np.array(digest(text)) for name, text in texts.items()}


def _other_tool() -> dict[str, np.ndarray]:
    """A card of scores of every class, of which times are left out."""
    import lexplain as lx

    x = s3(ROWS).train.x[:60]
    scores = np.random.default_rng(9).normal(size=(60, x.shape[1], 3))
    with short():
        card = lx.audit(scores, x, model=three_model, keep=3, device="cpu")
    given = lx.as_explanation(scores[:, :, 0], x, keep=3)
    return hashed({"card json": card.to_json(), "card html": card.to_html(), "given": given.to_json()})


@lru_cache
def _found() -> Any:
    import lexplain as lx

    explainers = {name: _explainers()[name] for name in ("l2x", "random")}
    with short():
        return lx.compare(explainers, s3(ROWS), ("eACC", "TPR", "Kept"), seeds=2, rows=40, **_steps())


def _comparison() -> dict[str, np.ndarray]:
    """What a comparison writes: CSV, JSON, tables, and its page in Markdown, from the line after the machine and the date."""
    found = _found()
    record = json.loads(found.to_json())
    record = {name: [_timeless(row) for row in rows] if isinstance(rows, list) else rows for name, rows in record.items()}
    page = first_of("lexplain.report.comparison_page:comparison_page", "lexplain.reproduce.tables:comparison_page")
    tables = {"Means over seeds": found.summary().reset_index(), "Paired tests": found.tests("eACC")}
    lines = [line for line in page("a command", "A lead.", tables).splitlines() if not line.startswith(("Machine:", "Written by"))]
    html = first_of("lexplain.report:page")
    section = first_of("lexplain.report:Section")
    sections = [section(title, table=table) for title, table in tables.items()]
    texts = {"csv": found.to_csv(), "json": json.dumps(record), "html": found._repr_html_(), "markdown": "\n".join(lines)}
    return hashed({**texts, "page": html("Explainers compared", "A lead.", sections)})


def _timeless(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in TIMED}


def _data() -> dict[str, np.ndarray]:
    """The menu of data sets."""
    return hashed({"menu": first_of("lexplain.data:describe", "lexplain.data.load:describe")().to_csv()})


def _measures() -> dict[str, np.ndarray]:
    """The menu of measures, in its order: key, label, direction, text, needs, group, family, and when it is taken."""
    names = ("key", "label", "higher_is_better", "description", "needs", "percent", "group", "family", "taken", "judged")
    later = {"taken": "included", "judged": "needs_evaluator"}
    menu = first_of("lexplain.auditing:MEASURES")
    return {
        key: np.array(digest(repr([getattr(measure, name if hasattr(measure, name) else later[name]) for name in names])))
        for key, measure in menu.items()
    } | {"order": np.array(digest(repr(list(menu))))}
