// Arrays of other libraries, by DLPack or by `__cuda_array_interface__`: read in place, and held until they are given back.

#include <string_view>
#include <type_traits>

#include "tensors.h"

#include "dlpack.h"

namespace dcpy {

namespace {

const char *name_of(int32_t kind) {
    switch (kind) {
        case DL_CPU: return "the CPU";
        case DL_CUDA: return "a CUDA device";
        case DL_ROCM: return "a ROCm device";
        default: return "a device of another kind";
    }
}

int refuse_device(const Home &home, int32_t kind, int32_t number) {
    if (kind != home.kind) {
        PyErr_Format(PyExc_ValueError, "it is on %s (DLPack type %d), but the program runs on %S", name_of(kind), kind,
                     home.device);
    } else {
        PyErr_Format(PyExc_ValueError, "it is on device %d, but the program runs on %S", number, home.device);
    }
    return -1;
}

// NumPy's number of a type of DLPack; NPY_NOTYPE with an exception set.
int type_of(const DLTensor &tensor) {
    if (tensor.lanes != 1) {
        PyErr_Format(PyExc_TypeError, "its elements are vectors of %d lanes", tensor.lanes);
        return NPY_NOTYPE;
    }
    switch (tensor.code * 1000 + tensor.bits) {
        case DL_INT * 1000 + 8: return NPY_INT8;
        case DL_INT * 1000 + 16: return NPY_INT16;
        case DL_INT * 1000 + 32: return NPY_INT32;
        case DL_INT * 1000 + 64: return NPY_INT64;
        case DL_UINT * 1000 + 8: return NPY_UINT8;
        case DL_UINT * 1000 + 16: return NPY_UINT16;
        case DL_UINT * 1000 + 32: return NPY_UINT32;
        case DL_UINT * 1000 + 64: return NPY_UINT64;
        case DL_FLOAT * 1000 + 16: return NPY_FLOAT16;
        case DL_FLOAT * 1000 + 32: return NPY_FLOAT32;
        case DL_FLOAT * 1000 + 64: return NPY_FLOAT64;
        case DL_COMPLEX * 1000 + 64: return NPY_COMPLEX64;
        case DL_COMPLEX * 1000 + 128: return NPY_COMPLEX128;
        case DL_BOOL * 1000 + 8: return NPY_BOOL;
        case DL_BFLOAT * 1000 + 16: PyErr_SetString(PyExc_TypeError, "its dtype is bfloat16, which NumPy has not"); break;
        default:
            PyErr_Format(PyExc_TypeError, "its dtype has the DLPack code %d and %d bits, which NumPy has not",
                         tensor.code, tensor.bits);
    }
    return NPY_NOTYPE;
}

bool is_there(Home &home, const void *place) {
    return home.table->holds(home.table, place) == DCPY_DONE ||
           PyErr_Format(PyExc_ValueError, "its memory is not where the program runs: %s", home.table->message(home.table));
}

Memory *memory_for(Home &home, PyObject *value, void *stream) {
    auto *memory = new Memory{&home};
    Py_INCREF(reinterpret_cast<PyObject *>(&home));
    memory->stream = stream;
    memory->owner = Object::borrow(value);
    return memory;
}

// `memory` holds the tensor, and goes with the array, or here.
Object over_tensor(Home &home, Memory *memory, const DLTensor &tensor, bool read_only) {
    const bool fits = tensor.device_kind == home.kind && tensor.device_number == home.number;
    const int type = fits ? type_of(tensor) : refuse_device(home, tensor.device_kind, tensor.device_number), rank = tensor.rank;
    char *const data = static_cast<char *>(tensor.data) + tensor.offset;
    const bool is_legal = fits && type != NPY_NOTYPE && (!home.is_simulated || !tensor.data || is_there(home, data));
    if (!is_legal || rank > NPY_MAXDIMS) {
        if (is_legal) PyErr_Format(PyExc_TypeError, "it has %d dimensions", rank);
        memory->drop();
        return Object();
    }
    Scratch<int64_t, 16> strides(static_cast<size_t>(rank));
    const int64_t bytes = tensor.bits / 8;
    for (int d = 0; tensor.strides && d < rank; ++d) strides[static_cast<size_t>(d)] = tensor.strides[d] * bytes;
    return make_array(memory, data, type, rank, tensor.sizes, tensor.strides ? strides.get() : nullptr, !read_only);
}

// A capsule is taken once: its new name says so, and from then on its deleter is ours to call.
template <class T>
Object take_capsule(Home &home, PyObject *value, PyObject *capsule, void *stream, const char *name, const char *used) {
    auto *managed = static_cast<T *>(PyCapsule_GetPointer(capsule, name));
    if (!managed || PyCapsule_SetName(capsule, used) < 0) return Object();
    Memory *memory = memory_for(home, value, stream);
    memory->managed = managed;
    bool read_only = false;
    if constexpr (std::is_same_v<T, DLVersioned>) {
        memory->is_versioned = true;
        read_only = managed->flags & DL_READ_ONLY;
        if (managed->major != 1) {
            PyErr_Format(PyExc_TypeError, "it speaks DLPack %u, of which nothing is known", managed->major);
            memory->drop();
            return Object();
        }
    }
    return over_tensor(home, memory, managed->tensor, read_only);
}

// The stream as DLPack names it: 1 is CUDA's default stream, 0 that of ROCm.
Object handle_of(const Home &home, void *stream) {
    const bool is_default = home.kind == DL_ROCM && stream == reinterpret_cast<void *>(1);
    return Object(PyLong_FromVoidPtr(is_default ? nullptr : stream));
}

Object ask_for_capsule(Home &home, PyObject *value, Library &library, void *stream) {
    static PyObject *const method = PyUnicode_InternFromString("__dlpack__");
    static PyObject *const names = Py_BuildValue("(ss)", "stream", "max_version");
    static PyObject *const old_names = Py_BuildValue("(s)", "stream");
    static PyObject *const version = Py_BuildValue("(ii)", 1, 1);
    const Object handle = handle_of(home, stream);
    if (!handle) return Object();
    PyObject *args[] = {value, handle.get(), version};
    if (library.is_versioned) {
        Object capsule(PyObject_VectorcallMethod(method, args, 1, names));
        if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
        PyErr_Clear();
        library.is_versioned = false;
    }
    return Object(PyObject_VectorcallMethod(method, args, 1, old_names));
}

Object taken_from(Home &home, PyObject *value, void *stream, const Object &capsule) {
    if (PyCapsule_IsValid(capsule.get(), NEW_NAME)) {
        return take_capsule<DLVersioned>(home, value, capsule.get(), stream, NEW_NAME, NEW_USED);
    }
    if (PyCapsule_IsValid(capsule.get(), OLD_NAME)) {
        return take_capsule<DLManaged>(home, value, capsule.get(), stream, OLD_NAME, OLD_USED);
    }
    const char *name = PyCapsule_CheckExact(capsule.get()) ? PyCapsule_GetName(capsule.get()) : nullptr;
    if (name && std::string_view(name).substr(0, 5) == "used_") {
        PyErr_SetString(PyExc_ValueError, "its capsule has been taken before: __dlpack__ must make a new one each time");
    } else {
        PyErr_Format(PyExc_TypeError, "__dlpack__ gives %R, which is no capsule of a tensor", capsule.get());
    }
    return Object();
}

Object by_dlpack(Home &home, PyObject *value, Library &library, void *stream) {
    Object capsule = ask_for_capsule(home, value, library, stream);
    if (!capsule) return Object();
    Object found = taken_from(home, value, stream, capsule);
    PyObject *type, *error, *traceback;  // the capsule's destructor is another library's code
    PyErr_Fetch(&type, &error, &traceback);
    capsule = Object();
    PyErr_Restore(type, error, traceback);
    return found;
}

// --- __cuda_array_interface__ -----------------------------------------------------------------------------------------

bool read_numbers(PyObject *tuple, std::vector<int64_t> &numbers) {
    if (!PyTuple_Check(tuple)) {
        PyErr_Format(PyExc_TypeError, "its sizes are %R, which is no tuple", tuple);
        return false;
    }
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(tuple); ++d) {
        numbers.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, d)));
    }
    return !PyErr_Occurred();
}

