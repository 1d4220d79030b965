// The Python type `Dispatcher`: a callable that finds the specialization which fits a call, and the module around it.

#define DCPY_IMPORTS_NUMPY
#include "binding.h"
#include "lending.h"
#include "pool.h"
#include "signature.h"
#include "tensors.h"

#include <structmember.h>

#include <algorithm>

namespace dcpy {

namespace {

// Shares a specialization between the list and the calls that run it. Counted under the GIL, hence without atomics.
class Shared {
  public:
    explicit Shared(std::unique_ptr<Specialization> owned) : counted_(new Counted{std::move(owned), 1}) {}
    Shared(const Shared &other) : counted_(other.counted_) { ++counted_->users; }
    Shared &operator=(Shared other) noexcept {
        std::swap(counted_, other.counted_);
        return *this;
    }
    ~Shared() {
        if (--counted_->users == 0) delete counted_;
    }
    const Specialization &operator*() const { return *counted_->specialization; }
    const Specialization *operator->() const { return counted_->specialization.get(); }

  private:
    struct Counted {
        std::unique_ptr<Specialization> specialization;
        long users;
    };
    Counted *counted_;
};

struct State {
    Object name;
    Object encoded_parameters;  // as given, for messages
    Parameters parameters;
    std::vector<Shared> specializations;  // the order in which they are tried
    Object miss;
    Object open_home;  // called for the device that arrays may be on; null: programs run on the CPU
    Object home;       // once it has been called
};

struct Dispatcher {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    State *state;
    PyObject *weak_references;
};

Object as_tuple(PyObject *const *values, size_t count) {
    Object tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
    if (!tuple) return tuple;
    for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(values[i]));
    return tuple;
}

// NotImplemented, as a new reference, where the specialization does not fit.
PyObject *run_if_fitting(const Specialization &candidate, PyObject *const *values) {
    Frame frame(candidate);
    return matches(candidate, values, frame) ? execute(candidate, values, frame) : Py_NewRef(Py_NotImplemented);
}

// Whether a value may be an array of a device: all but what is often passed, and is none.
bool may_be_on_device(PyObject *value) {
    PyTypeObject *const type = Py_TYPE(value);
    if (type == &PyArray_Type || type == &PyFloat_Type || type == &PyLong_Type || value == Py_None) return false;
    if (is_device_array(value)) return true;
    if (PyArray_IsScalar(value, Generic) || PyBool_Check(value) || PyTuple_Check(value) || PyUnicode_Check(value)) {
        return false;
    }
    static PyObject *const names[] = {PyUnicode_InternFromString("__dlpack__"),
                                      PyUnicode_InternFromString("__cuda_array_interface__")};
    PyObject *const owner = reinterpret_cast<PyObject *>(type);
    return PyObject_HasAttr(owner, names[0]) || PyObject_HasAttr(owner, names[1]);
}

// The same for arrays inside of tuples and dataclass objects.
bool may_hold(PyObject *value, int depth = 0) {
    if (PyTuple_Check(value)) {
        for (Py_ssize_t i = 0; depth < 40 && i < PyTuple_GET_SIZE(value); ++i) {
            if (may_hold(PyTuple_GET_ITEM(value, i), depth + 1)) return true;
        }
        return false;
    }
    if (may_be_on_device(value)) return true;
    if (PyArray_Check(value) || PyFloat_Check(value) || PyLong_Check(value) || value == Py_None) return false;
    static PyObject *const name = PyUnicode_InternFromString("__dataclass_fields__");
    return PyObject_HasAttr(reinterpret_cast<PyObject *>(Py_TYPE(value)), name);
}

// What the user calls an argument: a parameter, or a part of one, ``p.x`` or ``pair[0]``.
Object name_of(const State &state, const Specialization &candidate, size_t index) {
    const size_t given = state.parameters.all.size();
    if (index < given) return state.parameters.all[index].name;
    const Source &part = candidate.closure[index - given];
    const Object owner = name_of(state, candidate, static_cast<size_t>(part.parent));
    if (!owner) return owner;
    return Object(part.name ? PyUnicode_FromFormat("%U.%U", owner.get(), part.name.get())
                            : PyUnicode_FromFormat("%U[%zd]", owner.get(), part.position));
}

// A part of a record that is an array of the device, in place of another library's; false with an exception set.
bool import_part(const State &state, const Specialization &candidate, size_t i, Object &value) {
    DeviceCall *const call = state.home && candidate.closure[i].parent >= 0 ? current_call() : nullptr;
    if (!call || !may_be_on_device(value.get())) return true;
    const Object name = name_of(state, candidate, state.parameters.all.size() + i);
    Object found;
    if (!name || !call->import_named(value.get(), name.get(), found)) return false;
    if (found) value = found;
    return true;
}

// The same with values of the closure behind the given ones. They are owned: another thread may rebind the variable
// while compiled code runs. A name that is not bound any more fits nothing.
PyObject *run_with_closure(const State &state, const Specialization &candidate, PyObject *const *values) {
    const size_t given = state.parameters.all.size();
    Scratch<PyObject *, 16> all(given + candidate.closure.size());
    Scratch<Object, 8> owned(candidate.closure.size());
    std::copy(values, values + given, all.get());
    for (size_t i = 0; i < candidate.closure.size(); ++i) {
        owned[i] = candidate.closure[i].fetch(all.get());
        if (!owned[i]) {
            PyErr_Clear();
            return Py_NewRef(Py_NotImplemented);
        }
        if (!import_part(state, candidate, i, owned[i])) return nullptr;
        all[given + i] = owned[i].get();
    }
    return run_if_fitting(candidate, all.get());
}

// NotImplemented, as a new reference, where no specialization fits.
PyObject *run_fitting(const State &state, PyObject *const *values) {
    for (size_t i = 0; i < state.specializations.size(); ++i) {
        const Shared candidate = state.specializations[i];
        PyObject *result = candidate->closure.empty() ? run_if_fitting(*candidate, values)
                                                      : run_with_closure(state, *candidate, values);
        if (result != Py_NotImplemented) return result;
        Py_DECREF(result);
    }
    return Py_NewRef(Py_NotImplemented);
}

// Takes dcpy's own frames out of the traceback of the exception that is set (base/tracebacks.py).
void hide_own_frames() {
    const Object error = take_exception();
    const Object module(PyImport_ImportModule("dcpy.base.tracebacks"));
    const Object answer(module ? PyObject_CallMethod(module.get(), "hide_own_frames", "O", error.get()) : nullptr);
    if (!answer) PyErr_Clear();
    raise(error);
}

PyObject *run_or_miss_anyhow(const State &state, PyObject *const *values) {
    PyObject *result = run_fitting(state, values);
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        const Object tuple = as_tuple(values, state.parameters.all.size());
        result = tuple ? PyObject_CallOneArg(state.miss.get(), tuple.get()) : nullptr;
        if (!result) hide_own_frames();
    }
    return result;
}

