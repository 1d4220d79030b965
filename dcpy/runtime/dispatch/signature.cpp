// Parses specializations from plain tuples (see encoding.py). Runs once per specialization, never per call.

#include "signature.h"

#include <algorithm>
#include <string_view>

namespace dcpy {

namespace {

bool parse_extents(PyObject *encoded, std::vector<Extent> &extents) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(encoded); ++i) {
        Extent e{};
        int first = 0;
        int not_one = 0;
        long long constant = 0;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(encoded, i), "ippL", &e.slot, &first, &not_one, &constant)) return false;
        e.first = first;
        e.not_one = not_one;
        e.constant = constant;
        extents.push_back(e);
    }
    return true;
}

// Axes of an array: each once.
bool parse_axes(PyObject *encoded, std::vector<int> &axes) {
    for (Py_ssize_t i = 0; encoded && i < PyTuple_GET_SIZE(encoded); ++i) {
        axes.push_back(static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(encoded, i))));
    }
    return !PyErr_Occurred();
}

bool parse_array(PyObject *encoded, ArgumentRule &rule) {
    const char *kind = nullptr;
    const char *order = nullptr;
    PyObject *sizes = nullptr;
    PyObject *strides = nullptr;
    int written = 0;
    int on_device = 0;
    PyObject *axes = nullptr;
    if (!PyArg_ParseTuple(encoded, "siO!sO!p|pO!", &kind, &rule.type, &PyTuple_Type, &sizes, &order, &PyTuple_Type,
                          &strides, &written, &on_device, &PyTuple_Type, &axes)) {
        return false;
    }
    Object dtype(reinterpret_cast<PyObject *>(PyArray_DescrFromType(rule.type)));
    if (!dtype) return false;
    rule.kind = on_device ? Kind::DeviceArray : Kind::Array;
    rule.rank = static_cast<int>(PyTuple_GET_SIZE(sizes));
    rule.itemsize = PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr *>(dtype.get()));
    rule.flags = NPY_ARRAY_ALIGNED | (written ? NPY_ARRAY_WRITEABLE : 0);
    if (*order == 'C') rule.flags |= NPY_ARRAY_C_CONTIGUOUS;
    if (*order == 'F') rule.flags |= NPY_ARRAY_F_CONTIGUOUS;
    return parse_extents(sizes, rule.sizes) && parse_extents(strides, rule.strides) && parse_axes(axes, rule.axes);
}

bool parse_scalar(PyObject *encoded, ArgumentRule &rule) {
    const char *kind = nullptr;
    int weak = 0;
    int converts = 0;
    int first = 0;
    if (!PyArg_ParseTuple(encoded, "sippip", &kind, &rule.type, &weak, &converts, &rule.symbol.slot, &first)) {
        return false;
    }
    rule.kind = Kind::Scalar;
    rule.weak = weak;
    rule.converts = converts;
    rule.symbol.first = first;
    return true;
}

bool parse_argument(PyObject *encoded, ArgumentRule &rule) {
    PyObject *kind = PyTuple_Check(encoded) && PyTuple_GET_SIZE(encoded) ? PyTuple_GET_ITEM(encoded, 0) : nullptr;
    if (kind && PyUnicode_Check(kind)) {
        if (PyUnicode_CompareWithASCIIString(kind, "array") == 0) return parse_array(encoded, rule);
        if (PyUnicode_CompareWithASCIIString(kind, "scalar") == 0) return parse_scalar(encoded, rule);
        if (PyUnicode_CompareWithASCIIString(kind, "record") == 0) return parse_record(encoded, rule);
        const bool is_constant = PyUnicode_CompareWithASCIIString(kind, "constant") == 0;
        const bool is_generator = PyUnicode_CompareWithASCIIString(kind, "generator") == 0;
        if ((is_constant || is_generator) && PyTuple_GET_SIZE(encoded) == 2) {
            rule.kind = is_constant ? Kind::Constant : Kind::Generator;
            rule.value = Object::borrow(PyTuple_GET_ITEM(encoded, 1));
            return true;
        }
    }
    PyErr_Format(PyExc_ValueError, "not an encoded argument: %R", encoded);
    return false;
}

