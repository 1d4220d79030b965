"""A stand-in for PyTorch on NumPy: as much of its interface as the comparison on GPUs asks for.

`compile` compiles nothing; `compiler.wrap_numpy` hands the arrays of tensors to a function, as PyTorch's does.
"""

from __future__ import annotations

import contextlib
import types

import numpy

__version__ = "0 (a stand-in)"
float64, float32, float16, uint8 = numpy.float64, numpy.float32, numpy.float16, numpy.uint8


class Tensor:
    def __init__(self, array):
        self.array = array

    @property
    def nbytes(self):
        return self.array.nbytes

    def cpu(self):
        return self

    def numpy(self):
        return self.array

    def to(self, what):
        return self if what == "cpu" else Tensor(self.array.astype(what))

    def copy_(self, source, non_blocking=False):
        self.array[...] = source.array

    def add_(self, number):
        self.array += number


def from_numpy(array):
    return Tensor(array)


def tensor(array, device="cpu"):
    return Tensor(numpy.array(array))


def ones(shape, dtype, device="cpu", pin_memory=False):
    return Tensor(numpy.ones(shape, dtype))


def rand(shape, dtype, device="cpu"):
    return Tensor(numpy.random.rand(*shape).astype(dtype))


def add(b, c, alpha, out):
    out.array[...] = b.array + alpha * c.array


def matmul(a, b, out):
    numpy.matmul(a.array, b.array, out=out.array)


def compile(function):
    return function


def _wrap_numpy(function):
    def call(*args):
        value = function(*(arg.array if isinstance(arg, Tensor) else arg for arg in args))
        if isinstance(value, tuple):
            return tuple(map(_as_tensor, value))
        return _as_tensor(value)

    return call


def _as_tensor(value):
    return Tensor(numpy.asarray(value)) if isinstance(value, numpy.ndarray | numpy.generic) else value


compiler = types.SimpleNamespace(wrap_numpy=_wrap_numpy, reset=lambda: None)
_dynamo = types.SimpleNamespace(config=types.SimpleNamespace())
backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)))


class _Graph:
    def replay(self):
        pass


cuda = types.SimpleNamespace(
    CUDAGraph=_Graph,
    graph=lambda graph: contextlib.nullcontext(),
    synchronize=lambda: None,
    empty_cache=lambda: None,
    current_stream=lambda: types.SimpleNamespace(cuda_stream=0),
)
