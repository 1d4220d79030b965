// Runs compiled code for arguments that fit: results allocated before, the GIL released during, errors raised after.

#include "results.h"
#include "signature.h"
#include "tensors.h"

#include <chrono>
#include <cstdlib>

#include <sys/syscall.h>
#include <unistd.h>

namespace dcpy {

Object take_exception() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return Object(value);
}

void raise(Object exception) {
    PyObject *value = exception.release();
    PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject *>(Py_TYPE(value))), value, PyException_GetTraceback(value));
}

namespace {

PyArray_Descr *new_dtype(const ResultRule &rule) {
    return reinterpret_cast<PyArray_Descr *>(Py_NewRef(rule.dtype.get()));
}

// Strides in bytes of an array without gaps, the axes of which are in the order of the rule; null for C order.
template <typename T>
const T *strides_in_order(const ResultRule &rule, const int64_t *shape, Scratch<T, 8> &strides) {
    if (rule.axes.empty()) return nullptr;
    T step = PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr *>(rule.dtype.get()));
    for (int k = rule.rank - 1; k >= 0; --k) {
        const int axis = rule.axes[static_cast<size_t>(k)];
        strides[axis] = step;
        if (__builtin_mul_overflow(step, shape[axis] > 0 ? shape[axis] : 1, &step)) return nullptr;  // NumPy refuses it
    }
    return strides.get();
}

Object make_fresh(const ResultRule &rule, const int64_t *shape) {
    Scratch<npy_intp, 8> sizes(rule.rank), strides(rule.rank);
    for (int d = 0; d < rule.rank; ++d) sizes[d] = shape[d];
    return new_array(new_dtype(rule), rule.rank, sizes.get(), strides_in_order(rule, shape, strides));
}

Object make_fresh_on_device(const ResultRule &rule, const int64_t *shape, DeviceCall &call) {
    Scratch<int64_t, 8> strides(rule.rank);
    return allocate_array(call.home, rule.type, rule.rank, shape, strides_in_order(rule, shape, strides), call.stream,
                          call.allocate());
}

// `numbers`: the offset in bytes from the data of `base`, the shape, the strides in bytes.
Object make_view(const ResultRule &rule, PyObject *base, const int64_t *numbers) {
    auto *array = reinterpret_cast<PyArrayObject *>(base);
    Scratch<npy_intp, 16> layout(2 * rule.rank);
    for (int d = 0; d < 2 * rule.rank; ++d) layout[d] = numbers[1 + d];
    const int flags = rule.read_only ? 0 : PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE;
    Object view(PyArray_NewFromDescr(&PyArray_Type, new_dtype(rule), rule.rank, layout.get(), layout.get() + rule.rank,
                                     PyArray_BYTES(array) + numbers[0], flags, nullptr));
    if (!view) return view;
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(view.get()), Py_NewRef(base)) < 0) return Object();
    return view;
}

// The same of an array on a device.
Object make_device_view(const ResultRule &rule, PyObject *argument, const int64_t *numbers) {
    const DeviceArray &array = *as_device_array(argument);
    ++array.memory->users;
    return make_array(array.memory, array.data + numbers[0], rule.type, rule.rank, numbers + 1, numbers + 1 + rule.rank,
                      !rule.read_only && (array.flags & NPY_ARRAY_WRITEABLE));
}

// An argument as the caller knows it.
Object as_passed(PyObject *value) {
    PyObject *owner = is_device_array(value) ? as_device_array(value)->memory->owner.get() : nullptr;
    return Object::borrow(owner ? owner : value);
}

Object make_scalar(const ResultRule &rule, const Slot &slot) {
    if (rule.python && rule.type == NPY_DOUBLE) {
        return Object(PyFloat_FromDouble(*reinterpret_cast<const double *>(slot.bytes)));
    }
    if (rule.python && rule.type == NPY_INT64) {
        return Object(PyLong_FromLongLong(*reinterpret_cast<const int64_t *>(slot.bytes)));
    }
    auto *dtype = reinterpret_cast<PyArray_Descr *>(rule.dtype.get());
    Object scalar(PyArray_Scalar(const_cast<unsigned char *>(slot.bytes), dtype, nullptr));
    if (!scalar || !rule.python) return scalar;
    return Object(PyObject_CallMethod(scalar.get(), "item", nullptr));
}

// Memory that compiled code has allocated, until an array has it.
struct Handover {
    Handover() = default;
    Handover(const Handover &) = delete;
    Handover &operator=(const Handover &) = delete;
    ~Handover() { std::free(data); }

    void *data = nullptr;
    int64_t shape[NPY_MAXDIMS];
};

void free_capsule(PyObject *capsule) { std::free(PyCapsule_GetPointer(capsule, nullptr)); }

