"""Files of distributed arrays on one rank, without MPI. On several: tests/mpi/on_ranks/test_files.py."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, GridError

WHERE = dcpy.on(dcpy.grid(1), "block", None)


@pytest.mark.parametrize("shape", [(4, 3), (0, 3), (1, 1)])
def test_numpy_reads_what_is_saved(tmp_path, shape):
    whole = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    dcpy.distribute(whole, WHERE).save(tmp_path / "a.npy")
    found = np.load(tmp_path / "a.npy")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, whole)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_what_is_loaded_is_no_view_of_the_file(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(np.arange(12).reshape(4, 3)))
    found = dcpy.load(tmp_path / "a.npy", on=WHERE)
    np.testing.assert_array_equal(found.local, np.arange(12).reshape(4, 3))
    found.local[:] = 0
    assert np.load(tmp_path / "a.npy").any()


def test_a_file_that_was_there_stays_where_writing_fails(tmp_path, monkeypatch):
    from dcpy.runtime.distributed import files

    def fails(*_):
        raise OSError("no space left on device")

    np.save(tmp_path / "a.npy", np.ones(3))
    for writes in ("_append", "_write_parts"):  # without MPI, and with the one that other tests may have started
        monkeypatch.setattr(files, writes, fails)
    with pytest.raises(OSError, match="no space left"):
        dcpy.zeros((4, 3), on=WHERE).save(tmp_path / "a.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.ones(3))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_what_cannot_be_loaded(tmp_path):
    np.save(tmp_path / "line.npy", np.zeros(3))
    np.savez(tmp_path / "many.npz", a=np.zeros(3))
    (tmp_path / "text.npy").write_text("no array")
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(ArgumentError, match=r"there is no file .*none\.npy"):
        dcpy.load(tmp_path / "none.npy", on=WHERE)
    with pytest.raises(GridError, match=r"line\.npy has 1 dimensions, and the distribution is \(block 0, whole\) on 1"):
        dcpy.load(tmp_path / "line.npy", on=WHERE)
    with pytest.raises(ArgumentError, match="is no file of one array"):
        dcpy.load(tmp_path / "many.npz", on=WHERE)
    for name in ("text.npy", "objects.npy"):
        with pytest.raises(ArgumentError, match=f"{name} cannot be read"):
            dcpy.load(tmp_path / name, on=WHERE)
