"""Process networks in a `Fragment`: processes run at the same time, and pass tokens through queues.

with network(f):
    with process(f, "feed"), f.loop(Range.of(0, n)) as i:
        xs.push(f, x.at(i))
    with process(f, "take"), f.loop(Range.of(0, n)) as i:
        xs.pop(f, y.at(i))
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dcpy.ir.data import Stream
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.region import Dataflow, Process, Region
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, ExprLike, as_expr, const, sym
from dcpy.ir.types import DType
from dcpy.libraries.fragment import Element, Fragment


@dataclass(frozen=True, slots=True)
class NetworkQueues:
    """A stream, or an array of them."""

    name: str

    def push(self, f: Fragment, value: Element, *index: ExprLike) -> None:
        """Wait for room."""
        f.add(Copy(value.memlet, self._at(index)))

    def pop(self, f: Fragment, into: Element, *index: ExprLike) -> None:
        """Wait for a token."""
        f.add(Copy(self._at(index), into.memlet))

    def _at(self, index: tuple[ExprLike, ...]) -> Memlet:
        return Memlet(self.name, Subset.point(*map(as_expr, index)))


def queues(f: Fragment, stem: str, dtype: DType, capacity: int, count: int = 0) -> NetworkQueues:
    """New queues in front of all blocks: an array of them, or one where `count` is 0."""
    shape = (const(count),) if count else ()
    return NetworkQueues(
        f.declare_outermost(module_stem(stem), Stream(dtype, shape, const(capacity), span=f.node.span))
    )


@contextmanager
def network(f: Fragment) -> Iterator[None]:
    """A dataflow block, to be filled with processes."""
    region = Region()
    f.append(Dataflow(region, span=f.node.span))
    with f.inside(region):
        yield


@contextmanager
def process(f: Fragment, name: str) -> Iterator[None]:
    """A process of the network that is open."""
    body = Region()
    f.append(Process(name, (), (), body, span=f.node.span))
    with f.inside(body):
        yield


@contextmanager
def copies(f: Fragment, name: str, count: int) -> Iterator[Expr]:
    """Enter copies of a process; gives the number of each."""
    body, param = Region(), f.fresh_name("p")
    f.append(Process(name, (param,), (Range.of(0, count),), body, span=f.node.span))
    with f.inside(body):
        yield sym(param)


def module_stem(name: str) -> str:
    """A name as those of modules are."""
    return re.sub("__+", "_", name).strip("_")[:24]
