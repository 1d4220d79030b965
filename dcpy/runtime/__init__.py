"""From an `Artifact` to results: compile, cache, load, and a checked native call.

Read in this order: toolchain.py, build.py, cache.py, load.py, dispatch/ (the native call) and arguments.py (why a
call does not fit). Sees nothing of the compiler but codegen/artifact.py.
"""
