// Complex numbers as NumPy computes with them: plain products, Smith's division, comparison by real part first.
// Written for complex128; the complex64 version of each is derived.

struct dcpy_complex128 {
    double real, imag;

    friend dcpy_complex128 operator-(dcpy_complex128 a) { return {-a.real, -a.imag}; }
    friend dcpy_complex128 operator+(dcpy_complex128 a, dcpy_complex128 b) { return {a.real + b.real, a.imag + b.imag}; }
    friend dcpy_complex128 operator-(dcpy_complex128 a, dcpy_complex128 b) { return {a.real - b.real, a.imag - b.imag}; }
    friend dcpy_complex128 operator*(dcpy_complex128 a, dcpy_complex128 b)
    {
        return {a.real*b.real - a.imag*b.imag, a.real*b.imag + a.imag*b.real};
    }
    friend bool operator==(dcpy_complex128 a, dcpy_complex128 b) { return a.real == b.real && a.imag == b.imag; }
    friend bool operator!=(dcpy_complex128 a, dcpy_complex128 b) { return a.real != b.real || a.imag != b.imag; }
};

template <class C, class Z>
static inline C dcpy_convert(Z z) { return {decltype(C::real)(z.real), decltype(C::imag)(z.imag)}; }

static inline dcpy_complex128 dcpy_of_parts(double real, double imag) { return {real, imag}; }

template <class C>
static inline bool dcpy_truth(C z) { return z.real != 0 || z.imag != 0; }

template <class C>
static inline bool dcpy_cisnan(C z) { return z.real != z.real || z.imag != z.imag; }

static inline bool dcpy_cisinf(dcpy_complex128 z) { return dcpy_isinf(z.real) || dcpy_isinf(z.imag); }

static inline bool dcpy_cisfinite(dcpy_complex128 z) { return dcpy_isfinite(z.real) && dcpy_isfinite(z.imag); }

template <class C>
static inline C dcpy_conj(C z) { return {z.real, -z.imag}; }

template <class C>
static inline bool dcpy_clt(C a, C b)
{
    return (a.real < b.real && a.imag == a.imag && b.imag == b.imag) || (a.real == b.real && a.imag < b.imag);
}

template <class C>
static inline bool dcpy_cle(C a, C b)
{
    return (a.real < b.real && a.imag == a.imag && b.imag == b.imag) || (a.real == b.real && a.imag <= b.imag);
}

template <class C>
static inline bool dcpy_cgt(C a, C b)
{
    return (a.real > b.real && a.imag == a.imag && b.imag == b.imag) || (a.real == b.real && a.imag > b.imag);
}

template <class C>
static inline bool dcpy_cge(C a, C b)
{
    return (a.real > b.real && a.imag == a.imag && b.imag == b.imag) || (a.real == b.real && a.imag >= b.imag);
}

template <class C>
static inline C dcpy_cmaximum(C a, C b) { return dcpy_cge(a, b) || dcpy_cisnan(a) ? a : b; }

template <class C>
static inline C dcpy_cminimum(C a, C b) { return dcpy_cle(a, b) || dcpy_cisnan(a) ? a : b; }

template <class C>
static inline C dcpy_cfmax(C a, C b) { return dcpy_cge(a, b) || dcpy_cisnan(b) ? a : b; }

template <class C>
static inline C dcpy_cfmin(C a, C b) { return dcpy_cle(a, b) || dcpy_cisnan(b) ? a : b; }

static inline dcpy_complex128 dcpy_cdiv(dcpy_complex128 a, dcpy_complex128 b)
{
    if (b.real == 0 && b.imag == 0) return {a.real/fabs(b.real), a.imag/fabs(b.real)};
    if (fabs(b.real) >= fabs(b.imag)) {
        const double ratio = b.imag/b.real, scale = (double)1/(b.real + b.imag*ratio);
        return {(a.real + a.imag*ratio)*scale, (a.imag - a.real*ratio)*scale};
    }
    const double ratio = b.real/b.imag, scale = (double)1/(b.imag + b.real*ratio);
    return {(a.real*ratio + a.imag)*scale, (a.imag*ratio - a.real)*scale};
}

static inline dcpy_complex128 dcpy_csquare(dcpy_complex128 z)
{
    return {z.real*z.real - z.imag*z.imag, z.real*z.imag + z.imag*z.real};
}

static inline dcpy_complex128 dcpy_creciprocal(dcpy_complex128 z)
{
    if (fabs(z.imag) <= fabs(z.real)) {
        const double ratio = z.imag/z.real, scale = z.real + z.imag*ratio;
        return {(double)1/scale, -ratio/scale};
    }
    const double ratio = z.real/z.imag, scale = z.real*ratio + z.imag;
    return {ratio/scale, (double)-1/scale};
}

static inline double dcpy_cabs(dcpy_complex128 z) { return hypot(z.real, z.imag); }

// On which side of a limit |z| is: a number that compares with 0 as |z| with the limit. Squares decide it, each of which
// is off by a few units in its last place; nearer than that, and where a square could be infinite or lose digits, hypot.
static inline double dcpy_cabs_side(dcpy_complex128 z, double limit)
{
    const bool is_small = sizeof(double) == 4;
    const double margin = is_small ? (double)0x1p-19 : (double)0x1p-48;
    const double least = is_small ? (double)1e-15 : (double)1e-140, most = is_small ? (double)1e15 : (double)1e140;
    const double square = z.real*z.real + z.imag*z.imag, bound = limit*limit;
    if (__builtin_expect(limit >= least && limit <= most, 1)) {
        if (square < bound*((double)1 - margin)) return (double)-1;
        if (square > bound*((double)1 + margin)) return (double)1;
    }
    const double size = hypot(z.real, z.imag);
    return size < limit ? (double)-1 : size > limit ? (double)1 : size == limit ? (double)0 : (double)__builtin_nan("");
}

