"""DaCe as NPBench uses it: symbols for sizes, annotated parameters, `dace.program` on every function.

Sizes that are arguments in NumPy become symbols, and leave the signature: the call passes them by keyword.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from benchmarks.peers.adapt import decorated
from benchmarks.peers.subject import Subject


def for_dace(subject: Subject) -> str:
    """The source with annotations inferred from the arguments; nothing in a body changes."""
    text = decorated(subject.source, "import dace", "@dace.program(auto_optimize=True)", only=subject.name)
    for name in _helpers(subject):
        text = text.replace(f"\ndef {name}(", f"\n@dace.program\ndef {name}(")
    node = next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == subject.name)
    symbols = symbols_of(subject)
    params = [_parameter(arg.arg, node.args, subject) for arg in node.args.args if arg.arg not in symbols]
    declared = [f'{name} = dace.symbol("{name}", dtype=dace.int64)' for name in _mentioned(subject, symbols)]
    lines = text.splitlines()
    first, last = node.lineno - 1, node.body[0].lineno - 1
    lines[first:last] = [f"def {subject.name}({', '.join(params)}):"]
    place = next(k for k, line in enumerate(lines) if line.startswith("import numpy")) + 1
    return "\n".join([*lines[:place], *declared, *lines[place:]]) + "\n"


def symbols_of(subject: Subject) -> tuple[str, ...]:
    """Arguments that become symbols: integers that the kernel does not assign to."""
    assigned = _assigned(subject)
    return tuple(name for name in subject.symbols if name in subject.arguments and name not in assigned)


def _mentioned(subject: Subject, arguments: tuple[str, ...]) -> list[str]:
    """All symbols, those that only annotations mention included."""
    shapes = (_size(size, subject) for shape in subject.shapes.values() for size in shape)
    names = [node.id for size in shapes for node in ast.walk(ast.parse(size)) if isinstance(node, ast.Name)]
    return list(dict.fromkeys([*arguments, *names]))


def _size(text: str, subject: Subject) -> str:
    """A size in an annotation: a name that the kernel uses for something of its own gets another one."""
    name, _, rest = text.partition(" ")
    renamed = f"{name}_size" if name in _assigned(subject) else name
    return f"{renamed} {rest}".strip()


def _assigned(subject: Subject) -> set[str]:
    names = (node for node in ast.walk(ast.parse(subject.source)) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def _helpers(subject: Subject) -> list[str]:
    body = ast.parse(subject.source).body
    return [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name != subject.name]


def _parameter(name: str, signature: ast.arguments, subject: Subject) -> str:
    """With its type where it is passed, else with its default."""
    if name in subject.arguments:
        return f"{name}: {_annotation(name, subject)}"
    names = [arg.arg for arg in signature.args]
    return f"{name}={ast.unparse(signature.defaults[names.index(name) - len(names)])}"


def _annotation(name: str, subject: Subject) -> str:
    value: Any = subject.arguments[name]
    if isinstance(value, np.ndarray) and value.ndim:
        return f"dace.{_dtype(value.dtype)}[{', '.join(_size(size, subject) for size in subject.shapes[name])}]"
    return f"dace.{_dtype(np.asarray(value).dtype)}"


def _dtype(dtype: np.dtype[Any]) -> str:
    return "bool_" if dtype == np.bool_ else dtype.name
