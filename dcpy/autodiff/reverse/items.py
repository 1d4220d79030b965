"""Items of a program: its statements in order, as reverse mode goes through them, and which memory each touches.

A map of tasklets, a copy and a sum become one `Pointwise` item: values are read, a row of assignments computes, values
are written, for all points of a box. A loop is an item that holds others. What has nothing active inside is `Opaque`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from dcpy.autodiff.activity import Activity
from dcpy.autodiff.obstacles import refuse
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Scalar
from dcpy.ir.expressions.scalar import Cast, Op, Ref, ScalarExpr, cast, loads_of, op, substitute_refs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Block, Check, Loop, Region, State, SymbolAssign
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym
from dcpy.ir.tree import jumps

Row = list[tuple[str, ScalarExpr]]


@dataclass(eq=False)
class ProgramItem:
    """A statement: where it stands, and the bases that it reads and writes, all inside included."""

    element: Node | Block
    reads: frozenset[str]
    writes: frozenset[str]
    is_active: bool = False
    around: LoopItem | None = None
    position: int = 0

    def loops(self) -> tuple[LoopItem, ...]:
        """The loops around it, outermost first."""
        return () if self.around is None else (*self.around.loops(), self.around)


@dataclass(eq=False)
class Pointwise(ProgramItem):
    """``outputs = code(inputs)`` for all points of a box.

    `code` assigns one operation after another, to names of its own; `results` are the names that outputs take.
    `gathers` says that many points write one element, which is their sum, and was 0 before.
    """

    params: tuple[str, ...] = ()
    domain: tuple[Range, ...] = ()
    inputs: dict[str, Memlet] = field(default_factory=dict)
    outputs: dict[str, Memlet] = field(default_factory=dict)
    results: dict[str, ScalarExpr] = field(default_factory=dict)
    code: Row = field(default_factory=list)
    gathers: bool = False
    sums: Memlet | None = None  # all that is written, where it `gathers`


@dataclass(eq=False)
class LibraryItem(ProgramItem):
    """A library node whose kind has a rule."""

    @property
    def node(self) -> LibraryNode:
        assert isinstance(self.element, LibraryNode)
        return self.element


@dataclass(eq=False)
class LetItem(ProgramItem):
    """A symbol that gets a value."""


@dataclass(eq=False)
class Opaque(ProgramItem):
    """Something that nothing active is written in: it is not reversed."""


@dataclass(eq=False)
class LoopItem(ProgramItem):
    """A loop with the items of its body."""

    items: list[ProgramItem] = field(default_factory=list)

    @property
    def loop(self) -> Loop:
        assert isinstance(self.element, Loop)
        return self.element


class ItemTree:
    """The items of an SDFG whose maps are plain."""

    def __init__(self, uses: Uses, activity: Activity) -> None:
        self._uses, self.activity = uses, activity
        self.items = self._region(uses.sdfg.body, None)
        self._writers: dict[str, list[ProgramItem]] = {}
        for item in self.walk():
            for base in () if isinstance(item, LoopItem) else item.writes:
                self._writers.setdefault(base, []).append(item)

    def walk(self, items: list[ProgramItem] | None = None) -> Iterator[ProgramItem]:
        """All items in program order, a loop before what it holds."""
        for item in self.items if items is None else items:
            yield item
            if isinstance(item, LoopItem):
                yield from self.walk(item.items)

    def writers(self, base: str) -> list[ProgramItem]:
        """The items that write a base, loops not included."""
        return self._writers.get(base, [])

    def siblings(self, around: LoopItem | None) -> list[ProgramItem]:
        """The items of a loop's body, or of the program."""
        return self.items if around is None else around.items

    # -- reading -----------------------------------------------------------------------------------------------------

    def _region(self, region: Region, around: LoopItem | None) -> list[ProgramItem]:
        found: list[ProgramItem] = []
        for block in region.blocks:
            if isinstance(block, State):
                found += [self._node(node) for node in block.nodes]
            else:
                found.append(self._block(block))
        for position, item in enumerate(found):
            item.around, item.position = around, position
        return found

    def _block(self, block: Block) -> ProgramItem:
        reads, writes = self._touched(block)
        is_active = any(base in self.activity.bases for base in writes)
        if isinstance(block, SymbolAssign) and type(block) is SymbolAssign:
            return LetItem(block, reads, writes)
        if any(True for _ in jumps(block)):
            refuse(f"a {_first_jump(block)} is not reversed yet", block, "write the condition of the loop without it")
        if not is_active or isinstance(block, Check):
            return Opaque(block, reads, writes)
        if not isinstance(block, Loop):
            refuse(f"a {block.kind} with active values is not reversed yet", block,
                   "write np.where(...), or a loop over a range; dcpy.jvp takes it as it is")  # fmt: skip
        if block.range.step.constant is None:
            refuse(f"the step {block.range.step} of a loop is not known", block, "write a step that is a number")
        made = LoopItem(block, reads, writes, is_active)
        made.items = self._region(block.body, made)
        return made

    def _touched(self, block: Block) -> tuple[frozenset[str], frozenset[str]]:
        reads: set[str] = set()
        writes: set[str] = set()
        region = Region()
        region.blocks = [block]
        for part in region.walk_blocks():
            reads |= {self.activity.base(load.container) for value in part.exprs() for load in loads_of(value)}
        for node in region.walk_nodes():
            reads |= {self.activity.base(memlet.container) for memlet in node.reads()}
            writes |= {self.activity.base(memlet.container) for memlet in node.writes()}
            for call in node.callees():
                touched = {self.activity.base(operand.memlet.container) for operand in node.operands()}
                reads |= touched
                writes |= touched
                del call
        return frozenset(reads), frozenset(writes)

    def _node(self, node: Node) -> ProgramItem:
        bases = [
            frozenset(self.activity.base(memlet.container) for memlet in memlets)
            for memlets in self._memlets(node)
        ]
        is_active = any(self.activity.holds(memlet.container) for memlet in self._memlets(node)[1])
        match node:
            case Tasklet():
                return _of_tasklets(node, bases[0], bases[1], self._uses, is_active)
            case Map() if is_plain(node, self.activity):
                return _of_tasklets(node, bases[0], bases[1], self._uses, is_active)
            case Copy() if is_active:
                return _of_copy(node, bases[0], bases[1], self._uses)
            case LibraryNode() if is_active and node.kind == "reduce" and self.activity.inputs(node.inputs):
                return _of_sum(node, bases[0], bases[1], self._uses)
            case LibraryNode() if is_active:
                return LibraryItem(node, bases[0], bases[1], True)
        return Opaque(node, bases[0], bases[1])

    def _memlets(self, node: Node) -> tuple[list[Memlet], list[Memlet]]:
        if isinstance(node, Map):
            inside = [inner for inner in node.body.walk_nodes()]
            private = {name for region in node.body.walk_regions() for name in region.containers}
            reads = [memlet for inner in inside for memlet in inner.reads() if memlet.container not in private]
            writes = [memlet for inner in inside for memlet in inner.writes() if memlet.container not in private]
            return reads, writes
        passed = [operand.memlet for operand in node.operands()] if node.callees() else []
        return [*node.reads(), *passed], [*node.writes(), *passed]


