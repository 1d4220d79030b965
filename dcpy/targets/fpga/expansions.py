"""FPGA expansions of library nodes: loops that are not those of a processor, else what its host takes."""

from __future__ import annotations

from dcpy.ir.library.expansions import TargetExpansions

FPGA = TargetExpansions(host="cpu", by_hand=("maps",))
