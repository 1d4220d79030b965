// cuFFT: sums over all points, term by term, in float64; what is not scaled, as there.

#include "simulated.h"

#include <cmath>
#include <vector>

using namespace simulated;

namespace {

const char *const FFT = "cuFFT";

struct Plan {
    bool allocates = true, is_made = false;
    void *stream = nullptr;
    void *area = nullptr;
    int64_t n = 0, step_x = 0, far_x = 0, step_y = 0, far_y = 0, batch = 0;
    int type = 0;
    int64_t bytes() const { return 16 * n; }
};

std::map<int, Plan> plans;
int made = 0;

Plan *plan_of(int number, int &status)
{
    const auto found = plans.find(number);
    if (found == plans.end()) status = refuse(1, "the plan was not created, or has been destroyed");
    return status ? nullptr : &found->second;
}

// y[k] = sum(x[j] * exp(sign 2 pi i j k / n)), for the first `count` of k.
template <class T, class In>
std::vector<std::complex<T>> transformed(int64_t n, int sign, int64_t count, In input)
{
    std::vector<std::complex<double>> roots(static_cast<size_t>(n)), points(static_cast<size_t>(n));
    const double turn = 2 * 3.141592653589793238462643383279502884;
    for (int64_t j = 0; j < n; ++j) {
        roots[size_t(j)] = std::polar(1.0, sign * turn * double(j) / double(n));
        points[size_t(j)] = input(j);
    }
    std::vector<std::complex<T>> found(static_cast<size_t>(count));
    for (int64_t k = 0; k < count; ++k) {
        std::complex<double> sum = 0;
        for (int64_t j = 0; j < n; ++j) sum += times(points[size_t(j)], roots[size_t(j * k % n)]);
        found[size_t(k)] = std::complex<T>(sum);
    }
    return found;
}

template <class T>
void run(const Plan &p, const void *from, void *to, int kind, int sign)
{
    using C = std::complex<T>;
    const int64_t half = p.n / 2 + 1, count = kind == 2 ? half : p.n;
    for (int64_t line = 0; line < p.batch; ++line) {
        const C *const x = (const C *)from + line * p.far_x;
        const T *const real = (const T *)from + line * p.far_x;
        const auto found = transformed<T>(p.n, sign, count, [&](int64_t j) -> std::complex<double> {
            if (kind == 2) return double(real[j * p.step_x]);
            if (kind < 2 || j < half) {
                const std::complex<double> point(x[j * p.step_x]);
                return kind == 3 && (j == 0 || 2 * j == p.n) ? point.real() : point;
            }
            return std::conj(std::complex<double>(x[(p.n - j) * p.step_x]));
        });
        for (int64_t k = 0; k < count; ++k) {
            const int64_t place = line * p.far_y + k * p.step_y;
            if (kind == 3) ((T *)to)[place] = found[size_t(k)].real();
            else ((C *)to)[place] = found[size_t(k)];
            services->written(kind == 3 ? (void *)((T *)to + place) : (void *)((C *)to + place), kind == 3 ? sizeof(T) : sizeof(C));
        }
    }
}

template <class T>
int execute(int number, int type, void *x, void *y, int kind, int sign)
{
    int status = 0;
    const Plan *const plan = plan_of(number, status);
    if (!plan) return status;
    if (!plan->is_made || plan->type != type) return refuse(2, "the plan is for transforms of another type");
    if (!plan->stream) return refuse(5, "the plan was given no queue: it would use the default one");
    if (plan->allocates) return refuse(5, "the plan has memory of its own, which nobody knows of");
    if (sign != 1 && sign != -1) return refuse(4, "a direction is 1 or -1");
    is_place("the work area", plan->area, plan->bytes(), status);
    const int64_t half = plan->n / 2 + 1, in = kind == 3 ? half : plan->n, out = kind == 2 ? half : plan->n;
    auto reach = [&](int64_t points, int64_t step, int64_t far) { return (points - 1) * step + (plan->batch - 1) * far + 1; };
    is_place("x", x, reach(in, plan->step_x, plan->far_x) * int64_t(kind == 2 ? sizeof(T) : 2 * sizeof(T)), status);
    is_place("y", y, reach(out, plan->step_y, plan->far_y) * int64_t(kind == 3 ? sizeof(T) : 2 * sizeof(T)), status);
    if (status) return status;
    services->submit(plan->stream, [=] {
        // The plan may be gone when its commands are run: then they are wrong, as there.
        int gone = 0;
        if (const Plan *const now = plan_of(number, gone)) run<T>(*now, x, y, kind, sign);
    });
    return DONE;
}

}  // namespace

DCPY_SIMULATED int cufftCreate(int *number)
{
    *number = ++made;
    plans[*number] = Plan{};
    handles(FFT)[(void *)intptr_t(*number)] = Handle{};
    return DONE;
}

DCPY_SIMULATED int cufftDestroy(int number)
{
    handles(FFT).erase((void *)intptr_t(number));
    return plans.erase(number) ? DONE : refuse(1, "the plan is destroyed twice");
}

DCPY_SIMULATED int cufftSetAutoAllocation(int number, int allocates)
{
    int status = 0;
    Plan *const plan = plan_of(number, status);
    if (plan && plan->is_made) return refuse(5, "whether a plan allocates is said before it is made");
    if (plan) plan->allocates = allocates != 0;
    return status;
}

DCPY_SIMULATED int cufftSetStream(int number, void *stream)
{
    int status = 0;
    if (Plan *const plan = plan_of(number, status)) plan->stream = stream;
    return status;
}

DCPY_SIMULATED int cufftMakePlanMany64(int number, int rank, long long *n, long long *, long long step_x, long long far_x,
                                       long long *, long long step_y, long long far_y, int type, long long batch,
                                       size_t *bytes)
{
    int status = 0;
    Plan *const plan = plan_of(number, status);
    if (!plan) return status;
    if (plan->is_made) return refuse(5, "the plan is made twice");
    if (rank != 1 || *n < 1 || batch < 1) return refuse(8, "a size is wrong");
    plan->is_made = true;
    plan->n = *n, plan->step_x = step_x, plan->far_x = far_x, plan->step_y = step_y, plan->far_y = far_y;
    plan->batch = batch, plan->type = type;
    *bytes = size_t(plan->bytes());
    return DONE;
}

DCPY_SIMULATED int cufftSetWorkArea(int number, void *area)
{
    int status = 0;
    Plan *const plan = plan_of(number, status);
    if (plan) plan->area = area;
    return status;
}

DCPY_SIMULATED int cufftExecC2C(int p, void *x, void *y, int sign) { return execute<float>(p, 0x29, x, y, 0, sign); }
DCPY_SIMULATED int cufftExecR2C(int p, void *x, void *y) { return execute<float>(p, 0x2a, x, y, 2, -1); }
DCPY_SIMULATED int cufftExecC2R(int p, void *x, void *y) { return execute<float>(p, 0x2c, x, y, 3, 1); }
DCPY_SIMULATED int cufftExecZ2Z(int p, void *x, void *y, int sign) { return execute<double>(p, 0x69, x, y, 0, sign); }
DCPY_SIMULATED int cufftExecD2Z(int p, void *x, void *y) { return execute<double>(p, 0x6a, x, y, 2, -1); }
DCPY_SIMULATED int cufftExecZ2D(int p, void *x, void *y) { return execute<double>(p, 0x6c, x, y, 3, 1); }
