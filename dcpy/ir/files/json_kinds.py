"""The classes that JSON files may name, by kind, and the check that a value fits the field it is read into.

Kinds appear in files and never change; classes may be renamed freely. Library nodes are found in `LIBRARY_KINDS`.
"""

from __future__ import annotations

import types as python_types
from functools import cache
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import InvalidSdfg, ParseError
from dcpy.base.source import SrcSpan
from dcpy.ir import data, distribution, memlet, nodes, region, schedules, sdfg, subsets, symbolic
from dcpy.ir.expressions import scalar as expr
from dcpy.ir.fpga import memory as fpga_memory
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType

_CLASSES: dict[str, type[Any]] = {
    "allocation": data.Allocation,
    "space": data.Space,
    "lifetime": data.Lifetime,
    "assumption": Assumption,
    "undecided": schedules.Undecided,
    "sequential": schedules.Sequential,
    "parallel": schedules.Parallel,
    "vector": schedules.Vector,
    "unrolled": schedules.Unrolled,
    "grid": schedules.Grid,
    "block": schedules.ThreadBlock,
    "warp": schedules.Warp,
    "recorded": schedules.Recorded,
    "pipelined": schedules.Pipelined,
    "bank": fpga_memory.Bank,
    "partition": fpga_memory.Partition,
    "process_grid": distribution.ProcessGrid,
    "blocked": distribution.Blocked,
    "cyclic": distribution.Cyclic,
    "root": distribution.Root,
    "partial": distribution.Partial,
    "distribution": distribution.Distribution,
    "section": distribution.Section,
    "scalar": data.Scalar,
    "array": data.Array,
    "view": data.View,
    "stream": data.Stream,
    "range": subsets.Range,
    "subset": subsets.Subset,
    "memlet": memlet.Memlet,
    "result": sdfg.Result,
    "const": expr.Const,
    "ref": expr.Ref,
    "load": expr.Load,
    "index": expr.Index,
    "op": expr.Op,
    "cast": expr.Cast,
    "wrap": expr.WrapIndex,
    "tasklet": nodes.Tasklet,
    "copy": nodes.Copy,
    "map": nodes.Map,
    "call": nodes.Call,
    "foreign": nodes.ForeignCall,
    "callback": nodes.Callback,
    "state": region.State,
    "loop": region.Loop,
    "while": region.While,
    "branch": region.Branch,
    "dataflow": region.Dataflow,
    "process": region.Process,
    "assign": region.SymbolAssign,
    "resize": region.Resize,
    "check": region.Check,
    "break": region.Break,
    "continue": region.Continue,
    "return": region.Return,
}
_KINDS = {cls: kind for kind, cls in _CLASSES.items()}

#: Hints of what is no dataclass.
_SDFG_HINTS: dict[str, Any] = {
    "name": str,
    "span": SrcSpan | None,
    "arguments": list[str],
    "symbols": dict[str, DType],
    "sizes": list[str],
    "assumptions": list[Expr],
    "assumed": dict[str, Assumption],
    "assigned_symbols": dict[str, DType],
    "constants": dict[str, np.ndarray],
    "grids": dict[str, distribution.ProcessGrid],
    "results": tuple[sdfg.Result, ...],
    "structure": Any,
    "body": region.Region,
    "history": list[str],
}


def kind_of(cls: type[Any]) -> str:
    """The kind of a class; `InvalidSdfg` where it is none of an SDFG's."""
    if issubclass(cls, LibraryNode):
        return cls.kind
    if cls not in _KINDS:
        raise InvalidSdfg(f"{cls.__name__} is no part of an SDFG")
    return _KINDS[cls]


def class_of(kind: str) -> type[Any]:
    """The class of a kind; `ParseError` where there is none."""
    if kind in _CLASSES:
        return _CLASSES[kind]
    if kind in LIBRARY_KINDS:
        return LIBRARY_KINDS[kind]
    raise ParseError(
        f"nothing in an SDFG is of kind {kind!r}", help=data.GONE.get(kind) or LIBRARY_KINDS.unknown(kind).help
    )


@cache
def hints_of(cls: type[Any]) -> dict[str, Any]:
    """The types of a class' fields."""
    if issubclass(cls, sdfg.Sdfg):
        return _SDFG_HINTS
    if cls is region.Region:
        return {"containers": dict[str, data.Data], "blocks": list[region.Block]}
    names: dict[str, Any] = {}
    for module in (symbolic, subsets, distribution, memlet, data, expr, nodes, region, sdfg, fpga_memory, schedules):
        names.update(vars(module))
    return get_type_hints(cls, localns=names)


_NARROWER: dict[Any, tuple[type, ...]] = {float: (int,), complex: (int, float)}  # the numeric tower of PEP 484


def fits(value: object, hint: Any) -> bool:
    """Return whether a value is of a type, its elements included."""
    if hint is Any:
        return True
    origin, args = get_origin(hint), get_args(hint)
    if origin is Union or origin is python_types.UnionType:
        return any(fits(value, arg) for arg in args)
    if origin is ClassVar:
        return False
    if origin is Literal:
        return any(value == arg and type(value) is type(arg) for arg in args)
    if origin is tuple:
        return isinstance(value, tuple) and _elements_fit(value, args)
    if origin is list:
        return isinstance(value, list) and all(fits(item, args[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(k, args[0]) and fits(v, args[1]) for k, v in value.items())
    kind = origin or hint
    if type(value) in _NARROWER.get(kind, ()):
        return True
    if kind is int and isinstance(value, bool):
        return False
    return isinstance(value, kind)


def _elements_fit(value: tuple[object, ...], args: tuple[Any, ...]) -> bool:
    if len(args) == 2 and args[1] is Ellipsis:
        return all(fits(item, args[0]) for item in value)
    return len(value) == len(args) and all(fits(item, arg) for item, arg in zip(value, args, strict=True))
