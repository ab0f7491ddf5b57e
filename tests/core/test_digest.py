"""Short names that equal things share, and other things do not."""

import subprocess
import sys

import pandas as pd
import torch

import lexplain as lx
from lexplain.core.digest import digest, short_digest
from lexplain.measures import MEASURES

L2X = lx.Explainer("l2x", keep=2, epochs=2, device="cpu")


def times(by):
    return lambda x: x * by


def test_digests_tell_settings_apart_and_are_the_same_everywhere():
    data = lx.load_data("s3", rows=60)
    things = [
        L2X,
        lx.Explainer("l2x", keep=3, epochs=2, device="cpu"),
        data,
        lx.load_data("s3", rows=61),
        *MEASURES.values(),
        (1, 2),
        [1, 2],
        "1",
    ]
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["u", "v"])})
    networks = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]
    things += [
        frame,
        frame.assign(a=[1.0, 3.0]),
        frame.rename(columns={"a": "c"}),
        *networks,
        lambda x: x + 1,
        lambda x: x * 2,
        lambda x: x * 3,
    ]
    things += [times(2), times(3), lambda x, by=1: x * by, lambda x, by=2: x * by]
    assert len({digest(thing) for thing in things}) == len(things)
    code = """
import lexplain as lx
from lexplain.core.digest import digest
from lexplain.measures import MEASURES
print(digest(lx.Explainer("l2x", keep=2, epochs=2, device="cpu"), lx.load_data("s3", rows=60), MEASURES["eacc"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(L2X, data, MEASURES["eacc"])


def test_a_short_digest_is_of_plain_values_in_any_order():
    assert short_digest({"b": 1, "a": (1, 2.5)}) == short_digest({"a": [1, 2.5], "b": 1}) == "9a00e7a6"
    assert short_digest({"b": 1, "a": [1, 2]}) != short_digest({"b": 1, "a": [1, 2.0]})
