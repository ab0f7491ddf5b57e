"""The result of a comparison: a tidy table with summaries and tests."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from .. import check
from ..core.files import write_bytes
from ..measures import Measure, holm, paired_difference, paired_test

COLUMNS = ["explainer", "data", "seed", "metric", "value", "low", "high", "higher_is_better", "explains", "rows", "error"]
COSTS = ["explainer", "data", "seed", "explains", "rows", "model_rows", "fit_seconds", "explain_seconds", "ms_a_row", "findings", "fresh"]
TESTS = ["explainer", "other", "data", "seed", "rows", "difference", "low", "high", "p"]
LEVEL = 0.05  # of tests
Rows = Mapping[tuple[str, str, int, str], "pd.Series[Any]"]


@dataclass(frozen=True)
class Comparison:
    """Results of `compare`: explainers x data x seeds x measures.

    Attributes:
        table: One row per explainer, data set, seed and measure, with columns explainer, data, seed, metric (name of the measure), value,
            low, high (95 % confidence interval), higher_is_better, explains ("labels", "the model", "a network" or "nothing"), rows, error.
            An explainer that failed has one row with its error. Measures that could not be computed, for example without ground truth,
            have no row.
        fits: One row per fit: number of queries (model_rows), seconds to fit and to explain, milliseconds per row, findings, and fresh:
            False if another version of the code computed it.
        values: One value per test row, by (explainer, data, seed, metric). The index is the position among the test rows.
    """

    table: pd.DataFrame
    fits: pd.DataFrame
    values: Rows = field(repr=False, compare=False)

    def summary(self) -> pd.DataFrame:
        """Means over seeds: one row per explainer and data set, and one column per measure."""
        return _one_column_per_measure(self._good(), ["explainer", "data"], "value")

    def ranks(self) -> pd.DataFrame:
        """Mean ranks over data and seeds (1 is best): one row per explainer, one column per measure that ranks explainers."""
        good = self._good()
        good = good[good["higher_is_better"].notna() & good["value"].notna()]
        signed = good["value"].where(good["higher_is_better"].astype(bool), -good["value"])
        ranked = good.assign(rank=signed.groupby([good[name] for name in ("data", "seed", "metric")]).rank(ascending=False))
        return _one_column_per_measure(ranked, ["explainer"], "rank")

    def tests(self, measure: str) -> pd.DataFrame:
        """Paired tests of all pairs of explainers, on the rows that both explained, for each data set and seed.

        `p_holm` is corrected for all tests of the table (Holm, 1979). `better` is the explainer that is better at the 5 % level, or "".
        """
        check.one_of(measure, list(self._good()["metric"].unique()), "measure of this comparison")
        direction = self._good().set_index("metric")["higher_is_better"].loc[[measure]].iloc[0]
        rows = []
        cells = [key for key in self.values if key[3] == measure]
        for data, seed in dict.fromkeys(key[1:3] for key in cells):
            names = [key[0] for key in cells if key[1:3] == (data, seed)]
            for one, other in combinations(names, 2):
                a, b = self.values[one, data, seed, measure].align(self.values[other, data, seed, measure], join="inner")
                pair = torch.tensor(a.to_numpy()), torch.tensor(b.to_numpy())
                e = paired_difference(*pair)
                rows.append((one, other, data, seed, e.n, e.mean, e.low, e.high, paired_test(*pair)))
        tests = pd.DataFrame(rows, columns=TESTS)
        tests["p_holm"] = holm(torch.tensor(tests["p"].to_numpy(dtype=np.float64))).numpy()
        return tests.assign(better=[_better(row, direction) for row in tests.to_dict("records")])

    def main_tests(self) -> tuple[str, pd.DataFrame]:
        """Name and tests of the first measure with values of two or more explainers; if there is none, "nothing" and an empty table."""
        good = self._good()
        shared = good[good["higher_is_better"].notna()].groupby("metric", sort=False)["explainer"].nunique()
        metric = next((str(name) for name, count in shared.items() if count > 1), None)
        return ("nothing", pd.DataFrame(columns=TESTS)) if metric is None else (metric, self.tests(metric))

    def costs(self) -> pd.DataFrame:
        """Mean times and numbers of queries over data and seeds: one row per explainer."""
        numbers = ["rows", "model_rows", "fit_seconds", "explain_seconds", "ms_a_row"]
        return self.fits.groupby(["explainer", "explains"], sort=False)[numbers].mean()

    def failures(self) -> list[str]:
        """The fits that failed, one line each."""
        bad = self.table[self.table["error"] != ""]
        return [f"{row.explainer} on {row.data}, seed {row.seed}: {row.error}" for row in bad.itertuples()]

    def stale_cells(self) -> list[str]:
        """Results of another version of the code, one line each. `compare(recompute=True)` recomputes them."""
        return [f"{row.explainer} on {row.data}, seed {row.seed}" for row in self.fits.itertuples() if not row.fresh]

    def _good(self) -> pd.DataFrame:
        return self.table[self.table["error"] == ""]

    # ---- export ----

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table as CSV text, also written to `path` if given."""
        return _written(self.table.to_csv(index=False), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """The table and the fits as JSON text, also written to `path` if given."""
        parts = {"table": self.table, "ledger": self.fits}
        record = {name: json.loads(part.to_json(orient="records", double_precision=15)) for name, part in parts.items()}
        return _written(json.dumps({"format": "lexplain.comparison/1", **record}), path)

    def to_parquet(self, path: str | Path | None = None) -> bytes:
        """The table as Parquet, also written to `path` if given; needs the extra `parquet`."""
        check.require_parquet()
        content = self.table.assign(higher_is_better=self.table["higher_is_better"].astype("boolean")).to_parquet(index=False)
        if path is not None:
            write_bytes(path, content)
        return content

    def _repr_html_(self) -> str:
        return str(self.summary().reset_index().to_html(index=False, float_format="{:.3f}".format, na_rep=""))


def comparison_of(records: Iterable[Mapping[str, Any]], measures: Sequence[Measure]) -> Comparison:
    """Collect the records of cells in a comparison."""
    known = {measure.key: measure for measure in measures}
    table, fits, values = [], [], {}
    for record in records:
        facts = {name: record[name] for name in ("explainer", "data", "seed", "explains", "rows")}
        if "error" in record:
            table.append({**facts, "metric": "error", "error": record["error"]})
            continue
        fits.append({**facts, **record["cost"], "fresh": record.get("fresh", True)})
        by_row = dict(zip(record["measured"], record["values"], strict=True))
        for key, (value, low, high) in record["estimates"].items():
            label, better = known[key].label, known[key].higher_is_better
            table.append({**facts, "metric": label, "value": value, "low": low, "high": high, "higher_is_better": better, "error": ""})
            if key in by_row:
                values[record["explainer"], record["data"], record["seed"], label] = pd.Series(by_row[key], index=record["at"])
    frame = pd.DataFrame(table, columns=COLUMNS).astype({"value": float, "low": float, "high": float, "higher_is_better": object})
    frame["higher_is_better"] = frame["higher_is_better"].where(frame["higher_is_better"].notna(), None)
    return Comparison(check.not_empty(frame), pd.DataFrame(fits, columns=COSTS), values)


def _better(test: Mapping[Hashable, Any], higher: bool | None) -> str:
    if higher is None or not test["p_holm"] < LEVEL:
        return ""
    return str(test["explainer"] if (test["difference"] > 0) == higher else test["other"])


def _one_column_per_measure(table: pd.DataFrame, index: list[str], values: str) -> pd.DataFrame:
    """Means of a column: one row per group, one column per measure, in the order of the table."""
    wide = table.pivot_table(index=index, columns="metric", values=values, sort=False, observed=True)
    return wide.reindex(columns=table["metric"].unique()).rename_axis(columns=None)


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_bytes(path, text.encode())
    return text
