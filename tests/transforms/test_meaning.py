"""Every transformation, and simplify as a whole, keeps the meaning of random programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.interp import run
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import Refusal, apply_repeated, matches
from dcpy.transforms.catalog import TRANSFORMATIONS
from dcpy.transforms.history import replay
from dcpy.transforms.simplify.pipeline import simplify
from tests.support.applications import allowed, applied, variants
from tests.support.expect import assert_same_text
from tests.support.sdfg_strategies import arguments_for, programs

SIZES = st.tuples(st.integers(2, 5), st.integers(0, 3))


def outcome(sdfg: Sdfg, sizes: tuple[int, int], *, strict: bool = False) -> dict[str, object]:
    """What a program returns and leaves in its arguments, or the exception that it raises."""
    arguments = arguments_for(*sizes)
    try:
        with np.errstate(all="ignore"):
            result = run(sdfg, arguments, {"N": sizes[0], "M": sizes[1]}, strict=strict)
    except IndexError as error:
        return {"raised": type(error)}
    return {**arguments, "returned": result}


def assert_same_meaning(changed: Sdfg, original: Sdfg, sizes: tuple[int, int]) -> None:
    expected = outcome(original, sizes)
    for strict in (False, True):
        found = outcome(changed, sizes, strict=strict)
        assert list(found) == list(expected)
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value, err_msg=f"{name}:\n{print_sdfg(changed)}")


@pytest.mark.parametrize("name", [name for name in TRANSFORMATIONS if name != "expand-library-node"])
@settings(max_examples=20)
@given(programs(), SIZES)
def test_every_transformation_keeps_meaning(name, program, sizes):
    changed = copy_sdfg(program)
    transformation = TRANSFORMATIONS[name]()
    if not transformation.settles:
        for variant in variants(TRANSFORMATIONS[name]):
            for number in allowed(variant, program)[:4]:
                assert_same_meaning(applied(program, variant, number), program, sizes)
        return
    apply_repeated(changed, transformation, check=True)
    assert_same_meaning(changed, program, sizes)
    assert all(isinstance(transformation.plan(match), Refusal) for match in matches(transformation, changed))


@given(programs(), SIZES)
def test_simplify_keeps_meaning_and_can_be_replayed(program, sizes):
    changed = copy_sdfg(program)
    simplify(changed, check=True)
    assert_same_meaning(changed, program, sizes)
    calls = list(changed.body.walk_calls())
    assert calls == []
    assert_same_text(print_sdfg(replay(copy_sdfg(program), changed.history)), print_sdfg(changed))


@given(programs())
def test_simplify_comes_to_rest(program):
    simplify(program)
    once = print_sdfg(program)
    assert simplify(program).counts() == {}
    assert print_sdfg(program) == once


@settings(max_examples=20)
@given(programs())
def test_planning_changes_nothing(program):
    """Neither the text, nor the index, nor which names are free: a plan may be asked for and not be carried out."""
    before, uses = print_sdfg(program), Uses(program)
    names = program.fresh_name("probe"), program.fresh_name("t")
    for name in TRANSFORMATIONS:
        transformation = TRANSFORMATIONS[name]()
        for match in matches(transformation, program, uses):
            transformation.plan(match)
    assert print_sdfg(program) == before
    assert program.history == []
    assert uses.differs_from(Uses(program)) == ""
    program.forget_names()
    assert (program.fresh_name("probe"), program.fresh_name("t")) == names
