"""Compiled passes of the second aligner: hidden Markov models of both directions, trained to agree.

Imports numba, so it is itself imported late.

Model (Vogel, Ney and Tillmann 1996), in one direction. A sentence of n words is written while a reader jumps over the
m words of the other side. Place 0 is before them, 1 .. m are the words, m + 1 is after them. Before each word, and once
more at the end, the reader at place p either jumps, or stays and a word comes from nowhere (Och and Ney 2003: the words
that nothing makes remember the place before them, so a jump goes on from there):

    P(stay)         = NONE                                    then P(word | nobody), a lexicon of its own
    P(p to i)       = (1 - NONE) rate(i - p) / Z(p, m)        then P(word | word i), the lexicon; 1 <= i <= m
    P(0 to i)       = (1 - NONE) start(i) / Z(0, m)
    P(p to m + 1)   = (1 - NONE) end(m + 1 - p) / Z(p, m)     the sentence ends, and only here

Z(p, m) adds what is above it over i = 1 .. m + 1, so the chances of all sentences and links add up to one. There is one
rate for each jump of at most REACH places, and one for all longer ones on each side; starts and ends likewise.

NONE is fixed at .2, a usual value. Learnt, it sinks to .03 where the directions are trained apart, since rare words then
make whatever nothing else makes; trained to agree, as below, it stays near .2 by itself.

Expectation. With mass(j, p) = P(place p after j words | those words), each step divided by its total, nothing underflows
and the product of the totals is the likelihood. ahead(j, p), divided by the same totals, is what the remaining words say
about p: mass * ahead is the posterior, and sums to one for each j. A step costs m times the number of rates, since
jumps beyond REACH are running sums. The trellis of one sentence pair is held, and nothing else.

Jumps. With C(d) the expected jumps by d, and E(d) = sum over places of (expected ways out of p) / Z(p, m) * (places that d
leads to), the expected log likelihood is at least sum C(d) log rate(d) - E(d) rate(d) + constant, because
-log Z >= -log Z' - (Z - Z') / Z', with equality at the old rates. So rate(d) = C(d) / E(d) never lowers the likelihood.

Lexicon (Liang, Taskar and Klein 2006). Both directions run side by side, and the lexicon counts a link by the product of
its two posteriors: what only one direction believes counts little. What is left of a word's count goes to nobody.
Then the variational step of `lexicon_kernel`. This is no EM of one likelihood, and has no bound of its own: with each
direction's own posteriors instead it would be EM, and the tests hold those to enumeration. A rare word that collects what
nothing else makes finds no agreement, which is why this is done.

Links. Each word goes to its most likely maker, or to nobody, whichever has the largest posterior: of all choices the
one with the fewest expected mistakes. (Viterbi would choose the likeliest way through a sentence as a whole.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from textveil.text.compiled import compiled

from .lexicon_kernel import FLOOR, chance, slots_of

NONE = 0.2
REACH = 7
LEFT, RIGHT = 2 * REACH + 1, 2 * REACH + 2  # rates of longer jumps, behind those of -REACH .. REACH
JUMPS = 2 * REACH + 3
DECAY = 0.5  # of rates at first, for each place that a jump misses the next word by


class Trellis(NamedTuple):
    """One direction of one sentence pair: n words made by m places."""

    emit: np.ndarray  # (n, m): P(word j | word i)
    made: np.ndarray  # (n, m): in `forward` mass that jumped to i; after `backward` the posterior of the link
    mass: np.ndarray  # (n + 1, m + 1): of places, given the words so far
    nobody: np.ndarray  # (n,): P(word j | nobody), then the posterior of no link
    shares: np.ndarray  # (n,): 1 / total of each step
    norms: np.ndarray  # (m + 1,): 1 / Z
    ahead: np.ndarray  # (m + 1,): what the words to come say about a place
    leave: np.ndarray  # (m + 1,): expected ways out of a place
    flows: np.ndarray  # (JUMPS, m): expected jumps from each place, without rate and norm
    views: np.ndarray  # (3 m + 2 REACH,): a row of m between zeros, then its sums far to the left, and far to the right


def first_jumps() -> np.ndarray:
    """Rates, starts and ends of both directions, before anything is learnt: the next word is the likeliest."""
    jumps = np.zeros((2, 3, JUMPS))
    near, far = np.arange(REACH + 1), np.arange(-REACH, REACH + 1)
    jumps[:, 0, :LEFT] = np.exp(-DECAY * np.abs(far - 1))
    jumps[:, 0, LEFT:] = np.exp(-DECAY * REACH)
    jumps[:, 1:, : REACH + 1] = np.exp(-DECAY * near)
    return jumps


def next_jumps(jumps: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """C / E of each jump that was possible; counts: (2, 2, 3, JUMPS), C and E of both directions."""
    expected, exposure = counts[:, 0], counts[:, 1]
    learnt = np.maximum(expected / np.where(exposure > 0, exposure, 1.0), FLOOR)
    return np.where(exposure > 0, learnt, jumps)


@compiled
def take(space, at, size):
    """A part of the working space."""
    return space[at : at + size]


@compiled
def trellis_of(space, n, m):
    """The arrays of one direction, cut from the working space."""
    cells, places, edge = n * m, m + 1, 2 * n * m + (n + 1) * (m + 1)
    rest = edge + 2 * n
    last = rest + 3 * places + JUMPS * m
    return Trellis(
        take(space, 0, cells).reshape((n, m)),
        take(space, cells, cells).reshape((n, m)),
        take(space, 2 * cells, (n + 1) * places).reshape((n + 1, places)),
        take(space, edge, n),
        take(space, edge + n, n),
        take(space, rest, places),
        take(space, rest + places, places),
        take(space, rest + 2 * places, places),
        take(space, rest + 3 * places, JUMPS * m).reshape((JUMPS, m)),
        take(space, last, 3 * m + 2 * REACH),
    )


@compiled
def space_for(longest):
    """Working space of one direction, for sentences up to the longest."""
    return np.empty(3 * (longest + 1) * (longest + 1) + (JUMPS + 8) * (longest + 1) + 2 * REACH)


@compiled
def places_at(jump, place, m):
    """How many of the m words this jump leads to."""
    if jump == LEFT:
        return max(0, place - REACH - 1)
    if jump == RIGHT:
        return max(0, m - place - REACH)
    return 1 if 1 <= place + jump - REACH <= m else 0


@compiled
def end_of(place, m):
    """The number of the end that is as far as this place."""
    return min(m - place, REACH)


@compiled
def normalise(jumps, norms):
    """1 / Z of each place."""
    m = len(norms) - 1
    total = jumps[2, end_of(0, m)]
    for i in range(m):
        total += jumps[1, min(i, REACH)]
    norms[0] = 1.0 / total
    for place in range(1, m + 1):
        total = jumps[2, end_of(place, m)]
        for jump in range(JUMPS):
            total += jumps[0, jump] * places_at(jump, place, m)
        norms[place] = 1.0 / total


@compiled
def emissions(slots, n, values, side, nulls, words, trellis):
    """The lexicon's chances of one direction; n: words of the target."""
    for j in range(len(words)):
        word, row = words[j], trellis.emit[j]
        trellis.nobody[j] = nulls[word, 0] if word >= 0 else FLOOR
        for i in range(len(row)):
            row[i] = chance(values, slots[i * n + j] if side == 0 else slots[j * n + i], side)


