// One launch: its blocks one after the other, the threads of a block in turns, in an order that the seed decides.
//
// A worker fiber runs one thread after the other, for as long as none of them waits: a kernel without barriers needs one
// fiber, and no switch. A thread that waits keeps its fiber, and the rest of the block goes on upon another one.

#include "simulator.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>

namespace simulator::blocks {

namespace {

enum State : uint8_t { UNSTARTED, READY, WAITING, ENDED, FAILED };

struct Thread {
    Fiber *fiber;
    int32_t line;
    uint8_t kind;
    State state;
    bool has_failed;
};

struct Warp {
    int32_t size, waiting, ended, turn;  // `ended`: that have failed, and left
    int32_t kind, line;
    char slots[2][64][16];  // what lanes have put into the shuffle of this turn, and the one before
    uint64_t filled[2];
};

constexpr int ORDERS = 4;
constexpr int64_t GAP = 64;  // between shared arrays

struct {
    Launch launch;
    Settings settings;
    const dcpy_kernel_row *row;
    dcpy_simulated *state;
    bool is_running = false;
    Fiber *fiber;  // the one that runs now
    int32_t count, next, ended, waiting, line, failed;  // `ended` counts those that have `failed`, too
    const int32_t *order;
    bool prefers_ready;
    std::vector<int32_t> orders[ORDERS], ready;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<Named> arrays;
    int64_t shared_used, shared_bytes;
    Random random;
    std::string problem;
} now;

std::string triple(int64_t x, int64_t y, int64_t z)
{
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

std::string thread_name(int32_t t)
{
    const int32_t *n = now.launch.threads;
    return "thread " + triple(t % n[0], t / n[0] % n[1], t / n[0] / n[1]);
}

std::string block_name() { return "block " + triple(now.state->block[0], now.state->block[1], now.state->block[2]); }

std::string kernel_name() { return std::string("kernel ") + now.row->name; }

const char *meeting_name(int32_t kind)
{
    static const char *names[DCPY_MEETINGS] = {"the block's barrier", "the warp's barrier", "the shuffle"};
    return names[kind];
}

std::string at(const Thread &thread)
{
    return std::string(meeting_name(thread.kind)) + " at " + line_of(now.launch.unit, thread.line);
}

void enter(int32_t t)
{
    dcpy_simulated *s = now.state;
    const int32_t *n = now.launch.threads;
    s->number = t;
    if (n[1] == 1 && n[2] == 1) {
        s->thread[0] = t;
        return;
    }
    s->thread[0] = t % n[0];
    s->thread[1] = t / n[0] % n[1];
    s->thread[2] = t / n[0] / n[1];
}

void make_ready(int32_t t)
{
    now.threads[t].state = READY;
    now.ready.push_back(t);
}

void open_block_barrier()
{
    now.waiting = 0;
    hooks::met_block();
    for (int32_t k = now.count; k-- > 0;)
        if (now.threads[now.order[k]].state == WAITING) make_ready(now.order[k]);
    now.order = now.orders[now.random.below(ORDERS)].data();
}

void open_warp(int32_t w)
{
    Warp &warp = now.warps[w];
    if (warp.kind == DCPY_MEET_WARP) hooks::met_warp(w);
    warp.waiting = 0;
    ++warp.turn;
    warp.filled[warp.turn % 2] = 0;  // of the shuffle before: all have read it, as all are here
    const int32_t first = w * now.settings.warp, shift = int32_t(now.random.below(warp.size));
    for (int32_t k = 0; k < warp.size; ++k) {
        const int32_t t = first + (k + shift) % warp.size;
        if (now.threads[t].state == WAITING && now.threads[t].kind != DCPY_MEET_BLOCK) make_ready(t);
    }
}

void work();

// Whoever runs on: a thread that may, else one that has not begun, else whoever launched. Does not save the fiber that
// runs now where `from` is null: it has nothing left to do.
void go_on(Fiber *from)
{
    Fiber *to;
    const bool is_fresh = now.next < now.count;
    if (!now.ready.empty() && (now.prefers_ready || !is_fresh)) {
        const int32_t t = now.ready.back();
        now.ready.pop_back();
        enter(t);
        to = now.threads[t].fiber;
    } else if (is_fresh) {
        to = nullptr;
    } else {
        to = &fibers::host;
    }
    if (to == from && from) return;
    if (!to && !(to = fibers::take(work))) stop("the host has no memory for the stacks of so many threads");
    now.fiber = to;
    fibers::switch_to(from ? from : &fibers::nobody, to);
}

void end_thread(int32_t t)
{
    Thread &thread = now.threads[t];
    thread.state = thread.has_failed ? FAILED : ENDED;
    ++now.ended;
    if (!thread.has_failed) return;
    Warp &warp = now.warps[t / now.settings.warp];
    ++now.failed;
    ++warp.ended;
    if (now.waiting > 0 && now.waiting + now.failed == now.count) open_block_barrier();
    if (warp.waiting > 0 && warp.waiting + warp.ended == warp.size) open_warp(t / now.settings.warp);
}

void work()
{
    while (now.next < now.count) {
        const int32_t t = now.order[now.next++];
        enter(t);
        now.threads[t].fiber = now.fiber;
        now.row->entry(now.launch.args);
        end_thread(now.state->number);
        if (now.prefers_ready && !now.ready.empty()) break;
    }
    fibers::give_back(now.fiber);
    go_on(nullptr);
}

void differ(const Thread &mine, int32_t other, const char *whose)
{
    stop(block_name() + " cannot go on: " + thread_name(now.state->number) + " waits for " + at(mine) + ", " +
         thread_name(other) + whose + " for " + at(now.threads[other]));
}

int32_t waiting_at_block()
{
    for (int32_t t = 0; t < now.count; ++t)
        if (now.threads[t].state == WAITING && now.threads[t].kind == DCPY_MEET_BLOCK && t != now.state->number) return t;
    return now.state->number;
}

int32_t waiting_in_warp(int32_t w)
{
    for (int32_t t = w * now.settings.warp; t < w * now.settings.warp + now.warps[w].size; ++t)
        if (now.threads[t].state == WAITING && now.threads[t].kind != DCPY_MEET_BLOCK && t != now.state->number) return t;
    return now.state->number;
}

void meet(int32_t kind, int32_t line)
{
    const int32_t t = now.state->number, w = t / now.settings.warp;
    Thread &me = now.threads[t];
    me.kind = uint8_t(kind);
    me.line = line;
    me.state = WAITING;
    if (kind == DCPY_MEET_BLOCK) {
        if (now.waiting++ == 0) now.line = line;
        if (now.line != line) differ(me, waiting_at_block(), " of the same block");
        if (now.waiting + now.failed == now.count) open_block_barrier();
    } else {
        Warp &warp = now.warps[w];
        if (warp.waiting++ == 0) warp.kind = kind, warp.line = line;
        if (warp.kind != kind || warp.line != line) differ(me, waiting_in_warp(w), " of the same warp");
        if (warp.waiting + warp.ended == warp.size) open_warp(w);
    }
    go_on(me.fiber);
}

void exchange(int32_t line, const void *mine, int32_t bytes, int32_t lane, void *theirs)
{
    const int32_t t = now.state->number, own = t % now.settings.warp;
    Warp &warp = now.warps[t / now.settings.warp];
    const int turn = warp.turn % 2;
    memcpy(warp.slots[turn][own], mine, size_t(bytes));
    warp.filled[turn] |= uint64_t(1) << own;
    meet(DCPY_MEET_SHUFFLE, line);
    if (warp.filled[turn] >> lane & 1) memcpy(theirs, warp.slots[turn][lane], size_t(bytes));
    else memset(theirs, POISON, size_t(bytes));  // nobody is there: on a device, anything
}

void share(dcpy_shared_array *array, int64_t bytes, int64_t alignment, const char *name)
{
    const int64_t room = alignment > 16 ? alignment : 16;
    const int64_t start = (now.shared_used + GAP + room - 1) / room * room;
    now.shared_bytes += bytes;
    if (now.shared_bytes > now.row->shared)
        stop(std::string("the array ") + name + " makes " + std::to_string(now.shared_bytes) + " bytes of shared memory, " +
             std::to_string(now.row->shared) + " are declared");
    memset(arena::shared() + now.shared_used, POISON, size_t(start + bytes + GAP - now.shared_used));
    array->place = arena::shared() + start;
    array->launch = now.launch.number;
    now.shared_used = start + bytes;
    now.arrays.push_back({name, arena::shared() + start, bytes});
}

void fail() { now.threads[now.state->number].has_failed = true; }

void misaligned(const void *place, int32_t line)
{
    char number[32];
    snprintf(number, sizeof number, "%p", place);
    stop(std::string("16 bytes at ") + number + " are taken at once at " + line_of(now.launch.unit, line) +
         ": no multiple of 16");
}

// Every state and place in which threads are, with one of them: in the order of their numbers.
std::string groups()
{
    std::vector<std::pair<std::string, std::pair<int64_t, int32_t>>> found;
    for (int32_t t = 0; t < now.count; ++t) {
        const Thread &thread = now.threads[t];
        const std::string what = thread.state == WAITING ? "wait for " + at(thread) : "have ended";
        size_t k = 0;
        while (k < found.size() && found[k].first != what) ++k;
        if (k == found.size()) found.push_back({what, {0, t}});
        ++found[k].second.first;
    }
    std::string text;
    for (auto &[what, many] : found)
        text += (text.empty() ? "" : ", ") + std::to_string(many.first) + " threads " + what + " (" +
                thread_name(many.second) + ")";
    return text;
}

void make_orders()
{
    for (int k = 0; k < ORDERS; ++k) {
        std::vector<int32_t> &order = now.orders[k];
        order.resize(size_t(now.count));
        for (int32_t t = 0; t < now.count; ++t) order[t] = k == 1 && now.settings.seed != 0 ? now.count - 1 - t : t;
        if (k == 0 || now.settings.seed == 0) continue;
        for (int32_t t = now.count - 1; k > 1 && t > 0; --t) std::swap(order[t], order[now.random.below(t + 1)]);
    }
}

void begin_block(int64_t number)
{
    const int64_t *n = now.launch.blocks;
    dcpy_simulated *s = now.state;
    s->block[0] = number % n[0];
    s->block[1] = number / n[0] % n[1];
    s->block[2] = number / n[0] / n[1];
    s->last = 0;
    now.order = now.orders[now.random.below(ORDERS)].data();
    now.prefers_ready = now.random.below(2) == 1;
    now.next = now.waiting = now.failed = 0;
    now.ended = 0;
    now.ready.clear();
    memset((void *)now.threads.data(), 0, now.threads.size() * sizeof(Thread));
    for (size_t w = 0; w < now.warps.size(); ++w) {
        Warp &warp = now.warps[w];
        const int64_t rest = now.count - int64_t(w) * now.settings.warp;
        warp.size = int32_t(rest < now.settings.warp ? rest : now.settings.warp);
        warp.waiting = warp.ended = warp.turn = 0;
        warp.filled[0] = warp.filled[1] = 0;
    }
    if (now.row->shared + now.launch.shared > 0) memset(arena::shared(), POISON, size_t(now.shared_used + GAP));
    hooks::begin_block(number);
}

// Bytes between the shared arrays that somebody wrote.
void check_gaps()
{
    const char *p = arena::shared() + now.launch.shared;
    for (size_t k = 0; k <= now.arrays.size() && now.row->shared > 0; ++k) {
        const bool is_last = k == now.arrays.size();
        const char *to = is_last ? arena::shared() + now.shared_used + GAP : now.arrays[k].place;
        while (p < to && uint8_t(*p) == POISON) ++p;
        if (p < to) {
            now.problem = block_name() + " wrote a byte " + arena::describe(p);
            return;
        }
        if (!is_last) p = now.arrays[k].place + now.arrays[k].bytes;
    }
}

void run_block(int64_t number)
{
    begin_block(number);
    now.fiber = fibers::take(work);
    if (!now.fiber) {
        now.problem = "the host has no memory for stacks";
        return;
    }
    fibers::switch_to(&fibers::host, now.fiber);
    if (now.problem.empty() && now.ended < now.count)
        now.problem = block_name() + " cannot go on: " + groups();
    if (now.problem.empty()) hooks::end_block();
    if (now.problem.empty()) check_gaps();
    if (now.problem.empty() && faults::stray.happened) now.problem = faults::stray.where;
}

int64_t common_divisor(int64_t a, int64_t b) { return b == 0 ? a : common_divisor(b, a % b); }

// All blocks: forwards, backwards, or in steps that come to each of them.
void run_blocks()
{
    const int64_t count = now.launch.blocks[0] * now.launch.blocks[1] * now.launch.blocks[2];
    const int64_t way = now.settings.seed == 0 ? 0 : now.random.below(4);
    int64_t step = way == 0 ? 1 : way == 1 ? count - 1 : now.random.below(count), at = now.random.below(count);
    if (way < 2) at = way == 0 ? 0 : count - 1;
    while (common_divisor(step, count) != 1) ++step;
    for (int64_t k = 0; k < count && now.problem.empty(); ++k) {
        run_block(at);
        at = int64_t((__int128(at) + step) % count);
    }
}

void prepare(const Launch &launch, const Settings &settings)
{
    now.launch = launch;
    now.settings = settings;
    now.row = &launch.unit->rows[launch.kernel];
    now.state = launch.unit->state;
    now.count = launch.threads[0] * launch.threads[1] * launch.threads[2];
    now.random = {settings.seed * 0x9E3779B97F4A7C15u + uint64_t(launch.number)};
    now.problem.clear();
    now.arrays.clear();
    now.shared_used = launch.shared;
    now.shared_bytes = 0;
    now.threads.resize(size_t(now.count));
    now.warps.resize(size_t((now.count + settings.warp - 1) / settings.warp));
    make_orders();
    *now.state = dcpy_simulated{{0, 0, 0}, {launch.threads[0], launch.threads[1], launch.threads[2]}, 0, settings.warp, 0,
                                {0, 0, 0}, {launch.blocks[0], launch.blocks[1], launch.blocks[2]}, launch.number,
                                arena::shared(), meet, exchange, share, fail, nullptr, misaligned, nullptr};
    if (!hooks::begin(launch, settings)) return;
    now.state->arrived = hooks::arrived;
    now.state->touch = hooks::touch;
}

}  // namespace

bool run(const Launch &launch, const Settings &settings, std::string &problem)
{
    sigjmp_buf escape;
    prepare(launch, settings);
    faults::watch();
    arena::open();
    now.is_running = true;
    if (sigsetjmp(escape, 1) == 0) {
        faults::escape = &escape;
        run_blocks();
    } else {
        arena::reopen();
        now.problem = faults::stray.where;
    }
    now.is_running = false;
    hooks::end();
    faults::escape = nullptr;
    std::string overrun;
    if (!arena::repair(overrun) && now.problem.empty()) now.problem = overrun;
    arena::close();
    if (now.problem.empty()) return true;
    fibers::give_back_all();
    problem = kernel_name() + ": " + now.problem;
    return false;
}

bool is_running() { return now.is_running; }

std::string line_of(const dcpy_unit *unit, int32_t line) { return std::string(unit->file) + ":" + std::to_string(line); }

std::string whereabouts() { return thread_name(now.state->number) + " of " + block_name(); }

const Launch &current() { return now.launch; }

const std::vector<Named> &shared_arrays() { return now.arrays; }

void stop(const std::string &problem)
{
    now.problem = problem;
    fibers::switch_to(&fibers::nobody, &fibers::host);
    __builtin_unreachable();
}

}  // namespace simulator::blocks
