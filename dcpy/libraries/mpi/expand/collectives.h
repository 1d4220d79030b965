// Collectives of MPI on operands of any stride. How much each rank gives and gets follows from the shapes, so pieces
// may differ. Values are combined in the order of the ranks; MPI's own operations stand for sums of its own types.

namespace dcpy {
// The number of axes, then how long each is: 0 for what the others leave, as equal as it can be, the longest first.
template <class... N> void cart(int64_t *sizes, int64_t *coords, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    int64_t used = 1, open = 0;
    Placement grid = {};
    grid.axes = all[0];
    for (int64_t a = 0; a < grid.axes; a++) {
        grid.sizes[a] = all[1 + a];
        if (grid.sizes[a] > 0) used *= grid.sizes[a];
        else open++;
    }
    int64_t left = most(1, world_size() / used);
    for (int64_t a = grid.axes; a-- > 0;) {
        if (grid.sizes[a] > 0) continue;
        int64_t best = open > 1 ? 1 : left;
        for (int64_t n = 2; open > 1 && n <= left; n++) {
            int64_t power = 1;
            for (int64_t k = 0; k < open && power <= left; k++) power *= n;
            if (left % n == 0 && power <= left) best = n;
        }
        grid.sizes[a] = best, left /= best, open--;
    }
    grid.find(world_rank(), coords);
    for (int64_t a = 0; a < grid.axes; a++) sizes[a] = grid.sizes[a];
}

#ifdef DCPY_ALONE
static void pass(const View &x, const View &out)
{
    Packed values(x, true);
    x.to(values.data), out.from(values.data);
}

template <class... N> void barrier(N...) {}
template <class... N> void place(int64_t *rank, int64_t *size, N...) { *rank = 0, *size = 1; }
template <class T, class... N> void whole(const T *x, T *out, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all + 3};
    group(rest);
    View given = view(rest, x, sizeof(T)), taken = view(rest, out, sizeof(T));
    if (all[0] != 4) pass(given, taken); // nobody is before this rank
}
template <class T, class... N> void pieces(const T *x, T *out, N... numbers) { whole(x, out, numbers...); }
#else
enum Whole { BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, FIRST_OF_PIECES };
enum Pieces { SCATTER, GATHER, ALLGATHER, ALLTOALL, REDUCE_SCATTER, BARRIER = FIRST_OF_PIECES + REDUCE_SCATTER + 1 };
static const char *const NAMES_OF_ALL[] = {
    "comm.Bcast", "comm.Reduce", "comm.Allreduce", "comm.Scan", "comm.Exscan", "comm.Scatter", "comm.Gather",
    "comm.Allgather", "comm.Alltoall", "comm.ReduceScatter", "comm.Barrier"};

template <class T> MPI_Datatype own_type() { return MPI_DATATYPE_NULL; }
template <> inline MPI_Datatype own_type<double>() { return MPI_DOUBLE; }
template <> inline MPI_Datatype own_type<float>() { return MPI_FLOAT; }
template <> inline MPI_Datatype own_type<__INT64_TYPE__>() { return MPI_INT64_T; }
template <> inline MPI_Datatype own_type<__INT32_TYPE__>() { return MPI_INT32_T; }

template <class T, int how> void combine_rows(void *from, void *to, int *count, MPI_Datatype *)
{
    const char *lower_ranks = static_cast<const char *>(from);
    char *values = static_cast<char *>(to);
    for (int k = 0; k < *count; k++, lower_ranks += sizeof(T), values += sizeof(T)) {
        T first, second;
        memcpy(&first, lower_ranks, sizeof first), memcpy(&second, values, sizeof second);
        second = combined(first, second, how);
        memcpy(values, &second, sizeof second);
    }
}

template <class T, int how> MPI_Op made_operation()
{
    static MPI_Op made = MPI_OP_NULL;
    if (made == MPI_OP_NULL) DCPY_MPI(Op_create(combine_rows<T, how>, 0, &made));
    return made;
}

