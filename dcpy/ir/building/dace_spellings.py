"""DaCe's spellings for building graphs: ``add_array``, ``arrays``, ``states()``, ``add_state``.

Thin: an SDFG is a tree of regions here, whose states hold nodes in order. What builds edges by hand has no meaning for
it (docs/how-to/from-dace.md says which, and what to write instead).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import InvalidSdfg
from dcpy.ir import types
from dcpy.ir.analysis.dependence.loop_nests import params_of, scopes_in
from dcpy.ir.building.builder import Out, SdfgBuilder, as_dtype
from dcpy.ir.data import Array, Data, Scalar
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS
from dcpy.ir.memlet import Memlet as IrMemlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.schedules import UNDECIDED, Schedule
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, as_expr, parse_expr

if TYPE_CHECKING:
    import networkx

_WCR = {ast.Add: "add", ast.Mult: "mul", ast.BitAnd: "bitand", ast.BitOr: "bitor", ast.BitXor: "bitxor"}


@dataclass(frozen=True)
class Memlet:
    """``dcpy.Memlet("A[i, 0:N]")``, perhaps with ``wcr="lambda a, b: a + b"`` (or ``"add"``): what moves, as a text."""

    text: str
    wcr: str = ""

    @classmethod
    def simple(cls, data: str, subset_str: str = "", wcr_str: str = "") -> Memlet:
        """``Memlet.simple("A", "i, j")``."""
        return cls(f"{data}[{subset_str}]" if subset_str else data, wcr_str)

    def of(self, sdfg: Sdfg) -> IrMemlet:
        """The memlet of the IR; without a subset, all of the container."""
        name, _, subset = self.text.partition("[")
        desc = sdfg.desc(name.strip())
        parts = subset.rstrip().removesuffix("]")
        dims = tuple(map(_dim, _split(parts))) if subset else Subset.whole(desc.shape).dims
        if len(dims) == 1 and desc.shape and all(size is ONE for size in desc.shape) and not subset:
            dims = tuple(as_expr(0) for _ in desc.shape)
        return IrMemlet(name.strip(), Subset(dims), _resolution(self.wcr))


def _resolution(text: str) -> str:
    """The resolution of a memlet, from its name or from the text of a lambda."""
    if not text or text in CONFLICT_RESOLUTIONS:
        return text
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        tree = None
    match tree:
        case ast.Lambda(body=ast.BinOp(op=op)) if type(op) in _WCR:
            return _WCR[type(op)]
        case ast.Lambda(body=ast.Call(func=ast.Name(id="min" | "max" as name))):
            return name
    raise InvalidSdfg(f"{text!r} is no conflict resolution", help=f"use one of {', '.join(CONFLICT_RESOLUTIONS)}")


def _split(text: str) -> list[str]:
    """The dimensions of a subset: commas outside of parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _dim(text: str) -> Expr | Range:
    bounds = text.split(":")
    return parse_expr(text) if len(bounds) == 1 else Range(*map(parse_expr, bounds))


