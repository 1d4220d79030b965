"""What is computed: a step of the heat equation on a line, as a NumPy function and as a node of an SDFG."""

from dataclasses import dataclass

from dcpy.ir.nodes import LibraryNode


def diffuse(u, w):
    """One explicit step: each inner point moves by `w` times the second difference; the ends stay."""
    out = u.copy()
    out[1:-1] = u[1:-1] + w * (u[2:] - 2 * u[1:-1] + u[:-2])
    return out


@dataclass(eq=False)
class Diffuse(LibraryNode):
    """``out = diffuse(u, w)`` for a vector ``u`` and a scalar ``w``."""

    kind = "user.diffuse"

    def meaning(self, inputs, outputs):
        """The function itself: what the interpreter runs, and what expansions must equal."""
        outputs["out"][...] = diffuse(inputs["u"], inputs["w"])

    def problems(self):
        """What verification says of a node that is not of this form."""
        if set(self.inputs) != {"u", "w"} or set(self.outputs) != {"out"}:
            yield "has the connectors (u, w) -> (out)"
        elif len(self.inputs["u"].subset.shape) != 1:
            yield "takes a vector"