bool parse_result(PyObject *encoded, ResultRule &rule) {
    const char *kind = nullptr;
    PyObject *value = nullptr;
    int python = 0;
    int on_device = 0;
    PyObject *axes = nullptr;
    if (!PyArg_ParseTuple(encoded, "siiipO|pO!", &kind, &rule.index, &rule.type, &rule.rank, &python, &value, &on_device,
                          &PyTuple_Type, &axes)) {
        return false;
    }
    if (!parse_axes(axes, rule.axes)) return false;
    const char *kinds[] = {"fresh", "scalar", "argument", "view", "constant", "owned", "shown"};
    for (int k = 0; k < 7; ++k) {
        if (std::string_view(kind) != kinds[k]) continue;
        rule.kind = static_cast<Outcome>(k);
        rule.python = python && rule.kind == Outcome::Scalar;
        rule.read_only = python && rule.kind != Outcome::Scalar;
        rule.on_device = on_device;
        rule.value = Object::borrow(value);
        if (rule.type == NPY_NOTYPE) return true;
        rule.dtype = Object(reinterpret_cast<PyObject *>(PyArray_DescrFromType(rule.type)));
        return static_cast<bool>(rule.dtype);
    }
    PyErr_Format(PyExc_ValueError, "not an encoded result: %R", encoded);
    return false;
}

bool parse_guard(PyObject *encoded, Guard &guard) {
    PyObject *source = nullptr;
    PyObject *expected = nullptr;
    if (!PyArg_ParseTuple(encoded, "OO", &source, &expected)) return false;
    guard.expected = Object::borrow(expected);
    return parse_source(source, guard.source);
}

bool parse_linear(PyObject *encoded, Linear &condition) {
    const Py_ssize_t size = PyTuple_Check(encoded) ? PyTuple_GET_SIZE(encoded) : 0;
    if (size == 0) {
        PyErr_Format(PyExc_ValueError, "not an encoded condition: %R", encoded);
        return false;
    }
    condition.constant = PyLong_AsLongLong(PyTuple_GET_ITEM(encoded, 0));
    if (PyErr_Occurred()) return false;
    for (Py_ssize_t i = 1; i < size; ++i) {
        int slot = -1;
        long long factor = 0;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(encoded, i), "iL", &slot, &factor)) return false;
        condition.terms.emplace_back(slot, factor);
    }
    return true;
}

bool parse_assumed(PyObject *encoded, Assumed &assumed) {
    long long least = 0, most = 0, multiple = 1;
    if (!PyArg_ParseTuple(encoded, "iLLL", &assumed.slot, &least, &most, &multiple)) return false;
    assumed.least = least;
    assumed.most = most;
    assumed.multiple = multiple;
    return true;
}

bool parse_pair(PyObject *encoded, std::pair<int, int> &pair) {
    return PyArg_ParseTuple(encoded, "ii", &pair.first, &pair.second);
}

template <typename T>
bool parse_all(PyObject *encoded, std::vector<T> &items, bool (*parse)(PyObject *, T &)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(encoded); ++i) {
        if (!parse(PyTuple_GET_ITEM(encoded, i), items.emplace_back())) return false;
    }
    return true;
}

// How many numbers NAME_results writes: shapes of fresh arrays; offset, shape and strides of views.
size_t count_numbers(const std::vector<ResultRule> &results) {
    size_t count = 0;
    for (const ResultRule &r : results) {
        if (r.kind == Outcome::Fresh) count += r.rank;
        if (r.kind == Outcome::View || r.kind == Outcome::Shown) count += 1 + 2 * r.rank;
    }
    return count;
}

// A field of an object, or an item of a tuple.
Object fetch_part(PyObject *owner, const Source &source) {
    if (source.name) return Object(PyObject_GetAttr(owner, source.name.get()));
    if (PyTuple_Check(owner) && source.position < PyTuple_GET_SIZE(owner)) {
        return Object::borrow(PyTuple_GET_ITEM(owner, source.position));
    }
    PyErr_SetString(PyExc_TypeError, "not a tuple of that length");
    return Object();
}

}  // namespace

bool parse_source(PyObject *encoded, Source &source) {
    const char *kind = nullptr;
    PyObject *container = nullptr;
    PyObject *name = nullptr;
    PyObject *first = PyTuple_Check(encoded) && PyTuple_GET_SIZE(encoded) ? PyTuple_GET_ITEM(encoded, 0) : nullptr;
    if (first && PyUnicode_Check(first) && (PyUnicode_CompareWithASCIIString(first, "field") == 0 ||
                                            PyUnicode_CompareWithASCIIString(first, "item") == 0)) {
        return parse_part(encoded, source);
    }
    if (!PyArg_ParseTuple(encoded, "sO|U", &kind, &container, &name)) return false;
    const bool is_dict = std::string_view(kind) == "dict" && PyDict_Check(container) && name;
    const bool is_cell = std::string_view(kind) == "cell" && PyCell_Check(container) && !name;
    source.attribute = std::string_view(kind) == "attribute" && name;
    if (!is_dict && !is_cell && !source.attribute) {
        PyErr_Format(PyExc_ValueError, "not the source of a closure value: %R", encoded);
        return false;
    }
    source.container = Object::borrow(container);
    source.name = Object::borrow(name);
    return true;
}

