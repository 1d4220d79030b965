"""Every example against NumPy: as written and simplified, interpreted and compiled, three sizes, two precisions."""

import copy
import importlib
import inspect
from types import ModuleType

import numpy as np
import pytest

import dcpy

KERNELS = {
    "arc_distance": "arc_distance",
    "atax": "atax",
    "bicg": "bicg",
    "clipping": "compute",
    "crc16": "crc16",
    "fdtd_2d": "fdtd_2d",
    "floyd_warshall": "floyd_warshall",
    "gemm": "gemm",
    "gemver": "gemver",
    "gesummv": "gesummv",
    "go_fast": "go_fast",
    "hdiff": "hdiff",
    "heat_3d": "heat_3d",
    "jacobi_1d": "jacobi_1d",
    "jacobi_2d": "jacobi_2d",
    "k2mm": "k2mm",
    "k3mm": "k3mm",
    "monte_carlo_pi": "monte_carlo_pi",
    "mvt": "mvt",
    "seidel_2d": "seidel_2d",
    "softmax": "softmax",
    "streams": "smooth",
}
INTEGER = {"crc16": (np.uint8,), "clipping": (np.int64, np.float32, np.float64), "monte_carlo_pi": (np.float64,)}
SIZES = (3, 6, 17)
SMALL = (3, 5)  # the interpreter runs every iteration in Python
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-10}


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"examples.{name}")


def program_of(name: str, dtype: type) -> dcpy.Program:
    """The example's program; annotated ones are taken without annotations where the precision is another."""
    program = getattr(module_of(name), KERNELS[name])
    return program if dtype is np.float64 else dcpy.program(program.function, ignore_type_hints=True)


def cases() -> list:
    return [
        pytest.param(name, dtype, id=f"{name}-{np.dtype(dtype).name}")
        for name in KERNELS
        for dtype in INTEGER.get(name, (np.float32, np.float64))
    ]


def assert_same(got: object, expected: object, arguments: dict, reference: dict, dtype: type) -> None:
    """Results (values, dtypes, shapes) and what happened to the arguments are NumPy's."""
    rtol = TOLERANCE.get(dtype, 0)
    pairs = list(zip(got, expected, strict=True)) if isinstance(expected, tuple) else [(got, expected)]
    pairs += [(arguments[name], reference[name]) for name in reference]
    for mine, theirs in pairs:
        if theirs is None:
            assert mine is None
            continue
        assert type(mine) is type(theirs)
        assert np.result_type(mine) == np.result_type(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol)


def sample_arguments(name: str, dtype: type) -> dict:
    """Arguments in which only sizes that must be equal are equal: equal sizes share a symbol."""
    return module_of(name).initialize(11, dtype)


def check(run: object, name: str, dtype: type, size: int) -> None:
    module = module_of(name)
    arguments = module.initialize(size, dtype)
    function = getattr(module, KERNELS[name]).function
    call = inspect.signature(function).bind(**arguments)
    call.apply_defaults()  # an SDFG has no default arguments
    arguments = dict(call.arguments)
    reference = copy.deepcopy(arguments)
    expected = function(**reference)
    assert_same(run(**arguments), expected, arguments, reference, dtype)


@pytest.mark.parametrize(("name", "dtype"), cases())
@pytest.mark.parametrize("simplify", [False, True], ids=["as-written", "simplified"])
def test_interpreted(name, dtype, simplify):
    module = module_of(name)
    for size in SMALL:
        sdfg = program_of(name, dtype).to_sdfg(**module.initialize(size, dtype), simplify=simplify)
        check(sdfg.interpret, name, dtype, size)


@pytest.mark.cc
@pytest.mark.parametrize(("name", "dtype"), cases())
@pytest.mark.parametrize("simplify", [False, True], ids=["as-written", "simplified"])
def test_compiled(name, dtype, simplify):
    arguments = sample_arguments(name, dtype)
    compiled = program_of(name, dtype).to_sdfg(**arguments, simplify=simplify).compile()
    for size in SIZES:
        check(compiled, name, dtype, size)


@pytest.mark.cc
@pytest.mark.parametrize(("name", "dtype"), cases())
def test_called_twice(name, dtype):
    program = program_of(name, dtype)
    for size in SIZES:
        check(program, name, dtype, size)
        check(program, name, dtype, size)


@pytest.mark.cc
@pytest.mark.parametrize(("name", "dtype"), cases())
def test_printed_parsed_compiled(name, dtype):
    sdfg = program_of(name, dtype).to_sdfg(**sample_arguments(name, dtype))
    again = dcpy.parse(str(sdfg))
    assert str(again) == str(sdfg)
    check(again.compile(), name, dtype, SIZES[1])
