"""Expression tasklets: a body of expressions is one `Tasklet` of the IR, with the program's names.

Static single assignment: each assignment of the body is a local value of the tasklet, and those that are used once are
part of the expression that uses them. A body that needs more than that (a branch, a loop, an index that is checked) is
no expression; what it emitted until then is thrown away.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Value, is_number, scalar_expr
from dcpy.frontend.dataflow.tasklet_outputs import TaskletOutput, converted
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.expressions import evaluate
from dcpy.frontend.lower.frame import Frame
from dcpy.frontend.lower.lowering_signals import WillRaise
from dcpy.ir.expressions.scalar import Load, Ref, ScalarExpr, rewrite, substitute_refs, symbols_of, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.subsets import Subset

if TYPE_CHECKING:
    from dcpy.frontend.desugar.core import Statement


def emit(
    frame: Frame, node: core.Tasklet, inputs: Mapping[str, Value], targets: Sequence[TaskletOutput],
    visible: Mapping[str, Value],
) -> bool:  # fmt: skip
    """Write the tasklet where its body is nothing but expressions; return whether it is."""
    if not all(map(_is_assignment, node.body)) or not targets or any(map(_needs_code, targets)):
        return False
    draft = TaskletDraft({name: _connected(name, value) for name, value in inputs.items()})
    try:
        with frame.emit.dry_run() as scratch:
            results = _results(frame, node, draft, targets, visible)
        if results is None or scratch.blocks or scratch.containers:
            return False
    except WillRaise:
        return False
    frame.emit.node(_finished(node, draft, inputs, targets, results))
    return True


def _is_assignment(statement: Statement) -> bool:
    match statement:
        case core.Assign(targets=targets):
            return all(isinstance(target, ast.Name) for target in targets)
        case core.Augment(target=ast.Name()):
            return True
    return False


def _needs_code(target: TaskletOutput) -> bool:
    return target.place is None or target.is_direct or target.resolution is None


@dataclass
class TaskletDraft:
    """The code of the tasklet so far: what its names stand for, and the values that its statements computed."""

    env: dict[str, Value]
    code: dict[str, ScalarExpr] = field(default_factory=dict)

    def bind(self, name: str, value: Value) -> None:
        """``name = value``: a value of the tasklet, unless it is known or a symbol."""
        if isinstance(value, Scalar) and not isinstance(value.expr, Ref):
            local, count = f"{name}_v", 0
            while local in self.code or local in self.env:
                count += 1
                local = f"{name}_v{count}"
            self.code[local] = value.expr
            value = Scalar(Ref(local, value.dtype), value.weak, value.other_kinds)
        self.env[name] = value


def _connected(name: str, value: Value) -> Value:
    """An element that is read is a connector of the same name."""
    if isinstance(value, Scalar) and isinstance(value.expr, Load):
        return Scalar(Ref(name, value.dtype), value.weak, value.other_kinds)
    return value


def _results(
    frame: Frame,
    node: core.Tasklet,
    draft: TaskletDraft,
    targets: Sequence[TaskletOutput],
    visible: Mapping[str, Value],
) -> list[ScalarExpr] | None:
    """The expression of each output; None where something is no number."""
    define = core.Define(node.name, ast.arguments([], [], None, [], [], None, []), node.body, node.free, span=node.span)
    inner = Frame(frame.program, frame.source, define, frame.closure, frame.emit.region, inline=True, caller=frame)
    inner.env = dict(visible) | draft.env
    for statement in node.body:
        if isinstance(statement, core.Assign):
            value, names = evaluate(inner, statement.value), statement.targets
        else:
            assert isinstance(statement, core.Augment)
            value, names = evaluate(inner, _as_operation(statement)), (statement.target,)
        if not is_number(value):
            return None
        for target in names:
            assert isinstance(target, ast.Name)
            draft.bind(target.id, value)
            inner.env[target.id] = draft.env[target.id]
    if any(target.name not in draft.env for target in targets):
        return None  # an error is raised where the body is lowered
    values = [draft.env[target.name] for target in targets]
    if any(isinstance(value, ArrayValue) for value in values):
        return None
    return [scalar_expr(converted(frame, target, value)) for target, value in zip(targets, values, strict=True)]


def _as_operation(statement: core.Augment) -> ast.expr:
    """``name op= value`` as ``name op value``."""
    assert isinstance(statement.target, ast.Name)
    tree = ast.parse(f"x {statement.op} y", mode="eval").body
    assert isinstance(tree, ast.BinOp)
    tree.left, tree.right = ast.Name(statement.target.id, ast.Load()), statement.value
    return ast.fix_missing_locations(ast.copy_location(tree, statement.value))


# -- the node --------------------------------------------------------------------------------------------------------


def _finished(
    node: core.Tasklet, draft: TaskletDraft, inputs: Mapping[str, Value], targets: Sequence[TaskletOutput],
    results: Sequence[ScalarExpr],
) -> Tasklet:  # fmt: skip
    """The node: values that are used once are part of what uses them; elements of arrays are connectors."""
    code, final = _inlined(draft.code, list(results))
    memlets: dict[str, Memlet] = {}
    for name, value in inputs.items():
        if isinstance(value, Scalar) and isinstance(value.expr, Load):
            memlets[name] = Memlet(value.expr.container, Subset(value.expr.indices))
    taken = {symbol for expr in (*code.values(), *final) for symbol in symbols_of(expr)}
    taken |= {*memlets, *code, *(target.name for target in targets)}
    loads: dict[Load, str] = {}

    def as_connector(part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Load):
            return None
        if part not in loads:
            loads[part] = _free(f"{part.container}_in", taken)
            memlets[loads[part]] = Memlet(part.container, Subset(part.indices))
        return Ref(loads[part], part.dtype)

    lines = [(name, rewrite(expr, as_connector)) for name, expr in code.items()]
    outputs: dict[str, Memlet] = {}
    for target, expr in zip(targets, final, strict=True):
        assert target.place is not None
        name = target.name if target.name not in memlets else _free(f"{target.name}_out", taken)
        outputs[name] = Memlet(target.place.container, target.place.window, target.resolution or "")
        lines.append((name, rewrite(expr, as_connector)))
    return _apart(Tasklet(memlets, outputs, tuple(lines), node.name, span=node.span))


def _inlined(
    code: Mapping[str, ScalarExpr], results: list[ScalarExpr]
) -> tuple[dict[str, ScalarExpr], list[ScalarExpr]]:
    """Values that are used once or never are no lines of their own."""
    kept = dict(code)
    for name in list(code):
        uses = [part for expr in (*kept.values(), *results) for part in walk(expr)
                if isinstance(part, Ref) and part.name == name]  # fmt: skip
        if len(uses) > 1:
            continue
        value = {name: kept.pop(name)}
        kept = {other: substitute_refs(expr, value) for other, expr in kept.items()}
        results = [substitute_refs(expr, value) for expr in results]
    return kept, results


def _free(stem: str, taken: set[str]) -> str:
    name, count = stem, 0
    while name in taken:
        count += 1
        name = f"{stem}_{count}"
    taken.add(name)
    return name


def _apart(node: Tasklet) -> Tasklet:
    """Names of values that are symbols of the program, too, get a number: in the text they would have one name."""
    symbols = {name for _, expr in node.code for name in symbols_of(expr)}
    both = sorted(symbols & {*node.inputs, *node.outputs, *(name for name, _ in node.code)})
    if not both:
        return node
    taken = symbols | {*node.inputs, *node.outputs, *(name for name, _ in node.code)}
    fresh = {name: _free(name, taken) for name in both}

    def renamed(part: ScalarExpr) -> ScalarExpr | None:
        return Ref(fresh[part.name], part.dtype) if isinstance(part, Ref) and part.name in fresh else None

    inputs = {fresh.get(name, name): memlet for name, memlet in node.inputs.items()}
    outputs = {fresh.get(name, name): memlet for name, memlet in node.outputs.items()}
    code = tuple((fresh.get(name, name), rewrite(expr, renamed)) for name, expr in node.code)
    return Tasklet(inputs, outputs, code, node.name, span=node.span)
