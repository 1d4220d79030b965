"""Vitis's ``link.cfg``: the bank of the board's memory that each array of a kernel is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from dcpy.base.errors import CodegenError
from dcpy.codegen.emit.template_rendering import render
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.types import Pointer, Reference
from dcpy.ir.data import Array
from dcpy.ir.fpga.boards import Board
from dcpy.ir.fpga.memory import Bank
from dcpy.ir.sdfg import Sdfg


@dataclass(frozen=True, slots=True)
class MemoryPort:
    """An array of a kernel, in the memory of a board."""

    kernel: str
    name: str
    bank: Bank | None = None


def ports(sdfg: Sdfg, kernels: Sequence[tree.Function]) -> Iterator[MemoryPort]:
    """The arrays of the kernels; a bank that the program gives an array is that of the parameter of its name."""
    banks: Mapping[str, Bank | None] = {
        name: desc.bank
        for region in sdfg.body.walk_regions()
        for name, desc in (*sdfg.containers.items(), *region.containers.items())
        if isinstance(desc, Array)
    }
    for kernel in kernels:
        for param in kernel.params:
            if isinstance(param.type, Pointer | Reference):
                yield MemoryPort(kernel.name, param.name, banks.get(param.name))


def require_banks(sdfg: Sdfg, board: Board) -> None:
    """`CodegenError` where an array is in a bank that a board does not have."""
    for region in sdfg.body.walk_regions():
        for name, desc in (*sdfg.containers.items(), *region.containers.items()):
            bank = desc.bank if isinstance(desc, Array) else None
            if bank is not None and bank.first + bank.count > board.banks_of(bank.kind):
                there = board.banks_of(bank.kind)
                numbers = f"{there} of that kind, from 0 on" if there else "none of that kind"
                raise CodegenError(
                    f"{name!r} is in the bank{'s' * (bank.count > 1)} {bank}, and {board.name} has {numbers}",
                    span=desc.span,
                    notes=(f"its memory is {board.banks} banks of {board.memory} ({board.source})",),
                    help="choose other banks, or the board that has them: fpga.platform",
                )


def link_text(kernels: Sequence[str], arrays: Sequence[MemoryPort], board: Board) -> str:
    """``link.cfg`` of Vitis: where each port's array is. Those without a bank are spread over the board's, in order."""
    kind, spread = board.memory.upper(), count()
    banks = [
        (port, f"{kind}[{next(spread) % board.banks}]" if port.bank is None else _named(port.bank)) for port in arrays
    ]
    return render("link.cfg.j2", kernels=kernels, banks=banks)


def _named(bank: Bank) -> str:
    last = bank.first + bank.count - 1
    return f"{bank.kind.upper()}[{bank.first}{f':{last}' if bank.count > 1 else ''}]"
