"""Programs that keep records in lists, stacks, queues and heaps: schedulers, ledgers, ranks, paths."""

import heapq
import math
from collections import deque, namedtuple

import numpy as np

from tests.support.programs import checks_of

rng = np.random.default_rng(8)



def round_robin(arrival, burst, quantum):
    n = len(arrival)
    ready = deque()
    finish = [None] * n
    left = [int(b) for b in burst]
    timeline = []
    t = 0
    nxt = 0
    while nxt < n or ready:
        while nxt < n and arrival[nxt] <= t:
            ready.append(nxt)
            nxt += 1
        if not ready:
            t += 1
            continue
        job = ready.popleft()
        run = min(quantum, left[job])
        timeline.append((job, t, t + run))
        t += run
        left[job] -= run
        while nxt < n and arrival[nxt] <= t:
            ready.append(nxt)
            nxt += 1
        if left[job] > 0:
            ready.append(job)
        else:
            finish[job] = t
    return timeline, finish



def prim(w):
    n = len(w)
    in_tree = [False] * n
    heap = [(0, 0, -1)]
    tree = []
    total = 0
    while heap:
        c, u, p = heapq.heappop(heap)
        if in_tree[u]:
            continue
        in_tree[u] = True
        total += c
        if p >= 0:
            tree.append((p, u, c))
        for v in range(n):
            if not in_tree[v]:
                heapq.heappush(heap, (w[u, v], v, u))
    return tree, total



def merge_streams(a, b):
    out = []
    i = j = 0
    while i < len(a) or j < len(b):
        if j == len(b) or (i < len(a) and a[i] <= b[j]):
            out.append((float(a[i]), "a", i))
            i += 1
        else:
            out.append((float(b[j]), "b", j))
            j += 1
    return out



def gradebook(marks):
    rows = []
    for i in range(marks.shape[0]):
        known = [int(m) for m in marks[i] if m >= 0]
        mean = sum(known) / len(known) if known else None
        rows.append((i, mean, len(known)))
    ranked = sorted([r for r in rows if r[1] is not None], key=lambda r: -r[1])
    return rows, ranked



def nearest(points, queries, k):
    result = []
    for q in range(len(queries)):
        cand = []
        for p in range(len(points)):
            d = math.hypot(points[p, 0] - queries[q, 0], points[p, 1] - queries[q, 1])
            cand.append((d, p))
        cand.sort()
        for d, p in cand[:k]:
            result.append((q, p, d))
    return result



def rpn(code):
    stack = []
    trace = []
    for c in code:
        if c >= 0:
            stack.append(int(c))
        else:
            y = stack.pop()
            x = stack.pop()
            if c == -1:
                r = x + y
            elif c == -2:
                r = x - y
            elif c == -3:
                r = x * y
            else:
                r = x / y
            stack.append(r)
        trace.append((len(stack), stack[-1]))
    return stack, trace


Activity = namedtuple("Activity", "name start end value")


def activities(start, end, value):
    acts = [Activity(i, int(start[i]), int(end[i]), float(value[i])) for i in range(len(start))]
    acts.sort(key=lambda a: a.end)
    chosen = []
    last = 0
    for a in acts:
        if a.start >= last:
            chosen.append(a)
            last = a.end
    best = max(acts, key=lambda a: a.value)
    return [a.name for a in chosen], best, sum(a.value for a in chosen)



def lru(requests, size):
    cache = []
    log = []
    for t, r in enumerate(requests):
        hit = False
        for i in range(len(cache)):
            if cache[i][0] == r:
                hit = True
                cache.pop(i)
                break
        if not hit and len(cache) == size:
            cache.pop(0)
        cache.append((int(r), t))
        log.append((t, int(r), hit))
    return cache, log



def peaks(y):
    found = []
    for i in range(1, len(y) - 1):
        if y[i] > y[i - 1] and y[i] > y[i + 1]:
            left = min(y[:i])
            right = min(y[i + 1:])
            found.append((i, y[i], y[i] - max(left, right)))
    if not found:
        return None
    strongest = max(found, key=lambda p: p[2])
    return found, strongest



def ledger(amounts):
    balance = 0
    entries = []
    refused = 0
    for i, a in enumerate(amounts):
        if balance + a < 0:
            entries.append((i, float(a), None))
            refused += 1
        else:
            balance += float(a)
            entries.append((i, float(a), balance))
    ok = [b for _, _, b in entries if b is not None]
    return entries, ok, refused