int type_of_text(PyObject *text) {
    PyArray_Descr *dtype = nullptr;
    if (!PyArray_DescrConverter(text, &dtype)) return NPY_NOTYPE;
    const Object kept(reinterpret_cast<PyObject *>(dtype));
    if (PyTypeNum_ISNUMBER(dtype->type_num) && PyArray_ISNBO(dtype->byteorder)) return dtype->type_num;
    PyErr_Format(PyExc_TypeError, "its elements are %S, which kernels cannot read", text);
    return NPY_NOTYPE;
}

// The stream of an interface; false with an exception set. Null: nothing has to be waited for.
bool read_stream(PyObject *entry, void **stream) {
    *stream = nullptr;
    if (!entry || entry == Py_None) return true;
    const Py_ssize_t handle = PyLong_AsSsize_t(entry);
    if (handle == -1 && PyErr_Occurred()) return false;
    if (handle == 0) PyErr_SetString(PyExc_ValueError, "its stream is 0, which may mean several: 1 or 2 is meant");
    *stream = reinterpret_cast<void *>(handle);
    return handle != 0;
}

Object interface_of(PyObject *value) {
    static PyObject *const name = PyUnicode_InternFromString("__cuda_array_interface__");
    Object found(PyObject_GetAttr(value, name));
    if (!found || PyDict_Check(found.get())) return found;
    PyErr_Format(PyExc_TypeError, "__cuda_array_interface__ is %R, which is no dict", found.get());
    return Object();
}

