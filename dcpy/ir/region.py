"""Regions and blocks: structured control flow, which orders what dataflow does not.

A `Region` declares containers and runs its blocks in order. A scope owns its body: the body of a loop, a branch or a
map is a region, so there is no graph in which an entry must find its exit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, TypeVar, Union

from dcpy.base.source import SrcSpan
from dcpy.ir.data import Data
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import ScalarExpr, WrapIndex, walk
from dcpy.ir.field_roles import Axes, Role, Roles, Runs, Written
from dcpy.ir.nodes import Call, Node
from dcpy.ir.schedules import SEQUENTIAL, Schedule
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.ir.sdfg import Sdfg

T = TypeVar("T")


@dataclass(eq=False)
class Block(Written):
    """Base of what a region runs. `region` is set by the region that holds the block; `roles` and `effects` as those
    of nodes."""

    span: SrcSpan | None = field(default=None, repr=False, kw_only=True)
    region: Region | None = field(default=None, repr=False, init=False)


@dataclass(eq=False)
class State(Block):
    """Pure dataflow: nodes in an order in which they may run.

    Two nodes depend on each other exactly where one writes what the other touches; any order that keeps these
    dependences gives the same results. `ir.analysis.dataflow_graph` shows them as a multigraph with access nodes.
    """

    kind = "state"
    name: str = ""
    nodes: list[Node] = field(default_factory=list)
    _cursor = 0  # where `index` found a node last; no field: it is no part of the state

    def __post_init__(self) -> None:
        for node in self.nodes:
            node.state = self

    def add(self, node: Node) -> Node:
        """Append a node; return it."""
        return self.insert(len(self.nodes), node)

    def insert(self, position: int, node: Node) -> Node:
        node.state = self
        self.nodes.insert(position, node)
        return node

    def index(self, node: Node) -> int:
        """Return the position of a node; quick for one near the last one that was asked for."""
        self._cursor = _index_near(self.nodes, node, self._cursor)
        return self._cursor

    def remove(self, node: Node) -> None:
        del self.nodes[self.index(node)]
        node.state = None

    def regions(self) -> tuple[Region, ...]:
        return tuple([region for node in self.nodes for region in node.regions()])


@dataclass(eq=False)
class Loop(Block):
    """A sequential loop: `param` takes the values of `range` in order. Bounds are evaluated once, before the loop.

    Its `schedule` keeps the order: sequential, unrolled, recorded, or pipelined.
    """

    kind = "loop"
    roles: ClassVar[Roles] = {"param": Role.DEFINED, "range": Role.BOUND}
    param: str
    range: Range
    body: Region
    schedule: Schedule = SEQUENTIAL

    def __post_init__(self) -> None:
        self.body.owner = self

    def regions(self) -> tuple[Region, ...]:
        return (self.body,)

    @property
    def title(self) -> str:
        return f"loop {self.param}"

    def iteration_space(self) -> Axes:
        return ((self.param, self.range),)


@dataclass(eq=False)
class While(Block):
    """Runs `body` as long as `condition` (bool) holds, which is tested before each run."""

    kind = "while"
    roles: ClassVar[Roles] = {"condition": Role.SCALAR}
    effects = Effect.MAY_NOT_END
    runs = Runs.AGAIN
    condition: ScalarExpr
    body: Region

    def __post_init__(self) -> None:
        self.body.owner = self

    def regions(self) -> tuple[Region, ...]:
        return (self.body,)


@dataclass(eq=False)
class Branch(Block):
    """Runs the region of the first condition (bool) that holds, else `otherwise` (if there is one)."""

    kind = "branch"
    roles: ClassVar[Roles] = {"cases": Role.SCALAR}
    runs = Runs.PERHAPS
    cases: list[tuple[ScalarExpr, Region]]
    otherwise: Region | None = None

    def __post_init__(self) -> None:
        for region in self.regions():
            region.owner = self

    def regions(self) -> tuple[Region, ...]:
        bodies = tuple(body for _, body in self.cases)
        return bodies if self.otherwise is None else (*bodies, self.otherwise)


@dataclass(eq=False)
class Dataflow(Block):
    """A Kahn process network: the processes of `body` run at the same time, and wait for each other through streams.

    It ends when all have ended that are not endless, and no endless one can go on. Where one of the others waits then,
    it raises `RuntimeError`; where processes raise, all go on that can, and then the first one's exception is raised.
    """

    kind = "dataflow"
    effects = Effect.MAY_RAISE
    body: Region

    def __post_init__(self) -> None:
        self.body.owner = self

    def regions(self) -> tuple[Region, ...]:
        return (self.body,)


@dataclass(eq=False)
class Process(Block):
    """A sequential program of a `Dataflow`; with `params` one for each point of `domain`.

    No other process touches what it writes, and each stream has one process that pushes and one that pops. An `endless`
    one may wait for ever.
    """

    kind = "process"
    concurrent = True
    roles: ClassVar[Roles] = {"params": Role.DEFINED, "domain": Role.BOUND}
    name: str
    params: tuple[str, ...]
    domain: tuple[Range, ...]
    body: Region
    endless: bool = False

    def __post_init__(self) -> None:
        self.body.owner = self

    def regions(self) -> tuple[Region, ...]:
        return (self.body,)

    def iteration_space(self) -> Axes:
        return tuple(zip(self.params, self.domain, strict=False))  # the verifier says where they differ in number


@dataclass(eq=False)
class SymbolAssign(Block):
    """Gives a symbol its value: the assignment on the transition between two blocks (decision 0003).

    The value is an integer expression; it may read containers. A symbol may be assigned again.
    """

    kind = "assign"
    roles: ClassVar[Roles] = {"symbol": Role.DEFINED, "value": Role.SCALAR}
    symbol: str
    value: ScalarExpr

    @property
    def effects(self) -> Effect:  # type: ignore[override]  # the one class of blocks that differ in it
        """An index that is out of range raises."""
        raises = any(isinstance(part, WrapIndex) for part in walk(self.value))
        return Effect.MAY_RAISE if raises else Effect.NOTHING


@dataclass(eq=False)
class Resize(SymbolAssign):
    """Gives an array more room (or less): its first dimension is `symbol`, which becomes `value`.

    Its first `kept` items stay; what is behind them is undefined. `symbol` is the size of no other container.
    """

    kind = "resize"
    roles: ClassVar[Roles] = {**SymbolAssign.roles, "container": Role.WHOLE, "kept": Role.BOUND}
    container: str
    kept: Expr


@dataclass(eq=False)
class Check(Block):
    """Raises the Python exception `exception` unless `condition` holds.

    ``{0}`` to ``{3}`` in `message` stand for the integer expressions `values`.
    """

    kind = "check"
    roles: ClassVar[Roles] = {"condition": Role.SCALAR, "values": Role.SCALAR}
    effects = Effect.MAY_RAISE
    condition: ScalarExpr
    exception: str
    message: str
    values: tuple[ScalarExpr, ...] = ()
    free_texts = ("message",)


@dataclass(eq=False)
class Break(Block):
    """Leaves the innermost loop."""

    kind = "break"


@dataclass(eq=False)
class Continue(Block):
    """Goes on with the next iteration of the innermost loop."""

    kind = "continue"


@dataclass(eq=False)
class Return(Block):
    """Leaves the SDFG."""

    kind = "return"


Owner = Union[Node, Block, "Sdfg"]


class Region:
    """Containers declared here and visible inside, and blocks that run in order."""

    def __init__(self, blocks: Iterable[Block] = (), containers: dict[str, Data] | None = None) -> None:
        self.containers: dict[str, Data] = dict(containers or {})
        self.blocks: list[Block] = []
        self.owner: Owner | None = None
        self._cursor = 0
        for block in blocks:
            self.add(block)

    def add(self, block: Block) -> Block:
        """Append a block; return it."""
        return self.insert(len(self.blocks), block)

    def insert(self, position: int, block: Block) -> Block:
        block.region = self
        self.blocks.insert(position, block)
        return block

    def index(self, block: Block) -> int:
        """Return the position of a block; quick for one near the last one that was asked for."""
        self._cursor = _index_near(self.blocks, block, self._cursor)
        return self._cursor

    def remove(self, block: Block) -> None:
        del self.blocks[self.index(block)]
        block.region = None

    def replace(self, block: Block, others: Iterable[Block]) -> None:
        """Put `others` where `block` was."""
        position = self.index(block)
        self.remove(block)
        for offset, other in enumerate(others):
            self.insert(position + offset, other)

    @property
    def parent(self) -> Region | None:
        """The region around this one, inside the same SDFG."""
        match self.owner:
            case Node(state=state):
                return None if state is None else state.region
            case Block(region=region):
                return region
        return None

    @property
    def params(self) -> tuple[str, ...]:
        """The symbols that the owner defines for this region: parameters of a map or loop, a worker's number."""
        return tuple(self.owner.all_of(Role.DEFINED)) if isinstance(self.owner, Written) else ()

    def walk_regions(self) -> Iterator[Region]:
        """This region and all inside it, outermost first, in program order. Callees are not entered."""
        yield self
        for block in self.blocks:
            for region in block.regions():
                yield from region.walk_regions()

    def walk_blocks(self) -> Iterator[Block]:
        """All blocks inside, in program order, each before those it owns."""
        left: list[Iterator[Block]] = [iter(list(self.blocks))]  # nested generators would hand each up all levels
        while left:
            block = next(left[-1], None)
            if block is None:
                left.pop()
                continue
            yield block
            if regions := block.regions():
                left.append(chain.from_iterable(list(region.blocks) for region in regions))

    def walk_nodes(self) -> Iterator[Node]:
        """All nodes inside, in program order, each before those it owns."""
        for block in self.walk_blocks():
            if isinstance(block, State):
                yield from list(block.nodes)

    def walk_calls(self) -> Iterator[Call]:
        for node in self.walk_nodes():
            if isinstance(node, Call):
                yield node


def _index_near(items: Sequence[T], item: T, guess: int) -> int:
    """``items.index(item)``, looking around `guess` first: sweeps ask for neighbours, in lists of thousands.

    A search that fails would write the whole of `item` into its exception: a membership test does not.
    """
    start = max(guess - 4, 0)
    near = items[start : guess + 12]
    return start + near.index(item) if item in near else items.index(item)
