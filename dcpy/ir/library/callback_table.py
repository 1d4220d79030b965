"""Callback nodes as call sites, and the table of Python objects that an SDFG's callbacks are bound to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dcpy.base.callback_sites import CallbackOperand, CallbackSite, names_of
from dcpy.ir.data import Data, Scalar
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Callback
from dcpy.ir.sdfg import Sdfg


def site_of(node: Callback, desc: Callable[[str], Data]) -> CallbackSite:
    """The call that a node makes; `desc` gives the descriptor of a container that it sees."""
    mentioned = names_of(node.call)
    results = names_of(node.returns)
    operands = [
        _operand(name, memlet, desc(memlet.container), result=False, writable=name in node.outputs)
        for name, memlet in node.inputs.items()
        if name in mentioned
    ]
    operands += [
        _operand(name, memlet, desc(memlet.container), result=True, writable=True)
        for name, memlet in node.outputs.items()
        if name in results
    ]
    return CallbackSite(node.function, node.call, node.returns, tuple(operands), node.span)


def operand_memlets(node: Callback, site: CallbackSite) -> list[tuple[CallbackOperand, Memlet]]:
    """The operands of a site with their memlets."""
    return [(o, (node.outputs if o.result else node.inputs)[o.name]) for o in site.operands]


def callbacks_in(sdfg: Sdfg) -> Iterator[Callback]:
    """The calls of Python functions in an SDFG, those that it calls not included."""
    yield from (node for node in sdfg.body.walk_nodes() if isinstance(node, Callback))


def bind(sdfg: Sdfg, callbacks: Mapping[str, Any]) -> None:
    """Give the callbacks of an SDFG, and of those that it calls, their functions by name."""
    for each in sdfg.with_callees():
        each.callbacks.update(callbacks)


def _operand(name: str, memlet: Memlet, desc: Data, *, result: bool, writable: bool) -> CallbackOperand:
    rank = len(memlet.subset.shape)
    return CallbackOperand(name, desc.dtype.numpy_name, rank, scalar=_is_element(memlet, desc), result=result,
                           writable=writable)  # fmt: skip


def _is_element(memlet: Memlet, desc: Data) -> bool:
    """Return whether Python sees a number: an element, but not an array of no dimensions."""
    return memlet.subset.is_point and (isinstance(desc, Scalar) or bool(memlet.subset.dims))