def grid_path(g):
    n, m = g.shape
    parent = [[None] * m for _ in range(n)]
    queue = deque([(0, 0)])
    seen = np.zeros((n, m), bool)
    seen[0, 0] = True
    while queue:
        i, j = queue.popleft()
        if (i, j) == (n - 1, m - 1):
            break
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m and not g[a, b] and not seen[a, b]:
                seen[a, b] = True
                parent[a][b] = (i, j)
                queue.append((a, b))
    path = []
    node = (n - 1, m - 1)
    while node is not None:
        path.append(node)
        node = parent[node[0]][node[1]]
    return path[::-1]



def poly_add(p, q):
    terms = [(int(c), int(e)) for c, e in p] + [(int(c), int(e)) for c, e in q]
    terms.sort(key=lambda t: -t[1])
    out = []
    for c, e in terms:
        if out and out[-1][1] == e:
            out[-1] = (out[-1][0] + c, e)
        else:
            out.append((c, e))
    return [(c, e) for c, e in out if c != 0], [c * 2.0 ** e for c, e in out]



def branch_bound(value, weight, cap):
    items = sorted([(float(v) / float(w), float(v), int(w)) for v, w in zip(value, weight)], reverse=True)
    best = 0.0
    stack = [(0, 0.0, 0)]
    visited = 0
    while stack:
        k, v, w = stack.pop()
        visited += 1
        if v > best:
            best = v
        if k == len(items):
            continue
        bound = v
        room = cap - w
        for r, iv, iw in items[k:]:
            if iw <= room:
                room -= iw
                bound += iv
            else:
                bound += r * room
                break
        if bound <= best:
            continue
        stack.append((k + 1, v, w))
        if w + items[k][2] <= cap:
            stack.append((k + 1, v + items[k][1], w + items[k][2]))
    return best, visited



def components(n, edges, weight):
    parent = list(range(n))
    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x
    for a, b in edges:
        ra, rb = find(int(a)), find(int(b))
        if ra != rb:
            parent[ra] = rb
    heaviest = [None] * n
    for i in range(n):
        r = find(i)
        if heaviest[r] is None or weight[i] > heaviest[r][1]:
            heaviest[r] = (i, float(weight[i]))
    return [h for h in heaviest if h is not None], parent



def window_min(x, k):
    dq = deque()
    out = []
    for i in range(len(x)):
        v = float(x[i])
        while dq and dq[-1][1] >= v:
            dq.pop()
        dq.append((i, v))
        if dq[0][0] <= i - k:
            dq.popleft()
        out.append(dq[0][1] if i >= k - 1 else None)
    return out


test_programs, test_programs_in_compiled_code = checks_of([
    (round_robin, (np.array([0, 1, 2, 4]), np.array([5, 3, 1, 2]), 2), 0),
    (prim, (rng.integers(1, 20, (6, 6)).astype(float),), 0),
    (merge_streams, (np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.5, 1.5, 2.0])), 0),
    (gradebook, (np.array([[90, -1, 70], [-1, -1, -1], [60, 80, 100]]),), 0),
    (nearest, (rng.random((10, 2)), rng.random((3, 2)), 2), 1e-15),
    (rpn, (np.array([3, 4, -1, 2, -3, 5, -4]),), 0),
    (activities, (np.array([1, 3, 0, 5, 8]), np.array([2, 4, 6, 7, 9]), np.array([1.0, 2.5, 3.0, 0.5, 1.0])), 0),
    (lru, (np.array([1, 2, 3, 1, 4, 2, 5]), 3), 0),
    (peaks, (np.array([0.0, 1.0, 0.5, 2.0, 0.1, 1.5, 0.3]),), 0),
    (ledger, (np.array([100.0, -30.0, -90.0, 20.0, -80.0]),), 0),
    (grid_path, (np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]]),), 0),
    (poly_add, (np.array([[3, 2], [1, 0], [-2, 1]]), np.array([[1, 2], [2, 1]])), 0),
    (branch_bound, (np.array([40.0, 50.0, 100.0, 95.0]), np.array([2, 3, 5, 10]), 10), 0),
    (components, (8, np.array([[0, 1], [2, 3], [1, 3], [5, 6]]), rng.random(8)), 0),
    (window_min, (np.array([4.0, 2.0, 12.0, 3.0, -1.0, 8.0]), 3), 0),
])  # fmt: skip
