"""ForwardScalars: forward substitution of scalars between tasklets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Op, Ref, ScalarExpr, substitute_refs, walk
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.region import State
from dcpy.ir.tree import child_of
from dcpy.transforms.passes import GraphPass

MAX_EXPRESSION = 40  # parts of one expression: beyond that the generated code is easier to read in steps


@dataclass(frozen=True)
class ForwardScalars(GraphPass):
    """Merge tasklets of one state that pass a private scalar.

    before   tasklet (a <- A[i]) -> (o -> t) { o = a * 2 }     after   tasklet (a <- A[i]) -> (o -> B[i]) {
             tasklet (x <- t) -> (o -> B[i]) { o = x + 1 }                 o = a * 2 + 1 }

    Only where nothing else touches the scalar, and nothing between the two writes what the first one reads.
    """

    name: ClassVar[str] = "forward-scalars"
    optional: ClassVar[bool] = True
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Decide for each scalar, so that chains become one expression."""
        for region in list(rw.sdfg.body.walk_regions()):
            for name, desc in list(region.containers.items()):
                if isinstance(desc, Scalar | Array) and desc.transient and not desc.shape:
                    _forward(name, rw, self.costs)


def _forward(name: str, rw: Rewriter, costs: Costs) -> None:
    writers, readers = rw.uses.writers(name), rw.uses.readers(name)
    if len(writers) != 1 or len(readers) != 1 or rw.uses.views_of(name) or name in rw.sdfg.constants:
        return
    writer, reader = writers[0], readers[0]
    if not isinstance(writer, Tasklet) or not isinstance(reader, Tasklet) or writer is reader:
        return
    if any(result.container == name for result in rw.sdfg.results) or not rw.uses.desc(name).transient:
        return
    if writer.state is not reader.state or writer.state is None or not _may_move(writer, reader, writer.state, rw):
        return
    joined = _join(name, writer, reader, costs)
    if joined is None:
        return
    inputs, code = joined
    rw.update(reader, inputs=inputs, code=code)
    rw.erase(writer)
    rw.undeclare(name)


def _may_move(writer: Tasklet, reader: Tasklet, state: State, rw: Rewriter) -> bool:
    """Return whether the writer can move to its reader: it comes first, and its inputs do not change in between."""
    if len(writer.outputs) != 1 or any(memlet.wcr for memlet in writer.outputs.values()):
        return False
    start, stop = state.index(writer), state.index(reader)
    if start > stop:
        return False
    read = {name: None for memlet in writer.reads() for name in rw.uses.overlapping(memlet.container)}
    nodes = (child_of(state, element) for name in read for element in rw.uses.writers(name))
    return not any(node is not None and start < state.index(node) < stop for node in nodes)


def _join(
    name: str, writer: Tasklet, reader: Tasklet, costs: Costs
) -> tuple[dict[str, Memlet], tuple[tuple[str, ScalarExpr], ...]] | None:
    """The inputs and code of the merged tasklet; None if the code would be unreadable."""
    connectors = [c for c, memlet in reader.inputs.items() if memlet.container == name]
    if len(connectors) != 1 or any(memlet.wcr for memlet in reader.inputs.values()):
        return None
    inputs = {c: memlet for c, memlet in reader.inputs.items() if c != connectors[0]}
    taken = {*reader.inputs, *reader.outputs, *(target for target, _ in reader.code)}
    renamed = _add_inputs(writer, inputs, taken)
    *steps, (_, value) = [(target, substitute_refs(expr, renamed)) for target, expr in writer.code]
    if steps or next(iter(writer.outputs)) != writer.code[-1][0]:
        return None
    uses = sum(isinstance(part, Ref) and part.name == connectors[0] for _, expr in reader.code for part in walk(expr))
    size = sum(1 for _, expr in reader.code for _ in walk(expr)) + sum(1 for _ in walk(value))
    if isinstance(value, Ref) or (uses <= 1 and not _is_called_in_vain(value, connectors[0], reader, costs)):
        if size > MAX_EXPRESSION:
            return None
        return inputs, tuple((target, substitute_refs(expr, {connectors[0]: value})) for target, expr in reader.code)
    return inputs, ((connectors[0], value), *reader.code)


def _is_called_in_vain(value: ScalarExpr, name: str, reader: Tasklet, costs: Costs) -> bool:
    """Return whether a condition selects the result of a call: a separate call before it can be vectorized."""
    parts = [part for _, expr in reader.code for part in walk(expr) if isinstance(part, Op) and part.name == "select"]
    chosen = [inner for part in parts for arg in part.args[1:] for inner in walk(arg) if isinstance(inner, Ref)]
    return any(ref.name == name for ref in chosen) and any(_is_call(part, costs) for part in walk(value))


def _is_call(part: ScalarExpr, costs: Costs) -> bool:
    operations = costs.operations
    return isinstance(part, Op) and operations.of(part.name) > operations.div and part.dtype.kind == "f"


def _add_inputs(writer: Tasklet, inputs: dict[str, Memlet], taken: set[str]) -> Mapping[str, ScalarExpr]:
    """Give the writer's inputs connectors of the reader, one per element."""
    found = {memlet: connector for connector, memlet in inputs.items()}
    types = {part.name: part.dtype for _, expr in writer.code for part in walk(expr) if isinstance(part, Ref)}
    renamed: dict[str, ScalarExpr] = {}
    for connector, memlet in writer.inputs.items():
        if connector not in types:
            continue
        if memlet not in found:
            name, number = connector, 0
            while name in taken:
                number += 1
                name = f"{connector}_{number}"
            taken.add(name)
            inputs[name] = memlet
            found[memlet] = name
        renamed[connector] = Ref(found[memlet], types[connector])
    return renamed
