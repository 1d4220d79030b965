// From the arguments of a Python call to one value per parameter.
#pragma once

#include <vector>

#include "signature.h"

namespace dcpy {

struct Parameter {
    Object name;
    Object fallback;  // the default value; null where there is none
};

// How a Python function takes its arguments: the first `positional_only` and the last `keyword_only` are so.
struct Parameters {
    std::vector<Parameter> all;
    size_t positional_only = 0;
    size_t keyword_only = 0;

    size_t positional() const { return all.size() - keyword_only; }
};

// Fills `values`, one borrowed reference per parameter. False, without an exception, where the arguments do not fit.
bool bind(const Parameters &parameters, PyObject *const *args, size_t given, PyObject *keywords, PyObject **values);

}  // namespace dcpy
