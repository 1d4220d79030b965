"""The nodes of a state: computations and movements, each with the memlets that it reads and writes.

A node's memlets *are* the graph's edges (decision 0002): the state keeps its nodes in an order in which they may run,
and `ir.analysis.dataflow_graph` derives access nodes, edges and the multigraph from it. Nodes have identity; memlets
are values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from dcpy.base.source import SrcSpan
from dcpy.ir.distribution import Distribution
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.field_roles import Axes, Role, Roles, Written
from dcpy.ir.memlet import Memlet
from dcpy.ir.schedules import UNDECIDED, Schedule
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    import numpy as np

    from dcpy.ir.region import Region, State
    from dcpy.ir.sdfg import Sdfg


_OPERANDS = {"inputs": Role.READ, "outputs": Role.WRITTEN}


@dataclass(eq=False)
class Node(Written):
    """Base of all nodes. `state` is set by the state that holds the node.

    `roles` says what its fields hold (`ir.field_roles`), `effects` what it does itself besides reading and writing;
    what is inside of it, or called by it, comes on top (`ir.analysis.dataflow.effect_analysis`).
    """

    span: SrcSpan | None = field(default=None, repr=False, kw_only=True)
    state: State | None = field(default=None, repr=False, init=False)
    takes_queues: ClassVar[bool] = False  #: whether its memlets may push and pop

    def handles(self) -> tuple[str, ...]:
        """Connectors whose memory holds addresses of the process, which no program makes
        (`ir.analysis.dataflow.opaque_handles`).
        """
        return ()

    def index_labels(self) -> Mapping[str, tuple[str, ...]] | None:
        """A label for each dimension that a memlet keeps, by connector, as in ``np.einsum``; None where unknown.

        A block of the outputs, cut along labels, needs of each input the block with the same labels, and whole
        dimensions along labels that no output has.
        """
        return None

    @property
    def combination(self) -> str:
        """Operation that combines outputs of parts of labels that no output has, as in a memlet; "": none does.

        ``"add"`` for a matrix product: that of half of the inner dimension, plus that of the other half.
        """
        return ""

    @property
    def carried(self) -> str:
        """The label along which results depend on all that is before them, by `combination`: that of a scan; "": none.

        A block of the outputs is then that of the block of the inputs, combined with the last ones of those before it.
        """
        return ""


@dataclass(eq=False)
class Tasklet(Node):
    """A stateless computation on scalars: ``(a <- A[i]) -> (o -> B[i]) { o = a + 1 }``.

    Every memlet names one element. `code` assigns connectors in order: each output exactly once; other names are
    local. Inputs are read before anything is written.
    """

    kind = "tasklet"
    roles: ClassVar[Roles] = _OPERANDS | {"code": Role.CODE}
    inputs: dict[str, Memlet]
    outputs: dict[str, Memlet]
    code: tuple[tuple[str, ScalarExpr], ...]
    name: str = ""
    takes_queues = True

    @property
    def title(self) -> str:
        return self.name


@dataclass(eq=False)
class Copy(Node):
    """``dst[...] = src[...]``: shapes (of kept dimensions) and dtypes agree; as if read whole before written.

    Pushes to a stream where `dst` names one, pops where `src` does. After one that `moves` all of a transient, what is
    in the source is undefined: its memory may have become the destination's.
    """

    kind = "copy"
    roles: ClassVar[Roles] = {"src": Role.READ, "dst": Role.WRITTEN}
    src: Memlet
    dst: Memlet
    moves: bool = False
    takes_queues = True


@dataclass(eq=False)
class Map(Node):
    """A parallel loop nest: runs `body` once per point of `domain`, in no particular order.

    Containers declared in `body` are private to one iteration. Iterations may not depend on each other except through
    conflict resolution. Bounds of a range may mention earlier parameters. One that is `claimed` to be so has not been
    proved: the interpreter looks. `home` says on which ranks an iteration runs, an entry per parameter; none: on each.
    """

    kind = "map"
    concurrent = True
    roles: ClassVar[Roles] = {"params": Role.DEFINED, "domain": Role.BOUND, "home": Role.BOUND}
    params: tuple[str, ...]
    domain: tuple[Range, ...]
    body: Region
    schedule: Schedule = UNDECIDED
    claimed: bool = False
    home: Distribution | None = None

    def __post_init__(self) -> None:
        self.body.owner = self

    def regions(self) -> tuple[Region, ...]:
        return (self.body,)

    @property
    def title(self) -> str:
        return f"map {', '.join(self.params)}"

    def iteration_space(self) -> Axes:
        return tuple(zip(self.params, self.domain, strict=False))  # the verifier says where they differ in number


@dataclass(eq=False)
class Call(Node):
    """A call of another SDFG: containers by memlet (the callee sees just that subset), symbols by value.

    `arguments` has one memlet per argument container of `sdfg`, by the callee's name for it. The subset's kept
    dimensions are the callee's dimensions. Where the call is `outlined`, the callee stays a function of its own.
    """

    kind = "call"
    roles: ClassVar[Roles] = {"arguments": Role.PASSED, "symbols": Role.BOUND}
    effects = Effect.NOTHING  # but those of its callee
    sdfg: Sdfg
    arguments: dict[str, Memlet]
    symbols: dict[str, Expr]
    outlined: bool = False

    @property
    def title(self) -> str:
        return f"call @{self.sdfg.name}"

    def callees(self) -> tuple[Sdfg, ...]:
        return (self.sdfg,)


@dataclass(eq=False)
class LibraryNode(Node):
    """A computation that a library knows how to do well. Subclasses live in `dcpy.libraries`.

    A subclass is a dataclass; its own fields (numbers, bools, strings, tuples of ints, dtypes) are its properties,
    are what is printed and saved, and never change its memlets; expressions over symbols have a role. Which connectors
    are optional is the subclass' to check. One that does more than to compute its outputs (it sends, prints, may raise)
    says so: ``effects = Effect.ORDERED``; then it is never dropped, repeated, or moved past another such node, with
    outputs or without.
    """

    kind = "library"
    roles: ClassVar[Roles] = _OPERANDS
    inputs: dict[str, Memlet]
    outputs: dict[str, Memlet]

    def meaning(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
        """Compute the outputs in place with NumPy: what the interpreter does, and what expansions must equal."""
        raise NotImplementedError(f"library node {self.kind} must say what it means")

    def problems(self) -> Iterator[str]:
        """Yield the errors in this node, a sentence each (used by verification)."""
        yield from ()


@dataclass(eq=False)
class ForeignCall(Node):
    """A call of a C function: what an expansion turns a library node into.

    `args` in order: a string is a connector passed as a pointer to the first element of its subset; an expression is
    passed by value (a `Ref` in it is a scalar input). `result` names the output that takes the return value.
    `environment` names what to declare and link (`dcpy.libraries`); the function is one of those that it declares. An
    `ordered` call has an effect that is seen outside, as the library node that it stands for has.
    """

    kind = "foreign"
    roles: ClassVar[Roles] = _OPERANDS | {"args": Role.CODE}
    function: str
    args: tuple[str | ScalarExpr, ...]
    inputs: dict[str, Memlet]
    outputs: dict[str, Memlet]
    environment: str
    result: str = ""
    ordered: bool = False

    @property
    def title(self) -> str:
        return f"the C function {self.function}"

    @property
    def effects(self) -> Effect:  # type: ignore[override]  # the one class whose nodes differ in it
        """C text is opaque; whether it is ordered is known."""
        return Effect.CALLS_OUT | (Effect.ORDERED if self.ordered else Effect.NOTHING)


@dataclass(eq=False)
class Callback(Node):
    """A call of a Python function, by name: `base.callback_sites` says what `call` and `returns` mean.

    Operands are connectors: inputs are passed (as views of the memory, where they are outputs too the function may
    write), outputs that `returns` names take results. The object that `function` names is in `Sdfg.callbacks`, and is
    no part of a saved SDFG. A callback may do anything: it is never dropped, repeated, or moved past another one. The
    frontend says that with dataflow, too: all callbacks of a program read and write one scalar.
    """

    kind = "callback"
    roles: ClassVar[Roles] = _OPERANDS
    effects = Effect.MAY_RAISE | Effect.MAY_NOT_END | Effect.ORDERED | Effect.CALLS_OUT
    inputs: dict[str, Memlet]
    outputs: dict[str, Memlet]
    function: str
    call: str = ""
    returns: str = ""
    free_texts = ("call",)

    @property
    def title(self) -> str:
        return f"the Python function {self.function}"
