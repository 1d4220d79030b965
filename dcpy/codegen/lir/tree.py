"""Statements of LIR. Frozen; a body is a tuple of statements.

`span` is the Python place a statement came from; the emitter prints it where it changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Union

from dcpy.base.former_names import former_names
from dcpy.base.source import SrcSpan
from dcpy.codegen.lir.expr import Call, Intrinsic, LirExpr, Name
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.types import INDEX, SMALL_INDEX, Lanes, LirType
from dcpy.ir.expressions.scalar import Number
from dcpy.ir.types import DType

Statement = Union[
    "Compound", "Attempt", "Declare", "Assign", "Update", "Evaluate", "Loop", "While", "If", "TeamCall", "HeapBuffer",
    "Grow",
    "StackBuffer", "Queues", "ProcessNetwork", "Spawn", "Run", "CheckFail", "Return", "Break", "Continue",
    "DeviceBuffer", "Transfer", "TransferBox", "Launch", "SharedBuffer", "BlockBarrier",
]  # fmt: skip
Body = tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    span: SrcSpan | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Compound(_Placed):
    """Statements with a scope of their own."""

    body: Body


@dataclass(frozen=True, slots=True)
class Attempt(_Placed):
    """Statements with a scope of their own, that a failed check inside leaves by this name."""

    name: str
    body: Body


@dataclass(frozen=True, slots=True)
class Declare(_Placed):
    """A local variable, with its value if it has one yet. `restrict`: nothing else points where it points."""

    name: str
    type: LirType
    value: LirExpr | None = None
    constant: bool = False
    restrict: bool = False


@dataclass(frozen=True, slots=True)
class Assign(_Placed):
    """``target = value``."""

    target: LirExpr
    value: LirExpr


@dataclass(frozen=True, slots=True)
class Update(_Placed):
    """``target = op(target, value)``. `atomic` lets no other thread in between."""

    target: LirExpr
    value: LirExpr
    op: ReductionOperator
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Evaluate(_Placed):
    """A call for its effect."""

    call: Call | Intrinsic


@dataclass(frozen=True, slots=True)
class Divided:
    """The iterations of so many loops, this one and those directly inside, are divided among the threads of the team.

    In pieces of `chunk` iterations by turns; 0: one piece for each thread.
    """

    collapse: int = 1
    chunk: int = 0


@dataclass(frozen=True, slots=True)
class Simd:
    """Several iterations in one vector instruction: so many; 0: the machine's number."""

    lanes: int = 0


@dataclass(frozen=True, slots=True)
class Unroll:
    """The body is written out so many times."""

    factor: int


@dataclass(frozen=True, slots=True)
class Pipelined:
    """An iteration starts every `ii` cycles, and gives what it computes `depth` cycles later (hardware).

    `bound` says what asks for the interval, if more than a wish for one. In a `parallel` loop no iteration needs what
    another one computes, but for what they combine. `nest` has the loops that have become this one, the outermost one
    first: their variables count as an odometer does. `apart` has arrays of which iterations that meet at an element are
    so many apart, or more; 0: none meet.
    """

    ii: int
    style: str
    depth: int = 1
    bound: str = ""
    parallel: bool = False
    nest: tuple[Loop, ...] = ()
    apart: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Reduction:
    """A variable into which each thread or lane of a loop folds its own copy."""

    op: ReductionOperator
    name: str


Mark = Divided | Simd | Unroll | Pipelined | Reduction  #: how a loop runs: decided before, spelled by the dialect


@dataclass(frozen=True, slots=True)
class Loop(_Placed):
    """``for var in range(start, stop, step)``: upwards unless `down`; a `step` of unknown sign has `down` None.

    In kernels the variable may be a small index, as its bounds are.
    """

    var: str
    start: LirExpr
    stop: LirExpr
    step: LirExpr
    body: Body
    down: bool | None = False
    marks: tuple[Mark, ...] = ()

    @property
    def index(self) -> DType:
        """The type of the variable."""
        return SMALL_INDEX if self.start.type == SMALL_INDEX else INDEX

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        """The variables that are folded into."""
        return tuple(mark for mark in self.marks if isinstance(mark, Reduction))


