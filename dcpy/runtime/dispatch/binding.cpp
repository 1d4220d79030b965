// Positional, keyword and default arguments, as CPython itself binds them.

#include "binding.h"

#include <algorithm>

namespace dcpy {

namespace {

// The index of the parameter called `name`, or the number of parameters. Names are interned: most compare by address.
size_t find(const Parameters &parameters, PyObject *name) {
    const size_t count = parameters.all.size();
    for (size_t i = parameters.positional_only; i < count; ++i) {
        if (parameters.all[i].name.get() == name) return i;
    }
    for (size_t i = parameters.positional_only; i < count; ++i) {
        if (PyUnicode_Compare(parameters.all[i].name.get(), name) == 0) return i;
    }
    return count;
}

}  // namespace

bool bind(const Parameters &parameters, PyObject *const *args, size_t given, PyObject *keywords, PyObject **values) {
    const size_t count = parameters.all.size();
    if (given > parameters.positional()) return false;
    std::copy(args, args + given, values);
    std::fill(values + given, values + count, nullptr);
    const size_t named = keywords ? static_cast<size_t>(PyTuple_GET_SIZE(keywords)) : 0;
    for (size_t k = 0; k < named; ++k) {
        const size_t index = find(parameters, PyTuple_GET_ITEM(keywords, k));
        if (index == count || values[index]) return false;
        values[index] = args[given + k];
    }
    for (size_t i = given; i < count; ++i) {
        if (!values[i]) values[i] = parameters.all[i].fallback.get();
        if (!values[i]) return false;
    }
    return true;
}

}  // namespace dcpy
