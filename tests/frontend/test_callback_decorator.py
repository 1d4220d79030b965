"""Callbacks in the SDFG: names, operands and order, without running anything."""

from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import dcpy
from dcpy.ir.nodes import Callback, Map

N = dcpy.symbol("N")
M = dcpy.symbol("M")


@dcpy.callback(returns=(dcpy.float64[N, 2], float), writes=[])
def split(x: dcpy.float64[N], how="fast"):
    return np.stack([x, x], axis=1), 1.0


@dcpy.callback
def show(*values) -> None:
    pass


def lowered(function):
    return dcpy.program(function).to_sdfg()


def calls(sdfg):
    return [node for node in sdfg.body.walk_nodes() if isinstance(node, Callback)]


def test_a_callback_is_a_node_with_names():
    def program(a: dcpy.float64[M]):
        return split(a[1:], how="best")

    sdfg = lowered(program)
    (node,) = calls(sdfg)
    assert node.function == f"{__name__}:split"
    assert (node.call, node.returns) == ("x, how='best'", "(result, item(result_1))")
    assert [str(memlet) for memlet in node.reads()] == ["a[1:M]", "python_world"]
    assert "x" not in node.outputs  # it does not write
    assert sdfg.callbacks == {node.function: split.function}
    text = str(sdfg)
    assert str(dcpy.parse(text)) == text
    assert text == str(lowered(program))


def test_objects_are_named():
    marker, other = object(), object()

    def program(a: dcpy.float64[M]):
        show(a, marker, {"k": (other, 2.5)}, [a, marker])

    sdfg = lowered(program)
    (node,) = calls(sdfg)
    assert node.call == "argument, object, {'k': (object_2, 2.5)}, [argument_1, object]"
    assert sdfg.callbacks["object"] is marker
    assert sdfg.callbacks["object_2"] is other


@dataclass
class Pair:
    x: object
    k: int


class Point(NamedTuple):
    x: object
    y: object


Item = namedtuple("item", "k x")  # what makes a number of Python's own is called so, too


def test_named_tuples_are_made_of_their_items():
    def program(a: dcpy.float64[M]):
        show((Item(2, a), Item(a[0], None)))
        show2(Point=a, other=Point(a[0], 1.5))

    show2 = dcpy.callback(lambda **values: None)
    sdfg = lowered(program)
    first, second = calls(sdfg)
    assert first.call == "(item_2(2, argument), item_2(argument_1, None))"
    assert second.call == "Point=Point, other=Point_2(other, 1.5)"
    assert (sdfg.callbacks["item_2"], sdfg.callbacks["Point_2"]) == (Item, Point)
    with pytest.raises(dcpy.DcpyError, match=r"calls the Python function .*show.*, which is not bound"):
        dcpy.parse(str(sdfg)).interpret(np.ones(3))


def test_maps_around_callbacks_are_loops():
    def program(a: dcpy.float64[M]):
        for i in dcpy.map[0:M]:
            for j in dcpy.map[0:3]:
                show(i, j)
        for i in dcpy.map[0:M]:
            a[i] = 1

    assert len([node for node in lowered(program).body.walk_nodes() if isinstance(node, Map)]) == 1


untyped = dcpy.callback(lambda x: x)
sized = dcpy.callback(lambda x: x, returns=dcpy.float64[dcpy.symbol("K")])
REFUSED = [
    (lambda a: untyped(a), "the type of the result of <lambda>() is not known"),
    (lambda a: sized(1), "the size 'K' of the result of <lambda>() is not known here"),
    (lambda a: show(lambda: 1), "a function cannot be passed to the callback show()"),
    (lambda a: show(Pair(a, 1)), "an object of Pair cannot be passed to the callback show()"),
    (lambda a: split(a.astype(int)), "an array int64[N] is passed for 'x' of the callback split()"),
    (lambda a: split(a[:, None]), "an array float64[N, 1] is passed for 'x' of the callback split()"),
    (lambda a: show([max(0.0, v) for v in a][1]), "show() gets a number whose kind depends on the path taken"),
    (lambda a: show([[max(0.0, v) for v in a][1]]), "show() gets a number whose kind depends on the path taken"),
    (lambda a: show(f"{[max(0.0, v) for v in a][1]!r}"), "show() gets a number whose kind depends on the path taken"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_what_is_refused(function, message):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function).to_sdfg(np.zeros(3))
    assert caught.value.message == message
    assert caught.value.span.line == function.__code__.co_firstlineno
    assert caught.value.help


def test_floats_look_the_same_whoever_made_them():
    def program(a):
        best = max(0.0, a[0])
        print(best, f"{best:.3f}")
        show(f"{best} {float(best)!r}", float(best), np.float64(best))

    assert len(calls(dcpy.program(program).to_sdfg(np.zeros(3)))) == 2


def test_what_cannot_be_declared():
    with pytest.raises(dcpy.DcpyError, match="is no type of a callback's result"):
        dcpy.callback(lambda: 1, returns="float")
    with pytest.raises(dcpy.DcpyError, match="takes a function, not int 3"):
        dcpy.callback(3)
    with pytest.raises(dcpy.DcpyError, match="has no parameter 'y'"):
        dcpy.callback(lambda x, *y: 1, writes=["y"])
    assert dcpy.callback(lambda x, *, y: 1, writes=["y"]).writes == ("y",)
    assert split(np.zeros(2))[1] == 1.0
