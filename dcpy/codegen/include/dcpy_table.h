// The table through which host code reaches a device: a struct of C functions, one for each backend.
//
// A `struct dcpy_device` serves one program on one device, and one call of that program at a time. Every function but
// `message` returns 0 or a status. Commands are queued, and run in the order of their queue: `allocate` and `release`
// belong to that order, too. Between two `wait`s
//     the host memory that a copy reads must stay valid and unchanged;
//     the host memory that a copy writes must not be read.
// `launch` takes the values of its arguments at once. Places of the device are never touched by host code.
//
// What includes this has declared int32_t and int64_t.

#ifndef DCPY_TABLE_H
#define DCPY_TABLE_H

#define DCPY_TABLE_VERSION 2

enum dcpy_device_status {
    DCPY_DONE = 0,
    DCPY_OUT_OF_MEMORY = 1,
    DCPY_DEVICE_LOST = 2,  // a kernel touched what it may not: nothing works from now on in this process
    DCPY_MISUSED = 3,      // a wrong place, size or number: a bug of who calls
};

enum dcpy_copy_way {
    DCPY_TO_DEVICE = 0,
    DCPY_TO_HOST = 1,
    DCPY_WITHIN_DEVICE = 2,
};

// Functions of the vendor's libraries. Matrices are stored by columns; `type` is one of "sdcz", as in BLAS; operations
// are 0 (as it is), 1 (transposed), 2 (and conjugated). Each lists its numbers / factors / places.
enum dcpy_function {
    DCPY_GEMM = 0,  // type, op a, op b, m, n, k, lda, ldb, ldc / alpha, beta: two numbers each / a, b, c
    DCPY_GEMM_BATCHED = 1,  // ..., and distances of a, b, c, and how many / the same / the same
    DCPY_SYRK = 2,  // type, lower, op, n, k, lda, ldc / alpha, beta / a, c
    DCPY_TRSM = 3,  // type, right, lower, op, unit, m, n, lda, ldb / alpha / a, b
    DCPY_GEMV = 4,  // type, op, m, n, lda, step of x, step of y / alpha, beta / a, x, y
    DCPY_GER = 5,  // type, m, n, step of x, step of y, lda / alpha / x, y, a
    DCPY_DOT = 6,  // type, n, step of x, step of y / / x, y, the result
    DCPY_POTRF = 7,  // type, lower, n, lda / / a, info
    DCPY_GETRF = 8,  // type, m, n, lda / / a, pivots, info
    DCPY_GETRS = 9,  // type, op, n, columns, lda, ldb / / a, pivots, b
    DCPY_FFT = 10,  // type, kind (0 forward, 1 backward, 2 from real, 3 to real), n, outer lines and their distances in x
                    // and y, inner lines and theirs, distances of points / / x, y
    DCPY_GEQRF = 11,  // type, m, n, lda / / a, factors of reflections, info
    DCPY_ORGQR = 12,  // type, m, n, reflections, lda / / a, factors of reflections, info
    DCPY_SYEVD = 13,  // type, with vectors, lower, n, lda / / a, eigenvalues, info
    DCPY_GESVD = 14,  // type, vectors (0 none, 1 as many as values, 2 all), m >= n, n, lda, ldu, ldvt / / a, values, u,
                      // v^H, info
};

typedef double dcpy_factor;  // of any type of matrix: what calls it is the same for float and double

// Libraries of the vendor's, for one program: calls are queued as launches are.
struct dcpy_device;

struct dcpy_libraries {
    int32_t (*call)(struct dcpy_libraries *, struct dcpy_device *, int32_t function, const int64_t *numbers,
                    const dcpy_factor *factors, void *const *places);
    void (*close)(struct dcpy_libraries *, struct dcpy_device *);
};

struct dcpy_device {
    int32_t version;  // DCPY_TABLE_VERSION of what made it

