"""OpenCL names: words that programs for FPGAs leave to OpenCL C, and names of modules that vendors' tools accept."""

from __future__ import annotations

import hashlib

from dcpy.codegen.c_identifiers import identifier

_OPENCL = """
    kernel global local constant private read_only write_only read_write pipe channel half uchar ushort uint ulong
    quad imaginary event_t sampler_t image1d_t image2d_t image3d_t queue_t reserve_id_t cross dot distance length
    normalize degrees radians mix step smoothstep clamp sign select bitselect any all mad shuffle rotate popcount clz
    max min barrier fract vec_step maxmag minmag
"""
_KINDS = ("char", "short", "int", "long", "float", "double", "half")
_VECTORS = (f"{kind}{n}" for kind in _KINDS for n in (2, 3, 4, 8, 16))
#: words and functions of OpenCL C, in which the kernels are printed, too
OPENCL_WORDS = frozenset((*_OPENCL.split(), *_VECTORS))
LONGEST_MODULE = 42  # Intel's tool takes 61 characters for the name of a module, and appends some


def module_name(stem: str) -> str:
    """The stem of a name that vendors' tools accept: a long one is cut, and ends in a digest of what it was."""
    plain = identifier(stem)
    if len(plain) <= LONGEST_MODULE:
        return plain
    return f"{plain[: LONGEST_MODULE - 9].rstrip('_')}_{hashlib.sha256(plain.encode()).hexdigest()[:8]}"
