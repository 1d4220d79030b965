"""Writes SDFGs by hand, statement by statement, without any Python function to start from.

    >>> from dcpy.ir.building.builder import SdfgBuilder, Out
    >>> from dcpy.ir.types import float64
    >>> b = SdfgBuilder("axpy")
    >>> n = b.size("N")
    >>> a, x, y = b.scalar("a", float64), b.array("x", float64, (n,)), b.array("y", float64, (n,))
    >>> with b.map(i=n) as (i,):
    ...     node = b.tasklet("o = al * xi + yi", al=a, xi=x[i], yi=y[i], o=Out(y[i]))
    >>> from dcpy.ir.text import print_sdfg
    >>> print(print_sdfg(b.sdfg))
    sdfg @axpy(a: f64, x: f64[N], y: f64[N]) symbols(N: size) {
      state {
        map i = 0:N {
          tasklet (al <- a, xi <- x[i], yi <- y[i]) -> (o -> y[i]) { o = al * xi + yi }
        }
      }
    }

Handles of containers are in `container_handles`. Scalar expressions are texts, read by the parser of the textual IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from dcpy.base.assumptions import NOTHING, Assumption
from dcpy.base.errors import InvalidSdfg
from dcpy.base.source import SrcSpan
from dcpy.ir import types
from dcpy.ir.building.container_handles import Container, Out, as_memlet
from dcpy.ir.data import Array, Data, Scalar, Stream, View
from dcpy.ir.expressions.scalar import ScalarExpr, substitute_symbols
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Copy, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import (
    Block,
    Branch,
    Break,
    Check,
    Continue,
    Dataflow,
    Loop,
    Process,
    Region,
    Return,
    State,
    SymbolAssign,
    While,
)
from dcpy.ir.schedules import UNDECIDED, Schedule
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr, ExprLike, as_expr, as_exprs, sym
from dcpy.ir.tree import regions_around
from dcpy.ir.types import DType

__all__ = ["Cases", "Container", "Out", "SdfgBuilder", "as_dtype"]

N = TypeVar("N", bound=Node)
B = TypeVar("B", bound=Block)
MemletLike = Memlet | Container
DTypeLike = Any  # a DType, or anything that np.dtype takes
RangeLike = Range | ExprLike | tuple[ExprLike, ...]


@dataclass
class _RegionUnderConstruction:
    """A region being written. `state` takes nodes; it was opened by the user where `explicit`."""

    region: Region
    state: State | None = None
    explicit: bool = False


class SdfgBuilder:
    """Builds one SDFG, which is `sdfg` at any time.

    Statements are appended where the innermost open ``with`` block is. Nodes outside of ``with b.state()`` go to an
    anonymous state. Names that are taken get a number: use the handles and expressions that the methods return. In
    the texts of tasklets and conditions, parameters have the names that you gave them. Everything built carries
    `span`, which may be set at any time.
    """

    sdfg_type: ClassVar[type[Sdfg]] = Sdfg

    def __init__(self, name: str, span: SrcSpan | None = None) -> None:
        self.sdfg = self.sdfg_type(name, span)
        self.span = span
        self._frames = [_RegionUnderConstruction(self.sdfg.body)]
        self._params: dict[str, Expr] = {}  # as the user called them

    @classmethod
    def into(cls, sdfg: Sdfg, state: State) -> SdfgBuilder:
        """A builder that goes on with a state of an SDFG that there is."""
        found = cls(sdfg.name)
        found.sdfg = sdfg
        found._frames = [_RegionUnderConstruction(sdfg.body, state, explicit=True)]
        return found

    # -- declarations ------------------------------------------------------------------------------------------

    def size(self, name: str) -> Expr:
        """Declare a symbol that is at least 0."""
        return sym(self.sdfg.add_symbol(name, size=True))

    def symbol(self, name: str, dtype: DTypeLike = types.int64, *, argument: bool = True) -> Expr:
        """Declare an integer argument, or with ``argument=False`` a symbol that follows from the arguments."""
        return sym(self.sdfg.add_symbol(name, as_dtype(dtype), argument=argument))

    def assume(
        self, name: str, *, least: int | None = None, most: int | None = None, multiple_of: int = 1,
        typical: int | None = None,
    ) -> None:  # fmt: skip
        """Declare what holds of a free symbol in every run, beside earlier declarations; `typical` is a hint."""
        assumed = self.sdfg.assumed.get(name, NOTHING)
        self.sdfg.assumed[name] = assumed.and_also(Assumption(least, most, multiple_of, typical))

    def argument(self, name: str, desc: Data) -> Container:
        """Declare an argument with any descriptor."""
        return Container(self.sdfg.add_argument(name, desc), desc)

    def scalar(self, name: str, dtype: DTypeLike) -> Container:
        """Declare an argument that is passed by value."""
        return self.argument(name, Scalar(as_dtype(dtype), span=self.span))

    def array(self, name: str, dtype: DTypeLike, shape: Sequence[ExprLike], **options: Any) -> Container:
        """Declare an array argument; `options` as of `Array.packed` (``order``, ``alias``)."""
        return self.argument(name, Array.packed(as_dtype(dtype), shape, span=self.span, **options))

    def declare(self, name: str, desc: Data) -> Container:
        """Declare a container in the current region, under a name that nothing has yet."""
        return Container(self.sdfg.declare(self.sdfg.fresh_name(name), desc, self._region), desc)

    def transient(self, name: str, dtype: DTypeLike, shape: Sequence[ExprLike] | None = None) -> Container:
        """Declare a temporary in the current region: a scalar, or with a `shape` an array."""
        if shape is None:
            return self.declare(name, Scalar(as_dtype(dtype), transient=True, span=self.span))
        return self.declare(name, Array.packed(as_dtype(dtype), shape, transient=True, span=self.span))

    def stream(self, name: str, dtype: DTypeLike, shape: Sequence[ExprLike] = (), capacity: ExprLike = 0) -> Container:
        """Declare queues in the current region, one per point of `shape`; `capacity` 0 is unbounded."""
        return self.declare(name, Stream(as_dtype(dtype), as_exprs(shape), as_expr(capacity), span=self.span))

    def view(self, name: str, of: MemletLike, *, axes: Sequence[int] | None = None) -> Container:
        """Declare a view of a subset in the current region: ``b.view("v", x[1:N])``. `axes` permutes dimensions."""
        memlet = as_memlet(of)
        desc = self.sdfg.desc(memlet.container, self._region)
        return self.declare(name, View.slice(memlet.container, desc, memlet.subset, axes=axes, span=self.span))

    def reshape(self, name: str, of: Container, shape: Sequence[ExprLike]) -> Container:
        """Declare a view of a packed container in another shape of as many elements."""
        return self.declare(name, View.reshape(of.name, of.desc, shape, span=self.span))

    # -- results -----------------------------------------------------------------------------------------------

    def returns(self, dtype: DTypeLike, shape: Sequence[ExprLike] = (), *, python: bool = False) -> Container:
        """Declare the next result: a new array, or without `shape` a NumPy scalar (a Python number if `python`)."""
        count = sum(name.startswith("__return") for name in self.sdfg.containers)
        name = self.sdfg.declare(f"__return_{count}" if count else "__return", Array.packed(as_dtype(dtype), shape))
        kind = "array" if shape else "python" if python else "scalar"
        self._add_result(Result(kind, name))
        return Container(name, self.sdfg.containers[name])

    def result(self, value: Container | bool | float | complex | str | None) -> None:
        """Add a result that is an argument, a view of one, or a constant."""
        if not isinstance(value, Container):
            self._add_result(Result("constant", value=value))
        elif isinstance(value.desc, View):
            self._add_result(Result("view", value.name))
        elif self.sdfg.is_argument(value.name):
            self._add_result(Result("argument", value.name))
        else:
            raise InvalidSdfg(f"{value.name!r} is a temporary", help="declare what is returned with `returns`")

    def _add_result(self, result: Result) -> None:
        self.sdfg.results += (result,)
        count = len(self.sdfg.results)
        self.sdfg.structure = 0 if count == 1 else tuple(range(count))

    # -- nodes -------------------------------------------------------------------------------------------------

    def tasklet(self, code: str, name: str = "", /, **connectors: MemletLike | Out) -> Tasklet:
        """``b.tasklet("o = a * 2.0", a=x[i], o=Out(y[i]))``: one element each; more statements with ``;``."""
        inputs, outputs = _split(connectors)
        refs, targets = self._dtypes(inputs), self._dtypes(outputs)
        from dcpy.ir.text.parser import parse_code  # late: programs of functions have no text

        statements = parse_code(code, refs, targets, self._symbols())
        for target, _ in statements:
            if target in inputs:
                raise InvalidSdfg(f"{target!r} is assigned in {code!r}", help=f"mark it: {target}=Out(...)")
        assigned = {target for target, _ in statements}
        missing = next((output for output in outputs if output not in assigned), None)
        if missing is not None:
            raise InvalidSdfg(f"{code!r} does not assign the output {missing!r}")
        values = tuple((target, self._with_params(value)) for target, value in statements)
        return self._add_node(Tasklet(inputs, outputs, values, name, span=self.span))

    def copy(self, src: MemletLike, dst: MemletLike | Out) -> Copy:
        """``dst[...] = src[...]``."""
        target = dst.memlet if isinstance(dst, Out) else as_memlet(dst)
        return self._add_node(Copy(as_memlet(src), target, span=self.span))

    def library(self, kind: str | type[LibraryNode], /, **fields: Any) -> LibraryNode:
        """``b.library("blas.gemm", a=A, b=B, c=Out(C), alpha=2.0)``: places are connectors, the rest properties."""
        connectors = {name: value for name, value in fields.items() if isinstance(value, Memlet | Container | Out)}
        properties = {name: value for name, value in fields.items() if name not in connectors}
        inputs, outputs = _split(connectors)
        cls = LIBRARY_KINDS[kind] if isinstance(kind, str) else kind
        return self._add_node(cls(inputs=inputs, outputs=outputs, span=self.span, **properties))

    def call(self, callee: Sdfg, /, **arguments: MemletLike | ExprLike) -> Call:
        """Call another SDFG: containers by place, symbols by value. Sizes that follow from shapes may be left out."""
        places = {name: as_memlet(v) for name, v in arguments.items() if isinstance(v, Memlet | Container)}
        symbols = {name: as_expr(v) for name, v in arguments.items() if not isinstance(v, Memlet | Container)}
        known = {**_sizes_from_shapes(callee, places), **symbols}
        missing = [name for name in callee.symbols if name not in known]
        if missing:
            raise InvalidSdfg(f"the call of {callee.name!r} gives no value for {', '.join(missing)}")
        values = {name: known[name] for name in callee.symbols}
        return self._add_node(Call(callee, places, values, span=self.span))

    @contextmanager
    def map(self, schedule: Schedule = UNDECIDED, /, **domain: RangeLike) -> Iterator[tuple[Expr, ...]]:
        """``with b.map(i=n, j=(1, m)) as (i, j):`` a parallel loop over ``0:n`` and ``1:m``."""
        params = {name: self.sdfg.fresh_name(name) for name in domain}
        node = Map(tuple(params.values()), tuple(map(_as_range, domain.values())), Region(), schedule, span=self.span)
        self._add_node(node)
        with self._inside(node.body, {name: sym(param) for name, param in params.items()}):
            yield tuple(map(sym, node.params))

    # -- blocks ------------------------------------------------------------------------------------------------

    @contextmanager
    def state(self, name: str = "") -> Iterator[State]:
        """Nodes written inside go to this state."""
        state = self._add_block(State(name, span=self.span))
        frame = self._frames[-1]
        frame.state, frame.explicit = state, True
        try:
            yield state
        finally:
            frame.state, frame.explicit = None, False

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """``with b.dataflow():`` holds streams and processes that run at the same time."""
        block = self._add_block(Dataflow(Region(), span=self.span))
        with self._inside(block.body, {}):
            yield

    @contextmanager
    def process(self, title: str, /, *, endless: bool = False, **domain: RangeLike) -> Iterator[tuple[Expr, ...]]:
        """``with b.process("read"):``, ``with b.process("pe", p=4) as (p,):`` one for each point of a domain."""
        params = {name: self.sdfg.fresh_name(name) for name in domain}
        ranges = tuple(map(_as_range, domain.values()))
        block = self._add_block(Process(title, tuple(params.values()), ranges, Region(), endless, span=self.span))
        with self._inside(block.body, {name: sym(param) for name, param in params.items()}):
            yield tuple(map(sym, block.params))

    @contextmanager
    def loop(self, **domain: RangeLike) -> Iterator[Expr]:
        """``with b.loop(t=(0, T)) as t:`` a sequential loop."""
        ((name, values),) = domain.items()
        param = self.sdfg.fresh_name(name)
        loop = self._add_block(Loop(param, _as_range(values), Region(), span=self.span))
        with self._inside(loop.body, {name: sym(param)}):
            yield sym(param)

    @contextmanager
    def while_(self, condition: str) -> Iterator[None]:
        """``with b.while_("x[] < 3.0"):`` the condition reads containers."""
        block = self._add_block(While(self._scalar(condition), Region(), span=self.span))
        with self._inside(block.body):
            yield

    def branch(self) -> Cases:
        """``cases = b.branch()``; then ``with cases.case("x[] > 0.0"):`` and ``with cases.otherwise():``."""
        return Cases(self, self._add_block(Branch([], span=self.span)))

    def assign(self, name: str, value: str | ExprLike, dtype: DTypeLike = types.int64) -> Expr:
        """Give a symbol a value, which may read containers: ``k = b.assign("k", "idx[i] + 1")``.

        A symbol may be assigned again, so its name is not changed: `InvalidSdfg` where something else has it.
        """
        if name not in self.sdfg.symbols and name not in self.sdfg.assigned_symbols:
            if self.sdfg.fresh_name(name) != name:
                raise InvalidSdfg(f"{name!r} is the name of something else in {self.sdfg.name!r}")
            self.sdfg.assign_symbol(name, as_dtype(dtype))
        text = value if isinstance(value, str) else str(as_expr(value))
        self._add_block(SymbolAssign(name, self._scalar(text, as_dtype(dtype)), span=self.span))
        return sym(name)

    def check(self, condition: str, exception: str, message: str, *values: str) -> None:
        """Raise the Python exception of this name unless `condition` holds; ``{0}`` in `message` is ``values[0]``."""
        shown = tuple(map(self._scalar, values))
        self._add_block(Check(self._scalar(condition), exception, message, shown, span=self.span))

    def break_(self) -> None:
        """Leave the innermost loop."""
        self._add_block(Break(span=self.span))

    def continue_(self) -> None:
        """Go on with the next iteration of the innermost loop."""
        self._add_block(Continue(span=self.span))

    def return_(self) -> None:
        """Leave the SDFG."""
        self._add_block(Return(span=self.span))

    # -- where things go ---------------------------------------------------------------------------------------

    @property
    def _region(self) -> Region:
        return self._frames[-1].region

    def _add_node(self, node: N) -> N:
        frame = self._frames[-1]
        if frame.state is None:
            frame.state = State()
            frame.region.add(frame.state)
        frame.state.add(node)
        return node

    def _add_block(self, block: B) -> B:
        frame = self._frames[-1]
        if frame.explicit:
            raise InvalidSdfg(f"a {block.kind} does not go into a state", help="close the state first")
        frame.state = None
        frame.region.add(block)
        return block

    @contextmanager
    def _inside(self, region: Region, params: Mapping[str, Expr] | None = None) -> Iterator[None]:
        before = self._params
        self._params = {**before, **(params or {})}
        self._frames.append(_RegionUnderConstruction(region))
        try:
            yield
        finally:
            self._frames.pop()
            self._params = before

    # -- texts -------------------------------------------------------------------------------------------------

    def _symbols(self) -> tuple[str, ...]:
        return (*self.sdfg.symbols, *self.sdfg.assigned_symbols, *self._params)

    def _visible(self) -> dict[str, Data]:
        tables = [region.containers for region in regions_around(self._region)]
        return {name: desc for table in reversed(tables) for name, desc in table.items()}

    def _dtypes(self, memlets: Mapping[str, Memlet]) -> dict[str, DType]:
        return {name: self.sdfg.desc(memlet.container, self._region).dtype for name, memlet in memlets.items()}

    def _scalar(self, text: str, dtype: DType | None = None) -> ScalarExpr:
        from dcpy.ir.text.parser import parse_scalar

        return self._with_params(parse_scalar(text, self._visible(), self._symbols(), dtype))

    def _with_params(self, value: ScalarExpr) -> ScalarExpr:
        return substitute_symbols(value, self._params)


class Cases:
    """The cases of a branch, in the order in which they are tested."""

    def __init__(self, builder: SdfgBuilder, branch: Branch) -> None:
        self._builder, self._branch = builder, branch

    @contextmanager
    def case(self, condition: str) -> Iterator[None]:
        """Build the body that runs if this is the first condition that holds."""
        body = self._own(Region())
        self._branch.cases.append((self._builder._scalar(condition), body))
        with self._builder._inside(body):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Build the body that runs if no condition holds."""
        self._branch.otherwise = self._own(Region())
        with self._builder._inside(self._branch.otherwise):
            yield

    def _own(self, region: Region) -> Region:
        region.owner = self._branch
        return region


