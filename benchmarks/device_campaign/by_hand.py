"""Answers about problems that people write kernels for by hand: in dcpy, in CUDA C by nvcc, and in numba-cuda."""

from __future__ import annotations

import ctypes
import importlib
import inspect
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.device_campaign.problems import PROBLEMS, Problem
from benchmarks.devices.calls import DcpyCall, DeviceCall
from benchmarks.devices.clocks import new_stream
from benchmarks.devices.device import is_simulated
from benchmarks.devices.worker import Entry, Row, compared_with, refusal, times_of
from benchmarks.peers.calls import Arguments
from benchmarks.peers.subject import Subject

SOURCE = Path(__file__).with_name("by_hand.cu")
THREADS = 256


class Buffer:
    """An array in memory that the library of CUDA C has taken."""

    def __init__(self, library: ctypes.CDLL, array: np.ndarray) -> None:
        self.library, self.shape, self.dtype, self.nbytes = library, array.shape, array.dtype, array.nbytes
        self.place = library.take(ctypes.c_int64(max(array.nbytes, 1)))
        if not self.place:
            raise MemoryError(f"no {array.nbytes} bytes on the device")
        here = np.ascontiguousarray(array)
        _whole(
            library.put(ctypes.c_void_p(self.place), here.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(here.nbytes))
        )

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        found = np.empty(self.shape, self.dtype)
        size = ctypes.c_int64(self.nbytes)
        _whole(self.library.get(found.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(self.place), size))
        return found

    def __del__(self) -> None:
        if self.place:
            self.library.release(ctypes.c_void_p(self.place))


class CudaCall(DeviceCall):
    """A function of the library that nvcc has made of `SOURCE`."""

    def open(self) -> None:
        self.library = library()
        self.own = 0 if is_simulated() else new_stream()

    def stream(self) -> int:
        return self.own

    def put(self, array: np.ndarray) -> Buffer:
        return Buffer(self.library, array)

    def get(self, value: Any) -> Any:
        return value.numpy() if isinstance(value, Buffer) else value

    def wait(self) -> None:
        _whole(self.library.idle())

    def function(self, problem: Problem) -> Callable[..., Any]:
        """Takes the arguments of the problem; as many elements as the first result-like vector has rows."""
        entry = getattr(self.library, problem.name)

        def call(*arguments: Any) -> None:
            passed = (ctypes.c_void_p(a.place) if isinstance(a, Buffer) else ctypes.c_double(a) for a in arguments)
            rows = next(a.shape[0] for a in arguments if isinstance(a, Buffer))
            _whole(entry(ctypes.c_void_p(self.own), ctypes.c_int64(rows), *passed))

        return call


class NumbaCall(DeviceCall):
    """A kernel of `numba_kernels`."""

    def open(self) -> None:
        self.cuda = importlib.import_module("numba.cuda")
        self.kernels = importlib.import_module("benchmarks.device_campaign.numba_kernels")
        self.own = 0 if is_simulated() else new_stream()
        self.queue = self.cuda.external_stream(self.own) if self.own else 0  # numba's simulator has none of others

    def stream(self) -> int:
        return self.own

    def put(self, array: np.ndarray) -> Any:
        return self.cuda.to_device(array)

    def get(self, value: Any) -> Any:
        return value.copy_to_host() if hasattr(value, "copy_to_host") else value

    def wait(self) -> None:
        self.cuda.synchronize()

    def function(self, problem: Problem) -> Callable[..., Any]:
        """Takes the arguments of the problem."""
        kernel = getattr(self.kernels, problem.name)

        def call(*arguments: Any) -> None:
            rows = arguments[0].shape[0]
            threads = 64 if problem.name == "kuramoto" else THREADS
            kernel[-(-rows // threads), threads, self.queue](*arguments)

        return call


class OurCall(DcpyCall):
    """dcpy, of the function in NumPy."""

    def function(self, problem: Problem) -> Callable[..., Any]:
        """Takes the arguments of the problem."""
        import dcpy

        return dcpy.program(problem.function, auto_optimize=True, device=dcpy.DeviceType.GPU)


CALLS: dict[str, Any] = {"dcpy": OurCall, "cuda-c": CudaCall, "numba-cuda": NumbaCall}


class Answers:
    """Those by `name`."""

    def __init__(self, name: str) -> None:
        self._call = CALLS[name]

    def __call__(self, question: dict[str, Any]) -> Row:
        """Compared with NumPy at one size, timed at another one: its `median`, and the bytes that it must move."""
        problem = PROBLEMS[question["problem"]]
        try:
            mine = entry(self._call, problem, problem.initialize(question["compared"]))
            row = compared_with(problem.function, mine, mine.subject.arguments, strict=False)
            if row["status"] != "ok":
                return row
            arguments = problem.initialize(question["size"])
            row = times_of(mine, arguments, question["repeat"], question["measured"])
        except Exception as error:
            return {"status": refusal(error)}
        return row | {"bytes": problem.moved(question["size"])}


def entry(kind: Any, problem: Problem, arguments: Arguments) -> Entry:
    """A problem as one of the three has it."""
    subject = Subject(inspect.getsource(problem.function), problem.name, arguments, {}, ())
    call = kind(subject)
    return Entry(subject, subject.source, call.function(problem), call)


def library() -> ctypes.CDLL:
    """`SOURCE` as nvcc compiles it, in the folder that this process works in; `RuntimeError` where it does not."""
    place = Path("by_hand.so").absolute()
    if not place.exists() or place.stat().st_mtime < SOURCE.stat().st_mtime:
        nvcc = shutil.which("nvcc")
        if nvcc is None:
            raise RuntimeError("nvcc is not on PATH: it comes with CUDA")
        words = [nvcc, "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", str(place), str(SOURCE)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"nvcc: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    found = ctypes.CDLL(str(place))
    found.take.restype = ctypes.c_void_p
    return found


def _whole(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"CUDA says {status}")
