// Memory of a device, arrays over it, and what Python sees of them.

#include "tensors.h"

#include <structmember.h>

#include "dlpack.h"

namespace dcpy {

PyTypeObject *device_array_type = nullptr;
PyTypeObject *home_type = nullptr;

Library *Home::library_of(PyTypeObject *type) {
    const auto found = libraries->find(type);
    if (found != libraries->end()) return &found->second;
    const Object answer(PyObject_CallMethod(device, "library_of", "O", type));
    PyObject *stream, *convert, *allocate;
    int is_immutable;
    if (!answer || !PyArg_ParseTuple(answer.get(), "OOOp", &stream, &convert, &allocate, &is_immutable)) return nullptr;
    Library library;
    library.is_immutable = is_immutable != 0;
    library.type = Object::borrow(reinterpret_cast<PyObject *>(type));
    if (stream != Py_None) library.stream = Object::borrow(stream);
    if (convert != Py_None) library.convert = Object::borrow(convert);
    if (allocate != Py_None) library.allocate = Object::borrow(allocate);
    auto has = [&](const char *name) { return PyObject_HasAttrString(library.type.get(), name) == 1; };
    library.has_dlpack = has("__dlpack__") && has("__dlpack_device__");
    library.has_interface = has("__cuda_array_interface__");
    return &libraries->emplace(type, std::move(library)).first->second;
}

bool Home::check(int32_t status) const {
    if (status == DCPY_DONE) return true;
    const Object error(PyObject_CallMethod(device, "error", "is", status, table->message(table)));
    if (error) PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.get())), error.get());
    return false;
}

void Memory::drop() {
    if (--users > 0) return;
    PyObject *type, *value, *traceback;  // another library's code may run here, also while an exception is on its way
    PyErr_Fetch(&type, &value, &traceback);
    if (managed && is_versioned) {
        auto *tensor = static_cast<DLVersioned *>(managed);
        if (tensor->deleter) tensor->deleter(tensor);
    } else if (managed) {
        auto *tensor = static_cast<DLManaged *>(managed);
        if (tensor->deleter) tensor->deleter(tensor);
    } else if (lender) {
        if (stream != lent_on) home->table->order(home->table, stream, lent_on);  // the pool may lend it again at once
        lender = Object();
    } else if (place && !owner) {
        home->table->give(home->table, place, stream);  // a device that is lost has nothing to take back
    }
    Home *const last = home;
    delete this;
    Py_DECREF(reinterpret_cast<PyObject *>(last));
    PyErr_Restore(type, value, traceback);
}

int64_t count_of(const DeviceArray &array) {
    int64_t count = 1;
    for (int d = 0; d < array.rank; ++d) count *= array.sizes()[d];
    return count;
}

Object dtype_of(const DeviceArray &array) { return Object(reinterpret_cast<PyObject *>(PyArray_DescrFromType(array.type))); }

std::pair<uintptr_t, uintptr_t> memory_of(const DeviceArray &array) {
    auto low = reinterpret_cast<uintptr_t>(array.data);
    uintptr_t high = low + static_cast<uintptr_t>(array.itemsize);
    for (int d = 0; d < array.rank; ++d) {
        if (array.sizes()[d] == 0) return {0, 0};
        const int64_t reach = (array.sizes()[d] - 1) * array.strides()[d];
        (reach < 0 ? low : high) += static_cast<uintptr_t>(reach);
    }
    return {low, high};
}

namespace {

bool is_packed(const DeviceArray &array, bool in_c_order) {
    int64_t expected = array.itemsize;
    for (int k = 0; k < array.rank; ++k) {
        const int d = in_c_order ? array.rank - 1 - k : k;
        if (array.sizes()[d] != 1 && array.strides()[d] != expected) return false;
        expected *= array.sizes()[d];
    }
    return true;
}

// NumPy's flags of an array: what is packed, aligned, and may be written.
int flags_of(const DeviceArray &array, int alignment, bool writeable) {
    const bool is_empty = count_of(array) == 0;
    int flags = writeable ? NPY_ARRAY_WRITEABLE : 0;
    if (is_empty || is_packed(array, true)) flags |= NPY_ARRAY_C_CONTIGUOUS;
    if (is_empty || is_packed(array, false)) flags |= NPY_ARRAY_F_CONTIGUOUS;
    uint64_t all = reinterpret_cast<uint64_t>(array.data);
    for (int d = 0; d < array.rank; ++d) all |= array.sizes()[d] > 1 ? static_cast<uint64_t>(array.strides()[d]) : 0;
    if (is_empty || all % static_cast<uint64_t>(alignment) == 0) flags |= NPY_ARRAY_ALIGNED;
    return flags;
}

}  // namespace

