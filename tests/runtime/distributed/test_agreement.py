"""Agreement: all ranks go on, or all raise, and say who differs in what."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, DcpyError, FrontendError, PerformanceWarning, RanksDiffer
from dcpy.base.options import InvalidOption
from dcpy.base.source import SrcSpan
from dcpy.runtime.distributed.agreement import SAME_CALLS, agree, settle
from dcpy.runtime.distributed.replica_digests import digest
from tests.support.thread_ranks import on_threads


def test_ranks_that_agree_go_on():
    assert on_threads(3, lambda world: agree(world, {"the program": "f"})) == [False] * 3


def test_one_that_asks_is_heard_by_all():
    assert on_threads(3, lambda world: agree(world, {}, asks=world.rank == 1)) == [True] * 3


def test_what_differs_is_named_on_all_ranks():
    shape = "the shape of 'A'"
    found = on_threads(4, lambda world: agree(world, {"the program": "f", shape: str(10 + world.rank // 3)}))
    assert all(isinstance(error, RanksDiffer) for error in found)
    assert found[0].message == "the ranks do not agree on the shape of 'A'"
    assert found[0].notes == ("ranks 0, 1 and 2: 10", "rank 3: 11")
    assert found[0].help == SAME_CALLS


def test_parts_of_ranks_in_place_of_one_array_are_named():
    """Newcomers pass each rank's own part as a NumPy array."""
    value = "the value of 'x'"
    found = on_threads(2, lambda world: agree(world, {value: digest(np.arange(4.0) + world.rank)}))
    assert found[0].message == "the ranks do not agree on the value of 'x'"
    assert all("elements with the checksum" in note for note in found[0].notes)
    assert 'dcpy.from_local(part, dcpy.on(dcpy.grid(), "block"), shape)' in found[0].help
    whole = dcpy.from_local(np.arange(4.0), dcpy.on(dcpy.grid(), "block"), (4,))  # the advice, on one rank
    np.testing.assert_array_equal(whole.allgather(), np.arange(4.0))


@pytest.mark.parametrize("failure", [
    ArgumentError("argument 'A' has dtype float32", help="pass float64"), ValueError("no"), KeyError("k"),
    FrontendError("two shapes", notes=("NumPy raises ValueError here",), span=SrcSpan(__file__, 3, 0, 3, 9)),
    InvalidOption("halo_steps is -1"), np.linalg.LinAlgError("Singular matrix"), PerformanceWarning("slow"),
    UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"), KeyboardInterrupt(),
    FileNotFoundError(2, "No such file or directory", "x.npy"),
])  # fmt: skip
def test_an_error_of_one_rank_is_an_error_of_all(failure):
    """Of the same class, and with the same text."""
    found = on_threads(3, lambda world: agree(world, {"the program": "f"}, failure if world.rank == 2 else None))
    assert found[2] is failure
    said = "on rank 2"
    for error in found[:2]:
        assert type(error) is (UnicodeError if isinstance(failure, UnicodeError) else type(failure))
        assert str(error) == str(failure)
        assert said in (error.notes if isinstance(error, DcpyError) else error.__notes__)


def test_the_error_of_the_first_rank_is_raised_by_all():
    failures = {1: ArgumentError("argument 'A' is a list"), 2: ArgumentError("argument 'A' has dtype float32")}
    found = on_threads(4, lambda world: agree(world, {}, failures.get(world.rank)))
    assert [str(error) for error in found] == [str(failures[1])] * 4
    assert found[0].notes == ("on rank 1",)


def test_an_error_of_all_ranks_names_none():
    found = on_threads(3, lambda world: agree(world, {}, ArgumentError("argument 'A' is a list")))
    assert [error.notes for error in found] == [()] * 3


def test_a_rank_alone_raises_its_own_error():
    (found,) = on_threads(1, lambda world: agree(world, {}, ArgumentError("no")))
    assert isinstance(found, ArgumentError)


@pytest.mark.parametrize("missing", [0, 2])
def test_a_missing_item_is_seen(missing):
    found = on_threads(3, lambda world: agree(world, {} if world.rank == missing else {"the value of 'k'": "3"}))
    assert f"rank {missing}: nothing" in found[1].notes


def test_what_fails_in_a_call_is_raised_by_all():
    """The error of the first rank, where another one has none of its own."""
    failures = {1: IndexError("index 9 is out of bounds"), 3: ZeroDivisionError("division by zero")}
    found = on_threads(4, lambda world: settle(world, failures.get(world.rank)))
    assert found[1] is failures[1]
    for error in found:
        assert type(error) is IndexError
        assert str(error) == "index 9 is out of bounds"
        assert error.__notes__ == ["on rank 1"]


def test_what_has_no_name_in_python_is_told_with_its_own():
    class Odd(Exception):
        pass

    found = on_threads(2, lambda world: settle(world, Odd("a device is lost") if world.rank else None))
    assert isinstance(found[1], Odd)
    assert isinstance(found[0], RanksDiffer)
    assert found[0].message == "Odd: a device is lost"
    assert found[0].notes == ("on rank 1",)


def test_calls_in_which_nobody_fails_go_on():
    assert on_threads(3, lambda world: settle(world, None)) == [None] * 3
