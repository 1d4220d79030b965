"""What was measured of a network is kept whole, for one MPI, and read again; else there is nothing."""

from __future__ import annotations

import pytest

from dcpy.base.errors import GridError
from dcpy.cli import doctor_mpi
from dcpy.ir.machine_model import Network
from dcpy.runtime.distributed.network_calibration import FIGURES, keep, kept, rows, scope_of
from dcpy.runtime.distributed.world import World
from dcpy.runtime.storage.cache import Cache

MEASURED = {"latency": 250_000, "byte": 150, "local_byte": 90, "step": 40}


def test_it_is_read_as_it_was_kept(tmp_path):
    cache = Cache(str(tmp_path))
    assert kept(cache, "one", "MPI 5") == {}
    keep(cache, "one", "MPI 5", MEASURED)
    assert kept(cache, "one", "MPI 5") == MEASURED
    assert kept(cache, "several", "MPI 5") == {}
    assert kept(cache, "one", "MPI 4") == {}  # of another library
    assert Network(**MEASURED).latency == 250_000


@pytest.mark.parametrize("change", [{"byte": 0}, {"byte": None}, {"latency": "fast"}])
def test_what_is_no_measure_is_none(tmp_path, change):
    cache = Cache(str(tmp_path))
    keep(cache, "one", "MPI", MEASURED | change)
    assert kept(cache, "one", "MPI") == {}


def test_a_file_that_was_cut_is_none(tmp_path):
    cache = Cache(str(tmp_path))
    place = keep(cache, "one", "MPI", MEASURED)
    place.write_text(place.read_text()[:-5])
    assert kept(cache, "one", "MPI") == {}
    assert not [path for path in place.parent.iterdir() if path.name.startswith(".network")]  # nothing half is left


def test_rows_have_units():
    said = dict(rows(MEASURED, {"allreduce of 8 bytes": 2e-6}))
    assert list(said)[:4] == list(FIGURES.values())
    assert said["a short message"].split() == ["0.250", "µs"]
    assert said["a byte more of a message"].split() == ["150", "ps"]
    assert said["allreduce of 8 bytes"].split() == ["2.000", "µs"]


def test_one_rank_has_nobody_to_send_to(monkeypatch):
    monkeypatch.setattr(doctor_mpi, "launched_by_mpi", lambda: True)
    with pytest.raises(GridError, match="one rank has no partner for messages"):
        doctor_mpi.measure_network()
    assert scope_of(World()) == "one"
