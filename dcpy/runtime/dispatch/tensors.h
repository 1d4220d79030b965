// Arrays in the memory of a device: dcpy's own, and those of other libraries. What the parts are:
//
//   tensors.h  .cpp    the Python type `DeviceArray`, the memory that it holds, and `Home`, the device of that memory
//   dlpack.h           the structs of DLPack, as its specification has them
//   importing.cpp      arrays of other libraries as `DeviceArray`, by DLPack or `__cuda_array_interface__`
//   exporting.cpp      and the other way
//   calls.cpp          calls with such arrays: on which stream, what is ordered behind what, results of the caller's kind
//
// Programs for CPUs never come here: a dispatcher asks for these files where it was told that its device has memory.
#pragma once

#include <unordered_map>
#include <vector>

#include "native.h"

#include "dcpy_table.h"

namespace dcpy {

// What is known of arrays of one class: their library.
struct Library {
    Object type;              // kept, as its address is the key
    Object stream;            // called: the handle of the library's current stream; null: it has none to tell
    Object convert;           // called with a `DeviceArray`: an array of the library; null: there is no such function
    Object allocate;          // called with bytes, a stream, a device's number: a place of its pool, and what holds it; null: it has none
    bool has_dlpack = false;
    bool has_interface = false;  // __cuda_array_interface__
    bool is_immutable = false;   // whoever has one of its arrays relies on it
    bool is_versioned = true;    // until it refuses to be asked for a version
};

// A device with memory. Its table is used under the GIL alone, and never waited for: that is the business of `device`.
struct Home {
    PyObject_HEAD
    dcpy_device *table;
    int32_t kind, number;     // of the device in DLPack
    bool is_simulated;
    PyObject *device;         // Python's: opens libraries (`library_of`), waits, copies to and from the host
    std::unordered_map<PyTypeObject *, Library> *libraries;
    std::unordered_map<void *, char> *busy;  // streams of calls since somebody waited for all

    Library *library_of(PyTypeObject *type);  // null with an exception set
    bool check(int32_t status) const;         // false with an exception set where it is not 0
};

// Memory of a device that arrays share: taken from the table, or another library's until it is given back.
struct Memory {
    Home *home;
    void *place = nullptr;
    void *stream = nullptr;   // behind which it may be used
    long users = 1;
    Object owner;             // the caller's object
    Object lender;            // holds memory of a library's pool, from where it may be reused in the order of `lent_on`
    void *lent_on = nullptr;
    void *managed = nullptr;  // of DLPack
    bool is_versioned = false;

    void drop();
};

struct DeviceArray {
    PyObject_HEAD
    Memory *memory;
    char *data;
    int rank, type, flags;    // flags are NumPy's
    int64_t itemsize;
    std::vector<int64_t> *layout;  // sizes, then strides in bytes
    PyObject *weak_references;

    const int64_t *sizes() const { return layout->data(); }
    const int64_t *strides() const { return layout->data() + rank; }
};

extern PyTypeObject *device_array_type;
extern PyTypeObject *home_type;

inline bool is_device_array(PyObject *value) { return Py_TYPE(value) == device_array_type; }
inline DeviceArray *as_device_array(PyObject *value) { return reinterpret_cast<DeviceArray *>(value); }

// An array over memory, which it holds from then on, also where it fails. Strides in bytes; null: packed in C order.
Object make_array(Memory *memory, char *data, int type, int rank, const int64_t *sizes, const int64_t *strides,
                  bool writeable);

// A new one, packed in C order, in the order of a stream; from a library's pool, if `allocate` of that library is given.
Object allocate_array(Home &home, int type, int rank, const int64_t *sizes, const int64_t *strides, void *stream,
                      const Object &allocate = Object());

Object dtype_of(const DeviceArray &array);
int64_t count_of(const DeviceArray &array);

// The bytes from the lowest to behind the highest element; nothing for an array without elements.
std::pair<uintptr_t, uintptr_t> memory_of(const DeviceArray &array);

// --- importing.cpp ---

// Whether a value is an array of another library on some device; -1 with an exception set.
int is_on_device(Home &home, PyObject *value, Library **library);

// An array of another library; it must be on the device of `home`. `stream` will use it; `behind` gets the stream that the
// library is to wait with, null where it tells none. Null with an exception set.
Object import_tensor(Home &home, PyObject *value, Library &library, void *stream, void **behind);

// The stream that an array's library works on; null: it tells none. False with an exception set.
bool stream_of(Home &home, PyObject *value, Library &library, void **stream);

// --- exporting.cpp ---

PyObject *export_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *export_device(PyObject *self, PyObject *);
PyObject *export_interface(PyObject *self, void *);

// --- calls.cpp ---

// A call with arrays of a device, as long as it lasts.
struct DeviceCall {
    explicit DeviceCall(Home &home);
    ~DeviceCall();
    DeviceCall(const DeviceCall &) = delete;

    Home &home;
    void *stream = nullptr;
    bool is_known = false;         // whether whoever uses the arrays next does so on this stream, or behind it
    Library *first = nullptr;      // of the first array: results are of its kind
    std::vector<void *> behind;    // streams that go on when this call is done
    std::vector<std::pair<PyObject *, Object>> imported;  // arrays of other libraries, and what was made of each
    DeviceCall *outer;

    // An array of ours for one of the device; null where the value is none. 1, 0, or -1 with an exception set.
    int import_one(PyObject *value, Object &found);

    // The same; false with an exception set that says in words which argument it was.
    bool import_named(PyObject *value, PyObject *name, Object &found);
    bool begin(PyObject *const *values, size_t count);  // the order of streams, before the program runs
    bool end();                                         // and behind it
    const Object &allocate() const;              // of the library whose arrays results are; null: the device's own memory
    Object uploaded(Object result) const;               // an array of NumPy's, on the device
    Object deliver(Object result) const;                // an array of the caller's kind

  private:
    bool take_own(const DeviceArray &array);
    bool take_foreign(PyObject *value, Library &library, Object &found);
};

// The one that this thread is in; null: none.
DeviceCall *current_call();

PyObject *set_stream(PyObject *, PyObject *handle);  // of the calls of this thread; gives the one before
extern PyMethodDef stream_methods[];

bool prepare_tensors(PyObject *module);  // makes the types

}  // namespace dcpy
