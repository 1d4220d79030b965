"""Random programs: compiled code does what the interpreter does, bit by bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings

from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.interp import run
from tests.support.compiled import compile_sdfg
from tests.support.sdfg_strategies import arguments_for, programs

pytestmark = pytest.mark.cc


@settings(max_examples=30)
@given(programs())
def test_compiled_code_means_what_the_interpreter_says(sdfg):
    for n, m in ((2, 0), (5, 3)):
        arguments = arguments_for(n, m)
        reference, mine = copy.deepcopy(arguments), copy.deepcopy(arguments)
        expected = run(copy_sdfg(sdfg), reference)
        got = compile_sdfg(sdfg)(**mine)
        np.testing.assert_array_equal(got, expected)
        for name, value in reference.items():
            np.testing.assert_array_equal(mine[name], value, err_msg=name)
