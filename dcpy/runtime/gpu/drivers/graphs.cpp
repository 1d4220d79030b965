// Graphs of launches: captured from a stream of their own, made ready once, and changed where only arguments differ.

#include "driver.h"

namespace dcpy {

namespace {

constexpr int OF_THIS_THREAD = 1;  // what others call of the driver meanwhile does not disturb a capture
constexpr unsigned NON_BLOCKING = 1;

Program &of(dcpy_device *device) { return *static_cast<Program *>(device); }

int32_t graph_begin(dcpy_device *device, int32_t graph)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    const Driver &driver = program.driver();
    if (program.recorded >= 0 || graph < 0)
        return program.refuse(DCPY_MISUSED, "graph " + std::to_string(graph) + " begins inside of another one");
    if (!program.recording)
        if (const Code code = driver.make_stream(&program.recording, NON_BLOCKING))
            return program.answer(code, "a queue for graphs");
    if (const Code code = driver.begin_capture(program.recording, OF_THIS_THREAD))
        return program.answer(code, "the beginning of a graph");
    program.recorded = graph;
    return DCPY_DONE;
}

// A graph that runs differs from what was captured: its arguments are changed, or it is made anew.
Code make_ready(Program &program, void *captured, void *&exec)
{
    const Driver &driver = program.driver();
    void *node = nullptr;
    int result = 0;
    if (exec && driver.change_exec(exec, captured, &node, &result) == 0) return 0;
    if (exec) {
        driver.wait_stream(program.stream());  // it may be running
        driver.drop_exec(exec);
    }
    exec = nullptr;
    return driver.instantiate(&exec, captured, &node, nullptr, 0);
}

int32_t graph_end(dcpy_device *device, int32_t graph)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    const Driver &driver = program.driver();
    if (program.recorded != graph)
        return program.refuse(DCPY_MISUSED, "graph " + std::to_string(graph) + " has not been begun");
    program.recorded = -1;
    void *captured = nullptr;
    if (const Code code = driver.end_capture(program.recording, &captured))
        return program.answer(code, "the end of a graph");
    const Code code = make_ready(program, captured, program.graphs[graph]);
    driver.drop_graph(captured);
    return program.answer(code, "a graph");
}

int32_t graph_replay(dcpy_device *device, int32_t graph)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    const auto found = program.graphs.find(graph);
    if (found == program.graphs.end() || !found->second)
        return program.refuse(DCPY_MISUSED, "graph " + std::to_string(graph) + " has not been recorded");
    return program.answer(program.driver().launch_graph(found->second, program.stream()), "the launch of a graph");
}

}  // namespace

void Program::give_up_recording()
{
    if (recorded < 0) return;
    recorded = -1;
    void *captured = nullptr;
    if (driver().end_capture(recording, &captured) == 0 && captured) driver().drop_graph(captured);
}

void offer_graphs(Program &program)
{
    const Driver &driver = program.driver();
#define DCPY_MISSING(meaning, arguments, cuda, hip) if (!driver.meaning) return;
    DCPY_GRAPHS(DCPY_MISSING)
    program.graph_begin = graph_begin;
    program.graph_end = graph_end;
    program.graph_replay = graph_replay;
}

void drop_graphs(Program &program)
{
    program.give_up_recording();
    for (const auto &one : program.graphs)
        if (one.second) program.driver().drop_exec(one.second);
    if (program.recording) program.driver().drop_stream(program.recording);
}

}  // namespace dcpy
