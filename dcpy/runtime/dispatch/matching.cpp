// Do these arguments fit a specialization? Every check of a call is here; none of them allocates, and
// none runs Python code but that of properties that the program has read.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "signature.h"
#include "tensors.h"

namespace dcpy {

namespace {

// `long` and `long long` are one type to us, as they are to whoever writes int64.
inline int canonical(int type) {
    if (sizeof(long) == sizeof(long long)) {
        if (type == NPY_LONGLONG) return NPY_LONG;
        if (type == NPY_ULONGLONG) return NPY_ULONG;
    }
    return type;
}

inline bool fits(const Extent &extent, int64_t number, int64_t *symbols) {
    if (extent.slot < 0) return number == extent.constant;
    if (extent.not_one && number == 1) return false;
    const int64_t value = number - extent.constant;
    if (!extent.first) return symbols[extent.slot] == value;
    symbols[extent.slot] = value;
    return extent.constant == 0 || value >= 0;
}

// Whether the strides of the axes of a rule are in its order, equal ones in C order, and none is 0; and whether the array
// is in Fortran order only where it is in C order, too.
bool match_order(const ArgumentRule &rule, const int64_t *sizes, const int64_t *strides, int flags) {
    if ((flags & (NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_C_CONTIGUOUS)) == NPY_ARRAY_F_CONTIGUOUS) return false;
    int64_t last = std::numeric_limits<int64_t>::max();
    int before = -1;
    for (const int axis : rule.axes) {
        const int64_t step = std::abs(strides[axis]);
        if (sizes[axis] == 1) return false;
        if (step == 0 || step > last || (step == last && axis < before)) return false;
        last = step;
        before = axis;
    }
    return true;
}

// Whether there are no gaps between elements, the axes of which go from the slowest to the fastest as in the rule.
bool match_packed(const ArgumentRule &rule, const int64_t *sizes, const int64_t *strides) {
    int64_t step = rule.itemsize;
    for (auto axis = rule.axes.rbegin(); axis != rule.axes.rend(); ++axis) {
        if (sizes[*axis] != 1 && strides[*axis] != step) return false;
        step *= sizes[*axis];
    }
    return true;
}

// Whether the axes of a rule lie as it says.
bool match_axes(const ArgumentRule &rule, const int64_t *sizes, const int64_t *strides, int flags) {
    return rule.strides.empty() ? match_packed(rule, sizes, strides) : match_order(rule, sizes, strides, flags);
}

bool match_strides(const ArgumentRule &rule, const int64_t *sizes, const int64_t *strides, int64_t *symbols) {
    for (int d = 0; d < rule.rank; ++d) {
        const int64_t bytes = strides[d];
        if (bytes % rule.itemsize != 0 && sizes[d] > 1) return false;
        if (!fits(rule.strides[d], bytes / rule.itemsize, symbols)) return false;
    }
    return true;
}

inline bool is_native(PyArrayObject *array, int type) {
    const PyArray_Descr *dtype = PyArray_DESCR(array);
    return canonical(dtype->type_num) == type && PyArray_ISNBO(dtype->byteorder);
}

bool match_array(const ArgumentRule &rule, PyObject *value, void **arg, int64_t *symbols) {
    if (Py_TYPE(value) != &PyArray_Type) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    if (PyArray_NDIM(array) != rule.rank || !is_native(array, rule.type)) return false;
    if ((PyArray_FLAGS(array) & rule.flags) != rule.flags) return false;
    const npy_intp *shape = PyArray_DIMS(array);
    for (int d = 0; d < rule.rank; ++d) {
        if (!fits(rule.sizes[d], shape[d], symbols)) return false;
    }
    if (!rule.strides.empty() && !match_strides(rule, shape, PyArray_STRIDES(array), symbols)) return false;
    if (!rule.axes.empty() && !match_axes(rule, shape, PyArray_STRIDES(array), PyArray_FLAGS(array))) return false;
    *arg = PyArray_DATA(array);
    return true;
}

// Not inlined: `matches` stays small for calls of programs for CPUs.
__attribute__((noinline)) bool match_device_array(const ArgumentRule &rule, PyObject *value, void **arg, int64_t *symbols) {
    if (!is_device_array(value)) return false;
    const DeviceArray &array = *as_device_array(value);
    if (array.rank != rule.rank || canonical(array.type) != rule.type) return false;
    if ((array.flags & rule.flags) != rule.flags) return false;
    for (int d = 0; d < rule.rank; ++d) {
        if (!fits(rule.sizes[d], array.sizes()[d], symbols)) return false;
    }
    if (!rule.strides.empty() && !match_strides(rule, array.sizes(), array.strides(), symbols)) return false;
    if (!rule.axes.empty() && !match_axes(rule, array.sizes(), array.strides(), array.flags)) return false;
    *arg = array.data;
    return true;
}

template <typename T>
bool store_integer(int64_t number, Slot &slot) {
    if (number < static_cast<int64_t>(std::numeric_limits<T>::min())) return false;
    if (sizeof(T) < 8 && number > static_cast<int64_t>(std::numeric_limits<T>::max())) return false;
    const T value = static_cast<T>(number);
    std::memcpy(slot.bytes, &value, sizeof value);
    return true;
}

template <typename T>
bool store(T value, Slot &slot) {
    std::memcpy(slot.bytes, &value, sizeof value);
    return true;
}

bool store_large(PyObject *value, int type, Slot &slot) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    return type == NPY_ULONG && store<uint64_t>(number, slot);
}

bool store_python_integer(PyObject *value, int type, Slot &slot) {
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) return store_large(value, type, slot);
    switch (type) {
        case NPY_BYTE: return store_integer<int8_t>(number, slot);
        case NPY_UBYTE: return store_integer<uint8_t>(number, slot);
        case NPY_SHORT: return store_integer<int16_t>(number, slot);
        case NPY_USHORT: return store_integer<uint16_t>(number, slot);
        case NPY_INT: return store_integer<int32_t>(number, slot);
        case NPY_UINT: return store_integer<uint32_t>(number, slot);
        case NPY_LONG: return store_integer<int64_t>(number, slot);
        case NPY_ULONG: return store_integer<uint64_t>(number, slot);
        default: return false;
    }
}