template <class T, int how> void combine_pairs(void *from, void *to, int *count, MPI_Datatype *)
{
    const char *lower_ranks = static_cast<const char *>(from);
    char *values = static_cast<char *>(to);
    for (int k = 0; k < *count; k++, lower_ranks += 2 * sizeof(T), values += 2 * sizeof(T)) {
        T first[2], second[2];
        memcpy(first, lower_ranks, sizeof first), memcpy(second, values, sizeof second);
        if (stays(first, second, how, 0)) memcpy(values, first, sizeof first);
    }
}

template <class T, int how> MPI_Op made_for_pairs()
{
    static MPI_Op made = MPI_OP_NULL;
    if (made == MPI_OP_NULL) DCPY_MPI(Op_create(combine_pairs<T, how>, 0, &made));
    return made;
}

// How many elements an operation takes for one.
static int width_of(int64_t how) { return how == MINLOC || how == MAXLOC ? 2 : 1; }

template <class T> MPI_Op operation(int64_t how, MPI_Datatype &type)
{
    type = own_type<T>();
    if (how == ADD && type != MPI_DATATYPE_NULL) return MPI_SUM;
    type = bytes_of(sizeof(T) * size_t(width_of(how)));
    switch (how) {
    case ADD: return made_operation<T, ADD>();
    case MUL: return made_operation<T, MUL>();
    case MIN: return made_operation<T, MIN>();
    case MAX: return made_operation<T, MAX>();
    case AND: return made_operation<T, AND>();
    case OR: return made_operation<T, OR>();
    case XOR: return made_operation<T, XOR>();
    case BIT_AND: return made_operation<T, BIT_AND>();
    case BIT_OR: return made_operation<T, BIT_OR>();
    case BIT_XOR: return made_operation<T, BIT_XOR>();
    case MINLOC: return made_for_pairs<T, MINLOC>();
    case MAXLOC: return made_for_pairs<T, MAXLOC>();
    }
    stop("values of ranks are combined by no known operation");
}

template <class... N> void barrier(N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all};
    MPI_Comm comm = group(rest);
    if (comm == MPI_COMM_NULL) return;
    traffic.collectives++;
    Waits here("comm.Barrier", -1);
    require_same(comm, NAMES_OF_ALL, BARRIER, 0, 0, 0);
    DCPY_MPI(Barrier(comm));
}

// Where this rank is in a group, and how large that is.
template <class... N> void place(int64_t *rank, int64_t *size, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all};
    MPI_Comm comm = group(rest);
    int mine = -1, ranks = 0;
    if (comm != MPI_COMM_NULL) {
        DCPY_MPI(Comm_rank(comm, &mine));
        DCPY_MPI(Comm_size(comm, &ranks));
    }
    *rank = mine, *size = ranks;
}

// Kind, root, operation, the group, and both operands: what all ranks give and get as a whole.
template <class T, class... N> void whole(const T *x, T *out, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all + 3};
    MPI_Comm comm = group(rest);
    if (comm == MPI_COMM_NULL) return;
    int rank, root = int(all[1]);
    DCPY_MPI(Comm_rank(comm, &rank));
    View given = view(rest, x, sizeof(T)), taken = view(rest, out, sizeof(T));
    Packed from(given, given.data == taken.data), to(taken, false);
    if (from.own) given.to(from.data);
    int count = as_int(given.elements());
    MPI_Datatype type = bytes_of(sizeof(T));
    MPI_Op combines = all[0] == BCAST ? MPI_OP_NULL : operation<T>(all[2], type);
    traffic.collectives++, traffic.bytes += int64_t(count) * int64_t(sizeof(T));
    Waits here(NAMES_OF_ALL[all[0]], -1);
    require_same(comm, NAMES_OF_ALL, all[0], all[1], all[2], int64_t(count) * int64_t(sizeof(T)));
    count /= width_of(all[2]);
    switch (all[0]) {
    case BCAST:
        if (rank == root) memcpy(to.data, from.data, size_t(count) * sizeof(T));
        DCPY_MPI(Bcast(to.data, count, type, root, comm));
        break;
    case REDUCE: DCPY_MPI(Reduce(from.data, to.data, count, type, combines, root, comm)); break;
    case ALLREDUCE: DCPY_MPI(Allreduce(from.data, to.data, count, type, combines, comm)); break;
    case SCAN: DCPY_MPI(Scan(from.data, to.data, count, type, combines, comm)); break;
    case EXSCAN: DCPY_MPI(Exscan(from.data, to.data, count, type, combines, comm)); break;
    }
    bool gets = all[0] == REDUCE ? rank == root : all[0] != EXSCAN || rank > 0;
    if (to.own && gets) taken.from(to.data);
}

