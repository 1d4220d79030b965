// The stacks of simulated threads, each with a page below that nobody may touch.

#include "simulator.h"

#include <sys/mman.h>

namespace simulator::fibers {

Fiber host = {}, nobody = {};

namespace {

std::vector<Fiber *> all, idle;
std::vector<char *> slabs;
constexpr int64_t PER_SLAB = 64, ROOM = STACK + PAGE;

bool more()
{
    void *slab = mmap(nullptr, PER_SLAB * ROOM, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) return false;
    slabs.push_back((char *)slab);
    for (int64_t k = PER_SLAB - 1; k >= 0; --k) {
        char *guard = (char *)slab + k * ROOM;
        mprotect(guard, PAGE, PROT_NONE);
        all.push_back(new Fiber{nullptr, guard + PAGE, STACK, nullptr});
        idle.push_back(all.back());
    }
    return true;
}

}  // namespace

Fiber *take(void (*work)())
{
    if (idle.empty() && !more()) return nullptr;
    Fiber *fiber = idle.back();
    idle.pop_back();
    dcpy_fiber_begin(fiber, work);
    return fiber;
}

void give_back(Fiber *fiber) { idle.push_back(fiber); }

void give_back_all() { idle = all; }

void switch_to(Fiber *from, Fiber *to) { dcpy_fiber_switch_to(from, to); }

bool holds(const void *place)
{
    for (char *slab : slabs)
        if ((const char *)place >= slab && (const char *)place < slab + PER_SLAB * ROOM) return true;
    return false;
}

bool is_guard(const void *place)
{
    for (char *slab : slabs)
        if ((const char *)place >= slab && (const char *)place < slab + PER_SLAB * ROOM)
            return ((const char *)place - slab) % ROOM < PAGE;
    return false;
}

}  // namespace simulator::fibers
