"""JAX's arrays cannot be written: stores become ``x = x.at[i].set(v)``, and functions return what they changed.

The rewriting is mechanical, as NPBench's by hand: Python loops stay (JAX unrolls them while it traces), stores under a
mask become ``x = np.where(mask, v, x)``, and views that are written through, or branches on values, are beyond it; then
JAX refuses, or the validation fails.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.peers.adapt import decorated
from benchmarks.peers.adapt_masks import names_of_masks, under_mask
from benchmarks.peers.subject import Subject

METHODS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power"}


def for_jax(subject: Subject) -> str:
    """Python integers are sizes and trip counts, which JAX must know when it traces."""
    static = tuple(key for key, value in subject.arguments.items() if type(value) is int)
    decorator = f"@functools.partial(jax.jit, static_argnames={static!r})"
    traced = functional(subject.source).replace("import numpy as np", "import jax.numpy as np")
    traced = traced.replace("np.ndarray(", "np.empty(")
    return decorated(traced, "import functools\nimport jax", decorator, only=subject.name)


def changed(source: str) -> dict[str, tuple[str, ...]]:
    """The parameters that each function writes to, itself or by calling another one; no entry where there are none."""
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    found: dict[str, tuple[str, ...]] = {}
    for _ in functions:  # as often as calls may be nested
        for name, function in functions.items():
            params = [arg.arg for arg in function.args.args]
            written = set(_written(function, found, functions))
            found[name] = tuple(param for param in params if param in written)
    return {name: params for name, params in found.items() if params}


def _written(
    function: ast.FunctionDef, known: dict[str, tuple[str, ...]], functions: dict[str, ast.FunctionDef]
) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) | ast.AugAssign(target=ast.Name(id=name)):
                yield name
            case ast.Call(func=ast.Name(id=callee), args=args) if callee in known:
                params = [arg.arg for arg in functions[callee].args.args]
                for param, arg in zip(params, args, strict=False):
                    if param in known[callee] and isinstance(arg, ast.Name):
                        yield arg.id


def functional(source: str) -> str:
    """The source without stores. Lines that need no change stay as they are."""
    writers = changed(source)
    tree = ast.parse(source)
    lines = source.splitlines()
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    edits: list[tuple[int, int, list[str]]] = []
    for name, function in functions.items():
        masks = names_of_masks(function)
        for node in ast.walk(function):
            if isinstance(node, ast.stmt):
                text = under_mask(node, masks) or _rewritten(node, writers, functions, writers.get(name, ()))
                if text is not None:
                    indent = " " * node.col_offset
                    edits.append((node.lineno, node.end_lineno or node.lineno, [indent + line for line in text]))
        if name in writers and not isinstance(function.body[-1], ast.Return):
            end = function.end_lineno or 0
            edits.append((end + 1, end, [f"    return None, ({', '.join(writers[name])},)"]))
    for first, last, text in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines[first - 1 : last] = text
    return "\n".join(lines) + "\n"


def _rewritten(
    node: ast.stmt,
    writers: dict[str, tuple[str, ...]],
    functions: dict[str, ast.FunctionDef],
    mine: tuple[str, ...],
) -> list[str] | None:
    """A statement without stores, as lines; None where it has none."""
    match node:
        case ast.Return(value=value) if mine:
            return [f"return {ast.unparse(value) if value else 'None'}, ({', '.join(mine)},)"]
        case ast.Expr(value=ast.Call(func=ast.Name(id=callee)) as call) if callee in writers:
            return [f"_, {_results(call, writers, functions)} = {ast.unparse(call)}"]
        case ast.Assign(value=ast.Call(func=ast.Name(id=callee)) as call) if callee in writers:
            text = [f"_value, {_results(call, writers, functions)} = {ast.unparse(call)}"]
            return text + [line for target in node.targets for line in _stored(target, "_value")]
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return _stored(target, ast.unparse(value))
        case ast.Assign(targets=targets, value=value) if any(map(_stores, targets)):
            text = [f"_value = {ast.unparse(value)}"]
            return text + [line for target in targets for line in _stored(target, "_value")]
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=index) as target, op=op, value=value):
            where, operand = _inside(index), ast.unparse(value)
            if type(op) in METHODS:
                return [f"{name} = {name}.at[{where}].{METHODS[type(op)]}({operand})"]
            load = ast.BinOp(ast.parse(ast.unparse(target), mode="eval").body, op, value)
            return [f"{name} = {name}.at[{where}].set({ast.unparse(load)})"]
    return None


def _stores(target: ast.expr) -> bool:
    return any(isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in ast.walk(target))


def _stored(target: ast.expr, value: str) -> list[str]:
    match target:
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            return [f"{name} = {name}.at[{_inside(index)}].set({value})"]
        case ast.Tuple(elts=parts) if _stores(target):
            return [line for k, part in enumerate(parts) for line in _stored(part, f"{value}[{k}]")]
    return [f"{ast.unparse(target)} = {value}"]


def _inside(index: ast.expr) -> str:
    """What stands between the brackets of a subscript."""
    return ast.unparse(ast.Subscript(ast.Name("x"), index))[2:-1]


def _results(call: ast.Call, writers: dict[str, tuple[str, ...]], functions: dict[str, ast.FunctionDef]) -> str:
    """The names that take what a callee changed; what is no name is dropped."""
    assert isinstance(call.func, ast.Name)
    params = [arg.arg for arg in functions[call.func.id].args.args]
    passed = dict(zip(params, call.args, strict=False))
    names = [ast.unparse(passed[p]) if isinstance(passed.get(p), ast.Name) else "_" for p in writers[call.func.id]]
    return f"({', '.join(names)},)"
