"""SDFGs called in programs: ``sdfg(A=a, N=5)`` is a `Call` node, of a copy that other changes do not reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Value, is_number, kind_of, scalar_expr
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.functions import call_nodes
from dcpy.frontend.lower.name_binding import materialize, symbolic
from dcpy.ir import data
from dcpy.ir.data import Array, packed_strides
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

_RESULTS = ("array", "scalar", "python", "argument", "constant")


def call_sdfg(frame: Frame, found: Sdfg, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """The call, with arguments in order or by name; sizes may be given by name, too."""
    bound, sizes = _bound(frame, found, args, kwargs)
    _require_callable(found)
    materialize(frame)
    symbols = _symbols(frame, found, bound, sizes)
    callee = _copy(frame, found)
    written = call_nodes.written_containers(found, frame.program.callees.written_arguments)
    given = dict(bound)
    back: list[tuple[ArrayValue, ArrayValue]] = []
    arguments: dict[str, Memlet] = {}
    for name in found.arguments:
        desc = found.containers.get(name)
        if isinstance(desc, Array):
            given[name], copied = _array(frame, found, name, desc, bound[name], written=name in written)
            back += copied
            arguments[name] = frame.b.operand(given[name])  # type: ignore[arg-type]
        elif isinstance(desc, data.Scalar):
            number = _number(found, name, bound[name])
            arguments[name] = call_nodes.element(frame, Scalar(convert(scalar_expr(number), desc.dtype)))
    _require_apart(frame, found, given, written)
    passing = call_nodes.CallArguments(symbols=symbols)
    results = [call_nodes.result_of(frame, found, each, passing, given, arguments) for each in found.results]
    frame.emit.node(Call(callee, arguments, symbols))
    for original, passed in back:
        stores.store(frame.b, original, passed)
    return call_nodes.structured(found.structure if found.results else None, results)


def _bound(
    frame: Frame, found: Sdfg, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[dict[str, Value], dict[str, Expr]]:
    """Values of the arguments by name, and of symbols that are given beside."""
    if len(args) > len(found.arguments):
        raise FrontendError(f"{found.name}() takes {len(found.arguments)} arguments, but {len(args)} are given")
    bound = dict(zip(found.arguments, args, strict=False))
    sizes: dict[str, Expr] = {}
    for name, value in kwargs.items():
        if name in bound:
            raise FrontendError(f"{found.name}() got multiple values for argument {name!r}")
        if name in found.symbols and name not in found.arguments:
            sizes[name] = frame.b.integer(value, f"the symbol {name}")
        elif name in found.arguments:
            bound[name] = value
        else:
            raise FrontendError(
                f"{found.name}() got an unexpected keyword argument {name!r}",
                help=f"its arguments are {', '.join(found.arguments)}",
            )
    missing = [name for name in found.arguments if name not in bound]
    for name in [name for name in missing if name in found.symbols]:
        sizes[name] = symbolic(frame, sym(name))
    missing = [name for name in missing if name not in found.symbols]
    if missing:
        raise FrontendError(f"{found.name}() is missing the arguments {', '.join(missing)}")
    return bound, sizes


def _require_callable(found: Sdfg) -> None:
    strange = [result.kind for result in found.results if result.kind not in _RESULTS]
    if strange or getattr(found, "convention", None) is not None:
        raise FrontendError(
            f"the SDFG {found.name} returns {strange[0] if strange else 'an object'}, and is called in a program",
            notes=("only arrays and numbers can be passed",),
            help="call the function that it was made from",
        )


def _symbols(frame: Frame, found: Sdfg, bound: Mapping[str, Value], sizes: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return the values of the SDFG's symbols: passed by name, or implied by the sizes of arguments."""
    b, symbols = frame.b, dict(sizes)
    for name, value in bound.items():
        if name in found.symbols:
            symbols[name] = b.integer(value, f"the argument {name}")
    checks: list[tuple[Expr, Expr, str]] = []
    for name, value in bound.items():
        desc = found.containers.get(name)
        if not isinstance(desc, Array) or not isinstance(value, ArrayValue) or len(desc.shape) != value.rank:
            continue
        for wanted, size in zip(desc.shape, value.shape, strict=True):
            if wanted.name is not None and wanted.name not in symbols:
                symbols[wanted.name] = b.exact(size)
            else:
                checks.append((wanted, b.exact(size), name))
    for wanted, size, name in checks:
        message = f"{found.name}() takes {name!r} with a size of {wanted}, which is {{0}}, not {{1}}"
        b.same_size(wanted.subs(symbols), size, message, (wanted.subs(symbols), size))
    return symbols


def _copy(frame: Frame, found: Sdfg) -> Sdfg:
    """A copy with a name of its own, one for all calls of a program."""
    program = frame.program
    key = ("sdfg", id(found))
    if key not in program.callees.sdfgs:
        made = copy_sdfg(found)
        made.name = program.callees.fresh_name(found.name)
        program.callees.sdfgs[key] = made
    copied: Sdfg = program.callees.sdfgs[key]
    return copied


def _array(
    frame: Frame, found: Sdfg, name: str, desc: Array, value: Value, *, written: bool
) -> tuple[ArrayValue, list[tuple[ArrayValue, ArrayValue]]]:
    """The array as the SDFG takes it; where it has to be copied for that, what is copied back."""
    b = frame.b
    if not isinstance(value, ArrayValue) or value.dtype != desc.dtype or value.rank != len(desc.shape):
        raise FrontendError(
            f"{found.name}() takes {name!r} as an array {desc.dtype.annotation(desc.shape)}, not {kind_of(value)}",
            help=f"convert it: `x.astype(np.{desc.dtype.numpy_name})`" if isinstance(value, ArrayValue) else "",
        )
    if written:
        stores.require_writable(b, value)
    if desc.strides != packed_strides(desc.shape) or b.contiguous(value):
        return value, []
    copied = b.copy(value)
    return copied, [(value, copied)] if written else []


def _number(found: Sdfg, name: str, value: Value) -> Value:
    if isinstance(value, ArrayValue) and not value.shape:
        return Scalar(value.load(()))
    if not is_number(value):
        raise FrontendError(f"{found.name}() takes {name!r} as a number, not {kind_of(value)}")
    return value


def _require_apart(frame: Frame, found: Sdfg, given: Mapping[str, Value], written: frozenset[str]) -> None:
    arrays = {name: value for name, value in given.items() if isinstance(value, ArrayValue)}
    names = list(arrays)
    for position, name in enumerate(names):
        for other in names[:position]:
            one, two = found.containers[name], found.containers[other]
            declared = isinstance(one, Array) and isinstance(two, Array) and one.alias and one.alias == two.alias
            if not declared and {name, other} & written and frame.b.may_overlap(arrays[name], arrays[other]):
                raise FrontendError(
                    f"the arguments {other!r} and {name!r} of {found.name}() may share memory",
                    notes=(f"{found.name} was compiled for arrays that do not overlap, and writes one of them",),
                    help=f"pass a copy: `{name}=x.copy()`",
                )