PyObject *failed_before_call() {
    hide_own_frames();
    return nullptr;
}

// A call of a program for a device: arrays that are there are read in place; those inside of others when they are fetched.
PyObject *run_with_devices(State &state, PyObject *const *given) {
    const size_t count = state.parameters.all.size();
    const bool any = std::any_of(given, given + count, [](PyObject *value) { return may_hold(value); });
    if (!any) return run_or_miss_anyhow(state, given);
    if (!state.home) state.home = Object(PyObject_CallNoArgs(state.open_home.get()));
    if (!state.home) return failed_before_call();
    DeviceCall call(*reinterpret_cast<Home *>(state.home.get()));
    Scratch<PyObject *, 16> values(count);
    Scratch<Object, 8> owned(count);
    for (size_t i = 0; i < count; ++i) {
        if (!call.import_named(given[i], state.parameters.all[i].name.get(), owned[i])) return failed_before_call();
        values[i] = owned[i] ? owned[i].get() : given[i];
    }
    return run_or_miss_anyhow(state, values.get());
}

inline PyObject *run_or_miss(State &state, PyObject *const *values) {
    return state.open_home ? run_with_devices(state, values) : run_or_miss_anyhow(state, values);
}

// The arguments do not fit the parameters: what that means is found in Python (parameters.py), in no hurry.
PyObject *misuse(const State &state, PyObject *const *args, size_t given, PyObject *keywords) {
    const Object module(PyImport_ImportModule("dcpy.runtime.calls.parameters"));
    const Object positional = as_tuple(args, given);
    const Object named = keywords ? Object::borrow(keywords) : Object(PyTuple_New(0));
    const Object given_by_name = as_tuple(args + given, keywords ? static_cast<size_t>(PyTuple_GET_SIZE(keywords)) : 0);
    if (!module || !positional || !named || !given_by_name) return nullptr;
    PyObject *result = PyObject_CallMethod(
        module.get(), "call_otherwise", "OOnnOOOO", state.name.get(), state.encoded_parameters.get(),
        (Py_ssize_t)state.parameters.positional_only, (Py_ssize_t)state.parameters.keyword_only, positional.get(),
        named.get(), given_by_name.get(), state.miss.get());
    if (!result) hide_own_frames();
    return result;
}

