"""Edits of loop nests: split an axis, reorder axes, expand a map, wrap and unwrap. They decide nothing.

Each is one step of several transformations; whether it keeps the meaning is theirs to show. A map or loop stays the
same object wherever it still runs what it ran, so that handles stay valid; where another one takes its place, the
`Rewriter` is notified (`forward`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.analysis.dependence.loop_nests import MapOrLoop, params_of, ranges_of
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Loop, Region, State
from dcpy.ir.schedules import SEQUENTIAL, Schedule
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Ranges, as_expr, max_of, min_of, sym

# -- axes ------------------------------------------------------------------------------------------------------------


def set_axes(scope: MapOrLoop, ranges: dict[str, Range], rw: Rewriter) -> None:
    """Give a map these axes, in this order; a loop its one."""
    if isinstance(scope, Map):
        rw.update(scope, params=tuple(ranges), domain=tuple(ranges.values()))
    else:
        ((param, values),) = ranges.items()
        rw.update(scope, param=param, range=values)


def reorder_axes(node: Map, params: Sequence[str], rw: Rewriter) -> None:
    """Give the parameters of a map another order."""
    if tuple(params) != node.params:
        domain = dict(zip(node.params, node.domain, strict=True))
        set_axes(node, {param: domain[param] for param in params}, rw)


def tiles_and_tile(values: Range, size: int, tile: str, ranges: Ranges) -> tuple[Range, Range]:
    """Strip-mining of a range: where its tiles of `size` values begin, and the values of the tile at symbol `tile`.

    The last tile is cut off where `size` does not divide the number of values, as far as that is known.
    """
    step = values.step.constant or 1
    end = sym(tile) + step * size
    if ranges.remainder(values.stop - values.start, abs(step * size)) != 0:
        end = min_of(end, values.stop) if step > 0 else max_of(end, values.stop)
    return Range(values.start, values.stop, as_expr(step * size)), Range(sym(tile), end, values.step)


def split_axis(scope: MapOrLoop, param: str, size: int, rw: Rewriter) -> str:
    """Strip-mines an axis, whose step is a number; returns the new axis, which goes over the tiles.

    It is a parameter of a map just before the one that is split, and a loop of its own around a loop.
    """
    tile = rw.fresh_name(f"{param}_tile")
    ranges = dict(zip(params_of(scope), ranges_of(scope), strict=True))
    tiles, within = tiles_and_tile(ranges[param], size, tile, rw.uses.ranges_at(scope))
    if isinstance(scope, Loop):
        wrap_in_loop(scope, tile, tiles, rw)
    axes: dict[str, Range] = {}
    for name, values in ranges.items():
        axes |= {tile: tiles} if name == param and isinstance(scope, Map) else {}
        axes[name] = within if name == param else values
    set_axes(scope, axes, rw)
    return tile


# -- nesting ---------------------------------------------------------------------------------------------------------


def expand_map(node: Map, count: int, rw: Rewriter) -> Map:
    """Leave `node` its first `count` parameters; the others become a map inside it, which is returned."""
    inner = Map(node.params[count:], node.domain[count:], Region(), claimed=node.claimed, span=node.span)
    blocks = list(node.body.blocks)
    rw.insert(State(nodes=[inner]), node.body, 0)
    rw.hoist_containers(node.body, inner.body)
    rw.move_blocks(blocks, inner.body)
    rw.update(node, params=node.params[:count], domain=node.domain[:count])
    return inner


def wrap_in_loop(block: Block, param: str, values: Range, rw: Rewriter, schedule: Schedule = SEQUENTIAL) -> Loop:
    """Put a new loop around a block; return it."""
    loop = Loop(param, values, Region(), schedule, span=block.span)
    rw.insert_before(block, loop)
    rw.move_blocks([block], loop.body)
    return loop


def wrap_in_map(node: Node, params: Sequence[str], domain: Sequence[Range], rw: Rewriter) -> Map:
    """Put a new map around a node of a state; return it."""
    outer = Map(tuple(params), tuple(domain), Region([State(span=node.span)]), span=node.span)
    rw.add_node_before(node, outer)
    inside = outer.body.blocks[0]
    assert isinstance(inside, State)
    rw.move_nodes([node], inside)
    return outer


def unwrap(loop: Loop, rw: Rewriter) -> list[Block]:
    """Put what a loop runs where it was, and take it out; return these blocks."""
    blocks = list(loop.body.blocks)
    rw.inline_region(loop.body, loop)
    return blocks


def alone_in_state(node: Node, rw: Rewriter) -> State:
    """The state of a node, after all else was moved out of it, to states before and after."""
    state = node.state
    assert state is not None
    if len(state.nodes) == 1:
        return state
    before, alone, after = rw.split_state(node)
    for rest in (before, after):
        if not rest.nodes:
            rw.erase(rest)
    return alone


def move_body(source: Region, into: Region, rw: Rewriter) -> None:
    """Move all that a region declares and runs to another one, which is empty."""
    rw.hoist_containers(source, into)
    rw.move_blocks(list(source.blocks), into)


# -- interchange -----------------------------------------------------------------------------------------------------


def exchange_loops(outer: Loop, inner: Loop, rw: Rewriter) -> None:
    """Put the loop that is all of another one's body around that one. Ranges stay as they are."""
    around = outer.region
    assert around is not None
    rw.move_blocks([inner], around, around.index(outer))
    move_body(inner.body, outer.body, rw)
    rw.move_blocks([outer], inner.body)


def exchange_maps(outer: Map, inner: Map, rw: Rewriter) -> None:
    """Put the map that is all of another one's body around that one."""
    state, wrapper = outer.state, inner.state
    assert state is not None
    assert wrapper is not None
    rw.move_nodes([inner], state, state.index(outer))
    move_body(inner.body, outer.body, rw)
    rw.move_blocks([wrapper], inner.body)
    rw.move_nodes([outer], wrapper)


# -- copies ----------------------------------------------------------------------------------------------------------


def place_before(body: Region, block: Block, rw: Rewriter) -> None:
    """Put what a region without an owner declares and runs before a block."""
    around = block.region
    assert around is not None
    for name, desc in body.containers.items():
        rw.declare(name, desc, around)
    for copied in list(body.blocks):
        body.remove(copied)
        rw.insert_before(block, copied)


def place_at_end(body: Region, into: Region, rw: Rewriter) -> None:
    """Put what a region without an owner declares and runs at the end of another one."""
    for name, desc in body.containers.items():
        rw.declare(name, desc, into)
    for copied in list(body.blocks):
        body.remove(copied)
        rw.insert(copied, into)


def groups_and_rest(values: Range, factor: int, ranges: Ranges) -> tuple[Range, Range | None]:
    """The starts of all whole groups of `factor` values of a range, and the values that are left over, if there are."""
    size = values.size_within(ranges)
    if ranges.simplify(size % factor) is ZERO:
        return Range(values.start, values.stop, values.step * factor), None
    middle = values.start + size // factor * factor * values.step
    return Range(values.start, middle, values.step * factor), Range(middle, values.stop, values.step)