// For half precision, and for conversions that are off the fast path: NumPy's own assignment.
bool store_as_numpy_does(PyObject *value, int type, Slot &slot) {
    Object dtype(reinterpret_cast<PyObject *>(PyArray_DescrFromType(type)));
    if (dtype && PyArray_Pack(reinterpret_cast<PyArray_Descr *>(dtype.get()), slot.bytes, value) == 0) return true;
    PyErr_Clear();
    return false;
}

// A Python number where `type` is wanted: of the same kind, or with `converts` of a smaller one.
bool store_python(const ArgumentRule &rule, PyObject *value, Slot &slot) {
    const bool converts = rule.converts;
    const int type = rule.type;
    const bool is_bool = PyBool_Check(value);
    const bool is_integer = PyLong_CheckExact(value) || (converts && is_bool);
    const bool is_float = PyFloat_CheckExact(value);
    if (type == NPY_BOOL) return is_bool && store<npy_bool>(value == Py_True, slot);
    if (PyTypeNum_ISINTEGER(type)) return is_integer && store_python_integer(value, type, slot);
    if (type == NPY_DOUBLE && is_float) return store(PyFloat_AS_DOUBLE(value), slot);
    if (type == NPY_FLOAT && is_float) return store(static_cast<float>(PyFloat_AS_DOUBLE(value)), slot);
    if (is_float || (converts && is_integer)) {
        const bool same_kind = is_float && PyTypeNum_ISFLOAT(type);
        return (same_kind || converts) && store_as_numpy_does(value, type, slot);
    }
    return PyTypeNum_ISCOMPLEX(type) && PyComplex_CheckExact(value) && store_as_numpy_does(value, type, slot);
}

// A NumPy scalar, or an array without dimensions, of exactly the type.
bool store_numpy(int type, PyObject *value, Slot &slot) {
    if (Py_TYPE(value) == &PyArray_Type) {
        auto *array = reinterpret_cast<PyArrayObject *>(value);
        if (PyArray_NDIM(array) != 0 || !is_native(array, type)) return false;
        std::memcpy(slot.bytes, PyArray_DATA(array), PyArray_ITEMSIZE(array));
        return true;
    }
    if (!PyArray_IsScalar(value, Generic)) return false;
    Object dtype(reinterpret_cast<PyObject *>(PyArray_DescrFromScalar(value)));
    if (!dtype) {
        PyErr_Clear();
        return false;
    }
    if (canonical(reinterpret_cast<PyArray_Descr *>(dtype.get())->type_num) != type) return false;
    PyArray_ScalarAsCtype(value, slot.bytes);
    return true;
}

