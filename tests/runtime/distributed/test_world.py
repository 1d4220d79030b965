"""Ranks without what they need: no mpi4py, no launcher; and exceptions with the rank that has them."""

from __future__ import annotations

import importlib.util
import shutil
import sys

import pytest

from dcpy.base.errors import GridError, MissingMpi
from dcpy.cli.rank_launcher import command_for
from dcpy.libraries.mpi import environments
from dcpy.runtime.distributed.world import World, current_world, print_of_rank


def test_a_rank_of_a_job_without_mpi4py(monkeypatch):
    """Else each rank would take itself for the only one, and all would compute the whole."""
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(MissingMpi, match=r"mpi4py cannot be imported(.|\n)*\[mpi\]"):
        current_world()


def test_what_dcpy_run_needs(monkeypatch):
    with pytest.raises(GridError, match="on one rank at least, not on 0"):
        command_for(0, ["script.py"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingMpi, match=r"not installed for this(.|\n)*\[mpi\]'"):
        command_for(2, ["script.py"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    with pytest.raises(MissingMpi, match="no MPI is installed: there is no mpirun"):
        command_for(2, ["script.py"])


def test_a_wrapper_that_is_none(tmp_path):
    """A program of that name, which says nothing about MPI."""
    (tmp_path / "mpicxx").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "mpicxx").chmod(0o755)
    with pytest.raises(MissingMpi, match="does not say how to link: is it a compiler wrapper of MPI"):
        environments.flags_of(str(tmp_path / "mpicxx"))


def test_a_traceback_has_its_rank(capsys):
    try:
        raise ValueError("no more")
    except ValueError as error:
        print_of_rank(World(3, 4), ValueError, error, error.__traceback__)
    told = capsys.readouterr().err
    assert told.startswith("on rank 3:\nTraceback")
    assert told.endswith("ValueError: no more\n")
