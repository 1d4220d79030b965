"""Records as machine code: some of each table, on its last arguments that NumPy takes."""

import copy

import pytest

import dcpy
from tests.frontend.numpy import (
    test_contraction,
    test_creation,
    test_elementary,
    test_grids,
    test_inserting,
    test_linalg,
    test_manipulation,
    test_polynomials,
    test_positions,
    test_quantiles,
    test_reductions,
    test_samples,
    test_selection,
    test_sorting,
    test_statistics,
    test_traced,
    test_ufunc_methods,
    test_ufuncs,
)
from tests.support.numpy_records import RELATIVE, assert_same, outcome

TABLES = (
    test_contraction, test_creation, test_grids, test_linalg, test_manipulation, test_reductions, test_selection,
    test_traced, test_ufuncs,
)  # fmt: skip
#: those whose functions are Python functions, or loops: programs like any other
PROGRAMS = (
    test_elementary, test_inserting, test_polynomials, test_positions, test_quantiles, test_samples, test_sorting,
    test_statistics, test_ufunc_methods,
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
    assert_same(got, expected, tolerance, record.name)
    assert_same(mine, theirs, tolerance, f"{record.name}, arguments")
