"""The content of an SDFG as one short text: equal for equal programs, in every process."""

from __future__ import annotations

import hashlib

from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text.printer import print_sdfg


def sdfg_hash(sdfg: Sdfg) -> str:
    """SHA-256 of the textual form, in hexadecimal. Places in the Python source and the history do not count."""
    return hashlib.sha256(print_sdfg(sdfg).encode()).hexdigest()
