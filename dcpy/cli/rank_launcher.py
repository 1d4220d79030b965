"""Rank launcher, ``dcpy run -n 4 script.py``: ranks of a job on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from dcpy.base.errors import GridError, MissingMpi
from dcpy.base.installation import install_extra
from dcpy.base.options import environment_of_ranks

INSTALL = install_extra("mpi")


def command_for(ranks: int, arguments: Sequence[str]) -> list[str]:
    """The command that starts a Python program on so many ranks. Raises `MissingMpi`.

    Under ``python -m mpi4py`` a rank that ends with an exception ends the job.
    """
    from dcpy.libraries.mpi.environments import find_wrapper

    if ranks < 1:
        raise GridError(f"a program runs on one rank at least, not on {ranks}")
    if importlib.util.find_spec("mpi4py") is None:
        raise MissingMpi("mpi4py is not installed for this Python", help=INSTALL)
    wrapper = find_wrapper()
    beside = str(Path(wrapper).parent) if wrapper is not None else None
    launcher = next((found for folder in (beside, None) for name in ("mpirun", "mpiexec")
                     if (found := shutil.which(name, path=folder))), None)  # fmt: skip
    if launcher is None:
        raise MissingMpi("no MPI is installed: there is no mpirun", help=INSTALL)
    return [launcher, "-n", str(ranks), sys.executable, "-m", "mpi4py", *arguments]


def run_on_ranks(ranks: int, arguments: Sequence[str]) -> NoReturn:
    """Become the launcher: the exit code is that of the job, and a signal (SIGTERM, Ctrl-C) ends all ranks."""
    command = command_for(ranks, arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(command[0], command, environment_of_ranks(ranks))
