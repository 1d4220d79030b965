// Random generators as arguments: NumPy passes them to C as a struct of pointers, and draws with a lock held.

#include <algorithm>

#include "signature.h"

namespace dcpy {

namespace {

bool unlock(PyObject *lock) { return static_cast<bool>(Object(PyObject_CallMethod(lock, "release", nullptr))); }

}  // namespace

bool match_generator(const ArgumentRule &rule, PyObject *value, void **arg, Frame &frame) {
    if (reinterpret_cast<PyObject *>(Py_TYPE(value)) != rule.value.get()) return false;
    const Object bits(PyObject_GetAttrString(value, "bit_generator"));
    const Object capsule(bits ? PyObject_GetAttrString(bits.get(), "capsule") : nullptr);
    Object lock(capsule ? PyObject_GetAttrString(bits.get(), "lock") : nullptr);
    *arg = lock ? PyCapsule_GetPointer(capsule.get(), "BitGenerator") : nullptr;
    if (!*arg) {
        PyErr_Clear();
        return false;
    }
    frame.locks.push_back(std::move(lock));  // the generator keeps its bits alive
    return true;
}

Locked::Locked(Frame &frame) {
    if (frame.locks.empty()) return;
    for (const Object &lock : frame.locks) locks_.push_back(lock.get());
    std::sort(locks_.begin(), locks_.end());
    locks_.erase(std::unique(locks_.begin(), locks_.end()), locks_.end());
    for (; held_ < locks_.size(); ++held_) {
        if (!Object(PyObject_CallMethod(locks_[held_], "acquire", nullptr))) return;
    }
}

// What the program has raised is kept while locks are released.
Locked::~Locked() {
    if (held_ == 0) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (held_ > 0) {
        if (!unlock(locks_[--held_])) PyErr_WriteUnraisable(locks_[held_]);
    }
    PyErr_Restore(type, value, traceback);
}

}  // namespace dcpy
