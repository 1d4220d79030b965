"""Verification: many small rules, and forms: which of them must hold between two stages.

`verify` raises with everything that is wrong, `problems` lists it. A rule is a short function in ``rules/``; its
docstring is the sentence that users read. `forms` has the forms, `walk` brings each part of an SDFG to the rules.
"""

from dcpy.ir.verify.forms import (
    CODEGEN_FORM,
    COMPILABLE,
    FORMS,
    FPGA_FORM,
    FRONTEND_FORM,
    READABLE,
    SIMPLE_FORM,
    WELL_FORMED,
    Form,
    form_named,
)
from dcpy.ir.verify.rule import Problem, Rule
from dcpy.ir.verify.verifier import problems, verify, verify_readable

__all__ = [
    "CODEGEN_FORM",
    "COMPILABLE",
    "FORMS",
    "FPGA_FORM",
    "FRONTEND_FORM",
    "READABLE",
    "SIMPLE_FORM",
    "WELL_FORMED",
    "Form",
    "Problem",
    "Rule",
    "form_named",
    "problems",
    "verify",
    "verify_readable",
]
