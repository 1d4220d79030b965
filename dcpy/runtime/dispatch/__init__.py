"""The native call: `Dispatcher` (C++, in this folder) and the encoding of signatures for it.

Start with native.h, which says what the C++ files are; encoding.py is the Python half.
"""

from __future__ import annotations

from dcpy.runtime._dispatch import Dispatcher
from dcpy.runtime.dispatch.encoding import encode

__all__ = ["Dispatcher", "encode"]