@dataclass(frozen=True, slots=True)
class While(_Placed):
    """Runs as long as `condition` holds."""

    condition: LirExpr
    body: Body


@dataclass(frozen=True, slots=True)
class If(_Placed):
    """The first case whose condition holds, else `otherwise`."""

    cases: tuple[tuple[LirExpr, Body], ...]
    otherwise: Body = ()


@dataclass(frozen=True, slots=True)
class TeamCall(_Placed):
    """A call by all threads where `condition` holds (None: always), else by this one alone.

    `changed`: the positions of arguments that are variables, and that the call changes.
    """

    call: Call
    condition: LirExpr | None = None
    changed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class HeapBuffer(_Placed):
    """``name`` points to `count` new elements until the scope is left. `kept`: the slot of one that outlives calls."""

    name: str
    element: LirType
    count: LirExpr
    kept: str = ""
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Grow(_Placed):
    """The buffer of ``name`` becomes one of `count` elements; its first `kept` ones stay."""

    name: str
    element: LirType
    kept: LirExpr
    count: LirExpr


@dataclass(frozen=True, slots=True)
class ArrayPartition:
    """Array partition in hardware: into `factor` pieces, ``cyclic`` or ``block``; ``complete``: into its elements."""

    style: str
    factor: int


@dataclass(frozen=True, slots=True)
class StackBuffer(_Placed):
    """A local array of constant size."""

    name: str
    element: LirType
    count: int
    cut: ArrayPartition | None = None


@dataclass(frozen=True, slots=True)
class Queues(_Placed):
    """``name`` points to `count` empty queues until the scope is left, for `capacity` elements each (0: any number)."""

    name: str
    element: DType | Lanes
    count: LirExpr
    capacity: LirExpr


@dataclass(frozen=True, slots=True)
class ProcessNetwork(_Placed):
    """A set of processes under a name, empty at first."""

    name: str


@dataclass(frozen=True, slots=True)
class Spawn(_Placed):
    """Adds a process to a network: a call, whose result is its status. `params` have the values of now, other
    variables those of when it runs."""

    network: str
    call: Call
    endless: bool = False
    params: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run(_Placed):
    """Runs all processes of a network at the same time: `name` is the status of the one that counts, or 0.

    `no_threads`: the status where they cannot be started.
    """

    name: str
    network: str
    no_threads: LirExpr


@dataclass(frozen=True, slots=True)
class CheckFail(_Placed):
    """Report of a failed check: if `condition` holds, the check `number` (from 1) fails, with up to four integers.

    Without `status` the function returns the number. With it the first failure is kept in the variable it points to,
    and the program goes on behind the attempt that it `leaves`; or right here, where that is "": a warning. The
    integers go to where ``error`` points: the thread's own four, or a parameter. A `forwarded` failure of a callee has
    left them in the thread's own. In a parallel map the failure of the lowest iteration is kept: `order` is its number.
    In a kernel the device keeps the first failure of all threads, in the `order` of the program: the kernel's number, a
    step of it, and up to three that name the iteration of a map.
    """

    condition: LirExpr
    number: LirExpr
    values: tuple[LirExpr, ...] = ()
    status: LirExpr | None = None
    leaves: str = ""
    forwarded: bool = False
    order: tuple[LirExpr, ...] = ()

    @property
    def warning(self) -> bool:
        """Return whether the program goes on as if nothing had happened."""
        return self.status is not None and not self.leaves


@dataclass(frozen=True, slots=True)
class Return(_Placed):
    """Leave the function."""

    value: LirExpr | None = None


@dataclass(frozen=True, slots=True)
class Break(_Placed):
    """Leave the innermost loop."""


@dataclass(frozen=True, slots=True)
class Continue(_Placed):
    """The next iteration of the innermost loop."""


