"""The verifier of LIR: operands have the types that operations are for, names are declared before they are used,
pointers stay in their memory and keep their promise not to write, calls fit the functions that they call.

Lowering makes LIR, so whatever is found here is a mistake of dcpy. Runs in tests, and where ``options.check`` is on.
Types of expressions are checked in `type_checking`, statements and declarations here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dcpy.base.errors import CodegenError
from dcpy.base.prototypes import Prototype
from dcpy.base.source import SrcSpan
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, LirExpr
from dcpy.codegen.lir.text import type_text
from dcpy.codegen.lir.type_checking import FunctionTypes, Types, agrees, is_place
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Fifo, LirType, Pointer, Reference
from dcpy.codegen.lir.verify_devices import host_problems, kernel_problems
from dcpy.ir.data import Space


@dataclass(frozen=True, slots=True)
class FunctionError:
    """Error in a function of the LIR, with the place in Python that it comes from."""

    function: str
    message: str
    span: SrcSpan | None = None

    def __str__(self) -> str:
        return f"{self.function}: {self.message}"


def require_valid(module: tree.Module, foreign: Mapping[str, Prototype | None]) -> None:
    """`CodegenError` with what is wrong in a module, if something is."""
    found = problems(module, foreign)
    if found:
        raise CodegenError(
            f"the lowered program is not valid: {found[0]}",
            span=found[0].span,
            notes=tuple(map(str, found[1:6])),
            help="this is a bug of dcpy: please report it with this message",
        )


def problems(module: tree.Module, foreign: Mapping[str, Prototype | None]) -> list[FunctionError]:
    """All that is wrong in a module; `foreign` has the functions of C that it may call."""
    known = {name: None if found is None else FunctionTypes.of_prototype(found) for name, found in foreign.items()}
    known |= {function.name: FunctionTypes.of_function(function) for function in module.declared}
    known |= {kernel.name: FunctionTypes.of_kernel(kernel) for kernel in module.kernels}
    outer = _globals(module)
    found: list[FunctionError] = []
    for function in module.functions:
        if known.get(function.name) is not None:  # words of foreign text need not be functions
            found.append(FunctionError(function.name, "declared twice", function.span))
        known[function.name] = FunctionTypes.of_function(function)
        found += _Checker(function, known, outer).problems()
        found += [FunctionError(function.name, message, span) for message, span in host_problems(function)]
    for kernel in module.kernels:
        run = tree.Function(kernel.name, Basic.VOID, kernel.params, kernel.body, span=kernel.span)
        found += _Checker(run, known, outer, in_kernel=True).problems()
        found += [FunctionError(kernel.name, message, span) for message, span in kernel_problems(kernel)]
    return found


def _globals(module: tree.Module) -> dict[str, LirType]:
    """The names at file scope: the thread's ``error``, slots of kept buffers, tables."""
    names: dict[str, LirType] = {"error": Pointer(INDEX)} if module.reports_errors else {}
    names |= dict.fromkeys(module.slots, Pointer(Basic.BYTE))
    return names | {table.name: Pointer(table.type, const=True) for table in module.tables}


@dataclass
class _VisibleNames:
    """Names of a body and of those around it. `attempts`: what may be left; `loops`: whether there is one to leave."""

    names: dict[str, LirType]
    own: set[str] = field(default_factory=set)
    attempts: tuple[str, ...] = ()
    in_loop: bool = False

    def inside(self, *, attempt: str = "", loop: bool = False) -> _VisibleNames:
        attempts = (*self.attempts, attempt) if attempt else self.attempts
        return _VisibleNames(dict(self.names), set(), attempts, self.in_loop or loop)


