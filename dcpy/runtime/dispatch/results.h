// New arrays for results; see results.cpp.
#pragma once

#include "native.h"

namespace dcpy {

// An array in C order, or with these strides, in bytes, between which there is no gap; a null object with an exception
// set where there is no memory. Takes the reference to `dtype`.
Object new_array(PyArray_Descr *dtype, int rank, const npy_intp *sizes, const npy_intp *strides);

}  // namespace dcpy
