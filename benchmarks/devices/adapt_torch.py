"""What PyTorch needs in a kernel's source to compile NumPy on a GPU: arrays that a function makes are put there.

Its arguments are tensors on the GPU, but ``np.zeros`` makes one of the host, and a default device is beyond the
compiler (2.11, 2.13). Nor does it know ``x.dtype`` of NumPy's arrays, or how many values a mask chooses: it would leave
the rest of the function to NumPy, on the host. All arrays of floats in a kernel have the type of its arguments, so that
is written there; stores under masks become choices between whole arrays.
"""

from __future__ import annotations

import ast

import numpy as np

from benchmarks.peers.adapt import decorated
from benchmarks.peers.adapt_masks import stored_in_place
from benchmarks.peers.subject import Subject

MAKERS = ("zeros", "empty", "ones", "full", "eye", "identity", "arange", "linspace", "array")
WRAPPED = "@torch.compile\n@torch.compiler.wrap_numpy"
IMPORTS = "import torch\nfrom benchmarks.devices.on_device import on_device"


def for_torch(subject: Subject) -> str:
    """PyTorch compiles the function, and those that it calls with it."""
    return decorated(on_the_device(subject), IMPORTS, WRAPPED, only=subject.name)


def on_the_device(subject: Subject) -> str:
    """The source, with what makes arrays inside of ``on_device(...)``, and types by name."""
    source = stored_in_place(subject.source.replace("np.ndarray(", "np.empty("))
    edits: list[tuple[int, int, str]] = []  # places in the text, the last first
    starts = _starts(source)
    dtype = _only_dtype(subject)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "dtype" and dtype:
            edits.append((*_span(node, starts), f"np.{dtype}"))
        elif _makes(node):
            start, end = _span(node, starts)
            edits += [(start, start, "on_device("), (end, end, ")")]
    text = source.encode()
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new.encode() + text[end:]
    return text.decode()


def _makes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)):
            return name in MAKERS
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="np"), attr="mgrid")):
            return True
    return False


def _only_dtype(subject: Subject) -> str:
    """The type of all arguments that are arrays of inexact numbers; "" where they differ, or there is none."""
    arrays = [value for value in subject.arguments.values() if isinstance(value, np.ndarray)]
    found = {array.dtype.name for array in arrays if np.issubdtype(array.dtype, np.inexact)}
    return found.pop() if len(found) == 1 else ""


def _starts(source: str) -> list[int]:
    """Where each line begins, in bytes."""
    places = [0]
    for line in source.splitlines(keepends=True):
        places.append(places[-1] + len(line.encode()))
    return places


def _span(node: ast.expr, starts: list[int]) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
