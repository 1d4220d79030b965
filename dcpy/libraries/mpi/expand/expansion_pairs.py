"""Expansion pairs: each node that communicates has an expansion that calls MPI, and one of a rank alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcpy.ir.communication import CommNode
from dcpy.ir.library.expansions import Expansion
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.mpi.environments import ALONE, MPI


def both(
    cls: type[CommNode], write: Callable[[Any, Fragment, str], None]
) -> tuple[Expansion, Expansion]:
    """The expansion that calls MPI, and that of a rank alone."""
    with_mpi = expands(cls, "mpi", environment=MPI)(lambda node, f: write(node, f, MPI))
    return with_mpi, expands(cls, "alone", environment=ALONE)(lambda node, f: write(node, f, ALONE))
