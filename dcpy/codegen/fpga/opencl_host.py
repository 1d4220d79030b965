"""OpenCL host code of programs on boards: it starts the kernels of a network.

The functions that the program calls are the same as in a simulation, but for a count behind each pointer: the elements
that go to the board, and come back. The work is done by include/fpga/dcpy_board.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcpy.codegen.artifact import Unit
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.lir_printer import Printer
from dcpy.codegen.emit.template_rendering import render
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.types import Pointer, Reference
from dcpy.codegen.lower.fpga.channel_kernels import ChannelKernel
from dcpy.codegen.lower.fpga.device_unit import Hardware

HEADER = "dcpy_board.h"


@dataclass(frozen=True, slots=True)
class BoardFunction:
    """A function that the host calls, and the kernels of the board that stand for it."""

    function: tree.Function
    parts: tuple[ChannelKernel, ...]


def opened_by(base: str) -> str:
    """The function that opens the board for a program (`runtime.fpga.boards`)."""
    return f"{base}_open"


def board_units(base: str, networks: Sequence[BoardFunction], hardware: Hardware, source: str) -> tuple[Unit, ...]:
    """The unit that calls OpenCL, and its header. `source`: the text of the kernels, which an emulator compiles."""
    text = render(
        "board.cpp.j2",
        name=base,
        header=HEADER,
        source=source,
        kernels=[_kernel(part, hardware) for network in networks for part in network.parts],
        slots=sum(len(_memories(network.function)) for network in networks),
        refusal_check=hardware.refusal_check,
        opened_by=opened_by(base),
        deadlock=hardware.deadlock(base),
        calls=list(_calls(networks)),
    )
    header = (Path(__file__).parents[1] / "include" / "fpga" / HEADER).read_text()
    return Unit(f"{base}.board.cpp", text, CPP.language, (*CPP.flags,)), Unit(HEADER, header)


def _kernel(part: ChannelKernel, hardware: Hardware) -> dict[str, object]:
    """A kernel of the board, as its template shows it."""
    function = part.function
    check = hardware.unfinished_checks[part.process]
    return {"name": function.name, "arguments": len(function.params), "starts": function.starts, "check": check}


def _calls(networks: Sequence[BoardFunction]) -> Iterator[dict[str, object]]:
    """The functions that the program calls: arrays to the board, kernels, arrays back."""
    first = slot = 0
    for network in networks:
        arrays = [_array(param, number) for number, param in enumerate(_memories(network.function), slot)]
        on_board = {array["name"] for array in arrays}
        parts = [[f"board_{name}" if name in on_board else name for name in part.args] for part in network.parts]
        yield {
            "signature": list(Printer(CPP).signature(network.function)),
            "first": first,
            "arrays": arrays,
            "kernels": parts,
        }
        first += len(network.parts)
        slot += len(arrays)


def _array(param: tree.Parameter, slot: int) -> dict[str, object]:
    """An array, or a variable, that a call copies to the board."""
    of_elements = isinstance(param.type, Pointer)
    return {
        "name": param.name,
        "slot": slot,
        "host": param.name if of_elements else f"&{param.name}",
        "size": f"size_t({count_of(param.name)})*sizeof *{param.name}" if of_elements else f"sizeof {param.name}",
        "comes_back": not (isinstance(param.type, Pointer) and param.type.const),
    }


def _memories(function: tree.Function) -> list[tree.Parameter]:
    """The parameters that the board has in its memory."""
    return [param for param in function.params if isinstance(param.type, Pointer | Reference)]


def count_of(name: str) -> str:
    """The parameter with the number of elements of an array."""
    return f"{name}_count"


def whole(kernel: tree.Function) -> tuple[ChannelKernel, ...]:
    """A network that is one kernel on the board: as Vitis takes it."""
    return (ChannelKernel(kernel, kernel.name),)