def _first_jump(block: Block) -> str:
    return next(jumps(block)).kind


# -- rows of assignments ---------------------------------------------------------------------------------------------


class RowReader:
    """Collects the code of tasklets that run after each other as one row, an operation in each line."""

    def __init__(self) -> None:
        self.row: Row = []
        self.inputs: dict[str, Memlet] = {}
        self._places: dict[Memlet, str] = {}
        self._private: dict[str, ScalarExpr] = {}
        self._written: dict[Memlet, ScalarExpr] = {}  # shared elements that the same point has written

    def tasklet(self, node: Tasklet, dtype_of: Callable[[Memlet], object], private: Mapping[str, object]) -> Row:
        """Add the lines of a tasklet; return its outputs that are no private scalars, by connector."""
        values: dict[str, ScalarExpr] = {}
        for name, memlet in node.inputs.items():
            if memlet.container in private:
                values[name] = self._private[memlet.container]
            else:
                values[name] = self._written.get(memlet) or self._read(memlet, dtype_of)
        found: Row = []
        for target, value in node.code:
            values[target] = self.flat(substitute_refs(value, values))
            if target not in node.outputs:
                continue
            memlet = node.outputs[target]
            if memlet.container not in private:
                found.append((target, values[target]))
                self._written[memlet] = values[target]
            elif memlet.wcr:
                before = self._private[memlet.container]
                self._private[memlet.container] = self.flat(op(memlet.wcr, before, values[target]))
            else:
                self._private[memlet.container] = values[target]
        return found

    def _read(self, memlet: Memlet, dtype_of: Callable[[Memlet], object]) -> Ref:
        if memlet not in self._places:
            self._places[memlet] = f"x{len(self.inputs)}"
            self.inputs[self._places[memlet]] = memlet
        return Ref(self._places[memlet], dtype_of(memlet))  # type: ignore[arg-type]

    def flat(self, value: ScalarExpr) -> ScalarExpr:
        """A value as a name or a number, with its operations in lines of their own."""
        match value:
            case Op(name=name, args=args):
                value = Op(name, tuple(self.flat(arg) for arg in args), value.dtype)
            case Cast(arg=arg, dtype=dtype):
                value = Cast(self.flat(arg), dtype)
            case _:
                return value
        for known, line in self.row:
            if line == value:
                return Ref(known, value.dtype)
        self.row.append((f"c{len(self.row)}", value))
        return Ref(self.row[-1][0], value.dtype)


