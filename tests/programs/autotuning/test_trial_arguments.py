"""Copies of a call's arguments: laid out as they are, and as they were each time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcpy.programs.autotuning.trial_arguments import ArgumentCopies


def test_each_call_finds_arguments_as_they_were() -> None:
    given = np.arange(4.0)
    copies = ArgumentCopies([given, 7])
    (first, number) = copies.renewed()
    first[:] = 0
    assert copies.written() == (np.zeros(4).tobytes(),)
    (again, _) = copies.renewed()
    assert again is first
    assert again.tolist() == [0, 1, 2, 3]
    assert number == 7
    given[:] = 5  # the caller's own array changes: the copies do not
    assert copies.renewed()[0].tolist() == [0, 1, 2, 3]


def test_strides_and_alignment_stay() -> None:
    whole = np.arange(60.0).reshape(6, 10)
    for view in (whole[::2, 3:7], whole.T, whole[::-1], whole[:, 2], np.asfortranarray(whole)):
        (copied,) = ArgumentCopies([view]).renewed()
        assert copied.strides == view.strides
        assert copied.shape == view.shape
        assert (copied == view).all()
        assert (copied.ctypes.data - view.ctypes.data) % 64 == 0


def test_what_overlaps_overlaps_and_what_does_not_does_not() -> None:
    whole, other = np.arange(10.0), np.arange(10.0)
    left, right, apart = ArgumentCopies([whole[:6], whole[4:], other]).renewed()
    left[5] = 100
    assert right[1] == 100
    assert apart[5] == 5
    assert not np.shares_memory(left, whole)


def test_one_array_twice_is_one_array() -> None:
    x = np.ones(3)
    a, b = ArgumentCopies([x, x]).renewed()
    assert a is b


def test_arrays_in_records_and_empty_ones() -> None:
    @dataclass
    class Field:
        values: np.ndarray
        time: float

    field = Field(np.ones(3), 1.0)
    copies = ArgumentCopies([field, (np.zeros(0), np.ones(2))])
    copied, (empty, ones) = copies.renewed()
    copied.time, copied.values[0], ones[:] = 9.0, 9.0, 9.0
    assert (field.time, field.values[0], empty.shape) == (1.0, 1.0, (0,))
    again, (_, ones) = copies.renewed()
    assert (again.time, again.values[0], ones[0]) == (1.0, 1.0, 1.0)


def test_arrays_that_may_not_be_written_stay_so() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    (copied,) = ArgumentCopies([x]).renewed()
    assert not copied.flags.writeable
