"""Programs that keep records in lists: searches, schedulers, queues of events, parsers; none was written for dcpy."""

import heapq
import math
from collections import namedtuple

import numpy as np

from tests.support.programs import checks_of

W = np.array([[0, 4, 1, 0], [4, 0, 2, 5], [1, 2, 0, 8], [0, 5, 8, 0]], dtype=np.float64)
rng = np.random.default_rng(3)
G = np.where(rng.random((9, 9)) < 0.4, rng.random((9, 9)) * 10, 0.0)


def dijkstra(weights, source):
    n = weights.shape[0]
    dist = [math.inf] * n
    dist[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v in range(n):
            w = weights[u, v]
            if w > 0:
                nd = d + float(w)
                if nd < dist[v]:
                    dist[v] = nd
                    heapq.heappush(heap, (nd, v))
    return dist


def kruskal(weights):
    n = weights.shape[0]
    edges = []
    for i in range(n):
        for j in range(i + 1, n):
            if weights[i, j] > 0:
                edges.append((i, j, float(weights[i, j])))
    edges.sort(key=lambda e: e[2])
    parent = list(range(n))
    tree = []
    total = 0.0
    for u, v, w in edges:
        while parent[u] != u:
            u = parent[u]
        while parent[v] != v:
            v = parent[v]
        if u != v:
            parent[u] = v
            tree.append((u, v, w))
            total += w
    return tree, total


def merge_intervals(a):
    intervals = [(int(s), int(e)) for s, e in a]
    intervals.sort()
    merged = []
    for s, e in intervals:
        if merged and s <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], e))
        else:
            merged.append((s, e))
    return merged


def top_k(values, k):
    pairs = []
    for i, v in enumerate(values):
        pairs.append((float(v), i))
    pairs.sort(reverse=True)
    return pairs[:k]


def huffman_cost(freq):
    heap = []
    for i in range(len(freq)):
        heap.append((int(freq[i]), i))
    heapq.heapify(heap)
    total = 0
    merges = []
    nxt = len(freq)
    while len(heap) > 1:
        a, i = heapq.heappop(heap)
        b, j = heapq.heappop(heap)
        merges.append((i, j, a + b))
        total += a + b
        heapq.heappush(heap, (a + b, nxt))
        nxt += 1
    return total, merges


def astar(grid):
    n, m = grid.shape
    heap = [(0.0, 0, 0, 0)]
    seen = np.zeros((n, m), dtype=bool)
    while heap:
        _, g, i, j = heapq.heappop(heap)
        if seen[i, j]:
            continue
        seen[i, j] = True
        if i == n - 1 and j == m - 1:
            return g
        for di, dj in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            a = i + di
            b = j + dj
            if 0 <= a < n and 0 <= b < m and grid[a, b] == 0 and not seen[a, b]:
                h = math.sqrt((n - 1 - a) ** 2 + (m - 1 - b) ** 2)
                heapq.heappush(heap, (g + 1 + h, g + 1, a, b))
    return -1


PTS = np.random.default_rng(1).random((12, 2))


