"""S1: what a field of a library node says does not get into generated code, and does not choose what NumPy runs."""

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.ir.nodes import LibraryNode
from dcpy.libraries.random.nodes import PARAMETERS
from dcpy.programs.signatures import signature_of
from tests.fuzz.program import define

HOSTILE = ["system", "__class__", "bit_generator", "normal(rng); __builtin_trap(); random_normal", "lambda: 0", ""]


def drawing() -> dcpy.SDFG:
    def f(rng, a):
        return rng.normal(size=3), rng.multinomial(5, a), rng.permutation(4), rng.choice(9, 2, replace=False)

    return dcpy.program(f).to_sdfg(np.random.default_rng(1), np.full(4, 0.25))


def nodes(sdfg: dcpy.SDFG, kind: str) -> list[LibraryNode]:
    return [node for node in sdfg.body.walk_nodes() if isinstance(node, LibraryNode) and node.kind == kind]


def test_there_is_something_to_attack():
    sdfg = drawing()
    sdfg.validate()
    for kind in ("random.draw", "random.vectors", "random.permutation", "random.sample"):
        assert len(nodes(sdfg, kind)) == 1


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", ["random.draw", "random.vectors"])
@pytest.mark.parametrize("field", ["method", "how"])
def test_s1_methods_of_draws_are_known(kind, field, text):
    sdfg = drawing()
    setattr(nodes(sdfg, kind)[0], field, text or "x")
    with pytest.raises(dcpy.InvalidSdfg, match="draws by"):
        sdfg.validate()


@pytest.mark.parametrize("kind", ["random.draw", "random.vectors", "random.permutation", "random.sample"])
def test_s1_connectors_of_draws_are_known(kind):
    sdfg = drawing()
    node = nodes(sdfg, kind)[0]
    name = next(name for name in node.outputs if name != "state")
    node.outputs["system"] = node.outputs.pop(name)
    with pytest.raises(dcpy.InvalidSdfg, match="has the outputs state and"):
        sdfg.validate()


@pytest.mark.parametrize("text", HOSTILE)
def test_s1_expansions_call_what_is_declared_though_nobody_verifies_them(text):
    sdfg = drawing()
    nodes(sdfg, "random.draw")[0].method = text
    with pytest.raises(dcpy.DcpyError, match=r"no function|no name of a C function"):
        driver.artifact_of(sdfg, signature_of(sdfg), resolve_options())


def test_all_methods_that_programs_draw_by_are_known():
    """Each of NumPy's methods that is registered validates."""
    rng = np.random.default_rng(1)
    for method, count in PARAMETERS.items():
        if method == "integers":
            continue
        values = {0: (), 1: (0.5,), 2: (0.25, 0.5), 3: (0.1, 0.2, 0.3)}[count]
        values = (5, 0.5) if method == "binomial" else values
        values = (3, 0.5) if method == "negative_binomial" else (5, 5, 3) if method == "hypergeometric" else values
        values = (2.0,) if method == "zipf" else (3.0, 4.0, 1.0) if method == "noncentral_f" else values
        f = define(f"def f(rng, x):\n    return rng.{method}(*x, size=3)\n")
        sdfg = dcpy.program(f).to_sdfg(rng, values, simplify=False)
        sdfg.validate()
        assert [node.method for node in nodes(sdfg, "random.draw")] == [method]