Object Source::fetch(PyObject *const *values) const {
    if (parent >= 0) return fetch_part(values[parent], *this);
    if (attribute) return Object(PyObject_GetAttr(container.get(), name.get()));
    if (name) {
        PyObject *found = PyDict_GetItemWithError(container.get(), name.get());
        if (!found && !PyErr_Occurred()) PyErr_Format(PyExc_NameError, "name %R is not defined", name.get());
        return Object::borrow(found);
    }
    PyObject *found = PyCell_Get(container.get());
    if (!found) PyErr_SetString(PyExc_NameError, "a variable of an enclosing function is not bound yet");
    return Object(found);
}

std::unique_ptr<Specialization> parse_specialization(PyObject *encoded) {
    auto s = std::make_unique<Specialization>();
    PyObject *arguments, *closure, *apart, *results, *structure, *guards, *failure, *keepalive;
    PyObject *callbacks = Py_None;
    PyObject *assumes = nullptr;
    PyObject *unless = nullptr;
    PyObject *assumed = nullptr;
    unsigned long long entry, shapes;
    unsigned long long on_stream = 0;
    Py_ssize_t symbols;
    if (!PyArg_ParseTuple(encoded, "O!O!nO!O!OO!OKKOi|OO!O!O!K", &PyTuple_Type, &arguments, &PyTuple_Type, &closure, &symbols,
                          &PyTuple_Type, &apart, &PyTuple_Type, &results, &structure, &PyTuple_Type, &guards, &failure,
                          &entry, &shapes, &keepalive, &s->priority, &callbacks, &PyTuple_Type, &assumes,
                          &PyTuple_Type, &unless, &PyTuple_Type, &assumed, &on_stream)) {
        return nullptr;
    }
    if (!parse_all(arguments, s->arguments, parse_argument) || !parse_all(closure, s->closure, parse_source) ||
        !parse_all(apart, s->apart, parse_pair) || !parse_all(results, s->results, parse_result) ||
        !parse_all(guards, s->guards, parse_guard)) {
        return nullptr;
    }
    if (assumes && !parse_all(assumes, s->assumes, parse_linear)) return nullptr;
    if (unless && !parse_all(unless, s->unless, parse_linear)) return nullptr;
    if (assumed && !parse_all(assumed, s->assumed, parse_assumed)) return nullptr;
    s->symbols = static_cast<size_t>(std::max<Py_ssize_t>(symbols, 0));
    s->numbers = count_numbers(s->results);
    for (const ResultRule &rule : s->results) s->owned += rule.kind == Outcome::Owned;
    if (PyDict_Check(structure)) {
        PyObject *effects = PyDict_GetItemString(structure, "effects");
        PyObject *returned = PyDict_GetItemString(structure, "returned");
        if (!effects || !PyTuple_Check(effects) || !returned) {
            PyErr_Format(PyExc_ValueError, "not an encoded structure: %R", structure);
            return nullptr;
        }
        if (!parse_effects(effects, s->effects)) return nullptr;
        structure = returned;
    }
    s->structure = Object::borrow(structure);
    s->failure = Object::borrow(failure);
    s->keepalive = Object::borrow(keepalive);
    if (callbacks != Py_None) s->callbacks = Object::borrow(callbacks);
    s->entry = reinterpret_cast<Entry>(static_cast<uintptr_t>(entry));
    s->shapes = reinterpret_cast<Results>(static_cast<uintptr_t>(shapes));
    s->on_stream = reinterpret_cast<Stream>(static_cast<uintptr_t>(on_stream));
    if (const char *what = inconsistency(*s)) {
        PyErr_Format(PyExc_ValueError, "an encoded specialization has a wrong %s: %R", what, encoded);
        return nullptr;
    }
    return s;
}

int Specialization::traverse(visitproc visit, void *arg) const {
    for (const ArgumentRule &rule : arguments) {
        Py_VISIT(rule.value.get());
        Py_VISIT(rule.strangers.get());
    }
    for (const Source &source : closure) Py_VISIT(source.container.get());
    for (const ResultRule &rule : results) {
        Py_VISIT(rule.value.get());
        Py_VISIT(rule.dtype.get());
    }
    for (const Guard &guard : guards) {
        Py_VISIT(guard.source.container.get());
        Py_VISIT(guard.source.name.get());
        Py_VISIT(guard.expected.get());
    }
    Py_VISIT(structure.get());
    for (const Effect &effect : effects) Py_VISIT(effect.part.get());
    Py_VISIT(failure.get());
    Py_VISIT(callbacks.get());
    Py_VISIT(keepalive.get());
    return 0;
}

}  // namespace dcpy