static inline dcpy_complex128 dcpy_crint(dcpy_complex128 z) { return {rint(z.real), rint(z.imag)}; }

// z/|z|: of an infinite number, the axis on which it lies.
static inline dcpy_complex128 dcpy_csign(dcpy_complex128 z)
{
    const double size = hypot(z.real, z.imag), nan = (double)__builtin_nan("");
    if (size != size) return {nan, nan};
    if (dcpy_isinf(size)) {
        if (!dcpy_isinf(z.imag)) return {copysign((double)1, z.real), (double)0};
        if (!dcpy_isinf(z.real)) return {(double)0, copysign((double)1, z.imag)};
        return {nan, nan};
    }
    if (size == 0) return {(double)0, (double)0};
    return {z.real/size, z.imag/size};
}

static inline double _Complex dcpy_to_c99(dcpy_complex128 z)
{
    double _Complex result;
    __real__ result = z.real;
    __imag__ result = z.imag;
    return result;
}

static inline dcpy_complex128 dcpy_from_c99(double _Complex z) { return {__real__ z, __imag__ z}; }

static inline dcpy_complex128 dcpy_cexp(dcpy_complex128 z) { return dcpy_from_c99(cexp(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_clog(dcpy_complex128 z) { return dcpy_from_c99(clog(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_csqrt(dcpy_complex128 z) { return dcpy_from_c99(csqrt(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_csin(dcpy_complex128 z) { return dcpy_from_c99(csin(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_ccos(dcpy_complex128 z) { return dcpy_from_c99(ccos(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_ctan(dcpy_complex128 z) { return dcpy_from_c99(ctan(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_casin(dcpy_complex128 z) { return dcpy_from_c99(casin(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_cacos(dcpy_complex128 z) { return dcpy_from_c99(cacos(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_catan(dcpy_complex128 z) { return dcpy_from_c99(catan(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_csinh(dcpy_complex128 z) { return dcpy_from_c99(csinh(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_ccosh(dcpy_complex128 z) { return dcpy_from_c99(ccosh(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_ctanh(dcpy_complex128 z) { return dcpy_from_c99(ctanh(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_casinh(dcpy_complex128 z) { return dcpy_from_c99(casinh(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_cacosh(dcpy_complex128 z) { return dcpy_from_c99(cacosh(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_catanh(dcpy_complex128 z) { return dcpy_from_c99(catanh(dcpy_to_c99(z))); }

static inline dcpy_complex128 dcpy_cexp2(dcpy_complex128 z)
{
    const double ln2 = (double)0.693147180559945309417232121458176568;
    return dcpy_cexp({z.real*ln2, z.imag*ln2});
}

static inline dcpy_complex128 dcpy_cexpm1(dcpy_complex128 z)
{
    const double half = sin(z.imag/(double)2);
    return {expm1(z.real)*cos(z.imag) - (double)2*half*half, exp(z.real)*sin(z.imag)};
}

static inline dcpy_complex128 dcpy_clog2(dcpy_complex128 z)
{
    const double log2e = (double)1.442695040888963407359924681001892137;
    const dcpy_complex128 log_z = dcpy_clog(z);
    return {log_z.real*log2e, log_z.imag*log2e};
}

static inline dcpy_complex128 dcpy_clog10(dcpy_complex128 z)
{
    const double log10e = (double)0.434294481903251827651128918916605082;
    const dcpy_complex128 log_z = dcpy_clog(z);
    return {log_z.real*log10e, log_z.imag*log10e};
}

static inline dcpy_complex128 dcpy_clog1p(dcpy_complex128 z)
{
    return {log(hypot(z.real + (double)1, z.imag)), atan2(z.imag, z.real + (double)1)};
}

// Small whole powers by multiplication, 0 to a positive power is 0, to a negative one NaN; all else is C's cpow.
static inline dcpy_complex128 dcpy_cpow(dcpy_complex128 a, dcpy_complex128 b)
{
    const double nan = (double)__builtin_nan("");
    if (b.real == 0 && b.imag == 0) return {(double)1, (double)0};
    if (a.real == 0 && a.imag == 0) return b.real > 0 ? dcpy_complex128{} : dcpy_complex128{nan, nan};
    if (b.imag == 0 && b.real > -100 && b.real < 100 && b.real == (double)(int64_t)b.real) {
        int64_t count = (int64_t)fabs(b.real);
        dcpy_complex128 power = {(double)1, (double)0};
        if (b.real == 1) return a;
        if (b.real == 2) return a*a;
        if (b.real == 3) return a*(a*a);
        for (dcpy_complex128 square = a; count != 0; count >>= 1, square = square*square)
            if (count & 1) power = power*square;
        return b.real < 0 ? dcpy_cdiv({(double)1, (double)0}, power) : power;
    }
    return dcpy_from_c99(cpow(dcpy_to_c99(a), dcpy_to_c99(b)));
}
