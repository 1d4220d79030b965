"""The scalar operations of tasklets, as one table.

Each operation works on arguments of one common dtype (casts are explicit nodes) and means exactly what the NumPy
function named beside it does on scalars of that dtype; one without a name what `integer_ops` (of int64), `float_ops`,
`complex_ops` or `bit_ops` says.
`result` says how the dtype of the value follows: ``same`` as the arguments, ``bool``, ``real`` (the real part's dtype
of a complex one), ``complex`` (that of which the argument is a part), ``last`` (``select``), or its name.
The interpreter calls NumPy; C++ spellings are the code generator's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcpy.base.errors import UnknownName
from dcpy.ir import types
from dcpy.ir.expressions import bit_ops, complex_ops, float_ops, integer_ops
from dcpy.ir.expressions.partials import PARTIALS, Partials
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class OpInfo:
    """One operation: its name in the textual IR, arity, NumPy function, dtype rule, and infix spelling if any."""

    name: str
    arity: int
    numpy_name: str
    result: str = "same"
    infix: str = ""
    precedence: int = 0

    @property
    def partials(self) -> Partials:
        """Its partial derivatives: texts, or that it is linear, flat, or refused."""
        return PARTIALS[self.name]

    def numpy(self) -> np.ufunc:
        if not self.numpy_name:
            functions = integer_ops.FUNCTIONS | float_ops.FUNCTIONS | complex_ops.FUNCTIONS | bit_ops.FUNCTIONS
            return functions[self.name]  # type: ignore[no-any-return]
        return getattr(np, self.numpy_name)  # type: ignore[no-any-return]


_INFIX = [
    # name       numpy            result  infix  precedence (as in Python, higher binds tighter)
    ("or", "logical_or", "bool", "or", 1),
    ("and", "logical_and", "bool", "and", 2),
    ("eq", "equal", "bool", "==", 4),
    ("ne", "not_equal", "bool", "!=", 4),
    ("lt", "less", "bool", "<", 4),
    ("le", "less_equal", "bool", "<=", 4),
    ("gt", "greater", "bool", ">", 4),
    ("ge", "greater_equal", "bool", ">=", 4),
    ("bitor", "bitwise_or", "same", "|", 5),
    ("bitxor", "bitwise_xor", "same", "^", 6),
    ("bitand", "bitwise_and", "same", "&", 7),
    ("lshift", "left_shift", "same", "<<", 8),
    ("rshift", "right_shift", "same", ">>", 8),
    ("add", "add", "same", "+", 9),
    ("sub", "subtract", "same", "-", 9),
    ("mul", "multiply", "same", "*", 10),
    ("div", "true_divide", "same", "/", 10),
    ("floordiv", "floor_divide", "same", "//", 10),
    ("mod", "remainder", "same", "%", 10),
    ("pow", "power", "same", "**", 12),
]

_UNARY_SAME = """
    neg:negative abs:absolute sign:sign floor:floor ceil:ceil rint:rint trunc:trunc sqrt:sqrt cbrt:cbrt
    square:square reciprocal:reciprocal exp:exp exp2:exp2 expm1:expm1 log:log log2:log2 log10:log10 log1p:log1p
    sin:sin cos:cos tan:tan asin:arcsin acos:arccos atan:arctan sinh:sinh cosh:cosh tanh:tanh asinh:arcsinh
    acosh:arccosh atanh:arctanh conj:conjugate invert:invert deg2rad:deg2rad rad2deg:rad2deg spacing:spacing
"""
_UNARY_BOOL = "not:logical_not isnan:isnan isinf:isinf isfinite:isfinite signbit:signbit"
_BINARY_SAME = """
    max:maximum min:minimum fmax:fmax fmin:fmin fmod:fmod atan2:arctan2 hypot:hypot copysign:copysign
    nextafter:nextafter logaddexp:logaddexp logaddexp2:logaddexp2 heaviside:heaviside gcd:gcd lcm:lcm
"""


def _table() -> dict[str, OpInfo]:
    ops = [OpInfo(name, 2, numpy, result, infix, level) for name, numpy, result, infix, level in _INFIX]
    for names, arity, result in ((_UNARY_SAME, 1, "same"), (_UNARY_BOOL, 1, "bool"), (_BINARY_SAME, 2, "same")):
        ops += [OpInfo(name, arity, numpy, result) for name, _, numpy in (e.partition(":") for e in names.split())]
    ops += [
        OpInfo("real", 1, "real", "real"),
        OpInfo("imag", 1, "imag", "real"),
        OpInfo("cabs", 1, "absolute", "real"),  # the magnitude of a complex number
        OpInfo("complex", 2, "", "complex"),  # complex(real part, imaginary part)
        OpInfo("xor", 2, "logical_xor", "bool"),
        OpInfo("select", 3, "where", "last"),  # select(condition: bool, if true, if false)
        OpInfo("powmod", 3, "", "same"),  # Python's pow(base, exponent, modulus)
        OpInfo("range_length", 3, "", "same"),  # of Python's range(start, stop, step)
        OpInfo("ctz", 1, "", "same"),  # trailing zeros: the position of the lowest bit that is set
        OpInfo("bits", 1, "", "int64"),  # the integer with the bits of a float64
        OpInfo("of_bits", 1, "", "float64"),  # the float64 with the bits of an integer
        *(OpInfo(name, 2, "", "bool") for name in integer_ops.FUNCTIONS if name.endswith("_fits")),
        *(OpInfo(name, arity, "") for name, arity in float_ops.ARITIES.items()),
    ]
    return {op.name: op for op in ops}


OPS: dict[str, OpInfo] = _table()
#: what an order is with its sides exchanged
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def op_info(name: str) -> OpInfo:
    """The operation called `name`; `UnknownName` where there is none."""
    try:
        return OPS[name]
    except KeyError:
        raise UnknownName(f"no scalar operation is called {name!r}", help="ir/expressions/ops.py lists them") from None


def result_dtype(name: str, args: tuple[DType, ...]) -> DType:
    """The dtype of an operation's value, from those of its arguments."""
    match op_info(name).result:
        case "bool":
            return types.bool_
        case "real":
            return args[0].real
        case "complex":
            return args[0].complex
        case "int64":
            return types.int64
        case "float64":
            return types.float64
        case _:
            return args[-1]
