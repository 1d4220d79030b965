"""Spelling in C of each operation of `ir.expressions.ops`: one table per kind of dtype.

An entry is an infix or prefix operator, or a function: a helper of include/*.h, or a C function. The exactness is in
the helpers; the table only picks them. float16 is computed in float32 and rounded after each operation, as NumPy does.
"""

from __future__ import annotations

from dcpy.base.errors import CodegenError
from dcpy.codegen.emit.dialect import Dialect
from dcpy.codegen.lir.expr import Call, Cast, Convert, Field, Infix, Intrinsic, LirExpr, Literal, Operation, Prefix
from dcpy.codegen.lir.types import Basic
from dcpy.ir import types
from dcpy.ir.expressions.ops import MIRRORED
from dcpy.ir.expressions.small_powers import twice_the_exponent
from dcpy.ir.types import DType

LOGIC = "and:&& or:|| not:! eq:== ne:!= lt:< le:<= gt:> ge:>="
ARITHMETIC = "add:+ sub:- mul:* neg:-"
SAME_NAMED = """
    floor ceil rint trunc sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh fmod atan2 hypot copysign nextafter pow
"""


def table(*rows: str) -> dict[str, str]:
    """``add:+ sub:- sin`` as a table: an operation without a spelling has its name."""
    entries = (word.partition(":") for row in rows for word in row.split())
    return {name: spelling or name for name, _, spelling in entries}


BOOL = table(  # both sides are there already, and C++ compilers make no vectors of && and ||
    LOGIC,
    "and:& or:| xor:!= add:| mul:& max:| min:& fmax:| fmin:& bitand:& bitor:| bitxor:!= invert:! abs:= conj:= floor:=",
    "ceil:= trunc:= isnan:false isinf:false isfinite:true real:= imag:false",
)
INTEGER = table(
    LOGIC,
    ARITHMETIC,
    "bitand:& bitor:| bitxor:^ invert:~ conj:= floor:= ceil:= trunc:= isnan:false isinf:false isfinite:true",
    "floordiv:dcpy_floordiv mod:dcpy_mod fmod:dcpy_fmod_int pow:dcpy_pow_int lshift:dcpy_lshift rshift:dcpy_rshift",
    "abs:dcpy_abs sign:dcpy_sign square:dcpy_square reciprocal:dcpy_reciprocal_int gcd:dcpy_gcd lcm:dcpy_lcm",
    "max:dcpy_max min:dcpy_min fmax:dcpy_max fmin:dcpy_min real:= imag:0 powmod:dcpy_powmod add_fits:dcpy_add_fits",
    "sub_fits:dcpy_sub_fits mul_fits:dcpy_mul_fits pow_fits:dcpy_pow_fits lshift_fits:dcpy_lshift_fits ctz:dcpy_ctz",
    "range_length:dcpy_range_length of_bits:dcpy_of_bits",
)
UNSIGNED = INTEGER | table("rshift:dcpy_rshift_unsigned abs:=")
FLOAT = table(
    LOGIC,
    ARITHMETIC,
    SAME_NAMED,
    "div:/ floordiv:dcpy_floor_divide mod:dcpy_remainder abs:fabs sign:dcpy_fsign square:dcpy_square reciprocal:1/",
    "conj:= deg2rad:dcpy_deg2rad rad2deg:dcpy_rad2deg spacing:dcpy_spacing isnan:dcpy_isnan isinf:dcpy_isinf",
    "isfinite:dcpy_isfinite signbit:dcpy_signbit max:dcpy_maximum min:dcpy_minimum fmax:dcpy_fmax fmin:dcpy_fmin",
    "logaddexp:dcpy_logaddexp logaddexp2:dcpy_logaddexp2 heaviside:dcpy_heaviside real:= imag:0 erf erfc",
    "gamma:dcpy_gamma lgamma:dcpy_lgamma bessel_j0:j0 bessel_j1:j1 bessel_y0:y0 bessel_y1:y1 ieee_remainder:remainder",
    "round_to:dcpy_round_to ldexp:dcpy_ldexp exponent:dcpy_exponent erfinv:dcpy_erfinv erfcinv:dcpy_erfcinv",
    "digamma:dcpy_digamma complex:dcpy_of_parts bits:dcpy_bits",
    "carried_max:dcpy_carried_maximum carried_min:dcpy_carried_minimum cos_apart:dcpy_cos_apart",
)
COMPLEX = table(
    "add:+ sub:- mul:* neg:- eq:== ne:!= lt:dcpy_clt le:dcpy_cle gt:dcpy_cgt ge:dcpy_cge div:dcpy_cdiv pow:dcpy_cpow",
    "square:dcpy_csquare reciprocal:dcpy_creciprocal conj:dcpy_conj cabs:dcpy_cabs sign:dcpy_csign rint:dcpy_crint",
    "cabs_side:dcpy_cabs_side",
    "isnan:dcpy_cisnan isinf:dcpy_cisinf isfinite:dcpy_cisfinite max:dcpy_cmaximum min:dcpy_cminimum fmax:dcpy_cfmax",
    "fmin:dcpy_cfmin exp:dcpy_cexp exp2:dcpy_cexp2 expm1:dcpy_cexpm1 log:dcpy_clog log2:dcpy_clog2 log10:dcpy_clog10",
    "log1p:dcpy_clog1p sqrt:dcpy_csqrt sin:dcpy_csin cos:dcpy_ccos tan:dcpy_ctan asin:dcpy_casin acos:dcpy_cacos",
    "atan:dcpy_catan sinh:dcpy_csinh cosh:dcpy_ccosh tanh:dcpy_ctanh asinh:dcpy_casinh acosh:dcpy_cacosh",
    "atanh:dcpy_catanh real:.real imag:.imag and:&& or:|| not:!",
)
HALF_BY_BITS = {"nextafter": "dcpy_nextafter_half", "spacing": "dcpy_spacing_half"}
OPERATIONS = {"b": BOOL, "i": INTEGER, "u": UNSIGNED, "f": FLOAT, "f16": HALF_BY_BITS, "c": COMPLEX}
SHIFTS = {"lshift": "<<", "rshift": ">>"}  # by less than the width, C's operators do
NARROW = (types.int8, types.int16, types.uint8, types.uint16)
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "&&", "||")


