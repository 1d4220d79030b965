"""The pen that writes the SDFG: the open region and state, fresh names, declarations, and dry runs.

A dry run lets the evaluator find out types: everything written meanwhile goes into a region that is thrown away, and
names, declarations and symbols made meanwhile are taken back, so that the real run makes the same ones again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcpy.base.assumptions import NOTHING, Assumption
from dcpy.base.errors import FrontendError
from dcpy.base.options import Options
from dcpy.base.source import Calls, SrcSpan, call_chain
from dcpy.frontend.lower.available_values import Numbering
from dcpy.ir import types
from dcpy.ir.analysis.dataflow.value_ranges import assumed_bounds
from dcpy.ir.data import Array, Data, View
from dcpy.ir.expressions.scalar import Const, Index, Load, Ref, ScalarExpr, op, rewrite, symbols_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Block, Check, Region, State, SymbolAssign
from dcpy.ir.schedules import UNDECIDED, Schedule
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, ExprLike, Ranges, as_expr, sym

if TYPE_CHECKING:
    from dcpy.frontend.abstract_values.guessed_axes import GuessedAxes
    from dcpy.frontend.abstract_values.values import ArrayValue
    from dcpy.frontend.lower.speculation.requests import FactRequests
    from dcpy.frontend.lower.speculation.size_assumptions import Assumptions, ForwardedAssumptions


#: the span of a statement, and the frame and tree of the expression in it
Anchor = tuple[SrcSpan | None, tuple[Any, Any] | None]


class Emitter:
    """Writes nodes and blocks at one place of an SDFG; the place moves with `inside`."""

    def __init__(self, sdfg: Sdfg, options: Options) -> None:
        self.sdfg = sdfg
        self.options = options
        self.region = sdfg.body
        self.ranges = Ranges()
        self.span: SrcSpan | None = None  # of the statement
        self.place: tuple[Any, Any] | None = None  # the frame and the tree of the expression
        self.call_site: Anchor | None = None  # where the user calls the function of dcpy's own that is being lowered
        self.calls: Calls = ()  # of the user's functions, around the one that is being lowered
        self.descs: dict[str, Data] = {}  # every visible container; names are unique in an SDFG
        self.regions: dict[str, Region] = {}  # where each is declared
        self.definitions: dict[str, Expr] = {}  # assigned symbols that are expressions over others
        self.slice_bounds: dict[tuple[Region, object], Expr] = {}  # of slices, clamped at run time; by region
        self.numbering = Numbering()
        self.discarded_views: dict[str, str] = {}  # what views showed that a dry run took back
        self.assumed: Mapping[str, Assumption] = {}  # of free symbols: what the user says
        self.maybe_one: set[str] = set()  # sizes of arguments that may turn out to be 1
        self.assumptions: Assumptions | ForwardedAssumptions | None = None  # None: nothing is assumed
        self.fact_requests: FactRequests | None = None  # of the statement that is tried (`statement_versioning`)
        self.axis_orders: dict[str, tuple[int, ...]] = {}  # of axes in NumPy's memory, where descriptors do not say it
        self.discarded_orders: dict[str, tuple[int, ...]] = {}  # of axes of arrays that a dry run took back
        self.packed_here: set[str] = set()  # arrays that may have gaps in NumPy, though not here
        self.loop_ranges: dict[str, Range] = {}  # parameters of loops and maps, and what they run over
        self.integer_intervals: dict[
            str, tuple[int, int]
        ] = {}  # containers of integers that are known to stay in an interval
        self.wraps_integers = (
            False  # integers of Python's own are not checked: code of dcpy's, and what only finds out a type
        )
        self.dry_run_depth = 0
        self.open_regions = [sdfg.body]  # the regions around the place of writing, outermost first
        self._state: State | None = None
        self._names: dict[str, int] = {}
        self._undo: list[Callable[[], object]] = []

    # -- places --------------------------------------------------------------------------------------------------

    def statement(self, span: SrcSpan | None) -> None:
        """Start a statement of the program: its nodes go into a state of their own."""
        self.span = self.placed(span)
        self._state = None

    def placed(self, span: SrcSpan | None) -> SrcSpan | None:
        """The place, unless that is in a function of dcpy's own."""
        if self.call_site is not None:
            return self.call_site[0]
        return span.within(self.calls) if self.calls and span is not None else span

    @contextmanager
    def of_function(self, name: str, *, own: bool) -> Iterator[None]:
        """Meanwhile a function is lowered that is called here. Where it is dcpy's own, all is placed at the call."""
        before = self.place, self.call_site, self.calls
        self.call_site = (self.call_site or (self.span, self.place)) if own else None
        self.calls = self.calls if own else call_chain(name, self.span)
        self.place = None
        try:
            yield
        finally:
            self.place, self.call_site, self.calls = before

    @contextmanager
    def inside(self, region: Region, ranges: Ranges | None = None) -> Iterator[Region]:
        """Write into `region` meanwhile, where `ranges` hold."""
        before = self.region, self.ranges, self._state
        self.region, self.ranges, self._state = region, ranges or self.ranges, None
        self.open_regions.append(region)
        try:
            yield region
        finally:
            self.open_regions.pop()
            self.region, self.ranges, self._state = before

    @contextmanager
    def dry_run(self) -> Iterator[Region]:
        """Write into a region that is thrown away; take back all that was declared."""
        mark, span = self.mark(), self.span
        self.dry_run_depth += 1
        try:
            with self.inside(Region()) as scratch:
                yield scratch
        finally:
            self.dry_run_depth -= 1
            self.span = span
            self.undo_to(mark)

    @contextmanager
    def undone_by(self, signal: type[Exception]) -> Iterator[None]:
        """Take back all that was declared inside where `signal` is raised, which passes through."""
        mark = self.mark()
        try:
            yield
        except signal:
            self.undo_to(mark)
            raise

    def mark(self) -> int:
        """Return the number of declarations so far, for `undo_to`."""
        return len(self._undo)

    def undo_to(self, mark: int) -> None:
        """Take back all that was declared since."""
        orders = self.axis_orders.copy()
        while len(self._undo) > mark:
            self._undo.pop()()
        self.discarded_orders.update((name, axes) for name, axes in orders.items() if name not in self.descs)

    @contextmanager
    def attempt(self) -> Iterator[Region]:
        """Write into a region of its own, which the caller adds somewhere or drops where nothing was written."""
        with self.inside(Region()) as region:
            yield region

    @contextmanager
    def unchecked(self) -> Iterator[None]:
        """Indices are not checked meanwhile: for code of dcpy's own, whose indices are in range by construction."""
        before = self.options
        self.options = replace(before, cpu=replace(before.cpu, bounds_check=False))
        try:
            yield
        finally:
            self.options = before

    @contextmanager
    def wrapping(self, wraps: bool = True) -> Iterator[None]:
        """Integers of Python's own are not checked for overflow meanwhile (or are again)."""
        before, self.wraps_integers = self.wraps_integers, wraps
        try:
            yield
        finally:
            self.wraps_integers = before

    # -- names and declarations ----------------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        """A name that nothing has yet: `stem`, or with a number."""
        names = self._names
        if stem not in names:
            names[stem] = 0
            self._undo.append(lambda: names.pop(stem, None))
            return stem
        before = names[stem]
        count = before
        while True:
            count += 1
            name = f"{stem}_{count}"
            if name not in names:
                break
        names[stem], names[name] = count, 0

        def restore() -> None:
            names[stem] = before
            names.pop(name, None)

        self._undo.append(restore)
        return name

    def reserve(self, name: str) -> None:
        """Take a name that was decided elsewhere (arguments, symbols of their shapes)."""
        self._names.setdefault(name, 0)

    def fresh_for_good(self, stem: str) -> str:
        """A fresh name of something that outlives the dry run that finds it (a global array): it is not given back."""
        found: list[str] = []
        self._undo.append(lambda: self.reserve(found[0]))  # runs after `fresh` has taken its name back
        found.append(self.fresh(stem))
        return found[0]

    def declare(self, stem: str, desc: Data, region: Region | None = None) -> str:
        """Declare a transient container under a fresh name, in the open region unless another is given."""
        declared_in = region or self.region
        name = self.fresh(stem)
        declared_in.containers[name] = desc
        self.descs[name] = desc
        self.regions[name] = declared_in

        def forget() -> None:
            if isinstance(desc, View):
                self.discarded_views[name] = desc.of
            elif isinstance(desc, Array) and len(desc.shape) > 1 and desc.axes is not None:
                self.discarded_orders[name] = desc.axes
            declared_in.containers.pop(name, None)
            self.descs.pop(name, None)
            self.regions.pop(name, None)

        self._undo.append(forget)
        return name

    def guess_order(self, container: str, axes: GuessedAxes) -> None:
        """Notes of an array that was declared just now that its order in NumPy's memory is known at run time only."""
        self.axis_orders[container] = axes
        self.on_undo(lambda: self.axis_orders.pop(container, None))

    def redeclare(self, container: str, desc: Data) -> None:
        """Change the descriptor of a container that was declared just now."""
        self.regions[container].containers[container] = self.descs[container] = desc

    def shown_by(self, container: str) -> str | None:
        """The container that a view shows, also one that a dry run made; None for others."""
        desc = self.descs.get(container)
        if desc is None:
            return self.discarded_views.get(container)
        return desc.of if isinstance(desc, View) else None

    def is_visible(self, container: str) -> bool:
        """Return whether the container is declared in a region around the place of writing."""
        declared_in = self.regions.get(container)
        return any(region is declared_in for region in self.open_regions)

    def hoist(self, container: str) -> None:
        """Move a declaration into the open region, from a region inside it."""
        inner, desc = self.regions[container], self.descs[container]
        if isinstance(desc, View) and not self.is_visible(desc.of):
            self.hoist(desc.of)
        outer = self.region
        inner.containers.pop(container, None)
        outer.containers[container] = desc
        self.regions[container] = outer

        def put_back() -> None:
            outer.containers.pop(container, None)
            self.regions[container] = inner
            inner.containers[container] = desc

        self._undo.append(put_back)

    def on_undo(self, action: Callable[[], object]) -> None:
        """Run `action` when the current dry run (if any) is taken back."""
        self._undo.append(action)

    def view(self, desc: View) -> str:
        """Declare a view next to the container that it shows (inside the open region, where that is visible)."""
        return self.declare(f"{desc.of}_view", desc)

    # -- symbols -------------------------------------------------------------------------------------------------

    def free_symbol(self, name: str, *, size: bool = False, argument: bool = False) -> None:
        """Declare a free symbol, with what is assumed of it; `FrontendError` where that cannot be so of a size."""
        self.sdfg.add_symbol(name, size=size, argument=argument)
        assumed = self.assumed.get(name)
        if assumed is not None:
            if problem := assumed.problem(size=size):
                raise FrontendError(f"the assumptions about the size {name!r} cannot hold: {problem}")
            self.sdfg.assumed[name] = assumed

    def known_of(self, name: str, *, size: bool = False) -> None:
        """Bind a free symbol to what is known of it before the program runs."""
        assumed = self.assumed.get(name, NOTHING)
        self.ranges = self.ranges.bind(name, *assumed_bounds(assumed, size=size), assumed.multiple_of)

    def assign_symbol(
        self,
        stem: str,
        value: ScalarExpr,
        lower: ExprLike | None = None,
        upper: ExprLike | None = None,
        definition: Expr | None = None,
    ) -> Expr:
        """A new symbol with the value of an integer expression, known to be in ``lower .. upper``.

        `definition` is the same value as a symbolic expression, for uses that need it before the program runs
        (the shapes of results). Where a symbol has that value already, it is that one: sizes that are computed alike
        are alike.
        """
        known = self.numbering.symbol_of(value, self.open_regions)
        if known is not None:
            edges = ([] if lower is None else [known - lower]) + ([] if upper is None else [as_expr(upper) - known])
            self.ranges = self.ranges.assuming(*edges)
            return known
        name = self.fresh(stem)
        self.sdfg.assigned_symbols[name] = types.int64
        self._undo.append(lambda: self.sdfg.assigned_symbols.pop(name, None))
        self.block(SymbolAssign(name, value))
        self.ranges = self.ranges.bind(name, lower, upper)
        if definition is not None:
            self.definitions[name] = self.defined(definition)
        self._undo.append(self.numbering.assigned(self.region, value, sym(name), self.sdfg.assigned_symbols))
        return sym(name)

    def assign_symbol_at(self, region: Region, stem: str, value: int) -> Expr:
        """A new symbol that gets its value where a region begins."""
        name = self.fresh(stem)
        self.sdfg.assigned_symbols[name] = types.int64
        block = region.insert(0, SymbolAssign(name, Const(value, types.int64)))

        def forget() -> None:
            self.sdfg.assigned_symbols.pop(name, None)
            region.remove(block)

        self._undo.append(forget)
        return sym(name)

    def defined(self, expr: Expr) -> Expr:
        """`expr` with assigned symbols replaced by what they stand for, where that is known."""
        return expr.subs(self.definitions)

    def parameter(self, stem: str, values: Range | None = None) -> str:
        """A fresh name for a parameter of a map or loop that runs over `values`; dcpy's own names begin with a dot."""
        name = self.fresh(stem.lstrip("."))
        if values is not None:
            self.loop_ranges[name] = values
            self._undo.append(lambda: self.loop_ranges.pop(name, None))
        return name

    # -- blocks and nodes ----------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Append a block to the open region."""
        if block.span is None:
            block.span = self.span
        self.region.add(block)
        self._state = None

    def node(self, node: Node) -> None:
        """Append a node to the state of the current statement."""
        if node.span is None:
            node.span = self.span
        if self._state is None:
            self._state = State(span=self.span)
            self.region.add(self._state)
        self._state.add(node)

    def tasklet(self, outputs: Sequence[tuple[Memlet, ScalarExpr]]) -> None:
        """Compute expressions over elements and write each where it belongs; all are read before any is written."""
        self.node(tasklet(outputs, self.span))

    def map(self, params: Sequence[str], domain: Sequence[Range], nodes: Sequence[Node]) -> None:
        """A parallel map over nodes of one state."""
        self.map_region(params, domain, Region([State(nodes=list(nodes), span=self.span)]))

    def map_region(
        self, params: Sequence[str], domain: Sequence[Range], body: Region, schedule: Schedule = UNDECIDED,
        *, claimed: bool = False,
    ) -> None:  # fmt: skip
        """A parallel map over a region; the parameters are fresh names."""
        self.node(Map(tuple(params), tuple(domain), body, schedule, claimed, span=self.span))

    def check(self, condition: ScalarExpr, exception: str, message: str, values: Sequence[ScalarExpr] = ()) -> None:
        """Raise a Python exception at run time unless `condition` holds; once for several places that ask the same."""
        if self.numbering.is_checked(condition, self.open_regions):
            return
        self._undo.append(self.numbering.holds(self.region, condition, self.sdfg.assigned_symbols))
        check = Check(condition, exception, message, tuple(values))
        place = self.place if self.call_site is None else self.call_site[1]
        if place is not None:
            frame, node = place
            check.span = frame.span(node).within(self.calls)
        self.block(check)

    # -- knowledge -----------------------------------------------------------------------------------------------

    def holds(self, nonneg: ExprLike) -> bool:
        """Return whether ``nonneg >= 0``: it follows from what is known here, or is assumed from now on
        (`lower.speculation.size_assumptions`).
        """
        expr = as_expr(nonneg)
        if self.ranges.proves_nonneg(expr):
            return True
        if not self._take(expr):
            return False
        self.ranges = self.ranges.assuming(expr)
        return True

    def _take(self, fact: Expr) -> bool:
        if self.assumptions is not None and self.assumptions.take(fact):
            return True
        return self.fact_requests is not None and self.fact_requests.take(fact, self.ranges)

    def equal(self, left: Expr, right: Expr) -> bool:
        """Return whether two sizes are known to be equal."""
        return left is right or (self.ranges.proves_le(left, right) and self.ranges.proves_le(right, left))

    def same(self, left: Expr, right: Expr) -> bool:
        """Return whether two sizes are equal: it follows from what is known here, or is assumed from now on."""
        if self.equal(left, right):
            return True
        if self.assumptions is not None and self.assumptions.take_equal(left, right):
            self.ranges = self.ranges.assuming(left - right, right - left)
            return True
        return self.fact_requests is not None and self.holds(left - right) and self.holds(right - left)

    def sampled(self, value: Expr) -> int | None:
        """The value that an expression has in the call that is compiled, where that is known."""
        return None if self.assumptions is None else self.assumptions.value(value)

    def is_negative(self, value: Expr) -> bool | None:
        """Return whether ``value < 0``: known here, or assumed as it is in the call that is compiled; None if neither.
        """
        if self.ranges.proves_nonneg(value):
            return False
        if self.ranges.proves_lt(value, 0):
            return True
        sample = self.sampled(value)
        if sample is None and self.fact_requests is not None:
            sample = -1 if all(factor < 0 for _, factor in value.terms) else 0  # -w is negative, most likely
        if sample is None:
            return None
        return sample < 0 if self.holds(value if sample >= 0 else -value - 1) else None

    def require(self, nonneg: ExprLike, exception: str, message: str, values: Sequence[ExprLike] = ()) -> None:
        """Raise unless ``nonneg >= 0``, at no cost where that is proved; afterwards it is known."""
        expr = as_expr(nonneg)
        if self.holds(expr):
            return
        condition = op("ge", Index(expr), Const(0, types.int64))
        self.check(condition, exception, message, [Index(as_expr(value)) for value in values])
        self.ranges = self.ranges.narrowed(expr)


def tasklet(outputs: Sequence[tuple[Memlet, ScalarExpr]], span: SrcSpan | None = None) -> Tasklet:
    """A tasklet from expressions that load elements: each distinct element becomes an input connector."""
    taken = {name for _, expr in outputs for name in symbols_of(expr)}
    connectors: dict[Load, str] = {}
    inputs: dict[str, Memlet] = {}

    def name_for(stem: str) -> str:
        name, count = stem, 0
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        taken.add(name)
        return name

    def as_connector(part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Load):
            return None
        if part not in connectors:
            connectors[part] = name_for(f"{part.container}_in")
            inputs[connectors[part]] = Memlet(part.container, Subset(part.indices))
        return Ref(connectors[part], part.dtype)

    code = tuple((name_for("out"), rewrite(expr, as_connector)) for _, expr in outputs)
    targets = {name: memlet for (name, _), (memlet, _) in zip(code, outputs, strict=True)}
    return Tasklet(inputs, targets, code, span=span)


def element(value: ArrayValue, indices: Sequence[ExprLike], wcr: str = "") -> Memlet:
    """The memlet of one element of an array value."""
    return Memlet(value.container, value.subset([as_expr(index) for index in indices]), wcr)
