"""How long the C++ compiler needs for each example's generated code."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

KERNELS = {
    path.stem: {"clipping": "compute", "streams": "smooth"}.get(path.stem, path.stem)
    for path in sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
    if "def initialize(" in path.read_text()  # the others are scripts
}


def slowest_example() -> tuple[str, float]:
    """Name and seconds of the example whose generated code takes longest to compile."""
    import dcpy

    seconds = {}
    for module_name, function in KERNELS.items():
        module = importlib.import_module(f"examples.{module_name}")
        with tempfile.TemporaryDirectory() as cache:
            program = dcpy.program(getattr(module, function).function, cache_dir=cache)
            program(**module.initialize(8))
            seconds[module_name] = program.profile["compiler"]
    return max(seconds.items(), key=lambda item: item[1])
