// NumPy's own sorts for programs; see lending.cpp.
#pragma once

#include "native.h"

namespace dcpy {

extern PyMethodDef lending_methods[];

}  // namespace dcpy
