import numpy as np
import torch

from lexplain.features import Columns, Groups, encoded_mask

VALID = torch.tensor([[True, True, False], [True, False, False]])


def test_padding_counts_as_visible_for_there_is_nothing_to_fill():
    features = Columns().fit(np.eye(3))
    hard = torch.tensor([[True, False, False], [False, False, False]])
    assert encoded_mask(features, hard, None) is hard
    assert encoded_mask(features, hard, VALID).tolist() == [[True, False, True], [False, True, True]]
    soft = torch.tensor([[0.2, 0.7, 0.0], [0.4, 0.0, 0.0]]).requires_grad_()
    shown = encoded_mask(features, soft, VALID)
    assert torch.equal(shown, torch.tensor([[0.2, 0.7, 1.0], [0.4, 1.0, 1.0]]))
    assert torch.autograd.grad(shown.sum(), soft)[0].tolist() == VALID.float().tolist()


def test_masks_of_several_draws_are_made_raw_at_once():
    groups = Groups({"two": ["x1", "x3"]}).fit(np.eye(4))  # d = 3: two, x2, x4
    mask = torch.rand(4, 5, 2, 3) < 0.5
    shown = encoded_mask(groups, mask, VALID)
    assert shown.shape == (4, 5, 2, 4)
    assert torch.equal(shown, groups.expand(mask | ~VALID))
