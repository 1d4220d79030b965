"""What random programs call, by group: each text is tried on operands at hand, and kept where NumPy takes it.

Nothing here depends on the order of inexact sums, or jumps at a rounding error: tables of records compare those.
"""

from __future__ import annotations

ORDER = (
    "np.sort({})", "np.sort({}, axis=0)", "np.argsort({}, kind='stable')", "np.unique({})", "np.flatnonzero({})",
    "np.nonzero({})[0]", "np.argwhere({})", "np.count_nonzero({})", "np.ptp({})", "np.median({})", "np.sort({})[::-1]",
    "np.searchsorted(np.sort({}), 1)", "np.max({}, initial=1)", "np.sum({0}, where={0} > 0)",
    "np.nanmax({})", "np.count_nonzero({}, axis=0)", "np.argmax({}, axis=-1)",
)  # fmt: skip
SHAPE = (
    "np.roll({}, 1)", "np.roll({}, -1, axis=0)", "np.repeat({}, 2)", "np.repeat({}, 2, axis=0)", "np.tile({}, 2)",
    "np.pad({}, 1)", "np.rot90({})", "np.fliplr({})", "np.flipud({})", "np.moveaxis({}, 0, -1)", "np.ravel({}, 'F')",
    "np.stack([{0}, {0}])", "np.concatenate([{0}, {0}])", "np.hstack(({0}, {0}))", "np.vstack(({0}, {0}))",
    "np.broadcast_to({0}, (2, *{0}.shape))", "np.array({})", "np.ascontiguousarray({})", "np.delete({}, 0)",
    "np.reshape({}, (-1, 1))", "np.atleast_1d({})", "np.column_stack(({0}, {0}))", "np.swapaxes({}, 0, 1)[::-1]",
)  # fmt: skip
LINEAR = (
    "np.triu({})", "np.tril({}, -1)", "np.diag({})", "np.trace({})", "np.diagonal({}).copy()", "np.cumsum({}, axis=0)",
    "np.cumprod({})", "np.add.reduce({}, axis=0)", "np.maximum.accumulate({})", "np.add.accumulate({})",
    "np.isfinite({})", "np.signbit({})", "np.nan_to_num({})", "np.diff({}, axis=0)", "np.fabs({})", "np.invert({})",
)  # fmt: skip
BINARY = (
    "np.concatenate(({}, {}))", "np.stack(({}, {}), axis=-1)", "np.append({}, {})", "np.isin({}, {})",
    "np.searchsorted(np.sort({}), {})", "np.gcd({}, {})", "np.lcm({}, {})", "np.bitwise_and({}, {})", "np.fmax({}, {})",
    "np.left_shift({}, {})", "np.remainder({}, {})", "np.divmod({}, {})[1]", "np.logical_xor({}, {})",
    "np.select([{0} > 0, {0} < 0], [{0}, {1}], 5)", "np.kron({}, {})", "np.inner({}, {})", "np.array_equal({}, {})",
    "np.tensordot({}, {}, axes=1)", "np.convolve({}, {})", "np.multiply.outer({}, {})", "np.where({0} > {1}, {1}, {0})",
    "np.digitize({}, np.sort({}))", "np.einsum('i,i->i', {}, {})", "np.einsum('ij,j->i', {}, {})",
    "np.subtract({}, {}, dtype=np.float64)", "np.setdiff1d({}, {})", "np.not_equal({}, {})", "np.vdot({}, {})",
)  # fmt: skip
SETS = (
    "np.sort({}, axis=None)", "np.unique({}, return_counts=True)[1]", "np.unique({}, return_inverse=True)[1]",
    "np.unique({}, return_index=True)[1]", "np.nanmin({}, axis=0)", "np.nansum({} > 0, axis=-1)", "np.nanargmin({})",
    "np.lexsort(({0}, {0}))", "np.bincount(np.abs({}))", "np.histogram({}, [-2, 0, 2])[0]", "np.ediff1d({})",
    "np.argmin({}, axis=0, keepdims=True)", "np.trim_zeros({})", "np.percentile({}, 50)", "np.all({}, axis=-1)",
    "np.any({0}, where={0} > 0)", "np.min({0}, where={0} > 0, initial=3)",
    "np.searchsorted(np.sort({}), 1, side='right')",
)  # fmt: skip
PARTS = (
    "np.insert({}, 0, 1)", "np.resize({}, 5)", "np.block([[{0}], [{0}]])", "np.dstack(({0}, {0}))", "np.diagflat({})",
    "np.split({}, 1)[0]", "np.array_split({}, 2)[-1]", "np.hsplit({}, 1)[0]", "np.rollaxis({}, -1)",
    "np.ix_({0}, {0})[0]", "np.meshgrid({0}, {0})[1]", "np.vander({}, 3)",
    "np.lib.stride_tricks.sliding_window_view({}, 2)", "np.roll({}, (1, -1), (0, 1))",
    "np.pad({}, (1, 0), mode='edge')", "np.pad({}, (0, 2), mode='reflect')", "np.rot90({}, -1)",
    "np.triu_indices(3)[0] * {}", "np.unravel_index(np.argmax({0}), {0}.shape)[-1]", "np.indices({}.shape)[0]",
    "np.permute_dims({})", "np.rot90({}, 2)", "np.delete({}, [0, -1])", "np.delete({}, slice(None, None, 2))",
    "np.tile({}, (2, 1))", "np.append({0}, {0}, axis=0)", "np.broadcast_arrays({}, 1)[0]", "np.astype({}, np.float32)",
    "np.fliplr({}).T", "np.asfortranarray({})", "np.atleast_3d({})",
)  # fmt: skip
VALUES = (
    "np.heaviside({}, 0.5)", "np.frexp({})[0]", "np.frexp({})[1]", "np.ldexp({}, 2)", "np.modf({})[0]",
    "np.modf({})[1]", "np.round({}, 1)", "np.around({})", "np.isreal({})", "np.iscomplex({})", "np.bitwise_count({})",
    "np.isinf({})", "np.nancumsum({})", "np.gradient({})", "np.negative({})", "np.isposinf({})",
    "np.polyval([1, 2], {})", "np.angle({} > 0)", "np.cumsum({}, dtype=np.int16)", "np.logical_or.reduce({})",
    "np.minimum.reduce({}, axis=-1)", "np.cumulative_sum({})", "np.subtract.reduce({})", "np.multiply.accumulate({})",
    "np.add.reduceat({}, [0, 1])", "np.linalg.matrix_power({}, 2)",
)  # fmt: skip
METHODS = (
    "{}.clip(0, 2)", "{}.round()", "{}.repeat(2)", "{}.take([0, -1])", "{}.conj()", "{}.cumsum()", "{}.trace()",
    "{}.nbytes", "{}.diagonal()", "{}.nonzero()[-1]", "{}.argsort(kind='stable')", "{}.transpose()", "{}.squeeze()",
    "{}.dot({})", "{}.itemsize", "{}.item()", "{}.cumprod()", "{}.compress([True, False])", "{}.searchsorted({})",
    "{}.flatten('F')", "{}.ravel('F')", "{}.T.ravel()", "{}.swapaxes(0, -1)", "{}.reshape(-1, order='F')",
    "{}.astype(np.float32, copy=False)", "{}.sum(axis=0).max()", "{}.max(axis=0)", "len({})",
    "(sum({0}) if len({0}) else {0}.dtype.type(0))", "max({})", "pow({}, 2)", "abs({}).T", "({0} if {0}.size else {1})",
    "(-1 < {} <= {})", "any({})",
)  # fmt: skip
PAIRS = (
    "np.isclose({}, {})", "np.allclose({}, {})", "np.array_equiv({}, {})", "np.union1d({}, {})",
    "np.intersect1d({}, {})", "np.setxor1d({}, {})", "np.correlate({}, {})", "np.extract({} > 0, {})",
    "np.choose(np.abs({0}) % 2, [{0}, {1}])", "np.piecewise({0}, [{0} > 0, {0} < 0], [1, -1, 0])",
    "np.einsum('ij,jk', {}, {})", "np.einsum('i,j->ij', {}, {})", "np.einsum('ij->ji', {})", "np.einsum('ii', {})",
    "np.matmul({}, {})", "np.cross({}, {})", "np.meshgrid({}, {})[0]", "np.hstack(({}, {}))", "np.insert({}, 1, {})",
    "np.place({}, {}, 1)", "np.where({})[0]", "np.maximum({}, {}, dtype=np.float64)", "np.minimum.outer({}, {})",
    "np.interp({}, [-1, 0, 2], [2, 0, 4])", "np.where({0} != {0}, {1}, -{1})", "np.matvec({}, {})", "np.vecdot({}, {})",
    "np.floor({} / 2) + {}", "np.logical_or({} > 0, {})", "np.bitwise_or({}, {})", "np.right_shift({}, {})",
    "np.greater({}, {})", "np.vstack(({}, {}))",
)  # fmt: skip
GATHERS = (
    "{0}[[0, -1]]", "{0}[np.array([0, -1, 0])]", "{0}[np.arange({0}.shape[0]) // 2]", "{0}[{0} > 0]", "{0}[{1} > 0]",
    "{0}[np.argsort({0}, kind='stable')]", "{0}[:, [0, -1]]", "{0}[[0, -1], ..., 0]", "{0}[np.nonzero({0})]",
    "{0}[np.abs({1}) % {0}.shape[0]]", "{0}[~({0} == 0)]", "{0}[{0}.shape[0] // 2:]",
    "{0}[np.array([True, False, True])]", "{0}[[[0], [-1]], [0, -1]]", "np.take({0}, [0, -1])",
    "np.take({0}, k % 2, axis=0)", "{0}[np.array(-1)]", "np.compress({0} > 0, {0})",
    "np.take_along_axis({0}, np.argsort({0}, axis=0, kind='stable'), axis=0)", "{0}[{0}[0] > 0]", "{0}[{1}, 0]",
    "{0}[k > 0, [0, -1]]", "{0}[..., np.array(k)]", "{0}[::-1][[0, -1]]", "{0}[k::-1]", "{0}[:k:-1]", "{0}[-1:-9:-2]",
    "{0}[1:][::-1][:2]", "{0}[np.newaxis, [0, 0]]", "{0}[np.ix_([0, -1], [0])]", "{0}[{0}.argmax()]",
    "{0}[{0} > 0].sum()", "{0}[{0} != 0].max(initial=0)", "np.sum({0}[{1} > 0] * 2)",
    "{0}[np.arange({0}.shape[0])[::-1]] * {0}",
    "{0}[np.array([1, 0], np.uint8)]", "{0}[{0}[:, 0] > 0, 0]", "{0}[{0}[:, 0] == {0}[:, 0]] - {0}[0]",
    "{0}[:, {0}[0] > 0]",
    "{0}[{0} > 0].prod()", "np.extract({0} > 0, {0}) + 1", "{0}[{0} == {0}].mean()",
    "np.sqrt(np.abs({0}))[{1} > 0].std()",
    "{0}[{0}.shape[0] - 1]", "{0}.flat[0]", "{0}[::2][::-1]",
)  # fmt: skip
CALLS = (
    "scaled({}, {})", "nested({}, {})", "both({}, {})[1]", "positive({})", "chosen({}, {})", "folded({}, {}, 2)",
    "twice(scaled, {})", "counted({}, limit=3)", "nested(scaled({}), y={})",
)  # fmt: skip

