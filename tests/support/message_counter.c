// What one rank sends, as MPI sees it: preloaded, these functions are called in place of MPI's, which they call by
// their second names (PMPI). Messages that are started again are counted each time.

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };
static long long numbers[3]; // messages, their bytes, collectives
static struct {
    MPI_Request request;
    long long bytes;
} prepared[ROOM];
static int known;

static long long bytes_of(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (long long)count * size;
}

static void count(int to, long long bytes)
{
    if (to == MPI_PROC_NULL) return;
    numbers[0]++;
    numbers[1] += bytes;
}

static void begin(MPI_Request request)
{
    for (int k = 0; k < known; k++)
        if (prepared[k].request == request) count(0, prepared[k].bytes);
}

int MPI_Send(const void *from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count(to, bytes_of(n, type));
    return PMPI_Send(from, n, type, to, tag, comm);
}

int MPI_Isend(const void *from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    count(to, bytes_of(n, type));
    return PMPI_Isend(from, n, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void *from, int n, MPI_Datatype type, int to, int tag, void *into, int m, MPI_Datatype other,
                 int source, int its, MPI_Comm comm, MPI_Status *status)
{
    count(to, bytes_of(n, type));
    return PMPI_Sendrecv(from, n, type, to, tag, into, m, other, source, its, comm, status);
}

int MPI_Send_init(const void *from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int code = PMPI_Send_init(from, n, type, to, tag, comm, request);
    if (known == ROOM) abort();
    if (to != MPI_PROC_NULL) prepared[known].request = *request, prepared[known++].bytes = bytes_of(n, type);
    return code;
}

int MPI_Start(MPI_Request *request)
{
    begin(*request);
    return PMPI_Start(request);
}

int MPI_Startall(int n, MPI_Request *requests)
{
    for (int k = 0; k < n; k++) begin(requests[k]);
    return PMPI_Startall(n, requests);
}

int MPI_Request_free(MPI_Request *request)
{
    for (int k = 0; k < known; k++)
        if (prepared[k].request == *request) prepared[k--] = prepared[--known];
    return PMPI_Request_free(request);
}

#define COLLECTIVE(name, parameters, arguments) \
    int MPI_##name parameters                   \
    {                                           \
        numbers[2]++;                           \
        return PMPI_##name arguments;           \
    }

COLLECTIVE(Bcast, (void *x, int n, MPI_Datatype type, int root, MPI_Comm comm), (x, n, type, root, comm))
COLLECTIVE(Ibcast, (void *x, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
           (x, n, type, root, comm, request))
COLLECTIVE(Allreduce, (const void *x, void *y, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (x, y, n, type, op, comm))
COLLECTIVE(Reduce, (const void *x, void *y, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (x, y, n, type, op, root, comm))
COLLECTIVE(Allgather, (const void *x, int n, MPI_Datatype type, void *y, int m, MPI_Datatype other, MPI_Comm comm),
           (x, n, type, y, m, other, comm))
COLLECTIVE(Allgatherv, (const void *x, int n, MPI_Datatype type, void *y, const int m[], const int at[],
                        MPI_Datatype other, MPI_Comm comm), (x, n, type, y, m, at, other, comm))
COLLECTIVE(Alltoallv, (const void *x, const int n[], const int from[], MPI_Datatype type, void *y, const int m[],
                       const int to[], MPI_Datatype other, MPI_Comm comm), (x, n, from, type, y, m, to, other, comm))

// What was counted since the last question.
void messages_counted(long long *found)
{
    memcpy(found, numbers, sizeof numbers);
    memset(numbers, 0, sizeof numbers);
}
