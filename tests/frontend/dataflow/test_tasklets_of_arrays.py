"""Tasklets on parts of arrays, in scopes, and with numbers of the program: each beside its meaning in NumPy."""

import numpy as np

import dcpy
from tests.support.explicit import Pairs, pair_tests

N, M, K = dcpy.symbols("N M K")
X = np.linspace(0.1, 2.0, 9)
A34 = np.arange(12.0).reshape(3, 4) / 7
A45 = np.arange(20.0).reshape(4, 5) / 3
I9 = np.array([3, 1, 4, 1, 5, 0, 2, 6, 5])

PAIRS = Pairs()
pair = PAIRS.like


# -- parts of arrays -------------------------------------------------------------------------------------------------


def _pairs(a, b):
    for i in range(len(a) - 1):
        b[i] = a[i] - a[i + 1]


@pair(_pairs, X, np.zeros(9))
def an_input_of_several_elements(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0 : N - 1]:
        with dcpy.tasklet:
            a << A[i : i + 2]
            b >> B[i]
            b = a[0] - a[1]


def _both(a, b):
    for i in range(0, len(a) - 1, 2):
        b[i], b[i + 1] = a[i + 1], a[i] * 2


@pair(_both, X, np.zeros(9))
def an_output_of_several_elements(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0 : N - 1 : 2]:
        with dcpy.tasklet:
            a << A[i : i + 2]
            b >> B[i : i + 2]
            b[0] = a[1]
            b[1] = a[0] * 2


def _swapped(a):
    for i in range(0, len(a) - 1, 2):
        a[i], a[i + 1] = a[i + 1], a[i]


@pair(_swapped, X)
def what_is_read_is_copied_before_it_is_written(A: dcpy.float64[N]):
    for i in dcpy.map[0 : N - 1 : 2]:
        with dcpy.tasklet:
            a << A[i : i + 2]
            b >> A[i : i + 2]
            b[0] = a[1]
            b[1] = a[0]


def _gather(a, idx, b):
    b[:] = a[idx]


