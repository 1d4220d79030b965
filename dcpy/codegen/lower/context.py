"""State of lowering during its walk over an SDFG: names, places of containers, ranges of symbols, statements so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dcpy.base.callback_sites import CallbackSite
from dcpy.base.errors import CodegenError
from dcpy.base.library_environment import Environment
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.source import SrcSpan
from dcpy.codegen import artifact
from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir.expr import Infix, Item, LirExpr, Literal, Name, Prefix, integer
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.tree import CheckFail, Declare, Function, Kernel, Module, Statement, Table, with_span
from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Pointer
from dcpy.codegen.lower.declaration_placement import DeclarationPlacement, plan_placement
from dcpy.codegen.lower.device_properties import DeviceProperties, KernelScope
from dcpy.codegen.lower.expressions.large_numbers import NumberTooLarge
from dcpy.codegen.lower.expressions.size_subexpressions import ExtentsByName
from dcpy.codegen.lower.expressions.symbolic import lower_atom, lower_symbolic
from dcpy.codegen.lower.storage_locations import StorageLocation
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.value_ranges import free_ranges
from dcpy.ir.data import Data
from dcpy.ir.editing.container_descriptions import description, readable
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map
from dcpy.ir.region import Region
from dcpy.ir.schedules import Parallel
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import ZERO, Expr, Ranges, sym
from dcpy.ir.symbolic.expr import Atom
from dcpy.ir.symbolic.intervals import SymbolIntervals
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A variable, or an element for each lane, that stands for a location of conflict resolution while a loop runs.

    Vectors fold integers instead of some values, and the parts of complex ones (the imaginary one in `imag`): of these
    the dtype is `stands_for`.
    """

    variable: Name | Item
    dtype: DType
    op: str
    stands_for: DType | None = None
    imag: Name | None = None

    @property
    def variables(self) -> tuple[Name, ...]:
        """All variables that fold."""
        return tuple(each for each in (self.variable, self.imag) if isinstance(each, Name))


@dataclass(frozen=True, slots=True)
class ParallelScope:
    """A map whose iterations run at the same time, as seen by writes inside it."""

    map: Map
    inner_symbols: frozenset[str]  # parameters and assigned symbols that differ between or within its iterations
    label: str
    tiles: Mapping[str, str]  # parameters further in that walk through a tile of one of the map's

    @property
    def iteration(self) -> Expr:
        """The number of an iteration, in the order of the map; those that one thread runs in a row may share it."""
        schedule = self.map.schedule
        collapse = max(schedule.collapse, 1) if isinstance(schedule, Parallel) else 1
        number: Expr = ZERO
        for param, values in list(zip(self.map.params, self.map.domain, strict=True))[:collapse]:
            number = number * values.size + (sym(param) - values.start) // values.step
        return number


@dataclass(frozen=True, slots=True)
class OwnedResult:
    """The two parameters of a result that the program allocates: where its pointer goes, and its sizes."""

    pointer: Name
    shape: Name


#: inside the function of a parallel map: where the first failure and the first warning of its team are kept
FAILURE, WARNING = Name("failure", Pointer(STATUS)), Name("warning", Pointer(STATUS))
#: the function of a called SDFG for one shape of call (`calls.CallShape`), and whether it may warn
CalleeFunction = Callable[[Sdfg, Any], tuple[str, bool]]


def declarations_of(known: Mapping[str, Environment]) -> str:
    """The C text that environments need before what calls them."""
    return "\n".join(found.declarations for found in known.values())


@dataclass
class ModuleContext:
    """State that the functions of one file share."""

    name: str  # of the typed function for C
    base: str  # of its entries: BASE_entry, ...
    options: CpuOptions
    names: Names
    known_environments: Mapping[str, Environment] = field(default_factory=dict)  # where foreign functions are
    costs: Costs = COSTS  # of the machine: what counts as an iteration of a nest depends on them
    device: DeviceProperties = field(default_factory=DeviceProperties)  # `device_lowering.device_of` asks it
    functions: list[Function] = field(default_factory=list)
    checks: dict[artifact.Check, int] = field(default_factory=dict)
    callbacks: list[CallbackSite] = field(default_factory=list)
    combinations: dict[ReductionOperator, None] = field(default_factory=dict)  # of reductions
    tables: list[Table] = field(default_factory=list)
    literal_tables: dict[tuple[DType, str], str] = field(default_factory=dict)  # their names, by type and text
    slots: list[str] = field(default_factory=list)
    environments: dict[str, None] = field(default_factory=dict)
    callees: dict[tuple[object, ...], tuple[str, bool]] = field(default_factory=dict)
    interruptible: bool = False  # loops ask whether a signal has come
    moves_arrays: bool = False  # copies whose source nothing reads afterwards
    threads: bool = False
    processes: bool = False
    kernels: list[Kernel] = field(default_factory=list)  # that the host launches
    callee_function: CalleeFunction | None = None  # set by `module`, which lowers whole SDFGs

    @property
    def declarations(self) -> str:
        """The C text of foreign functions that will stand before those of the file."""
        return declarations_of(self.known_environments)

    def finished(self) -> Module:
        """Return the lowered functions as a translation unit."""
        return Module(
            self.name,
            tuple(self.functions),
            tuple(self.combinations),
            tuple(self.tables),
            tuple(self.slots),
            reports_errors=bool(self.checks),
            kernels=tuple(self.kernels),
        )

    @property
    def program(self) -> str:
        """The function that does the work. Static: a call of an exported ``random`` would reach the C library's."""
        return f"{self.base}_program"

    def check_number(self, exception: str, message: str, span: SrcSpan | None) -> int:
        """The number, from 1, under which a check is reported."""
        return self.checks.setdefault(artifact.Check(exception, message, span), len(self.checks) + 1)


