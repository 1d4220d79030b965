"""Every transformation by name: one visible list, loaded when a name is first asked for.

Plug-ins add to it with ``TRANSFORMATIONS.extend({"name": "module:Class"})``. A test asserts that the list is complete.
"""

from __future__ import annotations

from dcpy.base.registry import Registry
from dcpy.transforms.api import Transformation

_SIMPLIFY = "dcpy.transforms.simplify"

TRANSFORMATIONS: Registry[type[Transformation]] = Registry(
    "transformation",
    {
        "constant-propagation": f"{_SIMPLIFY}.constant_propagation:ConstantPropagation",
        "dead-branch-elimination": f"{_SIMPLIFY}.dead_branch_elimination:DeadBranchElimination",
        "dead-dataflow-elimination": f"{_SIMPLIFY}.dead_dataflow_elimination:DeadDataflowElimination",
        "dead-state-elimination": f"{_SIMPLIFY}.dead_state_elimination:DeadStateElimination",
        "empty-state-elimination": f"{_SIMPLIFY}.empty_state_elimination:EmptyStateElimination",
        "expand-library-node": "dcpy.transforms.expand:ExpandLibraryNode",
        "inline-call": f"{_SIMPLIFY}.inline_call:InlineCall",
        "scalar-to-symbol-promotion": f"{_SIMPLIFY}.scalar_to_symbol_promotion:ScalarToSymbolPromotion",
        "state-fusion": f"{_SIMPLIFY}.state_fusion:StateFusion",
        "symbol-propagation": f"{_SIMPLIFY}.symbol_propagation:SymbolPropagation",
    },
)
