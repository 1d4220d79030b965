"""C functions that return a value: what C code calls as ``double f(double x, double *c)``, around a compiled program.

A C function cannot raise. The first failure since it was last asked for is kept in ``NAME_failure`` (its state, the
number of the check, and the numbers of its message), and the function returns NaN, or 0 where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcpy.base.assumptions import LARGEST_SIZE
from dcpy.base.errors import CodegenError
from dcpy.base.program_exceptions import exception_type
from dcpy.codegen.artifact import Arg, ArrayArg, ConstantResult, IntegerArg, Result, ScalarArg, ScalarResult, Signature
from dcpy.codegen.c_identifiers import identifier

#: dtypes of C's own numbers, and how C calls them where ``long`` has 64 bits
C_TYPES: Mapping[str, str] = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long", "uint8": "unsigned char",
    "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long", "float32": "float",
    "float64": "double",
}  # fmt: skip
NO_FIT = -1  # in place of the number of a check: a size, or a value that the result's type does not hold
FREE, TAKEN, KEPT = 0, 1, 2  # states of a failure: none, one is being written, one is there


@dataclass(frozen=True)
class CParameter:
    """A parameter in C: a number, or the address of the first element of an array."""

    name: str
    dtype: str
    is_array: bool = False

    @property
    def spelling(self) -> str:
        """The type as C declares it."""
        return f"{C_TYPES[self.dtype]} *" if self.is_array else C_TYPES[self.dtype]


@dataclass(frozen=True)
class CPrototype:
    """The C function of a program: its name, its parameters, and the dtype that it returns ("": none)."""

    name: str
    parameters: tuple[CParameter, ...]
    returns: str = ""

    def __str__(self) -> str:
        """``double (int, double *)``, as scipy's signatures write it."""
        listed = ", ".join(parameter.spelling for parameter in self.parameters)
        return f"{C_TYPES.get(self.returns, 'void')} ({listed})"

    @property
    def failure(self) -> str:
        """The name of what tells the first failure."""
        return f"{self.name}_failure"


def c_prototype(signature: Signature, narrow: Mapping[str, str], returns: str = "") -> CPrototype:
    """The C function of a program with this signature.

    `narrow`: dtypes in C of integers that the program has with 64 bits; `returns`: the one of the result, if another.
    Raises `CodegenError` for arguments and results that C has no type for, and for sizes that no argument tells.
    """
    known = {arg.name for arg in signature.args if isinstance(arg, IntegerArg)}
    for arg in signature.args:
        for dim in arg.dims if isinstance(arg, ArrayArg) else ():
            if dim.symbol and dim.symbol not in known:
                raise CodegenError(
                    f"the size {dim.symbol} of {arg.name!r} is not known: in C an array is an address",
                    help=f"add an integer parameter {dim.symbol!r}, or declare a constant size",
                )
    parameters = tuple(_parameter(arg, narrow) for arg in signature.args)
    return CPrototype(f"{identifier(signature.name)}_from_c", parameters, _returned(signature, returns))


def _parameter(arg: Arg, narrow: Mapping[str, str]) -> CParameter:
    if isinstance(arg, ArrayArg | ScalarArg | IntegerArg):
        dtype = narrow.get(arg.name, arg.dtype)
        is_array = isinstance(arg, ArrayArg)
        if isinstance(arg, ArrayArg) and (arg.strides or (arg.order != "C" and len(arg.dims) > 1)):
            raise CodegenError(f"the argument {arg.name!r} is not packed in C order, as arrays in C are")
        if dtype in C_TYPES:
            return CParameter(arg.name, dtype, is_array)
        if is_array and dtype in ("complex64", "complex128", "float16"):
            return CParameter(arg.name, {"complex64": "float32", "complex128": "float64"}.get(dtype, "uint16"), True)
    raise CodegenError(
        f"the argument {arg.name!r} has no type in C",
        notes=("a C function takes integers, floats, bools and addresses of arrays",),
        help="pass its parts as numbers, or an array",
    )


def _returned(signature: Signature, wanted: str) -> str:
    if signature.structure is None:
        return ""
    results = signature.results
    found = _dtype_of(results[0]) if signature.structure == 0 and len(results) == 1 else ""
    if found not in C_TYPES:
        raise CodegenError(
            f"{signature.name!r} does not return one number, as a C function does",
            help="write arrays, complex numbers and further results into an argument: out[:] = ...",
        )
    if wanted and wanted not in C_TYPES:
        raise CodegenError(f"C functions return no {wanted}")
    if wanted and _rank(wanted) < _rank(found):
        raise CodegenError(
            f"{signature.name!r} returns {found}, of which no {wanted} is made",
            help=f"return np.{wanted}(...), or declare that it returns {found}",
        )
    return wanted or found


def _dtype_of(result: Result) -> str:
    """The dtype of a number that a program returns, computed or known; "" for anything else."""
    if isinstance(result, ConstantResult):
        return {bool: "bool", int: "int64", float: "float64"}.get(type(result.value), "")
    return result.dtype if isinstance(result, ScalarResult) else ""


def _rank(dtype: str) -> int:
    """The kind of a number: a bool is an integer, and an integer a float, but not the other way round."""
    return 0 if dtype == "bool" else 2 if dtype.startswith("float") else 1


