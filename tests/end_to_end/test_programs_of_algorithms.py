"""Small algorithms as scientists write them (images, graphs, tables, bits): each must give what NumPy gives."""

import numpy as np

from tests.support.programs import checks_of

RNG = np.random.default_rng(7)
R, R2, S = RNG.random(12), RNG.random((6, 7)), RNG.random((5, 5))
IMAGE = RNG.integers(0, 255, (8, 9)).astype(np.uint8)
GRAPH = np.where(RNG.random((7, 7)) > 0.5, np.inf, np.round(RNG.random((7, 7)) * 10))
WORD = RNG.integers(0, 4, 9)
TEXT = np.frombuffer(b"12,345,-67,8 9,10,-11,12;", dtype=np.uint8)


def otsu_threshold(img):
    hist = np.bincount(img.ravel(), minlength=256).astype(float)
    total = img.size
    sumB = 0.0
    wB = 0.0
    best = 0.0
    thr = 0
    sum1 = np.dot(np.arange(256), hist)
    for i in range(256):
        wB += hist[i]
        if wB == 0:
            continue
        wF = total - wB
        if wF == 0:
            break
        sumB += i * hist[i]
        mB = sumB / wB
        mF = (sum1 - sumB) / wF
        v = wB * wF * (mB - mF) ** 2
        if v > best:
            best = v
            thr = i
    return (thr, img > thr)


def equalize(img):
    hist = np.zeros(256, dtype=np.int64)
    for v in img.ravel():
        hist[v] += 1
    cdf = hist.cumsum()
    cmin = cdf[cdf > 0].min()
    lut = np.round((cdf - cmin) / (img.size - cmin) * 255).astype(np.uint8)
    return lut[img]


def game_of_life(g, n):
    for _ in range(n):
        nb = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        g = ((nb == 3) | (g == 1) & (nb == 2)).astype(g.dtype)
    return g


def floyd_steinberg(img):
    f = img.astype(np.float32)
    h, w = f.shape
    for y in range(h):
        for x in range(w):
            old = f[y, x]
            new = np.float32(255) if old > 127 else np.float32(0)
            f[y, x] = new
            e = old - new
            if x + 1 < w:
                f[y, x + 1] += e * 7 / 16
            if y + 1 < h:
                if x > 0:
                    f[y + 1, x - 1] += e * 3 / 16
                f[y + 1, x] += e * 5 / 16
                if x + 1 < w:
                    f[y + 1, x + 1] += e / 16
    return f.astype(np.uint8)


def flood_fill(img, sy, sx):
    h, w = img.shape
    seen = np.zeros((h, w), dtype=bool)
    stack = np.empty((h * w, 2), dtype=np.int64)
    n = 1
    stack[0] = (sy, sx)
    seen[sy, sx] = True
    area = 0
    while n > 0:
        n -= 1
        y, x = stack[n]
        area += 1
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            yy, xx = (y + dy, x + dx)
            if 0 <= yy < h and 0 <= xx < w and (not seen[yy, xx]) and (img[yy, xx] > 80):
                seen[yy, xx] = True
                stack[n] = (yy, xx)
                n += 1
    return (area, seen)


def dijkstra(W, s):
    n = W.shape[0]
    dist = np.full(n, np.inf)
    done = np.zeros(n, dtype=bool)
    prev = -np.ones(n, dtype=int)
    dist[s] = 0
    for _ in range(n):
        u = -1
        best = np.inf
        for i in range(n):
            if not done[i] and dist[i] < best:
                best = dist[i]
                u = i
        if u < 0:
            break
        done[u] = True
        for v in range(n):
            if dist[u] + W[u, v] < dist[v]:
                dist[v] = dist[u] + W[u, v]
                prev[v] = u
    return (dist, prev)


def breadth_first(adj, s):
    n = len(adj)
    dist = np.full(n, -1)
    dist[s] = 0
    q = np.zeros(n, dtype=np.int64)
    q[0] = s
    head = 0
    tail = 1
    while head < tail:
        u = q[head]
        head += 1
        for v in np.nonzero(adj[u])[0]:
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                q[tail] = v
                tail += 1
    return dist


def prim(W):
    n = len(W)
    inT = np.zeros(n, dtype=bool)
    key = np.full(n, np.inf)
    key[0] = 0
    total = 0.0
    for _ in range(n):
        masked = np.where(inT, np.inf, key)
        u = np.argmin(masked)
        if masked[u] == np.inf:
            break
        inT[u] = True
        total += key[u]
        better = ~inT & (W[u] < key)
        key[better] = W[u][better]
    return (total, inT)


