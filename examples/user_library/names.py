"""Who asks for it: a call of the NumPy function `diffuse` in a dcpy program becomes the node."""

from dcpy.frontend.implements import implements
from examples.user_library.node import diffuse


@implements(diffuse)
def diffuse_node(b, u, w):
    """The signature is that of `diffuse`, after the builder; arguments and result are values of the frontend."""
    line = b.array(u)
    out = b.empty(line.shape, line.dtype)
    b.library("user.diffuse", {"u": line, "w": b.array(w)}, {"out": out})
    return out
