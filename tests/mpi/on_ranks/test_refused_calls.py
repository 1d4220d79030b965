"""Calls of all ranks that are refused on each of them, before anything is sent: arrays on devices, FPGAs, objects."""

from __future__ import annotations

import dataclasses
import re
from typing import NamedTuple

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError

pytestmark = pytest.mark.mpi(2)

GPU = {"device": "gpu", "gpu_backend": "simulator"}
XILINX, INTEL = ({"device": "fpga", "fpga_vendor": vendor} for vendor in ("xilinx", "intel"))
TARGETS = pytest.mark.parametrize("options", [{}, GPU, XILINX, INTEL], ids=["cpu", "gpu", "xilinx", "intel"])


class OnDevice:
    """What CuPy's arrays say of themselves."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__array_interface__


@dataclasses.dataclass
class Holder:
    x: object


class Pair(NamedTuple):
    x: object
    n: float


class Plain:
    def __init__(self, x):
        self.x = x


def shift(A, x):
    A[1:-1] = A[2:] + x[0]


def first(A, p):
    return A + p[0][0]


def field(A, p):
    return A + p.x[0]


def into(A, out):
    np.add(A, 1.0, out=out)


def dealt():
    return dcpy.distribute(np.arange(9.0), dcpy.grid(dims=1))


def on_device(name):
    shown = re.escape(repr(name))
    return rf"argument {shown} is .*OnDevice on a CUDA device\n.*NumPy's, and moves them"


@TARGETS
def test_arrays_on_devices(options):
    program = dcpy.program(shift, distributed=True, **options)
    for name, args, named in [
        ("x", (dealt(), OnDevice(np.ones(3))), {}),
        ("x", (dealt(),), {"x": OnDevice(np.ones(3))}),
        ("A", (OnDevice(np.ones(9)), np.ones(3)), {}),
    ]:
        with pytest.raises(ArgumentError, match=on_device(name)):
            program(*args, **named)


@TARGETS
def test_arrays_on_devices_for_results(options):
    program = dcpy.program(into, distributed=True, **options)
    with pytest.raises(ArgumentError, match=on_device("out")):
        program(dealt(), OnDevice(np.ones(9)))
    with pytest.raises(ArgumentError, match=on_device("out")):
        program(dealt(), out=OnDevice(np.ones(9)))


@TARGETS
@pytest.mark.parametrize(
    ("function", "wrap", "path"),
    [
        (first, lambda x: (x, 1.0), "p[0]"),
        (first, lambda x: (((1.0, x),), 1.0), "p[0][0][1]"),
        (first, lambda x: [x, x], "p[0]"),
        (first, lambda x: {"x": [1.0, x]}, "p['x'][1]"),
        (field, Holder, "p.x"),
        (field, lambda x: Holder((2.0, Holder(x))), "p.x[1].x"),
        (field, lambda x: Pair(x, 1.0), "p.x"),
        (field, Plain, "p.x"),
    ],
    ids=["tuple", "nested", "list", "dict", "object", "objects", "named", "plain"],
)
def test_arrays_inside_of_arguments(options, function, wrap, path):
    """Ranks do not compare how Python prints what they pass: that differs from rank to rank."""
    program = dcpy.program(function, distributed=True, **options)
    with pytest.raises(ArgumentError, match=on_device(path)):
        program(dealt(), wrap(OnDevice(np.ones(3))))
    for array in (np.full(3, dcpy.grid(dims=1).world.rank), dealt()):
        with pytest.raises(ArgumentError, match=rf"'p' is an? \w+ that holds the array {re.escape(repr(path))}"):
            program(dealt(), p=wrap(array))


def test_objects_without_arrays():
    with pytest.raises(ArgumentError, match="argument 'p' is a Holder, whose parts are not distributed"):
        dcpy.program(field, distributed=True)(dealt(), Holder(1.0))


def test_tuples_of_constants_are_constants():
    def program(A, p):
        return A + p[0]

    assert np.array_equal(dcpy.program(program, distributed=True)(dealt(), (2, 3)), np.arange(9.0) + 2)


def test_arrays_on_devices_are_not_dealt_out():
    grid = dcpy.grid(dims=1)
    with pytest.raises(ArgumentError, match=r"argument 'array' is .*OnDevice on a CUDA device"):
        dcpy.distribute(OnDevice(np.ones(9)), grid)
    with pytest.raises(ArgumentError, match=r"argument 'local' is .*OnDevice on a CUDA device"):
        dcpy.from_local(OnDevice(np.ones(9)), dcpy.on(grid, "block"), (18,))


@TARGETS
def test_sdfgs_of_all_ranks(options):
    sdfg = dcpy.program(shift, **options).to_sdfg(np.arange(9.0), np.ones(3))
    with pytest.raises(ArgumentError, match=r"argument 'x' is .*OnDevice on a CUDA device"):
        sdfg(np.arange(9.0), OnDevice(np.ones(3)))
    with pytest.raises(ArgumentError, match=r"argument 'x' is .*OnDevice on a CUDA device"):
        sdfg(A=np.arange(9.0), x=OnDevice(np.ones(3)))


@pytest.mark.parametrize("options", [XILINX, INTEL], ids=["xilinx", "intel"])
def test_programs_for_fpgas_send_nothing(options):
    with pytest.raises(dcpy.DcpyError, match="cannot be called from a program for an FPGA"):
        dcpy.program(shift, distributed=True, **options)(dealt(), np.ones(3))
    with pytest.raises(dcpy.DcpyError, match="cannot be called from a program for an FPGA"):
        dcpy.program(into, distributed=True, **options)(dealt(), out=np.ones(9))
