"""Deadlock detection: a network whose queues are too short is refused before it is printed, with a picture of it.

Only where paths part and meet again can processes wait for each other (Kahn 1974; Lee and Messerschmitt 1987); such
networks are replayed, where their sizes are numbers. Where they are not, the simulation finds it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.base.errors import InvalidSdfg
from dcpy.codegen.fpga.cycle_model.network_simulation import Replayed
from dcpy.codegen.fpga.cycle_model.network_time import queues_of, replay_of
from dcpy.codegen.fpga.cycle_model.process_time import UnknownCyclesError
from dcpy.codegen.lir import tree

RULE = "fpga.depths"


def require_depths(kernels: Sequence[tree.Function], functions: Sequence[tree.Function]) -> None:
    """`InvalidSdfg` where processes of a kernel wait for each other for ever."""
    for kernel in kernels:
        if not _paths_meet(kernel):
            continue
        try:
            found = replay_of(kernel, functions)
            if found is not None and found.blocked:
                _refuse(kernel, functions, found)
        except UnknownCyclesError:
            continue


def _refuse(kernel: tree.Function, functions: Sequence[tree.Function], found: Replayed) -> None:
    circle = found.circle()
    first = next((one for one in circle if one.pushing), circle[0])
    start = circle.index(first)
    names = [*(one.name for one in (*circle[start:], *circle[:start])), first.name]
    spans = {function.name: function.span for function in functions}
    deeper = replay_of(kernel, functions, unbounded=True)
    full = dict.fromkeys(one.queue for one in circle if one.pushing)
    if deeper is not None and not deeper.blocked and full:
        sizes = ", ".join(f"{queue!r}: {deeper.peaks[queue]}" for queue in full)
        help_ = f"increase the depth of the queue; the deadlock disappears with a capacity of {sizes}"
    else:
        help_ = "no depth helps: a process waits for what comes of its own results, so let one of them give first"
    raise InvalidSdfg(
        f"the network stops for ever: {names[0]} waits for {', which waits for '.join(names[1:])} [{RULE}]",
        span=spans.get(first.name.partition("[")[0]),
        notes=tuple(str(one) for one in circle),
        help=help_,
    )


def _paths_meet(kernel: tree.Function) -> bool:
    """Return whether a queue joins processes that others join already: then the network, without directions, is no
    forest.
    """
    import networkx

    graph = networkx.MultiGraph()
    for number, statement in enumerate(kernel.body):
        for queue in queues_of(statement) if isinstance(statement, tree.Spawn) else ():
            graph.add_edge(number, queue)
    return len(graph) > 0 and not networkx.is_forest(graph)