def as_dtype(value: DTypeLike) -> DType:
    """A dtype of dcpy's own, or the one that NumPy's, or ``dcpy.float64`` among the annotations, stands for."""
    if isinstance(value, DType):
        return value
    try:
        return types.from_numpy(value)
    except (TypeError, KeyError):
        raise InvalidSdfg(f"{value!r} is no dtype that dcpy has") from None


def _split(connectors: Mapping[str, MemletLike | Out]) -> tuple[dict[str, Memlet], dict[str, Memlet]]:
    inputs = {name: as_memlet(place) for name, place in connectors.items() if not isinstance(place, Out)}
    return inputs, {name: place.memlet for name, place in connectors.items() if isinstance(place, Out)}


def _as_range(values: RangeLike) -> Range:
    match values:
        case Range():
            return values
        case tuple():
            return Range.of(*values)
    return Range(ZERO, as_expr(values))


def _sizes_from_shapes(callee: Sdfg, places: Mapping[str, Memlet]) -> dict[str, Expr]:
    """Values of the callee's symbols that are a dimension of one of its arguments."""
    found: dict[str, Expr] = {}
    for name, memlet in places.items():
        shape = getattr(callee.containers.get(name), "shape", ())
        for size, extent in zip(shape, memlet.subset.shape, strict=False):
            if size.name is not None:
                found.setdefault(size.name, extent)
    return found
