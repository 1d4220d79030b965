"""Records as machine code: some of each table, on its last arguments that NumPy takes."""

import copy

import pytest

import dcpy
from tests.frontend.numpy import (
    test_adding_and_removing,
    test_contraction,
    test_coordinate_grids,
    test_creation,
    test_index_arrays,
    test_logic_functions,
    test_numerical_calculus,
    test_polynomials,
    test_products_and_diagonals,
    test_python_implementations,
    test_quantiles,
    test_reductions,
    test_selection,
    test_shapes,
    test_sort_and_search,
    test_statistics,
    test_ufunc_methods,
    test_ufuncs,
)
from tests.support.numpy_records import RELATIVE, assert_same, outcome, packed

TABLES = (
    test_contraction, test_coordinate_grids, test_creation, test_products_and_diagonals,
    test_python_implementations, test_reductions, test_selection, test_shapes, test_ufuncs,
)  # fmt: skip
#: those whose functions are Python functions, or loops: programs like any other
PROGRAMS = (
    test_adding_and_removing, test_index_arrays, test_logic_functions, test_numerical_calculus, test_polynomials,
    test_quantiles, test_sort_and_search, test_statistics, test_ufunc_methods,
)  # fmt: skip
RECORDS = [record for table in TABLES for record in table.RECORDS[::4]]
RECORDS += [record for table in PROGRAMS for record in table.RECORDS[::9]]


@pytest.mark.cc
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_as_numpy(record):
    for arguments in reversed(list(record.cases())):
        theirs, mine = copy.deepcopy(arguments), copy.deepcopy(arguments)
        expected, raised = outcome(lambda theirs=theirs: record.function(*theirs))
        if raised is None:
            break
    got, error = outcome(lambda: dcpy.program(record.function)(*mine))
    if raised is not None:
        assert isinstance(error, dcpy.DcpyError | type(raised))
        return
    if error is not None:
        raise error
    tolerance = max([record.rtol, *(RELATIVE.get(str(a.dtype), 0) for a in arguments)])
    assert_same(got, packed(expected) if record.packed else expected, tolerance, record.name)
    assert_same(mine, theirs, tolerance, f"{record.name}, arguments")