PyObject *entry_of(const Object &dict, const char *name) { return PyDict_GetItemString(dict.get(), name); }

Object by_interface(Home &home, PyObject *value, void *stream, void **behind) {
    const Object dict = interface_of(value);
    if (!dict) return Object();
    PyObject *shape = entry_of(dict, "shape"), *text = entry_of(dict, "typestr"), *data = entry_of(dict, "data");
    PyObject *strides = entry_of(dict, "strides"), *mask = entry_of(dict, "mask");
    if (!shape || !text || !data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        PyErr_SetString(PyExc_TypeError, "its __cuda_array_interface__ lacks shape, typestr or data");
        return Object();
    }
    if (mask && mask != Py_None) {
        PyErr_SetString(PyExc_TypeError, "it has a mask, which would be ignored");
        return Object();
    }
    std::vector<int64_t> sizes, steps;
    const int type = type_of_text(text);
    if (type == NPY_NOTYPE || !read_numbers(shape, sizes)) return Object();
    if (strides && strides != Py_None && !read_numbers(strides, steps)) return Object();
    if (!read_stream(entry_of(dict, "stream"), behind)) return Object();
    auto *place = static_cast<char *>(PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)));
    const int read_only = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    if (PyErr_Occurred() || (place && !is_there(home, place))) return Object();
    if (!steps.empty() && steps.size() != sizes.size()) {
        PyErr_SetString(PyExc_ValueError, "it has not as many strides as dimensions");
        return Object();
    }
    if (*behind && !home.check(home.table->order(home.table, *behind, stream))) return Object();
    return make_array(memory_for(home, value, stream), place, type, static_cast<int>(sizes.size()), sizes.data(),
                      steps.empty() ? nullptr : steps.data(), !read_only);
}

}  // namespace

int is_on_device(Home &home, PyObject *value, Library **library) {
    PyTypeObject *const type = Py_TYPE(value);
    if (type == &PyArray_Type || value == Py_None || PyFloat_CheckExact(value) || PyLong_CheckExact(value)) return 0;
    if (PyTuple_Check(value) || PyUnicode_Check(value) || PyType_Check(value)) return 0;
    Library *const found = home.library_of(type);
    if (!found) return -1;
    *library = found;
    if (found->has_dlpack) {
        static PyObject *const method = PyUnicode_InternFromString("__dlpack_device__");
        const Object device(PyObject_CallMethodNoArgs(value, method));
        int kind = 0, number = 0;
        if (device && PyArg_ParseTuple(device.get(), "ii", &kind, &number)) {
            if (kind == DL_CPU || kind == DL_CUDA_HOST || kind == DL_ROCM_HOST) return 0;
            return kind == home.kind && number == home.number ? 1 : refuse_device(home, kind, number);
        }
        if (!PyErr_ExceptionMatches(PyExc_AttributeError) || !found->has_interface) return -1;
        PyErr_Clear();
    }
    if (!found->has_interface) return 0;
    const Object dict = interface_of(value);
    if (dict) return 2;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;  // a tensor on the CPU has no such attribute
    PyErr_Clear();
    return 0;
}

Object import_tensor(Home &home, PyObject *value, Library &library, void *stream, void **behind) {
    *behind = nullptr;
    Object found;
    if (library.has_dlpack) found = by_dlpack(home, value, library, stream);
    if (!library.has_dlpack || (!found && library.has_interface && PyErr_ExceptionMatches(PyExc_AttributeError))) {
        PyErr_Clear();
        found = by_interface(home, value, stream, behind);
    }
    // JAX marks none of its arrays as read-only, though none may change
    if (found && library.is_immutable) reinterpret_cast<DeviceArray *>(found.get())->flags &= ~NPY_ARRAY_WRITEABLE;
    return found;
}

bool stream_of(Home &home, PyObject *value, Library &library, void **stream) {
    *stream = nullptr;
    if (library.stream) {
        const Object handle(PyObject_CallFunction(library.stream.get(), "i", home.number));
        if (!handle) return false;
        *stream = PyLong_AsVoidPtr(handle.get());
        if (!*stream && !PyErr_Occurred()) *stream = reinterpret_cast<void *>(1);  // the default stream
        return !PyErr_Occurred();
    }
    if (!library.has_interface) return true;
    const Object dict = interface_of(value);
    if (dict) return read_stream(entry_of(dict, "stream"), stream);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
    PyErr_Clear();
    return true;
}

}  // namespace dcpy
