"""Foreign functions: compiled code calls only declared functions."""

from __future__ import annotations

from dcpy.ir.library.foreign_functions import refusal
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Scope


@rule("foreign.declared", ForeignCall)
def foreign_functions_are_declared(node: ForeignCall, scope: Scope) -> Findings:
    """A foreign call names a function that its environment declares, and the environment is on this machine."""
    problem = refusal(node)
    if problem:
        yield problem, "declare it: dcpy.libraries.api.Environment(name, prototypes=...), and register its library"
