"""What the fuzzer found, made small: one program per cause, under all oracles."""

import numpy as np
import pytest

import dcpy
from dcpy.ir.verify import verify
from tests.support.oracles import check_same

A3 = np.array([0.5, -1.0, 2.0])


def same(function, *arguments):
    check_same(function, *arguments, rtol=1e-12, compiled=False)


def is_refused(function, *arguments, reason):
    with pytest.raises(dcpy.DcpyError, match=reason):
        dcpy.program(function).to_sdfg(*arguments)


def test_ufunc_outer_takes_numbers_as_arrays():
    def f(a, k):
        return np.add.outer(a, k)

    same(f, np.ones(2, np.int16), 1)


def test_extrema_of_numbers_without_a_common_type_are_of_the_chosen_one():
    def f(a, k, s):
        a[0] = min(k, s)
        a[1] = max(k, s) * 2

    with np.errstate(over="ignore"):
        same(f, A3, -1, np.uint8(200))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.int64, np.float32])
@pytest.mark.parametrize("k", [-1, 1000])
def test_comparisons_with_pythons_integers_are_exact(dtype, k):
    def f(a, k):
        return a <= k, a == k, a[0] < k, k > a, k != a

    same(f, np.array([0, 1, 100]).astype(dtype), k)


def test_shapes_of_scalars_are_scalars():
    def f(a, k):
        s = a[k]
        return np.transpose(s), np.flip(s), np.squeeze(s), s.reshape(()), np.flip(2)

    same(f, A3, 1)


@pytest.mark.parametrize("product", [np.dot, np.inner])
def test_products_take_numbers_as_arrays(product):
    def f(a, k):
        return product(2, a), product(a, k)

    same(f, np.ones(2, np.uint8), 300)


def test_an_ellipsis_gives_views_of_elements():
    def f(a, k):
        v = a[k, ...]
        v[...] = 5
        return v, a[..., 0]

    same(f, A3, 1)
    same(f, np.zeros((2, 3)), 1)


def test_squares_of_booleans_have_the_dtype_of_square():
    def f(m):
        return m**2, m**3, m[0] ** 2

    same(f, np.array([True, False]))


def test_parts_of_pythons_numbers_are_pythons_numbers():
    def f(a, k, flag):
        return a * k.imag, a * k.real, flag.real + a[0]

    same(f, np.ones(2, np.float32), 2, True)


def test_squeeze_does_not_guess_sizes():
    def f(a, k):
        return np.squeeze(a[:k])

    def named(a, k):
        return np.squeeze(a[:k], axis=0)

    is_refused(f, np.ones((3, 2)), 1, reason="run time only")
    same(named, np.ones((3, 2)), 1)


def test_powers_of_booleans_need_a_known_exponent():
    def f(m, k):
        return m**k

    is_refused(f, np.array([True, False]), 2, reason="depends on the exponent")


@pytest.mark.cc
@pytest.mark.parametrize("columns", [0, 2, 5])
def test_products_with_slices_inside_out_do_not_reach_blas(capfd, columns):
    def f(b, c):
        return b @ c[:, 1:3]

    check_same(f, np.ones(4), np.ones((4, columns)))
    assert "illegal value" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("size", [1, 3, 4])
def test_arrays_of_other_shapes_are_not_equal(size):
    def f(a, b):
        return np.array_equal(a, b), np.array_equal(a, b[0]), np.array_equal(a, a), np.array_equal(a, 1)

    same(f, np.ones(3), np.ones(size))


def test_numbers_are_columns_of_one_element():
    def f(a, s):
        return np.column_stack((s, a[0], 2))

    same(f, A3, 1.5)


