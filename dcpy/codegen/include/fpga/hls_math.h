// The mathematical functions of Vitis HLS, as the C library computes them.
#pragma once

#include <math.h>

namespace hls {

#define DCPY_BOTH(name)                            \
    inline float name(float x) { return ::name##f(x); } \
    inline double name(double x) { return ::name(x); }

DCPY_BOTH(sqrt)
DCPY_BOTH(exp)
DCPY_BOTH(exp2)
DCPY_BOTH(expm1)
DCPY_BOTH(log)
DCPY_BOTH(log2)
DCPY_BOTH(log10)
DCPY_BOTH(log1p)
DCPY_BOTH(sin)
DCPY_BOTH(cos)
DCPY_BOTH(tan)
DCPY_BOTH(asin)
DCPY_BOTH(acos)
DCPY_BOTH(atan)
DCPY_BOTH(sinh)
DCPY_BOTH(cosh)
DCPY_BOTH(tanh)
DCPY_BOTH(floor)
DCPY_BOTH(ceil)
DCPY_BOTH(trunc)
DCPY_BOTH(rint)
DCPY_BOTH(fabs)

#undef DCPY_BOTH

inline float pow(float x, float y) { return ::powf(x, y); }
inline double pow(double x, double y) { return ::pow(x, y); }
inline float atan2(float y, float x) { return ::atan2f(y, x); }
inline double atan2(double y, double x) { return ::atan2(y, x); }
inline float fmod(float x, float y) { return ::fmodf(x, y); }
inline double fmod(double x, double y) { return ::fmod(x, y); }

}  // namespace hls