Object make_array(Memory *memory, char *data, int type, int rank, const int64_t *sizes, const int64_t *strides,
                  bool writeable) {
    Object made(device_array_type->tp_alloc(device_array_type, 0));
    if (!made) {
        memory->drop();
        return made;
    }
    DeviceArray &array = *as_device_array(made.get());
    const Object dtype(reinterpret_cast<PyObject *>(PyArray_DescrFromType(type)));
    auto *descriptor = reinterpret_cast<PyArray_Descr *>(dtype.get());
    array.memory = memory;
    array.data = data;
    array.rank = rank;
    array.type = type;
    array.itemsize = PyDataType_ELSIZE(descriptor);
    array.layout = new std::vector<int64_t>(sizes, sizes + rank);
    array.layout->resize(2 * static_cast<size_t>(rank));
    int64_t step = array.itemsize;
    for (int d = rank - 1; d >= 0; --d) {
        (*array.layout)[static_cast<size_t>(rank + d)] = strides ? strides[d] : step;
        step *= sizes[d] > 0 ? sizes[d] : 1;
    }
    array.flags = flags_of(array, static_cast<int>(PyDataType_ALIGNMENT(descriptor)), writeable);
    return made;
}

// Memory of a library's pool; false with an exception set.
static bool borrow_memory(Memory &memory, const Object &allocate, int64_t bytes, void *stream) {
    const Object lent(PyObject_CallFunction(allocate.get(), "LKi", static_cast<long long>(bytes),
                                            static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream)),
                                            memory.home->number));
    unsigned long long place = 0;
    PyObject *holder = nullptr;
    if (!lent || !PyArg_ParseTuple(lent.get(), "KO", &place, &holder)) return false;
    memory.place = reinterpret_cast<void *>(static_cast<uintptr_t>(place));
    memory.lender = Object::borrow(holder);
    memory.lent_on = stream;
    return true;
}

Object allocate_array(Home &home, int type, int rank, const int64_t *sizes, const int64_t *strides, void *stream,
                      const Object &allocate) {
    const Object dtype(reinterpret_cast<PyObject *>(PyArray_DescrFromType(type)));
    int64_t bytes = PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr *>(dtype.get()));
    for (int d = 0; d < rank; ++d) {
        if (!__builtin_mul_overflow(bytes, sizes[d], &bytes)) continue;
        PyErr_NoMemory();
        return Object();
    }
    auto *memory = new Memory{&home};
    Py_INCREF(reinterpret_cast<PyObject *>(&home));
    memory->stream = stream;
    if (allocate ? !borrow_memory(*memory, allocate, bytes, stream)
                 : !home.check(home.table->take(home.table, bytes, stream, &memory->place))) {
        memory->drop();
        return Object();
    }
    return make_array(memory, static_cast<char *>(memory->place), type, rank, sizes, strides, true);
}

// --- Python's view -----------------------------------------------------------------------------------------------------

