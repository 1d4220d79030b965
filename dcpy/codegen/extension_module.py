"""Python extension modules: what the binding of each overload takes, checks and gives back, as lines of C++.

Everything here is text made of pure data. `codegen.extension_projects` puts it into files, `cli.python_extensions`
writes and compiles them. The C++ that these lines call is include/extension.h.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from dcpy.base.errors import CodegenError
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import (
    ArgumentResult,
    ArrayArg,
    Check,
    ConstantResult,
    Dim,
    FreshArray,
    IntegerArg,
    Linear,
    OwnedArray,
    Result,
    ScalarArg,
    ScalarResult,
    Signature,
    ViewResult,
)
from dcpy.codegen.emit.status_messages import quoted

ORDERS = {"C": "py::array::c_style", "F": "py::array::f_style"}
PYTHON = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}  # what stands for a number, by its kind


@dataclass(slots=True)
class Overload:
    """One signature of a module's function: the words and lines that the templates put into their places."""

    base: str  # of the entries of its program
    signature: str  # scale(a: float64[N, M], f: float64) -> float64[N]
    doc: str
    symbols: tuple[str, ...]
    checks: tuple[Check, ...]
    number_count: int  # how many NAME_results writes, 1 at least
    used_numbers: int = 0  # of them, by results so far
    parameters: list[str] = field(default_factory=list)  # of the C++ function
    preconditions: list[str] = field(default_factory=list)  # statements before anything runs
    argument_pointers: list[str] = field(default_factory=list)  # to arguments, as the entry takes them
    result_declarations: list[str] = field(default_factory=list)  # memory for results
    result_pointers: list[str] = field(default_factory=list)  # pointers to it
    result_objects: list[str] = field(default_factory=list)  # objects of results
    return_value: str = "py::none()"
    python_args: list[str] = field(default_factory=list)  # for pybind11: names and defaults
    stub_parameters: list[str] = field(default_factory=list)  # parameters of the stub
    stub_result: str = "None"
    written_arguments: list[str] = field(default_factory=list)


def overload_of(
    name: str, signature: Signature, doc: str, defaults: Mapping[str, object], span: SrcSpan | None
) -> Overload:
    """Return the binding of a program with this signature. `defaults`: values of optional parameters.

    Raises `CodegenError` for arguments and results that only dcpy's own dispatcher takes and makes.
    """
    made = Overload(signature.name, "", doc, signature.symbols, signature.checks, max(_count(signature), 1))
    signature = replace(signature, name=name)
    if signature.callbacks or signature.fields:
        raise CodegenError(
            f"{signature.name!r} needs Python objects while it runs: a module of its own has none",
            span=span,
            help="take and return arrays and numbers",
        )
    _arguments(made, signature, defaults, span)
    _conditions(made, signature)
    words = [_result(made, signature, result, span) for result in signature.results]
    made.return_value, made.stub_result, shown = _structure(signature.structure, words, signature, span)
    shown_args = ", ".join(_shown(arg) for arg in signature.args)
    made.signature = f"{name}({shown_args}) -> {shown}"
    notes = [f"Writes to {', '.join(made.written_arguments)}."] if made.written_arguments else []
    made.doc = "\n\n".join(filter(None, (made.signature, doc, *notes)))
    return made


def _count(signature: Signature) -> int:
    """Return how many numbers describe the results: sizes of new arrays; offsets, sizes and strides of views."""
    fresh = sum(result.rank for result in signature.results if isinstance(result, FreshArray))
    return fresh + sum(1 + 2 * result.rank for result in signature.results if isinstance(result, ViewResult))


# -- arguments -------------------------------------------------------------------------------------------------------


def _shown(arg: object) -> str:
    assert isinstance(arg, ArrayArg | ScalarArg | IntegerArg)
    sizes = f"[{', '.join(map(str, arg.dims))}]" if isinstance(arg, ArrayArg) else ""
    return f"{arg.name}: {arg.dtype}{sizes}"


