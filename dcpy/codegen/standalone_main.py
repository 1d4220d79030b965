"""The main function of a program without Python: arguments are words of a command line, and .npy files.

On ranks, each reads and writes its part of what is distributed; all of them read the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dcpy.base.errors import CodegenError
from dcpy.codegen.artifact import ArrayArg, Dim, Signature
from dcpy.codegen.c_identifiers import identifier
from dcpy.codegen.emit.lir_printer import Printer
from dcpy.codegen.emit.source_files import HEADER
from dcpy.codegen.emit.template_rendering import render
from dcpy.codegen.lir.types import Pointer
from dcpy.codegen.lower.program.translation_unit import program_prototype
from dcpy.ir.data import Array
from dcpy.ir.distribution import Blocked, Distribution, coordinate_names
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.types import DType

FOLDER = Path(__file__).parent / "include"
KINDS = "biuf"  # of elements that .npy files name, and that C has


def main_text(local: Sdfg, signature: Signature, whole: Signature, placed: Sdfg, *, on_ranks: bool) -> str:
    """The C++ unit with main().

    `local` is the program of one rank, called as `signature` says; `whole` tells the shapes of whole arrays, and
    `placed` (before it was made that of one rank) where their elements are. Raises `CodegenError` for arguments that no
    file or word stands for, and for results, which are to be written into arguments instead.
    """
    if local.results:
        raise CodegenError(
            f"{local.name!r} returns a value, but an executable cannot return values",
            span=local.span,
            help="write it into an argument: y[:] = ...",
        )
    function = program_prototype(local, signature)
    printer = Printer(HEADER)
    prototype = "\n".join(printer.signature(function))
    numbers: list[str] = []
    arrays: list[tuple[str, DType]] = []
    passed: list[str] = []
    for param in function.params:
        if isinstance(param.type, Pointer):
            assert isinstance(param.type.element, DType)
            arrays.append((param.name, param.type.element))
            passed.append(f"({printer.type(param.type)})arrays[{len(arrays) - 1}].memory")
        else:
            assert isinstance(param.type, DType)
            numbers.append(param.name)
            value = "real" if param.type.kind == "f" else "integer"
            passed.append(f"({printer.type(param.type)})numbers[{len(numbers) - 1}].{value}")
    reals = {param.name for param in function.params if isinstance(param.type, DType) and param.type.kind == "f"}
    name = identifier(signature.name)
    sizes = {arg.name: arg.dims for arg in whole.args if isinstance(arg, ArrayArg)}
    tables = [
        ("Number", "numbers", [_number(each, placed, each in reals) for each in numbers]),
        ("Array", "arrays", [_array(each, kind, sizes, numbers, placed) for each, kind in arrays]),
        ("Grid", "grids", [_grid(placed, each, numbers) for each in placed.grids]),
    ]
    return render(
        "standalone.cpp.j2",
        on_ranks=on_ranks,
        name=name,
        prototype=prototype,
        function=function.name,
        passed=passed,
        tables=tables,
        declarations=(FOLDER / "standalone.h").read_text(encoding="utf-8"),
        main=(FOLDER / "standalone_main.h").read_text(encoding="utf-8"),
    )


def _number(name: str, placed: Sdfg, is_real: bool) -> str:
    for number, (grid, described) in enumerate(placed.grids.items()):
        coordinates = coordinate_names(grid, len(described.sizes))
        if name in coordinates:
            return f'{{"{name}", COORDINATE, {number}, {coordinates.index(name)}, false, 0, 0, false}}'
        if name in described.symbols:
            return f'{{"{name}", EXTENT, {number}, 0, false, 0, 0, false}}'
    kind = "GIVEN" if name in placed.arguments else "SIZE"
    return f'{{"{name}", {kind}, -1, 0, {str(is_real).lower()}, 0, 0, false}}'


def _array(name: str, kind: DType, sizes: Mapping[str, Sequence[Dim]], numbers: Sequence[str], placed: Sdfg) -> str:
    desc = placed.containers.get(name)
    if not isinstance(desc, Array) or kind.kind not in KINDS or name not in sizes:
        raise CodegenError(
            f"the argument {name!r} of {placed.name!r} is no array that a .npy file could hold",
            span=placed.span,
            help="arrays of numbers, in C order, can be arguments of a program of its own",
        )
    where = desc.distribution
    dims = [_dim(name, number, dim, where, numbers, placed) for number, dim in enumerate(sizes[name])]
    grid = list(placed.grids).index(where.grid) if where is not None else -1
    order = "|" if kind.itemsize == 1 else "<"
    word = f"{order}{kind.kind}{kind.itemsize}"
    shown = f"{{{', '.join(dims) or '{}'}}}"
    known = f'"{name}", "{word}", {kind.itemsize}, {len(dims)}, {grid}, {shown}'
    return f"{{{known}, nullptr, 0, {{}}, {{}}, {{}}, 0, nullptr}}"


def _dim(
    name: str, number: int, dim: Dim, where: Distribution | None, numbers: Sequence[str], placed: Sdfg
) -> str:
    """One dimension: its size, and how it is cut."""
    if dim.symbol and dim.symbol not in numbers:
        raise CodegenError(
            f"the length of dimension {number} of {name!r} follows from no argument of {placed.name!r}",
            span=placed.span,
            help="name sizes in annotations: float64[N, M]",
        )
    size = f"{numbers.index(dim.symbol)}, {dim.offset}" if dim.symbol else f"-1, {dim.constant}"
    axis = where.axes[number] if where is not None else None
    if where is not None and where.rest:
        raise _unread(name, where, placed)
    if axis is None:
        return f"{{{size}, WHOLE, 0, 0, 0}}"
    block = 0 if not isinstance(axis, Blocked) or axis.block is None else axis.block.constant
    if not isinstance(axis, Blocked) or axis.offset.constant is None or block is None:
        assert where is not None
        raise _unread(name, where, placed)
    return f"{{{size}, BLOCKS, {axis.axis}, {block}, {axis.offset.constant}}}"


def _unread(name: str, where: Distribution, placed: Sdfg) -> CodegenError:
    return CodegenError(
        f"files are read in balanced blocks, or in blocks of a number, and {name!r} is on {where}",
        span=placed.span,
        help="distribute arguments by `block`; the program may redistribute them",
    )


def _grid(placed: Sdfg, name: str, numbers: Sequence[str]) -> str:
    sizes = placed.grids[name].sizes
    known = [str(size.evaluate({})) if not size.symbols else "0" for size in sizes]
    told = [str(numbers.index(str(size))) if str(size) in numbers else "-1" for size in sizes]
    return f"{{{len(sizes)}, {{{', '.join(told)}}}, {{{', '.join(known)}}}, {{}}}}"

