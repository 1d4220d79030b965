"""The time of a whole program: how often the host starts each kernel, for which sizes, and the cycles of all runs.

The host's control flow is followed with the numbers that are known; where it depends on data, so does the count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dcpy.codegen.fpga.cycle_model.integer_evaluation import Known, iterations, value_of
from dcpy.codegen.fpga.cycle_model.network_time import NetworkTime, network_time
from dcpy.codegen.fpga.cycle_model.process_time import UnknownCyclesError
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, LirExpr, Name
from dcpy.codegen.lir.traversal import expressions, parts, statements
from dcpy.codegen.lir.types import Reference

MOST_RUNS = 1 << 17  #: of kernels that are followed


@dataclass(slots=True)
class KernelTime:
    """All runs of a kernel."""

    name: str
    runs: int = 0
    cycles: int = 0
    longest: NetworkTime | None = None
    unknown: str = ""  #: why the cycles are not known


@dataclass(slots=True)
class ProgramTime:
    """All kernels of a program; `unknown` says why not all their runs are known."""

    kernels: dict[str, KernelTime] = field(default_factory=dict)
    unknown: str = ""

    @property
    def cycles(self) -> int | None:
        """The cycles of all runs; None where they are not known."""
        if self.unknown or any(kernel.unknown for kernel in self.kernels.values()):
            return None
        return sum(kernel.cycles for kernel in self.kernels.values())


def program_time(
    entry: tree.Function,
    hosts: Sequence[tree.Function],
    kernels: Sequence[tree.Function],
    functions: Sequence[tree.Function],
    known: Known,
    *,
    with_waits: bool = True,
) -> ProgramTime:
    """Return the time of a call of `entry`: `hosts` are functions that it calls, `functions` those of processes.

    Without waits: if no process waited for room.
    """
    walk = _HostTime({one.name: one for one in hosts}, {one.name: one for one in kernels}, functions, with_waits)
    walk.result.kernels = {one.name: KernelTime(one.name) for one in kernels}
    walk.body(entry.body, dict(known))
    return walk.result


@dataclass
class _HostTime:
    hosts: Mapping[str, tree.Function]
    kernels: Mapping[str, tree.Function]
    functions: Sequence[tree.Function]
    with_waits: bool
    result: ProgramTime = field(default_factory=ProgramTime)
    runs: int = 0
    known_times: dict[tuple[str, tuple[int | None, ...]], NetworkTime | str] = field(default_factory=dict)

    def body(self, body: tree.Body, known: dict[str, int]) -> None:
        for statement in body:
            self.statement(statement, known)

    def statement(self, statement: tree.Statement, known: dict[str, int]) -> None:
        for expr in expressions(statement):
            for part in parts(expr):
                if isinstance(part, Call):
                    self.call(part, known)
        match statement:
            case tree.Compound(body=inside) | tree.Attempt(body=inside):
                self.body(inside, known)
            case tree.Declare(name=name, value=value) | tree.Assign(target=Name(name=name), value=value):
                number = value_of(value, known)
                known.pop(name, None)
                if number is not None:
                    known[name] = number
            case tree.If(cases=cases, otherwise=otherwise):
                self.branch(cases, otherwise, known)
            case tree.While(body=inside) if self.matters(inside):
                self.perhaps("a while loop of the host")
                self.body(inside, dict(known))
            case tree.Loop():
                self.loop(statement, known)

    def loop(self, loop: tree.Loop, known: dict[str, int]) -> None:
        if not self.matters(loop.body):
            return
        values = iterations(loop.start, loop.stop, loop.step, known)
        if values is None:
            self.perhaps(f"how often the host's loop {loop.var} runs depends on data")
            return
        for value in values:
            if self.runs > MOST_RUNS:
                self.perhaps(f"there are more than {MOST_RUNS} runs")
                return
            self.body(loop.body, {**known, loop.var: value})

    def branch(
        self, cases: Sequence[tuple[LirExpr, tree.Body]], otherwise: tree.Body, known: dict[str, int]
    ) -> None:
        for condition, inside in cases:
            holds = value_of(condition, known)
            if holds is None:
                if self.matters(inside) or (otherwise and self.matters(otherwise)):
                    self.perhaps("the host decides by data")
                    self.body(inside, dict(known))
                continue
            if holds:
                self.body(inside, known)
                return
        self.body(otherwise, known)

    def matters(self, body: tree.Body) -> bool:
        """Return whether kernels are started inside."""
        return any(
            isinstance(part, Call) and (part.function in self.kernels or part.function in self.hosts)
            for statement in statements(body)
            for expr in expressions(statement)
            for part in parts(expr)
        )

    def perhaps(self, why: str) -> None:
        self.result.unknown = self.result.unknown or why

    def call(self, call: Call, known: dict[str, int]) -> None:
        values = [value_of(arg, known) for arg in call.args]
        if call.function in self.hosts:
            params = self.hosts[call.function].params
            given = {param.name: value for param, value in zip(params, values, strict=True) if value is not None}
            self.body(self.hosts[call.function].body, given)
            return
        if call.function not in self.kernels:
            return
        self.runs += 1
        time = self.result.kernels[call.function]
        key = call.function, tuple(values)
        if key not in self.known_times:
            self.known_times[key] = self.timed(call.function, values)
        told = self.known_times[key]
        time.runs += 1
        for param, arg in zip(self.kernels[call.function].params, call.args, strict=True):
            if isinstance(param.type, Reference) and isinstance(arg, Name):
                known.pop(arg.name, None)  # a number that the device computes
        if isinstance(told, str):
            time.unknown = time.unknown or told
            return
        time.cycles += told.cycles
        if time.longest is None or told.cycles > time.longest.cycles:
            time.longest = told

    def timed(self, name: str, values: Sequence[int | None]) -> NetworkTime | str:
        kernel = self.kernels[name]
        given = {param.name: value for param, value in zip(kernel.params, values, strict=True) if value is not None}
        try:
            return network_time(kernel, self.functions, given, with_waits=self.with_waits)
        except UnknownCyclesError as reason:
            return str(reason)


