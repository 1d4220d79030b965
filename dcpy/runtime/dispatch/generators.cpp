// Random generators as arguments: NumPy passes them to C as a struct of pointers, and draws with a lock held.

#include <algorithm>

#include "signature.h"

namespace dcpy {

namespace {

// Names are made once, and live as long as the process.
struct Names {
    PyObject *bits = PyUnicode_InternFromString("bit_generator");
    PyObject *capsule = PyUnicode_InternFromString("capsule");
    PyObject *lock = PyUnicode_InternFromString("lock");
    PyObject *acquire = PyUnicode_InternFromString("acquire");
    PyObject *release = PyUnicode_InternFromString("release");
};

const Names &names() {
    static const Names all;
    return all;
}

bool call_method(PyObject *object, PyObject *name) {
    return static_cast<bool>(Object(PyObject_CallMethodNoArgs(object, name)));
}

}  // namespace

bool match_generator(const ArgumentRule &rule, PyObject *value, void **arg, Frame &frame) {
    if (reinterpret_cast<PyObject *>(Py_TYPE(value)) != rule.value.get()) return false;
    const Object bits(PyObject_GetAttr(value, names().bits));
    const Object capsule(bits ? PyObject_GetAttr(bits.get(), names().capsule) : nullptr);
    Object lock(capsule ? PyObject_GetAttr(bits.get(), names().lock) : nullptr);
    *arg = lock ? PyCapsule_GetPointer(capsule.get(), "BitGenerator") : nullptr;
    if (!*arg) {
        PyErr_Clear();
        return false;
    }
    frame.locks.push_back(std::move(lock));  // the generator keeps its bits alive
    return true;
}

Locks::Locks(const Frame &frame) {
    for (const Object &lock : frame.locks) locks_.push_back(lock.get());
    std::sort(locks_.begin(), locks_.end());
    locks_.erase(std::unique(locks_.begin(), locks_.end()), locks_.end());
}

bool Locks::acquire() {
    for (; held_ < locks_.size(); ++held_) {
        if (!call_method(locks_[held_], names().acquire)) return false;
    }
    return true;
}

// What is raised already is kept.
void Locks::release() {
    if (held_ == 0) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (held_ > 0) {
        if (!call_method(locks_[--held_], names().release)) PyErr_WriteUnraisable(locks_[held_]);
    }
    PyErr_Restore(type, value, traceback);
}

}  // namespace dcpy