// The rows of each rank, as many as its operand has: counts and places of pieces, in elements.
struct Rows {
    List<int> counts, places;

    Rows(int64_t mine, MPI_Comm comm)
    {
        int ranks, size = as_int(mine);
        DCPY_MPI(Comm_size(comm, &ranks));
        for (int k = 0; k < ranks; k++) counts.add(0), places.add(0);
        DCPY_MPI(Allgather(&size, 1, MPI_INT, counts.items, 1, MPI_INT, comm));
        int64_t all = 0;
        for (int k = 0; k < ranks; k++) places[k] = as_int(all), all += counts[k];
        total = all;
    }
    ~Rows() { counts.release(), places.release(); }
    int64_t total;
};

static void require_rows(int64_t moved, int64_t there)
{
    if (moved != there) stop("a collective moves another number of rows than the ranks have together");
}

// As `whole`, of what is cut into rows along the first dimension.
template <class T, class... N> void pieces(const T *x, T *out, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all + 3};
    MPI_Comm comm = group(rest);
    if (comm == MPI_COMM_NULL) return;
    int rank, ranks, root = int(all[1]);
    DCPY_MPI(Comm_rank(comm, &rank));
    DCPY_MPI(Comm_size(comm, &ranks));
    View given = view(rest, x, sizeof(T)), taken = view(rest, out, sizeof(T));
    Packed from(given, given.data == taken.data), to(taken, false);
    if (from.own) given.to(from.data);
    MPI_Datatype type = bytes_of(sizeof(T));
    int64_t in = given.elements(), got = taken.elements();
    traffic.collectives++, traffic.bytes += in * int64_t(sizeof(T));
    bool gets = true;
    Waits here(NAMES_OF_ALL[FIRST_OF_PIECES + all[0]], -1);
    require_same(comm, NAMES_OF_ALL, FIRST_OF_PIECES + all[0], all[1], all[2], int64_t(sizeof(T)));
    if (all[0] == SCATTER) {
        Rows rows(got, comm);
        if (rank == root) require_rows(rows.total, in);
        const int *counts = rows.counts.items, *places = rows.places.items;
        DCPY_MPI(Scatterv(from.data, counts, places, type, to.data, as_int(got), type, root, comm));
    } else if (all[0] == GATHER) {
        Rows rows(in, comm);
        gets = rank == root;
        if (gets) require_rows(rows.total, got);
        DCPY_MPI(Gatherv(from.data, as_int(in), type, to.data, rows.counts.items, rows.places.items, type, root, comm));
    } else if (all[0] == ALLGATHER) {
        Rows rows(in, comm);
        require_rows(rows.total, got);
        DCPY_MPI(Allgatherv(from.data, as_int(in), type, to.data, rows.counts.items, rows.places.items, type, comm));
    } else if (all[0] == ALLTOALL) {
        if (given.rows() % ranks || taken.rows() % ranks) stop("rows of an alltoall are not in equal pieces");
        DCPY_MPI(Alltoall(from.data, as_int(in / ranks), type, to.data, as_int(got / ranks), type, comm));
    } else {
        MPI_Op combines = operation<T>(all[2], type);
        Rows rows(got / width_of(all[2]), comm);
        require_rows(rows.total, in / width_of(all[2]));
        DCPY_MPI(Reduce_scatter(from.data, to.data, rows.counts.items, type, combines, comm));
    }
    if (to.own && gets) taken.from(to.data);
}
#endif
} // namespace dcpy
