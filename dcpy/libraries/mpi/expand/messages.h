// Messages between two ranks. Operands of any stride are derived datatypes, made once; requests are numbers in a table,
// of which 0 is that of nothing.

#ifndef DCPY_ALONE
namespace dcpy {
struct Shape {
    List<int64_t> numbers;
    MPI_Datatype type;
};
static List<Shape> shapes;

// The datatype of a view, relative to its beginning.
static MPI_Datatype type_of(const View &view)
{
    List<int64_t> numbers;
    numbers.add(view.size);
    for (int64_t d = 0; d < view.dims; d++) numbers.add(view.counts[d]), numbers.add(view.strides[d]);
    for (Shape &known : shapes) {
        bool same = known.numbers.count == numbers.count;
        if (same && !memcmp(known.numbers.items, numbers.items, size_t(numbers.count) * sizeof(int64_t))) {
            numbers.release();
            return known.type;
        }
    }
    MPI_Datatype type, outer;
    DCPY_MPI(Type_contiguous(as_int(view.size), MPI_BYTE, &type));
    for (int64_t d = view.dims; d-- > 0; type = outer) {
        DCPY_MPI(Type_create_hvector(as_int(view.counts[d]), 1, MPI_Aint(view.strides[d]), type, &outer));
        DCPY_MPI(Type_free(&type));
    }
    DCPY_MPI(Type_commit(&type));
    shapes.add({numbers, type});
    return type;
}

static int any_or(int64_t tag) { return tag < 0 ? MPI_ANY_TAG : as_int(tag); }

static int peer(int64_t rank) { return rank < 0 ? MPI_PROC_NULL : as_int(rank); }

static List<MPI_Request> requests;
static List<int64_t> free_requests;

static int64_t entered(MPI_Request request)
{
    if (!free_requests.count) requests.add(MPI_REQUEST_NULL), free_requests.add(requests.count);
    int64_t number = free_requests[--free_requests.count];
    requests[number - 1] = request;
    return number;
}

// What follows the operands of each: the group, and the operands' views.
struct Ends {
    MPI_Comm comm;
    View views[2];

    Ends(const int64_t *all, const void *first, const void *second, int64_t size)
    {
        Numbers rest = {all};
        comm = group(rest);
        views[0] = view(rest, first, size);
        if (second) views[1] = view(rest, second, size);
    }
    bool here() const { return comm != MPI_COMM_NULL; }
};

static void count_message(const View &view, int64_t to)
{
    traffic.messages += to >= 0, traffic.bytes += to >= 0 ? view.elements() * view.size : 0;
}

template <class T, class... N> void send(const T *x, int64_t to, int64_t tag, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Ends ends(all, x, nullptr, sizeof(T));
    if (!ends.here()) return;
    count_message(ends.views[0], to);
    Waits here("comm.Send", to);
    DCPY_MPI(Send(x, 1, type_of(ends.views[0]), peer(to), as_int(tag), ends.comm));
}

static void require_all(MPI_Status status,  // a copy: not all MPIs leave it constant
                        const View &view, int64_t source)
{
    MPI_Count count = 0;
    DCPY_MPI(Get_elements_x(&status, MPI_BYTE, &count));
    if (source >= 0 && count != view.elements() * view.size) stop("a message has fewer elements than are received");
}

template <class T, class... N> void receive(T *out, int64_t source, int64_t tag, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Ends ends(all, out, nullptr, sizeof(T));
    if (!ends.here()) return;
    MPI_Status status;
    Waits here("comm.Recv", source);
    DCPY_MPI(Recv(out, 1, type_of(ends.views[0]), peer(source), any_or(tag), ends.comm, &status));
    require_all(status, ends.views[0], source);
}

template <class T, class... N>
void send_receive(const T *x, T *out, int64_t to, int64_t source, int64_t tag, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Ends ends(all, x, out, sizeof(T));
    if (!ends.here()) return;
    Packed from(ends.views[0], static_cast<const void *>(x) == out);
    MPI_Datatype type = type_of(ends.views[0]);
    int count = 1;
    if (from.own) ends.views[0].to(from.data), type = bytes_of(sizeof(T)), count = as_int(ends.views[0].elements());
    count_message(ends.views[0], to);
    MPI_Status status;
    Waits here("comm.Sendrecv", source);
    DCPY_MPI(Sendrecv(from.data, count, type, peer(to), as_int(tag), out, 1, type_of(ends.views[1]), peer(source),
                      any_or(tag), ends.comm, &status));
    require_all(status, ends.views[1], source);
}

template <class T, class... N> void start_send(const T *x, int64_t *request, int64_t to, int64_t tag, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Ends ends(all, x, nullptr, sizeof(T));
    *request = 0;
    if (!ends.here() || to < 0) return;
    count_message(ends.views[0], to);
    MPI_Request started;
    DCPY_MPI(Isend(x, 1, type_of(ends.views[0]), peer(to), as_int(tag), ends.comm, &started));
    *request = entered(started);
}

template <class T, class... N> void start_receive(T *out, int64_t *request, int64_t source, int64_t tag, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Ends ends(all, out, nullptr, sizeof(T));
    *request = 0;
    if (!ends.here() || source < 0) return;
    MPI_Request started;
    DCPY_MPI(Irecv(out, 1, type_of(ends.views[0]), peer(source), any_or(tag), ends.comm, &started));
    *request = entered(started);
}

// The memory of the requests is named so that the compiler sees it change here.
template <class... Memory>
void wait_all(const int64_t *numbers, int64_t count, int64_t stride, int64_t at, Memory *...)
{
    line = at;
    Waits here("comm.Wait", -1);
    for (int64_t k = 0; k < count; k++) {
        int64_t number = numbers[k * stride];
        if (number == 0) continue;
        if (number < 0 || number > requests.count) stop("a wait is for a request that is not under way");
        DCPY_MPI(Wait(&requests[number - 1], MPI_STATUS_IGNORE));
        free_requests.add(number);
    }
}
} // namespace dcpy
#endif
