"""From an SDFG in codegen form to an `Artifact`: lowering to LIR, then text. Nothing is compiled here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dcpy.base.assumptions import NOTHING
from dcpy.base.environment import Environment
from dcpy.base.errors import CodegenError
from dcpy.base.options import CpuOptions, DeviceType, Options
from dcpy.base.prototypes import Prototype
from dcpy.codegen import artifact
from dcpy.codegen.artifact import Arg, ArrayArg, Artifact, Dim, IntegerArg, Linear, ScalarArg, Signature, Unit
from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.emit.dialects import DIALECTS, dialect_of
from dcpy.codegen.emit.messages import message_function
from dcpy.codegen.emit.skeleton import header_text, program_text
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.verify import require_valid
from dcpy.codegen.lower.context import ModuleContext
from dcpy.codegen.lower.module import lower_program, program_prototype
from dcpy.codegen.lower.results import known_early
from dcpy.codegen.names import identifier
from dcpy.codegen.vectormath import LIBRARY, vector_functions
from dcpy.ir.analysis.uses import Uses, desc_symbols
from dcpy.ir.data import Array, Scalar, packed_strides
from dcpy.ir.machine import COSTS, Costs
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.symbolic import Expr

LONGEST_FILE = 100  # characters of a file's name, which systems limit


def generate(
    sdfg: Sdfg,
    signature: Signature | None = None,
    environments: Mapping[str, Environment] | None = None,
    options: Options | CpuOptions | None = None,
    costs: Costs = COSTS,
) -> Artifact:
    """The program of `sdfg`, which must be in codegen form (`transforms.cpu.lower_for_cpu` brings it there).

    `signature` says how it is called (default: `default_signature`); its checks are filled in here: the artifact holds
    the complete one. `environments` has what foreign calls need, by name; `costs` are those by which schedules
    were chosen. Raises `CodegenError`.
    """
    called_as = signature or default_signature(sdfg)
    known = dict(environments or {})
    dialect = dialect_of(options)
    gpu = options.gpu if isinstance(options, Options) and options.device is DeviceType.GPU else None
    module = lower_program(sdfg, called_as, _cpu(options), known, costs, gpu=gpu)
    used = _environments(sdfg, module, known)
    if gpu is not None:
        from dcpy.codegen import devices  # late: programs for CPUs load nothing of it

        used.append(devices.HOST)
    if gpu is not None or (isinstance(options, Options) and options.check):
        require_valid(module.finished(), declared_by(used))
    units = [unit_of(module.finished(), dialect, module.base, used)]
    if "#pragma omp declare simd" in units[0].text:
        used.append(LIBRARY)
    kernels: tuple[artifact.Kernel, ...] = ()
    if gpu is not None:
        units += devices.device_units(module.finished(), module.base)
        kernels = devices.described(module.kernels)
    return Artifact(
        replace(called_as, name=module.base, checks=tuple(module.checks), callbacks=tuple(module.callbacks)),
        tuple(units),
        tuple(used),
        (*(("-fopenmp",) if module.threads else ()), *(("-pthread",) if module.processes else ())),
        kernels,
    )


def unit_of(module: tree.Module, dialect: Dialect, stem: str, environments: Sequence[Environment] = ()) -> Unit:
    """A module of LIR as a translation unit in a dialect; `environments` has what its foreign calls need."""
    functions = vector_functions()
    text, places = program_text(module, dialect, environments=environments, vector_functions=functions)
    return Unit(f"{stem[:LONGEST_FILE]}{dialect.suffix}", text, dialect.language, dialect.flags, places)


def declared_by(environments: Sequence[Environment]) -> dict[str, Prototype | None]:
    """The foreign functions that environments declare; None for those of which only C text tells the types."""
    words = (re.findall(r"#include|\w+(?=\s*\()", found.declarations) for found in environments)  # a header: anything
    told = {prototype.name: prototype for found in environments for prototype in found.prototypes}
    return {**dict.fromkeys(name for found in words for name in found), **told}


def with_messages(artifact: Artifact) -> Artifact:
    """The artifact with ``NAME_message``, which tells C programs what a status means."""
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


def require_one_rank(sdfg: Sdfg) -> None:
    """`CodegenError` for a program that is distributed: nothing is generated for several ranks yet."""
    if sdfg.grids:
        grids = ", ".join(map(repr, sdfg.grids))
        raise CodegenError(
            f"{sdfg.name!r} is distributed over the ranks of {grids}, and cannot be compiled yet",
            span=sdfg.span,
            notes=("programs of several ranks are interpreted: sdfg.interpret, and run_ranks in their local form",),
            help="before it is localized, sdfg.erased() is the same program for one rank",
        )


def default_signature(sdfg: Sdfg) -> Signature:
    """How a program is called whose call types nobody has refined: as its descriptors say.

    Symbols are in the SDFG's order. Raises `CodegenError` for arguments that the dispatcher cannot check, and for a
    program of several ranks.
    """
    require_one_rank(sdfg)
    uses = Uses(sdfg)
    args = tuple(_argument(sdfg, name, uses) for name in sdfg.arguments)
    results = tuple(_result(sdfg, result, uses) for result in sdfg.results)
    structure = sdfg.structure
    if structure is None and results:
        structure = 0 if len(results) == 1 else tuple(range(len(results)))
    assumes = tuple(map(linear, sdfg.assumptions))
    tested = ((name, replace(assumed, typical=None)) for name, assumed in sdfg.assumed.items())
    assumed = tuple((name, found) for name, found in tested if found != NOTHING)
    return Signature(sdfg.name, args, tuple(sdfg.symbols), results, structure, assumes=assumes, assumed=assumed)


def linear(fact: Expr) -> Linear:
    """``fact >= 0`` as the dispatcher tests it. Raises `CodegenError` for what is not linear in symbols."""
    names = {name: fact.linear_in(name) for name in fact.symbols}
    factors = tuple((name, None if form is None else form[0].constant) for name, form in names.items())
    rest = fact.subs(dict.fromkeys(fact.symbols, 0)).constant if all(factor for _, factor in factors) else None
    if rest is None:
        raise CodegenError(f"the program assumes that {fact} is not negative, which is not linear in symbols")
    return Linear(tuple((name, factor) for name, factor in factors if factor is not None), rest)


def _argument(sdfg: Sdfg, name: str, uses: Uses) -> Arg:
    if name in sdfg.symbols:
        return IntegerArg(name, sdfg.symbols[name].numpy_name)
    desc = sdfg.containers[name]
    if isinstance(desc, Scalar):
        return ScalarArg(name, desc.dtype.numpy_name, converts=True)
    if not isinstance(desc, Array):
        raise CodegenError(f"the argument {name!r} is a {type(desc).__name__.lower()}", span=desc.span)
    written = any(uses.writers(other) for other in uses.overlapping(name))
    order, strides = _order(desc)
    if strides and any(stride.name is None for stride in strides):
        raise CodegenError(
            f"the strides of {name!r} are neither packed nor symbols: {', '.join(map(str, strides))}", span=desc.span
        )
    dims = tuple(_dim(name, size) for size in desc.shape)
    names = tuple(stride.name or "" for stride in strides)
    return ArrayArg(name, desc.dtype.numpy_name, dims, order, names, written, desc.alias)


def _order(desc: Array) -> tuple[str, tuple[Expr, ...]]:
    for order in ("C", "F"):
        if desc.strides == packed_strides(desc.shape, order):
            return order, ()
    return "", desc.strides


def _dim(name: str, size: Expr) -> Dim:
    if size.constant is not None:
        return Dim(constant=size.constant)
    offset = size.subs(dict.fromkeys(size.symbols, 0))
    symbol = (size - offset).name
    if symbol is not None and offset.constant is not None and abs(offset.constant) < 2**62:
        return Dim(symbol, offset=offset.constant)
    raise CodegenError(
        f"a size of the argument {name!r} is {size}: sizes of arguments must be numbers, or a symbol plus a number",
        help="name the size with a symbol of its own",
    )


def _result(sdfg: Sdfg, result: Result, uses: Uses) -> artifact.Result:
    match result.kind:
        case "array":
            desc = sdfg.desc(result.container)
            if not known_early(sdfg, uses, desc_symbols(desc)):
                return artifact.OwnedArray(desc.dtype.numpy_name, len(desc.shape))
            return artifact.FreshArray(desc.dtype.numpy_name, len(desc.shape))
        case "scalar" | "python":
            dtype = sdfg.desc(result.container).dtype
            return artifact.ScalarResult(dtype.numpy_name, python=result.kind == "python")
        case "argument":
            return artifact.ArgumentResult(sdfg.arguments.index(result.container))
        case "view":
            view = sdfg.desc(result.container)
            root = uses.root(result.container)
            return artifact.ViewResult(sdfg.arguments.index(root), view.dtype.numpy_name, len(view.shape))
        case _:
            return artifact.ConstantResult(result.value)


def _cpu(options: Options | CpuOptions | None) -> CpuOptions:
    return options.cpu if isinstance(options, Options) else options or CpuOptions()


def _environments(sdfg: Sdfg, module: ModuleContext, known: Mapping[str, Environment]) -> list[Environment]:
    missing = [name for name in module.environments if name and name not in known]
    if missing:
        raise CodegenError(f"{sdfg.name!r} calls into {missing[0]!r}, of which nothing is known", span=sdfg.span)
    return [known[name] for name in module.environments if name]
