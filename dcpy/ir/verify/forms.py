"""Forms: the sets of rules that must hold at the borders between stages.

``well-formed`` is what every SDFG is, always. A stage demands a form instead of handling everything: code generation
never meets a library node, because `CODEGEN_FORM` has none.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.ir.verify.rule import Rule, rules_of
from dcpy.ir.verify.rules import (
    codegen_form,
    communication,
    containers,
    control,
    distribution,
    expressions,
    foreign_functions,
    fpga,
    frontend_form,
    memlets,
    memory,
    names,
    nodes,
    opaque_handles,
    placement,
    printable_texts,
    simple_form,
    tree,
)
from dcpy.ir.verify.rules import symbols as symbol_rules


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A set of rules by name. `tree` rules come first: where one fails the others are not asked."""

    name: str
    sentence: str
    rules: tuple[Rule, ...]

    def __str__(self) -> str:
        return self.name


TREE_RULES = rules_of(tree)
READABLE = Form(
    "readable",
    "An SDFG read from a file or a text, checked first: names are identifiers, and texts are printable.",
    (
        names.names_are_identifiers,
        names.connectors_are_identifiers,
        names.functions_are_identifiers,
        *rules_of(printable_texts),
    ),
)
WELL_FORMED = Form(
    "well-formed",
    "Every SDFG, at any time.",
    (
        *rules_of(
            names,
            printable_texts,
            containers,
            memory,
            distribution,
            communication,
            opaque_handles,
            symbol_rules,
            memlets,
        ),
        *rules_of(expressions, nodes, control),
    ),
)
COMPILABLE = Form(
    "compilable",
    "The form that `validate` and `compile` check, including what depends on this machine and its libraries.",
    (*WELL_FORMED.rules, *rules_of(foreign_functions)),
)
FRONTEND_FORM = Form(
    "frontend",
    "The result of the frontend: no schedule and no storage is decided yet.",
    (*WELL_FORMED.rules, *rules_of(frontend_form)),
)
SIMPLE_FORM = Form(
    "simple",
    "The result of simplify: nothing empty is left.",
    (*WELL_FORMED.rules, *rules_of(simple_form)),
)
EXPANDED_FORM = Form(
    "expanded",
    "No library node is left.",
    (*WELL_FORMED.rules, codegen_form.library_nodes_are_expanded),
)
STORED_FORM = Form(
    "stored",
    "Every transient has a storage.",
    (*WELL_FORMED.rules, codegen_form.storages_are_decided),
)
SCHEDULED_FORM = Form(
    "scheduled",
    "Every map has a schedule.",
    (*WELL_FORMED.rules, codegen_form.schedules_are_decided),
)
CODEGEN_FORM = Form(
    "codegen",
    "What code generation takes: nothing is left to decide.",
    (*WELL_FORMED.rules, *rules_of(codegen_form, placement)),
)
FPGA_FORM = Form(
    "fpga",
    "What code generation for FPGAs takes: processes of fixed number and size, which meet in queues.",
    (*WELL_FORMED.rules, *rules_of(codegen_form, fpga)),
)
FORMS = (
    READABLE,
    WELL_FORMED,
    COMPILABLE,
    FRONTEND_FORM,
    SIMPLE_FORM,
    EXPANDED_FORM,
    STORED_FORM,
    SCHEDULED_FORM,
    CODEGEN_FORM,
    FPGA_FORM,
)


def form_named(name: str) -> Form:
    """The form of a name that passes declare. `StopIteration` where there is none: a mistake of the pass."""
    return next(form for form in FORMS if form.name == name)
