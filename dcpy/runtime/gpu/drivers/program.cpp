// The table of one program: memory, launches, queues and events, its error block, and what is said when a call fails.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "exports.h"

namespace dcpy {

namespace {

constexpr unsigned NON_BLOCKING = 1, NO_TIMING = 2, FOR_ALL_CONTEXTS = 1;
constexpr int64_t ERROR_BYTES = 10 * sizeof(int64_t), TOLD_BYTES = 5 * sizeof(int64_t);

Program &of(dcpy_device *device) { return *static_cast<Program *>(device); }

int32_t allocate(dcpy_device *device, int64_t bytes, void **place)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    if (bytes < 0) return program.refuse(DCPY_MISUSED, "memory of " + std::to_string(bytes) + " bytes is asked for");
    const Code code = take(program, bytes, place);
    if (code == OUT_OF_MEMORY) {
        size_t free = 0, total = 0;
        program.driver().memory(&free, &total);
        return program.refuse(DCPY_OUT_OF_MEMORY, std::to_string(bytes) + " bytes are asked for; the program holds "
                                                      + std::to_string(program.held_bytes) + " bytes, and "
                                                      + std::to_string(free) + " of " + std::to_string(total)
                                                      + " bytes of the device are free");
    }
    return program.answer(code, "allocation of memory");
}

int32_t release(dcpy_device *device, void *place)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    program.give_up_recording();
    if (!place) return DCPY_DONE;
    if (!is_held(program, place)) return program.refuse(DCPY_MISUSED, "memory is released that is not allocated");
    return program.answer(give_back(program, place), "release of memory");
}

int32_t fill(dcpy_device *device, void *to, int32_t byte, int64_t bytes)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    if (bytes == 0) return DCPY_DONE;
    return program.answer(program.driver().fill(to, (unsigned char)byte, (size_t)bytes, program.stream()), "fill");
}

std::string sizes(const char *name, int64_t x, int64_t y, int64_t z)
{
    return std::string(name) + " " + std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

int32_t launch(dcpy_device *device, int32_t kernel, const int64_t blocks[3], const int32_t threads[3], int32_t shared,
               void **args)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    if (kernel < 0 || (size_t)kernel >= program.functions.size())
        return program.refuse(DCPY_MISUSED, "there is no kernel " + std::to_string(kernel));
    if (blocks[0] == 0 || blocks[1] == 0 || blocks[2] == 0) return DCPY_DONE;  // drivers take no empty grid
    const size_t number = (size_t)kernel;
    const bool negative = std::min({blocks[0], blocks[1], blocks[2]}) < 0;
    if (negative || blocks[0] > INT32_MAX || blocks[1] > 65535 || blocks[2] > 65535)
        return program.refuse(DCPY_MISUSED, "kernel " + program.names[number] + " is launched with too many "
                                                + sizes("blocks:", blocks[0], blocks[1], blocks[2]));
    void *const function = program.functions[number];
    if (shared > program.allowed[number]) {
        const Code code = program.driver().allow_shared(program.driver(), function, shared);
        if (code != 0) return program.answer(code, ("shared memory of kernel " + program.names[number]).c_str());
        program.allowed[number] = shared;
    }
    if (const Code code = before_launch(program, kernel)) return program.answer(code, "an event");
    const Code code = program.driver().launch(function, (unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2],
                                              (unsigned)threads[0], (unsigned)threads[1], (unsigned)threads[2],
                                              (unsigned)shared, program.stream(), args, nullptr);
    if (code != 0) {
        forget_launch(program);
        const std::string what = "launch of kernel " + program.names[number] + " with "
                                 + sizes("blocks", blocks[0], blocks[1], blocks[2]) + ", "
                                 + sizes("threads", threads[0], threads[1], threads[2]) + ", "
                                 + std::to_string(shared) + " bytes of shared memory";
        return program.answer(code, what.c_str());
    }
    if (const Code later = after_launch(program)) return program.answer(later, "an event");
    if (std::find(program.running.begin(), program.running.end(), kernel) == program.running.end())
        program.running.push_back(kernel);
    return DCPY_DONE;
}

int32_t wait(dcpy_device *device)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    program.give_up_recording();
    for (void *stream : program.streams)
        if (stream)
            if (const int32_t status = program.answer(program.driver().wait_stream(stream), "wait")) return status;
    program.running.clear();
    return DCPY_DONE;
}

