"""Agreement of ranks before the first message of a call: all are fine, and call the same program in the same way."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

from dcpy.base.errors import DcpyError, RanksDiffer
from dcpy.runtime.distributed.error_propagation import retold, told
from dcpy.runtime.distributed.replica_digests import DIGEST
from dcpy.runtime.distributed.world import World

WORD = 2**62  # numbers that ranks compare are below it
SAME_CALLS = "all ranks make the same calls, in the same order, with the same shapes and constants"
PARTS = (
    "pass the same NumPy array on all ranks; where each rank has a part, pass "
    'dcpy.from_local(part, dcpy.on(dcpy.grid(), "block"), shape)'
)
GRACE = 10.0  # seconds that a rank which has failed gives the others to come to the end of the call

Items = Mapping[str, str]  # what must be the same on all ranks, by name


def word_of(text: str) -> int:
    """A number that stands for a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") % WORD


def agree(world: World, items: Items, failed: BaseException | None = None, asks: bool = False) -> bool:
    """One message: that no rank has failed so far, and that `items` are the same everywhere; whether any rank `asks`.

    All ranks raise where that is not so: the error of the first rank that has failed, or `RanksDiffer`.
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
    """All ranks raise the error of the first that has failed, with its number where others have not failed so."""
    said = world.all(None if failed is None else told(failed))
    bad = [rank for rank, what in enumerate(said) if what is not None]
    first = said[bad[0]]
    error = failed if failed is not None and said[world.rank] == first else retold(first)
    like = [rank for rank in bad if said[rank] == first]
    if isinstance(error, DcpyError) and len(like) < world.size:
        error.notes = (*error.notes, f"on {ranks_in_words(like)}")
    elif len(like) < world.size:
        error.add_note(f"on {ranks_in_words(like)}")
    raise error


def settle(world: World, failed: BaseException | None) -> None:
    """Settle a call in which ranks have sent messages: if one has failed, all raise the error of the first such rank.

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
        assert failed is not None  # a rank that has not failed waits for all
        world.end(failed, "other ranks are in the same call, and may wait for its messages")
    if not found:
        return
    world.renew()
    _tell_failures(world, failed)


def require_same(world: World, items: Items) -> None:
    """`RanksDiffer` on all ranks, with the first item that is not the same everywhere, and its values by rank."""
    said = world.all(list(items.items()))
    names = list(dict.fromkeys(name for one in said for name, _ in one))
    for name in names:
        values = [dict(one).get(name, "nothing") for one in said]
        if len(set(values)) > 1:
            raise RanksDiffer(
                f"the ranks do not agree on {name}",
                notes=tuple(f"{_who(values, value)}: {value}" for value in dict.fromkeys(values)),
                help=PARTS if any(value.startswith(DIGEST) for value in values) else SAME_CALLS,
            )


def _who(values: list[str], value: str) -> str:
    return ranks_in_words([rank for rank, said in enumerate(values) if said == value])


def ranks_in_words(ranks: list[int]) -> str:
    """``rank 3``, ``ranks 0, 1 and 2``, of long lists the first ones."""
    found = [str(rank) for rank in ranks]
    if len(found) == 1:
        return f"rank {found[0]}"
    shown = found if len(found) <= 8 else [*found[:7], f"{len(found) - 7} more"]
    return f"ranks {', '.join(shown[:-1])} and {shown[-1]}"