def _arguments(made: Overload, signature: Signature, defaults: Mapping[str, object], span: SrcSpan | None) -> None:
    told: dict[str, None] = {}
    viewed = {result.index for result in signature.results if isinstance(result, ViewResult)}
    for position, arg in enumerate(signature.args):
        word = f"arg_{position}"
        default = ""
        match arg:
            case ArrayArg(order="C" | "F", strides=()) if not arg.on_device:
                made.parameters.append(f"Array<{arg.dtype}_, {len(arg.dims)}> {word}")
                how = "written" if arg.written else "seen" if position in viewed else "read"
                made.preconditions.append(f"{word}.{how}({quoted(arg.name)}, {ORDERS[arg.order]});")
                made.preconditions += [_size(made, arg, word, axis, dim, told) for axis, dim in enumerate(arg.dims)]
                made.argument_pointers.append(f"{word}.data()")
                made.stub_parameters.append(f"{arg.name}: NDArray[{_generic(arg.dtype)}]")
                made.written_arguments += [arg.name] if arg.written else []
            case ScalarArg() | IntegerArg():
                default = _default(defaults.get(arg.name))
                made.parameters.append(f"Number<{arg.dtype}_> {word}")
                if arg.name in signature.symbols and arg.name not in told:
                    told[arg.name] = None
                    made.preconditions.append(f"symbols[{signature.symbols.index(arg.name)}] = (int64_t){word}.value;")
                elif arg.name in signature.symbols:
                    wanted = f"symbols[{signature.symbols.index(arg.name)}]"
                    message = quoted(f"{arg.name} is not the size that it names")
                    made.preconditions.append(f"require((int64_t){word}.value == {wanted}, {message});")
                made.argument_pointers.append(f"&{word}.value")
                made.stub_parameters.append(f"{arg.name}: {_number(arg.dtype)}" + (f" = {default}" if default else ""))
            case _:
                raise CodegenError(
                    f"the argument {arg.name!r} of {signature.name!r} is no packed array of the host, and no number: "
                    "a module of its own cannot take it",
                    span=span,
                    help="annotate it as dcpy.float64[N, M], or as dcpy.float64",
                )
        preset = f" = {default.lower()}" if default else ""  # C++ writes true
        made.python_args.append(f"py::arg({quoted(arg.name)}){preset}")
    if untold := [name for name in signature.symbols if name not in told]:
        raise CodegenError(
            f"the size {untold[0]!r} follows from no argument of {signature.name!r}",
            span=span,
            help=f"make it the size of an array, or an argument: {untold[0]}: dcpy.int64",
        )


def _size(made: Overload, arg: ArrayArg, word: str, axis: int, dim: Dim, told: dict[str, None]) -> str:
    """The first array with a symbol sets its value; the others must agree."""
    found = f"{word}.size({axis})"
    if not dim.symbol:
        return f"require_size({quoted(arg.name)}, {axis}, {found}, {dim.constant});"
    slot = f"symbols[{made.symbols.index(dim.symbol)}]"
    if dim.symbol in told:
        return f"require_size({quoted(arg.name)}, {axis}, {found}, {slot} + {dim.offset});"
    told[dim.symbol] = None
    line = f"{slot} = {found} - ({dim.offset});"
    least = quoted(f"axis {axis} of {arg.name} is too short: its size is {dim}")
    return f"{line} require({slot} >= 0, {least});" if dim.offset > 0 else line