template <typename T>
int64_t load(const Slot &slot) {
    T value;
    std::memcpy(&value, slot.bytes, sizeof value);
    return static_cast<int64_t>(value);
}

int64_t load_integer(int type, const Slot &slot) {
    switch (type) {
        case NPY_BOOL: return load<npy_bool>(slot);
        case NPY_BYTE: return load<int8_t>(slot);
        case NPY_UBYTE: return load<uint8_t>(slot);
        case NPY_SHORT: return load<int16_t>(slot);
        case NPY_USHORT: return load<uint16_t>(slot);
        case NPY_INT: return load<int32_t>(slot);
        case NPY_UINT: return load<uint32_t>(slot);
        default: return load<int64_t>(slot);
    }
}

bool match_scalar(const ArgumentRule &rule, PyObject *value, Slot &slot, void **arg, int64_t *symbols) {
    const bool stored = rule.weak ? store_python(rule, value, slot)
                                  : store_numpy(rule.type, value, slot) ||
                                        (rule.converts && store_python(rule, value, slot));
    if (!stored) return false;
    *arg = slot.bytes;
    if (rule.symbol.slot < 0) return true;
    const int64_t number = load_integer(rule.type, slot);
    if (rule.type == NPY_ULONG && number < 0) return false;  // beyond what a symbol can hold
    return fits(rule.symbol, number, symbols);
}

bool same_value(PyObject *expected, PyObject *value);

// Two NumPy scalars of one type.
bool same_number(PyObject *expected, PyObject *value) {
    Slot a{};
    Slot b{};
    PyArray_ScalarAsCtype(expected, a.bytes);
    PyArray_ScalarAsCtype(value, b.bytes);
    return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

// Two tuples, or two lists.
bool same_items(PyObject *expected, PyObject *value) {
    if (PySequence_Fast_GET_SIZE(expected) != PySequence_Fast_GET_SIZE(value)) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(expected); ++i) {
        if (!same_value(PySequence_Fast_GET_ITEM(expected, i), PySequence_Fast_GET_ITEM(value, i))) return false;
    }
    return true;
}

// Two dicts with the same keys in the same order.
bool same_entries(PyObject *expected, PyObject *value) {
    if (PyDict_GET_SIZE(expected) != PyDict_GET_SIZE(value)) return false;
    PyObject *key, *item, *other_key, *other_item;
    Py_ssize_t i = 0;
    Py_ssize_t j = 0;
    while (PyDict_Next(expected, &i, &key, &item) && PyDict_Next(value, &j, &other_key, &other_item)) {
        if (!same_value(key, other_key) || !same_value(item, other_item)) return false;
    }
    return true;
}

// Two methods: Python makes a new object each time that one is looked up.
bool same_method(PyObject *expected, PyObject *value) {
    if (PyMethod_Check(expected)) {
        return PyMethod_GET_SELF(expected) == PyMethod_GET_SELF(value) &&
               PyMethod_GET_FUNCTION(expected) == PyMethod_GET_FUNCTION(value);
    }
    return PyCFunction_GET_SELF(expected) == PyCFunction_GET_SELF(value) &&
           PyCFunction_GET_FUNCTION(expected) == PyCFunction_GET_FUNCTION(value);
}

// Identical, or equal as constants are: of the same type, numbers bit by bit, collections item by item.
bool same_value(PyObject *expected, PyObject *value) {
    if (expected == value) return true;
    if (Py_TYPE(expected) != Py_TYPE(value)) return false;
    if (PyUnicode_CheckExact(expected)) return PyUnicode_Compare(expected, value) == 0;
    if (PyLong_CheckExact(expected)) return PyObject_RichCompareBool(expected, value, Py_EQ) == 1;
    if (PyFloat_CheckExact(expected)) {
        const double a = PyFloat_AS_DOUBLE(expected);
        const double b = PyFloat_AS_DOUBLE(value);
        return std::memcmp(&a, &b, sizeof a) == 0;
    }
    if (PyComplex_CheckExact(expected)) {
        const Py_complex a = PyComplex_AsCComplex(expected);
        const Py_complex b = PyComplex_AsCComplex(value);
        return std::memcmp(&a, &b, sizeof a) == 0;
    }
    if (PyArray_IsScalar(expected, Number) || PyArray_IsScalar(expected, Bool)) return same_number(expected, value);
    if (PyMethod_Check(expected) || PyCFunction_CheckExact(expected)) return same_method(expected, value);
    if (PyTuple_CheckExact(expected) || PyList_CheckExact(expected)) return same_items(expected, value);
    return PyDict_CheckExact(expected) && same_entries(expected, value);
}