class GraphWords(Sdfg):
    """An `Sdfg` with these spellings."""

    # -- looking -------------------------------------------------------------------------------------------------

    @property
    def arrays(self) -> dict[str, Data]:
        """All containers by name, those that regions inside declare included."""
        return {name: desc for region in self.body.walk_regions() for name, desc in region.containers.items()}

    def states(self) -> list[State]:
        """All states, in program order, those inside loops and branches included, those inside maps not."""
        return list(_states(self.body))

    @property
    def start_state(self) -> State:
        """The state that runs first."""
        for state in self.states():
            return state
        raise InvalidSdfg(f"{self.name!r} has no state")

    def nodes(self) -> list[Block]:
        """The blocks of the outermost region, in order: states, loops, branches, assignments."""
        return list(self.body.blocks)

    def all_nodes_recursive(self) -> Iterator[tuple[Node | Block, State | Region]]:
        """Every block and node with what holds it, of callees too, each before what it owns."""
        for sdfg in self.with_callees():
            for block in sdfg.body.walk_blocks():
                yield block, block.region or sdfg.body
                if isinstance(block, State):
                    yield from ((node, block) for node in block.nodes)

    def all_sdfgs_recursive(self) -> Iterator[Sdfg]:
        """The SDFG itself, and those that it calls."""
        yield from self.with_callees()

    def to_networkx(self, *kinds: str) -> networkx.MultiDiGraph:
        """Return the SDFG as a graph of NetworkX: all blocks and nodes, in program order, callees not included.

        A node is a text (``"state_0"``, ``"A.1@state_0"``), with these attributes:

        * ``kind``: ``"state"``, ``"loop"``, ``"branch"`` and other blocks; ``"tasklet"``, ``"map"``, ``"copy"`` and
          other nodes of states; ``"access"``: a container, from one write to the next
        * ``label``: a short text to draw; ``element``: the element of the SDFG, or an ``AccessNode``
        * ``inside``: the node that holds it, "" for outermost blocks
        * ``line``: the line of the Python program, 0 if unknown (not for ``"access"``)
        * ``container``, ``version`` (0: as the state begins), ``dtype``, ``shape``, ``transient`` (for ``"access"``)

        An edge has a ``kind``, and by its kind other attributes:

        * ``"data"``: elements move; ``container``, ``memlet`` (a text), ``connector`` ("" for none)
        * ``"view"``: the same memory under another name; ``"order"``: the target overwrites what the source used
        * ``"control"``: the target is the next block of its region
        * ``"inside"``: the source holds the target, in its ``region`` of this number (of a branch: its case)

        `kinds`: of edges to include; none: all. `UnknownName` for any other. Changes of the graph change no SDFG.
        """
        from dcpy.ir.analysis.networkx_graph import networkx_graph

        return networkx_graph(self, kinds)

    def maps(self) -> dict[str, Map]:
        """All maps by their parameters, in program order: each parameter is of one map alone."""
        return {name: scope for name, scope in self._scopes() if isinstance(scope, Map)}

    def loops(self) -> dict[str, Loop]:
        """All loops by their parameters, in program order."""
        return {name: scope for name, scope in self._scopes() if isinstance(scope, Loop)}

    def scope(self, param: str) -> Map | Loop:
        """The map or loop with a parameter of this name."""
        found = dict(self._scopes())
        if param not in found:
            raise InvalidSdfg(f"{self.name!r} has no map or loop over {param!r}", help=f"it has {', '.join(found)}")
        return found[param]

    def _scopes(self) -> Iterator[tuple[str, Map | Loop]]:
        return ((param, scope) for scope in scopes_in(self.body) for param in params_of(scope))

    # -- declaring -----------------------------------------------------------------------------------------------

    def add_array(
        self, name: str, shape: Sequence[Any], dtype: Any, *, transient: bool = False, order: str = "C"
    ) -> tuple[str, Data]:
        """Declare an argument, or with `transient` a temporary; sizes are numbers, symbols, or texts (``"N + 1"``)."""
        sizes = tuple(map(_size, shape))
        for symbol in (symbol for size in sizes for symbol in size.symbols):
            self.add_symbol(symbol, size=True)
        desc = Array.packed(as_dtype(dtype), sizes, order=order, transient=transient)
        return self._declared(name, desc)

    def add_transient(self, name: str, shape: Sequence[Any], dtype: Any) -> tuple[str, Data]:
        """Declare a temporary array."""
        return self.add_array(name, shape, dtype, transient=True)

    def add_scalar(self, name: str, dtype: Any, *, transient: bool = False) -> tuple[str, Data]:
        """Declare a number: an argument that is passed by value, or a temporary."""
        return self._declared(name, Scalar(as_dtype(dtype), transient=transient))

    def _declared(self, name: str, desc: Data) -> tuple[str, Data]:
        if desc.transient:
            self.declare(name, desc)
        else:
            self.add_argument(name, desc)
        return name, desc

    def add_symbol(self, name: str, dtype: Any = types.int64, *, size: bool = False, argument: bool = False) -> str:
        """Declare a free symbol; one that is in no shape is an `argument`."""
        return super().add_symbol(name, as_dtype(dtype), size=size, argument=argument)

    def add_state(self, label: str = "") -> StateWords:
        """Append a state; nodes are added to what is returned."""
        state = State(label)
        self.body.add(state)
        return StateWords(self, state)


@dataclass(frozen=True)
class StateWords:
    """A state that is being filled."""

    sdfg: Sdfg
    state: State

    def add_mapped_tasklet(
        self,
        name: str,
        map_ranges: Mapping[str, str],
        inputs: Mapping[str, Memlet],
        code: str,
        outputs: Mapping[str, Memlet],
        schedule: Schedule = UNDECIDED,
        **_edges: bool,
    ) -> Map:
        """A map of one tasklet: ``add_mapped_tasklet("t", {"i": "0:N"}, {"a": Memlet("A[i]")}, "b = a", {...})``."""
        b = SdfgBuilder.into(self.sdfg, self.state)
        ranges = {param: _dim(text) for param, text in map_ranges.items()}
        point = [param for param, dim in ranges.items() if not isinstance(dim, Range)]
        if point:
            raise InvalidSdfg(f"{point[0]!r} has no range", help=f"write {{{point[0]!r}: '0:N'}}")
        with b.map(schedule, **{param: dim for param, dim in ranges.items() if isinstance(dim, Range)}) as params:
            names = dict(zip(ranges, params, strict=True))
            read = {connector: memlet.of(self.sdfg).subs(names) for connector, memlet in inputs.items()}
            written = {
                connector: Out(replace(found, wcr=""), found.wcr)
                for connector, memlet in outputs.items()
                for found in [memlet.of(self.sdfg).subs(names)]
            }
            b.tasklet(code, name, **read, **written)
        added = self.state.nodes[-1]
        assert isinstance(added, Map)
        return added

    def add_tasklet(
        self, name: str, inputs: Mapping[str, Memlet], outputs: Mapping[str, Memlet], code: str
    ) -> Node:
        """A tasklet with its memlets: they are part of it, and no edges."""
        if not isinstance(inputs, Mapping) or not isinstance(outputs, Mapping):
            raise InvalidSdfg(
                "a tasklet is given with its memlets", help='write {"a": dcpy.Memlet("A[0]")} instead of {"a"}'
            )
        b = SdfgBuilder.into(self.sdfg, self.state)
        read = {connector: memlet.of(self.sdfg) for connector, memlet in inputs.items()}
        written = {connector: memlet.of(self.sdfg) for connector, memlet in outputs.items()}
        outs = {connector: Out(replace(found, wcr=""), found.wcr) for connector, found in written.items()}
        return b.tasklet(code, name, **read, **outs)


def _states(region: Region) -> Iterator[State]:
    for block in region.blocks:
        if isinstance(block, State):
            yield block
        else:
            for inner in block.regions():
                yield from _states(inner)


def _size(size: Any) -> Expr:
    if isinstance(size, str):
        return parse_expr(size)
    found = getattr(size, "expr", size)  # of a dcpy.symbol
    return found if isinstance(found, Expr) else as_expr(int(found))
