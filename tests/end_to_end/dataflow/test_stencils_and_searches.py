"""Stencils, searches and programs in programs as users of DaCe write them: each beside its meaning in NumPy."""

import numpy as np

import dcpy as dace
from tests.support.explicit import Pairs, pair_tests

M, N, K, W, H = (dace.symbol(s) for s in ("M", "N", "K", "W", "H"))
dtype = dace.float64
RNG = np.random.default_rng(0)
A, V = RNG.random((6, 5)), RNG.random(12)
IMAGE = RNG.random((6, 7))

PAIRS = Pairs()
pair = PAIRS.like


# -- stencils --------------------------------------------------------------------------------------------------------


def _jacobi(A, B, steps):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[:-2, 1:-1] + B[2:, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:])


@pair(_jacobi, IMAGE, IMAGE.copy(), 3)
@dace.program
def jacobi_2d(A: dtype[H, W], B: dtype[H, W], steps: dace.int32):
    for t in range(steps):

        @dace.map
        def there(y: _[1 : H - 1], x: _[1 : W - 1]):
            c << A[y, x]
            n << A[y - 1, x]
            s << A[y + 1, x]
            w << A[y, x - 1]
            e << A[y, x + 1]
            o >> B[y, x]
            o = 0.2 * (c + n + s + w + e)

        @dace.map
        def back(y: _[1 : H - 1], x: _[1 : W - 1]):
            window << B[y - 1 : y + 2, x - 1 : x + 2]
            o >> A[y, x]
            o = 0.2 * (window[1, 1] + window[0, 1] + window[2, 1] + window[1, 0] + window[1, 2])


def _two_copies(A, steps):
    src, dst = A.copy(), A.copy()
    for t in range(steps):
        dst[1:-1] = (src[:-2] + src[1:-1] + src[2:]) / 3
        src, dst = dst, src
    A[:] = src


@pair(_two_copies, V, 4)
@dace.program
def by_parity(A: dtype[N], steps: dace.int64):
    tmp = dace.define_local([2, N], dtype)
    tmp[0, :] = A
    tmp[1, :] = A
    for t in range(steps):
        for i in dace.map[1 : N - 1]:
            with dace.tasklet:
                l << tmp[t % 2, i - 1]
                m << tmp[t % 2, i]
                r << tmp[t % 2, i + 1]
                o >> tmp[(t + 1) % 2, i]
                o = (l + m + r) / 3
    A[:] = tmp[steps % 2]


def _seidel(A, steps):
    for _ in range(steps):
        for i in range(1, len(A) - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = A[i - 1 : i + 2, j - 1 : j + 2].sum() / 9


@pair(_seidel, IMAGE, 2)
@dace.program
def seidel(A: dtype[H, W], steps: dace.int64):
    for t in range(steps):
        for i in range(1, H - 1):
            for j in range(1, W - 1):
                with dace.tasklet:
                    a << A[i - 1 : i + 2, j - 1 : j + 2]
                    o >> A[i, j]
                    s = 0.0
                    for p in range(3):
                        for q in range(3):
                            s += a[p, q]
                    o = s / 9


def _laplacian(A):
    return np.pad(A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] - 4 * A[1:-1, 1:-1], 1)


@pair(_laplacian, IMAGE)
@dace.program
def laplacian(A: dtype[H, W]):
    out = np.zeros_like(A)
    for i, j in dace.map[1 : H - 1, 1 : W - 1]:
        with dace.tasklet:
            c << A[i, j]
            n << A[i - 1, j]
            s << A[i + 1, j]
            w << A[i, j - 1]
            e << A[i, j + 1]
            o >> out[i, j]
            o = n + s + w + e - 4 * c
    return out


def _blur(A, weights):
    out = np.zeros_like(A)
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            out[i, j] = (A[i - 1 : i + 2, j - 1 : j + 2] * weights).sum()
    return out


@pair(_blur, IMAGE, RNG.random((3, 3)))
@dace.program
def convolution(A: dtype[H, W], weights: dtype[3, 3]):
    out = np.zeros((H, W))

    @dace.mapscope
    def pixels(i: _[1 : H - 1], j: _[1 : W - 1]):
        @dace.map
        def window(p: _[0:3], q: _[0:3]):
            a << A[i + p - 1, j + q - 1]
            w << weights[p, q]
            o >> out(1, lambda x, y: x + y)[i, j]
            o = a * w

    return out


# -- data-dependent --------------------------------------------------------------------------------------------------


def _histogram(A, hist):
    for value in A.ravel():
        hist[min(int(value * len(hist)), len(hist) - 1)] += 1


@pair(_histogram, IMAGE, np.zeros(8, np.int64))
@dace.program
def histogram(A: dtype[H, W], hist: dace.int64[N]):
    @dace.map
    def compute(i: _[0:H], j: _[0:W]):
        a << A[i, j]
        out >> hist(1, lambda x, y: x + y)[:]
        out[min(int(a * N), N - 1)] = 1


def _filter(A, out, count, ratio):
    kept = A[A > ratio]
    out[: len(kept)] = kept
    count[0] = len(kept)


@pair(_filter, V, np.zeros(12), np.zeros(1, np.int64), 0.5)
@dace.program
def filtered(A: dtype[N], out: dtype[N], count: dace.int64[1], ratio: dtype):
    count[0] = 0
    for i in range(N):
        with dace.tasklet:
            a << A[i]
            r << ratio
            n << count
            o >> out(-1)[:]
            c >> count(-1)
            if a > r:
                o[n] = a
                c = n + 1


