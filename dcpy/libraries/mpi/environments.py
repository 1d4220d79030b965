"""Search for MPI: the one that mpi4py has loaded, else that of the compiler wrapper beside this Python or in PATH.

Compiled programs call MPI directly. They are linked with its run path: mpi4py loads its library for itself, so symbols
in memory would not be found. Nothing here imports mpi4py.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from dcpy.base.errors import MissingMpi, MixedMpi
from dcpy.base.installation import install_extra
from dcpy.base.library_environment import Environment
from dcpy.ir.library.expansions import ForeignLibrary

MPI, ALONE = "mpi", "mpi.alone"
HEADERS = (
    "ranks.h", "watch.h", "sections.h", "groups.h", "collectives.h", "fans.h", "copies.h", "exchanges.h",
    "messages.h", "messages_alone.h", "joining.h",
)  # fmt: skip
WRAPPERS = ("mpicxx", "mpic++", "mpicc")
INSTALL = f"{install_extra('mpi')}, or a system's Open MPI or MPICH with its headers, and mpi4py built for it"
_LIBRARY = re.compile(r"/libmpi(?:ch)?\.so[.\d]*$")


def _declarations(*, alone: bool) -> str:
    folder = Path(__file__).parent / "expand"
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in HEADERS)
    # plans are made once, and what is moved is moved by memcpy: nothing to gain but a longer compilation
    text = f"#pragma GCC push_options\n#pragma GCC optimize(\"O1\")\n{text}\n#pragma GCC pop_options"
    text = f"#define DCPY_ALONE\n{text}" if alone else text
    return f"#ifndef DCPY_RANKS\n#define DCPY_RANKS\n{text}\n#endif"  # libraries for several ranks have it, too


@cache
def find_mpi() -> Environment:
    """The MPI that programs of several ranks call. Raises `MissingMpi` and `MixedMpi`."""
    wrapper = find_wrapper()
    if wrapper is None:
        raise MissingMpi("no MPI is installed: there is no mpicxx", help=INSTALL)
    found = flags_of(wrapper)
    loaded = loaded_library()
    if loaded is not None and loaded.parent not in [Path(folder).resolve() for folder in found["-L"]]:
        raise MixedMpi(
            f"{wrapper} is of another MPI than the library that mpi4py has loaded: {loaded}",
            help="put the bin folder of mpi4py's MPI first in PATH, or build mpi4py for this one: "
            "pip install --no-binary mpi4py mpi4py",
        )
    return Environment(
        MPI,
        declarations=_declarations(alone=False),
        libraries=tuple(found["-l"]),
        library_dirs=tuple(found["-L"]),
        include_dirs=tuple(found["-I"]),
    )


@cache
def find_alone() -> Environment:
    """Return the environment of one rank, without communication."""
    return Environment(ALONE, declarations=_declarations(alone=True))


def find_wrapper() -> str | None:
    """The compiler wrapper: beside the loaded library, then beside this Python, then in PATH."""
    loaded = loaded_library()
    folders = [loaded.parent.parent / "bin"] if loaded is not None else []
    for folder in (*map(str, (*folders, Path(sys.prefix) / "bin")), None):  # None: those of PATH
        found = next((found for name in WRAPPERS if (found := shutil.which(name, path=folder))), None)
        if found is not None:
            return found
    return None


def loaded_library() -> Path | None:
    """The MPI that is in this process."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    paths = (line.split(maxsplit=5)[-1] for line in lines if "libmpi" in line)
    return next((Path(path).resolve() for path in paths if _LIBRARY.search(path)), None)


def flags_of(wrapper: str) -> dict[str, list[str]]:
    """Folders of headers (-I) and of libraries (-L), and libraries (-l), as the wrapper of Open MPI or MPICH says."""
    said = []
    for questions in (("--showme:compile", "--showme:link"), ("-compile_info", "-link_info")):
        answers = [subprocess.run([wrapper, ask], capture_output=True, text=True, check=False) for ask in questions]
        if all(answer.returncode == 0 for answer in answers):
            said = " ".join(answer.stdout for answer in answers).split()
            break
    found: dict[str, list[str]] = {"-I": [], "-L": [], "-l": []}
    for word in said:
        if word[:2] in found and word[2:] not in found[word[:2]]:
            found[word[:2]].append(word[2:])
    if not found["-l"]:
        raise MissingMpi(f"{wrapper} does not say how to link: is it a compiler wrapper of MPI?", help=INSTALL)
    return found


MPI_LIBRARY = ForeignLibrary(MPI, find_mpi)
NOBODY = ForeignLibrary(ALONE, find_alone)
