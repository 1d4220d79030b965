"""How each framework is called with arrays on the device, and what is timed: the call, until its commands have ended.

Arrays are on the device before the clock starts, which nothing else keeps busy then, and results stay there. With a
simulated device they are on the processor, and time goes by the clock of the host.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.devices.clocks import Clock, EventClock, HostClock, Span, new_stream
from benchmarks.devices.device import is_simulated
from benchmarks.peers.calls import Arguments, JaxCall, PlainCall, Seen
from benchmarks.peers.subject import Subject


class DeviceCall(PlainCall, ABC):
    """NumPy's way, with `put` for arrays on the way in and `get` on the way out."""

    keeps_memory = False  #: of the device, which `forget` does not give back

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.open()
        self.clock: Clock = HostClock(self.wait) if is_simulated() else EventClock(self.stream())

    @abstractmethod
    def open(self) -> None:
        """Imports what the others need."""

    @abstractmethod
    def stream(self) -> int:
        """The handle of the stream that calls are on."""

    @abstractmethod
    def put(self, array: np.ndarray) -> Any:
        """A copy on the device."""

    @abstractmethod
    def get(self, value: Any) -> Any:
        """What a caller of NumPy would see."""

    @abstractmethod
    def wait(self) -> None:
        """Until the device has nothing to do: copies of arrays have arrived."""

    def forget(self) -> None:
        """Gives back memory of the device that nobody uses any more."""
        gc.collect()

    def notes(self) -> dict[str, Any]:
        """What else a row should say about the kernels that were called since `forget`."""
        return {}

    def prepare(self, arguments: Arguments) -> Arguments:
        """Fresh arguments, arrays on the device."""
        found = {name: self.put(v) if isinstance(v, np.ndarray) else v for name, v in arguments.items()}
        self.wait()
        return found

    def seen(self, value: Any, arguments: Arguments) -> Seen:
        return [(name, self.get(found)) for name, found in super().seen(value, arguments)]

    def span(self, function: Callable[..., Any], arguments: Arguments) -> Span:
        """How long one call takes."""
        return self.clock.span(lambda: self.run(function, arguments))


class DcpyCall(DeviceCall):
    """On a stream of its own."""

    def open(self) -> None:
        import dcpy

        self.device = dcpy.gpu
        self.own = 1 if is_simulated() else new_stream()

    def stream(self) -> int:
        return self.own

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        with self.device.stream(self.own):
            return super().run(function, arguments)

    def put(self, array: np.ndarray) -> Any:
        return self.device.array(array)

    def wait(self) -> None:
        self.device.synchronize()

    def get(self, value: Any) -> Any:
        self.wait()
        return value.numpy() if isinstance(value, self.device.DeviceArray) else value


class CupyCall(DeviceCall):
    """On the current stream."""

    def open(self) -> None:
        import cupy

        self.module = cupy

    def stream(self) -> int:
        return int(self.module.cuda.get_current_stream().ptr)

    def put(self, array: np.ndarray) -> Any:
        return self.module.array(array)

    def wait(self) -> None:
        self.module.cuda.Device().synchronize()

    def get(self, value: Any) -> Any:
        return self.module.asnumpy(value) if isinstance(value, self.module.ndarray) else value

    def forget(self) -> None:
        super().forget()
        self.module.get_default_memory_pool().free_all_blocks()


class TorchCall(DeviceCall):
    """On the current stream."""

    def open(self) -> None:
        import torch

        torch._dynamo.config.automatic_dynamic_shapes = False  # each size that it is called with has code of its own
        self.module = torch

    def stream(self) -> int:
        return int(self.module.cuda.current_stream().cuda_stream)

    def put(self, array: np.ndarray) -> Any:
        return self.module.tensor(array, device="cpu" if is_simulated() else "cuda")

    def wait(self) -> None:
        if not is_simulated():
            self.module.cuda.synchronize()

    def get(self, value: Any) -> Any:
        return value.cpu().numpy() if isinstance(value, self.module.Tensor) else value

    def notes(self) -> dict[str, Any]:
        counters = getattr(self.module._dynamo, "utils", None)
        breaks = counters.counters["graph_break"].values() if counters else ()
        return {"graph_breaks": sum(breaks)}  # what lies between two graphs is NumPy's, on the host

    def forget(self) -> None:
        super().forget()
        if self.notes()["graph_breaks"]:
            self.module._dynamo.utils.counters.clear()
        self.module.compiler.reset()
        if not is_simulated():
            self.module.cuda.empty_cache()


class JaxDeviceCall(JaxCall):
    """JAX does not say on which streams it works: by the clock of the host, until results are there."""

    keeps_memory = True

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        import jax

        if jax.devices()[0].platform == "cpu" and not is_simulated():
            raise RuntimeError("JAX finds no GPU")
        self.clock: Clock = HostClock(lambda: None)  # `run` itself waits

    def prepare(self, arguments: Arguments) -> Arguments:
        """Fresh arguments; JAX copies arrays behind the caller's back."""
        import jax

        found: Arguments = jax.block_until_ready(super().prepare(arguments))
        return found

    def put(self, array: np.ndarray) -> Any:
        """A copy on the device."""
        import jax.numpy as jnp

        return jnp.array(array)

    def get(self, value: Any) -> Any:
        """A copy on the host."""
        return np.asarray(value)

    def notes(self) -> dict[str, Any]:
        """JAX refuses what it does not compile."""
        return {}

    def wait(self) -> None:
        """Nothing is left to wait for: `run` waits."""

    def forget(self) -> None:
        """Gives back memory, and programs that are kept in the folder of compiled ones."""
        import jax

        jax.clear_caches()
        gc.collect()

    def span(self, function: Callable[..., Any], arguments: Arguments) -> Span:
        """How long one call takes."""
        return self.clock.span(lambda: self.run(function, arguments))
