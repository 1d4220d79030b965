"""Compaction analysis: loops over arrays that shrink (worklists), each iteration keeping the elements that a mask
selects.

Each element of such arrays is a point that goes through iterations until the mask drops it. What it is on the way
follows from itself alone, wherever it stands among those that are left. `worklist_of` reads what one point does off
the loop; nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.array_contents import ArrayContents
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Array, Lifetime, Scalar
from dcpy.ir.editing.remarks import described
from dcpy.ir.expressions.scalar import Const, Index, Load, Op, ScalarExpr, as_symbolic, symbols_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Break, Check, Loop, Resize, State, SymbolAssign, While
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, sym
from dcpy.ir.tree import dominates, is_inside, owners_around
from dcpy.ir.types import DType
from dcpy.libraries.indexing.nodes import Compress, Scatter

POINT = ".point"  # the number of a point before the loop, in places that it writes


@dataclass(frozen=True)
class ComputedScalar:
    """A tasklet of one point, `param` of the map that it was in; what is packed or private is a scalar of the point."""

    tasklet: Tasklet
    param: str


@dataclass(frozen=True)
class CopiedScalar:
    """A scalar of the point gets the value of another one."""

    source: str
    target: str


@dataclass(frozen=True)
class StoredElement:
    """Store of a value, where the flag holds, to an element of an array that is this point's alone."""

    flag: str
    value: Memlet
    out: str
    place: tuple[Expr, ...]


Step = ComputedScalar | CopiedScalar | StoredElement


@dataclass(frozen=True)
class Worklist:
    """Program of each of `size` points in a loop, until the flag `kept` is false after an iteration.

    `carried`: arrays whose elements are the points' own; `idle` are those on which nothing depends. `scalars`: what a
    point has for itself in an iteration.
    """

    size: Expr
    carried: Mapping[str, DType]
    scalars: Mapping[str, DType]
    steps: tuple[Step, ...]
    kept: str
    idle: tuple[str, ...] = ()

    def needed(self) -> Worklist:
        """The same without what only computes itself: nothing is stored of it, and nothing depends on it."""
        names = {self.kept}
        known = -1
        while known < len(names):
            known = len(names)
            for step in self.steps:
                if isinstance(step, StoredElement):
                    names |= {step.flag, step.value.container}
                elif not names.isdisjoint(_made(step)):
                    names |= _read(step)
        return replace(
            self,
            carried={name: dtype for name, dtype in self.carried.items() if name in names},
            scalars={name: dtype for name, dtype in self.scalars.items() if name in names},
            steps=tuple(
                step for step in self.steps if isinstance(step, StoredElement) or not names.isdisjoint(_made(step))
            ),
            idle=tuple(name for name in self.carried if name not in names),
        )


def _read(step: ComputedScalar | CopiedScalar) -> set[str]:
    return {step.source} if isinstance(step, CopiedScalar) else {memlet.container for memlet in step.tasklet.reads()}


def _made(step: ComputedScalar | CopiedScalar) -> set[str]:
    return {step.target} if isinstance(step, CopiedScalar) else {memlet.container for memlet in step.tasklet.writes()}


def worklist_of(loop: Loop, uses: Uses) -> Worklist | Refusal:
    """Return the program of a point in a loop over arrays that shrink; or why the loop is none of these."""
    if not any(isinstance(node, Compress) for node in loop.body.walk_nodes()):
        return Refusal("no arrays shrink in it")
    blocks = list(loop.body.blocks)
    first = blocks.pop(0)
    size = as_symbolic(first.value) if isinstance(first, SymbolAssign) and not isinstance(first, Resize) else None
    if not isinstance(first, SymbolAssign) or size is None or size.name is None:
        return Refusal("it does not begin with how many elements there are")
    if blocks and isinstance(blocks[0], Branch):
        branch = blocks.pop(0)
        assert isinstance(branch, Branch)
        if blocks or not _leaves_when_empty(branch, first.symbol) or branch.otherwise is None:
            return Refusal("it has a branch that does more than to leave it when nothing is left", (branch,))
        blocks = branch.otherwise.blocks
    found = _LoopReader(loop, uses, size.name, first.symbol)
    plan = found.refusal_of(blocks) or found.result()
    return plan if isinstance(plan, Refusal) else plan.needed()


