"""List of catalogs: the one place where libraries, yours included, meet the registries.

`load` is called by the driver before anything is parsed, expanded or transformed. Third parties announce themselves
with an entry point in the group ``dcpy.plugins`` that names a function without parameters; it calls
`dcpy.libraries.api.register` and ``TRANSFORMATIONS.extend``.
"""

from __future__ import annotations

import functools

from dcpy.base.errors import DcpyError

GROUP = "dcpy.plugins"


@functools.cache
def load() -> None:
    """Fill the registries with dcpy's own catalogs and with those of plug-ins. `DcpyError` names one that fails."""
    # Here, not above: a program that comes from the cache needs none of it, and it is most of what importing takes.
    from importlib.metadata import entry_points

    from dcpy.ir.library.adjoints import DERIVATIVES
    from dcpy.ir.library.expansions import ENVIRONMENTS, EXPANSIONS, TARGET_EXPANSIONS
    from dcpy.ir.library.library_kinds import LIBRARY_KINDS
    from dcpy.libraries import catalog
    from dcpy.targets.catalog import ORDERS
    from dcpy.transforms.catalog import LIBRARY_IDIOMS, TRANSFORMATIONS

    TRANSFORMATIONS.extend(catalog.TRANSFORMATIONS)
    LIBRARY_IDIOMS.extend(catalog.IDIOMS)
    LIBRARY_KINDS.extend(catalog.NODES)
    EXPANSIONS.extend(catalog.EXPANSIONS)
    ENVIRONMENTS.extend(catalog.ENVIRONMENTS)
    DERIVATIVES.extend(catalog.DERIVATIVES)
    TARGET_EXPANSIONS.extend(ORDERS)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            point.load()()
        except Exception as error:
            raise DcpyError(f"the plug-in {point.name!r} ({point.value}) does not load: {error}") from error
