"""CPU code generation: from an SDFG in codegen form to an `Artifact`, by LIR, then text. Nothing is compiled here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dcpy.base.errors import CodegenError
from dcpy.base.library_environment import Environment
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.options import Options
from dcpy.base.prototypes import Prototype
from dcpy.base.vector_math import LIBRARY, vector_functions
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.codegen.c_identifiers import identifier
from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.emit.host_dialects import DIALECTS, dialect_of
from dcpy.codegen.emit.source_files import header_text, program_text
from dcpy.codegen.emit.status_messages import message_function
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.verify import require_valid
from dcpy.codegen.lower.context import ModuleContext
from dcpy.codegen.lower.program.translation_unit import lower_program, program_prototype
from dcpy.codegen.signature import called_by_host, default_signature
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.sdfg import Sdfg

LONGEST_FILE = 100  # characters of a file's name, which systems limit


def generate(
    sdfg: Sdfg,
    signature: Signature | None = None,
    environments: Mapping[str, Environment] | None = None,
    options: Options | CpuOptions | None = None,
    costs: Costs = COSTS,
) -> Artifact:
    """The program of `sdfg`, which must be in codegen form (`transforms.cpu.lowering` brings it there).

    `signature` says how it is called (default: `default_signature`); its checks are filled in here: the artifact holds
    the complete one. `environments` has what foreign calls need, by name; `costs` are those by which schedules
    were chosen. Raises `CodegenError`.
    """
    called_as = called_by_host(signature or default_signature(sdfg))
    known = dict(environments or {})
    module = lower_program(sdfg, called_as, _cpu(options), known, costs)
    used = environments_of(sdfg, module, known)
    if isinstance(options, Options) and options.check:
        require_valid(module.finished(), declared_by(used))
    return host_artifact(module, called_as, dialect_of(options), used)


def host_artifact(
    module: ModuleContext, called_as: Signature, dialect: Dialect, environments: Sequence[Environment]
) -> Artifact:
    """The unit of the host as a program: with the checks that lowering has found, and the flags that it needs."""
    unit = unit_of(module.finished(), dialect, module.base, environments)
    vectors = (LIBRARY,) if "#pragma omp declare simd" in unit.text else ()
    return Artifact(
        replace(called_as, name=module.base, checks=tuple(module.checks), callbacks=tuple(module.callbacks)),
        (unit,),
        (*environments, *vectors),
        (*(("-fopenmp",) if module.threads else ()), *(("-pthread",) if module.processes else ())),
    )


def unit_of(module: tree.Module, dialect: Dialect, stem: str, environments: Sequence[Environment] = ()) -> Unit:
    """A module of LIR as a translation unit in a dialect; `environments` has what its foreign calls need."""
    functions = vector_functions()
    text, places = program_text(module, dialect, environments=environments, vector_functions=functions)
    return Unit(f"{stem[:LONGEST_FILE]}{dialect.suffix}", text, dialect.language, dialect.flags, places)


def declared_by(environments: Sequence[Environment]) -> dict[str, Prototype | None]:
    """The foreign functions that environments declare; None for those whose types only C text has."""
    environments = [found for found in environments if not found.runtime]
    words = (re.findall(r"#include|\w+(?=\s*\()", found.declarations) for found in environments)  # a header: anything
    told = {prototype.name: prototype for found in environments for prototype in found.prototypes}
    return {**dict.fromkeys(name for found in words for name in found), **told}


def with_messages(artifact: Artifact) -> Artifact:
    """The artifact with ``NAME_message``, which describes a status for C programs."""
    signature = artifact.signature
    unit = artifact.units[0]
    dialect = next(dialect for dialect in DIALECTS.values() if dialect.language == unit.language)
    added = message_function(signature.name, signature.checks, dialect)
    needed = "".join(
        f"typedef {dialect.typedefs[name]} {name};\n"
        for name in ("size_t", "int32_t")
        if not re.search(rf"\b{name};", unit.text)
    )
    return replace(artifact, units=(replace(unit, text=f"{unit.text}{needed}{added}"), *artifact.units[1:]))


def c_header(sdfg: Sdfg, signature: Signature | None = None) -> str:
    """The C header of a library: ``NAME_init``, ``NAME``, ``NAME_message``, ``NAME_exit``.

    With the artifact's signature it also says what return values mean. The SDFG may be in any form.
    """
    called_as = signature or default_signature(sdfg)
    program = program_prototype(sdfg, called_as)
    place = str(sdfg.span) if sdfg.span is not None else ""
    assumed = (f"{name} is {assumed.in_words()}" for name, assumed in called_as.assumed)
    relies_on = (*map(str, called_as.assumes), *assumed)
    return header_text(identifier(called_as.name), program, called_as.checks, place, relies_on)


def _cpu(options: Options | CpuOptions | None) -> CpuOptions:
    return options.cpu if isinstance(options, Options) else options or CpuOptions()


def environments_of(sdfg: Sdfg, module: ModuleContext, known: Mapping[str, Environment]) -> list[Environment]:
    """Return the environments of the foreign calls of a module; `CodegenError` for a call that has none."""
    missing = [name for name in module.environments if name and name not in known]
    if missing:
        raise CodegenError(f"{sdfg.name!r} calls into {missing[0]!r}, of which nothing is known", span=sdfg.span)
    return [known[name] for name in module.environments if name]
