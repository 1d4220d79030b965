// Traffic: what the lanes of a warp move together.
//
// The n-th time that a lane comes to an instruction belongs to the n-th request of its warp there. A request to global
// memory moves sectors of 32 bytes; one to shared memory takes as many turns as the busiest of 32 banks, each 4 bytes
// wide, has different words to give: of 128 bytes at most, which is 16 lanes of doubles.

#include "hooks.h"

#include <algorithm>

namespace simulator::hooks {

namespace {

constexpr int64_t SECTOR = 32, BANKS = 32, WORD = 4;

struct Request {
    uint64_t lanes = 0;
    uint64_t places[64];
};

// The requests of one warp at one site that are not whole yet.
struct Stream {
    uint32_t first = 0;       // the number of requests[0]
    uint32_t counts[64] = {}; // how often each lane has been here
    std::vector<Request> requests;
};

struct Seen {
    uint32_t read = 0, written = 0;  // the launches that touched a sector last
};

std::vector<std::vector<Stream>> streams;  // by warp, then by site
std::map<int64_t, std::vector<Seen>> sectors;
uint32_t launch_number;
int32_t warp_size;
uint64_t units[64 * 16];

int64_t distinct(int64_t count)
{
    std::sort(units, units + count);
    return std::unique(units, units + count) - units;
}

int64_t sectors_of(const Request &request, int64_t bytes)
{
    int64_t count = 0;
    for (int lane = 0; lane < 64; ++lane)
        for (uint64_t s = request.places[lane] / SECTOR;
             request.lanes >> lane & 1 && s <= (request.places[lane] + uint64_t(bytes) - 1) / SECTOR && count < 1024; ++s)
            units[count++] = s;
    return distinct(count);
}

// The turns of one group of lanes: the most words that one bank has.
int64_t turns_of(const uint64_t *places, int64_t lanes, int64_t bytes)
{
    int64_t count = 0, most = 0, per_bank[BANKS] = {};
    for (int64_t lane = 0; lane < lanes; ++lane)
        for (uint64_t w = places[lane] / WORD; w <= (places[lane] + uint64_t(bytes) - 1) / WORD && count < 1024; ++w)
            units[count++] = w;
    for (int64_t k = distinct(count); k-- > 0;) most = std::max(most, ++per_bank[units[k] % BANKS]);
    return most;
}

void finish_shared(Site &site, const Request &request)
{
    const int64_t together = std::clamp<int64_t>(BANKS * WORD / std::max<int64_t>(site.bytes, 1), 1, 32);
    for (int64_t first = 0; first < 64; first += together) {
        uint64_t places[32];
        int64_t lanes = 0;
        for (int64_t lane = first; lane < first + together; ++lane)
            if (request.lanes >> lane & 1) places[lanes++] = request.places[lane];
        if (lanes == 0) continue;
        site.units += turns_of(places, lanes, site.bytes);
        ++site.least;
    }
}

void finish(Site &site, const Request &request)
{
    if (request.lanes == 0) return;
    ++site.requests;
    if (site.space == SHARED) {
        finish_shared(site, request);
        return;
    }
    const int64_t moved = sectors_of(request, site.bytes);
    site.units += moved;
    site.least += std::min(moved, (__builtin_popcountll(request.lanes) * site.bytes + SECTOR - 1) / SECTOR);
}

// Sectors that this launch has not touched before.
void count_distinct(const Access &access)
{
    const Allocation *a = arena::holder((const void *)access.place);
    std::vector<Seen> &seen = sectors[a->number];
    if (seen.empty()) seen.resize(size_t(a->bytes / SECTOR + 1));
    const int64_t start = int64_t(access.place - uint64_t(a->place));
    for (int64_t s = start / SECTOR; s <= (start + access.bytes - 1) / SECTOR; ++s) {
        Seen &one = seen[size_t(s)];
        if (access.how != DCPY_WRITE && one.read != launch_number) ++kernel().read_sectors, one.read = launch_number;
        if (access.how != DCPY_READ && one.written != launch_number)
            ++kernel().written_sectors, one.written = launch_number;
    }
}

}  // namespace

void count_launch(const Launch &launch, int32_t warp)
{
    launch_number = uint32_t(launch.number);
    warp_size = warp;
    const int64_t count = int64_t(launch.threads[0]) * launch.threads[1] * launch.threads[2];
    streams.assign(size_t((count + warp - 1) / warp), {});
    sectors.clear();
}

void count(const Access &access)
{
    Kernel &k = kernel();
    Site &site = k.sites[size_t(access.site)];
    ++site.accesses;
    if (access.space == GLOBAL) {
        (access.how == DCPY_WRITE ? k.written_bytes : k.read_bytes) += access.bytes;
        if (access.how == DCPY_ATOMIC) k.written_bytes += access.bytes;
        count_distinct(access);
    }
    std::vector<Stream> &of_warp = streams[size_t(access.thread / warp_size)];
    if (of_warp.size() <= size_t(access.site)) of_warp.resize(size_t(access.site) + 1);
    Stream &stream = of_warp[size_t(access.site)];
    const int32_t lane = access.thread % warp_size;
    const size_t turn = stream.counts[lane]++ - stream.first;
    if (stream.requests.size() <= turn) stream.requests.resize(turn + 1);
    stream.requests[turn].lanes |= uint64_t(1) << lane;
    stream.requests[turn].places[lane] = access.place;
}

void count_turn()
{
    for (std::vector<Stream> &of_warp : streams)
        for (size_t s = 0; s < of_warp.size(); ++s) {
            Stream &stream = of_warp[s];
            for (const Request &request : stream.requests) finish(kernel().sites[s], request);
            stream.requests.clear();
            stream.first = *std::max_element(stream.counts, stream.counts + 64);
            std::fill(stream.counts, stream.counts + 64, stream.first);
        }
}

}  // namespace simulator::hooks