# -- the host's side of a device ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeviceBuffer(_Placed):
    """``name`` points to `count` new elements in the memory of the device until the scope is left."""

    name: str
    element: LirType
    count: LirExpr


@dataclass(frozen=True, slots=True)
class Transfer(_Placed):
    """So many bytes from one memory to another, or within that of the device: after the device's earlier commands."""

    to: LirExpr
    source: LirExpr
    size: LirExpr


@dataclass(frozen=True, slots=True)
class TransferBox(_Placed):
    """A box of elements from one memory to another: each side with strides of its own, in elements."""

    to: LirExpr
    source: LirExpr
    element: LirType
    shape: tuple[LirExpr, ...]
    to_strides: tuple[LirExpr, ...]
    source_strides: tuple[LirExpr, ...]


@dataclass(frozen=True, slots=True)
class Launch(_Placed):
    """Runs a kernel on a grid of blocks of threads, along z, y and x. Where a number of blocks is 0, nothing runs.

    Where `fits` holds, the kernel `small` runs in its place, which has the same parameters.
    """

    kernel: str
    blocks: tuple[LirExpr, LirExpr, LirExpr]
    threads: tuple[int, int, int]
    args: tuple[LirExpr, ...]
    small: str = ""
    fits: LirExpr | None = None


# -- inside of kernels ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SharedBuffer(_Placed):
    """An array of constant size that the threads of a block share."""

    name: str
    element: LirType
    count: int


@dataclass(frozen=True, slots=True)
class BlockBarrier(_Placed):
    """All threads of a block wait here for each other, and then see each other's writes."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. `restrict`: nothing else points where it points."""

    name: str
    type: LirType
    restrict: bool = False

    @property
    def ref(self) -> Name:
        """The parameter as an expression."""
        return Name(self.name, self.type)


@dataclass(frozen=True, slots=True)
class Function:
    """A function; `exported` ones have C linkage, the others are of this unit alone.

    `inline` is off where a copy in each caller costs the compiler's time and gains nothing. `starts`: no function calls
    it, it runs again and again by itself (a kernel of hardware).
    """

    name: str
    result: LirType
    params: tuple[Parameter, ...]
    body: Body
    exported: bool = False
    inline: bool = True
    span: SrcSpan | None = field(default=None, compare=False)
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of a device, which the threads of a grid run: blocks of so many `threads`, along z, y and x.

    `small_of`: the kernel whose version for small sizes this is; `indices` says how wide its indices are, and why.
    """

    name: str
    params: tuple[Parameter, ...]
    body: Body
    threads: tuple[int, int, int]
    small_of: str = ""
    indices: str = field(default="", compare=False)
    span: SrcSpan | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Table:
    """A constant array at file scope."""

    name: str
    type: DType
    values: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True)
class Module:
    """A translation unit: what it declares, and its functions in the order in which they must stand.

    `combinations` are those of its reductions. `reports_errors`: the thread's own ``error`` holds four integers.
    `declared` are functions that other units export, without their bodies. `kernels` are of a unit for a device,
    `channels` are queues between functions of hardware that are kernels of their own.
    """

    name: str
    functions: tuple[Function, ...]
    combinations: tuple[ReductionOperator, ...] = ()
    tables: tuple[Table, ...] = ()
    slots: tuple[str, ...] = ()
    reports_errors: bool = False
    declared: tuple[Function, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    channels: tuple[Queues, ...] = ()


def with_span(statement: Statement, span: SrcSpan | None) -> Statement:
    """The statement, placed at `span` unless it has a place."""
    return statement if statement.span is not None or span is None else replace(statement, span=span)

if not TYPE_CHECKING:  # with a `__getattr__`, a type checker would believe any name
    __getattr__ = former_names(
        __name__, {"Barrier": "BlockBarrier", "Cut": "ArrayPartition", "Network": "ProcessNetwork", "Team": "TeamCall"}
    )
