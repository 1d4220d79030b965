"""The mechanism: declaring, registering, declining; and the catalog, which lists everything there is."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass

import pytest

import dcpy.libraries
from dcpy.base.errors import DcpyError, ExpansionError
from dcpy.ir import types
from dcpy.ir.library.adjoints import DERIVATIVES, DerivativeRule
from dcpy.ir.library.expansions import ENVIRONMENTS, EXPANSIONS, Expansion, ForeignLibrary
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.text import parse_sdfg
from dcpy.libraries import catalog
from dcpy.libraries.api import expands, register
from dcpy.libraries.blas.nodes import Dot
from dcpy.libraries.reduce.nodes import Reduce
from dcpy.transforms.api import Transformation
from dcpy.transforms.catalog import TRANSFORMATIONS

DOT = """sdfg @f(x: {x}[4], y: {y}[4], r: {x}[]) {{ state {{
           blas.dot (x <- x[0:4], y <- y[0:4]) -> (result -> r[]) }} }}"""


def dot_of(x="f64", y="f64"):
    sdfg = parse_sdfg(DOT.format(x=x, y=y))
    return sdfg, next(sdfg.body.walk_nodes())


def modules():
    for found in pkgutil.walk_packages(dcpy.libraries.__path__, "dcpy.libraries."):
        yield importlib.import_module(found.name)
    yield importlib.import_module(
        "dcpy.ir.communication"
    )  # a halo belongs to its array, which passes of the IR look at


def test_the_catalog_lists_everything_that_exists():
    found = {"nodes": set(), "expansions": set(), "environments": set(), "transformations": set()}
    for module in modules():
        for value in vars(module).values():
            match value:
                case type() if issubclass(value, LibraryNode) and value.kind != LibraryNode.kind:
                    found["nodes"].add(value.kind)
                case type() if issubclass(value, Transformation) and value is not Transformation:
                    found["transformations"].add(value.name)
                case Expansion():
                    found["expansions"].add(f"{value.kind}/{value.name}")
                case ForeignLibrary():
                    found["environments"].add(value.name)
    assert found["nodes"] == set(catalog.NODES)
    assert found["expansions"] == set(catalog.EXPANSIONS)
    assert found["environments"] == set(catalog.ENVIRONMENTS)
    assert found["transformations"] == set(catalog.TRANSFORMATIONS)


def test_the_catalog_names_what_it_lists():
    assert {kind: LIBRARY_KINDS[kind].kind for kind in catalog.NODES} == {kind: kind for kind in catalog.NODES}
    for name in catalog.EXPANSIONS:
        assert name == f"{EXPANSIONS[name].kind}/{EXPANSIONS[name].name}"
    assert {name: TRANSFORMATIONS[name].name for name in catalog.TRANSFORMATIONS} == {
        name: name for name in catalog.TRANSFORMATIONS
    }
    for name in catalog.ENVIRONMENTS:
        assert ENVIRONMENTS[name].name == name
    assert set(catalog.DERIVATIVES) <= set(catalog.NODES)
    assert all(isinstance(DERIVATIVES[kind], DerivativeRule) for kind in catalog.DERIVATIVES)


def test_an_expansion_changes_nothing_before_it_is_installed():
    sdfg, node = dot_of()
    EXPANSIONS["blas.dot/cpu"].build(node)
    assert list(sdfg.body.walk_nodes()) == [node]
    assert list(sdfg.body.containers) == ["x", "y", "r"]


def test_an_expansion_declines_with_a_reason():
    @expands(Dot, "never")
    def never(node, f):
        f.decline("is never used")

    with pytest.raises(ExpansionError, match="is never used"):
        never.build(dot_of()[1])


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [("i32", "i32", "takes f32, f64, c64, c128, not i32"), ("f64", "f32", "takes one dtype for all operands")],
)
def test_dtypes_that_a_library_does_not_have_are_declined(x, y, reason):
    with pytest.raises(ExpansionError, match=reason):
        EXPANSIONS["blas.dot/openblas"].build(dot_of(x, y)[1])


def test_a_name_can_be_registered_once():
    @dataclass(eq=False)
    class Twice(LibraryNode):
        kind = "test.twice"

    @dataclass(eq=False)
    class Other(LibraryNode):
        kind = "test.twice"

    register(nodes=[Twice])
    register(nodes=[Twice])
    with pytest.raises(DcpyError, match=r"'test.twice' exists already"):
        register(nodes=[Other])
    with pytest.raises(DcpyError, match="exists already"):
        register(nodes=[type("Reduce", (Reduce,), {})])


def test_operands_count_in_elements_of_their_memlet():
    from dcpy.libraries.fragment import Fragment

    sdfg = parse_sdfg("""sdfg @f(A: f64[8, 9], r: f64[4]) { state {
                           reduce (x <- A[1:8:2, 2:9]) -> (out -> r[0:4]) {axes = (1,)} } }""")
    x = Fragment(next(sdfg.body.walk_nodes())).input("x")
    assert (tuple(map(str, x.shape)), tuple(map(str, x.strides))) == (("4", "7"), ("18", "1"))
    assert str(x.at(2, 3).memlet) == "A[5, 5]"
    assert x.dtype == types.float64
