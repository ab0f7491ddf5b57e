"""`lexplain explain`."""

from __future__ import annotations

from . import options
from .output import show_table, write_out


def explain(
    model: options.Model,
    data: options.Data,
    out: options.ExplanationFile = None,
    verify: options.Verify = False,
    rows: options.RowsShown = 10,
    device: options.Device = "auto",
) -> None:
    """Explain each row of a file or data set.

    A built-in data set is explained on its test split. Columns that were not used in the fit are ignored.
    Try: lexplain explain model.lex s3 --out page.html
    """
    from ..data.files import find_rows
    from ..explainers import Explainer
    from ..report.formatting import shorten
    from ..report.rows import read_row
    from .rows import explanation_as_csv, writable

    writable(out, (".csv", ".json", ".html"))
    explainer = Explainer.load(model, device=device)
    explanation = explainer.explain(find_rows(data, "test", known=explainer.features_).x, verify=verify)
    shown = [read_row(explanation, row, most=12, kept_only=True) for row in range(min(rows, len(explanation)))]
    kept = [", ".join(shorten(item.label, 40) for item in row.items) + (", …" if row.left_out_kept else "") for row in shown]
    cells = [(row.label, row.outcome, *([row.holds] if verify else []), features) for row, features in zip(shown, kept, strict=True)]
    show_table(["row", "outcome", *(["answer"] if verify else []), "kept features, most important first"], cells)
    write_out(out, {".csv": lambda: explanation_as_csv(explanation), ".json": explanation.to_json, ".html": explanation.to_html})
