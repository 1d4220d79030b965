"""Agreement: all ranks go on, or all raise, and say who differs in what."""

from __future__ import annotations

import pytest

from dcpy.base.errors import ArgumentError, RanksDiffer
from dcpy.runtime.distributed.agreement import agree, settle
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


def test_an_error_of_one_rank_is_an_error_of_all():
    failure = ArgumentError("argument 'A' has dtype float32")
    found = on_threads(3, lambda world: agree(world, {"the program": "f"}, failure if world.rank == 2 else None))
    assert found[2] is failure
    assert [type(error) for error in found[:2]] == [RanksDiffer] * 2
    assert found[0].message == "rank 2 cannot make this call: argument 'A' has dtype float32"


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
    failures[1].add_note("on rank 1")
    found = on_threads(4, lambda world: settle(world, failures.get(world.rank)))
    assert found[1] is failures[1]
    assert found[3] is failures[3]
    for error in (found[0], found[2]):
        assert type(error) is IndexError
        assert str(error) == "index 9 is out of bounds"
        assert error.__notes__ == ["on rank 1"]


def test_what_has_no_name_in_python_is_told_with_its_rank():
    class Odd(Exception):
        pass

    found = on_threads(2, lambda world: settle(world, Odd("a device is lost") if world.rank else None))
    assert isinstance(found[1], Odd)
    assert isinstance(found[0], RanksDiffer)
    assert found[0].message == "rank 1 has failed in this call: a device is lost"


def test_calls_in_which_nobody_fails_go_on():
    assert on_threads(3, lambda world: settle(world, None)) == [None] * 3
