"""Programs that tests generate code for are verified as LIR, too: a test of compiled code is a test of lowering."""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.base.library_environment import Environment
from dcpy.codegen import generate
from dcpy.codegen.artifact import Unit
from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.verify import require_valid

_printed = generate.unit_of


def _verified(module: tree.Module, dialect: Dialect, stem: str, environments: Sequence[Environment] = ()) -> Unit:
    require_valid(module, generate.declared_by(environments))
    return _printed(module, dialect, stem, environments)


def install() -> None:
    """From now on."""
    generate.unit_of = _verified