ROW = np.array([0, 2, 2, 5, 6], np.uint32)
COL = np.array([0, 3, 1, 2, 3, 0], np.uint32)
VAL = np.arange(1.0, 7.0)


def _spmv(row, col, val, x, b):
    for i in range(len(row) - 1):
        b[i] = val[row[i] : row[i + 1]] @ x[col[row[i] : row[i + 1]]]


@pair(_spmv, ROW, COL, VAL, RNG.random(4), np.zeros(4))
@dace.program
def spmv(row: dace.uint32[H + 1], col: dace.uint32[N], val: dtype[N], x: dtype[W], b: dtype[H]):
    @dace.mapscope(_[0:H])
    def compute_row(i):
        @dace.map(_[row[i] : row[i + 1]])
        def compute(j):
            a << val[j]
            in_x << x[col[j]]
            out >> b(1, lambda p, q: p + q)[i]
            out = a * in_x


def _levels(row, col, depth):
    depth[1:] = 99
    for level in range(4):
        for i in range(len(depth)):
            if depth[i] == level:
                for j in col[row[i] : row[i + 1]]:
                    depth[j] = min(depth[j], level + 1)


@pair(_levels, ROW, COL, np.array([0, 99, 99, 99]))
@dace.program
def breadth_first(row: dace.uint32[H + 1], col: dace.uint32[N], depth: dace.int64[H]):
    for i in dace.map[1:H]:
        depth[i] = 99
    for level in range(4):
        for i in range(H):
            for j in range(row[i], row[i + 1]):
                with dace.tasklet:
                    here << depth[i]
                    there >> depth(-1, lambda p, q: min(p, q))[col[j]]
                    if here == level:
                        there = level + 1


def _search(A, x):
    return int(np.searchsorted(A, x))


@pair(_search, np.sort(V), 0.5)
@dace.program
def binary_search(A: dtype[N], x: dtype):
    low = 0
    high = N
    while low < high:
        middle = (low + high) // 2
        if A[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def _mandelbrot(out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            c, z, n = complex(3.0 * x / w - 2, 2.0 * y / h - 1), 0j, 0
            while n < 20 and abs(z) < 2:
                z, n = z * z + c, n + 1
            out[y, x] = n


@pair(_mandelbrot, np.zeros((5, 6), np.uint16))
@dace.program
def mandelbrot(out: dace.uint16[H, W]):
    @dace.map(_[0:H, 0:W])
    def pixel(y, x):
        o >> out[y, x]
        c = complex(3.0 * x / W - 2, 2.0 * y / H - 1)
        z = 0j
        n = 0
        while n < 20 and abs(z) < 2:
            z = z * z + c
            n = n + 1
        o = n


def _argmax(A, best, where):
    best[0], where[0] = A.max(), A.argmax()


@pair(_argmax, V, np.array([-1.0]), np.array([0]))
@dace.program
def arg_max(A: dtype[N], best: dtype[1], where: dace.int64[1]):
    for i in range(N):
        with dace.tasklet:
            a << A[i]
            now << best
            v >> best(-1)
            k >> where(-1)
            if a > now:
                v = a
                k = i


def _bitonic(A):
    A.sort()


@pair(_bitonic, V.copy())
@dace.program
def odd_even_sort(A: dtype[N]):
    for t in range(N):
        for i in dace.map[t % 2 : N - 1 : 2]:
            with dace.tasklet:
                a << A[i]
                b << A[i + 1]
                low >> A[i]
                high >> A[i + 1]
                low = min(a, b)
                high = max(a, b)


# -- programs in programs --------------------------------------------------------------------------------------------


@dace.program
def scale_rows(a, factors):
    @dace.map(_[0 : a.shape[0], 0 : a.shape[1]])
    def scale(i, j):
        x << a[i, j]
        f << factors[i]
        y >> a[i, j]
        y = x * f


def _calling(a, f):
    a *= f[:, None]
    a += 1


@pair(_calling, A, RNG.random(6))
@dace.program
def calling(a: dtype[M, N], f: dtype[M]):
    scale_rows(a, f)
    for i, j in dace.map[0:M, 0:N]:
        a[i, j] += 1


def _kmeans(points, centres, label):
    for i, p in enumerate(points):
        label[i] = np.argmin(((centres - p) ** 2).sum(axis=1))


@pair(_kmeans, RNG.random((8, 2)), RNG.random((3, 2)), np.zeros(8, np.int64))
@dace.program
def nearest_centre(points: dtype[N, 2], centres: dtype[K, 2], label: dace.int64[N]):
    for i in dace.map[0:N]:
        with dace.tasklet:
            p << points[i, :]
            c << centres[:, :]
            o >> label[i]
            best = 1e9
            o = 0
            for k in range(K):
                d = (c[k, 0] - p[0]) ** 2 + (c[k, 1] - p[1]) ** 2
                if d < best:
                    best = d
                    o = k


def _nbody(pos, acc):
    for i in range(len(pos)):
        for j in range(len(pos)):
            d = pos[j] - pos[i]
            acc[i] += d / (np.sum(d * d) + 0.1) ** 1.5


@pair(_nbody, RNG.random((5, 3)), np.zeros((5, 3)))
@dace.program
def forces(pos: dtype[N, 3], acc: dtype[N, 3]):
    for i, j in dace.map[0:N, 0:N]:
        with dace.tasklet:
            a << pos[i, :]
            b << pos[j, :]
            o >> acc(1, lambda x, y: x + y)[i, :]
            r2 = 0.1
            for k in range(3):
                r2 += (b[k] - a[k]) ** 2
            for k in range(3):
                o[k] = (b[k] - a[k]) / r2**1.5


test_interpreted, test_compiled = pair_tests(PAIRS)
