"""Side effects: what a node does besides reading and writing what its memlets say.

Each class of nodes declares its own (`Node.effects`), library nodes of users too; what those of a body or a callee add
up to is found by `ir.analysis.dataflow.effect_analysis`. Passes ask for these, never for a list of classes.
"""

from __future__ import annotations

from enum import Flag, auto


class Effect(Flag):
    """Facts that forbid something. A node of which none holds may be dropped, repeated, and moved as memlets allow.

    `MAY_RAISE`: it may end the program with an exception, after which the caller sees what was written before it.
    `MAY_NOT_END`: it may run for ever. `ORDERED`: it is seen from outside, by what it sends, prints or keeps for
    itself; two such nodes stay in their order, and each runs as often as the program says. `CALLS_OUT`: it runs code
    that is in no SDFG and may do more than it says: it is never dropped, and nothing of it goes into vector lanes.
    """

    NOTHING = 0
    MAY_RAISE = auto()
    MAY_NOT_END = auto()
    ORDERED = auto()
    CALLS_OUT = auto()

    @property
    def words(self) -> str:
        """The facts in words: ``may raise an exception and may not end``."""
        return " and ".join(text for effect, text in _WORDS.items() if effect in self)


#: what makes it matter that a node runs at all, or when, beyond its memlets
VISIBLE = Effect.MAY_RAISE | Effect.MAY_NOT_END | Effect.ORDERED
#: effects that forbid dropping a node whose results are not read
KEPT = VISIBLE | Effect.CALLS_OUT
_WORDS = {
    Effect.MAY_RAISE: "may raise an exception",
    Effect.MAY_NOT_END: "may never end",
    Effect.ORDERED: "has an effect that is seen outside",
    Effect.CALLS_OUT: "runs code that may do more than it says",
}


def keep_order(first: Effect, second: Effect) -> bool:
    """Return whether two nodes stay in their order, independent of what they read and write.

    What is seen outside comes in the program's order, and not after an exception or a loop without end that came first;
    of two exceptions the first one is raised. That neither of two loops may end makes no difference.
    """
    for mine, other in ((first, second), (second, first)):
        if Effect.ORDERED in mine and other & VISIBLE:
            return True
        if Effect.MAY_RAISE in mine and ends_early(other):
            return True
    return False


def ends_early(effects: Effect) -> bool:
    """Return whether what comes after may not be reached."""
    return bool(effects & (Effect.MAY_RAISE | Effect.MAY_NOT_END))