// The bytes from the lowest to behind the highest element; nothing for an array without elements.
std::pair<uintptr_t, uintptr_t> memory_of(PyObject *value) {
    auto *array = reinterpret_cast<PyArrayObject *>(value);
    uintptr_t low = reinterpret_cast<uintptr_t>(PyArray_DATA(array));
    uintptr_t high = low + static_cast<uintptr_t>(PyArray_ITEMSIZE(array));
    for (int d = 0; d < PyArray_NDIM(array); ++d) {
        const npy_intp size = PyArray_DIM(array, d);
        if (size == 0) return {0, 0};
        const npy_intp reach = (size - 1) * PyArray_STRIDE(array, d);
        (reach < 0 ? low : high) += static_cast<uintptr_t>(reach);
    }
    return {low, high};
}

using Bytes = std::pair<uintptr_t, uintptr_t>;

bool overlap(const Bytes &left, const Bytes &right) { return left.first < right.second && right.first < left.second; }

// Whether two arguments of one kind share memory, or are one generator.
bool meet(Kind kind, PyObject *left, PyObject *right, void *arg, void *other) {
    if (kind == Kind::Array) return overlap(memory_of(left), memory_of(right));
    if (kind == Kind::Generator) return arg == other;
    return overlap(dcpy::memory_of(*as_device_array(left)), dcpy::memory_of(*as_device_array(right)));
}

bool guards_hold(const std::vector<Guard> &guards) {
    for (const Guard &guard : guards) {
        const Object value = guard.source.fetch();
        if (!value) PyErr_Clear();
        if (!value || !same_value(guard.expected.get(), value.get())) return false;
    }
    return true;
}

// In 128 bits, where no product of two numbers of 64 bits overflows: an integer argument may be any number.
bool holds(const Linear &condition, const int64_t *symbols) {
    __extension__ typedef __int128 Wide;
    Wide sum = condition.constant;
    for (const auto &[slot, factor] : condition.terms) {
        if (__builtin_add_overflow(sum, static_cast<Wide>(factor) * symbols[slot], &sum)) return false;
    }
    return sum >= 0;
}

bool holds(const Assumed &assumed, const int64_t *symbols) {
    const int64_t value = symbols[assumed.slot];
    if (value < assumed.least || value > assumed.most) return false;
    const int64_t mask = assumed.multiple - 1;
    if ((assumed.multiple & mask) == 0) return (value & mask) == 0;  // a power of two, as most are: no division
    return value % assumed.multiple == 0;
}

bool all_hold(const std::vector<Linear> &conditions, const int64_t *symbols) {
    return std::all_of(conditions.begin(), conditions.end(), [&](const Linear &c) { return holds(c, symbols); });
}

}  // namespace

bool matches(const Specialization &s, PyObject *const *values, Frame &frame) {
    const size_t count = s.arguments.size();
    for (size_t i = 0; i < count; ++i) {
        const ArgumentRule &rule = s.arguments[i];
        switch (rule.kind) {
            case Kind::Array:
                if (!match_array(rule, values[i], &frame.args[i], frame.symbols.get())) return false;
                break;
            case Kind::Scalar:
                if (!match_scalar(rule, values[i], frame.scalars[i], &frame.args[i], frame.symbols.get())) return false;
                break;
            case Kind::Generator:
                if (!match_generator(rule, values[i], &frame.args[i], frame)) return false;
                break;
            case Kind::Record:
                if (!match_record(rule, values, i)) return false;
                frame.args[i] = nullptr;
                break;
            case Kind::DeviceArray:
                if (!match_device_array(rule, values[i], &frame.args[i], frame.symbols.get())) return false;
                break;
            case Kind::Constant:
                if (!same_value(rule.value.get(), values[i])) return false;
                frame.args[i] = nullptr;
        }
    }
    for (const Assumed &assumed : s.assumed) {
        if (!holds(assumed, frame.symbols.get())) return false;
    }
    if (!all_hold(s.assumes, frame.symbols.get())) return false;
    if (!s.unless.empty() && all_hold(s.unless, frame.symbols.get())) return false;
    for (const auto &[left, right] : s.apart) {
        if (meet(s.arguments[left].kind, values[left], values[right], frame.args[left], frame.args[right])) return false;
    }
    return guards_hold(s.guards);
}

}  // namespace dcpy