int32_t failed(dcpy_device *device, int64_t numbers[5])
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    const Driver &driver = program.driver();
    void *const stream = program.streams[0];
    Code code = driver.to_host(program.fetched, program.errors, TOLD_BYTES, stream);
    if (code == 0) code = driver.wait_stream(stream);
    if (code != 0) return program.answer(code, "copy of the error block");
    std::memcpy(numbers, program.fetched, TOLD_BYTES);
    numbers[0] = (int32_t)numbers[0];  // without the kernel
    return numbers[0] ? program.answer(driver.fill(program.errors, 0, ERROR_BYTES, stream), "fill") : DCPY_DONE;
}

const char *message(dcpy_device *device) { return of(device).said.c_str(); }

int32_t use_queue(dcpy_device *device, int32_t queue)
{
    Program &program = of(device);
    if (const int32_t status = program.has_queue(queue)) return status;
    program.queue = queue;
    return DCPY_DONE;
}

int32_t has_event(Program &program, int32_t number)
{
    if (number < 0 || number > 4095) return program.refuse(DCPY_MISUSED, "no event " + std::to_string(number));
    if ((size_t)number >= program.events.size()) program.events.resize((size_t)number + 1);
    void *&event = program.events[(size_t)number];
    return event ? DCPY_DONE : program.answer(program.driver().make_event(&event, NO_TIMING), "an event");
}

int32_t record(dcpy_device *device, int32_t event)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    if (const int32_t status = has_event(program, event)) return status;
    return program.answer(program.driver().record_event(program.events[(size_t)event], program.stream()), "an event");
}

int32_t wait_event(dcpy_device *device, int32_t event)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    if (event < 0 || (size_t)event >= program.events.size() || !program.events[(size_t)event])
        return program.refuse(DCPY_MISUSED, "event " + std::to_string(event) + " has not been recorded");
    return program.answer(program.driver().hold_stream(program.stream(), program.events[(size_t)event], 0), "an event");
}

int32_t pin(dcpy_device *device, int64_t bytes, void **place)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    const size_t size = (size_t)std::max<int64_t>(bytes, 1);
    const Code code = program.driver().pin(place, size, FOR_ALL_CONTEXTS);
    if (code == OUT_OF_MEMORY)
        return program.refuse(DCPY_OUT_OF_MEMORY, std::to_string(bytes) + " bytes of pinned host memory are asked for");
    if (code != 0) return program.answer(code, "pinned memory");
    const std::lock_guard<std::mutex> guard(program.context->lock);
    program.context->pinned[(char *)*place] = size;
    return DCPY_DONE;
}

int32_t unpin(dcpy_device *device, void *place)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    if (!place) return DCPY_DONE;
    {
        const std::lock_guard<std::mutex> guard(program.context->lock);
        if (!program.context->pinned.erase((char *)place))
            return program.refuse(DCPY_MISUSED, "memory is unpinned that is not pinned");
    }
    return program.answer(program.driver().unpin(place), "release of pinned memory");
}

int32_t library_stream(dcpy_device *device, void **stream)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    *stream = program.stream();
    return DCPY_DONE;
}

int32_t library_failed(dcpy_device *device, int32_t status, const char *why)
{
    Program &program = of(device);
    // A library that fails may only be the first to notice that a kernel has broken the device.
    const int32_t found = program.ready();
    return found ? found : program.refuse(status, why);
}

// A binary for another chip, or of a newer CUDA than the driver's.
bool is_wrong_binary(Code code) { return code == 200 || code == 209 || code == 218 || code == 222 || code == 300; }

Code open(Program &program, const void *image, const char *&what)
{
    const Driver &driver = program.driver();
    what = "the machine code of the kernels";
    if (!program.names.empty()) {
        if (const Code code = driver.load(&program.module, image)) return code;
    }
    for (size_t i = 0; i < program.names.size(); ++i) {
        what = program.names[i].c_str();
        if (const Code code = driver.function(&program.functions[i], program.module, what)) return code;
    }
    what = "the queue and the error block of the program";
    if (const Code code = driver.make_stream(&program.own, NON_BLOCKING)) return code;
    program.streams[0] = program.own;
    if (const Code code = driver.pin((void **)&program.fetched, (size_t)TOLD_BYTES, FOR_ALL_CONTEXTS)) return code;
    if (const Code code = driver.allocate((void **)&program.errors, (size_t)ERROR_BYTES)) return code;
    return driver.fill(program.errors, 0, (size_t)ERROR_BYTES, program.streams[0]);
}

