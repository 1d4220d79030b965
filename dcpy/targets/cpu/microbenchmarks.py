"""Microbenchmarks of a processor: loops whose time is dominated by one thing each.

It is compiled as programs are, with the same flags, so that the figures are those of their code. What could be left
out because nobody needs it is returned.
"""

from __future__ import annotations

from dcpy.base.library_environment import Environment
from dcpy.base.vector_math import LIBRARY, vector_functions
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.codegen.prelude import vectorized

#: operations with a table entry whose time in vector code is measured, and how C++ spells them
OPERATIONS = {
    "div": "y / x", "sqrt": "sqrt(x)", "exp": "exp(x)", "log": "log(x)", "sin": "sin(x)", "cos": "cos(x)",
    "tan": "tan(x)", "pow": "pow(x, y)", "asin": "asin(x)", "acos": "acos(x)", "atan": "atan(x)", "sinh": "sinh(x)",
    "cosh": "cosh(x)", "tanh": "tanh(x)", "hypot": "hypot(x, y)", "atan2": "atan2(x, y)",
}  # fmt: skip
#: operations of which the next one waits for the result, of values that stay as they are
CHAINS = {
    "add": "x + y", "mul": "x * y", "div": "y / x", "sqrt": "sqrt(x)", "exp": "exp(x) - y", "pow": "pow(x, y)",
}  # fmt: skip
ROW = 512  #: elements that stay in the first-level cache
SUMS = 12  #: vectors that are on their way at once
FUNCTIONS = ["exp", "log", "sin", "cos", "tan", "pow", "asin", "acos", "atan", "sinh", "cosh", "tanh", "hypot", "atan2"]
TWO = ("pow", "hypot", "atan2")  #: functions of two arguments
PREFIX = "scipy_"  #: of the functions of the OpenBLAS that comes with dcpy
TEXT = """#include <sys/mman.h>
typedef long long count;
#ifdef __AVX__
#define BYTES 32
#else
#define BYTES 16
#endif
typedef double vector __attribute__((vector_size(BYTES)));

extern "C" count probe_vector_bytes() { return BYTES; }

// A product and a sum of each of twelve vectors in a round: enough of them to hide how long each takes.
extern "C" double probe_operation(count rounds, double y)
{
    vector x[12], factor = vector{} + 0.999, more = vector{} + y;
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) x[k] = vector{} + (y + k);
    for (count r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
        for (int k = 0; k < 12; ++k) x[k] = x[k] * factor + more;
    }
    for (int k = 1; k < 12; ++k) x[0] += x[k];
    return x[0][0];
}

extern "C" void probe_gather(count rounds, const double *a, const count *at, double *b)
{
    for (count r = 0; r < rounds; ++r) {
#pragma omp simd
        for (int k = 0; k < ROW; ++k) b[k] = a[at[k]];
        asm volatile("" : : "r"(b) : "memory");
    }
}

// Lines of a cache, or of memory, in any order; none waits for another one.
extern "C" double probe_lines(count rounds, const double *a, const count *at, count n)
{
    double sums[4] = {};
    for (count r = 0; r < rounds; ++r)
        for (count k = 0; k + 4 <= n; k += 4)
            for (int part = 0; part < 4; ++part) sums[part] += a[at[k + part]];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

// Many short loops; what their elements take is little beside their beginning and their end.
extern "C" void probe_loop(count rounds, const double *a, double *b, const count *lengths)
{
    for (count r = 0; r < rounds; ++r)
        for (int k = 0; k < 64; ++k) {
            const count n = lengths[k];
#pragma omp simd
            for (count i = 0; i < n; ++i) b[8*k + i] = a[8*k + i] * 0.5;
            asm volatile("" : : "r"(b) : "memory");
        }
}

static inline double read(const double *a, count n)
{
    vector sums[8] = {};
    for (count i = 0; i + 8*(BYTES/8) <= n; i += 8*(BYTES/8))
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) sums[k] += *(const vector *)(a + i + k*(BYTES/8));
    for (int k = 1; k < 8; ++k) sums[0] += sums[k];
    return sums[0][0];
}

extern "C" double probe_read(count rounds, const double *a, count n)
{
    double sum = 0.0;
    for (count r = 0; r < rounds; ++r) {
        asm volatile("" : : "r"(a) : "memory");
        sum += read(a, n);
    }
    return sum;
}

extern "C" double probe_read_all(int threads, const double *a, count n)
{
    double sum = 0.0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : sum)
    for (int part = 0; part < threads; ++part) sum += read(a + n/threads/8*8 * part, n/threads/8*8);
    return sum;
}

extern "C" void probe_forks(int threads, count rounds, double *a)
{
    for (count r = 0; r < rounds; ++r) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int k = 0; k < 64*threads; ++k) a[k] += 1.0;
    }
}

extern "C" void probe_barriers(int threads, count rounds)
{
#pragma omp parallel num_threads(threads)
    for (count r = 0; r < rounds; ++r) {
#pragma omp barrier
    }
}

extern "C" double *probe_map(count bytes)
{
    void *place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return place == MAP_FAILED ? nullptr : (double *)place;
}

extern "C" void probe_touch(count pages, double *place)
{
    for (count page = 0; page < pages; ++page) place[512*page] = 1.0;
}

extern "C" void probe_unmap(count bytes, double *place) { munmap(place, bytes); }
"""
ELEMENTWISE = """
extern "C" void probe_{name}(count rounds, const double *a, double y, double *b)
{{
    for (count r = 0; r < rounds; ++r) {{
#pragma omp simd
        for (int k = 0; k < ROW; ++k) {{ const double x = a[k]; b[k] = {code}; }}
        asm volatile("" : : "r"(b) : "memory");
    }}
}}
"""
CHAIN = """
extern "C" double probe_chain_{name}(count rounds, double x, double y)
{{
    for (count r = 0; r < rounds; ++r) x = {code};
    return x;
}}
"""
PRODUCT = """
extern "C" double {prefix}cblas_ddot(int, const double *, int, const double *, int);
extern "C" void {prefix}cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int,
                                    double, double *, int);
extern "C" void {prefix}openblas_set_num_threads(int);

extern "C" double probe_call(count rounds, const double *a)
{{
    double sum = 0.0;
    for (count r = 0; r < rounds; ++r) sum += {prefix}cblas_ddot(4, a, 1, a, 1);
    return sum;
}}

extern "C" void probe_product(int threads, int n, const double *a, const double *b, double *c)
{{
    {prefix}openblas_set_num_threads(threads);
    {prefix}cblas_dgemm(101, 111, 111, n, n, n, 1.0, a, n, b, n, 0.0, c, n);
}}
"""


def probe(blas: Environment | None) -> Artifact:
    """The program, with products where there is an OpenBLAS to measure."""
    vector = vector_functions() & set(FUNCTIONS)
    parts = [f"#define ROW {ROW}\n", *(_declared(name, name in vector) for name in ("sqrt", *FUNCTIONS)), TEXT]
    parts += [ELEMENTWISE.format(name=name, code=code) for name, code in OPERATIONS.items()]
    parts += [CHAIN.format(name=name, code=code) for name, code in CHAINS.items()]
    if blas is not None:
        parts.append(PRODUCT.format(prefix=PREFIX))
    environments = (*([LIBRARY] if vector else []), *([] if blas is None else [blas]))
    unit = Unit("probe.cpp", "".join(parts), "C++", ("-std=c++17",))
    return Artifact(Signature("probe", ()), (unit,), environments, ("-fopenmp",))


def _declared(name: str, vector: bool) -> str:
    arguments = "double, double" if name in TWO else "double"
    declaration = f'extern "C" double {name}({arguments}) noexcept;'
    return f"{vectorized(declaration) if vector else declaration}\n"
