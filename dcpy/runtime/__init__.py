"""From an `Artifact` to results: compile, cache, load, and a checked native call.

Read in this order: toolchain.py, build.py, cache.py, load.py, dispatch/ (the native call) and arguments.py (why a
call does not fit). Sees nothing of the compiler but codegen/artifact.py.
"""

from __future__ import annotations

from pathlib import Path

from dcpy.runtime.native_sources import dispatcher_sources, require_built, require_current

try:
    from dcpy.runtime import _dispatch
except ImportError:
    require_built("dcpy.runtime._dispatch", Path(__file__).parents[2])
    raise

require_current(Path(_dispatch.__file__), getattr(_dispatch, "SOURCES", ""), dispatcher_sources())
