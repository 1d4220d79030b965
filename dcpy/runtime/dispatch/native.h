// The native dispatcher: from a Python call to compiled code, with every check on the way and no Python code on the
// warm path. What the parts are:
//
//   native.h            Python.h and NumPy, one owning pointer, and stack buffers
//   signature.h  .cpp   a specialization: the rules its arguments must fit, parsed once from plain tuples
//   consistency.cpp     does it name only arguments, symbols and results that there are? asked once
//   matching.cpp        do these arguments fit? binds sizes and strides to symbols on the way
//   records.cpp         objects and tuples that are passed by their parts, and the fields that they get
//   results.h    .cpp   new arrays for results, large ones in memory that earlier ones gave back
//   execution.cpp       allocates results, releases the GIL, calls, reports failed checks, builds what is returned
//   generators.cpp      random generators as arguments, and their locks
//   binding.h  .cpp     positional, keyword and default arguments, and values from the closure
//   pool.h       .cpp   one pool of threads for parallel maps and OpenBLAS
//   lending.h    .cpp   NumPy's own sorts, for programs that sort
//   tensors.h           arrays of devices, with files of their own
//   dispatcher.cpp      the Python type `Dispatcher`, with vectorcall and garbage collection; the module
//
// Thread safety: everything but the call of compiled code happens under the GIL. A free-threaded interpreter turns its
// GIL on when it imports this module (it declares Py_MOD_GIL_USED); subinterpreters are refused, as NumPy refuses them.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define PY_ARRAY_UNIQUE_SYMBOL dcpy_array_api
#ifndef DCPY_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace dcpy {

// An owned reference to a Python object.
class Object {
  public:
    Object() = default;
    explicit Object(PyObject *owned) : pointer_(owned) {}
    Object(Object &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    Object(const Object &other) : pointer_(Py_XNewRef(other.pointer_)) {}
    Object &operator=(Object other) noexcept {
        std::swap(pointer_, other.pointer_);
        return *this;
    }
    ~Object() { Py_XDECREF(pointer_); }

    static Object borrow(PyObject *borrowed) { return Object(Py_XNewRef(borrowed)); }

    PyObject *get() const { return pointer_; }
    PyObject *release() { return std::exchange(pointer_, nullptr); }
    explicit operator bool() const { return pointer_ != nullptr; }

  private:
    PyObject *pointer_ = nullptr;
};

// `count` values of T, on the stack when there are at most `Inline`. Values of plain types are not initialised.
template <typename T, size_t Inline>
class Scratch {
  public:
    explicit Scratch(size_t count) : values_(inline_) {
        if (count > Inline) {
            heap_.reset(new T[count]);
            values_ = heap_.get();
        }
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    T &operator[](size_t index) { return values_[index]; }
    T *get() { return values_; }

  private:
    T inline_[Inline];
    std::unique_ptr<T[]> heap_;
    T *values_;
};

}  // namespace dcpy