def test_what_no_iteration_reaches_leaves_no_container():
    def f(a):
        return np.diff(np.linspace(1.0, 2.0, 0)), a[:0]

    verify(dcpy.program(f).to_sdfg(A3, simplify=False))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_copies_behind_a_check_that_always_fails(size):
    def f(a):
        a[1:] = a[np.newaxis].copy()

    verify(dcpy.program(f).to_sdfg(np.ones(size), simplify=False))
    same(f, np.ones(size))


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.float32])
def test_ufunc_at_stores_into_any_dtype(dtype):
    def f(c, v):
        np.add.at(c, [0, -1, 0], v)
        np.true_divide.at(c, [1], 0.4)

    same(f, np.array([1, 2, 3]).astype(dtype), np.float64(1.5))


def test_what_a_loop_assigns_is_read_after_it():
    def f(a, k):
        w = 0
        while w < 2:
            w += 1
            k = w
        return np.gcd(np.int8(3), k), a[k % 2]

    same(f, A3, 0)
    for simplify in (False, True):
        verify(dcpy.program(f).to_sdfg(A3, 0, simplify=simplify))


def test_masks_without_elements_fit_everywhere():
    def f(a, c, m):
        a[m] = 7
        a[m] += 1
        return a[m], c[:, m], c[c[:0] > 0], c[c[:, :0] > 0], c[m]

    same(f, A3, np.ones((3, 3)), np.ones(0, bool))
    same(f, A3, np.ones((3, 3)), np.array([True, False, True]))
    same(f, A3, np.ones((3, 3)), np.ones(2, bool))


def test_parts_of_new_dimensions():
    def f(a, k):
        return np.roll(a[np.newaxis, k], 1), np.roll(a[np.newaxis], 1, axis=0), np.split(a[np.newaxis], 1)[0]

    same(f, A3, 1)


@pytest.mark.parametrize("size", [0, 2])
def test_products_behind_a_check_that_always_fails(size):
    def f(b):
        return np.dot(b, b[1:])

    verify(dcpy.program(f).to_sdfg(np.ones(size), simplify=False))
    same(f, np.ones(size))


@pytest.mark.parametrize("shape", [(0, 4), (1, 4), (2, 4)])
def test_masks_take_as_many_values_as_a_slice_has(shape):
    def f(c, k):
        c[c > 0] = c[:-1, k].astype(np.int16)

    same(f, np.zeros(shape), 0)


def test_a_zero_dimensional_index_copies():
    def f(c, z, k):
        s = c[np.array(1)]
        s[k] = z.astype(np.uint64)

    same(f, np.ones((2, 4)), np.array(9.0), 0)


@pytest.mark.cc
@pytest.mark.parametrize("z", [-1.0, 1.0])
def test_conditions_as_indices(z):
    def f(a, z, k):
        a[z > 0] += a[:2].sum()
        z[z == z] = k
        return a[z > 0], a[k > 0, ::-1], np.sort(a[z >= 0], axis=-1)

    check_same(f, A3, np.array(z), 1)


def test_types_of_numpy_give_the_element_of_an_array_without_dimensions():
    def f(z, a):
        n = np.int32(z)
        z[...] = 7
        return n, np.float32(z), np.bool_(z), np.int32(a)

    same(f, np.array(3, np.int32), np.ones(2, np.int32))


def test_known_arrays_without_elements_keep_their_dtype():
    def f(a):
        return np.arange(0, dtype=np.bool_), np.arange(2, dtype=np.bool_), a

    same(f, A3)


def test_arrays_of_arrays_without_dimensions():
    def f(z, c):
        np.place(c, c > 0, [z.astype(np.int8)])
        return np.array([z, z]), np.array([z, 2]), np.array([[z, True]]), np.stack([z, 2])

    same(f, np.array(1, np.int8), A3.copy())


def test_what_a_match_looks_at_may_be_the_result_of_a_node():
    def f(d):
        match np.min(d):
            case -1:
                t = 1
            case _:
                t = 2
        return t

    verify(dcpy.program(f).to_sdfg(A3, simplify=False))
    same(f, A3)


