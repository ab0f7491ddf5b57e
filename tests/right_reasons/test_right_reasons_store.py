"""What is saved comes back the same: one safetensors file, no pickle; and the command that makes such files."""

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from typer.testing import CliRunner

import lexplain as lx
from lexplain import cli
from lexplain.features import Patches


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=200)
    dose = draw.normal(size=200) * 0.3 + 2 * y
    return pd.DataFrame({"leak": np.where(y, "b", "a"), "dose": dose, "noise": draw.normal(size=200), "y": np.where(y, "ill", "well")})


def small(d=3, c=2):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(d, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, c))


def same(one, other, x, y):
    assert np.array_equal(one.predict(x), other.predict(x))
    assert torch.equal(one.explain(x).scores, other.explain(x).scores)
    assert torch.equal(one.explain(x).prediction, other.explain(x).prediction)
    assert one.explain(x).names == other.explain(x).names
    assert one.score(x, y) == other.score(x, y)
    assert (one.strength_, one.still_used_) == (other.strength_, other.still_used_)
    assert one.history_.equals(other.history_)


def test_a_forbidden_category_is_not_used_and_a_file_says_the_same(frame, tmp_path):
    x, y = frame.drop(columns="y"), frame["y"].to_numpy()
    model = lx.RightReasons(epochs=30).fit(x, y, irrelevant_mask=np.array([1, 0, 0]))
    share = model.explain(x).scores.mean(0)
    assert float(share[0]) < 0.1 * float(share[1])
    model.save(tmp_path / "model.safetensors")
    again = lx.RightReasons.load(tmp_path / "model.safetensors")
    same(model, again, x, y)
    assert again.score(x, y) > 0.9
    assert again.get_params() == model.get_params()


def test_real_values_and_images_come_back(tmp_path):
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=(60, 4, 4)).astype(np.float32), draw.normal(100, 30, size=60)
    model = lx.RightReasons(features=Patches(2), epochs=2, strength=np.float32(2), random_state=np.random.RandomState(0)).fit(x, y)
    model.save(tmp_path / "model")
    again = lx.RightReasons.load(tmp_path / "model", device="cpu")
    same(model, again, x, y)
    assert again.features == model.features_
    assert again.strength == 2


def test_a_network_of_your_own_is_passed_in_again(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    model = lx.RightReasons(small(), epochs=2, strength=1.0, target="max").fit(x, y, irrelevant_mask=[1, 0, 0])
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"RightReasons.load\(path, network=...\)"):
        lx.RightReasons.load(tmp_path / "model")
    with pytest.raises(ValueError, match="network"):
        lx.RightReasons.load(tmp_path / "model", network=small(4))
    fresh = small()
    again = lx.RightReasons.load(tmp_path / "model", network=fresh)
    same(model, again, x, y)
    assert np.array_equal(model.input_gradients(x), again.input_gradients(x))
    assert again.target == "max"
    assert fresh.training
    assert not torch.equal(fresh[0].weight, again.network_[0].weight)


def test_the_callers_random_state_is_left_alone(frame, tmp_path):
    lx.RightReasons(epochs=1).fit(frame[["dose", "noise"]], frame["y"]).save(tmp_path / "model")
    torch.manual_seed(0)
    wanted = torch.rand(1)
    torch.manual_seed(0)
    lx.RightReasons.load(tmp_path / "model")
    assert torch.equal(torch.rand(1), wanted)


def test_files_that_cannot_be_read(frame, tmp_path):
    path = tmp_path / "model"
    with pytest.raises(ValueError, match="not fitted yet"):
        lx.RightReasons().save(path)
    assert not path.exists()
    with pytest.raises(FileNotFoundError, match="model"):
        lx.RightReasons.load(path)
    lx.RightReasons(epochs=1).fit(frame[["dose", "noise"]], frame["y"]).save(path)
    with safe_open(path, framework="pt") as stored:
        tensors, record = {name: stored.get_tensor(name) for name in stored.keys()}, stored.metadata()["lexplain"]  # noqa: SIM118
    save_file(tensors, path, metadata={"lexplain": record.replace('"outputs"', '"inputs"')})
    with pytest.raises(ValueError, match="damaged"):
        lx.RightReasons.load(path)
    save_file(tensors, path, metadata={"lexplain": record.replace("right_reasons", "explainer")})
    with pytest.raises(ValueError, match="wrong format"):
        lx.RightReasons.load(path)


def test_the_command(frame, tmp_path):
    frame.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "marks.csv").write_text("row,feature\n" + "".join(f"{row},leak\n" for row in range(100)))
    words = ["right-reasons", tmp_path / "train.csv", "--label", "y", "--epochs", 5]
    out = ["--out", tmp_path / "m.safetensors", "--predictions", tmp_path / "p.csv", "--report", tmp_path / "r.html"]
    for more in (["--irrelevant", "leak"], ["--annotations", tmp_path / "marks.csv", "--strength", "10"]):
        done = CliRunner().invoke(cli.app, [str(word) for word in [*words, *more, *out]])
        assert done.exit_code == 0, done.output
        assert "leak" in done.output
    written = pd.read_csv(tmp_path / "p.csv")["prediction"]
    assert set(written) <= {"ill", "well"}
    assert lx.RightReasons.load(tmp_path / "m.safetensors").predict(frame.drop(columns="y")).tolist() == written.tolist()
    assert "<svg" in (tmp_path / "r.html").read_text() or "leak" in (tmp_path / "r.html").read_text()
    failed = CliRunner().invoke(cli.app, [str(word) for word in [*words, "--irrelevant", "sex"]])
    assert failed.exit_code == 2
    assert "['sex']" in failed.output