def _default(value: object) -> str:
    """A default that stubs and C++ spell alike; "" for none, and for those that they do not."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int) and abs(value) < 2**31:
        return str(value)
    return repr(value) if isinstance(value, float) and math.isfinite(value) else ""


def _conditions(made: Overload, signature: Signature) -> None:
    """Add the conditions that each call must meet: assumptions, and arrays that share no memory."""
    for condition in signature.assumes:
        made.preconditions.append(
            f"require({_linear(condition, signature)} >= 0, {quoted(f'{condition} does not hold')});"
        )
    for name, assumed in signature.assumed:
        slot = f"symbols[{signature.symbols.index(name)}]"
        tests = [f"{slot} >= {assumed.least}"] if assumed.least is not None else []
        tests += [f"{slot} <= {assumed.most}"] if assumed.most is not None else []
        tests += [f"{slot} % {assumed.multiple_of} == 0"] if assumed.multiple_of > 1 else []
        if tests:
            made.preconditions.append(
                f"require({' && '.join(tests)}, {quoted(f'{name} must be {assumed.in_words()}')});"
            )
    arrays = [(position, arg) for position, arg in enumerate(signature.args) if isinstance(arg, ArrayArg)]
    for (i, a), (j, b) in combinations(arrays, 2):
        if (a.written or b.written) and not (a.alias and a.alias == b.alias):
            names = f"arg_{i}.array, {quoted(a.name)}, arg_{j}.array, {quoted(b.name)}"
            made.preconditions.append(f"require_apart({names});")


def _linear(condition: Linear, signature: Signature) -> str:
    terms = (f"{factor}*symbols[{signature.symbols.index(name)}]" for name, factor in condition.terms)
    return " + ".join((*terms, str(condition.constant)))


# -- results ---------------------------------------------------------------------------------------------------------


def _result(made: Overload, signature: Signature, result: Result, span: SrcSpan | None) -> tuple[str, str, str]:
    """The C++ object of a result, its type in the stub, and as a person reads it."""
    word = f"result_{len(made.result_declarations) + len(made.result_objects)}"
    match result:
        case FreshArray(dtype, rank, on_device=False):
            axes = ", ".join(map(str, result.axes or range(rank)))
            made.result_declarations.append(
                f"py::array {word} = fresh<{dtype}_>(numbers + {_taken(made, rank)}, {{{axes}}});"
            )
            made.result_pointers.append(f"{word}.mutable_data()")
            return word, f"NDArray[{_generic(dtype)}]", f"{dtype}[{', '.join(':' * rank)}]"
        case OwnedArray(dtype, rank):
            axes = ", ".join(map(str, result.axes or range(rank)))
            made.result_declarations.append(f"Owned<{rank}> {word};")
            made.result_pointers += [f"&{word}.memory", f"{word}.shape"]
            return (
                f"take<{dtype}_>({word}, {{{axes}}})",
                f"NDArray[{_generic(dtype)}]",
                f"{dtype}[{', '.join(':' * rank)}]",
            )
        case ScalarResult(dtype, python):
            made.result_declarations.append(f"Number<{dtype}_> {word} = {{}};")
            made.result_pointers.append(f"&{word}.value")
            kind = PYTHON[_kind(dtype)] if python else _generic(dtype)
            return f"scalar({word}, {str(python).lower()})", kind, kind.removeprefix("np.")
        case ArgumentResult(index) if isinstance(signature.args[index], ArrayArg):
            return f"arg_{index}.given", made.stub_parameters[index].partition(": ")[2], signature.args[index].name
        case ViewResult(index, dtype, rank, _, read_only):
            start = _taken(made, 1 + 2 * rank)
            made.result_objects.append(
                f"py::array {word} = view<{dtype}_>(arg_{index}.array, numbers + {start}, {rank});"
            )
            made.result_objects += [f"{word}.attr(\"setflags\")(false);"] if read_only else []
            return word, f"NDArray[{_generic(dtype)}]", f"{dtype}[{', '.join(':' * rank)}]"
        case ConstantResult(value) if value is None or isinstance(value, bool | str):
            text = "py::none()" if value is None else f"py::bool_({str(value).lower()})"
            text = f"py::str({quoted(value)})" if isinstance(value, str) else text
            return text, "None" if value is None else type(value).__name__, repr(value)
        case ConstantResult(value) if isinstance(value, int | float) and _default(value):
            return f"py::{type(value).__name__}_({_default(value)})", type(value).__name__, repr(value)
    raise CodegenError(
        f"{signature.name!r} returns what a module of its own cannot make",
        span=span,
        help="return arrays, numbers, and tuples of these",
    )


def _taken(made: Overload, count: int) -> int:
    """Reserve `count` numbers about results; return the position of the first one."""
    made.used_numbers += count
    return made.used_numbers - count


def _structure(
    part: object, words: list[tuple[str, str, str]], signature: Signature, span: SrcSpan | None
) -> tuple[str, str, str]:
    """Nested tuples of results: C++, stub, and for people."""
    if part is None:
        return "py::none()", "None", "None"
    if isinstance(part, int):
        return words[part]
    if isinstance(part, tuple):
        inner = [_structure(each, words, signature, span) for each in part]
        cpp, stub, shown = (", ".join(column) for column in zip(*inner, strict=True)) if inner else ("", "()", "")
        return f"py::make_tuple({cpp})", f"tuple[{stub}]", f"({shown})"
    raise CodegenError(
        f"{signature.name!r} returns objects: a module of its own does not know their classes",
        span=span,
        help="return arrays, numbers, and tuples of these",
    )


# -- dtypes ----------------------------------------------------------------------------------------------------------


def _kind(dtype: str) -> str:
    return "b" if dtype == "bool" else "u" if dtype.startswith("uint") else dtype[0]


def _generic(dtype: str) -> str:
    """NumPy's class of scalars, as stubs name it."""
    return "np.bool_" if dtype == "bool" else f"np.{dtype}"


def _number(dtype: str) -> str:
    """Return the type of a parameter for a number of a dtype; type checkers take an int for a float already."""
    return f"{PYTHON[_kind(dtype)]} | {_generic(dtype)}"
