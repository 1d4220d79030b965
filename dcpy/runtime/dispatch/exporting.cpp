// Arrays of dcpy for other libraries.

#include <type_traits>

#include "tensors.h"

#include "dlpack.h"

namespace dcpy {

namespace {

// What a capsule points to, and what that needs as long as somebody has it.
template <class T>
struct Exported {
    T managed;
    PyObject *array;
    std::vector<int64_t> layout;

    static void give_back(T *managed) {
        auto *self = static_cast<Exported *>(managed->context);
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(self->array);
        delete self;
        PyGILState_Release(state);
    }
};

template <class T>
void drop_unused(PyObject *capsule) {
    const char *name = std::is_same_v<T, DLVersioned> ? NEW_NAME : OLD_NAME;
    if (!PyCapsule_IsValid(capsule, name)) return;  // somebody has taken it
    auto *managed = static_cast<T *>(PyCapsule_GetPointer(capsule, name));
    managed->deleter(managed);
}

bool describe(const DeviceArray &array, DLTensor &tensor, std::vector<int64_t> &layout) {
    static const uint8_t codes[] = {DL_INT, DL_UINT, DL_FLOAT, DL_COMPLEX, DL_BOOL};
    const int kind = PyTypeNum_ISBOOL(array.type)      ? 4
                     : PyTypeNum_ISUNSIGNED(array.type) ? 1
                     : PyTypeNum_ISINTEGER(array.type)  ? 0
                     : PyTypeNum_ISFLOAT(array.type)    ? 2
                                                        : 3;
    layout = *array.layout;
    for (int d = 0; d < array.rank; ++d) {
        int64_t &stride = layout[static_cast<size_t>(array.rank + d)];
        if (stride % array.itemsize != 0 && array.sizes()[d] > 1) {
            PyErr_SetString(PyExc_BufferError, "its strides are no multiples of its elements' size");
            return false;
        }
        stride /= array.itemsize;
    }
    const Home &home = *array.memory->home;
    tensor = {array.data, home.kind, home.number, array.rank, codes[kind], static_cast<uint8_t>(array.itemsize * 8), 1,
              layout.data(), layout.data() + array.rank, 0};
    return true;
}

template <class T>
PyObject *capsule_of(PyObject *self, uint64_t flags) {
    auto exported = std::make_unique<Exported<T>>();
    if (!describe(*as_device_array(self), exported->managed.tensor, exported->layout)) return nullptr;
    exported->array = Py_NewRef(self);
    exported->managed.context = exported.get();
    exported->managed.deleter = Exported<T>::give_back;
    if constexpr (std::is_same_v<T, DLVersioned>) {
        exported->managed.major = 1;
        exported->managed.minor = 1;
        exported->managed.flags = flags;
    }
    const char *name = std::is_same_v<T, DLVersioned> ? NEW_NAME : OLD_NAME;
    PyObject *capsule = PyCapsule_New(&exported->managed, name, drop_unused<T>);
    if (capsule) exported.release();
    return capsule;
}

// Makes a consumer's stream wait for what was queued on the array; None means the default stream, -1 nothing to wait for.
bool order_behind(const DeviceArray &array, PyObject *stream) {
    const Home &home = *array.memory->home;
    void *then = reinterpret_cast<void *>(1);
    if (stream != Py_None) {
        const Py_ssize_t handle = PyLong_AsSsize_t(stream);
        if (handle == -1) return !PyErr_Occurred();
        if (handle < -1 || (handle == 0 && home.kind != DL_ROCM)) {
            PyErr_Format(PyExc_ValueError, "%zd is no stream: 1 is the legacy default stream, 2 that of each thread", handle);
            return false;
        }
        if (handle != 0) then = reinterpret_cast<void *>(handle);
    }
    return home.check(home.table->order(home.table, array.memory->stream, then));
}

}  // namespace

PyObject *export_dlpack(PyObject *self, PyObject *args, PyObject *keywords) {
    static const char *names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO", const_cast<char **>(names), &stream, &version, &device,
                                     &copy)) {
        return nullptr;
    }
    const DeviceArray &array = *as_device_array(self);
    int kind = array.memory->home->kind, number = array.memory->home->number;
    if (device != Py_None && !PyArg_ParseTuple(device, "ii", &kind, &number)) return nullptr;
    if (kind == DL_CPU && copy != Py_False) {
        const Object host(PyObject_CallMethod(self, "numpy", nullptr));
        return host ? PyObject_CallMethod(host.get(), "__dlpack__", nullptr) : nullptr;
    }
    if (kind != array.memory->home->kind || number != array.memory->home->number || copy == Py_True) {
        return PyErr_Format(PyExc_BufferError, "this array is on %S: copy it with .numpy()", array.memory->home->device);
    }
    int major = 0, minor = 0;
    if (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor)) return nullptr;
    const bool read_only = !(array.flags & NPY_ARRAY_WRITEABLE);
    if (read_only && major < 1) {
        return PyErr_Format(PyExc_BufferError, "a read-only array is exported by versioned capsules only");
    }
    if (!order_behind(array, stream)) return nullptr;
    return major >= 1 ? capsule_of<DLVersioned>(self, read_only ? DL_READ_ONLY : 0) : capsule_of<DLManaged>(self, 0);
}

PyObject *export_device(PyObject *self, PyObject *) {
    const Home &home = *as_device_array(self)->memory->home;
    return Py_BuildValue("(ii)", home.kind, home.number);
}

PyObject *export_interface(PyObject *self, void *) {
    const DeviceArray &array = *as_device_array(self);
    if (array.memory->home->kind != DL_CUDA) {
        return PyErr_Format(PyExc_AttributeError, "%S is no CUDA device", array.memory->home->device);
    }
    const Object shape(PyObject_GetAttrString(self, "shape")), dtype = dtype_of(array);
    const Object text(dtype ? PyObject_GetAttrString(dtype.get(), "str") : nullptr);
    const Object strides = array.flags & NPY_ARRAY_C_CONTIGUOUS ? Object::borrow(Py_None)
                                                                : Object(PyObject_GetAttrString(self, "strides"));
    const Object place(PyLong_FromVoidPtr(count_of(array) ? array.data : nullptr));
    const Object stream(PyLong_FromVoidPtr(array.memory->stream));
    if (!shape || !text || !strides || !place || !stream) return nullptr;
    PyObject *read_only = array.flags & NPY_ARRAY_WRITEABLE ? Py_False : Py_True;
    return Py_BuildValue("{sOsOs(OO)sOsisO}", "shape", shape.get(), "typestr", text.get(), "data", place.get(), read_only,
                         "strides", strides.get(), "version", 3, "stream", stream.get());
}

}  // namespace dcpy
