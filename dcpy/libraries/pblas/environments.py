"""Search for ScaLAPACK: in Intel's MKL, in a library of the system, or in files that an option names.

All of them are linked for the MPI that programs of several ranks call. Nothing here is loaded, and nothing imported.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from dcpy.base.errors import ExpansionError
from dcpy.base.installation import install_extra
from dcpy.base.library_environment import Environment
from dcpy.base.options import resolve_options
from dcpy.ir.library.expansions import ForeignLibrary
from dcpy.libraries.mpi.environments import find_mpi

OF_MKL, OF_SYSTEM = "scalapack-mkl", "scalapack"
INSTALL = f"{install_extra('scalapack')} (MKL, 690 MB), or a system's ScaLAPACK: apt install libscalapack-openmpi2.2"
OFF = "off"
HEADERS = ("scalapack.h", "solvers.h")
_ONEAPI = "/opt/intel/oneapi/mkl/latest"
_PARTS = ("scalapack_lp64", "blacs_{mpi}_lp64", "intel_lp64", "sequential", "core")
_SYSTEM = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


def find_in_mkl() -> Environment:
    """ScaLAPACK of MKL, one thread for each rank; `ExpansionError` where it is not installed, or not to be used."""
    if _named():
        raise ExpansionError(f"the option `scalapack` says {_named()!r}")
    mpi = find_mpi()
    files = _files_of_mkl("mpi" in mpi.libraries)
    if not files:
        raise ExpansionError("MKL's ScaLAPACK is not installed for this Python", help=INSTALL)
    return _linked(OF_MKL, files, mpi)


def mkl_within(folder: Path, *, is_open_mpi: bool = True) -> list[Path]:
    """The files of MKL's ScaLAPACK in a folder, with the BLACS for such an MPI; none where a part is missing."""
    kind = "openmpi" if is_open_mpi else "intelmpi"  # MPICH's and Intel's have the same handles
    parts = [next(iter(sorted(folder.glob(f"libmkl_{part.format(mpi=kind)}.so*"), reverse=True)), None)
             for part in _PARTS]  # fmt: skip
    return [] if None in parts else [part for part in parts if part is not None]


def _files_of_mkl(is_open_mpi: bool) -> list[Path]:
    folders = [Path(root) / "lib" for root in dict.fromkeys((sys.prefix, sys.base_prefix, _ONEAPI))]
    return next((found for folder in folders if (found := mkl_within(folder, is_open_mpi=is_open_mpi))), [])


def find_in_system() -> Environment:
    """The files that the option `scalapack` names, or the system's ScaLAPACK for Open MPI."""
    named = _named()
    if named == OFF:
        raise ExpansionError("the option `scalapack` says 'off'")
    files = _files_of_system()
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise ExpansionError(f"the option `scalapack` names {missing[0]}, which is no file", help=INSTALL)
    if not files:
        raise ExpansionError("the system has no ScaLAPACK", help=INSTALL)
    return _linked(OF_SYSTEM, files, find_mpi())


def _files_of_system() -> list[Path]:
    if _named():
        return [Path(name) for name in _named().split(os.pathsep)]
    found = (sorted((*folder.glob("libscalapack-openmpi.so*"), *folder.glob("libscalapack.so*")))
             for folder in map(Path, _SYSTEM))  # fmt: skip
    return next((files[:1] for files in found if files), [])


def scalapack_state(*, is_open_mpi: bool) -> str:
    """Return a key for the ScaLAPACK in use: its files, with their versions; "" for none. It does not ask MPI."""
    if _named() == OFF:
        return ""
    files = [] if _named() else _files_of_mkl(is_open_mpi)
    return _versions(files or _files_of_system())


def _versions(files: list[Path]) -> str:
    """Files as their links end, whose names have versions, with their size."""
    known = [path.resolve() for path in files if path.is_file()]
    return " ".join(f"{path} {path.stat().st_size}" for path in known)


def _named() -> str:
    return resolve_options().scalapack


def _linked(name: str, files: list[Path], mpi: Environment) -> Environment:
    """These libraries behind MPI, whose folder comes first: that of the system may have another one."""
    folder = Path(__file__).parent / "expand"
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in HEADERS)
    folders = dict.fromkeys(str(path.parent.resolve()) for path in files)
    return replace(
        mpi,
        name=name,
        declarations=f"{mpi.declarations}\n#ifndef DCPY_SCALAPACK\n#define DCPY_SCALAPACK  // {_versions(files)}\n"
        f"{text}\n#endif",
        libraries=(*mpi.libraries, *(f":{path.name}" for path in files)),
        library_dirs=tuple(dict.fromkeys((*mpi.library_dirs, *folders))),
        opens_more=True,
    )


SCALAPACK_OF_MKL = ForeignLibrary(OF_MKL, find_in_mkl)
SCALAPACK = ForeignLibrary(OF_SYSTEM, find_in_system)