PLACES = (
    "[{0} > 0]", "[{0} == {0}]", "[[0, -1]]", "[np.array([0, 0])]", "[..., [0, -1]]", "[np.abs({0}) < 2]", "[[-1]]",
    "[k > 0]", "[z > 0, 0]", "[..., {0}.size > 2]", "[np.array(k)]", "[np.array(-1), ..., z < 2]",
)  # fmt: skip
WRITES = (  # statements that write to an array or a part of it: {0}, with a value {1} that its dtype holds
    "np.add({0}, {1}, out={0})", "np.multiply({0}, {1}, out={0}, where={0} > 0)", "np.copyto({0}, {1})",
    "np.clip({0}, 0, 2, out={0})", "{0}.fill({2})", "{0}.sort()", "np.add.at({0}, [0, -1, 0], {2})",
    "np.fill_diagonal({0}, {2})", "np.maximum({0}, {1}, out={0})", "{0}[...] = {0}[::-1]", "{0}[1:] += {0}[:-1]",
    "{0}[:-1] = {0}[1:] * 2", "grow({0}, {1})", "grow({0}[::-1])", "exchange({0}, {0}[::-1])",
    "np.subtract({0}[1:], {0}[:-1], out={0}[1:])", "{0}[0] += {0}[-1]", "np.negative({0}, out={0})",
    "np.add({0}[::-1], {1}, out={0})", "np.putmask({0}, {0} > 0, {2})", "np.put({0}, [0, -1], {2})",
    "{0}[{0} > 0] = {0}[{0} > 0] * 2 + {2}", "{0}[{0} != 0] -= {0}[{0} != 0]", "{0}[{1} > 0] = {1}[{1} > 0]",
    "{0}[{0} > 0] = {0}[::-1][{0} > 0]", "{0}[[0, -1]] = {0}[[1, 0]] + {2}",
    "{0}[{0}[:, 0] > 0] = {0}[{0}[:, 0] > 0] - {0}[0]",
    "{0}[:, {0}[0] > 0] *= {2}", "{0}[{0} > 0] = np.sort({0}[{0} > 0])", "{0}[[0, 0, -1]] += {2}",
    "{0}[1:][{0}[:-1] > 0] = {2}",
    "np.place({0}, {0} > 0, [{2}])", "np.copyto({0}, {1}, where={0} > 0)", "{0}.T[0] += {2}",
    "{0}.reshape(-1)[::2] = {2}", "{0}.flat[0] = {2}", "{0}.real[...] = {2}", "{0}.sort(axis=0)",
    "{0}[0], {0}[-1] = {0}[-1], {0}[0]", "{0}[[0, -1]] = {0}[[-1, 0]]", "np.subtract.at({0}, {0} > 0, {2})",
    "np.multiply({0}[:-1], {0}[1:], out={0}[:-1])", "{0}[1:][:-1] += {0}[:-2]", "{0} += {0}[::-1]", "{0} += {0}[0]",
    "{0} -= {0}.T", "{0}[...] = {0}.T", "{0}[:, 0] = {0}[0]", "{0}[0] = {0}[:, 0]", "{0}[:] = np.roll({0}, 1)",
    "{0}[1:], {0}[0] = {0}[:-1].copy(), {2}", "{0}[::-2] = {0}[::2]", "{0}[-1:0:-1] = {0}[:-1]",
    "np.sum({0}, axis=0, out={0}[0])", "np.maximum({0}[1:], {0}[:-1], out={0}[:-1])", "np.cumsum({0}, axis=0, out={0})",
    "{0}[::2], {0}[1::2] = {2}, {2}", "{0}.T[...] = {1}", "np.abs({0}, out={0}, where={0} < 0)",
    "np.add({0}, {0}.T, out={0})",
)  # fmt: skip

PRELUDE = """\
def scaled(x, factor=2):
    return x * factor + 1

def both(x, y):
    return x, y

def mutate(x, v):
    x[...] = v
    return x[::-1]

def grow(x, v=1):
    x += v

def exchange(x, y):
    t = x.copy()
    x[...] = y
    y[...] = t

def first_positive(x):
    for i in range(x.shape[0]):
        if x[i] > 0:
            return i
    return -1

def total(x, start=0):
    result = x[0] * 0 + start
    for value in x:
        result += value
    return result

def counted(x, limit=2):
    n = 0
    while n < limit and n < x.size:
        if x[n] == 0:
            break
        n += 1
    return n

def positive(x):
    return x[x > 0]

def chosen(x, y):
    if x.size > 3:
        return x + 0
    return y + 0

def nested(x, y=1):
    one, other = both(scaled(x), y)
    return scaled(one, other)

def folded(*values):
    result = 1
    for value in values:
        result = result * value
    return result

def twice(f, x):
    return f(f(x))

def as_array(x):
    assert len(x) > 0, 'nothing known of its dtype and rank'
    return np.array(x)

"""