// An array over the memory, which a capsule frees when the last array over it is gone.
Object make_owned(const ResultRule &rule, Handover &memory) {
    if (!memory.data) return Object::borrow(Py_None);  // the path taken returns something else
    Object capsule(PyCapsule_New(memory.data, nullptr, free_capsule));
    if (!capsule) return capsule;
    void *data = std::exchange(memory.data, nullptr);
    Scratch<npy_intp, 8> sizes(rule.rank), strides(rule.rank);
    for (int d = 0; d < rule.rank; ++d) sizes[d] = memory.shape[d];
    const npy_intp *steps = strides_in_order(rule, memory.shape, strides);
    Object array(PyArray_NewFromDescr(&PyArray_Type, new_dtype(rule), rule.rank, sizes.get(), steps, data,
                                      steps ? NPY_ARRAY_BEHAVED : NPY_ARRAY_CARRAY, nullptr));
    if (!array) return array;
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array.get()), capsule.release()) < 0) return Object();
    return array;
}

// Results, and the objects that were made of them: one for each list in the structure.
struct Parts {
    Object *objects;
    size_t count;
    std::vector<std::pair<PyObject *, Object>> made;
};

PyObject *arrange(PyObject *structure, Parts &results);

// What the path taken returns: a list of None, the result that holds the number of it, and the options. The parts of
// others are not there.
PyObject *choose(PyObject *structure, Parts &results) {
    const Object number(arrange(PyList_GET_ITEM(structure, 1), results));
    if (!number) return nullptr;
    const Py_ssize_t chosen = PyLong_AsSsize_t(number.get());
    if (chosen == -1 && PyErr_Occurred()) return nullptr;
    if (chosen < 0 || chosen >= PyList_GET_SIZE(structure) - 2) {
        PyErr_SetString(PyExc_SystemError, "compiled code returns an option that does not exist");
        return nullptr;
    }
    return arrange(PyList_GET_ITEM(structure, chosen + 2), results);
}

// An object that the program has made: a list of what makes it, and its parts.
PyObject *make_object(PyObject *structure, Parts &results) {
    if (PyList_GET_ITEM(structure, 0) == Py_None) return choose(structure, results);
    for (const auto &[list, object] : results.made) {
        if (list == structure) return Py_NewRef(object.get());
    }
    const Py_ssize_t parts = PyList_GET_SIZE(structure) - 1;
    Object arguments(PyTuple_New(parts));
    if (!arguments) return nullptr;
    for (Py_ssize_t i = 0; i < parts; ++i) {
        PyObject *item = arrange(PyList_GET_ITEM(structure, i + 1), results);
        if (!item) return nullptr;
        PyTuple_SET_ITEM(arguments.get(), i, item);
    }
    Object made(PyObject_CallObject(PyList_GET_ITEM(structure, 0), arguments.get()));
    if (made) results.made.emplace_back(structure, made);
    return made.release();
}

// Nested tuples of results, as `structure` nests their indices.
PyObject *arrange(PyObject *structure, Parts &results) {
    if (structure == Py_None) Py_RETURN_NONE;
    if (PyLong_Check(structure)) {
        const size_t index = PyLong_AsSize_t(structure);
        if (index < results.count) return Py_NewRef(results.objects[index].get());
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "the structure names a result that does not exist");
        return nullptr;
    }
    if (PyList_Check(structure)) return make_object(structure, results);
    Object tuple(PyTuple_New(PyTuple_GET_SIZE(structure)));
    if (!tuple) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(structure); ++i) {
        PyObject *item = arrange(PyTuple_GET_ITEM(structure, i), results);
        if (!item) return nullptr;
        PyTuple_SET_ITEM(tuple.get(), i, item);
    }
    return tuple.release();
}

// The results of one call, before and after it; where arguments are on a device, new arrays are there, too.
template <bool OnDevice>
class Delivery {
  public:
    Delivery(const Specialization &s, PyObject *const *values, DeviceCall *call)
        : s_(s), values_(values), call_(call), objects_(s.results.size()), slots_(s.results.size()),
          pointers_(2 * s.results.size()), owned_(s.owned ? new Handover[s.owned] : nullptr) {}

    void *const *pointers() { return pointers_.get(); }

