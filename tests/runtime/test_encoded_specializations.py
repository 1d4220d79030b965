"""What `Dispatcher.add` takes: what names an argument, symbol or result that is not there is refused, not run."""

from __future__ import annotations

import pytest

from dcpy.runtime.dispatch import Dispatcher

SIZE = (0, True, False, 0)
FLOAT64, OBJECT = 12, 17
GOOD = {
    "arguments": (("array", FLOAT64, (SIZE,), "C", (), True), ("scalar", FLOAT64, True, True, -1, False)),
    "closure": (),
    "symbols": 1,
    "apart": (),
    "results": (("fresh", 0, FLOAT64, 1, False, None), ("argument", 0, 25, 0, False, None)),
    "structure": (0, [tuple, 1], None),
    "guards": (),
    "failure": print,
    "entry": 0,
    "shapes": 0,
    "keepalive": None,
    "priority": 0,
    "callbacks": None,
    "assumes": (),
    "unless": (),
    "assumed": ((0, 1, 8, 4),),
}


def arguments(first: tuple[object, ...]) -> dict[str, object]:
    return {"arguments": (first, GOOD["arguments"][1])}


def results(*found: tuple[object, ...]) -> dict[str, object]:
    return {"results": found, "structure": None}


def effects(effect: object) -> dict[str, object]:
    return {"structure": {"effects": effect, "returned": None}}


def added(**changes: object) -> Dispatcher:
    dispatcher = Dispatcher("f", (("a",), ("b",)), print)
    dispatcher.add(tuple((GOOD | changes).values()))
    return dispatcher


@pytest.mark.parametrize("changes", [{}, effects(((0, "x", (0, 1), -1),)), {"apart": ((0, 0),)}])
def test_what_is_consistent_is_taken(changes):
    assert added(**changes).specializations == 1


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        (arguments(("array", FLOAT64, ((1, True, False, 0),), "C", (), True)), "argument"),
        (arguments(("array", FLOAT64, (SIZE,), "", (SIZE, SIZE), True)), "argument"),
        (arguments(("array", OBJECT, (SIZE,), "C", (), True)), "argument"),
        (arguments(("scalar", FLOAT64, True, True, -2, False)), "argument"),
        (arguments(("record", dict, -1, 2, (), ())), "argument"),
        (arguments(("record", dict, -1, -1, (-1,), ())), "argument"),
        ({"closure": (("field", 2, "x"),)}, "source"),
        ({"symbols": -1}, "argument"),
        ({"apart": ((0, 1),)}, "pair of arrays"),
        ({"apart": ((0, 2),)}, "pair of arrays"),
        (results(("fresh", 0, FLOAT64, -1, False, None)), "result"),
        (results(("scalar", 0, 25, 0, False, None)), "result"),
        (results(("argument", 2, 25, 0, False, None)), "result"),
        (results(("view", 1, FLOAT64, 1, False, None)), "result"),
        ({"guards": ((("field", 0, "x"), 1),)}, "guard"),
        (effects(((0, "x", 2, -1),)), "effect"),
        (effects(((0, "x", 0, 2),)), "effect"),
        (effects(((2, "x", 0, -1),)), "effect"),
        (effects(0), "encoded structure"),
        ({"structure": {}}, "encoded structure"),
        ({"structure": 2}, "structure"),
        ({"structure": -1}, "structure"),
        ({"structure": 2**70}, "structure"),
        ({"structure": (0, [1, 0])}, "structure"),
        ({"structure": "0"}, "structure"),
        ({"failure": None}, "failure"),
        ({"assumed": ((1, 0, 8, 1),)}, "assumption"),
        ({"assumed": ((-1, 0, 8, 1),)}, "assumption"),
        ({"assumed": ((0, 0, 8, 0),)}, "assumption"),
        ({"assumes": ((0, (1, 1)),)}, "condition"),
    ],
)
def test_what_is_not_is_refused(changes, wrong):
    with pytest.raises(ValueError, match=wrong):
        added(**changes)
