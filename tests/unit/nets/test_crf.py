"""The CRF against an enumeration of all tag sequences."""

from __future__ import annotations

import itertools

import pytest
import torch

from textveil.nets.crf import Chain, path_chances, path_losses
from textveil.nets.portable.tagger import best_paths, forbidden, step_table

TAGS, PLACES = 3, 4


@pytest.fixture
def case():
    draw = torch.Generator().manual_seed(3)
    scores = torch.randn(3, PLACES, TAGS, dtype=torch.float64, generator=draw).mul_(2).requires_grad_()
    chain = Chain(TAGS).double()
    with torch.no_grad():
        chain.weight.copy_(torch.randn(TAGS + 2, TAGS, dtype=torch.float64, generator=draw))
    tags = torch.randint(0, TAGS, (3, PLACES), generator=draw)
    return scores, chain, tags, torch.tensor([4, 1, 3])


def path_score(scores, weight, path):
    steps = sum((weight[a, b] for a, b in itertools.pairwise(path)), torch.zeros((), dtype=torch.float64))
    own = sum(scores[t, tag] for t, tag in enumerate(path))
    return own + steps + weight[TAGS, path[0]] + weight[TAGS + 1, path[-1]]


def slow_losses(scores, weight, tags, lengths):
    found = []
    for b, n in enumerate(lengths.tolist()):
        every = [path_score(scores[b], weight, p) for p in itertools.product(range(TAGS), repeat=n)]
        found.append(torch.logsumexp(torch.stack(every), 0) - path_score(scores[b], weight, tags[b, :n].tolist()))
    return torch.stack(found)


def test_losses_and_gradients_equal_the_enumeration(case):
    scores, chain, tags, lengths = case
    fast = path_losses(scores, chain(scores), tags, lengths)
    slow = slow_losses(scores, chain.weight, tags, lengths)
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-12)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    wanted = (scores, chain.weight)
    for a, b in zip(
        torch.autograd.grad((fast * weights).sum(), wanted),
        torch.autograd.grad((slow * weights).sum(), wanted),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_what_stands_behind_the_end_counts_for_nothing(case):
    scores, chain, tags, lengths = case
    inside = torch.arange(PLACES) < lengths[:, None]
    other = torch.where(inside[:, :, None], scores.detach(), torch.full_like(scores, 77.0)).requires_grad_()
    wild = torch.where(inside, tags, torch.full_like(tags, -100))
    a, b = path_losses(scores, chain(scores), tags, lengths), path_losses(other, chain(other), wild, lengths)
    assert torch.equal(a, b)
    (gradient,) = torch.autograd.grad(b.sum(), other)
    assert torch.equal(gradient[~inside], torch.zeros_like(gradient[~inside]))


def test_wild_scores_stay_finite():
    scores = torch.tensor([[[0.0, 1e5], [1e5, 0.0], [-1e5, 1e5]]], requires_grad=True)
    chain = Chain(2)
    with torch.no_grad():
        chain.weight[:2] = torch.tensor([[0.0, -1e4], [-1e4, 0.0]])
    loss = path_losses(scores, chain(scores), torch.tensor([[0, 0, 0]]), torch.tensor([3]))
    loss.sum().backward()
    assert torch.isfinite(loss).all() and torch.isfinite(scores.grad).all() and torch.isfinite(chain.weight.grad).all()


@pytest.mark.parametrize("never", [[], [(0, 1), (TAGS, 2)]])
def test_the_best_path_is_the_best_of_all(case, never):
    scores, chain, _, lengths = case
    scores, weight = scores.detach(), chain.weight.detach()
    found = best_paths(scores, step_table(weight, TAGS, never), lengths)
    for b, n in enumerate(lengths.tolist()):
        allowed = [
            p
            for p in itertools.product(range(TAGS), repeat=n)
            if not ({(TAGS, p[0])} | set(itertools.pairwise(p))) & set(never)
        ]
        best = max(allowed, key=lambda p: float(path_score(scores[b], weight, p)))
        assert tuple(found[b]) == best


@pytest.mark.parametrize("never", [[], [(0, 1), (TAGS, 2)]])
def test_the_chance_of_a_tag_is_the_share_of_the_sequences_that_have_it(case, never):
    scores, chain, _, lengths = case
    scores, table = scores.detach(), step_table(chain.weight, TAGS, never)
    paths = best_paths(scores, table, lengths)
    for b, n in enumerate(lengths.tolist()):
        every = list(itertools.product(range(TAGS), repeat=n))
        odds = torch.softmax(torch.stack([path_score(scores[b], table, p) for p in every]).double(), 0)
        having = [
            [float(sum(o for p, o in zip(every, odds, strict=True) if p[t] == tag))] for t, tag in enumerate(paths[b])
        ]
        said = torch.tensor(path_chances(scores, table, paths, lengths)[b])
        assert torch.allclose(said, torch.tensor(having).squeeze(1), atol=1e-5)


def test_bio_knows_no_inside_without_a_beginning():
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    assert set(forbidden(tags)) == {(0, 2), (3, 2), (4, 2), (5, 2), (0, 4), (1, 4), (2, 4), (5, 4)}
    assert forbidden(["O", "I-X"]) == []  # here I- must be able to start