@compiled
def far_sums(views, m):
    """The sums over places more than REACH to the left, and to the right, of the row in `views`."""
    row = views[REACH : REACH + m]
    low, high = views[m + 2 * REACH : 2 * m + 2 * REACH], views[2 * m + 2 * REACH :]
    low[:] = 0.0
    high[:] = 0.0
    for i in range(REACH + 1, m):
        low[i] = low[i - 1] + row[i - REACH - 1]
    for i in range(m - REACH - 2, -1, -1):
        high[i] = high[i + 1] + row[i + REACH + 1]


@compiled
def view_of(jump, m):
    """Where in `views` the row begins that holds, for each place, what this jump leads to."""
    return jump if jump < LEFT else (jump - LEFT) * m + m + 2 * REACH


@compiled
def opposite(jump):
    """The jump that leads back."""
    return 2 * REACH - jump if jump < LEFT else LEFT + RIGHT - jump


@compiled
def arrivals(jumps, old, norms, views, row):
    """Mass that jumps to each word, from the mass of places before."""
    m = len(row)
    here, places, ways = views[REACH : REACH + m], old[1:], norms[1:]
    first = old[0] * norms[0]
    for i in range(m):
        here[i] = places[i] * ways[i]
        row[i] = first * jumps[1, min(i, REACH)]
    far_sums(views, m)
    for jump in range(JUMPS if m > REACH + 1 else LEFT):
        at, rate = view_of(opposite(jump), m), jumps[0, jump]
        part = views[at : at + m]
        for i in range(m):
            row[i] += rate * part[i]


