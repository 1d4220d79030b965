// Races: two accesses to one place, one of which writes, that nothing orders.
//
// What orders accesses: one thread's own steps; a barrier of the block; a barrier of the warp, for its lanes; one launch
// after the other; and the ticket of `dcpy_last_block`, behind which the last block sees what all others did before
// theirs. A shuffle orders nothing, nor does the lockstep of a warp. Atomic accesses do not race with each other.
//
// Each place remembers its last write, and enough of its last reads: the last one, the last one of another thread, and
// the last one of another block.

#include "hooks.h"

#include <cstring>
#include <numeric>

namespace simulator::hooks {

namespace {

struct Touch {
    int64_t block;
    uint32_t launch, epoch, warp_epoch;
    int32_t site;
    uint16_t thread;
    uint8_t how, phase;
};

struct Cell {
    Touch write, read, other_thread, other_block;
};

// What is known of one allocation. A cell stands for `grain` bytes: as many as the smallest access.
struct Shadow {
    int64_t grain = 16;
    std::vector<Cell> cells;
    std::vector<bool> is_written;  // by the byte
    void refine(int64_t to);
};

std::map<int64_t, Shadow> shadows;
Shadow of_shared;
struct {
    uint32_t launch, epoch, warp_epoch;
    int64_t block;
    int32_t warp;
    uint8_t phase, last_phase;  // tickets taken; what the last block sees of others
    std::vector<uint32_t> warp_epochs;
} now;
uint32_t epochs = 0;

void Shadow::refine(int64_t to)
{
    const int64_t parts = grain / to;
    std::vector<Cell> finer(cells.size() * size_t(parts));
    for (size_t k = 0; k < finer.size(); ++k) finer[k] = cells[k / size_t(parts)];
    cells.swap(finer);
    grain = to;
}

Shadow &shadow_of(const Allocation *a)
{
    Shadow &shadow = shadows[a->number];
    if (shadow.cells.empty()) {
        shadow.cells.resize(size_t((a->bytes + shadow.grain - 1) / shadow.grain));
        if (shadow.is_written.empty()) shadow.is_written.resize(size_t(a->bytes));
    }
    return shadow;
}

bool are_ordered(const Touch &before, const Touch &after, Space space)
{
    if (before.launch != after.launch) return true;
    if (before.how == DCPY_ATOMIC && after.how == DCPY_ATOMIC) return true;
    if (before.block != after.block) return space == SHARED || before.phase < now.last_phase;
    if (before.thread == after.thread || before.epoch != after.epoch) return true;
    return before.thread / now.warp == after.thread / now.warp && before.warp_epoch != after.warp_epoch;
}

std::string name_of(const Touch &touch)
{
    const Launch &l = blocks::current();
    const int64_t b = touch.block, t = touch.thread;
    auto triple = [](int64_t x, int64_t y, int64_t z) {
        return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
    };
    return "thread " + triple(t % l.threads[0], t / l.threads[0] % l.threads[1], t / l.threads[0] / l.threads[1]) +
           " of block " + triple(b % l.blocks[0], b / l.blocks[0] % l.blocks[1], b / l.blocks[0] / l.blocks[1]);
}

void report_race(const Touch &before, const Touch &after, const Access &access)
{
    const bool between = before.block != after.block;
    for (Race &known : kernel().races) {
        const bool is_same = known.first == before.site && known.second == after.site;
        const bool is_turned = known.first == after.site && known.second == before.site;
        if (known.between_blocks != between || !(is_same || is_turned)) continue;
        ++known.count;
        return;
    }
    kernel().races.push_back({before.site, after.site, before.how, after.how, between, access.space, 1,
                              name_of(before) + " and " + name_of(after) + ", " +
                                  arena::describe((const void *)access.place)});
}

void report_unwritten(const Access &access, const Touch &touch)
{
    for (Unwritten &known : kernel().unwritten)
        if (known.site == access.site) {
            ++known.count;
            return;
        }
    kernel().unwritten.push_back({access.site, 1, name_of(touch) + ", " + arena::describe((const void *)access.place)});
}

// Whether the access races with what the cell knows; one report is enough for an access.
bool races(const Cell &cell, const Touch &touch, const Access &access)
{
    const Touch *all[] = {&cell.write, &cell.read, &cell.other_thread, &cell.other_block};
    for (int k = 0; k < (touch.how == DCPY_READ ? 1 : 4); ++k)
        if (all[k]->launch != 0 && !are_ordered(*all[k], touch, access.space)) {
            report_race(*all[k], touch, access);
            return true;
        }
    return false;
}

void remember(Cell &cell, const Touch &touch)
{
    if (touch.how != DCPY_READ) {
        cell.write = touch;
        return;
    }
    if (cell.read.block != touch.block || cell.read.launch != touch.launch) cell.other_block = cell.read;
    if (cell.read.block != touch.block || cell.read.thread != touch.thread) cell.other_thread = cell.read;
    cell.read = touch;
}

}  // namespace

void order_launch(const Launch &launch, int32_t warp)
{
    now.launch = uint32_t(launch.number);
    now.warp = warp;
    const int64_t count = int64_t(launch.threads[0]) * launch.threads[1] * launch.threads[2];
    now.warp_epochs.assign(size_t((count + warp - 1) / warp), 0);
    of_shared.grain = 16;
    of_shared.cells.clear();
}

void order_block(int64_t block)
{
    now.block = block;
    now.phase = now.last_phase = 0;
    now.epoch = ++epochs;
}

void order_barrier() { now.epoch = ++epochs; }

void order_warp(int32_t warp) { now.warp_epochs[size_t(warp)] = ++epochs; }

void order_ticket(bool is_last)
{
    ++now.phase;
    if (is_last) now.last_phase = now.phase;
}

void look_for_races(const Access &access)
{
    const bool is_shared = access.space == SHARED;
    const Allocation *a = is_shared ? nullptr : arena::holder((const void *)access.place);
    Shadow &shadow = is_shared ? of_shared : shadow_of(a);
    const int64_t start = int64_t(access.place - uint64_t(is_shared ? arena::shared() : a->place));
    const int64_t grain = std::gcd(std::gcd(start, access.bytes), shadow.grain);
    if (grain < shadow.grain) shadow.refine(grain);
    const size_t end = size_t((start + access.bytes + shadow.grain - 1) / shadow.grain);
    if (is_shared && shadow.cells.size() < end) shadow.cells.resize(end + 64);
    const Touch touch{now.block, now.launch, now.epoch, now.warp_epochs[size_t(access.thread / now.warp)], access.site,
                      uint16_t(access.thread), uint8_t(access.how), now.phase};
    bool is_reported = false, is_missing = false;
    for (int64_t k = start / shadow.grain; k < (start + access.bytes) / shadow.grain; ++k) {
        Cell &cell = shadow.cells[size_t(k)];
        is_reported = is_reported || races(cell, touch, access);
        if (is_shared) is_missing |= cell.write.launch != now.launch || cell.write.block != now.block;
        remember(cell, touch);
    }
    for (int64_t k = start; !is_shared && a->is_watched && k < start + access.bytes; ++k) {
        is_missing |= !shadow.is_written[size_t(k)];
        if (access.how != DCPY_READ) shadow.is_written[size_t(k)] = true;
    }
    if (is_missing && access.how == DCPY_READ) report_unwritten(access, touch);
}

void written(const void *place, int64_t bytes)
{
    const Allocation *a = arena::holder(place);
    if (!a) return;
    Shadow &shadow = shadow_of(a);
    const int64_t start = (const char *)place - a->place;
    for (int64_t k = start; k < start + bytes; ++k) shadow.is_written[size_t(k)] = true;
}

void forget(int64_t allocation) { shadows.erase(allocation); }

}  // namespace simulator::hooks
