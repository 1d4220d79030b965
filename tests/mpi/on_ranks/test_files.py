"""Files of distributed arrays: what the ranks write NumPy reads, and the other way round."""

from __future__ import annotations

import os

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import DcpyError

pytestmark = pytest.mark.mpi


@pytest.fixture
def folder(tmp_path):
    """One folder for all ranks."""
    return dcpy.grid().world.tell(str(tmp_path))


def placements():
    """Dimensions of an array, and a distribution of it."""
    grid, line = dcpy.grid(), dcpy.grid(dims=1)
    yield (101, 53), dcpy.on(grid, "block", "block")
    yield (7, 10, 3), dcpy.on(grid, None, dcpy.cyclic(2), "block")
    yield (5, 4), dcpy.on(line, None, "cyclic")
    yield (6,), dcpy.on(line, None)  # whole on each rank
    yield (0, 3), dcpy.on(line, "block", None)
    yield (1, 3), dcpy.on(line, "block", None)  # most ranks have nothing
    yield (9,), dcpy.on(dcpy.grid(1), "block")  # most ranks are not on the grid
    yield (), dcpy.on(line)


@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.complex64])
def test_a_file_has_the_whole(folder, dtype):
    for number, (shape, where) in enumerate(placements()):
        whole = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        array = dcpy.distribute(whole, where)
        path = f"{folder}/{number}.npy"
        array.save(path)
        found = np.load(path)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, whole)
        back = dcpy.load(path, on=where)
        assert back.shape == shape
        np.testing.assert_array_equal(back.local, array.local)
        dcpy.grid().world.all("done")
    assert sorted(os.listdir(folder)) == [f"{number}.npy" for number in range(8)]  # no drafts


def test_files_of_numpy_by_columns(folder):
    """Fortran's order in the file is nobody's business."""
    whole = np.asfortranarray(np.arange(77.0).reshape(7, 11))
    if dcpy.grid().world.rank == 0:
        np.save(f"{folder}/a.npy", whole)
    dcpy.grid().world.all("written")
    found = dcpy.load(f"{folder}/a.npy", on=dcpy.on(dcpy.grid(), "cyclic", "block"))
    np.testing.assert_array_equal(found.allgather(), whole)


def test_all_ranks_raise_where_one_cannot(folder):
    """The folder of the last rank does not exist; and the next call is as good as ever."""
    world = dcpy.grid().world
    where = dcpy.on(dcpy.grid(dims=1), "block")
    array = dcpy.zeros(5, on=where)
    last = world.rank == world.size - 1
    with pytest.raises((DcpyError, OSError)):
        array.save(f"{folder}/{'nowhere/' if last else ''}a.npy")
    with pytest.raises((DcpyError, OSError)):
        array.save(f"{folder}/nowhere/a.npy")
    with pytest.raises(DcpyError, match="there is no file"):
        dcpy.load(f"{folder}/a.npy", on=where)
    array.save(f"{folder}/a.npy")
    with pytest.raises(DcpyError, match=rf"there is no file {folder}/b.npy"):
        dcpy.load(f"{folder}/{'b' if last else 'a'}.npy", on=where)
    with pytest.raises(DcpyError, match="has 1 dimensions, and the distribution is"):
        dcpy.load(f"{folder}/a.npy", on=dcpy.on(dcpy.grid(), "block", None))
    np.testing.assert_array_equal(dcpy.load(f"{folder}/a.npy", on=where).allgather(), np.zeros(5))