@compiled
def forward_step(jumps, old, emit, nobody, norms, views, made, new):
    """One word: fill `made` and the mass of places behind it, and return its total."""
    m = len(made)
    arrivals(jumps, old, norms, views, made)
    stay, total = NONE * nobody, 0.0
    for i in range(m):
        made[i] *= (1.0 - NONE) * emit[i]
    new[0] = stay * old[0]
    for i in range(m):
        new[i + 1] = stay * old[i + 1] + made[i]
    for p in range(m + 1):
        total += new[p]
    share = 1.0 / total
    for i in range(m):
        made[i] *= share
    for p in range(m + 1):
        new[p] *= share
    return total


@compiled
def forward(jumps, trellis):
    """Fill `mass`, `made` and `shares`; return the log likelihood of the words, without the end."""
    mass, log = trellis.mass, 0.0
    trellis.views[:] = 0.0
    mass[0, :] = 0.0
    mass[0, 0] = 1.0
    for j in range(len(trellis.emit)):
        total = forward_step(
            jumps, mass[j], trellis.emit[j], trellis.nobody[j], trellis.norms, trellis.views, trellis.made[j], mass[j + 1],
        )  # fmt: skip
        trellis.shares[j] = 1.0 / total
        log += math.log(total)
    return log


@compiled
def finish(jumps, trellis):
    """Fill `ahead` and `leave` with the jump to the end; return its log likelihood."""
    n, m = trellis.emit.shape
    total = 0.0
    for p in range(m + 1):
        trellis.ahead[p] = (1.0 - NONE) * trellis.norms[p] * jumps[2, end_of(p, m)]
        total += trellis.mass[n, p] * trellis.ahead[p]
    for p in range(m + 1):
        trellis.ahead[p] /= total
        trellis.leave[p] = trellis.mass[n, p] * trellis.ahead[p]
    return math.log(total)


@compiled
def departures(jumps, old, views, flows, row, learn):
    """What the jumps out of each word lead to, from the row in `views`; with `learn`, `flows` of the mass `old`."""
    m, places = len(row), old[1:]
    far_sums(views, m)
    row[:] = 0.0
    for jump in range(JUMPS if m > REACH + 1 else LEFT):
        at, rate = view_of(jump, m), jumps[0, jump]
        part = views[at : at + m]
        for i in range(m):
            row[i] += rate * part[i]
        if learn:
            flow = flows[jump]
            for i in range(m):
                flow[i] += places[i] * part[i]


@compiled
def first_departure(jumps, mass, row, starts):
    """The same of the place before all words; `starts`: their expected counts."""
    total = 0.0
    for i in range(len(row)):
        value = row[i] * jumps[1, min(i, REACH)]
        starts[min(i, REACH)] += mass * value
        total += value
    return total


@compiled
def backward_step(old, norms, out, stay, ahead, leave):
    """Take `ahead` one word back, from what jumps lead to (`out`); return the posterior of no link."""
    nobody = 0.0
    for p in range(len(old)):
        still, jumped = stay * ahead[p], norms[p] * out[p]
        nobody += old[p] * still
        leave[p] += old[p] * jumped
        ahead[p] = jumped + still
    return nobody


@compiled
def backward(jumps, trellis, learn, starts):
    """Turn `made` and `nobody` into posteriors, and fill `leave`, `flows` and `starts`. `finish` goes before."""
    m = len(trellis.norms) - 1
    out, here, ahead = np.empty(m + 1), trellis.views[REACH : REACH + m], trellis.ahead[1:]
    trellis.flows[:] = 0.0
    for j in range(len(trellis.emit) - 1, -1, -1):
        old, made, emit, share = trellis.mass[j], trellis.made[j], trellis.emit[j], trellis.shares[j]
        for i in range(m):
            here[i] = (1.0 - NONE) * share * emit[i] * ahead[i]
            made[i] *= ahead[i]
        departures(jumps, old, trellis.views, trellis.flows, out[1:], learn)
        out[0] = first_departure(jumps, old[0] * trellis.norms[0], here, starts)
        stay = NONE * share * trellis.nobody[j]
        trellis.nobody[j] = backward_step(old, trellis.norms, out, stay, trellis.ahead, trellis.leave)


