// The memory of the device: a range of addresses that only kernels and copies may touch.
//
// Every allocation has pages of its own, with a page behind them that nobody may touch, and ends within 256 bytes of it;
// red zones fill the rest. Fresh memory is NaN. Addresses are not given out again until the range is used up, so that a
// place that was released is found out. While host code runs, everything is protected: by a protection key where the
// processor has them (a switch is one instruction), else page by page.

#include "simulator.h"

#include <sys/mman.h>

#include <cstring>

#if defined(__linux__) && defined(__x86_64__) && !defined(DCPY_PORTABLE)
#define HAS_KEYS 1
#else
#define HAS_KEYS 0
#endif

namespace simulator {

uint64_t Random::next()  // splitmix64
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

namespace arena {

namespace {

char *base = nullptr, *end = nullptr, *shared_room = nullptr, *heap = nullptr, *next = nullptr;
std::map<char *, Allocation *> known;  // by their first page; those that are gone, too, until the pages are reused
std::map<char *, int64_t> pinned;
std::map<int64_t, int64_t> used;  // bytes of each program
int64_t count = 0, opened = 0;

// The key of the pages that are the device's; -1: there are no keys.
int key = -1;

#if HAS_KEYS
void set_rights(bool is_open)
{
    unsigned rights, high;
    asm volatile("rdpkru" : "=a"(rights), "=d"(high) : "c"(0));
    rights = is_open ? rights & ~(3u << 2 * key) : rights | 3u << 2 * key;
    asm volatile("wrpkru" : : "a"(rights), "c"(0), "d"(0) : "memory");
}

void find_key() { key = pkey_alloc(0, PKEY_DISABLE_ACCESS); }

int set_pages(char *from, char *to, int rights) { return pkey_mprotect(from, size_t(to - from), rights, key); }
#else
void set_rights(bool) {}

void find_key() {}

int set_pages(char *from, char *to, int rights) { return mprotect(from, size_t(to - from), rights); }
#endif

bool make_pages(char *from, char *to, bool is_open)
{
    if (key >= 0) return set_pages(from, to, PROT_READ | PROT_WRITE) == 0;
    return mprotect(from, size_t(to - from), is_open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

void make_all_pages(bool is_open)
{
    make_pages(shared_room, shared_room + SHARED_ROOM, is_open);
    for (auto &[first, allocation] : known)
        if (!allocation->is_gone) make_pages(first, allocation->last, is_open);
}

void protect_all(bool is_open)
{
    if (key >= 0) set_rights(is_open);
    else make_all_pages(is_open);
}

int64_t rounded(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

// `size` bytes of addresses, and nothing that lives in them.
char *find_room(int64_t size)
{
    if (end - next < size) next = heap;
    for (auto found = known.lower_bound(next); found != known.end();) {
        Allocation *allocation = found->second;
        if (found->first - next >= size) break;
        if (!allocation->is_gone) {
            next = allocation->last + PAGE;
            found = known.lower_bound(next);
            continue;
        }
        delete allocation;
        found = known.erase(found);
    }
    return end - next < size ? nullptr : next;
}

// What red zones hold: NaN too, but another one.
const char *zone()
{
    static char bytes[2 * PAGE] = {};
    if (!bytes[0])
        for (int64_t k = 0; k < 2 * PAGE; ++k) bytes[k] = k % 2 ? char(0xFF) : char(0xFE);
    return bytes;
}

void fill_zones(Allocation *a)
{
    char *behind = a->place + a->bytes;
    memcpy(a->first, zone(), size_t(a->place - a->first));
    memcpy(behind, zone() + (behind - a->first) % 2, size_t(a->last - behind));
}

// The first byte of the red zones that is not what it was; null: all are.
const char *changed(const Allocation *a)
{
    for (const char *p = a->first; p < a->last; ++p) {
        if (p == a->place) p += a->bytes;
        if (p < a->last && *p != zone()[(p - a->first) % 2]) return p;
    }
    return nullptr;
}

bool zones_are_whole(const Allocation *a)
{
    const char *behind = a->place + a->bytes;
    return memcmp(a->first, zone(), size_t(a->place - a->first)) == 0 &&
           memcmp(behind, zone() + (behind - a->first) % 2, size_t(a->last - behind)) == 0;
}

}  // namespace

bool prepare()
{
    if (base) return true;
    for (int64_t size = int64_t(1) << 40; size >= int64_t(1) << 28; size /= 2) {
        void *found = mmap(nullptr, size_t(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED) continue;
        base = (char *)found;
        end = base + size;
        shared_room = base + PAGE;
        heap = next = shared_room + SHARED_ROOM + PAGE;
        find_key();
        make_pages(shared_room, shared_room + SHARED_ROOM, false);
        return true;
    }
    return false;
}

Allocation *allocate(int64_t owner, int64_t bytes, int64_t limit, std::string &problem)
{
    const int64_t left = limit - used[owner];
    const int64_t room = rounded(rounded(bytes > 0 ? bytes : 1, ALIGNMENT) + ALIGNMENT, PAGE);
    char *first = bytes < 0 || bytes > left ? nullptr : find_room(room + PAGE);
    if (!first || !make_pages(first, first + room, true)) {
        problem = "out of memory: " + std::to_string(bytes) + " bytes asked for, " + std::to_string(left) + " of " +
                  std::to_string(limit) + " free";
        return nullptr;
    }
    next = first + room + PAGE;
    char *last = first + room, *place = last - rounded(bytes > 0 ? bytes : 1, ALIGNMENT);
    Allocation *made = new Allocation{owner, count++, place, bytes, first, last, false, false, false};
    open_one(made, true);
    memset(place, POISON, size_t(bytes));
    fill_zones(made);
    open_one(made, false);
    known[first] = made;
    used[owner] += bytes;
    return made;
}

void release(Allocation *a)
{
    a->is_released = a->is_gone = true;
    used[a->owner] -= a->bytes;
    mprotect(a->first, size_t(a->last - a->first), PROT_NONE);
    madvise(a->first, size_t(a->last - a->first), MADV_DONTNEED);
}

Allocation *holder(const void *place)
{
    auto found = known.upper_bound((char *)place);
    if (found == known.begin()) return nullptr;
    --found;
    return (char *)place < found->second->last + PAGE ? found->second : nullptr;
}

bool owns(const void *place) { return base && (char *)place >= base && (char *)place < end; }

std::string describe(const void *place)
{
    const char *p = (const char *)place;
    if (!owns(p)) return "which is not in the memory of the device";
    if (p >= shared_room - PAGE && p < shared_room + SHARED_ROOM + PAGE) {
        for (const blocks::Named &array : blocks::shared_arrays())
            if (p >= array.place - 64 && p < array.place + array.bytes + 64)
                return "at offset " + std::to_string(p - array.place) + " of the shared array " + array.name + " of " +
                       std::to_string(array.bytes) + " bytes";
        return "in shared memory, outside of its arrays";
    }
    const Allocation *a = holder(p);
    if (!a) return "where nothing has been allocated";
    const std::string what = "the " + std::to_string(a->bytes) + " bytes of allocation " + std::to_string(a->number);
    const std::string of = a->is_gone ? what + ", which have been released" : what;
    if (p < a->place) return std::to_string(a->place - p) + " bytes in front of " + of;
    if (p >= a->place + a->bytes) return std::to_string(p - a->place - a->bytes) + " bytes behind the end of " + of;
    return "at offset " + std::to_string(p - a->place) + " of " + of;
}

void open()
{
    if (opened++ == 0) protect_all(true);
}

void close()
{
    if (--opened == 0) protect_all(false);
}

void reopen() { protect_all(opened > 0); }

void open_one(const Allocation *allocation, bool is_open)
{
    if (opened > 0) return;
    if (key >= 0) set_rights(is_open);
    else make_pages(allocation->first, allocation->last, is_open);
}

void open_page(void *place)
{
    char *page = (char *)((uintptr_t)place / PAGE * PAGE);
#if HAS_KEYS
    if (key >= 0) {
        pkey_mprotect(page, PAGE, PROT_READ | PROT_WRITE, 0);
        return;
    }
#endif
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

void seal()
{
    mprotect(base, size_t(end - base), PROT_NONE);
    make_all_pages(opened > 0);
}

bool repair(std::string &problem)
{
    bool is_whole = true;
    for (auto &[first, allocation] : known) {
        if (allocation->is_gone || zones_are_whole(allocation)) continue;
        is_whole = false;
        problem = "a byte was written " + describe(changed(allocation));
        fill_zones(allocation);
    }
    return is_whole;
}

char *shared() { return shared_room; }

int64_t in_use()
{
    int64_t all = 0;
    for (auto &[owner, bytes] : used) all += bytes;
    return all;
}

void *pin(int64_t bytes)
{
    void *place = mmap(nullptr, size_t(rounded(bytes > 0 ? bytes : 1, PAGE)), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return nullptr;
    memset(place, POISON, size_t(bytes));
    pinned[(char *)place] = bytes;
    return place;
}

bool unpin(void *place)
{
    auto found = pinned.find((char *)place);
    if (found == pinned.end()) return false;
    munmap(place, size_t(rounded(found->second > 0 ? found->second : 1, PAGE)));
    pinned.erase(found);
    return true;
}

bool is_pinned(const void *place)
{
    auto found = pinned.upper_bound((char *)place);
    if (found == pinned.begin()) return false;
    --found;
    return (char *)place < found->first + (found->second > 0 ? found->second : 1);
}

}  // namespace arena
}  // namespace simulator
