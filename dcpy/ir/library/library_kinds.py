"""The classes of library nodes by kind: how text and JSON find ``blas.gemm``. Filled by `dcpy.plugins`."""

from __future__ import annotations

from dcpy.base.registry import Registry
from dcpy.ir.nodes import LibraryNode

LIBRARY_KINDS: Registry[type[LibraryNode]] = Registry("library node")
