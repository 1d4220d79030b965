// What the bindings of Python extension modules are made of: types of arguments that pybind11 chooses overloads by,
// checks of sizes and memory, results, and failures. Included by generated code only, which needs no dcpy.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace dcpy {

namespace py = pybind11;

// A dtype: its name is NumPy's, its value is kept as C has it.
#define DCPY_KIND(kind, word)                                                                                          \
    struct kind##_ {                                                                                                   \
        using type = word;                                                                                             \
        static constexpr const char *name = #kind;                                                                     \
        static constexpr auto shown = py::detail::const_name(#kind);                                                   \
    }
struct two_floats {
    float real, imag;
};
struct two_doubles {
    double real, imag;
};
DCPY_KIND(bool, unsigned char);
DCPY_KIND(int8, int8_t);
DCPY_KIND(int16, int16_t);
DCPY_KIND(int32, int32_t);
DCPY_KIND(int64, int64_t);
DCPY_KIND(uint8, uint8_t);
DCPY_KIND(uint16, uint16_t);
DCPY_KIND(uint32, uint32_t);
DCPY_KIND(uint64, uint64_t);
DCPY_KIND(float16, uint16_t);
DCPY_KIND(float32, float);
DCPY_KIND(float64, double);
DCPY_KIND(complex64, two_floats);
DCPY_KIND(complex128, two_doubles);

template <class Kind>
const py::dtype &dtype_of()
{
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::dtype> kept;
    return kept.call_once_and_store_result([] { return py::dtype(std::string(Kind::name)); }).get_stored();
}

// An array of exactly this dtype and rank.
template <class Kind, int Rank>
struct Array {
    py::array array;
    py::object given;

    int64_t size(int axis) const { return array.shape(axis); }

    // For what is written: the caller's own memory.
    void written(const char *name, int order)
    {
        if (!array.writeable()) throw py::value_error(std::string(name) + " is read-only, and the function writes to it");
        if (!(array.flags() & order))
            throw py::value_error(std::string(name) + " must be contiguous: the function writes to it; copy it first");
    }

    // For what the caller sees afterwards: packed as the function takes it.
    void seen(const char *name, int order)
    {
        if (array.flags() & order) return;
        throw py::value_error(std::string(name) + " must be contiguous: the function gives its memory back; copy it first");
    }

    // For what is only read: a packed copy where the caller's array is none.
    void read(const char *, int order)
    {
        if (!(array.flags() & order)) array = py::array::ensure(array, order);
        if (!array) throw py::error_already_set();
    }

    void *data() const { return const_cast<void *>(array.data()); }
};

// A number: Python's, of the same kind or a smaller one, or NumPy's of exactly this dtype.
template <class Kind>
struct Number {
    typename Kind::type value;
};

inline int rank_of_kind(char kind) { return kind == 'b' ? 0 : kind == 'i' || kind == 'u' ? 1 : kind == 'f' ? 2 : 3; }

template <class Kind>
bool load_number(py::handle source, Number<Kind> &found)
{
    PyObject *const given = source.ptr();
    int rank = PyBool_Check(given) ? 0 : PyLong_CheckExact(given) ? 1 : PyFloat_CheckExact(given) ? 2 : -1;
    if (rank < 0 && PyComplex_CheckExact(given)) rank = 3;
    const py::dtype &wanted = dtype_of<Kind>();
    py::object number = py::reinterpret_borrow<py::object>(source);
    if (rank >= 0) {
        if (rank > rank_of_kind(wanted.kind())) return false;
        number = py::reinterpret_steal<py::object>(PyObject_CallOneArg(wanted.attr("type").ptr(), given));
        if (!number) return PyErr_Clear(), false;  // an integer that does not fit
    } else if (!py::hasattr(source, "dtype")) {
        return false;
    }
    const py::array array = py::array::ensure(number);
    if (!array || array.ndim() != 0 || !array.dtype().equal(wanted)) return PyErr_Clear(), false;
    std::memcpy(&found.value, array.data(), sizeof found.value);
    return true;
}

// Refuses a size that is not what others, or the declaration, say.
inline void require_size(const char *array, int axis, int64_t found, int64_t wanted)
{
    if (found == wanted) return;
    throw py::value_error("axis " + std::to_string(axis) + " of " + array + " has " + std::to_string(found)
        + " elements, not " + std::to_string(wanted));
}

inline void require(bool holds, const char *message)
{
    if (!holds) throw py::value_error(message);
}

// Refuses two arrays in the same memory, of which one is written.
inline void require_apart(const py::array &a, const char *name, const py::array &b, const char *other)
{
    const char *const first = static_cast<const char *>(a.data()), *const second = static_cast<const char *>(b.data());
    if (first < second + b.nbytes() && second < first + a.nbytes())
        throw py::value_error(std::string(name) + " and " + other + " share memory, and one of them is written: copy one");
}

// What a function calls while it runs: here only the question whether a signal has come (codegen/include/python.h).
struct Interrupts {
    int32_t (*call)(Interrupts *, int64_t, int64_t *) = &Interrupts::ask;
    std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();