namespace {

Object as_tuple(const int64_t *numbers, int count) {
    Object tuple(PyTuple_New(count));
    for (int d = 0; tuple && d < count; ++d) PyTuple_SET_ITEM(tuple.get(), d, PyLong_FromLongLong(numbers[d]));
    return tuple;
}

const DeviceArray &of(PyObject *self) { return *as_device_array(self); }

PyObject *get_shape(PyObject *self, void *) { return as_tuple(of(self).sizes(), of(self).rank).release(); }
PyObject *get_strides(PyObject *self, void *) { return as_tuple(of(self).strides(), of(self).rank).release(); }
PyObject *get_dtype(PyObject *self, void *) { return dtype_of(of(self)).release(); }
PyObject *get_ndim(PyObject *self, void *) { return PyLong_FromLong(of(self).rank); }
PyObject *get_size(PyObject *self, void *) { return PyLong_FromLongLong(count_of(of(self))); }
PyObject *get_nbytes(PyObject *self, void *) { return PyLong_FromLongLong(count_of(of(self)) * of(self).itemsize); }
PyObject *get_place(PyObject *self, void *) { return PyLong_FromVoidPtr(of(self).data); }
PyObject *get_stream(PyObject *self, void *) { return PyLong_FromVoidPtr(of(self).memory->stream); }
PyObject *get_device(PyObject *self, void *) { return Py_NewRef(of(self).memory->home->device); }
PyObject *get_owner(PyObject *self, void *) {
    PyObject *owner = of(self).memory->owner.get();
    return Py_NewRef(owner ? owner : Py_None);
}
PyObject *get_writeable(PyObject *self, void *) { return PyBool_FromLong(of(self).flags & NPY_ARRAY_WRITEABLE); }
PyObject *get_aligned(PyObject *self, void *) { return PyBool_FromLong(of(self).flags & NPY_ARRAY_ALIGNED); }

PyObject *to_numpy(PyObject *self, PyObject *) {
    return PyObject_CallMethod(of(self).memory->home->device, "download", "O", self);
}

PyObject *no_host_array(PyObject *self, PyObject *, PyObject *) {
    return PyErr_Format(PyExc_TypeError, "this array is in the memory of %S: copy it with .numpy()",
                        of(self).memory->home->device);
}

PyObject *represent(PyObject *self) {
    const Object shape = as_tuple(of(self).sizes(), of(self).rank);
    const Object dtype = dtype_of(of(self));
    return PyUnicode_FromFormat("<dcpy.gpu.DeviceArray %S %S on %S>", dtype.get(), shape.get(),
                                of(self).memory->home->device);
}

Py_ssize_t length(PyObject *self) {
    if (of(self).rank > 0) return static_cast<Py_ssize_t>(of(self).sizes()[0]);
    PyErr_SetString(PyExc_TypeError, "len() of an array without dimensions");
    return -1;
}

void destroy_array(PyObject *self) {
    DeviceArray &array = *as_device_array(self);
    PyTypeObject *type = Py_TYPE(self);
    if (array.weak_references) PyObject_ClearWeakRefs(self);
    delete array.layout;
    if (array.memory) array.memory->drop();
    type->tp_free(self);
    Py_DECREF(type);
}

PyGetSetDef array_attributes[] = {
    {"shape", get_shape, nullptr, "Its sizes.", nullptr},
    {"strides", get_strides, nullptr, "In bytes.", nullptr},
    {"dtype", get_dtype, nullptr, "As NumPy has it.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"size", get_size, nullptr, "The number of elements.", nullptr},
    {"nbytes", get_nbytes, nullptr, "The bytes of all elements.", nullptr},
    {"writeable", get_writeable, nullptr, "Whether programs may write to it.", nullptr},
    {"aligned", get_aligned, nullptr, "Whether elements lie as their dtype asks for.", nullptr},
    {"device", get_device, nullptr, "Where it is.", nullptr},
    {"place", get_place, nullptr, "The address of its first element, on the device.", nullptr},
    {"stream", get_stream, nullptr, "The handle of the stream behind which it may be used.", nullptr},
    {"owner", get_owner, nullptr, "The array of another library that it stands for; None: its own.", nullptr},
    {"__cuda_array_interface__", export_interface, nullptr, "Version 3.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef array_methods[] = {
    {"numpy", to_numpy, METH_NOARGS, "A copy in the memory of the host, when it is there."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(no_host_array)),
     METH_VARARGS | METH_KEYWORDS, "Refused: nothing is copied without being asked for."},
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(export_dlpack)),
     METH_VARARGS | METH_KEYWORDS, "A capsule, ready for work on a stream."},
    {"__dlpack_device__", export_device, METH_NOARGS, "DLPack's number of the kind of device, and that of the device."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef array_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DeviceArray, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot array_slots[] = {
    {Py_tp_doc, const_cast<char *>("An array in the memory of a device, as programs return them; dcpy.gpu makes them of "
                                   "NumPy's, and other libraries take them by DLPack.")},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroy_array)},
    {Py_tp_repr, reinterpret_cast<void *>(represent)},
    {Py_sq_length, reinterpret_cast<void *>(length)},
    {Py_tp_getset, array_attributes},
    {Py_tp_methods, array_methods},
    {Py_tp_members, array_members},
    {0, nullptr},
};

PyType_Spec array_specification = {
    "dcpy.runtime._dispatch.DeviceArray", sizeof(DeviceArray), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, array_slots,
};

