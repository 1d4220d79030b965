// Calls with arrays of a device: their stream, the order of other streams, and results of the caller's kind.

#include "signature.h"
#include "tensors.h"

namespace dcpy {

namespace {

thread_local DeviceCall *current = nullptr;
thread_local void *given = nullptr;  // by dcpy.gpu.stream

}  // namespace

DeviceCall *current_call() { return current; }

DeviceCall::DeviceCall(Home &home) : home(home), stream(given), is_known(given != nullptr), outer(current) {
    current = this;
}

DeviceCall::~DeviceCall() { current = outer; }

// `dcpy.runtime.gpu.refusals` says in words which argument it was.
static void explain(PyObject *name, PyObject *value) {
    const Object error = take_exception();
    const Object module(PyImport_ImportModule("dcpy.runtime.gpu.arrays"));
    Object better(module ? PyObject_CallMethod(module.get(), "refused", "OOO", name, value, error.get()) : nullptr);
    if (better) raise(std::move(better));
}

bool DeviceCall::take_own(const DeviceArray &array) {
    if (array.memory->home != &home) {
        PyErr_Format(PyExc_ValueError, "it is on %S, but the program runs on %S", array.memory->home->device, home.device);
        return false;
    }
    if (!stream) {
        stream = array.memory->stream;
        is_known = true;
    }
    if (!first) first = home.library_of(device_array_type);
    return first != nullptr;
}

bool DeviceCall::take_foreign(PyObject *value, Library &library, Object &found) {
    for (const auto &[known, array] : imported) {
        if (known == value) {
            found = array;
            return true;
        }
    }
    void *theirs = nullptr;
    if (!stream_of(home, value, library, &theirs)) return false;
    if (!first) first = &library;
    if (!stream) {
        stream = theirs ? theirs : home.table->own_stream(home.table);
        is_known = theirs != nullptr;
    } else if (!theirs) {
        is_known = false;
    }
    void *same = nullptr;
    found = import_tensor(home, value, library, stream, &same);
    if (theirs && theirs != stream) behind.push_back(theirs);
    if (found) imported.emplace_back(value, found);  // which keeps the value, too
    return static_cast<bool>(found);
}

int DeviceCall::import_one(PyObject *value, Object &found) {
    if (is_device_array(value)) {
        found = Object::borrow(value);
        return take_own(*as_device_array(value)) ? 1 : -1;
    }
    Library *library = nullptr;
    const int is_there = is_on_device(home, value, &library);
    if (is_there <= 0) return is_there;
    return take_foreign(value, *library, found) ? 1 : -1;
}

bool DeviceCall::import_named(PyObject *value, PyObject *name, Object &found) {
    if (import_one(value, found) >= 0) return true;
    explain(name, value);
    return false;
}

bool DeviceCall::begin(PyObject *const *values, size_t count) {
    if (!stream) stream = home.table->own_stream(home.table);
    for (size_t i = 0; i < count; ++i) {
        if (!is_device_array(values[i])) continue;
        Memory &memory = *as_device_array(values[i])->memory;
        if (memory.stream == stream) continue;
        if (!home.check(home.table->order(home.table, memory.stream, stream))) return false;
        memory.stream = stream;
    }
    home.busy->emplace(stream, 1);
    return true;
}

bool DeviceCall::end() {
    for (void *other : behind) {
        if (!home.check(home.table->order(home.table, stream, other))) return false;
    }
    if (is_known) return true;
    const Object waited(PyObject_CallMethod(home.device, "wait_for", "K",
                                            static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream))));
    return static_cast<bool>(waited);
}

const Object &DeviceCall::allocate() const {
    static const Object none;
    return first ? first->allocate : none;
}

Object DeviceCall::uploaded(Object result) const {
    if (!result || Py_TYPE(result.get()) != &PyArray_Type) return result;
    PyObject *const from = allocate() ? allocate().get() : Py_None;
    return Object(PyObject_CallMethod(home.device, "upload", "OKO", result.get(),
                                      static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream)), from));
}

Object DeviceCall::deliver(Object result) const {
    if (!result || !first || !first->convert || !is_device_array(result.get())) return result;
    return Object(PyObject_CallOneArg(first->convert.get(), result.get()));
}

PyObject *set_stream(PyObject *, PyObject *handle) {
    const auto before = reinterpret_cast<uintptr_t>(given);
    void *const next = handle == Py_None ? nullptr : PyLong_AsVoidPtr(handle);
    if (PyErr_Occurred()) return nullptr;
    given = next;
    return before ? PyLong_FromUnsignedLongLong(before) : Py_NewRef(Py_None);
}

PyMethodDef stream_methods[] = {
    {"set_stream", set_stream, METH_O, "The stream of this thread's calls, None: that of their arrays. Gives the one before."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace dcpy
