// Floating-point operations as NumPy defines them. Written for double; the float version of each is derived.

// Two selections and no "or", which g++ 12 leaves as a branch where one extremum is an operand of another. Of zeros with
// two signs the second one is kept, as by NumPy and by the instructions of processors. Those give the second operand where
// one is NaN: a limit that is known and is none needs no second selection.
template <class T>
static inline T dcpy_maximum(T a, T b)
{
#if !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(__SYNTHESIS__) && !defined(__OPENCL_VERSION__)
    if (__builtin_constant_p(a) && a == a) return a > b ? a : b;
    if (__builtin_constant_p(b) && b == b && b != 0) return b > a ? b : a;
#endif
    const T found = a > b ? a : b;
    return a != a ? a : found;
}

template <class T>
static inline T dcpy_minimum(T a, T b)
{
#if !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(__SYNTHESIS__) && !defined(__OPENCL_VERSION__)
    if (__builtin_constant_p(a) && a == a) return a < b ? a : b;
    if (__builtin_constant_p(b) && b == b && b != 0) return b < a ? b : a;
#endif
    const T found = a < b ? a : b;
    return a != a ? a : found;
}

// The same in a loop where each extremum waits for the one before: processors foresee that there is no NaN, and then wait
// for one instruction.
template <class T>
static inline T dcpy_carried_maximum(T a, T b)
{
    if (__builtin_expect(a != a, 0)) return a;
    return a > b ? a : b;
}

template <class T>
static inline T dcpy_carried_minimum(T a, T b)
{
    if (__builtin_expect(a != a, 0)) return a;
    return a < b ? a : b;
}

template <class T>
static inline T dcpy_fmax(T a, T b)
{
    const T found = a >= b ? a : b;
    return b != b ? a : found;
}

template <class T>
static inline T dcpy_fmin(T a, T b)
{
    const T found = a <= b ? a : b;
    return b != b ? a : found;
}

// NaN stays NaN, and a zero keeps its sign bit out of the result.
template <class T>
static inline T dcpy_fsign(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x; }

template <class T>
static inline T dcpy_square(T x) { return x*x; }

template <class T>
static inline T dcpy_heaviside(T x, T at_zero) { return x != x ? x : x == 0 ? at_zero : x < 0 ? T(0) : T(1); }

// A power of half an odd whole number known when compiling: pow's, with some roundings more. Like pow, it takes no sign of
// an infinity, or of a zero, for one. From -2.5 on no factor overflows, or loses digits, before the power does.
template <int N, class T>
static inline T dcpy_half_power(T x)
{
    const T base = (x == -T(__builtin_inf()) ? -x : x) + T(0);
    T root;
    if constexpr (sizeof(T) == 4) root = sqrtf(base);
    else root = sqrt(base);
    if constexpr (N == 1) return root;
    else if constexpr (N == -1) return 1/root;
    else if constexpr (N > 0) return dcpy_power<N/2, T>(base)*root;
    else return 1/dcpy_power<-N/2, T>(base)/root;
}

// The inverse of a whole power known when compiling: no factor overflows where what it is an inverse of is not 0 yet, and
// no zero meets an infinity.
template <int N, class T>
static inline T dcpy_inverse_power(T x)
{
    if constexpr (N == 1) return 1/x;
    else if constexpr (N == 3) {
        const T inverse = 1/x;
        return inverse*inverse*inverse;
    }
    else if constexpr (N % 2 == 0) {
        const T root = 1/dcpy_power<N/2, T>(x);
        return root*root;
    }
    else return 1/dcpy_power<N/2 + 1, T>(x)/dcpy_power<N/2, T>(x);
}

static inline bool dcpy_isnan(double x) { return x != x; }

static inline bool dcpy_isinf(double x) { return fabs(x) == (double)__builtin_inf(); }

static inline bool dcpy_isfinite(double x) { return fabs(x) < (double)__builtin_inf(); }

static inline bool dcpy_signbit(double x) { return copysign((double)1, x) < 0; }

static inline double dcpy_deg2rad(double x) { return x*(double)(3.141592653589793238462643383279502884/180.0); }

static inline double dcpy_rad2deg(double x) { return x*(double)(180.0/3.141592653589793238462643383279502884); }

static inline double dcpy_spacing(double x)
{
    const double infinity = (double)__builtin_inf();
    if (fabs(x) == infinity) return infinity - infinity;
    return nextafter(x, x < 0 ? -infinity : infinity) - x;
}

