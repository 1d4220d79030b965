// OpenBLAS on the threads of OpenMP; see pool.cpp.
#pragma once

#include "native.h"

namespace dcpy {

extern PyMethodDef pool_methods[];

}  // namespace dcpy
