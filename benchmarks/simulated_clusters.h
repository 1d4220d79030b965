// What benchmarks.simulated_clusters compiles programs with: arrays of all ranks are the same memory, and what a rank
// computes between two calls of MPI takes the median of what ranks took there. SimGrid runs ranks in turn, in one
// process, and gives each of them its own copy of what is static.

#include <algorithm>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <mpi.h>

namespace simulated {
static inline void *shared(const char *name, int number, size_t bytes)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s%d", getenv("DCPY_SHARED_MEMORY"), name, number);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || (lseek(file, 0, SEEK_END) < (off_t)bytes && ftruncate(file, (off_t)bytes))) abort();
    void *found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (found == MAP_FAILED) abort();
    return found;
}

inline int arrays;
static inline void *array(size_t bytes) { return shared("array", arrays++, bytes); }

// Seconds of this thread's own, whatever else the machine does; SimGrid's macros would give simulated ones.
static inline double now()
{
    timespec time;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

static inline double cost_of_asking()
{
    double least = 1;
    for (int k = 0; k < 100; k++) {
        double before = now();
        least = std::min(least, now() - before);
    }
    return least;
}

enum { MOST = 8192, SAMPLES = 31 };
struct Burst {
    int count;
    double samples[SAMPLES];
};
inline Burst *known; // of the first call, which makes plans, and of all others
inline double began, asking;
inline int call, number;

static inline void begin() { began = now(); }

static inline void end()
{
    double took = std::max(0.0, now() - began - asking);
    if (!known || number >= MOST) return;
    Burst &burst = known[(call > 1) * MOST + number++];
    if (burst.count < SAMPLES) burst.samples[burst.count++] = took;
    double sorted[SAMPLES];
    std::copy(burst.samples, burst.samples + burst.count, sorted);
    std::nth_element(sorted, sorted + burst.count / 2, sorted + burst.count);
    smpi_execute_flops(sorted[burst.count / 2] * FLOPS);
}

template <class Call> auto between(Call &&said)
{
    end();
    auto code = said();
    begin();
    return code;
}

// Before each call of the program, main() has a barrier.
template <class Call> auto at_barrier(Call &&said)
{
    auto code = said();
    if (!known) known = static_cast<Burst *>(shared("bursts", 0, 2 * MOST * sizeof(Burst))), asking = cost_of_asking();
    call++, number = 0;
    begin();
    return code;
}
} // namespace simulated

#define DCPY_BETWEEN(name, ...) simulated::between([&] { return name(__VA_ARGS__); })
#define MPI_Allgather(...) DCPY_BETWEEN(MPI_Allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) DCPY_BETWEEN(MPI_Allgatherv, __VA_ARGS__)
#define MPI_Allreduce(...) DCPY_BETWEEN(MPI_Allreduce, __VA_ARGS__)
#define MPI_Alltoall(...) DCPY_BETWEEN(MPI_Alltoall, __VA_ARGS__)
#define MPI_Bcast(...) DCPY_BETWEEN(MPI_Bcast, __VA_ARGS__)
#define MPI_Reduce(...) DCPY_BETWEEN(MPI_Reduce, __VA_ARGS__)
#define MPI_Reduce_scatter(...) DCPY_BETWEEN(MPI_Reduce_scatter, __VA_ARGS__)
#define MPI_Startall(...) DCPY_BETWEEN(MPI_Startall, __VA_ARGS__)
#define MPI_Waitall(...) DCPY_BETWEEN(MPI_Waitall, __VA_ARGS__)
#define MPI_Wtime() DCPY_BETWEEN(MPI_Wtime)
#define MPI_Barrier(...) simulated::at_barrier([&] { return MPI_Barrier(__VA_ARGS__); })
#ifdef HAS_MAIN
#define aligned_alloc(alignment, bytes) simulated::array(bytes)
#define free(memory) ((void)(memory))
#endif
