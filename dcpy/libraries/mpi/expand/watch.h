// What a rank waits in, for the case that it waits for ever, and whether collectives fit together. Both are asked for
// (dcpy_ranks_watch in joining.h): ranks_timeout and check_messages.

#ifndef DCPY_ALONE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

namespace dcpy {
static int64_t line; // of the node that runs, in the user's file; 0: not known
static int patience;
static bool checks;

static int64_t milliseconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Says where this rank is and ends the job, after those that wait as long have said it, too.
static void late(const char *what)
{
    char whom[40] = "", where[40] = "";
    if (site.peer >= 0) snprintf(whom, sizeof whom, ", for rank %lld", (long long)site.peer);
    if (site.line) snprintf(where, sizeof where, ", at line %lld", (long long)site.line);
    fprintf(stderr, "dcpy: rank %d has waited for %d s (ranks_timeout) in %s%s%s\n", world_rank(), patience, what, whom, where);
    fflush(stderr);
    sleep(1);
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided == MPI_THREAD_MULTIPLE) MPI_Abort(world, 1);
    abort();
}

static void *watching(void *)
{
    for (;;) {
        usleep(100000);
        const char *what = __atomic_load_n(&site.what, __ATOMIC_ACQUIRE);
        if (what && milliseconds() - site.since > patience * 1000LL) late(what);
    }
}

static void start_watching(int seconds)
{
    pthread_t thread;
    if (seconds > 0 && !patience && !pthread_create(&thread, nullptr, watching, nullptr)) pthread_detach(thread);
    patience = seconds > 0 ? seconds : patience;
}

// While there is one, this rank waits, if it has to.
struct Waits {
    Waits(const char *what, int64_t peer)
    {
        site.peer = peer, site.line = line, site.since = patience ? milliseconds() : 0;
        __atomic_store_n(&site.what, what, __ATOMIC_RELEASE);
    }
    ~Waits() { __atomic_store_n(&site.what, static_cast<const char *>(nullptr), __ATOMIC_RELEASE); }
    Waits(const Waits &) = delete;
};

// Ends the job where ranks are at other collectives, or at the same with other operands. MPI would take them together.
static void require_same(MPI_Comm comm, const char *const *names, int64_t kind, int64_t root, int64_t how, int64_t bytes)
{
    if (!checks) return;
    int64_t mine[] = {kind, root, how, bytes, line};
    int ranks, me;
    DCPY_MPI(Comm_size(comm, &ranks));
    DCPY_MPI(Comm_rank(comm, &me));
    List<int64_t> all;
    for (int k = 0; k < 5 * ranks; k++) all.add(0);
    DCPY_MPI(Allgather(mine, 5, MPI_INT64_T, all.items, 5, MPI_INT64_T, comm));
    bool same = true;
    for (int rank = 1; rank < ranks; rank++) same = same && !memcmp(all.items, all.items + 5 * rank, 4 * sizeof *mine);
    if (same) return all.release();
    if (me == 0) {
        fprintf(stderr, "dcpy: the ranks do not agree on a collective (check_messages)\n");
        for (int rank = 0; rank < ranks; rank++) {
            const int64_t *its = all.items + 5 * rank;
            fprintf(stderr, "  rank %d: %s of %lld bytes, root %lld, operation %lld, at line %lld\n", rank, names[its[0]],
                    (long long)its[3], (long long)its[1], (long long)its[2], (long long)its[4]);
        }
        fflush(stderr);
        MPI_Abort(world, 1);
    }
    sleep(10); // rank 0 ends the job
    abort();
}
} // namespace dcpy
#endif
