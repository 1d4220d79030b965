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

// `dcpy.runtime.devices.refusals` says in words which argument it was.
static void explain(PyObject *name, PyObject *value) {
    const Object error = take_exception();
    const Object module(PyImport_ImportModule("dcpy.runtime.devices.arrays"));
    Object better(module ? PyObject_CallMethod(module.get(), "refused", "OOO", name, value, error.get()) : nullptr);
    if (better) raise(std::move(better));
}

int DeviceCall::import_all(PyObject **values, size_t count, Object *owned, PyObject *const *names) {
    int arrays = 0;
    for (size_t i = 0; i < count; ++i) {
        PyObject *const value = values[i];
        if (is_device_array(value)) {
            ++arrays;
            if (as_device_array(value)->memory->home != &home) {
                PyErr_Format(PyExc_ValueError, "it is on %S, but the program runs on %S",
                             as_device_array(value)->memory->home->device, home.device);
                explain(names[i], value);
                return -1;
            }
            if (!stream) {
                stream = as_device_array(value)->memory->stream;
                is_known = true;
            }
            if (!first) first = home.library_of(device_array_type);
            if (!first) return -1;
            continue;
        }
        Library *library = nullptr;
        const int found = is_on_device(home, value, &library);
        void *theirs = nullptr;
        if (found == 0) continue;
        bool is_taken = found > 0 && stream_of(home, value, *library, &theirs);
        if (is_taken) {
            if (!first) first = library;
            if (!stream) {
                stream = theirs ? theirs : home.table->own_stream(home.table);
                is_known = theirs != nullptr;
            } else if (!theirs) {
                is_known = false;
            }
            void *same = nullptr;
            owned[i] = import_tensor(home, value, *library, stream, &same);
            is_taken = static_cast<bool>(owned[i]);
            if (theirs && theirs != stream) behind.push_back(theirs);
        }
        if (!is_taken) {
            explain(names[i], value);
            return -1;
        }
        values[i] = owned[i].get();
        ++arrays;
    }
    return arrays;
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

Object DeviceCall::uploaded(Object result) const {
    if (!result || Py_TYPE(result.get()) != &PyArray_Type) return result;
    return Object(PyObject_CallMethod(home.device, "upload", "O", result.get()));
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