def union_find(e, n):
    p = np.arange(n)

    def find(x):
        while p[x] != x:
            p[x] = p[p[x]]
            x = p[x]
        return x

    c = n
    for a, b in e:
        ra, rb = (find(a), find(b))
        if ra != rb:
            p[ra] = rb
            c -= 1
    return (c, p)


def topological_order(adj):
    n = len(adj)
    indeg = adj.sum(axis=0)
    order = np.empty(n, dtype=int)
    k = 0
    left = np.ones(n, dtype=bool)
    while k < n:
        ready = np.flatnonzero(left & (indeg == 0))
        if len(ready) == 0:
            return order[:k]
        for v in ready:
            order[k] = v
            k += 1
            left[v] = False
            indeg = indeg - adj[v]
    return order


def levenshtein(a, b):
    prev = np.arange(len(b) + 1)
    for i in range(len(a)):
        cur = np.empty_like(prev)
        cur[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            cur[j + 1] = min(prev[j + 1] + 1, cur[j] + 1, prev[j] + cost)
        prev = cur
    return prev[-1]


def largest_sum(x):
    best = x[0]
    cur = x[0]
    start = 0
    bs = 0
    be = 0
    for i in range(1, len(x)):
        if cur < 0:
            cur = x[i]
            start = i
        else:
            cur += x[i]
        if cur > best:
            best = cur
            bs = start
            be = i
    return (best, bs, be)


def xorshift(seed, n):
    x = np.uint64(seed)
    out = np.empty(n, dtype=np.uint64)
    for i in range(n):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        out[i] = x
    return out


def crc32(d):
    crc = 4294967295
    for byte in d:
        crc ^= int(byte)
        for _ in range(8):
            crc = crc >> 1 ^ (3988292384 if crc & 1 else 0)
    return crc ^ 4294967295


def parse_integers(b):
    out = np.zeros(20, dtype=np.int64)
    n = 0
    cur = 0
    sign = 1
    has = False
    for c in b:
        if c == 45:
            sign = -1
        elif 48 <= c <= 57:
            cur = cur * 10 + int(c) - 48
            has = True
        elif has:
            out[n] = sign * cur
            n += 1
            cur = 0
            sign = 1
            has = False
    return (out[:n].copy(), n)


def queens(n):
    cols = np.full(n, -1)
    row = 0
    count = 0
    while row >= 0:
        cols[row] += 1
        while cols[row] < n:
            ok = True
            for r in range(row):
                if cols[r] == cols[row] or abs(cols[r] - cols[row]) == row - r:
                    ok = False
                    break
            if ok:
                break
            cols[row] += 1
        if cols[row] < n:
            if row == n - 1:
                count += 1
            else:
                row += 1
                cols[row] = -1
        else:
            row -= 1
    return count


def heap_sort(a):
    a = a.copy()
    n = len(a)

    def sift(lo, hi):
        root = lo
        while 2 * root + 1 <= hi:
            c = 2 * root + 1
            if c + 1 <= hi and a[c] < a[c + 1]:
                c += 1
            if a[root] < a[c]:
                a[root], a[c] = (a[c], a[root])
                root = c
            else:
                return

    for s in range((n - 2) // 2, -1, -1):
        sift(s, n - 1)
    for e in range(n - 1, 0, -1):
        a[e], a[0] = (a[0], a[e])
        sift(0, e - 1)
    return a


PROGRAMS = [
    (otsu_threshold, (IMAGE,), 1e-12),
    (equalize, (IMAGE,), 0),
    (game_of_life, ((R2 > 0.5).astype(np.int32), 3), 0),
    (floyd_steinberg, (IMAGE,), 0.0001),
    (flood_fill, (IMAGE, 2, 3), 0),
    (dijkstra, (GRAPH, 0), 0),
    (breadth_first, (GRAPH < 5, 0), 0),
    (prim, (np.minimum(GRAPH, GRAPH.T),), 1e-12),
    (union_find, (np.array([[0, 1], [2, 3], [1, 3], [4, 5]]), 7), 0),
    (topological_order, (np.triu(GRAPH < 5, 1).astype(int),), 0),
    (levenshtein, (WORD, WORD[::-1]), 0),
    (largest_sum, (R - 0.5,), 1e-12),
    (xorshift, (12345, 5), 0),
    (crc32, (TEXT,), 0),
    (parse_integers, (TEXT,), 0),
    (queens, (5,), 0),
    (heap_sort, (R,), 0),
]

test_programs, test_programs_in_compiled_code = checks_of(PROGRAMS)
