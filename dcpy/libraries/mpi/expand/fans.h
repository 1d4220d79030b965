// Copies from which every rank gets all: broadcasts, gathers to all, sums for all. With many ranks these are collectives
// of MPI, whose steps are as many as the logarithm of the ranks; with a few, messages are as good, and need no third memory.

namespace dcpy {
enum Fan { MESSAGES, EVERYBODY, ONE, SUMMED };

#ifdef DCPY_ALONE
static Fan fan_of(const Sections &, int64_t) { return MESSAGES; }
#else
#ifndef DCPY_FEW
#define DCPY_FEW 8
#endif
constexpr int64_t FEW = DCPY_FEW; // ranks

// Which collective a copy is. All ranks find the same.
static Fan fan_of(const Sections &sections, int64_t ranks)
{
    const Placement &source = sections.source, &target = sections.target;
    if (ranks < FEW || !source.placed || target.roots) return MESSAGES;
    bool dealt = false, used[8] = {};
    for (int64_t d = 0; d < sections.dims; d++) {
        if (sections.to[d].is_dealt()) return MESSAGES;
        if (sections.from[d].is_dealt()) used[sections.from[d].axis] = dealt = true;
    }
    if (source.partials)
        return !dealt && !source.roots && source.partials == source.axes && source.ranks() == ranks ? SUMMED : MESSAGES;
    for (int64_t k = 0; k < source.roots; k++) used[source.root_axis[k]] = true;
    for (int64_t a = 0; a < source.axes; a++)
        if (!used[a]) return MESSAGES; // several ranks have the same: each sends to those that are near
    return dealt ? EVERYBODY : ONE;
}

// Places of a box in the source, or in the target, in the order of the section.
static void pack(const Box &box, const char *from, char *packed, int64_t size)
{
    each(box, 0, from, nullptr, [&packed, size](const char *place, char *) {
        memcpy(packed, place, size_t(size)), packed += size;
    });
}

static void unpack(const Box &box, const char *packed, char *to, int64_t size)
{
    each(box, 0, nullptr, to, [&packed, size](const char *, char *place) {
        memcpy(place, packed, size_t(size)), packed += size;
    });
}
#endif
} // namespace dcpy
