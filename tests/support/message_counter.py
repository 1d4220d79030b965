"""What ranks send, as MPI itself sees it: a library in front of it (its profiling interface), not what dcpy counts."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dcpy.distributed import world
from dcpy.libraries.mpi.environments import find_mpi
from dcpy.runtime.compilers.toolchain import find_toolchain
from tests.support.ranks_of_mpi import Sent

SOURCE = Path(__file__).with_name("message_counter.c")


def compiled_counter(folder: str) -> Path:
    """The library, which is to be preloaded."""
    found, made = find_mpi(), Path(folder) / "message_counter.so"
    flags = [f"-I{each}" for each in found.include_dirs] + [f"-L{each}" for each in found.library_dirs]
    flags += [f"-Wl,-rpath,{each}" for each in found.library_dirs] + [f"-l{each}" for each in found.libraries]
    wanted = ["-x", "c", "-O1", "-shared", "-fPIC", str(SOURCE), "-x", "none", *flags, "-o", str(made)]
    subprocess.run([*find_toolchain("auto").command, *wanted], check=True)
    return made


@contextmanager
def counted() -> Iterator[Sent]:
    """What all ranks together send inside, mpi4py's collectives with it; to be looked at afterwards."""
    if not hasattr(ctypes.CDLL(None), "messages_counted"):
        pytest.skip("the counter is not preloaded: python -m tests.mpi")
    _asked()
    found = Sent()
    yield found
    mine = _asked()
    found.messages, found.bytes, found.collectives = map(sum, zip(*world().all(mine), strict=True))


def _asked() -> list[int]:
    numbers = (ctypes.c_longlong * 3)()
    ctypes.CDLL(None).messages_counted(numbers)
    return list(numbers)
