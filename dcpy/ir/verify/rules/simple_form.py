"""Simple form: a program in which every part does something, as simplify hands it over."""

from __future__ import annotations

from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop, State
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Scope


@rule("simple.states", State)
def states_do_something(block: State, scope: Scope) -> Findings:
    """No state is empty."""
    if not block.nodes:
        yield f"the state {block.name!r} is empty"


@rule("simple.maps", Map)
def maps_do_something(node: Map, scope: Scope) -> Findings:
    """No map has an empty body."""
    if not node.body.blocks:
        yield f"the map over {', '.join(node.params)} is empty"


@rule("simple.loops", Loop)
def loops_do_something(block: Loop, scope: Scope) -> Findings:
    """No loop has an empty body."""
    if not block.body.blocks:
        yield f"the loop over {block.param} is empty"
