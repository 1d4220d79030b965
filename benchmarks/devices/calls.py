"""How each framework is called with arrays on the device, and what is timed: the call, until its commands have ended.

Arrays are on the device before the clock starts, which nothing else keeps busy then, and results stay there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.devices.clocks import Clock, EventClock, HostClock, Span, new_stream
from benchmarks.peers.calls import Arguments, JaxCall, PlainCall, Seen
from benchmarks.peers.subject import Subject


class DeviceCall(PlainCall, ABC):
    """NumPy's way, with `put` for arrays on the way in and `get` on the way out."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.clock = self.make_clock()

    @abstractmethod
    def make_clock(self) -> Clock:
        """What times a call."""

    @abstractmethod
    def put(self, array: np.ndarray) -> Any:
        """A copy on the device."""

    @abstractmethod
    def get(self, value: Any) -> Any:
        """What a caller of NumPy would see."""

    @abstractmethod
    def wait(self) -> None:
        """Until the device has nothing to do: copies of arrays have arrived."""

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
    """On a stream of its own, timed by events on it."""

    def make_clock(self) -> Clock:
        import dcpy

        self.stream = new_stream()
        self.device = dcpy.gpu
        return EventClock(self.stream)

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        with self.device.stream(self.stream):
            return super().run(function, arguments)

    def put(self, array: np.ndarray) -> Any:
        return self.device.array(array)

    def wait(self) -> None:
        self.device.synchronize()

    def get(self, value: Any) -> Any:
        self.wait()
        return value.numpy() if isinstance(value, self.device.DeviceArray) else value


class CupyCall(DeviceCall):
    """On the current stream, timed by events on it."""

    def make_clock(self) -> Clock:
        import cupy

        self.module = cupy
        return EventClock(cupy.cuda.get_current_stream().ptr)

    def put(self, array: np.ndarray) -> Any:
        return self.module.array(array)

    def wait(self) -> None:
        self.module.cuda.Device().synchronize()

    def get(self, value: Any) -> Any:
        return self.module.asnumpy(value) if isinstance(value, self.module.ndarray) else value


class TorchCall(DeviceCall):
    """On the current stream, timed by events on it."""

    def make_clock(self) -> Clock:
        import torch

        torch._dynamo.config.automatic_dynamic_shapes = False  # each size that it is called with has code of its own
        self.module = torch
        return EventClock(torch.cuda.current_stream().cuda_stream)

    def put(self, array: np.ndarray) -> Any:
        return self.module.tensor(array, device="cuda")

    def wait(self) -> None:
        self.module.cuda.synchronize()

    def get(self, value: Any) -> Any:
        return value.cpu().numpy() if isinstance(value, self.module.Tensor) else value


class JaxDeviceCall(JaxCall):
    """JAX does not say on which streams it works: by the clock of the host, until results are there."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        import jax

        if jax.devices()[0].platform == "cpu":
            raise RuntimeError("JAX finds no GPU")
        self.clock: Clock = HostClock(lambda: None)  # `run` itself waits

    def prepare(self, arguments: Arguments) -> Arguments:
        """Fresh arguments; JAX copies arrays behind the caller's back."""
        import jax

        found: Arguments = jax.block_until_ready(super().prepare(arguments))
        return found

    def wait(self) -> None:
        """Nothing is left to wait for: `run` waits."""

    def span(self, function: Callable[..., Any], arguments: Arguments) -> Span:
        """How long one call takes."""
        return self.clock.span(lambda: self.run(function, arguments))
