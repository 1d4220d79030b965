"""What keys name, and where the axes of index arrays go: decided on the keys as they are written, as NumPy does."""

import numpy as np
import pytest

from tests.fuzz.indexing import check
from tests.fuzz.indices import Case
from tests.support.lowering import same

C = np.arange(24.0).reshape(2, 3, 4)
IDX, J, MASK = np.array([1, 0]), np.array([[0], [2]]), np.array([[True, False, False], [False, True, False]])


def test_an_ellipsis_for_no_dimension_keeps_index_arrays_apart():
    def f(c, i, k):
        one = c[:, i, ..., 1], c[:, i, ..., i], c[None, :, i, ..., k]
        return one, c[:, 1, ..., i], c[i, ..., 0, :], c[i, :, ..., k]

    same(f, C, IDX, 1)


def test_an_ellipsis_for_no_dimension_separates_masks_and_truth_values():
    def f(c, m, p, i):
        return c[m, ..., 1], c[m, ..., i], c[..., m, 1], c[:, p, ..., 0], c[p, ..., :, 0, 1], c[0, ..., True]

    same(f, np.arange(24.0).reshape(2, 3, 4), MASK, True, IDX)


def test_an_ellipsis_at_an_end_or_beside_one_index_array_separates_nothing():
    def f(c, i, j):
        one = c[..., i, 1], c[:, i, 1, ...], c[..., i, :], c[:, i, ...]
        return one, c[:, :, i, ...], c[:, j, i, ...], c[..., 1, :, i]

    same(f, C, IDX, J)


def test_integers_beside_index_arrays_are_index_arrays():
    def f(c, i, k, z):
        return c[0, :, i], c[k, :, i], c[z, :, i], c[:, k, i], c[i, :, 0], c[0, None, i], c[i, None, k], c[0, i, None]

    same(f, C, IDX, 1, np.array(1))


def test_integers_alone_are_no_index_arrays():
    def f(c, k, z):
        return c[:, k, ..., 1], c[:, z, ..., 1], c[0, :, 1], c[k, ..., z], c[0, 1, 2], c[k, z, 0], c[k, z, 0, ...]

    same(f, C, 1, np.array(1))


def test_stores_and_sums_go_where_loads_come_from():
    def f(c, i, v, w):
        c[:, i, ..., 1] = v
        c[:, i, ..., 2] += v
        c[None, :, i, ..., 0] -= w
        np.add.at(c, (slice(None), i, ..., 1), v)
        np.subtract.at(c, (slice(None), i, ..., 3), v)
        np.negative.at(c, (0, ..., i, 1))

    same(f, C.copy(), IDX, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[[5.0, 6.0]], [[7.0, 8.0]]]))


def test_only_slices_integers_and_new_axes_give_views():
    def f(c, k, z, i, p):
        for part in (c[k], c[k, ...], c[0, 1, 2, ...], c[..., None], c[None, 0], c[::-1, k]):
            part[...] = 7
        for part in (c[z], c[z, ...], c[z, 0, 0, ...], c[i], c[p], c[..., i, 0], c[True]):
            part[...] = 9

    same(f, C.copy(), 1, np.array(1), IDX, True)


def test_brackets_without_keys():
    def f(z, c):
        c[()] += 1
        z[()] = 3
        return z[()], z[...] + 1, c[()] + 1, z[None] + 1, z[True]

    same(f, np.array(2.0), C.copy())


def test_a_mask_of_lower_rank_is_filled_by_broadcasting():
    def f(c, m, p, rows, row):
        c[m] = rows
        c[p] = row
        c[p] += 1

    same(f, C.copy(), MASK, np.array([False, True]), np.ones((2, 4)), np.arange(4.0))


@pytest.mark.parametrize(
    "keys", ["0, 0, 0, 0", "..., ...", "1.5", "'x'", "[0.5]", "m, 0, 0", "i, [0, 1, 2]", "i, 5", "k"]
)
def test_keys_that_numpy_does_not_take(keys):
    arguments = {"c": C, "i": IDX, "m": MASK, "k": 7}
    check(Case(0, [f"r0 = c[{keys}]"], arguments))
    check(Case(0, [f"c[{keys}] = 1", "r0 = c"], arguments))


def test_bounds_of_slices_and_ranges_are_read():
    def bounds(x, n):
        part, steps = slice(n // 2, n), range(1, n, 2)
        return x[part].sum() + part.start + part.stop, steps.start, steps.stop, steps.step, part.step is None

    same(bounds, np.arange(12.0), 9)
