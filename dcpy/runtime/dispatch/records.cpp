// Records: objects and tuples whose parts are the arguments. The rules for them, and the fields that a call sets.

#include "signature.h"

#include <string_view>

namespace dcpy {

bool match_record(const ArgumentRule &rule, PyObject *const *values, size_t index) {
    PyObject *value = values[index];
    if (reinterpret_cast<PyObject *>(Py_TYPE(value)) != rule.value.get()) return false;
    if (rule.length >= 0 && PyTuple_GET_SIZE(value) != rule.length) return false;
    if (rule.same >= 0 && values[rule.same] != value) return false;
    for (const int other : rule.apart) {
        if (values[other] == value) return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rule.strangers.get()); ++i) {
        if (PyTuple_GET_ITEM(rule.strangers.get(), i) == value) return false;
    }
    return true;
}

// ("record", class, length or -1, index of the argument that is the same object or -1, indices of those that are not,
// objects that it is not)
bool parse_record(PyObject *encoded, ArgumentRule &rule) {
    const char *kind = nullptr;
    PyObject *type = nullptr;
    PyObject *apart = nullptr;
    PyObject *strangers = nullptr;
    if (!PyArg_ParseTuple(encoded, "sO!niO!O!", &kind, &PyType_Type, &type, &rule.length, &rule.same, &PyTuple_Type,
                          &apart, &PyTuple_Type, &strangers)) {
        return false;
    }
    rule.kind = Kind::Record;
    rule.value = Object::borrow(type);
    rule.strangers = Object::borrow(strangers);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(apart); ++i) {
        rule.apart.push_back(static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(apart, i))));
    }
    return !PyErr_Occurred();
}

// ("field", index of the argument, name) or ("item", index of the argument, position)
bool parse_part(PyObject *encoded, Source &source) {
    const char *kind = nullptr;
    PyObject *step = nullptr;
    if (!PyArg_ParseTuple(encoded, "siO", &kind, &source.parent, &step)) return false;
    const bool is_field = std::string_view(kind) == "field" && PyUnicode_Check(step);
    if (is_field) source.name = Object::borrow(step);
    if (!is_field) source.position = PyLong_AsSsize_t(step);
    return !PyErr_Occurred();
}

// (index of the argument, field, part over results, index of the result that says whether, or -1), ...
bool parse_effects(PyObject *encoded, std::vector<Effect> &effects) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(encoded); ++i) {
        Effect effect;
        PyObject *name = nullptr;
        PyObject *part = nullptr;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(encoded, i), "iUOi", &effect.object, &name, &part, &effect.when)) {
            return false;
        }
        effect.name = Object::borrow(name);
        effect.part = Object::borrow(part);
        effects.push_back(std::move(effect));
    }
    return true;
}

}  // namespace dcpy
