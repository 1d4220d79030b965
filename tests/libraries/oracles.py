"""What the tests of expansions share: the meaning of a program before and after, and an interpreter that calls C."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from dcpy.ir import machine_model
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.interp import running as interpreter
from dcpy.ir.interp.machine import Machine
from dcpy.ir.interp.scalars import LeafValues, evaluate
from dcpy.ir.library.expansions import environment_of
from dcpy.ir.nodes import ForeignCall, LibraryNode, Map
from dcpy.ir.region import Loop
from dcpy.ir.schedules import SEQUENTIAL, Undecided
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from dcpy.transforms.expand import expand_library_nodes

LOOPS = ("pure", "maps")  #: as the CPU likes them, and for any machine
COSTS = machine_model.COSTS
RTOL = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}


class CallingMachine(Machine):
    """The interpreter, with foreign functions called through ctypes."""

    def run_node(self, node):
        if isinstance(node, ForeignCall):
            self._call(node)
        else:
            super().run_node(node)

    def _call(self, node):
        environment = environment_of(node.environment)
        folder = Path(environment.library_dirs[0])
        function = getattr(ctypes.CDLL(folder / f"lib{environment.libraries[0]}.so"), node.function)
        memlets = node.inputs | node.outputs
        scalars = {part.name for arg in node.args if not isinstance(arg, str) for part in _refs(arg)}
        values = {name: self.read(node.inputs[name], node)[()] for name in scalars}
        passed = [
            ctypes.c_void_p(self._part(memlets[arg], node).ctypes.data)
            if isinstance(arg, str)
            else _c_value(evaluate(arg, LeafValues(self.symbols, values, None)))
            for arg in node.args
        ]
        if node.result:
            target = self._part(memlets[node.result], node)
            function.restype = np.ctypeslib.as_ctypes_type(target.dtype)
            target[...] = function(*passed)
        else:
            function(*passed)

    def _part(self, memlet, node):
        target = self.frame.buffer(memlet.container)
        return target.data[(*self._index(memlet, target, node), ...)]


def _refs(expr):
    from dcpy.ir.expressions.scalar import walk

    return [part for part in walk(expr) if isinstance(part, Ref)]


def _c_value(value):
    return np.ctypeslib.as_ctypes_type(np.asarray(value).dtype)(value)


def values_of(sdfg, arguments, **options):
    """The arguments after the program ran on copies of them."""
    copies = {
        name: value.copy(order="K") if isinstance(value, np.ndarray) else value for name, value in arguments.items()
    }
    interpreter.interpret(sdfg, copies, **options)
    return copies


def expanded(text, prefer="pure"):
    """The program with all library nodes expanded; printed and parsed once, as a check of its form.

    "maps" is for a target that nobody knows anything of: what it gets has no schedule.
    """
    sdfg = parse_sdfg(text)
    if prefer == "maps":
        expand_library_nodes(sdfg, target="a machine to come")
        assert schedules_in(sdfg) == []
    else:
        expand_library_nodes(sdfg, prefer, costs=COSTS)
    assert not [node for node in sdfg.body.walk_nodes() if isinstance(node, LibraryNode)]
    verify(sdfg)
    return parse_sdfg(print_sdfg(sdfg))


def schedules_in(sdfg):
    """The schedules that somebody gave to maps and loops, in all that is called, too."""
    parts = [part for each in sdfg.with_callees() for part in (*each.body.walk_nodes(), *each.body.walk_blocks())]
    schedules = [part.schedule for part in parts if isinstance(part, Map)]
    schedules += [part.schedule for part in parts if isinstance(part, Loop) and part.schedule != SEQUENTIAL]
    return [schedule for schedule in schedules if not isinstance(schedule, Undecided)]


def assert_expands(text, arguments, prefer=LOOPS, monkeypatch=None):
    """The expansions compute what the nodes mean; in any order of the iterations where they are loops."""
    before = values_of(parse_sdfg(text), arguments)
    if monkeypatch is not None:
        monkeypatch.setattr(interpreter, "Machine", CallingMachine)
    for way in (prefer,) if isinstance(prefer, str) else prefer:
        after = values_of(expanded(text, way), arguments, strict=way in LOOPS)
        for name, value in before.items():
            rtol = RTOL.get(str(np.asarray(value).dtype), 0)
            np.testing.assert_allclose(after[name], value, rtol=rtol, atol=rtol, err_msg=f"{name} by {way}")


def assert_compiles(text, arguments, prefer="pure"):
    """Compiled code computes what the nodes mean; returns the generated C++."""
    import dcpy

    before = values_of(parse_sdfg(text), arguments)
    sdfg = dcpy.parse(text).expand_library_nodes(prefer)
    compiled = sdfg.compile()
    after = {
        name: value.copy(order="K") if isinstance(value, np.ndarray) else value for name, value in arguments.items()
    }
    compiled(**after)
    for name, value in before.items():
        rtol = RTOL.get(str(np.asarray(value).dtype), 0)
        np.testing.assert_allclose(after[name], value, rtol=rtol, atol=rtol, err_msg=name)
