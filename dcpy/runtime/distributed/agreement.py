"""What ranks agree on before the first message of a call: that all are fine, and call the same program the same way."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

from dcpy.base.errors import DcpyError, RanksDiffer
from dcpy.base.exceptions import exception_type
from dcpy.base.tracebacks import raised_by_program
from dcpy.runtime.distributed.world import World

WORD = 2**62  # numbers that ranks compare are below it
GRACE = 10.0  # seconds that a rank which has failed gives the others to come to the end of the call

Items = Mapping[str, str]  # what must be the same on all ranks, by name


def word_of(text: str) -> int:
    """A number that stands for a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") % WORD


def agree(world: World, items: Items, failed: BaseException | None = None, asks: bool = False) -> bool:
    """One message: that nobody has failed so far, and that `items` are the same everywhere; whether any rank `asks`.

    All ranks raise where that is not so: who has failed its own error, the others `RanksDiffer` with what it said.
    """
    if world.size == 1:
        if failed is not None:
            raise failed
        return asks
    key = 0 if failed is not None else word_of(repr(tuple(items.items())))
    error, most, least, asked = world.most((int(failed is not None), key, -key if failed is None else -WORD, int(asks)))
    if error:
        _tell_failures(world, failed)
    if most != -least:
        require_same(world, items)
    return bool(asked)


def _tell_failures(world: World, failed: BaseException | None) -> None:
    mine = None if failed is None else [type(failed).__name__, _first_line(failed)]
    said = world.all(mine)
    if failed is not None:
        raise failed
    bad = [(rank, what) for rank, what in enumerate(said) if what is not None]
    raise RanksDiffer(
        f"rank {bad[0][0]} cannot make this call: {bad[0][1][1]}",
        notes=tuple(f"rank {rank}: {kind}: {what}" for rank, (kind, what) in bad),
    )


def settle(world: World, failed: BaseException | None) -> None:
    """After a call in which ranks have sent messages: where one has failed, all raise the error of the first such rank.

    A rank that fails in a program leaves it, and the others may wait for its messages. If they come here all the same
    (they have failed, too, or needed nothing more of it), all raise, and go on over another communicator: nobody has
    received what is left in this one. If they do not, the rank ends the job with its error.
    """
    if world.size == 1:
        if failed is not None:
            raise failed
        return
    left = world.watchdog.seconds_left if world.watchdog is not None else math.inf
    found = world.any_of(failed is not None, 0.0 if failed is None else min(GRACE, left / 2))
    if found is None:
        assert failed is not None  # who has not failed waits for all
        world.end(failed, "other ranks are in the same call, and may wait for its messages")
    if not found:
        return
    world.renew()
    mine = None if failed is None else [type(failed).__name__, _first_line(failed), getattr(failed, "__notes__", [])]
    said = world.all(mine)
    if failed is not None:
        raise failed
    rank, (kind, message, notes) = next((rank, each) for rank, each in enumerate(said) if each is not None)
    raise _of_rank(rank, kind, message, notes)


def _of_rank(rank: int, kind: str, message: str, notes: Sequence[str]) -> Exception:
    """The exception of another rank: what Python or NumPy raises is the same on all of them."""
    category = exception_type(kind)
    if category is None:
        return RanksDiffer(f"rank {rank} has failed in this call: {message}", notes=tuple(notes))
    error = category(message)
    for note in notes:
        error.add_note(note)
    return raised_by_program(error)


def _first_line(error: BaseException) -> str:
    return error.message if isinstance(error, DcpyError) else (str(error).splitlines() or [type(error).__name__])[0]


def require_same(world: World, items: Items) -> None:
    """`RanksDiffer` on all ranks, with the first item that is not the same everywhere, and who says what."""
    said = world.all(list(items.items()))
    names = list(dict.fromkeys(name for one in said for name, _ in one))
    for name in names:
        values = [dict(one).get(name, "nothing") for one in said]
        if len(set(values)) > 1:
            raise RanksDiffer(
                f"the ranks do not agree on {name}",
                notes=tuple(f"{_ranks(values, value)}: {value}" for value in dict.fromkeys(values)),
                help="all ranks make the same calls, in the same order, with the same shapes and constants",
            )


def _ranks(values: list[str], value: str) -> str:
    """``rank 3``, ``ranks 0, 1 and 2``, of long lists the first ones."""
    found = [str(rank) for rank, said in enumerate(values) if said == value]
    if len(found) == 1:
        return f"rank {found[0]}"
    shown = found if len(found) <= 8 else [*found[:7], f"{len(found) - 7} more"]
    return f"ranks {', '.join(shown[:-1])} and {shown[-1]}"
