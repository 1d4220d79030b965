"""A stand-in for jax.numpy: functions of NumPy, whose arrays have `at`."""

from __future__ import annotations

import numpy


class Array(numpy.ndarray):
    @property
    def at(self):
        return _At(self)


class _At:
    def __init__(self, array, index=()):
        self.array, self.index = array, index

    def __getitem__(self, index):
        return _At(self.array, index)

    def _changed(self, change):
        fresh = self.array.copy()
        fresh[self.index] = change(fresh[self.index])
        return fresh

    def set(self, value):
        return self._changed(lambda old: value)

    def add(self, value):
        return self._changed(lambda old: old + value)

    def multiply(self, value):
        return self._changed(lambda old: old * value)

    def divide(self, value):
        return self._changed(lambda old: old / value)

    def power(self, value):
        return self._changed(lambda old: old**value)


def __getattr__(name):
    found = getattr(numpy, name)
    if not callable(found) or isinstance(found, type):
        return found

    def call(*args, **kwargs):
        value = found(*args, **kwargs)
        return value.view(Array) if isinstance(value, numpy.ndarray) else value

    return call