PyObject *create_home(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static const char *names[] = {"table", "kind", "number", "is_simulated", "device", nullptr};
    unsigned long long table = 0;
    int kind = 0, number = 0, is_simulated = 0;
    PyObject *device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "KiipO", const_cast<char **>(names), &table, &kind, &number,
                                     &is_simulated, &device)) {
        return nullptr;
    }
    Object made(type->tp_alloc(type, 0));
    if (!made) return nullptr;
    auto &home = *reinterpret_cast<Home *>(made.get());
    home.table = reinterpret_cast<dcpy_device *>(static_cast<uintptr_t>(table));
    home.kind = kind;
    home.number = number;
    home.is_simulated = is_simulated;
    home.device = Py_NewRef(device);
    home.libraries = new std::unordered_map<PyTypeObject *, Library>();
    home.busy = new std::unordered_map<void *, char>();
    return made.release();
}

// Homes last as long as the process, as the devices do that they stand for.
void destroy_home(PyObject *self) {
    auto &home = *reinterpret_cast<Home *>(self);
    PyTypeObject *type = Py_TYPE(self);
    delete home.libraries;
    delete home.busy;
    Py_XDECREF(home.device);
    type->tp_free(self);
    Py_DECREF(type);
}

Home &home_of(PyObject *self) { return *reinterpret_cast<Home *>(self); }

PyObject *empty(PyObject *self, PyObject *args) {
    int type = 0;
    PyObject *shape = nullptr, *allocate = Py_None;
    unsigned long long given = 0;
    if (!PyArg_ParseTuple(args, "iO!|KO", &type, &PyTuple_Type, &shape, &given, &allocate)) return nullptr;
    std::vector<int64_t> sizes;
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape); ++d) {
        sizes.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d)));
    }
    if (PyErr_Occurred()) return nullptr;
    void *const stream = given ? reinterpret_cast<void *>(static_cast<uintptr_t>(given))
                               : home_of(self).table->own_stream(home_of(self).table);
    const Object from = allocate == Py_None ? Object() : Object::borrow(allocate);
    return allocate_array(home_of(self), type, static_cast<int>(sizes.size()), sizes.data(), nullptr, stream, from).release();
}

PyObject *take_busy(PyObject *self, PyObject *) {
    Home &home = home_of(self);
    Object found(PyList_New(0));
    for (const auto &[stream, _] : *home.busy) {
        const Object handle(PyLong_FromVoidPtr(stream));
        if (!found || !handle || PyList_Append(found.get(), handle.get()) < 0) return nullptr;
    }
    home.busy->clear();
    return found.release();
}

PyObject *import_value(PyObject *self, PyObject *value) {
    Home &home = home_of(self);
    DeviceCall *const outer = current_call();
    Object found;
    int status;
    if (outer && &outer->home == &home) {
        status = outer->import_one(value, found);
    } else {  // outside of a call: a sample
        DeviceCall call(home);
        status = call.import_one(value, found);
    }
    return status < 0 ? nullptr : status ? found.release() : Py_NewRef(value);
}

PyMethodDef home_methods[] = {
    {"empty", empty, METH_VARARGS, "A new array: NumPy's number of its dtype, its shape; on a stream, from a library's pool."},
    {"take_busy", take_busy, METH_NOARGS, "The streams of calls since this was asked last."},
    {"imported", import_value, METH_O, "An array of another library as a DeviceArray; any other value as it is."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot home_slots[] = {
    {Py_tp_doc, const_cast<char *>("A device with memory: where arrays are.")},
    {Py_tp_new, reinterpret_cast<void *>(create_home)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroy_home)},
    {Py_tp_methods, home_methods},
    {0, nullptr},
};

PyType_Spec home_specification = {
    "dcpy.runtime._dispatch.Home", sizeof(Home), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, home_slots,
};

PyTypeObject *add_type(PyObject *module, PyType_Spec &specification, const char *name) {
    PyObject *type = PyType_FromModuleAndSpec(module, &specification, nullptr);
    if (type && PyModule_AddObjectRef(module, name, type) < 0) return nullptr;
    return reinterpret_cast<PyTypeObject *>(type);
}

}  // namespace

bool prepare_tensors(PyObject *module) {
    device_array_type = add_type(module, array_specification, "DeviceArray");
    home_type = add_type(module, home_specification, "Home");
    return device_array_type && home_type && PyModule_AddFunctions(module, stream_methods) == 0;
}

}  // namespace dcpy
