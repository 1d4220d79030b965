"""Argument layouts: where a callee depends on the memory layout of its arguments, and gets another one.

Memlets name elements by index and fit any layout. Slices of arguments are derived anew (`view_rebasing`). What is left
are reshapes and reinterpretations, and C functions, to which strides were passed as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dcpy.ir.analysis.dataflow.aliasing import base_of
from dcpy.ir.data import Array, Data, View
from dcpy.ir.editing.view_rebasing import is_packed
from dcpy.ir.nodes import Call, ForeignCall
from dcpy.ir.region import Region
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset


def layout_problems(call: Call, caller: Sdfg, region: Region) -> Iterator[str]:
    """Yield the containers in the callee that would read other elements of the arguments passed in `region`."""
    callee = call.sdfg
    passed = {name: _passed(name, call, caller, region) for name in call.arguments}
    for inner in callee.body.walk_regions():
        for name, desc in inner.containers.items():
            if isinstance(desc, View) and desc.window is None:
                argument = base_of(name, partial(callee.desc, region=inner))
                if argument in passed and not _fits(desc, argument, call, passed[argument]):
                    yield f"the view {name!r}"
    for node in callee.body.walk_nodes():
        if isinstance(node, ForeignCall) and node.state is not None and node.state.region is not None:
            for memlet in (*node.reads(), *node.writes()):
                argument = base_of(memlet.container, partial(callee.desc, region=node.state.region))
                if argument in passed and not _has_same_strides(argument, call, passed[argument]):
                    yield f"the call of {node.function}"


def _passed(name: str, call: Call, caller: Sdfg, region: Region) -> Data:
    """The descriptor of what the callee sees as an argument."""
    memlet = call.arguments[name]
    actual = caller.desc(memlet.container, region)
    whole = memlet.subset == Subset.whole(actual.shape)
    return actual if whole else View.slice(memlet.container, actual, memlet.subset)


def _fits(view: View, argument: str, call: Call, passed: Data) -> bool:
    """Return whether a reshape or reinterpretation shows the same elements of what is passed."""
    if isinstance(passed, Array) and _has_same_strides(argument, call, passed):
        return True
    return view.of == argument and view.dtype == passed.dtype and is_packed(passed)


def _has_same_strides(argument: str, call: Call, passed: Data) -> bool:
    return call.sdfg.desc(argument).subs(call.symbols).strides == passed.strides
