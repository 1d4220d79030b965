// A device in this process: opened once, shared by all programs.

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstring>

#include "exports.h"

namespace dcpy {

namespace {

int generation = 0;

__attribute__((constructor)) void watch_forks()
{
    pthread_atfork(nullptr, nullptr, [] { ++generation; });
}

void say(dcpy_failure *failure, int32_t kind, Code code, const std::string &text)
{
    failure->kind = kind;
    failure->code = code;
    std::snprintf(failure->text, sizeof failure->text, "%s", text.c_str());
}

// Memory that is freed in the order of a stream stays with this pool, not with the one that other libraries use.
void open_pool(Context &context)
{
    const Driver &driver = context.driver;
    int supported = 0;
    if (!driver.make_pool || !driver.tune_pool || !driver.trim_pool) return;
    if (!driver.allocate_in || !driver.release_in) return;
    if (driver.attribute(&supported, driver.numbers.pools, context.device) != 0 || !supported) return;
    struct {
        int allocation, handles, location, device;
        char zeros[256];
    } properties = {1, 0, 1, context.device, {}};  // pinned memory of a device; no handles for other processes
    constexpr int release_threshold = 4;
    uint64_t never = UINT64_MAX;
    if (driver.make_pool(&context.pool, &properties) != 0) {
        context.pool = nullptr;
        return;
    }
    driver.tune_pool(context.pool, release_threshold, &never);
}

}  // namespace

int generation_of_process() { return generation; }

std::string described(const Driver &driver, Code code)
{
    return std::string(driver.text(driver, code)) + " (" + driver.api + " error " + std::to_string(code) + ")";
}

bool is_fatal(Code code)
{
    switch (code) {
    case 214:  // ECC
    case 220:  // NVLink
    case 226:  // contained
    case 700:  // address
    case 702:  // time
    case 709:  // context destroyed
    case 710:  // assertion
    case 714:  // stack
    case 715:  // instruction
    case 716:  // alignment
    case 717:  // address space
    case 718:  // program counter
    case 719:  // launch failed
        return true;
    default:
        return false;
    }
}

bool Context::is_pinned(const void *place, int64_t bytes)
{
    const std::lock_guard<std::mutex> guard(lock);
    char *const first = (char *)place;
    auto next = pinned.upper_bound(first);
    if (next == pinned.begin()) return false;
    --next;
    return first + bytes <= next->first + next->second;
}

std::string Context::unusable()
{
    if (generation != generation_of_process())
        return std::string("this process is a fork of one that had opened the device: ") + driver.api
               + " does not work in it";
    const std::lock_guard<std::mutex> guard(lock);
    return broken;
}

void Context::break_down(const std::string &why)
{
    const std::lock_guard<std::mutex> guard(lock);
    if (broken.empty()) broken = why;
    is_broken = true;
}

}  // namespace dcpy

using namespace dcpy;

#ifdef DCPY_TEXT
extern "C" __attribute__((visibility("default"))) const char *const dcpy_drivers_text = DCPY_TEXT;
#endif

extern "C" dcpy_context *dcpy_open_context(const char *backend, const char *library, int32_t ordinal,
                                           dcpy_failure *failure)
{
    Context *const context = new Context;
    Driver &driver = context->driver;
    const bool is_cuda = std::strcmp(backend, "cuda") == 0;
    const std::string missing = is_cuda ? open_cuda(library, driver) : open_hip(library, driver);
    int count = 0, version = 0;
    auto failed = [&](Code code, const char *what) {
        const int32_t kind = code == NO_DEVICE || code == INVALID_DEVICE ? DCPY_NO_DEVICE : DCPY_REFUSED;
        if (code != 0) say(failure, kind, code, what + (": " + described(driver, code)));
        return code != 0;
    };
    if (!missing.empty()) {
        say(failure, missing.find("too old") != std::string::npos ? DCPY_OLD_DRIVER : DCPY_NO_DRIVER, 0, missing);
    } else if (failed(driver.initialize(0), "the driver does not start") || failed(driver.version(&version), "version")
               || failed(driver.count(&count), "devices cannot be counted")) {
    } else if (ordinal >= count) {
        say(failure, DCPY_NO_DEVICE, NO_DEVICE, "there are " + std::to_string(count) + " devices");
    } else if (failed(driver.device(&context->device, ordinal), "the device is not there")
               || failed(context->make_current(), "the device gives no context")) {
    } else {
        context->ordinal = ordinal;
        context->generation = generation_of_process();
        open_pool(*context);
        return context;
    }
    delete context;
    return nullptr;
}

extern "C" void dcpy_facts_of(dcpy_context *context, dcpy_facts *facts)
{
    const Driver &driver = context->driver;
    const Attributes &numbers = driver.numbers;
    *facts = {};
    if (!context->unusable().empty() || context->make_current() != 0) return;
    driver.name(facts->name, (int)sizeof facts->name, context->device);
    driver.architecture(driver, context->device, facts->arch, sizeof facts->arch);
    driver.version(&facts->version);
    driver.attribute(&facts->warp, numbers.warp, context->device);
    driver.attribute(&facts->processors, numbers.processors, context->device);
    driver.attribute(&facts->shared_per_block, numbers.shared_per_block, context->device);
    driver.attribute(&facts->l2, numbers.l2, context->device);
    driver.attribute(&facts->threads_per_processor, numbers.threads_per_processor, context->device);
    size_t free = 0, total = 0;
    driver.memory(&free, &total);
    facts->free = (int64_t)free;
    facts->total = (int64_t)total;
    facts->has_pool = context->pool != nullptr;
}

extern "C" int32_t dcpy_why_unusable(dcpy_context *context, char *text, int32_t size)
{
    return std::snprintf(text, (size_t)size, "%s", context->unusable().c_str());
}