INDICES = {
    "a mask of all dimensions": lambda c: c > 1,
    "a mask of rows": lambda c: c[:, 0] > 1,
    "a number": lambda c: 1,
    "lists": lambda c: ([0, -1, 0], [1]),
    "rows": lambda c: [0, 1, 0],
    "a list of two dimensions": lambda c: [[0, 1], [0, 0]],
    "a slice and a list": lambda c: (slice(None), [0, 0]),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("shape", [(3, 2), (3, 3)])
def test_ufunc_at_takes_what_a_subscript_takes(index, shape):
    def f(c):
        np.add.at(c, index(c), c[0, -1])
        np.negative.at(c.T[::-1].T, index(c))

    same(f, np.arange(9.0)[: shape[0] * shape[1]].reshape(shape))


def test_ufunc_at_with_masks_without_elements():
    def f(c, v):
        np.add.at(c, c > 0, v)

    same(f, np.ones((2, 4, 0)), 1.0)


@pytest.mark.cc
@pytest.mark.parametrize("shape", [(3, 7), (2, 1), (3, 0)])
def test_functions_written_in_python_reshape_arguments_that_may_be_empty(shape):
    def f(c):
        t = c[np.newaxis, 1:3]
        np.subtract.at(t, t > 1, 1.0)
        return np.isin(c[:, :-1] >= 1, 0), np.argsort(c[1:, 2:6:3] * 2, kind="stable")

    check_same(f, np.arange(float(np.prod(shape))).reshape(shape) % 4)


@pytest.mark.parametrize("n", [0, 2])
def test_an_array_of_a_nested_loop_whose_size_depends_on_the_path_and_that_a_function_sees(n):
    def f(a, c, k):
        out = np.zeros(3)
        for _ in c:
            for i in range(a[0]):
                t = c[k:]
                g = lambda x: t + x  # noqa: E731
                out[i] += g(i)[0]
        return out

    verify(dcpy.program(f).to_sdfg(np.array([n]), A3, 1, simplify=False))
    same(f, np.array([n]), A3.copy(), 1)


def test_the_name_that_is_one_underscore():
    def f(c):
        for _ in c:
            c[0] += _
        __ = c[1] * 2
        return _ + __

    verify(dcpy.program(f).to_sdfg(A3, simplify=False))
    same(f, A3.copy())


def test_an_element_that_one_side_of_a_choice_finds_while_the_other_raises():
    def f(c, k):
        for j in range(1, 3):
            c[0] = c[j, 1] if j > k + 7 else c[j - k, 0]
        return c[0, 0]

    verify(dcpy.program(f).to_sdfg(np.ones((3, 1)), 0, simplify=False))
    same(f, np.arange(3.0).reshape(3, 1), 0)
    same(f, np.arange(3.0).reshape(3, 1), -6)


def test_truth_values_are_numbers_where_functions_take_positions():
    def f(m, c):
        return np.bincount(m), np.bincount(m, weights=c), np.take(c, m), c.take(m[0])

    same(f, np.array([True, False, True]), A3)


def test_each_map_of_a_reduction_has_parameters_of_its_own():
    def f(c):
        return np.subtract.reduce(c), np.subtract.reduce(c, axis=1)

    verify(dcpy.program(f).to_sdfg(np.ones((3, 2)), simplify=False))
    same(f, np.arange(6.0).reshape(3, 2))


@pytest.mark.parametrize("picked", [np.zeros(0, int), np.array([1])], ids=["nothing", "an index"])
def test_selections_from_an_array_known_to_be_empty(picked):
    def gather(c, picked):
        return c[1:0].ravel()[picked], c[1:0, :1][picked, picked]

    def scatter(c, picked):
        c[1:0].reshape(0)[picked] = 1.0
        return c

    def element(c, picked):
        if picked.size:
            c[0] = c[1:0].ravel()[picked[0]]
        return c

    for function in (gather, scatter, element):
        verify(dcpy.program(function).to_sdfg(np.ones((3, 2)), picked, simplify=False))
        same(function, np.ones((3, 2)), picked)


@pytest.mark.parametrize("flag", [0.0, 1.0])
def test_functions_that_select_from_an_array_known_to_be_empty(flag):
    def f(c, m):
        return np.extract(m, c[1:0:1]), np.setdiff1d(c[5:2], c)

    arguments = np.ones((1, 1)), np.full((1, 1), flag)
    verify(dcpy.program(f).to_sdfg(*arguments, simplify=False))
    verify(dcpy.program(f).to_sdfg(*arguments))
    same(f, *arguments)


def test_loops_over_arrays_known_to_be_empty():
    def f(c):
        n = 0.0
        for i in range(3):
            for x in np.ediff1d(0):
                n = x
            for j, (x, y) in enumerate(zip(c[1:0], c)):
                n = n + x * y + c[i, 9 + j]
        return n

    verify(dcpy.program(f).to_sdfg(np.ones((3, 2)), simplify=False))
    same(f, np.ones((3, 2)))


@pytest.mark.parametrize("k", [0, 2])
def test_a_target_of_a_loop_that_raises_in_the_first_iteration(k):
    def f(c, k):
        t = np.zeros(3)
        for i in range(2):
            for t[i + 7] in c[:k]:
                t[i] = 2.0
        return t

    same(f, A3, k)


def test_loop_variables_of_dcpys_own_have_names():
    def items(a):
        return sum([i for i in range(a[0])])

    def yielded(a):
        def g(x):
            for v in x:
                yield v * 2

        return [y for y in g(a)]

    for function in (items, yielded):
        verify(dcpy.program(function).to_sdfg(np.array([3, 1]), simplify=False))
        same(function, np.array([3, 1]))


@pytest.mark.parametrize("size", [1, 2, 4])
def test_windows_that_are_inside_out_in_the_last_iteration(size):
    def f(a):
        for i in range(3):
            t = a[i:i]
            u = a[i : i + 3]
        return t + 0 - a[:0], u * 1

    verify(dcpy.program(f).to_sdfg(np.ones(size), simplify=False))
    same(f, np.ones(size))


@pytest.mark.cc
@pytest.mark.parametrize("size", [0, 1, 4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_views_of_views_that_are_returned_by_path(size, sign):
    def f(c, d, e):
        t = d[1:] if c[0] > 0 else e
        return np.ix_(t, t)

    def g(c, d, e):
        t = d[1:] if c[0] > 0 else e
        t[...] = 1
        u = t[:-1].reshape(1, -1)
        return u

    for function in (f, g):
        verify(dcpy.program(function).to_sdfg(np.ones(1), np.ones(size), np.ones(3), simplify=False))
        check_same(function, np.full(1, sign), np.ones(size), np.ones(3))


@pytest.mark.parametrize("flag", [1.0, -1.0])
def test_a_choice_in_a_function_that_each_path_runs(flag):
    def f(a, c, e):
        t = a
        for _ in range(3):
            t, _u = t[::-1], t

        def g(x, y):
            return (y, x) if t[-1] > 0 else (x, y)

        p, q = g(c, e)
        p[...] = 3
        q[0] = 4

    same(f, np.array([2.0, flag]), np.ones(3), np.zeros(3))
    same(f, np.array([flag, 2.0]), np.ones(3), np.zeros(3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex64, np.float16, np.int64])
@pytest.mark.parametrize("number", [-3, 0, 2.5])
def test_products_with_a_number_by_dot_are_added_to_zeros(dtype, number):
    def f(a, k):
        found = np.dot(k, a), np.inner(a, k), np.dot(a[:1], k)
        return [*found, *(np.signbit(one.real) for one in found)]

    same(f, np.array([0, 1, np.inf if dtype is not np.int64 else 2], dtype), number)


@pytest.mark.parametrize("n", range(4))
def test_an_empty_part_of_an_argument_read_backwards(n):
    def f(a, n):
        k = 0
        for i in range(n):
            k += i + 1
        return np.flip(a)[k:]

    same(f, A3, n)