void close(Program &program)
{
    const Driver &driver = program.driver();
    if (!program.context->is_usable() || program.context->make_current() != 0) return;  // gone with the context
    program.queue = 0;
    program.streams[0] = program.own;  // streams of others may be gone, and whoever destroys one has waited for it
    for (void *stream : program.streams)
        if (stream) driver.wait_stream(stream);
    close_profile(program);
    close_memory(program);
    if (program.errors) driver.release(program.errors);
    if (program.fetched) driver.unpin(program.fetched);
    if (program.ordering) driver.drop_event(program.ordering);
    for (void *event : program.events)
        if (event) driver.drop_event(event);
    for (void *stream : program.streams)
        if (stream) driver.drop_stream(stream);
    drop_graphs(program);
    if (program.module) driver.unload(program.module);
}

}  // namespace

int32_t Program::refuse(int32_t status, std::string text)
{
    said = std::move(text);
    return status;
}

int32_t Program::ready()
{
    if (!context->is_usable()) return refuse(DCPY_DEVICE_LOST, context->unusable());
    const Code code = context->make_current();
    return code == 0 ? DCPY_DONE : answer(code, "context");
}

int32_t Program::answer(Code code, const char *what)
{
    if (code == 0) return DCPY_DONE;
    std::string text = std::string(what) + ": " + described(driver(), code);
    if (!is_fatal(code)) return refuse(code == OUT_OF_MEMORY ? DCPY_OUT_OF_MEMORY : DCPY_MISUSED, text);
    for (size_t i = 0; i < running.size(); ++i)
        text += (i ? ", " : "; kernels since the last wait: ") + names[(size_t)running[i]];
    context->break_down(text);
    return refuse(DCPY_DEVICE_LOST, text);
}

int32_t Program::has_queue(int32_t number)
{
    if (const int32_t status = ready()) return status;
    if (number < 0 || number > 63) return refuse(DCPY_MISUSED, "no queue " + std::to_string(number));
    if ((size_t)number >= streams.size()) streams.resize((size_t)number + 1);
    void *&one = streams[(size_t)number];
    return one ? DCPY_DONE : answer(driver().make_stream(&one, NON_BLOCKING), "a queue");
}

}  // namespace dcpy

using namespace dcpy;

extern "C" dcpy_device *dcpy_open_program(dcpy_context *context, const void *image, int32_t count,
                                          const char *const *names, dcpy_failure *failure)
{
    Program *const program = new Program();
    program->version = DCPY_TABLE_VERSION;
    program->context = context;
    program->names.assign(names, names + count);
    program->functions.resize((size_t)count);
    program->allowed.resize((size_t)count);
    program->streams.resize(1);
    program->allocate = allocate;
    program->release = release;
    program->copy = copy;
    program->copy_box = copy_box;
    program->fill = fill;
    program->launch = launch;
    program->wait = wait;
    program->failed = failed;
    program->message = message;
    program->use_queue = use_queue;
    program->record = record;
    program->wait_event = wait_event;
    program->pin = pin;
    program->unpin = unpin;
    offer_graphs(*program);
    program->own_stream = own_stream;
    program->use_stream = use_stream;
    program->order = order;
    program->take = take;
    program->give = give;
    program->holds = holds;
    program->libraries = nullptr;
    program->library_stream = library_stream;
    program->library_failed = library_failed;
    const char *what = "context";
    int32_t status = program->ready();
    Code code = 0;
    if (status == 0) {
        code = open(*program, image, what);
        status = program->answer(code, what);
    }
    if (status == 0) {
        const std::lock_guard<std::mutex> guard(context->programs_lock);
        context->programs.push_back(program);
        return program;
    }
    failure->kind = is_wrong_binary(code) ? DCPY_WRONG_BINARY : DCPY_REFUSED;
    failure->code = code;
    std::snprintf(failure->text, sizeof failure->text, "%s", program->said.c_str());
    dcpy_close_program(program);
    return nullptr;
}

extern "C" void dcpy_close_program(dcpy_device *device)
{
    Program *const program = static_cast<Program *>(device);
    Context &context = *program->context;
    {
        const std::lock_guard<std::mutex> guard(context.programs_lock);
        const auto found = std::find(context.programs.begin(), context.programs.end(), program);
        if (found != context.programs.end()) context.programs.erase(found);
    }
    if (program->libraries) program->libraries->close(program->libraries, program);
    close(*program);
    delete program;
}

extern "C" int64_t dcpy_held(dcpy_device *device) { return of(device).held_bytes; }

extern "C" int64_t dcpy_kept(dcpy_device *device) { return kept_bytes(of(device)); }

extern "C" void dcpy_limit_workspace(dcpy_device *device, int64_t bytes) { of(device).max_workspace = bytes; }