def without_operations(dialect: Dialect, expr: LirExpr) -> LirExpr:
    """The expression with its outermost operation or conversion in terms of C."""
    while isinstance(expr, Operation | Cast):
        if isinstance(expr, Operation):
            expr = written(dialect, expr)
        else:
            expr = dialect.conversion(expr.arg, expr.source, expr.type)
    return expr


def written(dialect: Dialect, operation: Operation) -> LirExpr:
    """An operation in terms of C. `CodegenError` where NumPy has no such operation on that dtype either."""
    name, args, dtype = operation.name, operation.args, operation.dtype
    if dtype == types.float16:
        return _in_single_precision(dialect, operation)
    if name == "xor" or (dtype.kind == "c" and name in ("and", "or", "not")):
        args, dtype = tuple(dialect.conversion(arg, dtype, types.bool_) for arg in args), types.bool_
    side = _side_of_magnitude(dialect, operation)
    if side is not None:
        return side
    power, exponent = _small_power(operation)
    if power and dialect.intrinsics.get(power):
        return Intrinsic(power, (args[0], Literal(exponent, Basic.INT)), operation.type, operation.type)
    spelling = dialect.operations[dtype.kind].get(name, "")
    if name in SHIFTS and _is_short_shift(operation):
        spelling = SHIFTS[name]
    power_of_two = _divisor_with_one_bit(operation)
    if power_of_two is not None:
        spelling, args = _by_bits(name, args[0], power_of_two)
    if name == "mod" and dtype.kind == "f" and isinstance(args[1], Literal) and args[1].value == 1:
        spelling, args = "dcpy_remainder_by_one", args[:1]
    if spelling is None:
        raise CodegenError(f"{dialect.name} has no words for the operation {name!r} on {dtype}")
    if not spelling:
        raise CodegenError(
            f"the operation {name!r} has no meaning on {dtype}", help="cast its arguments to another dtype first"
        )
    return _write(dialect, spelling, args, dtype, operation.type)


