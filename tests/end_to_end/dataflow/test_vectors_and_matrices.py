"""Vectors and matrices as users of DaCe write them, with only the import changed: each beside its meaning in NumPy."""

import math

import numpy as np

import dcpy as dace
from tests.support.explicit import Pairs, pair_tests

M, N, K = (dace.symbol(s) for s in ("M", "N", "K"))
dtype = dace.float64
RNG = np.random.default_rng(0)
A, B = RNG.random((6, 5)), RNG.random((5, 4))
V, U = RNG.random(12), RNG.random(12)
SQUARE = RNG.random((5, 5)) + 5 * np.eye(5)

PAIRS = Pairs()
pair = PAIRS.like


# -- vectors ---------------------------------------------------------------------------------------------------------


def _axpy(a, x, y):
    y += a * x


@pair(_axpy, 1.5, V, U.copy())
@dace.program
def axpy(a: dtype, x: dtype[N], y: dtype[N]):
    @dace.map
    def multiply(i: _[0:N]):
        in_a << a
        in_x << x[i]
        in_y << y[i]
        out >> y[i]
        out = in_a * in_x + in_y


def _dot(x, y, out):
    out[0] = x @ y


@pair(_dot, V, U, np.zeros(1))
@dace.program
def dot(x: dtype[N], y: dtype[N], out: dtype[1]):
    @dace.tasklet
    def clear():
        o >> out[0]
        o = 0.0

    @dace.map
    def product(i: _[0:N]):
        a << x[i]
        b << y[i]
        o >> out(1, lambda p, q: p + q)
        o = a * b


def _normalized(x):
    return x / np.sqrt((x * x).sum())


@pair(_normalized, V)
@dace.program
def normalized(x: dtype[N]):
    norm2 = dace.define_local_scalar(dtype)
    y = dace.define_local([N], dtype)
    with dace.tasklet:
        s >> norm2
        s = 0
    for i in dace.map[0:N]:
        with dace.tasklet:
            a << x[i]
            s >> norm2(1, lambda p, q: p + q)
            s = a * a
    for i in dace.map[0:N]:
        with dace.tasklet:
            a << x[i]
            s << norm2
            b >> y[i]
            b = a / sqrt(s)
    return y


def _running(x):
    return np.cumsum(x)


@pair(_running, V)
@dace.program
def running_sum(x: dtype[N]):
    y = np.ndarray([N], dtype=np.float64)
    y[0] = x[0]
    for i in range(1, N):
        with dace.tasklet:
            before << y[i - 1]
            here << x[i]
            after >> y[i]
            after = before + here
    return y


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pair(_softmax, A)
@dace.program
def softmax(x: dtype[M, N]):
    largest = dace.reduce(lambda a, b: max(a, b), x, axis=1, identity=-1e9)
    shifted = np.ndarray([M, N], dtype=np.float64)
    out = np.ndarray([M, N], dtype=np.float64)
    for i, j in dace.map[0:M, 0:N]:
        with dace.tasklet:
            inp << x[i, j]
            mx << largest[i]
            o >> shifted[i, j]
            o = math.exp(inp - mx)
    total = dace.reduce(lambda a, b: a + b, shifted, axis=1, identity=0)
    for i, j in dace.map[0:M, 0:N]:
        with dace.tasklet:
            inp << shifted[i, j]
            s << total[i]
            o >> out[i, j]
            o = inp / s
    return out


# -- matrices --------------------------------------------------------------------------------------------------------


def _matmul(a, b, c):
    c[:] = a @ b


@pair(_matmul, A, B, np.zeros((6, 4)))
@dace.program(dtype[M, K], dtype[K, N], dtype[M, N])
def matmul_in_two_maps(A, B, C):
    tmp = dace.define_local([M, N, K], dtype=A.dtype)

    @dace.map(_[0:M, 0:N, 0:K])
    def multiplication(i, j, k):
        in_A << A[i, k]
        in_B << B[k, j]
        out >> tmp[i, j, k]
        out = in_A * in_B

    dace.reduce(lambda a, b: a + b, tmp, C, axis=2, identity=0)


def _gemm(C, A, B, alpha, beta):
    C[:] = alpha[0] * A @ B + beta[0] * C


