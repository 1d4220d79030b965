// Graphs of the driver without a device: launches in the order in which they were captured. A part of fake_driver.cpp.


BOTH(cuStreamBeginCapture, hipStreamBeginCapture, (void *stream, int mode), (stream, mode))
EXPORT int cuStreamBeginCapture(void *stream, int mode)
{
    if (const int code = called("capture")) return code;
    if (mode != 1 || stream_of(stream)->captured) return INVALID_VALUE;
    stream_of(stream)->captured = new Graph;
    return 0;
}

BOTH(cuStreamEndCapture, hipStreamEndCapture, (void *stream, void **graph), (stream, graph))
EXPORT int cuStreamEndCapture(void *stream, void **graph)
{
    *graph = stream_of(stream)->captured;
    stream_of(stream)->captured = nullptr;
    ++numbers["graphs"];
    return *graph ? 0 : NO_CAPTURE;
}

#define INSTANTIATE (void **exec, void *graph, void **node, char *text, size_t size)
BOTH(cuGraphInstantiate, hipGraphInstantiate, INSTANTIATE, (exec, graph, node, text, size))
EXPORT int cuGraphInstantiate INSTANTIATE
{
    if (text || size) return INVALID_VALUE;
    Graph *const made = new Graph(*(Graph *)graph);
    *exec = made;
    *node = nullptr;
    ++numbers["graphs"];
    return called("instantiate", std::to_string(made->runs.size()));
}

// Arguments and grids may change, kernels may not.
BOTH(cuGraphExecUpdate, hipGraphExecUpdate, (void *exec, void *graph, void **node, int *result), (exec, graph, node, result))
EXPORT int cuGraphExecUpdate(void *exec, void *graph, void **, int *result)
{
    if (const int code = called("change")) return code;
    const bool same = ((Graph *)exec)->kernels == ((Graph *)graph)->kernels;
    *result = same ? 0 : 2;
    if (same) *(Graph *)exec = *(Graph *)graph;
    return same ? 0 : CANNOT_CHANGE;
}

BOTH(cuGraphLaunch, hipGraphLaunch, (void *exec, void *stream), (exec, stream))
EXPORT int cuGraphLaunch(void *exec, void *stream)
{
    if (const int code = called("graph")) return code;
    for (const auto &run : ((Graph *)exec)->runs) queue(stream, run);
    return 0;
}

BOTH(cuGraphDestroy, hipGraphDestroy, (void *graph), (graph))
EXPORT int cuGraphDestroy(void *graph)
{
    delete (Graph *)graph;
    --numbers["graphs"];
    return 0;
}

BOTH(cuGraphExecDestroy, hipGraphExecDestroy, (void *exec), (exec))
EXPORT int cuGraphExecDestroy(void *exec) { return cuGraphDestroy(exec); }