// fmod without a loop where the quotient is small: the remainder is exact, as one rounding of fma leaves it.
static inline double dcpy_fmod(double a, double b)
{
#if defined(__FMA__) && !defined(__CUDACC__) && !defined(__HIPCC__)
    const double quotient = trunc(a/b);
    if (fabs(quotient) < (double)4194304) {
        if (quotient == 0) return a;
        double rest = __builtin_fma(-quotient, b, a);
        if (rest == 0) return copysign((double)0, a);
        // a/b was rounded up to the next integer
        if ((rest < 0) != (a < 0)) rest = __builtin_fma(copysign((double)1, quotient) - quotient, b, a);
        return rest;
    }
#endif
    return fmod(a, b);
}

// The remainder that goes with the quotient rounded down: it has the divisor's sign.
static inline double dcpy_remainder(double a, double b)
{
    double rest = dcpy_fmod(a, b);
    if (b == 0) return rest;
    if (rest == 0) return copysign((double)0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

// The remainder by 1: exact, or rounded once, as by way of fmod.
static inline double dcpy_remainder_by_one(double x) { return x - floor(x); }

// The quotient rounded down, consistent with the remainder above (Python's algorithm).
static inline double dcpy_floor_divide(double a, double b)
{
    if (b == 0) return a/b;
    const double rest = dcpy_fmod(a, b);
    double quotient = (a - rest)/b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= (double)1;
    if (quotient == 0) return copysign((double)0, a/b);
    const double rounded = floor(quotient);
    return quotient - rounded > (double)0.5 ? rounded + (double)1 : rounded;
}

static inline double dcpy_logaddexp(double a, double b)
{
    if (a == b) return a + (double)0.693147180559945309417232121458176568;
    const double gap = a - b;
    if (gap > 0) return a + log1p(exp(-gap));
    return gap <= 0 ? b + log1p(exp(gap)) : gap;
}

static inline double dcpy_logaddexp2(double a, double b)
{
    const double log2e = (double)1.442695040888963407359924681001892137;
    if (a == b) return a + (double)1;
    const double gap = a - b;
    if (gap > 0) return a + log2e*log1p(exp2(-gap));
    return gap <= 0 ? b + log2e*log1p(exp2(gap)) : gap;
}

// The next float16 after x towards y, by its bits.
static inline _Float16 dcpy_nextafter_half(_Float16 x, _Float16 y)
{
    uint16_t bits;
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    __builtin_memcpy(&bits, &x, 2);
    if (x == 0) bits = y > x ? 0x0001 : 0x8001;
    else bits = (y > x) == (x > 0) ? bits + 1 : bits - 1;
    __builtin_memcpy(&x, &bits, 2);
    return x;
}

// Unlike that of the wider types, NumPy's spacing of a negative float16 is positive.
static inline _Float16 dcpy_spacing_half(_Float16 x)
{
    const float infinity = __builtin_inff();
    if (!(fabsf((float)x) < infinity)) return (_Float16)(infinity - infinity);
    return (_Float16)((float)dcpy_nextafter_half(x, (_Float16)infinity) - (float)x);
}

// In double precision for floats too. `tgamma` itself says -inf or NaN at the poles, according to the C library.
template <class T>
static inline T dcpy_gamma(T x)
{
    const double wide = double(x);
    return x < 0 && wide == floor(wide) ? T(__builtin_nan("")) : T(tgamma(wide));
}

// lgamma itself writes a global variable.
template <class T>
static inline T dcpy_lgamma(T x)
{
    int sign;
    return T(lgamma_r(double(x), &sign));
}

static inline int64_t dcpy_bits_of(double x)
{
    int64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

// Of a whole number from -1022 to 1023.
static inline double dcpy_power_of_two(int64_t exponent)
{
    const int64_t bits = (exponent + 1023) << 52;
    double power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return power;
}

// The least whole number e with |x| < 2**e; 0 of zeros, infinities and NaN. Without branches, by the bits of x.
template <class T>
static inline T dcpy_exponent(T x)
{
    const double size = fabs(double(x)), least_normal = 2.2250738585072014e-308;
    const bool tiny = size < least_normal;
    const int64_t exponent = (dcpy_bits_of(tiny ? size*18014398509481984.0 : size) >> 52) - (tiny ? 1076 : 1022);
    return size > 0 && size < __builtin_inf() ? T(exponent) : T(0);
}

// x * 2**exponent, rounded once; the exponent is a whole number, or NaN for none. Without branches: the last of three
// powers of two is as large as it can be, so that the others are exact unless the result is zero or infinite.
template <class T>
static inline T dcpy_ldexp(T x, T exponent)
{
    const double wanted = double(exponent);
    const int64_t whole = (int64_t)(wanted < -2100 ? -2100.0 : wanted > 2100 ? 2100.0 : wanted == wanted ? wanted : 0.0);
    const int64_t last = whole < -1022 ? -1022 : whole > 1023 ? 1023 : whole;
    const int64_t first = (whole - last) >> 1, second = whole - last - first;
    const double scaled = double(x)*dcpy_power_of_two(first)*dcpy_power_of_two(second);
    return T(scaled*dcpy_power_of_two(last));
}

static inline double dcpy_power_of_ten(double exponent)
{
    static const double powers[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
                                      1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return powers[(int)exponent];
}

// Python's round(x, digits). Before the point the IEEE remainder is exact, and a tie is one of even multiples. Behind it
// the product with a power of ten is exact with its rounding error, which decides between halves; a quotient of two
// floats that hold a decimal number exactly is the float nearest to it. From 2^53 on there is nothing to round.
template <class T>
static inline T dcpy_round_to(T number, T digits)
{
    const double x = double(number);
    if (!(fabs(x) < __builtin_inf()) || !(fabs(double(digits)) <= 22)) return number;
    if (digits < 0) return T(copysign(x - remainder(x, dcpy_power_of_ten(-double(digits))), x));
    const double scale = dcpy_power_of_ten(double(digits)), product = x*scale;
    if (!(fabs(product) < 9007199254740992.0)) return number;
    const double rest = fma(x, scale, -product);
    double whole = rint(product);
    const double gap = fabs(product - whole);
    if (gap == 0.5 && rest != 0) whole = rest > 0 ? ceil(product) : floor(product);
    else if (gap == 0 && fabs(rest) == 0.5 && fmod(whole, 2.0) != 0) whole += 2*rest;
    return T(whole/scale);
}

// Where erfc is q, below 1: Winitzki's approximation, and at most three of Halley's steps, each of which triples the
// digits: none follows one that was as short as a third of them.
static inline double dcpy_tail(double q)
{
    const double known = log(q*(2 - q)), half = 2/(3.14159265358979323846*0.147) + 0.5*known;
    double x = sqrt(sqrt(half*half - known/0.147) - half);
    for (int step = 0; step < 3; ++step) {
        const double gap = (q - erfc(x))/(1.1283791670955125739*exp(-x*x));
        x -= gap/(1 + x*gap);
        if (fabs(gap) < 1e-7*x) break;
    }
    return x;
}

template <class T>
static inline T dcpy_erfinv(T number)
{
    const double y = double(number);
    if (!(fabs(y) < 1)) return T(fabs(y) == 1 ? copysign(__builtin_inf(), y) : __builtin_nan(""));
    if (fabs(y) >= 0.5) return T(copysign(dcpy_tail(1 - fabs(y)), y));
    double x = y/1.1283791670955125739*(1 + y*y*(3.14159265358979323846/12));
    for (int step = 0; step < 3; ++step) {
        const double gap = (erf(x) - y)/(1.1283791670955125739*exp(-x*x));
        x -= gap/(1 + x*gap);
        if (fabs(gap) < 1e-7*fabs(x)) break;
    }
    return T(x);
}

template <class T>
static inline T dcpy_erfcinv(T number)
{
    const double q = double(number);
    if (!(q > 0 && q < 2)) return T(q == 0 ? __builtin_inf() : q == 2 ? -__builtin_inf() : __builtin_nan(""));
    return T(q < 0.5 ? dcpy_tail(q) : q > 1.5 ? -dcpy_tail(2 - q) : dcpy_erfinv<double>(1 - q));
}

// Stirling's series behind twelve steps, and a reflection.
template <class T>
static inline T dcpy_digamma(T number)
{
    double x = double(number), found = 0;
    if (x == 0) return T(copysign(__builtin_inf(), -x));
    if (x < 0.5) {
        if (x == floor(x)) return T(__builtin_nan(""));
        const double turned = 3.14159265358979323846*(x - rint(x));
        found = -3.14159265358979323846*cos(turned)/sin(turned);
        x = 1 - x;
    }
    if (!(x < __builtin_inf())) return T(x);
    const double factors[7] = {1.0/12, -691.0/32760, 1.0/132, -1.0/240, 1.0/252, -1.0/120, 1.0/12};
    const double far = x + 12;
    double series = 0;
    for (int k = 0; k < 7; ++k) series = (factors[k] + series)/(far*far);
    double steps = 0;
    for (int k = 0; k < 12; ++k) steps += 1/(x + k);
    return T(found + log(far) - 0.5/far - series - steps);
}