def c_function_text(signature: Signature, prototype: CPrototype) -> str:
    """The C++ unit of a C function, to be compiled together with the program."""
    entry = f"{identifier(signature.name)}_entry"
    names = [f"a{place}" for place in range(len(prototype.parameters))]
    declared = ", ".join(f"{p.spelling} {name}" for p, name in zip(prototype.parameters, names, strict=True))
    returns = C_TYPES.get(prototype.returns, "void")
    result = signature.results[0] if prototype.returns else None
    stored = _dtype_of(result) if result is not None else ""
    lines = [
        "#include <cstdint>", "#include <limits>", "",
        'extern "C" {', "",
        f"int32_t {entry}(void *const *args, const int64_t *symbols, void *const *results, int64_t *error);", "",
        f"// {FREE}: no failure, {TAKEN}: one is being written, {KEPT}: the number of a check, and its numbers.",
        f"int64_t {prototype.failure}[6] = {{}};", "",
        "}", "",
        "namespace {", "",
        "int32_t go_on(void *, int64_t, const int64_t *) { return 0; }  // C code is not interrupted", "",
        "void keep(int64_t check, const int64_t *numbers) {",
        f"    int64_t *kept = {prototype.failure}, none = {FREE};",
        f"    if (!__atomic_compare_exchange_n(kept, &none, {TAKEN}, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))",
        "        return;",
        "    kept[1] = check;",
        "    for (int k = 0; k < 4; ++k) kept[2 + k] = numbers[k];",
        f"    __atomic_store_n(kept, {KEPT}, __ATOMIC_RELEASE);",
        "}", "",
        "}  // namespace", "",
        f'extern "C" {returns} {prototype.name}({declared}) {{',
        "    int32_t (*interrupts)(void *, int64_t, const int64_t *) = go_on;",
        "    int64_t error[4] = {};",
        *_arguments(signature, prototype, names),
    ]  # fmt: skip
    failed = _failed(prototype.returns)
    symbols = {arg.name: f"v{k}" for k, arg in enumerate(signature.args) if isinstance(arg, IntegerArg)}
    for condition in _conditions(signature, symbols):
        lines += [f"    if (!({condition})) {{", f"        keep({NO_FIT}, error);", f"        {failed}", "    }"]
    if isinstance(result, ConstantResult):
        lines.append(f"    {_storage(stored)} result = {_literal(result.value)};")
    elif stored:
        lines.append(f"    {_storage(stored)} result{{}};")
    listed = ", ".join(symbols[name] for name in signature.symbols)
    lines += [
        f"    const int64_t symbols[] = {{{listed or '0'}}};",
        f"    void *const results[] = {{{'&result' if stored else 'nullptr'}}};",
        f"    const int32_t check = {entry}(args, symbols, results, error);",
        f"    if ({_is_failure(signature)}) {{", "        keep(check, error);", f"        {failed}", "    }",
        *_result(prototype.returns, stored, failed), "}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _arguments(signature: Signature, prototype: CPrototype, names: Sequence[str]) -> list[str]:
    """Lines that make the pointers of a call: to numbers as the program has them, and those to arrays as they are."""
    made, pointers = [], []
    for place, (arg, parameter, name) in enumerate(zip(signature.args, prototype.parameters, names, strict=True)):
        if parameter.is_array:
            pointers.append(f"(void *){name}")
            continue
        assert isinstance(arg, ScalarArg | IntegerArg)
        made.append(f"    {_storage(arg.dtype)} v{place} = {name};")
        pointers.append(f"&v{place}")
    return [*made, f"    void *const args[] = {{{', '.join((*pointers, '&interrupts'))}}};"]


def _storage(dtype: str) -> str:
    return {"bool": "bool", "float32": "float", "float64": "double"}.get(dtype, f"{dtype}_t")


def _literal(value: Any) -> str:
    """A Python number as C++ writes it."""
    if isinstance(value, float) and not math.isfinite(value):
        limit = "quiet_NaN()" if math.isnan(value) else "infinity()"
        return f"{'-' if value < 0 else ''}std::numeric_limits<double>::{limit}"
    return value.hex() if isinstance(value, float) else f"{value:d}LL"


def _conditions(signature: Signature, symbols: Mapping[str, str]) -> list[str]:
    """The conditions on symbols that the program relies on."""
    found = [f"{symbols[name]} >= 0 && {symbols[name]} <= {LARGEST_SIZE}" for name in signature.sizes]
    for name, assumed in signature.assumed:
        value = symbols[name]
        found += [f"{value} >= {assumed.least}"] if assumed.least is not None else []
        found += [f"{value} <= {assumed.most}"] if assumed.most is not None else []
        found += [f"{value} % {assumed.multiple_of} == 0"] if assumed.multiple_of > 1 else []
    for each in signature.assumes:
        terms = "".join(f" + (__int128){factor} * {symbols[name]}" for name, factor in each.terms)
        found.append(f"(__int128){each.constant}{terms} >= 0")
    return found


def _is_failure(signature: Signature) -> str:
    """The test of what the program returns: a warning comes with results."""
    warnings = []
    for number, check in enumerate(signature.checks, 1):
        kind = exception_type(check.exception)
        warnings += [number] if kind is not None and issubclass(kind, Warning) else []
    return " && ".join(["check != 0", *(f"check != {number}" for number in warnings)])


def _failed(returns: str) -> str:
    if not returns:
        return "return;"
    return f"return std::numeric_limits<{C_TYPES[returns]}>::quiet_NaN();" if _rank(returns) == 2 else "return 0;"


def _result(returns: str, stored: str, failed: str) -> list[str]:
    if not returns:
        return []
    if returns == stored or _rank(returns) == 2:
        return [f"    return static_cast<{C_TYPES[returns]}>(result);"]
    limits = f"std::numeric_limits<{C_TYPES[returns]}>"
    wide = "static_cast<__int128>(result)"
    return [
        f"    if ({wide} < {limits}::min() || {wide} > {limits}::max()) {{", f"        keep({NO_FIT}, error);",
        f"        {failed}", "    }", f"    return static_cast<{C_TYPES[returns]}>(result);",
    ]  # fmt: skip