class Context:
    """The lowering of one SDFG into one C function (and those of its parallel maps)."""

    def __init__(
        self,
        sdfg: Sdfg,
        module: ModuleContext,
        reserved: frozenset[str],
        *,
        shared_writes: bool = False,
        owned_results: Iterable[str] = (),
    ) -> None:
        self.sdfg = sdfg
        self.module = module
        self.names = Names(reserved)
        for name in _names_of(sdfg):  # all of them first: what lowering invents must differ
            self.names.of(name)
        self.uses = Uses(sdfg)
        self.owned_results: dict[str, OwnedResult | None] = dict.fromkeys(
            owned_results
        )  # results that the program allocates
        self.placement: DeclarationPlacement = plan_placement(sdfg, self.uses, self.owned_results)
        self.locations: dict[str, StorageLocation] = {}
        self.ranges = free_ranges(sdfg)
        self.size_intervals: SymbolIntervals | None = None  # by what is known now, for `size_arithmetic`
        self.named_extents: ExtentsByName | None = None  # what has a name, while the body of a function is lowered
        self.accumulators: dict[Memlet, Accumulator] = {}
        self.lanes: dict[Memlet, LirExpr] = {}  # elements that a vector stands for
        self.parallel: ParallelScope | None = None
        self.team_polling: tuple[Name, int] | None = None  # how the loops of a team ask about signals: pace, check
        self.kernel: KernelScope | None = None
        self.on_host = module.device.is_host  # what is lowered runs on a processor of this machine
        self.process = ""  # the name of the process that is lowered
        self.array_sizes: frozenset[str] = frozenset()  # symbols that are sizes of the caller's arrays
        self.strides: dict[str, tuple[Expr, ...]] = {}  # of arguments whose strides differ from their descriptors
        self.unaliased: set[str] = set()  # C names of pointers that nothing else overlaps
        self.shared_writes = shared_writes  # several threads may run this function on the same containers
        self.may_warn = False
        self.device_notes: Any = None  # of the device, about this function
        self.poll_intervals: list[Declare] = []  # when loops ask for signals: one variable for each loop that does
        self._body: list[Statement] = []
        self._span: SrcSpan | None = None

    # -- statements --------------------------------------------------------------------------------------------

    def emit(self, statement: Statement) -> None:
        """Append a statement, placed at the current node."""
        self._body.append(with_span(statement, self._span))

    @property
    def last(self) -> Statement | None:
        """The statement before."""
        return self._body[-1] if self._body else None

    def drop_last(self) -> None:
        """Take the statement before back."""
        self._body.pop()

    @contextmanager
    def capture(self) -> Iterator[list[Statement]]:
        """Collect the statements emitted inside into a body of their own."""
        outer, self._body = self._body, []
        try:
            yield self._body
        finally:
            self._body = outer

    @contextmanager
    def at(self, span: SrcSpan | None) -> Iterator[None]:
        """Statements and errors inside belong to this place (unless it is unknown)."""
        outer = self._span
        self._span = span or outer
        try:
            yield
        except CodegenError as error:
            raise error.at(self._span) from error.__cause__
        finally:
            self._span = outer

    @contextmanager
    def knowing(self, ranges: Ranges) -> Iterator[None]:
        """More is known of symbols inside."""
        outer, self.ranges = self.ranges, ranges
        try:
            yield
        finally:
            self.ranges = outer

    @contextmanager
    def accumulating(self, found: dict[Memlet, Accumulator]) -> Iterator[None]:
        """Conflict resolutions on these locations go to variables inside."""
        outer, self.accumulators = self.accumulators, self.accumulators | found
        try:
            yield
        finally:
            self.accumulators = outer

    @contextmanager
    def by_lanes(self, elements: dict[Memlet, LirExpr]) -> Iterator[None]:
        """Vectors stand for these elements inside."""
        outer, self.lanes = self.lanes, elements
        try:
            yield
        finally:
            self.lanes = outer

    @contextmanager
    def running(self, scope: ParallelScope) -> Iterator[None]:
        """Enter a region that runs in parallel."""
        outer, self.parallel = self.parallel, scope
        asks, self.team_polling = self.team_polling, None
        try:
            yield
        finally:
            self.parallel, self.team_polling = outer, asks

    @contextmanager
    def in_kernel(self, scope: KernelScope) -> Iterator[None]:
        """Enter the body of a kernel."""
        self.kernel, self.on_host = scope, False
        try:
            yield
        finally:
            self.kernel, self.on_host = None, self.module.device.is_host

    @contextmanager
    def as_process(self, name: str) -> Iterator[None]:
        """Enter the body of a process."""
        outer, self.process = self.process, name
        try:
            yield
        finally:
            self.process = outer

    @contextmanager
    def naming_extents(self) -> Iterator[ExtentsByName]:
        """Sizes that are made of others have names inside."""
        given = free_ranges(self.sdfg)  # elsewhere more may be known

        def lower(atom: Atom) -> LirExpr:
            return lower_atom(atom, self.symbol, given, self.named_extents)

        self.named_extents = ExtentsByName(self.sdfg.symbols, self.names.fresh, lower)
        try:
            yield self.named_extents
        finally:
            self.named_extents = None

    # -- names and values --------------------------------------------------------------------------------------

    def file_name(self, stem: str) -> str:
        """A new identifier at file scope, which nothing in this function hides."""
        return self.module.names.fresh(self.names.fresh(stem))

    def symbol(self, name: str) -> Name:
        """The variable of a symbol or parameter."""
        return Name(self.names.of(name), INDEX)

    def symbolic(self, expr: Expr) -> LirExpr:
        """A symbolic integer, int64. Where a number of it does not fit, code that needs it raises an exception."""
        try:
            return lower_symbolic(expr, self.symbol, self.ranges, self.named_extents)
        except NumberTooLarge as error:
            if self.kernel is not None or self.process:
                raise
            self.fail(Literal(True, TRUTH), self.module.check_number("OverflowError", error.message, self._span))
            return integer(0)

    def desc(self, name: str, region: Region | None = None) -> Data:
        """The descriptor of a container."""
        return self.sdfg.desc(name, region)

    def fail_unless_memory(self, pointer: Name, container: str = "") -> None:
        """Leave with a MemoryError where an allocation gave nothing, for a container or a copy that a call needs."""
        what = description(self.sdfg, container, quoting=False) if container else "a copy"
        number = self.module.check_number("MemoryError", f"no memory is left for {what}", self._span)
        self.fail(self.is_null(pointer), number)

    def fail(
        self, condition: LirExpr, number: LirExpr | int, values: tuple[LirExpr, ...] = (), *, forwarded: bool = False
    ) -> None:
        """Leave where a condition holds: the function, or the iteration of the parallel map around."""
        status = None if self.parallel is None or self.kernel is not None else FAILURE
        code = Literal(number, STATUS) if isinstance(number, int) else number
        order: tuple[LirExpr, ...] = ()
        if self.kernel is not None:
            order = self.kernel.order(self.names.of)
        elif self.parallel is not None:
            order = (self.symbolic(self.parallel.iteration),)
        self.emit(CheckFail(condition, code, values, status, self.label, forwarded, order))

    def warn(
        self, condition: LirExpr, number: LirExpr | int, values: tuple[LirExpr, ...] = (), *, forwarded: bool = False
    ) -> None:
        """Keep the first warning, and go on."""
        if self.kernel is not None:
            raise self.refuse("a warning in a kernel", help="warn before or after it")
        self.may_warn = True
        status = Prefix("&", Name(WARNING.name, STATUS), WARNING.type) if self.parallel is None else WARNING
        code = Literal(number, STATUS) if isinstance(number, int) else number
        self.emit(CheckFail(condition, code, values, status, forwarded=forwarded))

    @staticmethod
    def is_null(pointer: Name) -> LirExpr:
        """Return whether a pointer is null."""
        return Infix("==", pointer, Literal(None, Pointer(Basic.VOID)), TRUTH)

    @property
    def place(self) -> SrcSpan | None:
        """The Python place of what is being lowered."""
        return self._span

    @property
    def may_start_team(self) -> bool:
        """Return whether threads may be used here: not inside a team, whose members would share the loop, nor in a
        process.
        """
        return self.module.options.openmp and self.parallel is None and not self.process and not self.shared_writes

    @property
    def label(self) -> str:
        """Label that a failed check jumps to: the attempt that is a parallel iteration, or "" for the function."""
        return self.parallel.label if self.parallel is not None else ""

    def refuse(self, message: str, span: SrcSpan | None = None, *, help: str = "") -> CodegenError:
        """The error for something that this target does not print."""
        return CodegenError(readable(message, self.sdfg), span=span or self._span, help=help)


def _names_of(sdfg: Sdfg) -> Iterator[str]:
    """Containers, symbols and parameters, in order of declaration."""
    yield from (*sdfg.arguments, *sdfg.symbols, *sdfg.assigned_symbols)
    for region in sdfg.body.walk_regions():
        yield from region.containers
        yield from region.params


_ZERO = Expr(())

