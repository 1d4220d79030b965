"""Calls of all ranks that are refused on each of them, before anything is sent: arrays on devices, FPGAs."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError

pytestmark = pytest.mark.mpi(2)


class OnDevice:
    """What CuPy's arrays say of themselves."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__array_interface__


def shift(A, x):
    A[1:-1] = A[2:] + x[0]


@pytest.mark.parametrize("options", [{}, {"device": "gpu", "gpu_backend": "simulator"}])
def test_arrays_on_devices(options):
    A = dcpy.distribute(np.arange(9.0), dcpy.grid(dims=1))
    with pytest.raises(ArgumentError, match=r"argument 'x' is .*OnDevice on a CUDA device\n.*NumPy's, and moves them"):
        dcpy.program(shift, distributed=True, **options)(A, OnDevice(np.ones(3)))


def test_programs_for_fpgas_send_nothing():
    A = dcpy.distribute(np.arange(9.0), dcpy.grid(dims=1))
    with pytest.raises(dcpy.DcpyError, match="cannot be called from a program for an FPGA"):
        dcpy.program(shift, distributed=True, device="fpga")(A, np.ones(3))
