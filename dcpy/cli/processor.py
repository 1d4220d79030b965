"""``dcpy doctor --cpu``: what things cost on the processor that is here. Compilation goes by it."""

from __future__ import annotations


def measure_processor() -> int:
    """Measures, prints and keeps. Returns an exit code."""
    from dcpy.base.errors import ExpansionError
    from dcpy.base.options import resolve_options
    from dcpy.driver import environment_of, program_cache
    from dcpy.runtime.processors import keep
    from dcpy.targets.measured_processor import measure, rows

    try:
        blas = environment_of("openblas")
    except ExpansionError:
        blas = None
    figures = measure(resolve_options(), blas)
    print("the processor, measured now:")
    for name, figure in rows(figures):
        print(f"        {name:24}{figure}")
    try:
        print(f"kept in {keep(program_cache(), figures)}; it is deleted like any file")
    except OSError as error:
        print(f"not kept: {error}")
    return 0
