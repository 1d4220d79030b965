// Transforms. A plan is made at the first call of its kind, and kept: the last sixteen of each queue.
//
// CUDA's plans are numbers, HIP's are pointers: they are passed as pointers, of which CUDA's functions read the low half.

#include <algorithm>

#include "calls.h"

namespace dcpy {

namespace {

constexpr size_t KEPT = 16;
constexpr int SINGLE[] = {0x29, 0x29, 0x2a, 0x2c}, DOUBLE[] = {0x69, 0x69, 0x6a, 0x6c};  // by kind: C2C, C2C, R2C, C2R
constexpr const char *LETTERS[][4] = {{"C2C", "C2C", "R2C", "C2R"}, {"Z2Z", "Z2Z", "D2Z", "Z2D"}};

int32_t destroy(Calls &calls, dcpy_device *device, OnQueue &on)
{
    if (const int32_t status = device->wait(device)) return status;  // what it was queued for needs it
    const std::string name = std::string(calls.words.fft) + "Destroy";
    void *const entry = calls.fft.find(name);
    const int status = entry ? as<int (*)(void *)>(entry)(on.plans.back().number) : 0;
    on.plans.pop_back();
    return calls.answer(device, calls.fft, name, status);
}

// A plan for `batch` lines of n points: sizes of x and y, then distances of points and of lines in both.
int32_t make(Calls &calls, dcpy_device *device, OnQueue &on, void *stream, bool is_double, int64_t kind, int64_t n,
             int64_t batch, const int64_t *steps, std::vector<int64_t> key)
{
    const std::string prefix = calls.words.fft;
    std::string name;
    int status = 0;
    auto tell = [&](const char *what, auto function, auto... args) {
        if (status) return;
        name = prefix + what;
        void *const entry = calls.fft.find(name);
        status = entry ? as<decltype(function)>(entry)(args...) : -1;
    };
    Plan plan{std::move(key), nullptr, 0};
    long long length = n, points_x = kind == 3 ? n / 2 + 1 : n, points_y = kind == 2 ? n / 2 + 1 : n;
    const int type = (is_double ? DOUBLE : SINGLE)[kind];
    using Count = long long;
    using Make = int (*)(void *, int, Count *, Count *, Count, Count, Count *, Count, Count, int, Count, size_t *);
    tell("Create", (int (*)(void **))nullptr, &plan.number);
    const bool exists = status == 0;
    tell("SetAutoAllocation", (int (*)(void *, int))nullptr, plan.number, 0);
    tell("SetStream", (int (*)(void *, void *))nullptr, plan.number, stream);
    tell("MakePlanMany64", (Make)nullptr, plan.number, 1, &length, &points_x, Count(steps[0]), Count(steps[2]), &points_y,
         Count(steps[1]), Count(steps[3]), type, Count(batch), &plan.bytes);
    if (exists) on.plans.push_front(std::move(plan));
    if (status) {
        if (exists) {
            on.plans.splice(on.plans.end(), on.plans, on.plans.begin());
            destroy(calls, device, on);
        }
        return status == -1 ? calls.lacks(device, name) : calls.answer(device, calls.fft, name, status);
    }
    return on.plans.size() > KEPT ? destroy(calls, device, on) : DCPY_DONE;
}

int execute(Calls &calls, const std::string &name, Plan &plan, int64_t kind, char *x, char *y)
{
    void *const entry = calls.fft.find(name);
    if (!entry) return -1;
    if (kind < 2) return as<int (*)(void *, void *, void *, int)>(entry)(plan.number, x, y, kind == 0 ? -1 : 1);
    return as<int (*)(void *, void *, void *)>(entry)(plan.number, x, y);
}

}  // namespace

int32_t call_fft(Calls &calls, dcpy_device *device, const int64_t *numbers, void *const *places)
{
    const bool is_double = numbers[0] == 'd';
    const int64_t kind = numbers[1], n = numbers[2], outer = numbers[3], inner = numbers[6];
    if (n <= 0 || outer <= 0 || inner <= 0) return DCPY_DONE;
    const int64_t steps[] = {numbers[9], numbers[10], numbers[7], numbers[8]};
    void *stream;
    OnQueue *on;
    if (const int32_t status = calls.queue(device, &stream, &on)) return status;
    const std::vector<int64_t> key = {is_double, kind, n, inner, steps[0], steps[1], steps[2], steps[3]};
    const auto found = std::find_if(on->plans.begin(), on->plans.end(), [&](const Plan &p) { return p.key == key; });
    if (found != on->plans.end())
        on->plans.splice(on->plans.begin(), on->plans, found);
    else if (const int32_t status = make(calls, device, *on, stream, is_double, kind, n, inner, steps, key))
        return status;
    Plan &plan = on->plans.front();
    if (const int32_t status = calls.room(device, *on, int64_t(plan.bytes))) return status;
    const std::string area = std::string(calls.words.fft) + "SetWorkArea";
    void *const set_area = calls.fft.find(area);
    if (!set_area) return calls.lacks(device, area);
    if (const int32_t status = calls.answer(device, calls.fft, area,
                                            as<int (*)(void *, void *)>(set_area)(plan.number, on->space)))
        return status;
    const std::string name = std::string(calls.words.fft) + "Exec" + LETTERS[is_double][kind];
    const int64_t real = is_double ? 8 : 4, of_x = kind == 2 ? real : 2 * real, of_y = kind == 3 ? real : 2 * real;
    for (int64_t line = 0; line < outer; ++line) {
        char *const x = (char *)places[0] + line * numbers[4] * of_x, *const y = (char *)places[1] + line * numbers[5] * of_y;
        const int status = execute(calls, name, plan, kind, x, y);
        if (status == -1) return calls.lacks(device, name);
        if (status) return calls.answer(device, calls.fft, name, status);
    }
    return DCPY_DONE;
}

void close_fft(Calls &calls, OnQueue &on)
{
    void *const entry = calls.fft.find(std::string(calls.words.fft) + "Destroy");
    for (const Plan &plan : on.plans)
        if (entry) as<int (*)(void *)>(entry)(plan.number);
    on.plans.clear();
}

}  // namespace dcpy
