"""import`` statements: the name stands for the module, which is known when the program is compiled.

Importing runs code, so a program imports nothing itself but what it could compile anyway (NumPy, `math` and the like):
another module must have been imported before the program is compiled.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.name_binding import from_python

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

HARMLESS = ("cmath", "functools", "itertools", "math", "numpy", "operator", "random")


def imported(frame: Frame, node: core.Imported) -> Value:
    """Return the value that the statement binds its name to."""
    path = _absolute(frame, node)
    if not node.name:
        module = _module(path)
        return Static(_module(path.partition(".")[0]) if node.top else module)
    owner = _module(path)
    known, found = frame.closure.attribute(owner, node.name)
    if known:
        return from_python(frame, found, frame.closure.dependences_of(node.name, owner))
    try:
        return Static(_module(f"{path}.{node.name}"))
    except FrontendError:
        raise FrontendError(
            f"cannot import name {node.name!r} from {path!r}", notes=("Python raises ImportError here",)
        ) from None


def _absolute(frame: Frame, node: core.Imported) -> str:
    """The path of the module from the top: relative ones begin at the package of the function's module."""
    if not node.level:
        return node.module
    package = (frame.source.function.__globals__.get("__package__") or "").split(".")
    kept = package[: len(package) - node.level + 1]
    return ".".join([*kept, node.module] if node.module else kept)


def _module(path: str) -> ModuleType:
    module = sys.modules.get(path)
    if module is None and path.partition(".")[0] in HARMLESS:
        try:
            module = importlib.import_module(path)
        except ImportError as error:
            raise FrontendError(str(error), notes=("Python raises ImportError here",)) from None
    if module is None:
        raise FrontendError(
            f"the module {path!r} has not been imported",
            notes=("importing runs code, and a program is compiled without running any",),
            help="import it at the top of the file",
        )
    return module
