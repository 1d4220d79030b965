// How long kernels take: an event before and behind each launch, read when somebody asks, or when there are many.

#include "exports.h"

namespace dcpy {

namespace {

constexpr size_t MANY = 1024;  // launches whose events are kept

Code event_of(Program &program, void **event)
{
    Profile &profile = program.profile;
    if (profile.spare.empty()) return program.driver().make_event(event, 0);
    *event = profile.spare.back();
    profile.spare.pop_back();
    return 0;
}

}  // namespace

Code before_launch(Program &program, int32_t kernel)
{
    Profile &profile = program.profile;
    if (!profile.is_on) return 0;
    if (profile.launches.size() >= MANY)
        if (const Code code = read_times(program)) return code;
    profile.launches.push_back({kernel, nullptr, nullptr});
    TimedLaunch &launch = profile.launches.back();
    if (const Code code = event_of(program, &launch.start)) return code;
    if (const Code code = event_of(program, &launch.stop)) return code;
    return program.driver().record_event(launch.start, program.stream());
}

Code after_launch(Program &program)
{
    if (!program.profile.is_on) return 0;
    return program.driver().record_event(program.profile.launches.back().stop, program.stream());
}

void forget_launch(Program &program)
{
    Profile &profile = program.profile;
    if (!profile.is_on) return;
    profile.spare.push_back(profile.launches.back().start);
    profile.spare.push_back(profile.launches.back().stop);
    profile.launches.pop_back();
}

Code read_times(Program &program)
{
    const Driver &driver = program.driver();
    Profile &profile = program.profile;
    Code code = 0;
    profile.times.resize(program.names.size());
    for (const TimedLaunch &one : profile.launches) {
        float milliseconds = 0;
        if (code == 0 && one.stop) code = driver.wait_event(one.stop);
        if (code == 0 && one.stop) code = driver.elapsed(&milliseconds, one.start, one.stop);
        KernelTime &time = profile.times[(size_t)one.kernel];
        time.launches += 1;
        time.seconds += milliseconds/1000.0;
        for (void *const event : {one.start, one.stop})
            if (event) profile.spare.push_back(event);
    }
    profile.launches.clear();
    return code;
}

void close_profile(Program &program)
{
    read_times(program);
    for (void *const event : program.profile.spare) program.driver().drop_event(event);
    program.profile.spare.clear();
}

}  // namespace dcpy

using namespace dcpy;

// In graphs there are no times of single launches: none is recorded.
extern "C" void dcpy_profile(dcpy_device *device)
{
    static_cast<Program *>(device)->profile.is_on = true;
    device->graph_begin = device->graph_end = device->graph_replay = nullptr;
}

extern "C" int32_t dcpy_time_of(dcpy_device *device, int32_t kernel, int64_t *launches, double *seconds)
{
    Program &program = *static_cast<Program *>(device);
    if (const int32_t status = program.ready()) return status;
    if (const int32_t status = program.answer(read_times(program), "the times of kernels")) return status;
    const KernelTime &time = program.profile.times[(size_t)kernel];
    *launches = time.launches;
    *seconds = time.seconds;
    return DCPY_DONE;
}