@pair(_gemm, RNG.random((6, 4)), A, B, np.array([1.5]), np.array([1.2]))
@dace.program(dtype[M, N], dtype[M, K], dtype[K, N], dtype[1], dtype[1])
def gemm(C, A, B, alpha, beta):
    @dace.map
    def scale(i: _[0:M], j: _[0:N]):
        c << C[i, j]
        b << beta
        o >> C[i, j]
        o = c * b

    @dace.map
    def product(i: _[0:M], j: _[0:N], k: _[0:K]):
        al << alpha
        a << A[i, k]
        b << B[k, j]
        o >> C(1, lambda p, q: p + q)[i, j]
        o = al * a * b


def _atax(A, x, y):
    y[:] = A.T @ (A @ x)


@pair(_atax, A, RNG.random(5), np.zeros(5))
@dace.program
def atax(A: dtype[M, N], x: dtype[N], y: dtype[N]):
    tmp = dace.define_local([M], dtype)
    tmp[:] = 0
    y[:] = 0

    @dace.mapscope
    def rows(i: _[0:M]):
        @dace.map
        def forward(j: _[0:N]):
            a << A[i, j]
            b << x[j]
            o >> tmp(1, lambda p, q: p + q)[i]
            o = a * b

    @dace.map
    def backward(i: _[0:M], j: _[0:N]):
        a << A[i, j]
        t << tmp[i]
        o >> y(1, lambda p, q: p + q)[j]
        o = a * t


def _syrk(C, A, alpha, beta):
    low = np.tril(np.ones_like(C)) > 0
    C[low] = (beta * C + alpha * A @ A.T)[low]


@pair(_syrk, RNG.random((6, 6)), A, 1.5, 1.2)
@dace.program
def syrk(C: dtype[N, N], A: dtype[N, M], alpha: dtype, beta: dtype):
    @dace.mapscope
    def scale_rows(i: _[0:N]):
        @dace.map
        def scale(j: _[0 : i + 1]):
            c << C[i, j]
            b << beta
            o >> C[i, j]
            o = c * b

    @dace.mapscope
    def compute(i: _[0:N], k: _[0:M]):
        @dace.map
        def element(j: _[0 : i + 1]):
            al << alpha
            a << A[i, k]
            at << A[j, k]
            o >> C(1, lambda p, q: p + q)[i, j]
            o = al * a * at


def _lu(A):
    for i in range(len(A)):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, len(A)):
            A[i, j] -= A[i, :i] @ A[:i, j]


@pair(_lu, SQUARE)
@dace.program(dtype[N, N])
def lu(A):
    for i in range(0, N):
        for j in range(0, i):
            for k in range(0, j):
                with dace.tasklet:
                    a << A[i, k]
                    b << A[k, j]
                    c << A[i, j]
                    o >> A[i, j]
                    o = c - a * b
            with dace.tasklet:
                c << A[i, j]
                d << A[j, j]
                o >> A[i, j]
                o = c / d
        for j in range(i, N):
            for k in range(0, i):
                with dace.tasklet:
                    a << A[i, k]
                    b << A[k, j]
                    c << A[i, j]
                    o >> A[i, j]
                    o = c - a * b


def _trisolv(L, x, b):
    for i in range(len(x)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@pair(_trisolv, SQUARE, np.zeros(5), RNG.random(5))
@dace.program
def trisolv(L: dtype[N, N], x: dtype[N], b: dtype[N]):
    for i in range(N):
        with dace.tasklet:
            right << b[i]
            o >> x[i]
            o = right

        @dace.map
        def subtract(j: _[0:i]):
            l << L[i, j]
            s << x[j]
            o >> x(1, lambda p, q: p + q)[i]
            o = -l * s

        with dace.tasklet:
            s << x[i]
            d << L[i, i]
            o >> x[i]
            o = s / d


def _transpose(a):
    return a.T.copy()


@pair(_transpose, A)
@dace.program
def transpose(a: dtype[M, N]):
    b = dace.define_local((N, M), dtype)
    for i, j in dace.map[0:M, 0:N]:
        with dace.tasklet:
            x << a[i, j]
            y >> b[j, i]
            y = x
    return b


def _diagonal(a, d):
    d[:] = np.diag(a)


@pair(_diagonal, SQUARE, np.zeros(5))
@dace.program
def diagonal(a: dtype[N, N], d: dtype[N]):
    for i in dace.map[0:N]:
        with dace.tasklet:
            row << a[i, 0:N]
            o >> d[i]
            o = row[i]


test_interpreted, test_compiled = pair_tests(PAIRS)