    // Allocates what is fresh; `numbers` as NAME_results wrote them.
    bool prepare(const int64_t *numbers) {
        size_t stored = 0;
        size_t handed = 0;
        for (size_t i = 0; i < s_.results.size(); ++i) {
            const ResultRule &rule = s_.results[i];
            switch (rule.kind) {
                case Outcome::Fresh:
                    objects_[i] = OnDevice && rule.on_device
                                      ? make_fresh_on_device(rule, numbers, *call_)
                                      : make_fresh(rule, numbers);
                    if (!objects_[i]) return false;
                    pointers_[stored++] = OnDevice && rule.on_device
                                              ? as_device_array(objects_[i].get())->data
                                              : PyArray_DATA(reinterpret_cast<PyArrayObject *>(objects_[i].get()));
                    numbers += rule.rank;
                    break;
                case Outcome::View:
                case Outcome::Shown: {
                    PyObject *base = rule.kind == Outcome::View ? values_[rule.index] : objects_[rule.index].get();
                    objects_[i] = OnDevice && is_device_array(base) ? make_device_view(rule, base, numbers)
                                                                    : make_view(rule, base, numbers);
                    if (!objects_[i]) return false;
                    numbers += 1 + 2 * rule.rank;
                    break;
                }
                case Outcome::Scalar: pointers_[stored++] = slots_[i].bytes; break;
                case Outcome::Argument: objects_[i] = OnDevice ? as_passed(values_[rule.index]) : Object::borrow(values_[rule.index]); break;
                case Outcome::Constant: objects_[i] = rule.value; break;
                case Outcome::Owned:
                    pointers_[stored++] = &owned_[handed].data;
                    pointers_[stored++] = owned_[handed++].shape;
                    break;
            }
        }
        return true;
    }

    // The arguments, and the results that exist already: whose memory outlives the call.
    Object owners() {
        const size_t arguments = s_.arguments.size();
        const size_t count = arguments + s_.results.size();
        Object tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
        if (!tuple) return tuple;
        for (size_t i = 0; i < count; ++i) {
            PyObject *owner = i < arguments ? values_[i] : objects_[i - arguments].get();
            PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(owner ? owner : Py_None));
        }
        return tuple;
    }

    PyObject *finish() {
        size_t handed = 0;
        for (size_t i = 0; i < s_.results.size(); ++i) {
            const ResultRule &rule = s_.results[i];
            if (rule.kind != Outcome::Scalar && rule.kind != Outcome::Owned) continue;
            objects_[i] =
                rule.kind == Outcome::Scalar ? make_scalar(rule, slots_[i]) : make_owned(rule, owned_[handed++]);
            if (!objects_[i]) return nullptr;
        }
        if (OnDevice && !deliver_all()) return nullptr;
        Parts results{objects_.get(), s_.results.size(), {}};
        Object returned(arrange(s_.structure.get(), results));
        return returned && change_objects(results) ? returned.release() : nullptr;
    }

  private:
    // New arrays, and views, are of the caller's kind.
    bool deliver_all() {
        for (size_t i = 0; i < s_.results.size(); ++i) {
            const Outcome kind = s_.results[i].kind;
            if (kind == Outcome::Argument || kind == Outcome::Constant || kind == Outcome::Scalar) continue;
            if (kind == Outcome::Owned) objects_[i] = call_->uploaded(objects_[i]);
            objects_[i] = call_->deliver(objects_[i]);
            if (!objects_[i]) return false;
        }
        return true;
    }

    // Gives the caller's objects their new fields: all of them are made before any is set.
    bool change_objects(Parts &results) {
        Scratch<Object, 4> parts(s_.effects.size());
        for (size_t i = 0; i < s_.effects.size(); ++i) {
            parts[i] = Object(arrange(s_.effects[i].part.get(), results));
            if (!parts[i]) return false;
        }
        for (size_t i = 0; i < s_.effects.size(); ++i) {
            const Effect &effect = s_.effects[i];
            if (effect.when >= 0 && objects_[effect.when].get() != Py_True) continue;
            if (PyObject_SetAttr(values_[effect.object], effect.name.get(), parts[i].get()) < 0) return false;
        }
        return true;
    }

    const Specialization &s_;
    PyObject *const *values_;
    DeviceCall *call_;
    Scratch<Object, 4> objects_;
    Scratch<Slot, 4> slots_;
    Scratch<void *, 8> pointers_;
    std::unique_ptr<Handover[]> owned_;
};

// Raises the exception of a failed check; true where it was a warning only, and the results count.
bool survives(const Specialization &s, int32_t code, const int64_t *error) {
    Object answer(PyObject_CallFunction(s.failure.get(), "iLLLL", static_cast<int>(code - 1), (long long)error[0],
                                        (long long)error[1], (long long)error[2], (long long)error[3]));
    if (answer) return true;
    const Object exception = take_exception();
    PyException_SetTraceback(exception.get(), Py_None);  // the frames of dcpy's own
    raise(exception);
    return false;
}

constexpr int64_t INTERRUPT = -1;  // the site at which a loop asks whether a signal has come

