"""Checks of kernels of hardware, which start processes: what each is given is what it takes, and nothing is missing.

`verify` looks at the processes. A symbol that a process uses is a parameter of its kernel, no parameter is unused,
and each queue has two ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dcpy.base.errors import CodegenError
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Item, LirExpr, Name
from dcpy.codegen.lir.text import expr_text, type_text
from dcpy.codegen.lir.traversal import parts
from dcpy.codegen.lir.type_checking import agrees
from dcpy.codegen.lir.types import Fifo, LirType, Pointer, Reference


def require_networks(kernels: Sequence[tree.Function], functions: Sequence[tree.Function]) -> None:
    """`CodegenError` with what is wrong in kernels, if something is."""
    for kernel in kernels:
        found = list(network_problems(kernel, functions))
        if found:
            raise CodegenError(
                f"the lowered program is not valid: {kernel.name}: {found[0]}",
                span=kernel.span,
                notes=tuple(found[1:6]),
                help="this is a bug of dcpy: please report it with this message",
            )


def network_problems(kernel: tree.Function, functions: Sequence[tree.Function]) -> Iterator[str]:
    """Yield the errors in a kernel that starts these functions."""
    known = {function.name: function for function in functions}
    queues = {one.name: one for one in kernel.body if isinstance(one, tree.Queues)}
    params = {param.name: _plain(param.type) for param in kernel.params}
    taken: set[str] = set()
    ends: Counter[str] = Counter()
    for spawn in [statement for statement in kernel.body if isinstance(statement, tree.Spawn)]:
        args = spawn.call.args
        taken.update(name for arg in args for name in _names(arg))
        ends.update(expr_text(arg) for arg in args if isinstance(arg.type, Fifo))
        function = known.get(spawn.call.function)
        if function is None:
            yield f"the process {spawn.call.function!r} is not there"
        else:
            yield from _unlike(function, args)
        for arg in args:
            yield from _unknown(arg, params, queues)
    yield from (f"nobody takes the parameter {name!r}" for name in params if name not in taken)
    for queue, count in ends.items():
        if count > 2 or (count < 2 and queue in queues):  # at an end of a chain of copies a queue is unused
            yield f"the queue {queue!r} has {count} ends"


def _unlike(function: tree.Function, args: Sequence[LirExpr]) -> Iterator[str]:
    """Yield the differences between the arguments and the parameters of a process."""
    if len(args) != len(function.params):
        yield f"{function.name!r} takes {len(function.params)} arguments, and gets {len(args)}"
    for param, arg in zip(function.params, args, strict=False):
        kind = _plain(param.type)
        if not agrees(arg.type, kind):
            yield f"{param.name!r} of {function.name!r} is {type_text(kind)}, and gets {type_text(arg.type)}"


def _plain(kind: LirType) -> LirType:
    return kind.element if isinstance(kind, Reference) else kind


def _names(arg: LirExpr) -> Iterator[str]:
    yield from (part.name for part in parts(arg) if isinstance(part, Name))


def _unknown(arg: LirExpr, params: Mapping[str, LirType], queues: Mapping[str, tree.Queues]) -> Iterator[str]:
    for part in parts(arg):
        match part:
            case Name(name=name) if name not in params and name not in queues:
                yield f"{name!r} is neither a parameter nor a queue"
            case Name(name=name, type=kind) if name in params and kind != params[name]:
                yield f"the parameter {name!r} is {type_text(params[name])}, and used as {type_text(kind)}"
            case Item(base=Name(name=name, type=Pointer()), type=Fifo()) if name not in queues:
                yield f"{name!r} is no array of queues"