    static int32_t ask(Interrupts *self, int64_t, int64_t *pace)  // how many iterations are left; pace[1]: how many were
    {
        const auto now = std::chrono::steady_clock::now();
        const double seconds = std::chrono::duration<double>(now - self->last).count();
        self->last = now;
        const int64_t before = pace[1] > 0 ? pace[1] : 1;
        const double wanted = before*0.05/(seconds > 1e-9 ? seconds : 1e-9);
        pace[0] = pace[1] = wanted > 2.0*before ? 2*before : wanted < 1 ? 1 : static_cast<int64_t>(wanted);
        const py::gil_scoped_acquire held;
        return PyErr_CheckSignals() != 0;
    }
};

// Memory that a function has made, with its sizes; freed here, or by the array that takes it.
template <int Rank>
struct Owned {
    void *memory = nullptr;
    int64_t shape[Rank + 1] = {};

    Owned() = default;
    Owned(const Owned &) = delete;
    ~Owned() { std::free(memory); }
};

inline std::vector<py::ssize_t> sizes_at(const int64_t *numbers, int rank) { return {numbers, numbers + rank}; }

// Strides in bytes of a packed array whose axes are named from the slowest to the fastest.
inline std::vector<py::ssize_t> strides_of(const std::vector<py::ssize_t> &shape, const std::vector<int> &axes, int itemsize)
{
    std::vector<py::ssize_t> strides(shape.size());
    py::ssize_t step = itemsize;
    for (size_t k = axes.size(); k-- > 0; step *= shape[axes[k]] > 0 ? shape[axes[k]] : 1) strides[axes[k]] = step;
    return strides;
}

template <class Kind>
py::array fresh(const int64_t *numbers, const std::vector<int> &axes)
{
    const std::vector<py::ssize_t> shape = sizes_at(numbers, static_cast<int>(axes.size()));
    return py::array(dtype_of<Kind>(), shape, strides_of(shape, axes, sizeof(typename Kind::type)));
}

template <class Kind, int Rank>
py::array take(Owned<Rank> &owned, const std::vector<int> &axes)
{
    const std::vector<py::ssize_t> shape = sizes_at(owned.shape, Rank);
    if (owned.memory == nullptr) return py::array(dtype_of<Kind>(), shape);
    const py::capsule keeper(owned.memory, [](void *memory) { std::free(memory); });
    void *const memory = owned.memory;
    owned.memory = nullptr;
    return py::array(dtype_of<Kind>(), shape, strides_of(shape, axes, sizeof(typename Kind::type)), memory, keeper);
}

// A view of an argument: an offset in bytes, sizes, strides in bytes.
template <class Kind>
py::array view(const py::array &whole, const int64_t *numbers, int rank)
{
    const char *const start = static_cast<const char *>(whole.data()) + numbers[0];
    return py::array(dtype_of<Kind>(), sizes_at(numbers + 1, rank), sizes_at(numbers + 1 + rank, rank), start, whole);
}

// NumPy's scalar, or Python's number.
template <class Kind>
py::object scalar(const Number<Kind> &found, bool python)
{
    const py::array array(dtype_of<Kind>(), std::vector<py::ssize_t>{}, &found.value);
    return python ? py::object(array.attr("item")()) : py::object(array[py::tuple()]);
}

struct Check {
    const char *exception, *message;
};

inline py::object exception_of(const std::string &name)
{
    if (name == "LinAlgError") return py::module_::import("numpy.linalg").attr("LinAlgError");
    if (name == "AxisError") return py::module_::import("numpy.exceptions").attr("AxisError");
    if (name == "FrozenInstanceError") return py::module_::import("dataclasses").attr("FrozenInstanceError");
    return py::module_::import("builtins").attr(name == "UFuncTypeError" ? "TypeError" : name.c_str());
}

// Raises what a status means, with the numbers of the failure; what is a warning is given, and the call goes on.
inline void fail(const Check &check, const int64_t *numbers)
{
    std::string message = check.message;
    for (int k = 0; k < 4; ++k) {
        const std::string place = "{" + std::to_string(k) + "}";
        for (size_t at; (at = message.find(place)) != std::string::npos;)
            message.replace(at, place.size(), std::to_string(numbers[k]));
    }
    const py::object category = exception_of(check.exception);
    if (!PyObject_IsSubclass(category.ptr(), PyExc_Warning)) {
        PyErr_SetString(category.ptr(), message.c_str());
        throw py::error_already_set();
    }
    if (PyErr_WarnEx(category.ptr(), message.c_str(), 1) != 0) throw py::error_already_set();
}

}  // namespace dcpy

namespace pybind11::detail {

template <class Kind, int Rank>
struct type_caster<dcpy::Array<Kind, Rank>> {
    using Taken = dcpy::Array<Kind, Rank>;
    PYBIND11_TYPE_CASTER(Taken, Kind::shown + const_name("[") + const_name<Rank>() + const_name("-d]"));

    bool load(handle source, bool)
    {
        if (!isinstance<array>(source)) return false;
        array found = reinterpret_borrow<array>(source);
        if (found.ndim() != Rank || !found.dtype().equal(dcpy::dtype_of<Kind>())) return false;
        value.given = found;
        value.array = std::move(found);
        return true;
    }
};

template <class Kind>
struct type_caster<dcpy::Number<Kind>> {
    using Taken = dcpy::Number<Kind>;
    PYBIND11_TYPE_CASTER(Taken, Kind::shown);

    bool load(handle source, bool) { return dcpy::load_number(source, value); }
};

}  // namespace pybind11::detail