@compiled
def count_jumps(jumps, trellis, counts):
    """Add C and E of rates, starts and ends; C of starts is there already."""
    m = len(trellis.norms) - 1
    for place in range(m + 1):
        out, end = trellis.leave[place] * trellis.norms[place], end_of(place, m)
        counts[1, 2, end] += out
        if place == 0:
            for i in range(m):
                counts[1, 1, min(i, REACH)] += out
            continue
        for jump in range(JUMPS):
            ways = places_at(jump, place, m)
            if ways > 0:
                counts[0, 0, jump] += trellis.flows[jump, place - 1] * trellis.norms[place] * jumps[0, jump]
                counts[1, 0, jump] += out * ways


@compiled
def count_ends(trellis, counts):
    """Add the expected ends: `leave` as `finish` has left it."""
    m = len(trellis.leave) - 1
    for place in range(m + 1):
        counts[0, 2, end_of(place, m)] += trellis.leave[place]


@compiled
def posteriors(jumps, trellis, counts, learn):
    """Posteriors of one direction into `made` and `nobody`, the jumps into `counts`; return the log likelihood."""
    normalise(jumps, trellis.norms)
    log = forward(jumps, trellis)
    log += finish(jumps, trellis)
    if learn:
        count_ends(trellis, counts)
    backward(jumps, trellis, learn, counts[0, 1])
    if learn:
        count_jumps(jumps, trellis, counts)
    return log


@compiled
def add_agreed(slots, first, second, values, nulls_f, nulls_b, source, target):
    """The expected counts of the lexicon: products of both posteriors, and to nobody what is left of each word."""
    m, n = len(source), len(target)
    first.nobody[:] = 1.0
    second.nobody[:] = 1.0
    for i in range(m):
        for j in range(n):
            both = first.made[j, i] * second.made[i, j]
            first.nobody[j] -= both
            second.nobody[i] -= both
            slot = slots[i * n + j]
            if slot >= 0:
                values[slot, 2] += both
                values[slot, 3] += both
    for j in range(n):
        if target[j] >= 0:
            nulls_f[target[j], 1] += max(first.nobody[j], 0.0)
    for i in range(m):
        if source[i] >= 0:
            nulls_b[source[i], 1] += max(second.nobody[i], 0.0)


@compiled
def choose(trellis, links):
    """The maker of each word with the largest posterior, -1 for nobody."""
    n, m = trellis.made.shape
    for j in range(n):
        best, who = trellis.nobody[j], -1
        for i in range(m):
            if trellis.made[j, i] > best:
                best, who = trellis.made[j, i], i
        links[j] = who


@compiled
def walk(source, source_starts, target, target_starts, keys, shift, values, nulls_f, nulls_b, jumps, counts, logs, longest,
         learn, links_f, links_b):  # fmt: skip
    """All sentence pairs, both directions: with `learn` add the expected counts, else write the links."""
    slots, spaces = np.empty(longest * longest, np.int64), (space_for(longest), space_for(longest))
    used = np.zeros(1, np.int64)
    for pair in range(len(source_starts) - 1):
        a, b = source_starts[pair], source_starts[pair + 1]
        c, d = target_starts[pair], target_starts[pair + 1]
        m, n = b - a, d - c
        if m == 0 or n == 0 or m > longest or n > longest:
            continue
        slots_of(source[a:b], target[c:d], keys, shift, False, used, slots)
        first, second = trellis_of(spaces[0], n, m), trellis_of(spaces[1], m, n)
        emissions(slots, n, values, 0, nulls_f, target[c:d], first)
        emissions(slots, n, values, 1, nulls_b, source[a:b], second)
        logs[0] += posteriors(jumps[0], first, counts[0], learn)
        logs[1] += posteriors(jumps[1], second, counts[1], learn)
        if learn:
            add_agreed(slots, first, second, values, nulls_f, nulls_b, source[a:b], target[c:d])
        else:
            choose(first, links_f[c:d])
            choose(second, links_b[a:b])