// Python runs the handlers of signals in its first thread.
bool is_main_thread() {
#ifdef __APPLE__
    return pthread_main_np() != 0;
#else
    return syscall(SYS_gettid) == getpid();
#endif
}

// How often Python is asked, in nanoseconds: to take the GIL back may take as long as another thread keeps it (5 ms).
constexpr int64_t BETWEEN_SIGNALS = 100'000'000;
// How often the clock is read: a loop whose iterations are short comes here more rarely from then on.
constexpr int64_t SELDOM = 1'000'000, OFTEN = 20'000'000;

// What a loop keeps between its questions: iterations left until the next one, how many those were, and two times.
struct Pace {
    int64_t left, turns, since, asked;
};

// Whether it is time to ask Python; says when the loop is to come again.
bool is_time(Pace &pace) {
    const int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    const int64_t taken = now - pace.since;
    if (pace.turns == 0) {
        pace.turns = 16;
        pace.asked = now;
    } else if (taken < SELDOM) {
        pace.turns *= 16;
    } else if (taken > OFTEN) {
        pace.turns = pace.turns / 16 + 1;
    }
    pace.left = pace.turns;
    pace.since = now;
    if (now - pace.asked < BETWEEN_SIGNALS || !is_main_thread()) return false;
    pace.asked = now;
    return true;
}

// One call of compiled code that calls Python functions: takes the GIL back for them, and keeps what they raise.
template <bool OnDevice>
struct CallingBack : Python {
    CallingBack(const Specialization &s, Delivery<OnDevice> &delivery, Locks &locks)
        : Python{call_back}, s(s), delivery(delivery), locks(locks) {}

    static int32_t call_back(Python *python, int64_t site, const int64_t *operands) {
        auto &self = *static_cast<CallingBack *>(python);
        if (site == INTERRUPT && !is_time(*reinterpret_cast<Pace *>(const_cast<int64_t *>(operands)))) return 0;
        PyEval_RestoreThread(self.thread);
        self.locks.release();
        int32_t status = site == INTERRUPT ? self.interrupted() : self.run(site, operands);
        if (status == 0 && !self.locks.acquire()) {
            self.raised = take_exception();
            status = 1;
        }
        self.thread = PyEval_SaveThread();
        return status;
    }

    int32_t interrupted() {
        if (PyErr_CheckSignals() == 0) return 0;
        raised = take_exception();
        return 1;
    }

    int32_t run(int64_t site, const int64_t *operands) {
        const Object owners = delivery.owners();
        Object answer;
        if (owners) {
            answer = Object(PyObject_CallFunction(s.callbacks.get(), "LKO", (long long)site,
                                                  (unsigned long long)reinterpret_cast<uintptr_t>(operands),
                                                  owners.get()));
        }
        if (answer.get() == Py_None) return 0;
        raised = answer ? std::move(answer) : take_exception();
        return 1;
    }

    const Specialization &s;
    Delivery<OnDevice> &delivery;
    Locks &locks;
    PyThreadState *thread = nullptr;
    Object raised;
};

}  // namespace

namespace {

template <bool OnDevice>
PyObject *run(const Specialization &s, PyObject *const *values, Frame &frame, DeviceCall *call) {
    Delivery<OnDevice> delivery(s, values, call);
    if (!s.results.empty()) {
        Scratch<int64_t, 32> numbers(s.numbers);
        if (s.numbers) s.shapes(frame.args.get(), frame.symbols.get(), numbers.get());
        if (!delivery.prepare(numbers.get())) return nullptr;
    }
    Locks locks(frame);
    if (!locks.acquire()) return nullptr;
    int64_t error[4] = {0, 0, 0, 0};
    CallingBack<OnDevice> python(s, delivery, locks);
    frame.args[s.arguments.size()] = static_cast<Python *>(&python);
    if (OnDevice) s.on_stream(call->stream);
    python.thread = PyEval_SaveThread();
    const int32_t code = s.entry(frame.args.get(), frame.symbols.get(), delivery.pointers(), error);
    PyEval_RestoreThread(python.thread);
    locks.release();
    if (OnDevice && !call->end() && code == 0 && !python.raised) return nullptr;
    if (python.raised) {
        raise(std::move(python.raised));
        return nullptr;
    }
    if (code != 0 && !survives(s, code, error)) return nullptr;
    return delivery.finish();
}

}  // namespace

PyObject *execute(const Specialization &s, PyObject *const *values, Frame &frame) {
    if (!s.on_stream) return run<false>(s, values, frame, nullptr);
    DeviceCall *const call = current_call();
    if (!call) return PyErr_Format(PyExc_SystemError, "arrays of a device, outside of a call with them");
    return call->begin(values, s.arguments.size()) ? run<true>(s, values, frame, call) : nullptr;
}

}  // namespace dcpy
