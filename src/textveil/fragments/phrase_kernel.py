"""Compiled symmetrisation, extraction and segmentation. Imports numba, so it is itself imported late.

`oracle` has the same rules written the slow way, for the tests.
"""

from __future__ import annotations

import numpy as np

from textveil.text.compiled import compiled

UNION, INTERSECTION, GROW_DIAG, GROW_DIAG_FINAL, GROW_DIAG_FINAL_AND = range(5)


@compiled
def has_neighbour(kept, i, j, m, n):
    """Whether a kept link touches (i, j), corners included."""
    for x in range(max(i - 1, 0), min(i + 2, m)):
        for y in range(max(j - 1, 0), min(j + 2, n)):
            if kept[x, y] and not (x == i and y == j):
                return True
    return False


@compiled
def grow(kept, forward, backward, m, n, rows, columns):
    """Add links of the union that touch a kept one and join a word that has none yet, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for i in range(m):
            for j in range(n):
                in_union = forward[j] == i or backward[i] == j
                if kept[i, j] or not in_union or (rows[i] and columns[j]):
                    continue
                if has_neighbour(kept, i, j, m, n):
                    kept[i, j] = rows[i] = columns[j] = True
                    changed = True


@compiled
def finish(kept, forward, backward, m, n, rows, columns, both):
    """Add links of one direction, then of the other, for words that have none; `both`: neither word may have one."""
    for side in range(2):
        for i in range(m):
            for j in range(n):
                linked = forward[j] == i if side == 0 else backward[i] == j
                if not linked or kept[i, j]:
                    continue
                if (not rows[i] and not columns[j]) or (not both and (not rows[i] or not columns[j])):
                    kept[i, j] = rows[i] = columns[j] = True


@compiled
def symmetrise(forward, backward, source_starts, target_starts, method, out_i, out_j, out_starts):
    """Links of all pairs, source place and target place, row by row; returns how many."""
    longest_m = longest_n = 1
    for pair in range(len(source_starts) - 1):
        longest_m = max(longest_m, source_starts[pair + 1] - source_starts[pair])
        longest_n = max(longest_n, target_starts[pair + 1] - target_starts[pair])
    kept = np.zeros((longest_m, longest_n), np.bool_)
    rows, columns = np.zeros(longest_m, np.bool_), np.zeros(longest_n, np.bool_)
    count = 0
    out_starts[0] = 0
    for pair in range(len(source_starts) - 1):
        a, b, c, d = source_starts[pair], source_starts[pair + 1], target_starts[pair], target_starts[pair + 1]
        m, n, f, g = b - a, d - c, forward[c:d], backward[a:b]
        rows[:m] = False
        columns[:n] = False
        for i in range(m):
            for j in range(n):
                first, second = f[j] == i, g[i] == j
                kept[i, j] = (first or second) if method == 0 else (first and second)
                if kept[i, j]:
                    rows[i] = columns[j] = True
        if method >= 2:
            grow(kept, f, g, m, n, rows, columns)
        if method >= 3:
            finish(kept, f, g, m, n, rows, columns, method == 4)
        for i in range(m):
            for j in range(n):
                if kept[i, j]:
                    out_i[count], out_j[count] = i, j
                    count += 1
        out_starts[pair + 1] = count
    return count


@compiled
def partners(link_i, link_j, m, n, low_t, high_t, low_s, high_s):
    """The first and last partner of each word: of target words in the source (low_t, high_t), and the other way round."""
    for j in range(n):
        low_t[j], high_t[j] = m, -1
    for i in range(m):
        low_s[i], high_s[i] = n, -1
    for k in range(len(link_i)):
        i, j = link_i[k], link_j[k]
        low_t[j], high_t[j] = min(low_t[j], i), max(high_t[j], i)
        low_s[i], high_s[i] = min(low_s[i], j), max(high_s[i], j)


@compiled
def extract(source_starts, target_starts, link_i, link_j, link_starts, most_s, most_t, least, out, count_only):
    """All consistent phrase pairs, in the order of Moses' extractor: (pair, source from, to, target from, to), ends
    outside.

    A target span is taken with the source span of its links; if no word of that is linked outside of the target span,
    the pair is consistent, and so are its extensions over source words without a link.
    """
    longest = 1
    for pair in range(len(source_starts) - 1):
        longest = max(longest, source_starts[pair + 1] - source_starts[pair])
        longest = max(longest, target_starts[pair + 1] - target_starts[pair])
    low_t, high_t = np.empty(longest, np.int64), np.empty(longest, np.int64)
    low_s, high_s = np.empty(longest, np.int64), np.empty(longest, np.int64)
    count = 0
    for pair in range(len(source_starts) - 1):
        m, n = source_starts[pair + 1] - source_starts[pair], target_starts[pair + 1] - target_starts[pair]
        first, last = link_starts[pair], link_starts[pair + 1]
        partners(link_i[first:last], link_j[first:last], m, n, low_t, high_t, low_s, high_s)
        for t1 in range(n):
            s1, s2 = m, -1
            for t2 in range(t1, min(n, t1 + most_t)):
                s1, s2 = min(s1, low_t[t2]), max(s2, high_t[t2])
                if s2 < 0 or s2 - s1 >= most_s:
                    continue
                inside = True
                for i in range(s1, s2 + 1):
                    if high_s[i] >= 0 and (low_s[i] < t1 or high_s[i] > t2):
                        inside = False
                        break
                if not inside:
                    continue
                begin = s1
                while begin >= 0 and begin > s2 - most_s and (begin == s1 or high_s[begin] < 0):
                    end = s2
                    while end < m and end < begin + most_s and (end == s2 or high_s[end] < 0):
                        if end - begin + 1 >= least and t2 - t1 + 1 >= least:
                            if not count_only:
                                out[count, 0], out[count, 1], out[count, 2] = pair, begin, end + 1
                                out[count, 3], out[count, 4] = t1, t2 + 1
                            count += 1
                        end += 1
                    begin -= 1
    return count


@compiled
def is_free(used, first, last):
    for i in range(first, last):  # noqa: SIM110, compiled
        if used[i]:
            return False
    return True


@compiled
def segment(spans, order, longest, keep):
    """Take phrase pairs in the order given, pair by pair, if none of their words is taken on either side."""
    used_s, used_t = np.zeros(longest, np.bool_), np.zeros(longest, np.bool_)
    pair = -1
    for k in order:
        if spans[k, 0] != pair:
            pair = spans[k, 0]
            used_s[:] = False
            used_t[:] = False
        s1, s2, t1, t2 = spans[k, 1], spans[k, 2], spans[k, 3], spans[k, 4]
        if is_free(used_s, s1, s2) and is_free(used_t, t1, t2):
            used_s[s1:s2] = True
            used_t[t1:t2] = True
            keep[k] = True