class _Checker:
    """The check of one function."""

    def __init__(
        self,
        function: tree.Function,
        known: Mapping[str, FunctionTypes | None],
        outer: Mapping[str, LirType],
        *,
        in_kernel: bool = False,
    ) -> None:
        self.in_kernel = in_kernel
        self.function = function
        self.types = Types(known)
        self.outer = outer
        self.found: list[FunctionError] = []
        self.span = function.span

    def problems(self) -> list[FunctionError]:
        scope = _VisibleNames(dict(self.outer))
        for param in self.function.params:
            self.declare(scope, param.name, param.type)
            if param.restrict and not isinstance(param.type, Pointer):
                self.report(f"{param.name!r} is no pointer, and restrict")
        self.body(self.function.body, scope)
        return self.found

    def report(self, message: str) -> None:
        self.found.append(FunctionError(self.function.name, message, self.span))

    def declare(self, scope: _VisibleNames, name: str, kind: LirType) -> None:
        """A new variable of a scope."""
        if name in scope.own:
            self.report(f"{name!r} is declared twice")
        scope.own.add(name)
        scope.names[name] = kind.element if isinstance(kind, Reference) else kind

    def body(self, body: tree.Body, scope: _VisibleNames) -> None:
        for statement in body:
            self.span = statement.span or self.span
            check = _STATEMENTS.get(type(statement))
            if check is None:
                self.report(f"nobody checks a {type(statement).__name__}")
            else:
                check(self, statement, scope)

    def typed(self, expr: LirExpr, scope: _VisibleNames) -> LirType:
        """The type of an expression, whose parts are checked."""
        for message in self.types.problems(expr, scope.names):
            self.report(message)
        return expr.type

    def expect(self, expr: LirExpr, wanted: LirType, scope: _VisibleNames, what: str) -> None:
        """An expression of a type."""
        given = self.typed(expr, scope)
        if not agrees(given, wanted):
            self.report(f"{what} is {type_text(given)}, not {type_text(wanted)}")

    def number(self, expr: LirExpr, scope: _VisibleNames, what: str) -> None:
        self.expect(expr, INDEX, scope, what)

    # -- variables ---------------------------------------------------------------------------------------------

    def check_declare(self, s: tree.Declare, scope: _VisibleNames) -> None:
        if s.value is not None:
            self.expect(s.value, s.type, scope, f"the value of {s.name!r}")
        if s.restrict and not isinstance(s.type, Pointer):
            self.report(f"{s.name!r} is no pointer, and restrict")
        self.declare(scope, s.name, s.type)

    def check_heap(self, s: tree.HeapBuffer, scope: _VisibleNames) -> None:
        self.number(s.count, scope, f"the count of {s.name!r}")
        if s.kept and s.kept not in self.outer:
            self.report(f"the slot {s.kept!r} is not declared")
        self.declare(scope, s.name, Pointer(s.element))

    def check_stack(self, s: tree.StackBuffer, scope: _VisibleNames) -> None:
        if s.count < 1:
            self.report(f"{s.name!r} has {s.count} elements")
        self.declare(scope, s.name, Pointer(s.element))

    def check_grow(self, s: tree.Grow, scope: _VisibleNames) -> None:
        if not isinstance(scope.names.get(s.name), Pointer):
            self.report(f"{s.name!r} is no buffer")
        for count in (s.kept, s.count):
            self.number(count, scope, f"a count of {s.name!r}")

    def check_queues(self, s: tree.Queues, scope: _VisibleNames) -> None:
        for count in (s.count, s.capacity):
            self.number(count, scope, f"a count of {s.name!r}")
        self.declare(scope, s.name, Pointer(Fifo(s.element)))

    # -- effects -----------------------------------------------------------------------------------------------

    def place(self, target: LirExpr, scope: _VisibleNames) -> LirType:
        """Check that `target` can be written to, and return its type."""
        kind = self.typed(target, scope)
        problem = is_place(target)
        if problem:
            self.report(problem)
        return kind

    def check_assign(self, s: tree.Assign, scope: _VisibleNames) -> None:
        self.expect(s.value, self.place(s.target, scope), scope, "what is assigned")

    def check_update(self, s: tree.Update, scope: _VisibleNames) -> None:
        kind = self.place(s.target, scope)
        if not agrees(kind, s.op.dtype):
            self.report(f"{s.op} updates {type_text(kind)}")
        self.expect(s.value, s.op.dtype, scope, f"what {s.op} combines")

    def check_evaluate(self, s: tree.Evaluate, scope: _VisibleNames) -> None:
        self.typed(s.call, scope)

    def check_team(self, s: tree.TeamCall, scope: _VisibleNames) -> None:
        self.expect(s.call, Basic.VOID, scope, "what a team calls")
        if s.condition is not None:
            self.expect(s.condition, TRUTH, scope, "the condition of a team")

    def check_network(self, s: tree.ProcessNetwork, scope: _VisibleNames) -> None:
        self.declare(scope, s.name, Basic.VOID)

    def check_spawn(self, s: tree.Spawn, scope: _VisibleNames) -> None:
        for name in (s.network, *s.params):
            if name not in scope.names:
                self.report(f"{name!r} is not declared")
        self.expect(s.call, STATUS, scope, "what a process returns")

    def check_run(self, s: tree.Run, scope: _VisibleNames) -> None:
        if s.network not in scope.names:
            self.report(f"{s.network!r} is not declared")
        self.expect(s.no_threads, STATUS, scope, "a status")
        self.declare(scope, s.name, STATUS)

    # -- control flow ------------------------------------------------------------------------------------------

    def check_block(self, s: tree.Compound, scope: _VisibleNames) -> None:
        self.body(s.body, scope.inside())

    def check_attempt(self, s: tree.Attempt, scope: _VisibleNames) -> None:
        if s.name in scope.attempts:
            self.report(f"the attempt {s.name!r} is inside one of its name")
        self.body(s.body, scope.inside(attempt=s.name))

    def check_loop(self, s: tree.Loop, scope: _VisibleNames) -> None:
        for bound in (s.start, s.stop, s.step):
            self.expect(bound, s.index, scope, f"a bound of {s.var!r}")
        for reduction in s.reductions:
            kind = scope.names.get(reduction.name)
            if kind is None or not agrees(kind, reduction.op.dtype):
                self.report(f"{reduction.op} folds into {reduction.name!r}, which is no {reduction.op.dtype}")
        inside = scope.inside(loop=True)
        self.declare(inside, s.var, s.index)
        self.body(s.body, inside)

    def check_while(self, s: tree.While, scope: _VisibleNames) -> None:
        self.expect(s.condition, TRUTH, scope, "the condition of a loop")
        self.body(s.body, scope.inside(loop=True))

    def check_if(self, s: tree.If, scope: _VisibleNames) -> None:
        for condition, body in s.cases:
            self.expect(condition, TRUTH, scope, "a condition")
            self.body(body, scope.inside())
        self.body(s.otherwise, scope.inside())

    def check_fail(self, s: tree.CheckFail, scope: _VisibleNames) -> None:
        self.expect(s.condition, TRUTH, scope, "the condition of a check")
        self.expect(s.number, STATUS, scope, "the number of a check")
        for value in (*s.values, *s.order):
            self.number(value, scope, "a number of a check")
        most = 5 if self.in_kernel else int(bool(s.leaves))
        if bool(s.order) != bool(most) or len(s.order) > most:
            numbers = f"here are {len(s.order)} numbers of one"
            self.report(f"a check in a kernel or in a parallel map has an order, others have none; {numbers}")
        if len(s.values) > 4:
            self.report(f"a check has {len(s.values)} numbers")
        if s.status is not None:
            self.expect(s.status, Pointer(STATUS), scope, "where a failure is kept")
        elif self.function.result != STATUS and not self.in_kernel:
            self.report(f"a failed check leaves a function that returns {type_text(self.function.result)}")
        if s.leaves and s.leaves not in scope.attempts:
            self.report(f"a failed check leaves {s.leaves!r}, which is not around it")
        if self.in_kernel:
            if scope.names.get("errors") != Pointer(INDEX, space=Space.GLOBAL) or not s.leaves or s.warning:
                self.report("a check in a kernel tells the device, and leaves an attempt")
        elif (not s.forwarded or s.status is not None) and scope.names.get("error") != Pointer(INDEX):
            self.report("a check has nowhere to keep its numbers")

    def check_return(self, s: tree.Return, scope: _VisibleNames) -> None:
        if s.value is None:
            if self.function.result is not Basic.VOID:
                self.report(f"returns nothing, not {type_text(self.function.result)}")
            return
        self.expect(s.value, self.function.result, scope, "what is returned")

    # -- devices -----------------------------------------------------------------------------------------------

    def check_device_buffer(self, s: tree.DeviceBuffer, scope: _VisibleNames) -> None:
        self.number(s.count, scope, f"the count of {s.name!r}")
        self.declare(scope, s.name, Pointer(s.element, space=Space.GLOBAL))

    def check_shared(self, s: tree.SharedBuffer, scope: _VisibleNames) -> None:
        if s.count < 1:
            self.report(f"{s.name!r} has {s.count} elements")
        self.declare(scope, s.name, Pointer(s.element, space=Space.SHARED))

    def check_barrier(self, s: tree.BlockBarrier, scope: _VisibleNames) -> None:
        """Accept every barrier: `verify_devices` checks the places of barriers for all threads together."""

    def check_transfer(self, s: tree.Transfer, scope: _VisibleNames) -> None:
        self.expect(s.size, Basic.SIZE, scope, "the size of a transfer")
        self._ends(s.to, s.source, scope)

    def check_box(self, s: tree.TransferBox, scope: _VisibleNames) -> None:
        for number in (*s.shape, *s.to_strides, *s.source_strides):
            self.number(number, scope, "a size of a transfer")
        if not len(s.shape) == len(s.to_strides) == len(s.source_strides):
            self.report("a transfer has so many sizes, and other numbers of strides")
        self._ends(s.to, s.source, scope)

    def _ends(self, to: LirExpr, source: LirExpr, scope: _VisibleNames) -> None:
        kinds = self.typed(to, scope), self.typed(source, scope)
        if not all(isinstance(kind, Pointer) for kind in kinds):
            self.report(f"a transfer from {type_text(kinds[1])} to {type_text(kinds[0])}")
        elif isinstance(kinds[0], Pointer) and kinds[0].const:
            self.report(f"{type_text(kinds[0])} is written, but its pointer is const")

    def check_launch(self, s: tree.Launch, scope: _VisibleNames) -> None:
        for number in s.blocks:
            self.number(number, scope, f"a number of blocks of {s.kernel!r}")
        self.typed(Call(s.kernel, s.args, Basic.VOID), scope)
        if s.fits is not None:
            self.expect(s.fits, TRUTH, scope, f"where {s.small!r} runs")
            self.typed(Call(s.small, s.args, Basic.VOID), scope)

    def check_leave(self, s: tree.Break | tree.Continue, scope: _VisibleNames) -> None:
        if not scope.in_loop:
            self.report(f"a {type(s).__name__.lower()} outside of loops")


