"""A network for a table that must not use some columns, as a file and as a command."""

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

from lexplain import cli
from lexplain.right_reasons.right_table import RightTable


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=200)
    told = draw.normal(size=200) * 0.3 + 2 * y
    return pd.DataFrame({"leak": np.where(y, "b", "a"), "dose": told, "noise": draw.normal(size=200), "y": np.where(y, "ill", "well")})


def test_a_forbidden_category_is_not_used_and_a_file_says_the_same(frame, tmp_path):
    x, y = frame.drop(columns="y"), frame["y"].to_numpy()
    table = RightTable(epochs=30).fit(x, y, irrelevant_mask=np.array([1, 0, 0]))
    share = table.explain(x).scores.mean(0)
    assert float(share[0]) < 0.1 * float(share[1])
    table.save(tmp_path / "model.safetensors")
    again = RightTable.load(tmp_path / "model.safetensors")
    assert np.array_equal(table.predict(x), again.predict(x))
    assert torch.equal(table.explain(x).scores, again.explain(x).scores)
    assert again.score(x, y) > 0.9


def test_the_command(frame, tmp_path):
    frame.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "marks.csv").write_text("row,feature\n" + "".join(f"{row},leak\n" for row in range(100)))
    words = ["right-reasons", tmp_path / "train.csv", "--label", "y", "--epochs", 5]
    out = ["--out", tmp_path / "m.safetensors", "--predictions", tmp_path / "p.csv", "--report", tmp_path / "r.html"]
    for more in (["--irrelevant", "leak"], ["--annotations", tmp_path / "marks.csv", "--strength", "10"]):
        done = CliRunner().invoke(cli.app, [str(word) for word in [*words, *more, *out]])
        assert done.exit_code == 0, done.output
        assert "leak" in done.output
    assert set(pd.read_csv(tmp_path / "p.csv")["prediction"]) <= {"ill", "well"}
    assert "<svg" in (tmp_path / "r.html").read_text() or "leak" in (tmp_path / "r.html").read_text()
    refused = CliRunner().invoke(cli.app, [str(word) for word in [*words, "--irrelevant", "sex"]])
    assert refused.exit_code == 2
    assert "no feature is called" in refused.output
