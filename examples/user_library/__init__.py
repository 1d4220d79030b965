"""A library of your own: a node, two ways to compute it, and the name under which NumPy programs call it.

Nothing in dcpy knows of it. A program that calls `diffuse` is compiled after ``user_library.register()``; an installed
package would name `register` in its entry point group ``dcpy.plugins`` instead, and dcpy would call it.

    node.py         what is computed: `Diffuse`, with its meaning in NumPy
    expansions.py   how: loops for every dtype, and a C function for float64
    names.py        who asks for it: the NumPy function `diffuse`
"""

import functools

from examples.user_library.node import Diffuse, diffuse

__all__ = ["Diffuse", "diffuse", "register"]


@functools.cache
def register():
    """Makes the library known to dcpy."""
    from dcpy.libraries import api
    from examples.user_library import expansions, names  # noqa: F401  (whose import says what `diffuse` becomes)

    api.register(
        nodes=[Diffuse],
        expansions=[expansions.diffuse_loops, expansions.diffuse_in_c],
        libraries=[expansions.HEAT],
    )
