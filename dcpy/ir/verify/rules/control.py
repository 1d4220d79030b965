"""Control flow: conditions, checks, where one may leave a scope, and what runs at the same time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcpy.base.program_exceptions import exception_type
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.parallelism.bernstein_conditions import ConcurrentPart, conflicts
from dcpy.ir.data import Stream, View
from dcpy.ir.expressions.scalar import loads_of
from dcpy.ir.field_roles import Role, Written
from dcpy.ir.nodes import Map
from dcpy.ir.region import Branch, Break, Check, Continue, Dataflow, Loop, Process, Return, SymbolAssign, While
from dcpy.ir.tree import is_inside, region_of, subtree
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Scope


@rule("control.break", Break)
def breaks_are_in_loops(block: Break, scope: Scope) -> Findings:
    """A break is in a loop, with no map between them."""
    yield from _in_a_loop("break", scope)


@rule("control.continue", Continue)
def continues_are_in_loops(block: Continue, scope: Scope) -> Findings:
    """A continue is in a loop, with no map between them."""
    yield from _in_a_loop("continue", scope)


def _in_a_loop(what: str, scope: Scope) -> Findings:
    for owner in reversed(scope.owners):
        if isinstance(owner, Loop | While):
            return
        if isinstance(owner, Written) and owner.concurrent:
            yield f"a {what} leaves a {owner.kind}", "make the map a loop"
            return
    yield f"a {what} is in no loop"


@rule("control.return", Return)
def returns_leave_no_map(block: Return, scope: Scope) -> Findings:
    """A return is not in a map: its other iterations would not know of it."""
    for owner in scope.owners:
        if isinstance(owner, Written) and owner.concurrent:
            yield f"a return leaves a {owner.kind}", "make the map a loop"


@rule("control.conditions", While)
def conditions_of_loops_are_bools(block: While, scope: Scope) -> Findings:
    """The condition of a loop is a bool."""
    if block.condition.dtype.kind != "b":
        yield f"the condition of a loop is {block.condition.dtype}", "compare it with 0"


@rule("control.branches", Branch)
def conditions_of_branches_are_bools(block: Branch, scope: Scope) -> Findings:
    """A branch has at least one case, and its conditions are bools."""
    if not block.cases:
        yield "a branch has no case"
    for condition, _ in block.cases:
        if condition.dtype.kind != "b":
            yield f"the condition of a branch is {condition.dtype}", "compare it with 0"


@rule("control.values", SymbolAssign)
def symbols_get_integers(block: SymbolAssign, scope: Scope) -> Findings:
    """The value of a symbol is an integer (or a bool, as 0 or 1)."""
    if block.value.dtype.kind not in "biu":
        yield f"{block.symbol!r} gets a value that is {block.value.dtype}", "cast it to an integer"


@rule("control.checks", Check)
def checks_raise_known_exceptions(block: Check, scope: Scope) -> Findings:
    """A check tests a bool and raises an exception of Python, with a message over at most four integers."""
    if block.condition.dtype.kind != "b":
        yield f"the condition of a check is {block.condition.dtype}", "compare it with 0"
    if exception_type(block.exception) is None:
        yield f"{block.exception!r} is no exception of Python or NumPy", "RuntimeError, ValueError and so on are"
    if len(block.values) > 4:
        yield f"a check has {len(block.values)} values for its message; 4 are the most"
    for value in block.values:
        if value.dtype.kind not in "biu":
            yield f"a value for the message of a check is {value.dtype}, which is no integer"
    for number in re.findall(r"\{([0-3])\}", block.message):
        if int(number) >= len(block.values):
            yield f"the message of a check names the value {number} of {len(block.values)}"


@rule("dataflow.processes", Dataflow)
def dataflow_blocks_hold_processes(block: Dataflow, scope: Scope) -> Findings:
    """A dataflow block declares streams and holds processes, each of its own name; it stands in no map."""
    for name, desc in block.body.containers.items():
        if not isinstance(desc, Stream):
            yield f"{name!r} is declared in a dataflow block, and no stream", "declare it in front of the block"
    names = [inner.name if isinstance(inner, Process) else "" for inner in block.body.blocks]
    if "" in names:
        yield f"a {block.body.blocks[names.index('')].kind} stands in a dataflow block, among its processes"
    for name in dict.fromkeys(name for name in names if name and names.count(name) > 1):
        yield f"two processes are called {name!r}"
    if any(isinstance(owner, Map) for owner in scope.owners):
        yield "a dataflow block stands in a map", "make the map a loop, or its body a process"


@rule("dataflow.domain", Process)
def processes_have_names_and_domains(block: Process, scope: Scope) -> Findings:
    """A process stands in a dataflow block, has a name, and a range for each of its parameters."""
    if not scope.owners or not isinstance(scope.owners[-1], Dataflow):
        yield f"the process {block.name!r} is in no dataflow block"
    if not block.name.isidentifier():
        yield f"{block.name!r} is no name for a process"
    if len(block.params) != len(block.domain) or len(set(block.params)) != len(block.params):
        yield f"the process {block.name!r} has {len(block.params)} parameters and {len(block.domain)} ranges"


@rule("dataflow.exclusive", Dataflow)
def processes_share_nothing_that_changes(block: Dataflow, scope: Scope) -> Findings:
    """No process touches what another one writes; one process pushes to each queue of a stream, and one pops."""
    uses = scope.uses
    accessed = [name for element in subtree(block) for name in _containers_of(element)]
    if not all(_is_known(name, uses) for name in accessed):
        return  # which other rules report
    parts = [
        ConcurrentPart(inner.name, inner.body, tuple(zip(inner.params, inner.domain, strict=False)))
        for inner in block.body.blocks
        if isinstance(inner, Process)
    ]
    for (part, first), (other, second) in conflicts(parts, uses, scope.ranges):
        others = "another copy of it" if part is other else f"the process {other.name!r}"
        yield (
            f"the process {part.name!r} {first.mode.value} {first.container!r}, "
            f"and {others} {second.mode.value} the same elements, as far as can be shown",
            "give each process memory of its own, and hand values over through streams",
        )
    for part in parts:
        for symbol in symbols_assigned_in(part.body):
            elements = (*uses.users(symbol), *uses.definers(symbol))
            if not all(is_inside(element, part.body) for element in elements):
                yield f"the process {part.name!r} assigns the symbol {symbol!r}, which is not its own"


def _containers_of(element: Written) -> Iterator[str]:
    yield from (operand.memlet.container for operand in element.operands())
    yield from (load.container for expr in element.exprs() for load in loads_of(expr))
    yield from element.all_of(Role.WHOLE)


def _is_known(name: str, uses: Uses) -> bool:
    """Return whether a name and, of a view, all that it shows is declared."""
    seen: list[str] = []
    while uses.declared(name) and name not in seen:
        seen.append(name)
        desc = uses.desc(name)
        if not isinstance(desc, View):
            return True
        name = desc.of
    return False


@rule("dataflow.nesting", Process)
def processes_use_streams_of_their_network(block: Process, scope: Scope) -> Findings:
    """The streams of a process are its own, or connect it with others of the same dataflow block."""
    outer = next((owner for owner in reversed(scope.owners[:-1]) if isinstance(owner, Process)), None)
    if outer is None:
        return
    inside = {name for region in outer.body.walk_regions() for name in region.containers}
    for element in subtree(block.body):
        for memlet in (*element.reads(), *element.writes()):
            shared = memlet.container not in inside
            if shared and isinstance(scope.sdfg.desc(memlet.container, region_of(element)), Stream):
                yield f"{block.name!r} uses {memlet.container!r}, which connects processes further out"