def _of_tasklets(
    node: Tasklet | Map, reads: frozenset[str], writes: frozenset[str], uses: Uses, is_active: bool
) -> Pointwise:
    reader = RowReader()
    made = Pointwise(node, reads, writes, is_active)
    tasklets: list[Node] = [node]
    private: Mapping[str, object] = {}
    if isinstance(node, Map):
        made.params, made.domain, private = node.params, node.domain, node.body.containers
        tasklets = list(node.body.walk_nodes())
    for tasklet in tasklets:
        assert isinstance(tasklet, Tasklet)
        for target, value in reader.tasklet(tasklet, lambda memlet: uses.desc(memlet.container).dtype, private):
            name = f"o{len(made.outputs)}"
            made.outputs[name] = tasklet.outputs[target]
            made.results[name] = value
    made.inputs, made.code = reader.inputs, reader.row
    return made


def _of_copy(node: Copy, reads: frozenset[str], writes: frozenset[str], uses: Uses) -> Pointwise:
    names = tuple(uses.sdfg.fresh_name("q") for _ in node.src.subset.shape)
    made = Pointwise(node, reads, writes, True, params=names)
    made.domain = tuple(Range(ZERO, size) for size in node.src.subset.shape)
    made.inputs = {"x0": _at(node.src, names)}
    made.outputs = {"o0": _at(node.dst, names)}
    made.results = {"o0": Ref("x0", uses.desc(node.src.container).dtype)}
    return made


def _of_sum(node: LibraryNode, reads: frozenset[str], writes: frozenset[str], uses: Uses) -> Pointwise:
    """A sum over axes: each point of the operand is added to its place in the output."""
    x, out = node.inputs["x"], node.outputs["out"]
    names = tuple(uses.sdfg.fresh_name("q") for _ in x.subset.shape)
    kept = tuple(name for axis, name in enumerate(names) if axis not in node.axes)  # type: ignore[attr-defined]
    made = Pointwise(node, reads, writes, True, params=names)
    made.domain = tuple(Range(ZERO, size) for size in x.subset.shape)
    made.inputs = {"x0": _at(x, names)}
    made.outputs = {"o0": _at(out, kept)}
    reader = RowReader()
    value = Ref("x0", uses.desc(x.container).dtype)
    made.results = {"o0": reader.flat(cast(value, uses.desc(out.container).dtype))}
    made.code, made.gathers, made.sums = reader.row, not out.wcr, out
    return made


def _at(memlet: Memlet, params: tuple[str, ...]) -> Memlet:
    """One element of a memlet, by the parameters of its kept dimensions."""
    left: Iterator[Expr] = iter([sym(name) for name in params])
    dims = [dim.at(next(left)) if isinstance(dim, Range) else dim for dim in memlet.subset.dims]
    return Memlet(memlet.container, Subset(tuple(dims)), memlet.wcr)


# -- plain maps ------------------------------------------------------------------------------------------------------


def is_plain(node: Map, activity: Activity) -> bool:
    """Return whether a map is tasklets with private scalars that read of what is written in it the same element."""
    if not all(isinstance(desc, Scalar) for desc in node.body.containers.values()):
        return False
    written: dict[str, Memlet] = {}
    for block in node.body.blocks:
        if not isinstance(block, State):
            return False
        for inner in block.nodes:
            if not isinstance(inner, Tasklet):
                return False
            shared = [memlet for memlet in inner.reads() if memlet.container not in node.body.containers]
            if any(written.get(activity.base(memlet.container), memlet) != memlet for memlet in shared):
                return False
            for memlet in inner.writes():
                base = activity.base(memlet.container)
                if memlet.container in node.body.containers:
                    continue
                if base in written:
                    return False
                written[base] = memlet
    return True
