// C's complex functions as its Annex G has them, for kernels, whose compilers have none: made of real functions. What
// complex.h calls for C's own type is found here for its struct; complex64 goes through complex128.

static inline dcpy_complex128 cexp(dcpy_complex128 z)
{
    const double nan = __builtin_nan(""), x = z.real, y = z.imag;
    if (y == 0) return {exp(x), y};
    if (!dcpy_isfinite(y)) return x < 0 && dcpy_isinf(x) ? dcpy_complex128{0, 0} : dcpy_complex128{dcpy_isinf(x) ? x : nan, nan};
    if (x > 709 && !dcpy_isinf(x)) {
        const double half = exp(x/2);
        return {half*cos(y)*half, half*sin(y)*half};
    }
    return {exp(x)*cos(y), exp(x)*sin(y)};
}

// log |z| for |z| near 1: |z|^2 - 1 of products with their rounding errors.
static inline double dcpy_log_near_1(double larger, double smaller)
{
    const double p = larger*larger, q = smaller*smaller;
    const double errors = fma(larger, larger, -p) + fma(smaller, smaller, -q);
    const double a = p - 1, sum = a + q, b = sum - a;
    return log1p(sum + ((a - (sum - b)) + (q - b) + errors))/2;
}

static inline dcpy_complex128 clog(dcpy_complex128 z)
{
    const double x = fabs(z.real), y = fabs(z.imag), larger = x > y ? x : y, smaller = x > y ? y : x;
    const double angle = atan2(z.imag, z.real), ln2 = 0.693147180559945309417232121458176568;
    if (dcpy_isinf(x) || dcpy_isinf(y)) return {__builtin_inf(), angle};
    if (larger > 8e307) return {log(hypot(x/2, y/2)) + ln2, angle};
    if (larger < 1e-290) return {log(hypot(x*0x1p54, y*0x1p54)) - 54*ln2, angle};
    if (larger > 0.7 && larger < 1.5 && smaller > 1e-150) return {dcpy_log_near_1(larger, smaller), angle};
    return {log(hypot(x, y)), angle};
}

static inline dcpy_complex128 csqrt(dcpy_complex128 z)
{
    double x = z.real, y = z.imag, scale = 1;
    if (x == 0 && y == 0) return {0, y};
    if (dcpy_isinf(y)) return {__builtin_inf(), y};
    if (x != x) return {x, x};
    if (dcpy_isinf(x)) return x < 0 ? dcpy_complex128{fabs(y - y), copysign(x, y)} : dcpy_complex128{x, copysign(y - y, y)};
    const double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    if (larger > 4e307) x /= 4, y /= 4, scale = 2;
    if (larger < 1e-290) x *= 0x1p54, y *= 0x1p54, scale = 0x1p-27;
    const double root = sqrt((fabs(x) + hypot(x, y))/2), other = fabs(y)/(2*root);
    return x >= 0 ? dcpy_complex128{scale*root, scale*copysign(other, y)}
                  : dcpy_complex128{scale*other, scale*copysign(root, y)};
}

// {sinh x cos y, cosh x sin y}
static inline dcpy_complex128 csinh(dcpy_complex128 z)
{
    const double nan = __builtin_nan(""), x = z.real, y = z.imag;
    if (y == 0) return {sinh(x), y};
    if (!dcpy_isfinite(y)) return {x == 0 || dcpy_isinf(x) ? x : nan, nan};
    if (fabs(x) < 22 || x != x) return {sinh(x)*cos(y), cosh(x)*sin(y)};
    const double half = exp(fabs(x)/2);
    return {copysign((double)1, x)*(half*cos(y)/2*half), half*sin(y)/2*half};
}

// {cosh x cos y, sinh x sin y}
static inline dcpy_complex128 ccosh(dcpy_complex128 z)
{
    const double nan = __builtin_nan(""), x = z.real, y = z.imag;
    if (y == 0) return {cosh(x), copysign((double)1, x)*y};
    if (!dcpy_isfinite(y)) return {dcpy_isinf(x) ? fabs(x) : nan, x == 0 ? (double)0 : nan};
    if (fabs(x) < 22 || x != x) return {cosh(x)*cos(y), sinh(x)*sin(y)};
    const double half = exp(fabs(x)/2);
    return {half*cos(y)/2*half, copysign((double)1, x)*(half*sin(y)/2*half)};
}

static inline dcpy_complex128 ctanh(dcpy_complex128 z)
{
    const double nan = __builtin_nan(""), x = z.real, y = z.imag;
    if (y == 0) return {tanh(x), y};
    if (dcpy_isinf(x)) return {copysign((double)1, x), dcpy_isfinite(y) ? copysign((double)0, sin(y)*cos(y)) : (double)0};
    if (!dcpy_isfinite(y)) return {x == 0 ? x : nan, nan};
    if (fabs(x) > 22) return {copysign((double)1, x), 4*sin(y)*cos(y)*exp(-2*fabs(x))};
    const double t = tan(y), s = sinh(x), beta = 1 + t*t, root = sqrt(1 + s*s), below = 1 + beta*s*s;
    return {beta*root*s/below, t/below};
}

static inline dcpy_complex128 csin(dcpy_complex128 z)
{
    const dcpy_complex128 w = csinh({-z.imag, z.real});
    return {w.imag, -w.real};
}

static inline dcpy_complex128 ccos(dcpy_complex128 z) { return ccosh({-z.imag, z.real}); }

