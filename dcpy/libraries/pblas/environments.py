"""Where ScaLAPACK is: in Intel's MKL, in a library of the system, or in files that an option names.

All of them are linked for the MPI that programs of several ranks call. Nothing here is loaded, and nothing imported.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from dcpy.base.environment import Environment
from dcpy.base.errors import ExpansionError
from dcpy.base.options import resolve_options
from dcpy.ir.library.expansions import ForeignLibrary
from dcpy.libraries.mpi.environments import find_mpi

OF_MKL, OF_SYSTEM = "scalapack-mkl", "scalapack"
INSTALL = "pip install 'dcpy[scalapack]' (MKL, 690 MB), or a system's ScaLAPACK: apt install libscalapack-openmpi2.2"
OFF = "off"
_ONEAPI = "/opt/intel/oneapi/mkl/latest"
_PARTS = ("scalapack_lp64", "blacs_{mpi}_lp64", "intel_lp64", "sequential", "core")
_SYSTEM = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


def find_in_mkl() -> Environment:
    """ScaLAPACK of MKL, one thread for each rank; `ExpansionError` where it is not installed, or not to be used."""
    if _named():
        raise ExpansionError(f"the option `scalapack` says {_named()!r}")
    mpi = find_mpi()
    for root in dict.fromkeys((sys.prefix, sys.base_prefix, _ONEAPI)):
        found = mkl_within(Path(root) / "lib", mpi)
        if found is not None:
            return found
    raise ExpansionError("MKL's ScaLAPACK is not installed for this Python", help=INSTALL)


def mkl_within(folder: Path, mpi: Environment) -> Environment | None:
    """MKL's ScaLAPACK in a folder of libraries, with the BLACS for such an MPI; None where a part is missing."""
    kind = "openmpi" if "mpi" in mpi.libraries else "intelmpi"  # MPICH's and Intel's have the same handles
    parts = [next(iter(sorted(folder.glob(f"libmkl_{part.format(mpi=kind)}.so*"), reverse=True)), None)
             for part in _PARTS]  # fmt: skip
    if None in parts:
        return None
    return _linked(OF_MKL, [part for part in parts if part is not None], mpi)


def find_in_system() -> Environment:
    """The files that the option `scalapack` names, or the system's ScaLAPACK for Open MPI."""
    named = _named()
    if named == OFF:
        raise ExpansionError("the option `scalapack` says 'off'")
    if named:
        files = [Path(name) for name in named.split(os.pathsep)]
        missing = [str(path) for path in files if not path.is_file()]
        if missing:
            raise ExpansionError(f"the option `scalapack` names {missing[0]}, which is no file", help=INSTALL)
        return _linked(OF_SYSTEM, files, find_mpi())
    for folder in map(Path, _SYSTEM):
        found = sorted((*folder.glob("libscalapack-openmpi.so*"), *folder.glob("libscalapack.so*")))
        if found:
            return _linked(OF_SYSTEM, found[:1], find_mpi())
    raise ExpansionError("the system has no ScaLAPACK", help=INSTALL)


def _named() -> str:
    return resolve_options().scalapack


def _linked(name: str, files: list[Path], mpi: Environment) -> Environment:
    """These libraries behind MPI, whose folder comes first: that of the system may have another one."""
    text = (Path(__file__).parent / "expand" / "scalapack.h").read_text(encoding="utf-8")
    folders = dict.fromkeys(str(path.parent.resolve()) for path in files)
    return replace(
        mpi,
        name=name,
        declarations=f"{mpi.declarations}\n#ifndef DCPY_SCALAPACK\n#define DCPY_SCALAPACK\n{text}\n#endif",
        libraries=(*mpi.libraries, *(f":{path.name}" for path in files)),
        library_dirs=tuple(dict.fromkeys((*mpi.library_dirs, *folders))),
        opens_more=True,
    )


SCALAPACK_OF_MKL = ForeignLibrary(OF_MKL, find_in_mkl)
SCALAPACK = ForeignLibrary(OF_SYSTEM, find_in_system)
