"""Others on several processes: mpi4py by hand, DaCe's local view, and Dask, each kernel in a job of its own."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers import ENVIRONMENTS, FRAMEWORKS, Framework, openmp
from benchmarks.peers.processes import answer
from dcpy.base.options import environment_of_ranks

LIMIT = 60.0  # seconds, for a job


def _job(python: Path, ranks: int, way: str, name: str, framework: Framework) -> dict[str, float]:
    """Of the interpreter's own MPI."""
    words = ["-n", str(ranks), str(python), "-m", "benchmarks.peers.ranks_by_hand", way, name]
    told = {name: value for name, value in environment_of_ranks(ranks).items() if os.environ.get(name) != value}
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"  # where DaCe's build finds mpicxx
    environment = {**told, **openmp(1), "PATH": path}
    return answer(python.with_name("mpirun"), words, framework, LIMIT, environment)


def _by_mpi4py(ranks: int, name: str) -> dict[str, float]:
    return _job(Path(sys.executable), ranks, "mpi4py", name, FRAMEWORKS["numpy"])


def _by_dace(ranks: int, name: str) -> dict[str, float]:
    return _job(ENVIRONMENTS / "dace/bin/python", ranks, "dace", name, FRAMEWORKS["dace"])


def _by_dask(ranks: int, name: str) -> dict[str, float]:
    dask = Framework("dask", "dask", ())
    words = ["-m", "benchmarks.peers.dask_arrays", str(ranks), name]
    return answer(ENVIRONMENTS / "dask/bin/python", words, dask, LIMIT, openmp(1))


PEERS: dict[str, Callable[[int, str], dict[str, float]]] = {"mpi4py": _by_mpi4py, "DaCe": _by_dace, "Dask": _by_dask}


def installed() -> list[str]:
    """The peers that `make bench-peers` has installed, and mpi4py, which dcpy needs itself."""
    there = {name: os.access(ENVIRONMENTS / name.lower() / "bin/python", os.X_OK) for name in ("DaCe", "Dask")}
    return ["mpi4py", *(name for name, found in there.items() if found)]


def seconds(peer: str, ranks: int, name: str) -> float:
    """Of a call; infinite where it has no program for a kernel, fails, or takes longer than `LIMIT`."""
    found = PEERS[peer](ranks, name)
    return found.get(name, math.inf)