static inline dcpy_complex128 ctan(dcpy_complex128 z)
{
    const dcpy_complex128 w = ctanh({-z.imag, z.real});
    return {w.imag, -w.real};
}

// W. Kahan, Branch cuts for complex elementary functions (1987).
static inline dcpy_complex128 casin(dcpy_complex128 z)
{
    const dcpy_complex128 w = casinh({-z.imag, z.real});
    return {w.imag, -w.real};
}

static inline dcpy_complex128 casinh(dcpy_complex128 z)
{
    const double nan = __builtin_nan(""), inf = __builtin_inf(), x = z.real, y = z.imag, pi = 3.14159265358979323846;
    if (dcpy_isinf(x)) return {x, y != y ? nan : copysign(dcpy_isinf(y) ? pi/4 : (double)0, y)};
    if (dcpy_isinf(y)) return {x != x ? inf : copysign(inf, x), x != x ? nan : copysign(pi/2, y)};
    if (x != x || y != y) return {nan, y == 0 ? y : nan};
    if (fabs(x) > 1e8 || fabs(y) > 1e8) {
        const dcpy_complex128 log_z = clog({fabs(x), fabs(y)});
        return {copysign(log_z.real + 0.693147180559945309417232121458176568, x), copysign(log_z.imag, y)};
    }
    const dcpy_complex128 low = csqrt({1 + y, -x}), high = csqrt({1 - y, x});
    return {asinh(high.imag*low.real - high.real*low.imag), atan2(y, high.real*low.real - high.imag*low.imag)};
}

static inline dcpy_complex128 cacos(dcpy_complex128 z)
{
    const double nan = __builtin_nan(""), inf = __builtin_inf(), x = z.real, y = z.imag, pi = 3.14159265358979323846;
    if (dcpy_isinf(x)) {
        const double angle = x > 0 ? (dcpy_isinf(y) ? pi/4 : (double)0) : dcpy_isinf(y) ? 3*pi/4 : pi;
        return {y != y ? nan : angle, y != y ? inf : -copysign(inf, y)};
    }
    if (dcpy_isinf(y)) return {x != x ? nan : pi/2, -copysign(inf, y)};
    if (x != x || y != y) return {x == 0 ? pi/2 : nan, nan};
    if (fabs(x) > 1e8 || fabs(y) > 1e8) {
        const dcpy_complex128 log_z = clog({x, fabs(y)});
        return {log_z.imag, -copysign(log_z.real + 0.693147180559945309417232121458176568, y)};
    }
    const dcpy_complex128 less = csqrt({1 - x, -y}), more = csqrt({1 + x, y});
    return {2*atan2(less.real, more.real), asinh(more.real*less.imag - more.imag*less.real)};
}

static inline dcpy_complex128 cacosh(dcpy_complex128 z)
{
    const dcpy_complex128 w = cacos(z);
    return {fabs(w.imag), copysign(w.real, z.imag)};
}

static inline dcpy_complex128 catanh(dcpy_complex128 z)
{
    const double nan = __builtin_nan(""), x = z.real, y = z.imag, half_pi = 3.14159265358979323846/2;
    if (dcpy_isinf(y)) return {x != x ? (double)0 : copysign((double)0, x), copysign(half_pi, y)};
    if (dcpy_isinf(x)) return {copysign((double)0, x), y != y ? nan : copysign(half_pi, y)};
    if (x != x || y != y) return {x == 0 ? x : nan, nan};
    if (x == 0 && y == 0) return z;
    if (fabs(x) > 1e16 || fabs(y) > 1e16) {
        const double h = hypot(x/2, y/2), real = fabs(y) <= 1 ? 1/x : fabs(x) <= 1 ? x/y/y : x/h/h/4;
        return {real, copysign(half_pi, y)};
    }
    const double angle = atan2(2*y, (1 - x)*(1 + x) - y*y)/2;
    if (fabs(x) == 1 && fabs(y) < 1e-30) return {copysign(0.693147180559945309417232121458176568 - log(fabs(y)), x)/2, angle};
    const double a = fabs(x);
    return {copysign(log1p(4*a/((1 - a)*(1 - a) + y*y))/4, x), angle};
}

static inline dcpy_complex128 catan(dcpy_complex128 z)
{
    const dcpy_complex128 w = catanh({-z.imag, z.real});
    return {w.imag, -w.real};
}

static inline dcpy_complex128 cpow(dcpy_complex128 a, dcpy_complex128 b) { return cexp(b*clog(a)); }

static inline dcpy_complex128 dcpy_to_c99(dcpy_complex128 z) { return z; }

static inline dcpy_complex128 dcpy_from_c99(dcpy_complex128 z) { return z; }

static inline dcpy_complex64 cexpf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(cexp(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 clogf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(clog(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 csqrtf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(csqrt(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 csinhf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(csinh(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 ccoshf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(ccosh(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 ctanhf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(ctanh(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 csinf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(csin(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 ccosf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(ccos(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 ctanf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(ctan(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 casinf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(casin(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 casinhf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(casinh(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 cacosf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(cacos(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 cacoshf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(cacosh(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 catanhf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(catanh(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 catanf(dcpy_complex64 z) { return dcpy_convert<dcpy_complex64>(catan(dcpy_convert<dcpy_complex128>(z))); }

static inline dcpy_complex64 cpowf(dcpy_complex64 a, dcpy_complex64 b)
{
    return dcpy_convert<dcpy_complex64>(cpow(dcpy_convert<dcpy_complex128>(a), dcpy_convert<dcpy_complex128>(b)));
}