PyObject *call(PyObject *self, PyObject *const *args, size_t flagged, PyObject *keywords) {
    State &state = *reinterpret_cast<Dispatcher *>(self)->state;
    const auto given = static_cast<size_t>(PyVectorcall_NARGS(flagged));
    if (!keywords && given == state.parameters.all.size() && given == state.parameters.positional() && state.miss) {
        return run_or_miss(state, args);  // nothing to bind: the usual call
    }
    if (!state.miss) return PyErr_Format(PyExc_RuntimeError, "Dispatcher.__init__ has not been called");
    Scratch<PyObject *, 16> values(state.parameters.all.size());
    if (!bind(state.parameters, args, given, keywords, values.get())) return misuse(state, args, given, keywords);
    return run_or_miss(state, values.get());
}

// --- Python's view ---------------------------------------------------------------------------------------------------

State &state_of(PyObject *self) { return *reinterpret_cast<Dispatcher *>(self)->state; }

PyObject *create(PyTypeObject *type, PyObject *, PyObject *) {
    auto *self = reinterpret_cast<Dispatcher *>(type->tp_alloc(type, 0));
    if (!self) return nullptr;
    self->vectorcall = call;
    self->state = new State();
    return reinterpret_cast<PyObject *>(self);
}

bool parse_parameters(PyObject *encoded, Parameters &parameters) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(encoded); ++i) {
        PyObject *name = nullptr;
        PyObject *fallback = nullptr;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(encoded, i), "U|O", &name, &fallback)) return false;
        Py_INCREF(name);
        PyUnicode_InternInPlace(&name);
        parameters.all.push_back({Object(name), Object::borrow(fallback)});
    }
    if (parameters.positional_only + parameters.keyword_only <= parameters.all.size()) return true;
    PyErr_SetString(PyExc_ValueError, "more positional-only and keyword-only parameters than parameters");
    return false;
}

int initialise(PyObject *self, PyObject *args, PyObject *keywords) {
    static const char *names[] = {"name", "parameters", "miss", "positional_only", "keyword_only", nullptr};
    State &state = state_of(self);
    PyObject *name, *parameters, *miss;
    Py_ssize_t positional_only = 0;
    Py_ssize_t keyword_only = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "UO!O|nn", const_cast<char **>(names), &name, &PyTuple_Type,
                                     &parameters, &miss, &positional_only, &keyword_only)) {
        return -1;
    }
    if (state.miss) {
        PyErr_SetString(PyExc_RuntimeError, "Dispatcher.__init__ is called once only");
        return -1;
    }
    state.parameters.positional_only = static_cast<size_t>(positional_only);
    state.parameters.keyword_only = static_cast<size_t>(keyword_only);
    if (!parse_parameters(parameters, state.parameters)) return -1;
    state.name = Object::borrow(name);
    state.encoded_parameters = Object::borrow(parameters);
    state.miss = Object::borrow(miss);
    return 0;
}

PyObject *add(PyObject *self, PyObject *encoded) {
    State &state = state_of(self);
    if (!PyTuple_Check(encoded)) return PyErr_Format(PyExc_TypeError, "an encoded specialization is a tuple");
    std::unique_ptr<Specialization> parsed = parse_specialization(encoded);
    if (!parsed) return nullptr;
    const size_t passed = state.parameters.all.size() + parsed->closure.size();
    if (parsed->arguments.size() != passed) {
        return PyErr_Format(PyExc_ValueError, "a specialization of %zu arguments for %zu parameters and variables",
                            parsed->arguments.size(), passed);
    }
    auto place = state.specializations.begin();
    while (place != state.specializations.end() && (*place)->priority >= parsed->priority) ++place;
    state.specializations.insert(place, Shared(std::move(parsed)));
    Py_RETURN_NONE;
}