_STATEMENTS: dict[type, Callable[[_Checker, Any, _VisibleNames], None]] = {
    tree.Declare: _Checker.check_declare, tree.HeapBuffer: _Checker.check_heap,
    tree.StackBuffer: _Checker.check_stack, tree.Grow: _Checker.check_grow, tree.Queues: _Checker.check_queues,
    tree.Assign: _Checker.check_assign, tree.Update: _Checker.check_update,
    tree.Evaluate: _Checker.check_evaluate, tree.TeamCall: _Checker.check_team,
    tree.ProcessNetwork: _Checker.check_network, tree.Spawn: _Checker.check_spawn, tree.Run: _Checker.check_run,
    tree.Compound: _Checker.check_block, tree.Attempt: _Checker.check_attempt, tree.Loop: _Checker.check_loop,
    tree.While: _Checker.check_while, tree.If: _Checker.check_if, tree.CheckFail: _Checker.check_fail,
    tree.Return: _Checker.check_return, tree.Break: _Checker.check_leave, tree.Continue: _Checker.check_leave,
    tree.DeviceBuffer: _Checker.check_device_buffer, tree.SharedBuffer: _Checker.check_shared,
    tree.BlockBarrier: _Checker.check_barrier, tree.Transfer: _Checker.check_transfer,
    tree.TransferBox: _Checker.check_box, tree.Launch: _Checker.check_launch,
}  # fmt: skip
