// The ranks that a program runs on, and what the other headers of this folder need: lists, errors, operations. With
// DCPY_ALONE there is one rank, and no MPI. All that is static here belongs to one compiled program; the runtime says
// who the ranks are (dcpy_ranks_attach in joining.h), and asks afterwards what was sent (dcpy_ranks_sent).

#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef DCPY_ALONE
#include <mpi.h>
#endif

namespace dcpy {
using int64_t = __INT64_TYPE__;

struct Traffic {
    int64_t messages, bytes, collectives;
};
static Traffic traffic;

#ifdef DCPY_ALONE
static int world_rank() { return 0; }
static int world_size() { return 1; }
[[noreturn]] static void stop(const char *what)
{
    fprintf(stderr, "dcpy: %s\n", what);
    abort();
}
#else
static MPI_Comm world = MPI_COMM_NULL;

static int world_rank()
{
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    return rank;
}

static int world_size()
{
    int size = 1;
    MPI_Comm_size(world, &size);
    return size;
}

// Where this rank is in a program of the local view (watch.h): in what, and at which line of the user's file, if known.
static struct {
    const char *what; // null: it computes
    int64_t peer, line, since;
} site;

// No rank can go on alone: what cannot be repaired ends the job, with the rank that saw it.
[[noreturn]] static void stop(const char *what)
{
    char where[60] = "";
    if (site.what && site.line) snprintf(where, sizeof where, ", in %s at line %lld", site.what, (long long)site.line);
    fprintf(stderr, "dcpy: on rank %d%s: %s\n", world_rank(), where, what);
    fflush(stderr);
    MPI_Abort(world, 1);
    abort();
}

static void checked(int code, const char *what)
{
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 100];
    int name = int(strcspn(what, "(")), more = 0;
    int length = snprintf(text, 100, "%.*s: ", name < 90 ? name : 90, what);
    MPI_Error_string(code, text + length, &more);
    stop(text);
}
#define DCPY_MPI(call) dcpy::checked(MPI_##call, "MPI_" #call)
#endif

// Numbers that MPI counts with are ints: more is said, not wrapped.
static int as_int(int64_t number)
{
    if (number < 0 || number > 0x7fffffff) stop("more than 2147483647 pieces in one message");
    return int(number);
}

template <class T> struct List {
    T *items = nullptr;
    int64_t count = 0, room = 0;

    void add(T item)
    {
        if (count == room) {
            room = room ? 2 * room : 8;
            items = static_cast<T *>(realloc(static_cast<void *>(items), size_t(room) * sizeof(T)));
            if (!items) stop("out of memory");
        }
        items[count++] = item;
    }
    T &operator[](int64_t k) { return items[k]; }
    const T &operator[](int64_t k) const { return items[k]; }
    T *begin() { return items; }
    T *end() { return items + count; }
    const T *begin() const { return items; }
    const T *end() const { return items + count; }
    void release()
    {
        free(items);
        *this = List();
    }
};

static char *memory(int64_t bytes)
{
    void *found = malloc(size_t(bytes > 0 ? bytes : 1));
    if (!found) stop("out of memory");
    return static_cast<char *>(found);
}

// What is made of two values, as NumPy does it: a NaN stays, and truth values are added by "or".
enum Operation { REPLACE, ADD, MUL, MIN, MAX, AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, MINLOC, MAXLOC };

template <class T> auto lower(T a, T b, int) -> decltype(T(a < b ? a : b)) { return a < b || a != a ? a : b; }
template <class T> T lower(T, T b, long) { return b; }
template <class T> auto higher(T a, T b, int) -> decltype(T(a < b ? a : b)) { return a > b || a != a ? a : b; }
template <class T> T higher(T, T b, long) { return b; }
template <class T> auto bits(T a, T b, int how, int) -> decltype(T(a & b))
{
    return how == BIT_AND ? T(a & b) : how == BIT_OR ? T(a | b) : T(a ^ b);
}
template <class T> T bits(T, T b, int, long) { return b; }
template <class T> auto truths(T a, T b, int how, int) -> decltype(T(a && b))
{
    return how == AND ? T(a && b) : how == OR ? T(a || b) : T(!a != !b);
}
template <class T> T truths(T, T b, int, long) { return b; }

// Whether the first of two pairs (value, index) stays: it has the extremum, or the lower index of equal ones.
template <class T> auto stays(const T *a, const T *b, int how, int) -> decltype(bool(a[0] < b[0]))
{
    return (how == MINLOC ? a[0] < b[0] : a[0] > b[0]) || (a[0] == b[0] && a[1] <= b[1]);
}
template <class T> bool stays(const T *, const T *, int, long) { return false; }

template <class T> T combined(T a, T b, int how)
{
    switch (how) {
    case ADD: return T(a + b);
    case MUL: return T(a * b);
    case MIN: return lower(a, b, 0);
    case MAX: return higher(a, b, 0);
    case AND: case OR: case XOR: return truths(a, b, how, 0);
    case BIT_AND: case BIT_OR: case BIT_XOR: return bits(a, b, how, 0);
    }
    return b;
}
} // namespace dcpy

// Messages, their bytes, and collectives that this rank has begun since the last question.
extern "C" __attribute__((visibility("default"))) void dcpy_ranks_sent(dcpy::int64_t *numbers)
{
    memcpy(numbers, &dcpy::traffic, sizeof dcpy::traffic);
    dcpy::traffic = dcpy::Traffic();
}
