// NumPy's own sorts, lent to programs that sort: NumPy has them for the vectors of each processor.
//
// Nothing is linked: a program that wants them has a table of a known name (libraries/sorting/sorting.h), and sorts by
// itself where that stays empty. They need neither the GIL nor, for numbers, the array that their last parameter is.
#include "lending.h"

#include <dlfcn.h>

namespace dcpy {

namespace {

constexpr int LENT[3][3] = {{NPY_INT16, NPY_UINT16, NPY_FLOAT16}, {NPY_INT32, NPY_UINT32, NPY_FLOAT32}, {NPY_INT64, NPY_UINT64, NPY_FLOAT64}};

PyArray_SortFunc *sort_of(int type) {
    Object dtype(reinterpret_cast<PyObject *>(PyArray_DescrFromType(type)));
    return PyDataType_GetArrFuncs(reinterpret_cast<PyArray_Descr *>(dtype.get()))->sort[NPY_QUICKSORT];
}

PyObject *lend_sorts(PyObject *, PyObject *handle) {
    void *library = PyLong_AsVoidPtr(handle);
    if (!library && PyErr_Occurred()) return nullptr;
    auto *table = static_cast<PyArray_SortFunc *(*)[3]>(dlsym(library, "dcpy_lent_sorts"));
    for (int size = 0; table && size < 3; ++size)
        for (int kind = 0; kind < 3; ++kind) table[size][kind] = sort_of(LENT[size][kind]);
    return PyBool_FromLong(table != nullptr);
}

}  // namespace

PyMethodDef lending_methods[] = {
    {"lend_sorts", lend_sorts, METH_O,
     "Whether a loaded library, given by its handle, sorts, and so was lent NumPy's own sorts."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace dcpy
