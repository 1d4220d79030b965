"""Parts of new and of distributed arrays that a distributed program returns are arrays of their own."""

from dataclasses import replace

import numpy as np

import dcpy
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.transforms.distributed.pipeline import RESULTS
from dcpy.transforms.pass_manager import run_pipeline
from tests.support.oracles import assert_equal
from tests.support.virtual_calls import VirtualProgram

A = np.arange(48.0).reshape(8, 6)


def parts(a):
    b = a * 2
    return b[:, ::2], b[1:-1, 1:-1]


def array_and_part(a):
    b = a * 2
    return b, b[1:-1, 1:-1]


def test_what_is_returned_for_its_parts_only_becomes_a_temporary():
    sdfg = dcpy.program(parts).to_sdfg(A)
    assert [result.kind for result in sdfg.results] == ["array", "view", "view"]
    run_pipeline(sdfg, RESULTS, check=True)
    assert [result.kind for result in sdfg.results] == ["constant", "array", "array"]
    assert_equal([found.tolist() for found in sdfg.interpret(A)], [found.tolist() for found in parts(A)])


def test_an_array_that_is_returned_itself_stays():
    sdfg = dcpy.program(array_and_part).to_sdfg(A)
    run_pipeline(sdfg, RESULTS, check=True)
    assert [result.kind for result in sdfg.results] == ["array", "array"]
    whole, part = sdfg.interpret(A)
    assert not np.shares_memory(whole, part)


def test_views_of_whole_arguments_stay():
    sdfg = dcpy.program(lambda a: a[:, ::2]).to_sdfg(A)
    before = str(sdfg)
    run_pipeline(sdfg, RESULTS, check=True)
    assert str(sdfg) == before


def test_views_of_distributed_arguments_become_arrays():
    sdfg = dcpy.program(lambda a: a[:, ::2]).to_sdfg(A)
    sdfg.add_grid("g", "P")
    sdfg.redeclare("a", replace(sdfg.desc("a"), distribution=parse_distribution("g(block 0, whole)")))
    run_pipeline(sdfg, RESULTS, check=True)
    assert [result.kind for result in sdfg.results] == ["array"]
    assert_equal(sdfg.erased().interpret(A).tolist(), A[:, ::2].tolist())


def test_on_two_ranks():
    for function in (parts, array_and_part):
        found, _ = VirtualProgram(function, [A], 1, [("block 0", "whole")]).run([A], (2,))
        for rank in found:
            got = [value for value in rank if value is not None]
            assert_equal([value.tolist() for value in got], [value.tolist() for value in function(A)])