@pair(_gather, X, I9, np.zeros(9))
def a_whole_array_indexed_in_the_body(A: dcpy.float64[N], J: dcpy.int64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[:]
            j << J[i]
            b >> B[i]
            b = a[j]


@pair(_gather, X, I9, np.zeros(9))
def a_whole_array_without_a_subset(A: dcpy.float64[N], J: dcpy.int64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A
            j << J[i]
            b >> B[i]
            b = a[j]


@pair(_gather, X, I9, np.zeros(9))
def an_index_in_a_memlet(A: dcpy.float64[N], J: dcpy.int64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[J[i]]
            b >> B[i]
            b = a


@pair(_gather, X, I9, np.zeros(9))
def a_dynamic_input(A: dcpy.float64[N], J: dcpy.int64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A(-1)[:]
            j << J[i]
            b >> B[i]
            b = a[j]


def _scatter(a, idx, b):
    for i in range(len(a)):
        b[idx[i]] = i


@pair(_scatter, X, np.random.default_rng(1).permutation(9), np.zeros(9))
def a_dynamic_output_indexed_in_the_body(A: dcpy.float64[N], J: dcpy.int64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            j << J[i]
            b >> B(-1)[:]
            b[j] = i


def _rows(a, s):
    s[:] = a.sum(axis=1)


@pair(_rows, A34, np.zeros(3))
def a_row_summed_in_the_body(A: dcpy.float64[N, M], S: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            row << A[i, :]
            s >> S[i]
            s = 0.0
            for k in range(M):
                s += row[k]


@pair(_rows, A34, np.zeros(3))
def a_row_summed_by_numpy(A: dcpy.float64[N, M], S: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            row << A[i, 0:M]
            s >> S[i]
            s = np.sum(row)


def _stencil(a, b):
    b[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4


@pair(_stencil, A45, np.zeros((4, 5)))
def a_neighbourhood_of_two_dimensions(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    for i, j in dcpy.map[1 : N - 1, 1 : M - 1]:
        with dcpy.tasklet:
            a << A[i - 1 : i + 2, j - 1 : j + 2]
            b >> B[i, j]
            b = (a[0, 1] + a[2, 1] + a[1, 0] + a[1, 2]) / 4


def _transposed(a, b):
    b[:] = a.T


@pair(_transposed, A34, np.zeros((4, 3)))
def two_dimensions(A: dcpy.float64[N, M], B: dcpy.float64[M, N]):
    @dcpy.map(_[0:N, 0:M])
    def transpose(i, j):
        a << A[i, j]
        b >> B[j, i]
        b = a


def _whole(a, b):
    b[:] = a * 2


@pair(_whole, A34, np.zeros((3, 4)))
def whole_arrays_in_and_out(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    with dcpy.tasklet:
        a << A
        b >> B
        b = a * 2


@pair(_whole, A34, np.zeros((3, 4)))
def whole_arrays_element_by_element(A: dcpy.float64[N, M], B: dcpy.float64[N, M]):
    with dcpy.tasklet:
        a << A[:, :]
        b >> B[:, :]
        for i in range(N):
            for j in range(M):
                b[i, j] = a[i, j] * 2


def _single(a, b):
    b[0] = a[0] + 1


@pair(_single, np.array([3.0]), np.array([0.0]))
def arrays_of_one_element_are_elements(A: dcpy.float64[1], B: dcpy.float64[1]):
    with dcpy.tasklet:
        a << A
        b >> B
        b = a + 1


@pair(_single, np.array([3.0]), np.array([0.0]))
def arrays_of_one_element_may_be_indexed(A: dcpy.float64[1], B: dcpy.float64[1]):
    with dcpy.tasklet:
        a << A
        b >> B
        b[0] = a[0] + 1


# -- perhaps not written ---------------------------------------------------------------------------------------------


def _clipped(a, b):
    b[a > 1] = 1.0


@pair(_clipped, X, X.copy())
def an_output_that_is_perhaps_not_written(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B(-1)[i]
            if a > 1:
                b = 1.0


def _largest(a, best, where):
    for i in range(len(a)):
        if a[i] > best[0]:
            best[0], where[0] = a[i], i


@pair(_largest, np.sin(X * 9), np.array([-9.0]), np.array([0]))
def several_that_are_perhaps_not_written(A: dcpy.float64[N], best: dcpy.float64[1], where: dcpy.int64[1]):
    for i in range(N):
        with dcpy.tasklet:
            a << A[i]
            now << best
            v >> best(-1)
            k >> where(-1)
            if a > now:
                v = a
                k = i


def _filtered(a, out, count, limit):
    kept = a[a > limit]
    out[: len(kept)] = kept
    count[0] = len(kept)


@pair(_filtered, X, np.zeros(9), np.array([0]), 1.0)
def a_filter_with_a_counter(A: dcpy.float64[N], out: dcpy.float64[N], count: dcpy.int64[1], limit: dcpy.float64):
    for i in range(N):
        with dcpy.tasklet:
            a << A[i]
            r << limit
            n << count[0]
            o >> out(-1)[:]
            c >> count(-1)[0]
            if a > r:
                o[n] = a
                c = n + 1


def _counted(a, count):
    count[0] += np.sum(a > 1)


@pair(_counted, X, np.array([5]))
def a_count_of_what_holds(A: dcpy.float64[N], count: dcpy.int64[1]):
    @dcpy.map(_[0:N])
    def count_large(i):
        a << A[i]
        c >> count(-1, lambda x, y: x + y, 0)
        if a > 1:
            c = 1


# -- several tasklets, scopes ----------------------------------------------------------------------------------------


def _product(a, b, c):
    c[:] = a @ b


@pair(_product, A34, A45, np.zeros((3, 5)))
def a_product_in_scopes(A: dcpy.float64[N, M], B: dcpy.float64[M, K], C: dcpy.float64[N, K]):
    @dcpy.mapscope(_[0:N, 0:K])
    def element(i, j):
        with dcpy.tasklet:
            c >> C[i, j]
            c = 0.0

        @dcpy.map(_[0:M])
        def product(k):
            a << A[i, k]
            b << B[k, j]
            c >> C(1, lambda x, y: x + y)[i, j]
            c = a * b


def _covariance(data, cov, mean):
    mean[:] = data.mean(axis=0)
    data -= mean
    cov[:] = data.T @ data / (len(data) - 1)


@pair(_covariance, A45, np.zeros((5, 5)), np.zeros(5))
def scopes_whose_ranges_depend_on_each_other(
    data: dcpy.float64[N, M], cov: dcpy.float64[M, M], mean: dcpy.float64[M]
):
    mean[:] = 0.0

    @dcpy.map
    def total(j: _[0:M], i: _[0:N]):
        x << data[i, j]
        out >> mean(1, lambda x, y: x + y)[j]
        out = x / N

    @dcpy.map
    def centre(i: _[0:N], j: _[0:M]):
        x << data[i, j]
        m << mean[j]
        out >> data[i, j]
        out = x - m

    @dcpy.mapscope
    def rows(i: _[0:M]):
        @dcpy.mapscope
        def columns(j: _[i:M]):
            with dcpy.tasklet:
                c >> cov[i, j]
                c = 0.0

            @dcpy.map
            def products(k: _[0:N]):
                x << data[k, i]
                y << data[k, j]
                c >> cov(1, lambda x, y: x + y)[i, j]
                c = x * y

            with dcpy.tasklet:
                c << cov[i, j]
                upper >> cov[i, j]
                lower >> cov[j, i]
                upper = c / (N - 1)
                lower = upper


ROW = np.array([0, 2, 2, 5, 6])
COL = np.array([0, 3, 1, 2, 3, 0])
VAL = np.array([1.0, 2, 3, 4, 5, 6])


def _spmv(row, col, val, x, y):
    for i in range(len(row) - 1):
        y[i] = val[row[i] : row[i + 1]] @ x[col[row[i] : row[i + 1]]]


@pair(_spmv, ROW, COL, VAL, np.array([1.0, -1, 2, 0.5]), np.zeros(4))
def a_sparse_product(
    row: dcpy.int64[N + 1], col: dcpy.int64[M], val: dcpy.float64[M], x: dcpy.float64[K], y: dcpy.float64[N]
):
    @dcpy.mapscope(_[0:N])
    def rows(i):
        @dcpy.map(_[row[i] : row[i + 1]])
        def entries(j):
            a << val[j]
            b << x[col[j]]
            out >> y(1, lambda x, y: x + y)[i]
            out = a * b


def _tiled(a, b):
    b[:] = a.T


@pair(_tiled, np.arange(24.0).reshape(4, 6), np.zeros((6, 4)))
def maps_in_tiles(A: dcpy.float64[N, M], B: dcpy.float64[M, N]):
    @dcpy.mapscope(_[0:N:2, 0:M:3])
    def tiles(ti, tj):
        @dcpy.map(_[0:2, 0:3])
        def inside(i, j):
            a << A[ti + i, tj + j]
            b >> B[tj + j, ti + i]
            b = a


def _mixed(a):
    b = a + 1
    c = np.sqrt(b) * 2
    return c.sum()


@pair(_mixed, X)
def tasklets_among_numpy(A: dcpy.float64[N]):
    B = A + 1
    C = np.empty_like(B)
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            b << B[i]
            c >> C[i]
            c = np.sqrt(b) * 2
    return C.sum()


def _jacobi(a, b, steps):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3


@pair(_jacobi, X, X.copy(), 3)
def a_stencil_over_time(A: dcpy.float64[N], B: dcpy.float64[N], steps: dcpy.int64):
    for t in range(steps):

        @dcpy.map(_[1 : N - 1])
        def there(i):
            l << A[i - 1]
            m << A[i]
            r << A[i + 1]
            o >> B[i]
            o = (l + m + r) / 3

        @dcpy.map(_[1 : N - 1])
        def back(i):
            l << B[i - 1]
            m << B[i]
            r << B[i + 1]
            o >> A[i]
            o = (l + m + r) / 3


# -- numbers ---------------------------------------------------------------------------------------------------------


def _axpy(alpha, x, y):
    y[:] = alpha * x + y


@pair(_axpy, 2.5, X, X.copy())
def a_number_as_input(alpha: dcpy.float64, x: dcpy.float64[N], y: dcpy.float64[N]):
    @dcpy.map(_[0:N])
    def multiply(i):
        a << alpha
        xi << x[i]
        yi << y[i]
        out >> y[i]
        out = a * xi + yi


def _local_number(a):
    return a[0] * 2 + 1


@pair(_local_number, X)
def a_number_of_the_program_as_output(A: dcpy.float64[N]):
    s = np.float64(0)
    with dcpy.tasklet:
        a << A[0]
        o >> s
        o = a * 2
    return s + 1


def _summed(a):
    return np.sum(a) + 1.0


@pair(_summed, X)
def a_number_that_a_map_sums_into(A: dcpy.float64[N]):
    s = np.float64(1)
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            o >> s(1, lambda x, y: x + y)
            o = a
    return s


test_interpreted, test_compiled = pair_tests(PAIRS)
