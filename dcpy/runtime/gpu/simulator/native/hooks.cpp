// The hooks: where accesses of kernels arrive. Those to the stacks of threads and to constants are their own business;
// those to the host are an end.

#include "hooks.h"

#include <link.h>

namespace simulator::hooks {

namespace {

std::map<int64_t, Report> reports;
bool is_on = false;
Kernel *now = nullptr;
const char *image = nullptr, *image_first = nullptr, *image_last = nullptr;  // the program's library

int find_image(dl_phdr_info *info, size_t, void *inside)
{
    const char *first = nullptr, *last = nullptr;
    for (int k = 0; k < info->dlpi_phnum; ++k) {
        const auto &part = info->dlpi_phdr[k];
        if (part.p_type != PT_LOAD) continue;
        const char *start = (const char *)info->dlpi_addr + part.p_vaddr;
        if (!first || start < first) first = start;
        if (!last || start + part.p_memsz > last) last = start + part.p_memsz;
    }
    if ((const char *)inside < first || (const char *)inside >= last) return 0;
    image = (const char *)info->dlpi_addr;
    image_first = first;
    image_last = last;
    return 1;
}

int32_t number_of(const void *code, Space space, int32_t how, int64_t bytes)
{
    auto [found, is_new] = now->known.try_emplace(code, int32_t(now->sites.size()));
    if (is_new) now->sites.push_back(Site{code, space, how, bytes, 0, 0, 0, 0});
    return found->second;
}

std::string in_code(const void *code)
{
    char text[32];
    snprintf(text, sizeof text, "{+%llx}", (unsigned long long)((const char *)code - image));
    return text;  // for Python to replace by a line
}

void check_bounds(const char *place, int64_t bytes, int32_t how, const void *code)
{
    const Allocation *a = arena::holder(place);
    if (a && !a->is_gone && place >= a->place && place + bytes <= a->place + a->bytes) return;
    blocks::stop(blocks::whereabouts() + (how == DCPY_READ ? " reads " : " writes ") + std::to_string(bytes) +
                 " bytes at " + in_code(code) + ", " + arena::describe(place));
}

void check_shared(const char *place, int64_t bytes, int32_t how, const void *code)
{
    if (place < arena::shared() + blocks::current().shared) return;
    for (const blocks::Named &array : blocks::shared_arrays())
        if (place >= array.place && place + bytes <= array.place + array.bytes) return;
    blocks::stop(blocks::whereabouts() + (how == DCPY_READ ? " reads " : " writes ") + std::to_string(bytes) +
                 " bytes at " + in_code(code) + ", " + arena::describe(place));
}

}  // namespace

Report &report(int64_t device) { return reports[device]; }

Kernel &kernel() { return *now; }

const Site &site(int32_t number) { return now->sites[size_t(number)]; }

bool begin(const Launch &launch, const Settings &settings)
{
    is_on = settings.hooks != 0;
    if (!is_on) return false;
    const dcpy_kernel_row &row = launch.unit->rows[launch.kernel];
    now = &reports[launch.device][row.name];
    ++now->launches;
    now->threads += launch.blocks[0] * launch.blocks[1] * launch.blocks[2] * launch.threads[0] * launch.threads[1] *
                    launch.threads[2];
    dl_iterate_phdr(find_image, launch.unit->state);
    now->image = image;
    order_launch(launch, settings.warp);
    count_launch(launch, settings.warp);
    return true;
}

void begin_block(int64_t block)
{
    if (is_on) order_block(block);
}

void met_block()
{
    if (!is_on) return;
    count_turn();
    order_barrier();
}

void met_warp(int32_t warp)
{
    if (is_on) order_warp(warp);
}

void arrived(int32_t is_last) { order_ticket(is_last != 0); }

void end_block()
{
    if (is_on) count_turn();
}

void end() { is_on = false; }

void wrote(const void *place, int64_t bytes) { written(place, bytes); }

void released(int64_t allocation) { forget(allocation); }

void touch(const void *place, int64_t bytes, int32_t how, const void *code)
{
    const char *p = (const char *)place;
    if (fibers::holds(p) || (p >= image_first && p < image_last)) return;
    const bool is_shared = p >= arena::shared() - PAGE && p < arena::shared() + SHARED_ROOM + PAGE;
    const Space space = is_shared ? SHARED : arena::owns(p) ? GLOBAL : PINNED;
    if (space == SHARED) check_shared(p, bytes, how, code);
    else if (space == GLOBAL) check_bounds(p, bytes, how, code);
    else if (!arena::is_pinned(p))
        blocks::stop(blocks::whereabouts() + " touches memory of the host at " + in_code(code));
    const Access access{(uint64_t)p, bytes, how, number_of(code, space, how, bytes),
                        blocks::current().unit->state->number, space};
    count(access);
    if (space != PINNED) look_for_races(access);
}

}  // namespace simulator::hooks

// ---- For Python (hooks.py): one line of words per fact, with tabs between them ----

using namespace simulator;

extern "C" __attribute__((visibility("default"))) const char *dcpy_simulator_report(int64_t device)
{
    static std::string text;
    text.clear();
    const auto line = [](std::initializer_list<std::string> words) {
        for (const std::string &word : words) text += word + "\t";
        text.back() = '\n';
    };
    const auto number = [](int64_t value) { return std::to_string(value); };
    for (auto &[name, k] : hooks::report(device)) {
        line({"kernel", name, number(k.launches), number(k.threads), number(k.read_bytes), number(k.written_bytes),
              number(k.read_sectors), number(k.written_sectors)});
        auto code = [&k = k, &number](int32_t site) { return number((const char *)k.sites[size_t(site)].code - k.image); };
        for (size_t s = 0; s < k.sites.size(); ++s) {
            const hooks::Site &site = k.sites[s];
            line({"site", code(int32_t(s)), number(site.space), number(site.how), number(site.bytes), number(site.accesses),
                  number(site.requests), number(site.units), number(site.least)});
        }
        for (const hooks::Race &race : k.races)
            line({"race", code(race.first), number(race.first_how), code(race.second), number(race.second_how),
                  number(race.between_blocks), number(race.space), number(race.count), race.example});
        for (const hooks::Unwritten &found : k.unwritten)
            line({"unwritten", code(found.site), number(k.sites[size_t(found.site)].space), number(found.count),
                  found.example});
    }
    return text.c_str();
}

extern "C" __attribute__((visibility("default"))) void dcpy_simulator_forget(int64_t device)
{
    hooks::report(device).clear();
}
