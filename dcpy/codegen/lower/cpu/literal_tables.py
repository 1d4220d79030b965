"""Literal tables: numbers that are stored into elements in a row are data at file scope, copied at once.

    t[0] = 0.5;                 static const double f_literals[100] = {0.5, 1.5, ...};
    t[1] = 1.5;     becomes
    ...                         memcpy(t, f_literals, 100*sizeof(double));

A compiler takes a second for 1,500 statements, and no time for 1,500 numbers. Kernels and hardware keep statements:
they see no memory of the host, and choose ROMs themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.codegen.lir.expr import Aggregate, Infix, Intrinsic, Item, LirExpr, Literal, Name, Prefix, SizeOf, integer
from dcpy.codegen.lir.tree import Assign, Body, Compound, Evaluate, Statement, Table
from dcpy.codegen.lir.types import Basic, Pointer
from dcpy.codegen.lower.context import Context
from dcpy.ir.types import DType

LEAST = 32  #: elements in a row; fewer are stored as quickly by instructions that hold them


def with_literal_tables(context: Context, body: Sequence[Statement]) -> Body:
    """The body with copies of tables instead of long rows of stores of literals."""
    if not context.on_host:
        return tuple(body)
    found: list[Statement] = []
    row: list[Statement] = []
    for statement in body:
        if row and not _follows(row[-1], statement):
            found += _stored(context, row)
            row = []
        if isinstance(statement, Compound) and len(statement.body) >= LEAST:
            statement = Compound(with_literal_tables(context, statement.body), span=statement.span)
        row.append(statement)
    return (*found, *_stored(context, row))


def _follows(first: Statement, second: Statement) -> bool:
    """Return whether two statements store literals into an element and into the one behind it."""
    match first, second:
        case (
            Assign(target=Item(base=base, index=Literal(value=int(at)), type=dtype), value=value),
            Assign(target=Item(base=other, index=Literal(value=int(behind)), type=its), value=its_value),
        ):
            same = behind == at + 1 and base == other and dtype == its
            return same and _number(value) is not None and _number(its_value) is not None
    return False


def _number(value: LirExpr) -> bool | int | float | complex | None:
    match value:
        case Literal(value=number):
            return number
        case Aggregate(args=(Literal(value=float(real)), Literal(value=float(imaginary)))):
            return complex(real, imaginary)
    return None


def _stored(context: Context, row: list[Statement]) -> Sequence[Statement]:
    if len(row) < LEAST:
        return row
    first = row[0]
    assert isinstance(first, Assign)  # a longer row has nothing else
    assert isinstance(first.target, Item)
    base, dtype = first.target.base, first.target.type
    kind = base.type
    if not isinstance(dtype, DType) or not isinstance(kind, Pointer):
        return row
    values = tuple(number for each in row if isinstance(each, Assign) and (number := _number(each.value)) is not None)
    to = base if first.target.index == integer(0) else Prefix("&", first.target, kind)
    size = Infix("*", integer(len(values)), SizeOf(dtype, Basic.SIZE), Basic.SIZE)
    copy = Intrinsic("copy", (to, _table(context, dtype, values), size), Basic.VOID)
    return (Evaluate(copy, span=first.span),)


def _table(context: Context, dtype: DType, values: tuple[bool | int | float | complex, ...]) -> Name:
    """A table of a module, once for all that is equal to the bit."""
    name = context.module.literal_tables.get((dtype, repr(values)))
    if name is None:
        name = context.file_name(f"{context.sdfg.name}_literals")
        context.module.literal_tables[dtype, repr(values)] = name
        context.module.tables.append(Table(name, dtype, values))
    return Name(name, Pointer(dtype, const=True))
