from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import torch

from lexplain.core import Explanation
from lexplain.features import FeatureKind, Patches

NAMES = ("age", "income", "city", "job")
HARD_NAMES = ("<script>alert(1)</script>", "price in $ and $", "日本語", "two\nlines --> &amp;", "n" * 300, "id=\"x\" 'y'")
VOID = {"meta", "br", "hr", "img", "link", "input"}


def explanation_of(rows=40, names=NAMES, *, data="frame", **fields):
    """A made-up explanation that keeps about half of the features."""
    draw = np.random.default_rng(0)
    values = draw.normal(size=(rows, len(names)))
    scores = torch.tensor(draw.uniform(size=(rows, len(names))), dtype=torch.float32)
    outputs = torch.tensor(draw.dirichlet((1.0, 1.0), size=rows), dtype=torch.float32)
    kinds = {"frame": pd.DataFrame(values, columns=list(names)), "array": values, "none": None, "images": values.reshape(rows, 1, 1, -1)}
    usual = {"scores": scores, "mask": scores > 0.5, "names": tuple(names), "data": kinds[data], "method": "realx"}
    return Explanation(**{**usual, "compute_prediction": lambda: outputs, "classes": ("no", "yes"), **fields})


def pictures_of(rows=6, *, channels=1, layout="NHW", dtype="float32", patches=None, **fields):
    """A made-up explanation of images of 6 x 8 pixels that keeps about half of them; other layouts and types hold the same images."""
    draw = np.random.default_rng(1)
    images = draw.integers(0, 256, size=(rows, channels, 6, 8)) / 255
    data = images[:, 0] if layout == "NHW" else np.moveaxis(images, 1, -1) if layout == "NHWC" else images
    data = np.rint(data * 255).astype("uint8") if dtype == "uint8" else data.astype(dtype)
    patches = patches or Patches(1, layout=layout)
    features = patches.fit(data)
    scores = torch.tensor(draw.uniform(size=(rows, features.count)), dtype=torch.float32)
    outputs = torch.tensor(draw.dirichlet((1.0, 1.0, 1.0), size=rows), dtype=torch.float32)
    usual = {"scores": scores, "mask": scores > 0.5, "names": features.names, "data": data, "method": "realx"}
    usual |= {"features": features, "compute_prediction": lambda: outputs, "classes": (3, 5, 8)}
    return Explanation(**{**usual, **fields})


class Words(FeatureKind):
    """Words of texts: a kind that no table of the library knows."""

    kind = "words of a test"
    names = tuple(f"word {place}" for place in range(1, 6))
    shape = (5,)

    def state(self):
        return {}

    def fit(self, X):
        return self

    def encode(self, X, device="cpu"):
        raise AssertionError("nobody has to encode rows to draw them")

    def decode(self, x):
        raise AssertionError("nobody has to decode rows to draw them")

    def cell_values(self, X):
        return [[len(text.split()[place]) if place < len(text.split()) else None for text in X] for place in range(5)]


TEXTS = ("a good film", "bad", "not a good film <b>at-all</b>", "good good")


def padded_of(*, texts=TEXTS, **fields):
    """A made-up explanation of texts of different length: (b, 5), in which the first and every word "good" is kept."""
    names = tuple(tuple(text.split()) for text in texts)
    valid = torch.tensor([[place < len(row) for place in range(5)] for row in names])
    mask = torch.tensor([[place < len(row) and (place == 0 or row[place] == "good") for place in range(5)] for row in names])
    scores = torch.where(valid, 0.9 - 0.1 * torch.arange(5.0), 99.0)  # padding has the highest score: who shows it is found out
    return Explanation(**{"scores": scores, "mask": mask, "names": names, "valid": valid, "method": "realx", **fields})


CASES = {
    "frame": lambda: explanation_of(),
    "array": lambda: explanation_of(data="array"),
    "no data": lambda: explanation_of(data="none"),
    "images": lambda: explanation_of(data="images"),
    "no predictor": lambda: explanation_of(compute_prediction=None),
    "asked": lambda: explanation_of(compute_prediction=None, target_index=torch.ones(40, dtype=torch.long)),
    "real output": lambda: explanation_of(compute_prediction=lambda: torch.ones(40, 1), classes=None),
    "one row": lambda: explanation_of(rows=1),
    "one row, one feature": lambda: explanation_of(rows=1, names=("x",)),
    "hard names": lambda: explanation_of(names=HARD_NAMES),
    "200 features": lambda: explanation_of(names=tuple(f"gene {j}" for j in range(200))),
    "nothing kept": lambda: explanation_of(mask=torch.zeros(40, 4, dtype=torch.bool)),
    "all kept": lambda: explanation_of(mask=torch.ones(40, 4, dtype=torch.bool)),
    "signed scores": lambda: explanation_of(scores=torch.linspace(-2, 2, 160).reshape(40, 4)),
    "equal scores": lambda: explanation_of(scores=torch.ones(40, 4)),
    "odd scores": lambda: explanation_of(scores=torch.tensor([[float("nan"), float("inf"), -float("inf"), 0.5]]).repeat(40, 1)),
    "pictures": lambda: pictures_of(30),
    "patches in colour": lambda: pictures_of(channels=3, layout="NHWC", patches=Patches((4, 3))),
    "patches without pictures": lambda: pictures_of(data=None),
    "one picture, nothing kept": lambda: pictures_of(1, mask=torch.zeros(1, 48, dtype=torch.bool)),
    "padded rows": lambda: padded_of(),
    "padded rows of an unknown kind": lambda: padded_of(features=Words(), data=list(TEXTS)),
    "padded rows, one of them empty": lambda: padded_of(texts=("one two three", "", "four")),
    "padded rows with the names of their places": lambda: padded_of(names=("a", "b", "c", "d", "e")),
    "from JSON": lambda: Explanation.from_json(explanation_of().to_json()),
}


def path_of(judged=True):
    """A made-up path of prices, of which the fifteenth is chosen."""
    kept = np.linspace(9, 0.5, 25)
    cost = 0.4 * np.exp(-kept / 2)
    table = pd.DataFrame({"price": np.geomspace(2e-4, 0.5, 25), "kept": kept, "cost": cost, "cost_low": cost / 2, "cost_high": cost * 2})
    if judged:
        eacc = 0.9 - cost / 2
        table = table.assign(eacc=eacc, eacc_low=eacc - 0.02, eacc_high=eacc + 0.02, eacc_of_all=0.9)
    return table.assign(chosen=np.arange(25) == 14)


@pytest.fixture
def make_path():
    return path_of


@pytest.fixture
def make():
    return explanation_of


@pytest.fixture
def make_pictures():
    return pictures_of


@pytest.fixture
def make_padded():
    return padded_of


@pytest.fixture
def words():
    return Words()


@pytest.fixture(params=CASES)
def explanation(request):
    return CASES[request.param]()


@pytest.fixture
def hard_names():
    return HARD_NAMES


class Outline(HTMLParser):
    """Reads HTML and refuses tags that are not closed in order, or ids that are used twice."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.references, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.references += [value for name, value in attrs if name in ("href", "src", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def read():
    def outline(html):
        reader = Outline()
        reader.feed(html)
        reader.close()
        assert reader.open == []
        assert len(set(reader.ids)) == len(reader.ids)
        links = [target for target in reader.references if not target.startswith("data:image/png;base64,")]
        assert all(target.startswith("#") and target[1:] in reader.ids for target in links)
        assert "script" not in reader.tags
        return reader

    return outline
