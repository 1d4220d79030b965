"""The simplify pass on one page: dataflow coarsening, always on, never changes results."""

from __future__ import annotations

from dcpy.ir.sdfg import Sdfg
from dcpy.transforms.pipeline import Pipeline, RunReport, repeat, run_pipeline
from dcpy.transforms.simplify.constant_propagation import ConstantPropagation
from dcpy.transforms.simplify.dead_branch_elimination import DeadBranchElimination
from dcpy.transforms.simplify.dead_dataflow_elimination import DeadDataflowElimination
from dcpy.transforms.simplify.dead_state_elimination import DeadStateElimination
from dcpy.transforms.simplify.empty_state_elimination import EmptyStateElimination
from dcpy.transforms.simplify.inline_call import InlineCall
from dcpy.transforms.simplify.scalar_to_symbol_promotion import ScalarToSymbolPromotion
from dcpy.transforms.simplify.state_fusion import StateFusion
from dcpy.transforms.simplify.symbol_propagation import SymbolPropagation

SIMPLIFY = Pipeline(
    "simplify",
    repeat(
        InlineCall(),
        ScalarToSymbolPromotion(),
        SymbolPropagation(),
        ConstantPropagation(),
        DeadBranchElimination(),
        DeadStateElimination(),
        EmptyStateElimination(),
        StateFusion(),
        DeadDataflowElimination(),
    ),
)


def simplify(sdfg: Sdfg, *, check: bool = False) -> RunReport:
    """Runs `SIMPLIFY` on an SDFG in place; returns what was applied."""
    return run_pipeline(sdfg, SIMPLIFY, check=check)
