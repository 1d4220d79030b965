"""Lists of lists that grow one by one, groups in a `defaultdict(list)`, and heaps: values are Python's."""

import heapq
from collections import defaultdict

import numpy as np

from tests.support.oracles import check_same
from tests.support.programs import checks_of

RNG = np.random.default_rng(5)
EDGES = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4]])
WEIGHTS = np.where(RNG.random((6, 6)) < 0.5, RNG.random((6, 6)), 0)


def topological_order(n, edges):
    into, after = [0] * n, [[] for _ in range(n)]
    for a, b in edges:
        after[a].append(int(b))
        into[b] += 1
    ready, order = [i for i in range(n) if into[i] == 0], []
    while ready:
        node = ready.pop()
        order.append(node)
        for other in after[node]:
            into[other] -= 1
            if into[other] == 0:
                ready.append(other)
    return order


def bucket_sort(xs, n):
    buckets = [[] for _ in range(n)]
    for x in xs:
        buckets[min(int(n * x), n - 1)].append(x)
    out = []
    for bucket in buckets:
        out.extend(sorted(bucket))
    return out, [len(bucket) for bucket in buckets], buckets


def rows_changed(n):
    rows = [[] for _ in range(n)]
    for k in range(3 * n):
        rows[k % n].append(k * k)
    rows[0][1] = -1
    last = rows[n - 1].pop()
    rows[1] = [4, 5]
    row = rows[2]
    row.append(7)
    return rows, last, rows[-1][0], 4 in rows[1], rows[2][1:], len(rows)


def grouped(xs):
    groups = defaultdict(list)
    for i, x in enumerate(xs):
        groups[x % 4].append(i)
    total = 0
    for name, row in groups.items():
        total += name * sum(row) + len(row)
    return total, len(groups), [len(row) for row in groups.values()]


def groups_returned(xs):
    groups = defaultdict(list)
    for x in xs:
        groups[x // 10].append(x)
    return groups


def sorted_by_heap(xs):
    heap = []
    for x in xs:
        heapq.heappush(heap, x)
    return [heapq.heappop(heap) for _ in range(len(xs))]


def joined_pieces(lengths):
    heap, cost = list(lengths), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        cost += both
        heapq.heappush(heap, both)
    return cost, heap


def best_of(xs):
    heap = list(xs[:3])
    heapq.heapify(heap)
    for x in xs[3:]:
        if x > heap[0]:
            heapq.heapreplace(heap, x)
    return heap, heapq.heappushpop(heap, xs[0]), heapq.nsmallest(3, xs), heapq.nlargest(2, xs)


def shortest_paths(weights, start):
    n = len(weights)
    distance = np.full(n, np.inf)
    distance[start] = 0.0
    heap = [(0.0, float(start))]
    while heap:
        d, node = heapq.heappop(heap)
        u = int(node)
        if d > distance[u]:
            continue
        for v in range(n):
            if weights[u, v] > 0 and d + weights[u, v] < distance[v]:
                distance[v] = d + weights[u, v]
                heapq.heappush(heap, (distance[v], float(v)))
    return distance


test_programs, test_programs_in_compiled_code = checks_of([
    (topological_order, (5, EDGES), 0), (bucket_sort, (RNG.random(30), 5), 0), (rows_changed, (4,), 0),
    (grouped, (RNG.integers(0, 50, 20),), 0), (groups_returned, (RNG.integers(0, 50, 20),), 0),
    (sorted_by_heap, (RNG.random(15),), 0), (shortest_paths, (WEIGHTS, 0), 0), (joined_pieces, ([4, 3, 2, 6],), 0),
    (best_of, (RNG.random(12),), 0),
])  # fmt: skip


def test_an_empty_heap_raises_as_in_python():
    def f(n):
        heap = [1 * n]
        heap.pop()
        return heapq.heappop(heap)

    check_same(f, 3)