def _leaves_when_empty(branch: Branch, count: str) -> bool:
    (condition, body), *others = branch.cases
    zero, symbol = Const(0, types.int64), Index(sym(count))
    empty = condition in (
        Op("not", (Op("ne", (symbol, zero), types.bool_),), types.bool_), Op("eq", (symbol, zero), types.bool_)
    )  # fmt: skip
    return empty and not others and len(body.blocks) == 1 and isinstance(body.blocks[0], Break)


@dataclass
class _LoopReader:
    """Goes through a loop's body once, in order."""

    loop: Loop
    uses: Uses
    total: str  # the symbol that goes from iteration to iteration
    count: str  # its value in one iteration
    steps: list[Step] = field(default_factory=list)
    scalars: dict[str, DType] = field(default_factory=dict)
    carried: dict[str, DType] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)  # of masks: how often they were written
    flags: dict[str, str] = field(default_factory=dict)  # a scalar, or the symbol of it: which flag it counts
    packed: dict[str, tuple[str, str]] = field(default_factory=dict)  # the flag, and what was packed
    computed: set[str] = field(default_factory=set)  # what maps have written
    stored: dict[str, tuple[Scatter, tuple[str, ...]]] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)  # a carried array: what it is from the next iteration on
    roomy: list[str] = field(default_factory=list)  # arrays that may get more room
    kept: str = ""

    def __post_init__(self) -> None:
        self.known = self.uses.ranges_at(self.loop.body.blocks[-1]).rebound(self.count, ZERO, None)
        self.numbers = {self.total, self.count}

    # -- blocks --------------------------------------------------------------------------------------------------------

    def refusal_of(self, blocks: Sequence[Block]) -> Refusal | None:
        for block in blocks:
            parts: list[Block | Node] = list(block.nodes) if isinstance(block, State) else [block]
            for part in parts:
                if (refusal := self._part(part)) is not None:
                    return refusal
        return None

    def _part(self, part: Block | Node) -> Refusal | None:
        if isinstance(part, Branch):
            return self._branch(part)
        if self.replaced and not isinstance(part, Copy | SymbolAssign):
            return Refusal("it goes on after arrays have shrunk", (part,))
        match part:
            case SymbolAssign():
                return self._assigned(part)
            case Check() if _holds(part.condition, self.known):
                return None
            case Map():
                return self._map(part)
            case Tasklet():
                return self._tasklet(part, "", self.known, {})
            case LibraryNode():
                return self._library(part)
            case Copy():
                return self._copy(part)
        return Refusal(f"{described(part)} is not about single elements", (part,))

    def _library(self, part: LibraryNode) -> Refusal | None:
        match part:
            case Compress():
                return self._compress(part)
            case Scatter():
                return self._scatter(part)
            case LibraryNode(kind="reduce"):
                return self._reduce(part)
        return Refusal(f"{described(part)} is not about single elements", (part,))

    def _branch(self, branch: Branch) -> Refusal | None:
        """Arrays may get more room for what is copied into them next; those that shrink need none."""
        blocks = [block for region in branch.regions() for block in region.blocks]
        for block in blocks:
            if not isinstance(block, Resize) or block.kept is not ZERO:
                return Refusal("there is a branch inside", (branch,))
            self.roomy.append(block.container)
        return None

    def _assigned(self, assign: SymbolAssign) -> Refusal | None:
        """A count becomes a symbol; or the number that is left goes on."""
        value = assign.value
        if isinstance(value, Load) and value.container in self.flags and not isinstance(assign, Resize):
            self.flags[assign.symbol] = self.flags[value.container]
            self.numbers.add(assign.symbol)
            return None
        left = as_symbolic(value)
        if assign.symbol == self.total and left is not None and left.name in self.flags and not self.kept:
            self.kept = self.flags[left.name]
            return None
        return Refusal(f"{assign.symbol!r} does not count what a mask selects", (assign,))

    def _reduce(self, node: LibraryNode) -> Refusal | None:
        mask, out = node.inputs["x"], node.outputs["out"]
        flag = self._flag(mask)
        counts = getattr(node, "op", "") == "add" and not out.subset.dims and self._is_local(out.container)
        if flag is None or not counts:
            return Refusal("it reduces what is no mask of all elements", (node,))
        self.flags[out.container] = flag
        return None

    def _flag(self, mask: Memlet) -> str | None:
        """The scalar that holds what a mask of this iteration has for a point."""
        name = mask.container
        if not self._is_whole(mask) or not self._is_local(name) or self.uses.desc(name).dtype != types.bool_:
            return None
        flag = f"{name}.{self.versions.get(name, 0)}"
        if flag not in self.scalars:
            self.scalars |= {flag: types.bool_, name: types.bool_}
            self.steps.append(CopiedScalar(name, flag))
        return flag

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def _map(self, node: Map) -> Refusal | None:
        blocks = node.body.blocks
        plain = len(node.params) == 1 and len(blocks) == 1 and isinstance(blocks[0], State) and not node.home
        (domain, *_) = node.domain
        if not plain or domain.start is not ZERO or domain.step is not ONE:
            return Refusal(f"{described(node)} is not over all elements", (node,))
        if self.known.simplify(domain.stop) != sym(self.count):
            return Refusal(f"{described(node)} is not over all elements", (node,))
        (param,) = node.params
        known = self.known.bind(param, ZERO, sym(self.count) - 1)
        written: dict[str, None] = {}
        for inner in node.body.walk_nodes():
            if not isinstance(inner, Tasklet):
                return Refusal(f"{described(node)} does more than tasklets", (node,))
            if (refusal := self._tasklet(inner, param, known, node.body.containers)) is not None:
                return refusal
            written |= dict.fromkeys(memlet.container for memlet in inner.writes())
        for name in written:
            self.versions[name] = self.versions.get(name, 0) + 1
            self.computed.add(name)
        return None

    def _tasklet(self, node: Tasklet, param: str, known: Ranges, private: Mapping[str, object]) -> Refusal | None:
        if effects_of(node):
            return Refusal("a tasklet does more than to compute", (node,))
        mentioned = {symbol for expr in node.exprs() for symbol in symbols_of(expr)}
        if mentioned & {*self.numbers, param}:
            return Refusal("the number of an element among those that are left is used", (node,))
        kept: dict[str, dict[str, Memlet]] = {"inputs": {}, "outputs": {}}
        for side, memlets in (("inputs", node.inputs), ("outputs", node.outputs)):
            for connector, memlet in memlets.items():
                found = self._element(memlet, param, known, private, written=side == "outputs")
                if isinstance(found, Refusal):
                    return found
                kept[side][connector] = found
        self.steps.append(ComputedScalar(Tasklet(kept["inputs"], kept["outputs"], node.code, span=node.span), param))
        return None

    def _element(
        self, memlet: Memlet, param: str, known: Ranges, private: Mapping[str, object], *, written: bool
    ) -> Memlet | Refusal:
        """Return the scalar that a point has instead of an element of an array; other memlets as they are."""
        name, desc = memlet.container, self.uses.desc(memlet.container)
        if memlet.wcr or memlet.dynamic:
            return Refusal(f"{name!r} combines values")
        is_private = name in private or (isinstance(desc, Scalar) and self._is_local(name))
        index = tuple(known.simplify(dim) for dim in memlet.subset.dims if isinstance(dim, Expr))
        if is_private and not index:
            self.scalars[name] = desc.dtype
            return memlet
        if param and index == (sym(param),) and isinstance(desc, Array):
            (self.scalars if self._is_local(name) else self.carried)[name] = desc.dtype
            return Memlet(name, Subset())
        writers = [writer for other in self.uses.overlapping(name) for writer in self.uses.writers(other)]
        changed = written or any(is_inside(writer, self.loop) for writer in writers)
        if changed or {param, *self.numbers} & set(memlet.subset.symbols):
            return Refusal(f"{name!r} is not touched element by element")
        return memlet

    def _compress(self, node: Compress) -> Refusal | None:
        flag = self._flag(node.inputs["mask"])
        if flag is None or node.axis:
            return Refusal("it packs by what is no mask of all elements", (node,))
        for connector, out in node.outputs.items():
            source = node.inputs[f"x{connector[3:]}"]
            if not self._is_whole(source) or not self._counts(out, flag) or not self._is_local(out.container):
                return Refusal(f"{source.container!r} is not packed whole", (node,))
            dtype = self.uses.desc(source.container).dtype
            (self.scalars if self._is_local(source.container) else self.carried)[source.container] = dtype
            self.scalars[out.container] = dtype
            self.packed[out.container] = (flag, source.container)
            self.steps.append(CopiedScalar(source.container, out.container))
        return None

    def _scatter(self, node: Scatter) -> Refusal | None:
        out, value = node.outputs["out"], node.inputs["values"]
        indices = [node.inputs[f"i{k}"] for k in range(len(node.axes))]
        packed = [self.packed.get(index.container, ("", "")) for index in indices]
        flag, sources = packed[0][0], tuple(source for _, source in packed)
        shape = self.uses.desc(out.container).shape
        if node.op or node.axes != tuple(range(len(shape))) or out.subset.dims != Subset.whole(shape).dims:
            return Refusal("it does more than to store single elements", (node,))
        if not flag or not all(self._counts(index, flag) for index in indices):
            return Refusal("it stores at places that one mask has not packed", (node,))
        if value.subset.dims:
            if value.container not in self.packed or not self._counts(value, flag):
                return Refusal("it stores what the mask has not packed", (node,))
            value = Memlet(value.container, Subset())
        elif isinstance(single := self._element(value, "", self.known, {}, written=False), Refusal):
            return single
        place = self._place(node, sources)
        if isinstance(place, Refusal):
            return place
        self.stored[out.container] = (node, sources)
        self.steps.append(StoredElement(flag, value, out.container, place))
        return None

    def _place(self, node: Scatter, sources: tuple[str, ...]) -> tuple[Expr, ...] | Refusal:
        """Return the place that a point, and no other one, writes."""
        out = node.outputs["out"].container
        before = self.stored.get(out, (node, sources))[1]
        inside = [n for o in self.uses.overlapping(out) for n in self.uses.accessors(o) if is_inside(n, self.loop)]
        if before != sources or not all(isinstance(n, Scatter) and n.outputs["out"].container == out for n in inside):
            return Refusal(f"{out!r} is touched elsewhere, too", (node,))
        contents = ArrayContents(self.loop, self.uses, below=self._first_total())
        places = [contents.of(name, (sym(POINT),)) for name in sources]
        found = tuple(place for place in places if place is not None)
        if len(found) != len(places) or not _are_distinct(found):
            return Refusal(f"two points may write the same element of {out!r}", (node,))
        for place, size in zip(found, self.uses.desc(out).shape, strict=True):
            if size not in contents.sizes.get(place, ()):
                return Refusal(f"{place} is not proved to be an index of {out!r}", (node,))
        return found

    def _first_total(self) -> dict[Expr, Expr]:
        """Return the number of points before the loop: each one's number is below it."""
        before = [d for d in self.uses.definers(self.total) if not is_inside(d, self.loop)]
        if len(before) != 1 or not isinstance(before[0], SymbolAssign) or isinstance(before[0], Resize):
            return {}
        size = as_symbolic(before[0].value)
        steady = size is not None and not any(self.uses.definers(symbol) for symbol in size.symbols)
        return {sym(POINT): size} if size is not None and steady else {}

    def _copy(self, node: Copy) -> Refusal | None:
        source, target = node.src, node.dst
        flag, _ = self.packed.get(source.container, ("", ""))
        if not flag or self._is_local(target.container) or target.container in self.replaced:
            return Refusal(f"{source.container!r} is copied, which no mask has packed", (node,))
        if not self._counts(source, flag) or not self._counts(target, flag) or target.wcr:
            return Refusal(f"a part of {source.container!r} is kept", (node,))
        self.carried[target.container] = self.uses.desc(target.container).dtype
        self.replaced[target.container] = source.container
        return None

    # -- questions -----------------------------------------------------------------------------------------------------

    def _is_local(self, name: str) -> bool:
        return is_inside(self.uses.home(name), self.loop)

    def _is_whole(self, memlet: Memlet) -> bool:
        """Return whether it is all that is left of an array."""
        dims = memlet.subset.dims
        if len(dims) != 1 or not isinstance(dims[0], Range) or dims[0].start is not ZERO or dims[0].step is not ONE:
            return False
        return self.known.simplify(dims[0].stop) == sym(self.count)

    def _counts(self, memlet: Memlet, flag: str) -> bool:
        """Return whether it is as many elements as a mask has selected, from the first one on."""
        (dim, *others) = memlet.subset.dims or (None,)
        if not isinstance(dim, Range) or others or dim.start is not ZERO or dim.step is not ONE:
            return False
        return dim.stop.name is not None and self.flags.get(dim.stop.name) == flag

    # -- all of it -----------------------------------------------------------------------------------------------------

    def result(self) -> Worklist | Refusal:
        """Return the worklist; or why points might meet, or be seen outside of the loop."""
        if not self.kept:
            return Refusal("it does not say how many elements are left")
        for name in self.carried:
            if (refusal := self._why_not_own(name)) is not None:
                return refusal
        for _, sources in self.stored.values():
            moved = [s for s in sources if s in self.computed or self.packed[self.replaced[s]][1] != s]
            if moved:
                return Refusal(f"{moved[0]!r}, which says where points write, changes")
        if other := next((name for name in self.roomy if name not in self.replaced), ""):
            return Refusal(f"{other!r} gets more room, and is not written after it")
        for name in self.scalars:
            desc = self.uses.desc(name) if self.uses.declared(name) else None
            if isinstance(desc, Array) and desc.lifetime is not Lifetime.SCOPE:
                return Refusal(f"{name!r} outlives an iteration")
        if (refusal := self._why_counted()) is not None:
            return refusal
        back = tuple(CopiedScalar(source, target) for target, source in self.replaced.items())
        return Worklist(sym(self.total), self.carried, self.scalars, (*self.steps, *back), self.kept)

    def _why_not_own(self, name: str) -> Refusal | None:
        desc, uses = self.uses.desc(name), self.uses
        start = uses.position(self.loop)
        others = [e for shown in uses.overlapping(name) if shown != name for e in uses.accessors(shown)]
        is_own = uses.is_private(name) and all(uses.position(e) < start for e in others)  # views that fill it
        if not isinstance(desc, Array) or len(desc.shape) != 1 or not is_own:
            return Refusal(f"{name!r} is not an array of its own with one dimension")
        if name not in self.replaced or self.packed[self.replaced[name]][0] != self.kept:
            return Refusal(f"{name!r} does not shrink with the others")
        if any(isinstance(owner, Loop | While | Map) for owner in owners_around(self.loop, uses.home(name))):
            return Refusal(f"{name!r} goes through the loop more than once")
        if any(uses.position(e) > start and not is_inside(e, self.loop) for e in uses.accessors(name)):
            return Refusal(f"{name!r} is used after the loop")
        return None

    def _why_counted(self) -> Refusal | None:
        """Return why the number of points matters elsewhere, or differs when the loop begins again; None otherwise."""
        before = [definer for definer in self.uses.definers(self.total) if not is_inside(definer, self.loop)]
        for owner in owners_around(self.loop):
            own = [definer for definer in before if is_inside(definer, owner)]
            if isinstance(owner, Loop | While | Map) and not any(dominates(definer, self.loop) for definer in own):
                return Refusal("the loop goes on with what is left of an earlier run")
        for symbol in self.numbers:
            outside = [e for e in self.uses.users(symbol) if not is_inside(e, self.loop)]
            inside = [d for d in self.uses.definers(symbol) if is_inside(d, self.loop)]
            if outside or len(inside) != 1:
                return Refusal(f"{symbol!r}, a number of elements, is used elsewhere, too")
        return None


def _holds(condition: ScalarExpr, known: Ranges) -> bool:
    """Return whether a check on sizes always holds."""
    match condition:
        case Op("or", args):
            return any(_holds(arg, known) for arg in args)
        case Op("and", args):
            return all(_holds(arg, known) for arg in args)
        case Op("eq", (left, right)):
            one, other = as_symbolic(left), as_symbolic(right)
            return one is not None and other is not None and known.simplify(one - other) is ZERO
    return False


def _are_distinct(place: tuple[Expr, ...]) -> bool:
    """Return whether no two points have the same place: one index is the point's number, or two are its digits."""
    point = sym(POINT)
    if any((index - point).constant is not None for index in place):
        return True
    sizes = (atom.args[1] for index in place for terms, _ in index.terms for atom, _ in terms if atom.kind == "mod")
    return any({point // size, point % size} <= set(place) for size in sizes)
