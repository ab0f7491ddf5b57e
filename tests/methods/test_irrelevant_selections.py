"""Joint training with a price on marked features moves a selector from one reason to another."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lexplain.core import Batch, Classes, as_target, seeded
from lexplain.features import Columns
from lexplain.methods import l2x
from lexplain.objectives import Irrelevant
from lexplain.training import Settings, fit


@pytest.mark.parametrize(("price", "chosen"), [(0.0, 0), (5.0, 1)])
def test_a_selector_leaves_what_is_marked(price, chosen):
    draw = np.random.default_rng(0)
    y = draw.integers(2, size=400)
    x = draw.normal(size=(400, 3)) * np.array([0.1, 0.8, 1.0]) + np.array([1.0, 1.0, 0.0]) * y[:, None]
    features = Columns().fit(x)
    marks = torch.tensor([[True, False, False]]).expand(400, 3)
    rows = Batch(features.encode(x).x, as_target(torch.eye(2)[torch.as_tensor(y)], real=False), irrelevant=marks)
    with seeded(0):
        method = l2x(features, Classes(2), keep=1)
        method.objective = replace(method.objective, penalties=(*method.objective.penalties, Irrelevant(price)))
        fit(method, method.phases(), rows, rows.take(slice(0, 50)), Settings(epochs=15, batch_size=50, learning_rate=3e-3))
    method.eval()
    assert float(method.explain(rows.x)[1][:, chosen].float().mean()) > 0.9
