"""Roles: each class says what its fields hold, and all that asks or rewrites goes by that."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import pytest
from hypothesis import given

from dcpy import plugins
from dcpy.ir import nodes, region
from dcpy.ir.analysis.accesses.access_relations import accesses_in, seen_from_outside
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.editing.copying import copy_node, copy_sdfg
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Index, Load, Ref, ScalarExpr, op
from dcpy.ir.field_roles import EXPRESSIONS, MEMLETS, Axes, Role, Roles, Runs, Written
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode, Node
from dcpy.ir.region import Block, Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, sym
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.tree import subtree
from dcpy.ir.types import float64, int64
from tests.support.sdfg_strategies import programs

NAMES = (Role.DEFINED, Role.WHOLE, Role.DECLARED)
ELEMENTS = [
    cls
    for module in (nodes, region)
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Node | Block) and cls not in (Node, Block)
]


def roles_of_type(text: str) -> tuple[Role, ...]:
    """The roles that a field of this type must have one of; none where it holds no such thing."""
    bounds = r"\b(Expr|Range|Distribution|Section)\b"
    kinds = ((r"\bMemlet\b", MEMLETS), (r"\bScalarExpr\b", EXPRESSIONS), (bounds, (Role.BOUND,)))
    return next((roles for pattern, roles in kinds if re.search(pattern, text)), ())


def test_there_are_elements():
    assert {cls.kind for cls in ELEMENTS} >= {"tasklet", "copy", "map", "call", "loop", "branch", "assign", "check"}


@pytest.mark.parametrize("cls", ELEMENTS, ids=lambda cls: cls.kind)
def test_roles_are_those_of_the_types(cls):
    """A field that holds memlets or expressions cannot be forgotten; one that holds none has no such role."""
    for field in fields(cls):
        expected, role = roles_of_type(str(field.type)), cls.roles.get(field.name)
        assert role in expected if expected else role is None or role in NAMES, field
        assert role not in NAMES or "str" in str(field.type), field
    assert cls.roles.keys() <= {field.name for field in fields(cls)}


plugins.load()


@pytest.mark.parametrize("kind", list(LIBRARY_KINDS))
def test_library_nodes_are_their_operands(kind):
    cls = LIBRARY_KINDS[kind]
    bounds = {name for name, role in cls.roles.items() if role is Role.BOUND}
    assert {name: role for name, role in cls.roles.items() if name not in bounds} == LibraryNode.roles
    assert bounds == {field.name for field in fields(cls) if roles_of_type(str(field.type)) == (Role.BOUND,)}
    told = [field.name for field in fields(cls) if roles_of_type(str(field.type)) and field.name not in bounds]
    assert told == ["inputs", "outputs"]


@given(programs())
def test_what_is_rewritten_is_what_is_asked_for(program):
    """Each thing that an element tells of is offered for change, in the same order; no change leaves the text."""
    before = print_sdfg(program)
    for element in subtree(program.body):
        for role in Role:
            offered = []
            element.rewrite({role: lambda part, offered=offered: offered.append(part) or part})
            assert offered == element.all_of(role)
    assert print_sdfg(program) == before


@given(programs())
def test_symbols_and_containers_are_renamed_everywhere(program):
    """Through new names and back: nothing that mentions one is missed, or it would not verify, nor be the same."""
    before = print_sdfg(program)
    rw = Rewriter(program, "test", check=True)
    for name in list(program.assigned_symbols):
        rw.rename_symbol(name, f"{name}_there")
    assert not any(rw.uses.users(name) for name in program.assigned_symbols if not name.endswith("_there"))
    for name in list(program.assigned_symbols):
        rw.rename_symbol(name, name.removesuffix("_there"))
    rw.record("test")
    program.history.clear()
    assert print_sdfg(program) == before
    assert print_sdfg(copy_sdfg(program)) == before


@dataclass(eq=False)
class Gather(Node):
    """A kind of node that nothing else knows of: ``dst[k] = src[first + code(k)]``."""

    kind = "test-gather"
    roles: ClassVar[Roles] = {"src": Role.READ, "to": Role.WRITTEN, "first": Role.BOUND, "code": Role.CODE}
    effects = Effect.MAY_RAISE
    src: dict[str, Memlet]
    to: Memlet
    first: object
    code: ScalarExpr


def test_a_new_kind_of_node_is_its_fields_roles_and_effects():
    """Uses, substitution, copies and effects know it without a line of theirs."""
    sdfg = parse_sdfg("sdfg @f(A: f64[N], B: f64[N]) symbols(N: size, k: i64) { state { } }")
    code = op("add", Index(sym("k")), Ref("a", int64))
    gather = Gather({"a": Memlet("A", Subset.point(sym("k")))}, Memlet("B", Subset.point(0)), sym("N") - 1, code)
    state = sdfg.body.blocks[0]
    assert isinstance(state, State)
    Rewriter(sdfg, "test").add_node(gather, state)
    uses = Uses(sdfg)
    assert uses.readers("A") == uses.writers("B") == uses.users("N") == uses.users("k") == (gather,)
    assert effects_of(sdfg) == Effect.MAY_RAISE
    other = copy_node(gather, Substitution({"k": sym("N") + 2, "N": sym("M")}, {"A": "C"}))
    assert str(other.src["a"].subset) == "N + 2"
    assert (other.src["a"].container, str(other.first)) == ("C", "M - 1")
    assert other.code == op("add", Index(sym("N") + 2), Ref("a", int64))
    assert gather.src["a"].container == "A"
    assert isinstance(other, Written)


@dataclass(eq=False)
class Sweep(Block):
    """A kind of block that nothing else knows of: runs `body` for each point of a space, and changes all of `box`."""

    kind = "test-sweep"
    roles: ClassVar[Roles] = {"name": Role.DEFINED, "values": Role.BOUND, "condition": Role.SCALAR, "box": Role.WHOLE}
    runs = Runs.EACH
    name: str
    values: Range
    condition: ScalarExpr
    box: str
    body: Region

    def __post_init__(self) -> None:
        self.body.owner = self

    def regions(self) -> tuple[Region, ...]:
        return (self.body,)

    def iteration_space(self) -> Axes:
        return ((self.name, self.values),)


def swept(kind: type[Sweep]) -> tuple[Sdfg, Sweep]:
    sdfg = parse_sdfg("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) { data t: f64 transient copy A[0] -> t copy t -> B[0] }""")
    (state,) = sdfg.body.blocks
    sdfg.body.remove(state)
    for node, subset in zip(state.nodes, ("src", "dst"), strict=True):
        setattr(node, subset, replace(getattr(node, subset), subset=Subset.point(sym("k"))))
    block = kind("k", Range.of(0, sym("N")), Load("A", (sym("N") - 1,), float64), "A", Region([state]))
    sdfg.body.add(block)
    return sdfg, block


def test_the_access_relation_and_dependence_tests_know_a_new_kind():
    sdfg, block = swept(Sweep)
    uses = Uses(sdfg)
    found = [(str(access), len(access.scopes), access.is_sure()) for access in accesses_in(block, uses)]
    assert found == [
        ("reads A[N - 1]", 0, True),
        ("reads A", 0, False),
        ("writes A", 0, False),
        ("reads A[k]", 1, True),
        ("writes t", 1, True),
        ("reads t", 1, True),
        ("writes B[k]", 1, True),
    ]
    boxes = {access.root: str(access.subset) for access in seen_from_outside(block.body, uses)}
    assert boxes == {"A": "k", "t": "", "B": "k"}
    assert str(seen_from_outside(block, uses)[-1].subset) == "0:N"
    assert uses.ranges_at(block.body).bounds("k") == (ZERO, sym("N") - 1)


def test_bodies_that_run_as_often_as_it_turns_out_are_not_certain():
    class Again(Sweep):
        kind = "test-again"
        runs = Runs.AGAIN

    sdfg, block = swept(Again)
    assert [access.is_sure() for access in accesses_in(block, Uses(sdfg)) if access.root in "Bt"] == [False] * 3