    // The error block: ten numbers in the memory of the device, all 0 while no check has failed. Kernels that check
    // get it as an argument (`dcpy_fail`): the check and its kernel, four numbers of its message, four that say where it
    // stands in the order of the program, and a lock.
    int64_t *errors;

    int32_t (*allocate)(struct dcpy_device *, int64_t bytes, void **place);  // at multiples of 256 bytes
    int32_t (*release)(struct dcpy_device *, void *place);
    int32_t (*copy)(struct dcpy_device *, void *to, const void *from, int64_t bytes, int32_t way);

    // Elements of `item` bytes; strides are in bytes, and may be negative.
    int32_t (*copy_box)(struct dcpy_device *, void *to, const void *from, int64_t item, int32_t rank,
                        const int64_t *shape, const int64_t *to_strides, const int64_t *from_strides, int32_t way);
    int32_t (*fill)(struct dcpy_device *, void *to, int32_t byte, int64_t bytes);

    // `kernel` counts the kernels of the program; `args` are addresses of the values of its parameters; `shared` are the
    // bytes of dynamic shared memory.
    int32_t (*launch)(struct dcpy_device *, int32_t kernel, const int64_t blocks[3], const int32_t threads[3],
                      int32_t shared, void **args);
    int32_t (*wait)(struct dcpy_device *);  // for all queues

    // After a wait: the check of the error block and its numbers; the block is all 0 again afterwards.
    int32_t (*failed)(struct dcpy_device *, int64_t numbers[5]);
    const char *(*message)(struct dcpy_device *);  // of the last status that was not 0

    // The queue of the commands that follow; 0 is the caller's, and the one at the beginning. An event is a number of
    // the program's own: `record` puts it into the queue, behind which the queues that `wait_event` go on.
    int32_t (*use_queue)(struct dcpy_device *, int32_t queue);
    int32_t (*record)(struct dcpy_device *, int32_t event);
    int32_t (*wait_event)(struct dcpy_device *, int32_t event);

    // Host memory that kernels may touch, too.
    int32_t (*pin)(struct dcpy_device *, int64_t bytes, void **place);
    int32_t (*unpin)(struct dcpy_device *, void *place);

    // Graphs, by numbers of the program's own; all three are null where there are none. Launches after `graph_begin` are
    // recorded with their arguments, and do not run; no other command may come up to `graph_end`, except that a `wait` or
    // a `release` gives the recording up. A graph that was recorded before becomes what it is now. `graph_replay` runs
    // all of its launches, in their order, in the present queue.
    int32_t (*graph_begin)(struct dcpy_device *, int32_t graph);
    int32_t (*graph_end)(struct dcpy_device *, int32_t graph);
    int32_t (*graph_replay)(struct dcpy_device *, int32_t graph);

    // Streams are of the process: queues that other libraries have, too, under the driver's handles (1: the legacy default
    // stream, 2: the default one of each thread). Queue 0 is the stream that was given last, null: the program's own
    // one; what comes runs behind what the program has queued on the stream before.
    void *(*own_stream)(struct dcpy_device *);
    int32_t (*use_stream)(struct dcpy_device *, void *stream);

    // What `then` gets from now on runs behind what `first` has got so far.
    int32_t (*order)(struct dcpy_device *, void *first, void *then);

    // Memory that outlives calls, in the order of a stream: nothing else may have it before `give`.
    int32_t (*take)(struct dcpy_device *, int64_t bytes, void *stream, void **place);
    int32_t (*give)(struct dcpy_device *, void *place, void *stream);

    // Whether the place is in memory of this device: 0, or DCPY_MISUSED with a message.
    int32_t (*holds)(struct dcpy_device *, const void *place);
    // Libraries: null where the program calls none. They ask for the queue in use, as the vendor's know it, and say why
    // a call did not work; `library_failed` returns the status.
    struct dcpy_libraries *libraries;
    int32_t (*library_stream)(struct dcpy_device *, void **stream);
    int32_t (*library_failed)(struct dcpy_device *, int32_t status, const char *why);
};

#endif
