"""Few rows on a GPU: recorded once, replayed with whatever weights and rows there are."""

import copy
import gc
from threading import Thread

import pytest
import torch
from torch import nn

from lexplain.masks import TopK
from lexplain.methods.sizes import MaskFactory
from lexplain.networks import MLP, Selector, UNet, replay, scores_on_cpu

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
SHAPE, GRID = (1, 8, 12), (4, 6)


def selector_of(network=None, device="cpu"):
    torch.manual_seed(0)
    network = network or UNet(SHAPE, GRID, width=4)
    return Selector(network, MaskFactory(TopK, {"k": 3}), spread=4.0).eval().requires_grad_(False).to(device)


def rows(count=2, seed=0, device="cpu"):
    return torch.rand(count, *SHAPE, generator=torch.Generator().manual_seed(seed)).to(device)


def played(selector):
    """Whether a selector has been recorded."""
    return selector in replay._TAPES and replay._TAPES[selector].graph is not None


def until_recorded(selector, x):
    for _ in range(replay.PATIENCE):
        scores_on_cpu(selector, x)
    assert played(selector)


def test_rows_on_a_cpu_are_never_recorded():
    selector, x = selector_of(), rows()
    for _ in range(replay.PATIENCE + 2):
        torch.testing.assert_close(scores_on_cpu(selector, x), selector.logits(x))
    assert selector not in replay._TAPES


def test_only_a_finished_network_of_ours_is_recorded():
    assert replay._places(selector_of()) is not None
    assert replay._places(selector_of(MLP(SHAPE, 24))) is None
    assert replay._places(selector_of(nn.Sequential(UNet(SHAPE, GRID, width=4)))) is None, "a user's network may do anything"
    assert replay._places(selector_of().train()) is None
    listened = selector_of()
    listened.network.score.register_forward_hook(lambda *_: None)
    assert replay._places(listened) is None


def test_other_weights_lie_elsewhere_and_new_values_do_not():
    selector = selector_of()
    before = replay._places(selector)
    selector.offset -= 1
    selector.load_state_dict(selector_of().state_dict())
    assert replay._places(selector) == before
    kept = selector.network.score  # held, so that the new one cannot take its place
    selector.network.score = copy.deepcopy(kept)
    assert replay._places(selector) != before


@on_a_gpu
def test_a_replay_says_what_the_network_says_of_any_rows():
    selector = selector_of(device="cuda")
    for seed in range(replay.PATIENCE + 3):
        x = rows(seed=seed, device="cuda")
        torch.testing.assert_close(scores_on_cpu(selector, x), selector.logits(x).cpu())
        assert played(selector) == (seed + 1 >= replay.PATIENCE)


@on_a_gpu
def test_a_replay_follows_the_weights():
    selector, x = selector_of(device="cuda"), rows(device="cuda")
    until_recorded(selector, x)
    before = scores_on_cpu(selector, x)
    with torch.no_grad():
        for weights in selector.parameters():
            weights.mul_(-1.5)
        selector.offset += 2
    assert not torch.allclose(scores_on_cpu(selector, x), before)
    torch.testing.assert_close(scores_on_cpu(selector, x), selector.logits(x).cpu())
    selector.network.score = copy.deepcopy(selector.network.score)
    selector.network.score.weight.data.mul_(-1)
    torch.testing.assert_close(scores_on_cpu(selector, x), selector.logits(x).cpu())
    assert not played(selector), "another layer is recorded anew"
    selector.cpu().cuda()
    until_recorded(selector, x)
    torch.testing.assert_close(scores_on_cpu(selector, x), selector.logits(x).cpu())


@on_a_gpu
def test_a_replay_is_of_one_shape():
    selector = selector_of(device="cuda")
    until_recorded(selector, rows(2, device="cuda"))
    more = rows(5, device="cuda")
    torch.testing.assert_close(scores_on_cpu(selector, more), selector.logits(more).cpu())
    assert not played(selector)


@on_a_gpu
def test_threads_do_not_mix_up_their_rows():
    selector = selector_of(device="cuda")
    until_recorded(selector, rows(device="cuda"))
    wrong = []

    def ask(seed):
        x = rows(seed=seed, device="cuda")
        expected = selector.logits(x).cpu()
        wrong.extend(seed for _ in range(50) if not torch.allclose(scores_on_cpu(selector, x), expected, atol=1e-5))

    threads = [Thread(target=ask, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


@on_a_gpu
def test_a_recording_goes_with_its_selector():
    before = len(replay._TAPES)
    selector = selector_of(device="cuda")
    until_recorded(selector, rows(device="cuda"))
    copy.deepcopy(selector)
    assert len(replay._TAPES) == before + 1
    del selector
    gc.collect()
    assert len(replay._TAPES) == before


@on_a_gpu
def test_a_recording_made_in_inference_mode_serves_outside_of_it():
    selector, x = selector_of(device="cuda"), rows(device="cuda")
    with torch.inference_mode():
        until_recorded(selector, x.clone())
    scores = scores_on_cpu(selector, x)
    assert played(selector)
    torch.testing.assert_close(scores, selector.logits(x).cpu())


@on_a_gpu
def test_what_cannot_be_recorded_is_answered_all_the_same(monkeypatch):
    def refuse(*_, **__):
        raise torch.cuda.OutOfMemoryError("no room")

    monkeypatch.setattr(torch.cuda, "graph", refuse)
    selector, x, stream = selector_of(device="cuda"), rows(device="cuda"), torch.cuda.current_stream()
    for _ in range(replay.PATIENCE + 2):
        torch.testing.assert_close(scores_on_cpu(selector, x), selector.logits(x).cpu())
    assert not played(selector)
    assert torch.cuda.current_stream() == stream
    monkeypatch.undo()
    scores_on_cpu(selector, x)
    assert not played(selector), "it is not tried again and again"


@on_a_gpu
def test_other_ways_to_multiply_are_recorded_anew():
    selector, x = selector_of(device="cuda"), rows(device="cuda")
    until_recorded(selector, x)
    with torch.backends.cudnn.flags(deterministic=True):
        scores_on_cpu(selector, x)
        assert not played(selector)


@on_a_gpu
def test_large_inputs_are_not_recorded(monkeypatch):
    monkeypatch.setattr(replay, "MOST", 10)
    selector = selector_of(device="cuda")
    for _ in range(replay.PATIENCE):
        scores_on_cpu(selector, rows(device="cuda"))
    assert not played(selector)