PyObject *dispatch(PyObject *self, PyObject *values) {
    const State &state = state_of(self);
    const size_t count = state.parameters.all.size();
    if (!PyTuple_Check(values) || static_cast<size_t>(PyTuple_GET_SIZE(values)) != count) {
        return PyErr_Format(PyExc_TypeError, "dispatch() takes a tuple of %zu values", count);
    }
    return run_fitting(state, &PyTuple_GET_ITEM(values, 0));
}

PyObject *accept_devices(PyObject *self, PyObject *open_home) {
    state_of(self).open_home = Object::borrow(open_home);
    Py_RETURN_NONE;
}

PyObject *count(PyObject *self, void *) { return PyLong_FromSize_t(state_of(self).specializations.size()); }

// Before 3.12 a class made by a `class` statement does not inherit the vectorcall protocol by itself.
PyObject *init_subclass(PyObject *type, PyObject *) {
#if PY_VERSION_HEX < 0x030C0000
    auto *subclass = reinterpret_cast<PyTypeObject *>(type);
    if (subclass->tp_call == PyVectorcall_Call) subclass->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#else
    (void)type;
#endif
    Py_RETURN_NONE;
}

int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    const State &state = state_of(self);
    for (const Parameter &parameter : state.parameters.all) Py_VISIT(parameter.fallback.get());
    for (const Shared &specialization : state.specializations) {
        if (const int stop = specialization->traverse(visit, arg)) return stop;
    }
    Py_VISIT(state.encoded_parameters.get());
    Py_VISIT(state.miss.get());
    Py_VISIT(state.open_home.get());
    Py_VISIT(state.home.get());
    return 0;
}

// Everything goes at once, into a local: releasing an object may run code that looks at this dispatcher.
int clear(PyObject *self) {
    const State old = std::exchange(state_of(self), State());
    return 0;
}

void destroy(PyObject *self) {
    auto *dispatcher = reinterpret_cast<Dispatcher *>(self);
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (dispatcher->weak_references) PyObject_ClearWeakRefs(self);
    delete dispatcher->state;
    type->tp_free(self);
    Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"add", add, METH_O, "Adds a specialization, as encoding.encode() writes it; among equals it is tried last."},
    {"dispatch", dispatch, METH_O, "Runs the specialization that fits a tuple of values, else NotImplemented."},
    {"accept_devices", accept_devices, METH_O, "From now on, arrays of a device are taken; called for its Home, once."},
    {"__init_subclass__", init_subclass, METH_NOARGS | METH_CLASS, "Keeps calls of subclasses as fast."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"specializations", count, nullptr, "How many specializations there are.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Dispatcher, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Dispatcher, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

const char documentation[] =
    "Dispatcher(name, parameters, miss, positional_only=0, keyword_only=0)\n--\n\n"
    "A callable that binds its arguments as a Python function does, and runs the first specialization they fit.\n\n"
    "`parameters` are (name,) or (name, default). Where nothing fits, `miss(values)` gives the result.";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>(documentation)},
    {Py_tp_new, reinterpret_cast<void *>(create)},
    {Py_tp_init, reinterpret_cast<void *>(initialise)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    {0, nullptr},
};

PyType_Spec specification = {
    "dcpy.runtime._dispatch.Dispatcher", sizeof(Dispatcher), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    slots,
};

int prepare_module(PyObject *module) {
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    const Object type(PyType_FromModuleAndSpec(module, &specification, nullptr));
    if (!type || PyModule_AddObjectRef(module, "Dispatcher", type.get()) < 0) return -1;
    if (PyModule_AddStringConstant(module, "SOURCES", DCPY_TEXT) < 0) return -1;  // dcpy/runtime/native_sources.py
    return prepare_tensors(module) && PyModule_AddFunctions(module, lending_methods) == 0 &&
                   PyModule_AddFunctions(module, pool_methods) == 0
               ? 0
               : -1;
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void *>(prepare_module)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "dcpy.runtime._dispatch", "The native dispatcher; see dispatch/native.h.", 0, nullptr,
    module_slots,          nullptr,                  nullptr,                                         nullptr,
};

}  // namespace

}  // namespace dcpy

PyMODINIT_FUNC PyInit__dispatch() { return PyModuleDef_Init(&dcpy::definition); }
