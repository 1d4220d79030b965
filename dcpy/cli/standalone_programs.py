"""Standalone programs, ``sdfgcc --main``: an executable without Python; with ``--mpi`` one that runs under ``mpirun``.
"""

from __future__ import annotations

from pathlib import Path

from dcpy import driver
from dcpy.base.errors import DcpyError
from dcpy.cli.program_lookup import sdfg_named
from dcpy.codegen.signature import default_signature
from dcpy.codegen.standalone_main import main_text
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.distribution_erasure import erased
from dcpy.libraries.mpi.environments import find_mpi
from dcpy.programs.ranks import sdfg_distribution
from dcpy.programs.ranks.compilation import expand_messages


def build_standalone(
    program: str, output: str = "", *, on_ranks: bool, keep_source: bool = False
) -> driver.BuiltLibrary:
    """Compile and link it; the file is named as the program is, by default.

    Raises `MissingMpi` where several ranks are wanted and there is no MPI, and `DcpyError` for a program that is
    distributed where one rank is, or not where there are several.
    """
    placed = sdfg_named(program)
    placed.validate()
    if on_ranks and not placed.grids:
        raise DcpyError(
            f"{placed.name!r} is not distributed: every rank would do the same",
            span=placed.span,
            help='sdfg.distribute({"A": "g(block 0, whole)"}, {"g": ["P"]}); sdfg.save("name.sdfg")',
        )
    if placed.grids and not on_ranks:
        raise DcpyError(f"{placed.name!r} is for several ranks", span=placed.span, help="sdfgcc --mpi --main")
    environments = (find_mpi(),) if on_ranks else ()
    whole = default_signature(erased(placed))
    local = copy_sdfg(placed)
    if on_ranks:
        sdfg_distribution.localize(local)
        expand_messages(local, alone=False)
    signature = default_signature(local)
    text = main_text(local, signature, whole, placed, on_ranks=on_ranks)
    return driver.build_executable(
        local, signature, Path(output or local.name), text, keep_source=keep_source, environments=environments
    )
