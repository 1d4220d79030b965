// New arrays for results; see results.cpp.
#pragma once

#include "native.h"

namespace dcpy {

// An array in C order; a null object with an exception set where there is no memory. Takes the reference to `dtype`.
Object new_array(PyArray_Descr *dtype, int rank, const npy_intp *sizes);

}  // namespace dcpy