def turns_right(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0


def convex_hull(points):
    pts = sorted([(float(p[0]), float(p[1])) for p in points])
    lower = []
    for p in pts:
        while len(lower) >= 2 and turns_right(lower[-2], lower[-1], p):
            lower.pop()
        lower.append(p)
    upper = []
    for p in reversed(pts):
        while len(upper) >= 2 and turns_right(upper[-2], upper[-1], p):
            upper.pop()
        upper.append(p)
    return lower[:-1] + upper[:-1]


def fractional_knapsack(values, weights, capacity):
    items = [(float(v), int(w)) for v, w in zip(values, weights)]
    items = sorted(items, key=lambda it: it[0] / it[1], reverse=True)
    total = 0.0
    taken = []
    for v, w in items:
        if w <= capacity:
            capacity -= w
            total += v
            taken.append((v, w, True))
        else:
            part = capacity / w
            total += v * part
            taken.append((v * part, capacity, False))
            break
    return total, taken


def event_queue(periods, steps):
    queue = []
    for i in range(len(periods)):
        heapq.heappush(queue, (float(periods[i]), i))
    log = []
    for _ in range(steps):
        t, who = heapq.heappop(queue)
        log.append((t, who))
        heapq.heappush(queue, (t + float(periods[who]), who))
    return log


def skyline(buildings):
    events = []
    for left, r, h in buildings:
        events.append((int(left), -int(h), int(r)))
        events.append((int(r), 0, 0))
    events.sort()
    result = []
    live = [(0, 1000000)]
    for x, negh, r in events:
        while live[0][1] <= x:
            heapq.heappop(live)
        if negh < 0:
            heapq.heappush(live, (negh, r))
        height = -live[0][0]
        if not result or result[-1][1] != height:
            result.append((x, height))
    return result


def closest_pair(x, y):
    pts = list(zip(x, y))
    best = math.inf
    pair = (0, 0)
    for i in range(len(pts)):
        for j in range(i + 1, len(pts)):
            d = (pts[i][0] - pts[j][0]) ** 2 + (pts[i][1] - pts[j][1]) ** 2
            if d < best:
                best = d
                pair = (i, j)
    return best, pair


def stats_record(a):
    rows = []
    for i, v in enumerate(a):
        rows.append((i, int(v), bool(v > 2), float(v) / 3))
    positive = [r for r in rows if r[2]]
    smallest = min(rows, key=lambda r: r[3])
    largest = max(rows, key=lambda r: r[1])
    return positive, smallest, largest


Point = namedtuple("Point", ["x", "y", "label"])


def named_points(xs, labels):
    pts = []
    for i in range(len(xs)):
        pts.append(Point(float(xs[i]), 2.0 * i, int(labels[i])))
    pts.sort(key=lambda p: p.label)
    s = 0.0
    for p in pts:
        s += p.x * p.label
    return s, pts[0].y, pts[-1].label


def run_lengths(a):
    runs = []
    for v in a:
        if runs and runs[-1][0] == v:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((int(v), 1))
    return runs


def dfs_stack(n):
    stack = [(0, 0, 1.0)]
    out = []
    while stack:
        node, depth, weight = stack.pop()
        out.append((node, depth))
        left = 2 * node + 1
        right = 2 * node + 2
        if left < n:
            stack.append((left, depth + 1, weight / 2))
        if right < n:
            stack.append((right, depth + 1, weight / 2))
    return out


def two_sum_pairs(a, target):
    found = []
    for i in range(len(a)):
        for j in range(i):
            if a[i] + a[j] == target:
                found.append((j, i, a[i] * a[j]))
    if (0, 1, 14.0) in found:
        return len(found)
    return -1


def ranked(a):
    order = sorted(enumerate(a), key=lambda p: p[1])
    ranks = [0] * len(a)
    for rank, (i, v) in enumerate(order):
        ranks[i] = rank
    return ranks, order[0][0]


def tokens(codes):
    # 0: number, 1: operator, 2: paren
    toks = []
    for i in range(codes.shape[0]):
        c = int(codes[i])
        if c == 40 or c == 41:
            toks.append((2, c, i))
        elif c >= 42 and c <= 47:
            toks.append((1, c, i))
        elif c != 32:
            toks.append((0, c, i))
    depth = 0
    for kind, c, pos in toks:
        if kind == 2:
            if c == 40:
                depth += 1
            else:
                depth -= 1
    return toks, depth


def machine_load(jobs, machines):
    load = [(0, m) for m in range(machines)]
    heapq.heapify(load)
    assigned = []
    for j, t in enumerate(jobs):
        busy, m = heapq.heappop(load)
        assigned.append((j, m))
        heapq.heappush(load, (busy + int(t), m))
    return assigned, max(load)[0]


def roots_table(c, n):
    table = []
    for k in range(n):
        z = complex(c[k % 3], k)
        table.append((k, z, abs(z)))
    table.sort(key=lambda t: t[2])
    return table


def weighted_median(x, w):
    pairs = sorted(zip(x, w))
    total = sum([p[1] for p in pairs])
    acc = 0
    for v, k in pairs:
        acc += k
        if 2 * acc >= total:
            return v
    return 0.0


def undo_log(a):
    log = []
    b = a.copy()
    for i in range(len(b) - 1):
        if b[i] > b[i + 1]:
            log.append((i, int(b[i]), int(b[i + 1])))
            t = b[i]
            b[i] = b[i + 1]
            b[i + 1] = t
    while len(log) > 0:
        i, old, new = log.pop()
        b[i] = old
        b[i + 1] = new
    log.extend([(0, 1, 2), (3, 4, 5)])
    log.insert(0, (7, 8, 9))
    del log[1]
    return b, log


test_programs, test_programs_in_compiled_code = checks_of([
    (dijkstra, (W, 0), 0),
    (dijkstra, (G, 2), 0),
    (kruskal, (W,), 0),
    (kruskal, (G,), 0),
    (merge_intervals, (np.array([[1, 3], [2, 6], [8, 10], [15, 18], [17, 20]]),), 0),
    (merge_intervals, (np.array([[1, 4], [4, 5]]),), 0),
    (top_k, (np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]), 3), 0),
    (huffman_cost, (np.array([5, 9, 12, 13, 16, 45]),), 0),
    (huffman_cost, (np.array([1, 1, 2, 3, 5, 8, 13]),), 0),
    (astar, (np.array([[0, 0, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]]),), 0),
    (convex_hull, (PTS,), 0),
    (fractional_knapsack, (np.array([60.0, 100.0, 120.0]), np.array([10, 20, 30]), 50), 0),
    (event_queue, (np.array([0.5, 1.0, 1.5, 2.5]), 10), 0),
    (skyline, (np.array([[2, 9, 10], [3, 7, 15], [5, 12, 12], [15, 20, 10], [19, 24, 8]]),), 0),
    (closest_pair, (np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5, 9.0])), 0),
    (stats_record, (np.array([4, -2, 7, 0, 3]),), 0),
    (named_points, (np.array([1.5, 0.5, 2.5]), np.array([3, 1, 2])), 0),
    (run_lengths, (np.array([3, 0, 4, 0, 0, 5]),), 0),
    (dfs_stack, (5,), 0),
    (two_sum_pairs, (np.array([2.0, 7.0, 11.0, 15.0]), 9.0), 0),
    (ranked, (np.array([5.0, 2.0, 8.0, 1.0]),), 0),
    (tokens, (np.array([40, 43, 32, 45, 7, 42, 40]),), 0),
    (machine_load, (np.array([10, 3, 7, 2]), 2), 0),
    (roots_table, (np.array([1.0, -2.0, 3.0]), 4), 1e-15),
    (weighted_median, (np.array([0.2, 0.9, 0.4]), np.array([1, 2, 3])), 0),
    (undo_log, (np.array([4, 1, 3]),), 0),
    (undo_log, (np.array([9, 9, 1, 2]),), 0),
])  # fmt: skip
