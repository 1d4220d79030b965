"""Answers about what the device can do at best, by PyTorch or CuPy: memory, products by cuBLAS, launches, transfers.

Each is one question: the least that a framework has to offer for it is missing in some.
"""

from __future__ import annotations

import importlib
import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.devices.clocks import Clock, EventClock, HostClock
from benchmarks.devices.device import is_simulated
from benchmarks.devices.worker import Row, refusal

PRODUCTS = ("float64", "float32", "tf32", "bfloat16", "float16")
WHAT = ("copy", "triad", *(f"gemm {name}" for name in PRODUCTS), "launch", "graph node", "to device", "to host")
UNITS = {"copy": "GB/s", "triad": "GB/s", "gemm": "TFLOP/s", "launch": "µs", "graph": "µs", "to": "GB/s"}
WARM, MOST = 3, 50  # calls
LAUNCHES = 200


class Device(ABC):
    """A framework, as far as ceilings need it. Arrays of floats are random: zeros multiply faster."""

    clock: Clock

    @abstractmethod
    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        """On the device."""

    @abstractmethod
    def pinned(self, size: int) -> Any:
        """Bytes of the host that do not move."""

    @abstractmethod
    def copy(self, to: Any, source: Any) -> None:
        """Between places of any kind."""

    @abstractmethod
    def triad(self, a: Any, b: Any, c: Any) -> None:
        """``a = b + 3 c``, in one kernel."""

    @abstractmethod
    def product(self, a: Any, b: Any, c: Any, dtype: str) -> None:
        """``c = a b``; `dtype` may be tf32, of float32 arrays."""

    @abstractmethod
    def add_one(self, x: Any) -> None:
        """To each element."""

    @abstractmethod
    def graph(self, run: Callable[[], None]) -> Callable[[], None]:
        """What replays the launches of `run`."""


class Torch(Device):
    """PyTorch."""

    def __init__(self) -> None:
        import torch

        self.torch, self.place = torch, "cpu" if is_simulated() else "cuda"
        torch.ones(1, dtype=torch.uint8, device=self.place)
        simulated = is_simulated()
        self.clock = HostClock(lambda: None) if simulated else EventClock(torch.cuda.current_stream().cuda_stream)

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        found = self.torch.float32 if dtype == "tf32" else getattr(self.torch, dtype)
        if dtype == "uint8":
            return self.torch.ones(shape, dtype=found, device=self.place)
        return self.torch.rand(shape, dtype=self.torch.float32, device=self.place).to(found)

    def pinned(self, size: int) -> Any:
        return self.torch.ones(size, dtype=self.torch.uint8, pin_memory=True)

    def copy(self, to: Any, source: Any) -> None:
        to.copy_(source, non_blocking=True)

    def triad(self, a: Any, b: Any, c: Any) -> None:
        self.torch.add(b, c, alpha=3.0, out=a)

    def product(self, a: Any, b: Any, c: Any, dtype: str) -> None:
        self.torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        self.torch.matmul(a, b, out=c)

    def add_one(self, x: Any) -> None:
        x.add_(1)

    def graph(self, run: Callable[[], None]) -> Callable[[], None]:
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            run()
        return graph.replay


class Cupy(Device):
    """CuPy."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        cupy.zeros(1)
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.stream.use()
        self.clock = HostClock(lambda: None) if is_simulated() else EventClock(self.stream.ptr)
        self._triad = cupy.ElementwiseKernel("T b, T c", "T a", "a = b + 3*c", "triad")

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        if dtype in ("bfloat16", "tf32"):
            raise NotImplementedError(f"not asked of CuPy: {dtype}")
        if dtype == "uint8":
            return self.cupy.ones(shape, "uint8")
        return self.cupy.random.rand(*shape).astype(dtype)

    def pinned(self, size: int) -> Any:
        found = importlib.import_module("cupyx").empty_pinned(size, "uint8")
        found[:] = 1
        return found

    def copy(self, to: Any, source: Any) -> None:
        if isinstance(to, self.cupy.ndarray):
            to.set(source) if isinstance(source, np.ndarray) else self.cupy.copyto(to, source)
        else:
            source.get(out=to)

    def triad(self, a: Any, b: Any, c: Any) -> None:
        self._triad(b, c, a)

    def product(self, a: Any, b: Any, c: Any, dtype: str) -> None:
        self.cupy.matmul(a, b, out=c)

    def add_one(self, x: Any) -> None:
        x += 1

    def graph(self, run: Callable[[], None]) -> Callable[[], None]:
        self.stream.begin_capture()
        run()
        graph = self.stream.end_capture()
        return lambda: graph.launch(self.stream)


DEVICES: dict[str, type[Device]] = {"torch": Torch, "cupy": Cupy}


class Answers:
    """Those by the framework `name`."""

    def __init__(self, name: str) -> None:
        self._device: Device | None = None
        self._missing = ""
        try:
            self._device = DEVICES[name]()
        except Exception as error:
            self._missing = refusal(error)

    def __call__(self, question: dict[str, Any]) -> Row:
        """The `figure` in its `unit`."""
        if self._device is None:
            return {"status": self._missing}
        what = question["what"]
        try:
            figure = measured(self._device, what, question["size"], question["measured"])
        except Exception as error:
            return {"status": refusal(error)}
        return {"figure": figure, "unit": UNITS[what.split()[0]], "status": "ok"}


def measured(device: Device, what: str, size: int, seconds: float) -> float:
    """One ceiling, on arrays of `size` bytes: products have as many rows as fit in."""
    if what in ("launch", "graph node"):
        return _launches(device, what, seconds) * 1e6
    if what.startswith("gemm"):
        dtype = what.split()[1]
        n = round((size / 8) ** 0.5 / 16) * 16
        a, b, c = (device.array((n, n), dtype) for _ in range(3))
        return 2.0 * n**3 / _median(device, lambda: device.product(a, b, c, dtype), seconds) / 1e12
    if what == "triad":
        x, y, z = (device.array((size // 8,), "float64") for _ in range(3))
        return 3.0 * size / _median(device, lambda: device.triad(x, y, z), seconds) / 1e9
    here = device.array((size,), "uint8")
    there = device.array((size,), "uint8") if what == "copy" else device.pinned(size)
    to, source = (there, here) if what == "to host" else (here, there)
    return (2 if what == "copy" else 1) * size / _median(device, lambda: device.copy(to, source), seconds) / 1e9


def _launches(device: Device, what: str, seconds: float) -> float:
    x = device.array((32,), "float32")

    def many() -> None:
        for _ in range(LAUNCHES):
            device.add_one(x)

    many()
    return _median(device, device.graph(many) if what == "graph node" else many, seconds) / LAUNCHES


def _median(device: Device, run: Callable[[], object], seconds: float) -> float:
    """Of one call, without the first ones."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < WARM + 2 or (time.perf_counter() < end and len(times) < WARM + MOST):
        times.append(device.clock.span(run).device)
    return statistics.median(times[WARM:])