def _write(dialect: Dialect, spelling: str, args: tuple[LirExpr, ...], dtype: DType, result: DType) -> LirExpr:
    match spelling:
        case "=":
            return args[0]
        case "true" | "false":
            return Literal(spelling == "true", types.bool_)
        case "0":
            return Literal(0 if result.kind in "biu" else 0.0, result)
        case ".real" | ".imag":
            return Field(args[0], spelling[1:], result)
        case "1/":
            return Infix("/", Literal(1, Basic.INT), args[0], result)
    if spelling[0].isalpha():
        return Call(dialect.generic(spelling, dtype), args, result)
    args = tuple(_without_cast(arg) for arg in args)
    if len(args) == 1:
        return _narrowed(Prefix(spelling, args[0], result), result)
    return _narrowed(Infix(spelling, args[0], args[1], result), result)


def _narrowed(expr: LirExpr, dtype: DType) -> LirExpr:
    """C computes on narrow integers as ``int``: back to their own width."""
    return Convert(expr, dtype) if dtype.is_integer and dtype.itemsize < 4 else expr


def _divisor_with_one_bit(operation: Operation) -> int | None:
    """Return the power of two that divides integers, rounding down."""
    if operation.name not in ("floordiv", "mod") or not operation.dtype.is_integer:
        return None
    divisor = operation.args[1]
    value = int(divisor.value or 0) if isinstance(divisor, Literal) else 0
    return value if value > 0 and value & (value - 1) == 0 else None


def _by_bits(name: str, dividend: LirExpr, power_of_two: int) -> tuple[str, tuple[LirExpr, LirExpr]]:
    """Return the shift that rounds down, and the mask that leaves the rest: both do so below zero, too."""
    if name == "floordiv":
        return ">>", (dividend, Literal(power_of_two.bit_length() - 1, Basic.INT))
    return "&", (dividend, Literal(power_of_two - 1, Basic.INT))


def _is_short_shift(operation: Operation) -> bool:
    """Return whether the count is a number below the width of what is shifted."""
    count = operation.args[1]
    return isinstance(count, Literal) and 0 <= int(count.value or 0) < 8 * operation.type.itemsize


def _small_power(operation: Operation) -> tuple[str, int]:
    """The intrinsic for a power that is multiplied out, and its number: the size of the exponent, or twice a half.

    "": there is none.
    """
    exponent = operation.args[-1]
    if operation.name != "pow" or not isinstance(exponent, Literal):
        return "", 0
    twice = twice_the_exponent(exponent.value, operation.type.kind)
    if not twice:
        return "", 0
    if twice % 2:
        return "half_power", twice
    return ("power", twice // 2) if twice > 0 else ("inverse_power", -twice // 2)


def _side_of_magnitude(dialect: Dialect, operation: Operation) -> LirExpr | None:
    """A comparison of a complex number's magnitude with something: squares nearly always decide, without a root."""
    spelling = dialect.operations["c"].get("cabs_side")
    if operation.name not in MIRRORED or not spelling:
        return None
    one, other = operation.args
    for name, size, limit in ((operation.name, one, other), (MIRRORED[operation.name], other, one)):
        if isinstance(size, Operation) and size.name == "cabs":
            side = Call(dialect.generic(spelling, size.dtype), (size.args[0], limit), size.type)
            return Infix(dialect.operations["f"][name] or name, side, Literal(0.0, size.type), operation.type)
    return None


def _without_cast(expr: LirExpr) -> LirExpr:
    """A narrow literal as C takes it beside an operator, where everything narrow is an ``int``."""
    if isinstance(expr, Literal) and expr.type in NARROW:
        return Literal(expr.value, Basic.INT)
    return expr


def _in_single_precision(dialect: Dialect, operation: Operation) -> LirExpr:
    by_bits = dialect.operations["f16"].get(operation.name)
    if by_bits is not None:
        return Call(by_bits, operation.args, operation.type)
    args = operation.args
    if operation.name in ("max", "min"):  # of zeros with two signs NumPy keeps the first one here, else the second
        args = args[::-1]
    single = tuple(dialect.conversion(arg, types.float16, types.float32) for arg in args)
    if operation.name == "xor":
        single = tuple(dialect.conversion(arg, types.float32, types.bool_) for arg in single)
        return _write(dialect, "!=", single, types.bool_, types.bool_)
    spelling = dialect.operations["f"].get(operation.name)
    if spelling is None:
        raise CodegenError(f"the operation {operation.name!r} has no meaning on {types.float16}")
    result = types.float32 if operation.type == types.float16 else operation.type
    return dialect.conversion(_write(dialect, spelling, single, types.float32, result), result, operation.type)
