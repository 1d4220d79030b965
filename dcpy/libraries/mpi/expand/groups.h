// Groups of ranks, and operands of any stride: what the collectives and the messages of libraries/mpi share.

namespace dcpy {
// The numbers of a call, in turn.
struct Numbers {
    const int64_t *next;

    int64_t take() { return *next++; }
};

// An operand: so many elements along each dimension, and how far apart these are.
struct View {
    char *data;
    int64_t dims, size, counts[DIMS], strides[DIMS]; // strides in bytes

    int64_t rows() const { return dims ? counts[0] : 1; }
    int64_t elements() const
    {
        int64_t count = 1;
        for (int64_t d = 0; d < dims; d++) count *= counts[d];
        return count;
    }
    int64_t of_row() const { return rows() ? elements() / rows() : 0; }
    bool packed() const
    {
        int64_t stride = size;
        for (int64_t d = dims; d-- > 0; stride *= counts[d])
            if (counts[d] != 1 && strides[d] != stride) return false;
        return true;
    }
    template <class Move> void each_place(int64_t d, char *at, Move &&move) const
    {
        if (d == dims) return move(at);
        for (int64_t k = 0; k < counts[d]; k++) each_place(d + 1, at + k * strides[d], move);
    }
    void to(char *there) const
    {
        if (packed()) {
            memcpy(there, data, size_t(elements() * size));
            return;
        }
        each_place(0, data, [&there, this](char *at) { memcpy(there, at, size_t(size)), there += size; });
    }
    void from(const char *there) const
    {
        if (packed()) {
            memcpy(data, there, size_t(elements() * size));
            return;
        }
        each_place(0, data, [&there, this](char *at) { memcpy(at, there, size_t(size)), there += size; });
    }
};

static View view(Numbers &numbers, const void *data, int64_t size)
{
    View found;
    found.data = static_cast<char *>(const_cast<void *>(data)), found.size = size, found.dims = numbers.take();
    if (found.dims > DIMS) stop("operands have at most 12 dimensions");
    for (int64_t d = 0; d < found.dims; d++) found.counts[d] = numbers.take(), found.strides[d] = numbers.take() * size;
    return found;
}

// The elements of a view in one piece: where they are, or copied.
struct Packed {
    const View &view;
    char *data;
    bool own;

    Packed(const View &of, bool copies) : view(of), own(copies || !of.packed())
    {
        data = own ? memory(of.elements() * of.size) : of.data;
    }
    ~Packed()
    {
        if (own) free(data);
    }
};

#ifdef DCPY_ALONE
static int group(Numbers &numbers)
{
    numbers.take();
    for (int64_t n = numbers.take(); n > 0; n--) numbers.take();
    for (int64_t n = numbers.take(); n > 0; n--) numbers.take();
    return 1;
}
#else
struct Group {
    List<int64_t> numbers;
    MPI_Comm comm; // MPI_COMM_NULL on ranks that are not in it
};
static List<Group> groups;

// The ranks of a grid that differ along some of its axes only; no grid: all. Made once, by its members. The line that
// asks comes first.
static MPI_Comm group(Numbers &numbers)
{
    line = numbers.take();
    const int64_t *begin = numbers.next;
    int64_t axes = numbers.take(), sizes[8], at[8], its[8], ranks = 1, me = world_rank(), rest;
    if (axes > 8) stop("grids have at most 8 axes");
    for (int64_t a = 0; a < axes; a++) ranks *= sizes[a] = numbers.take();
    bool along[8] = {};
    for (int64_t n = numbers.take(); n > 0; n--) along[numbers.take()] = true;
    if (!axes) return world;
    int64_t count = numbers.next - begin;
    for (Group &known : groups) {
        bool same = known.numbers.count == count;
        if (same && !memcmp(known.numbers.items, begin, size_t(count) * sizeof *begin)) return known.comm;
    }
    if (ranks > world_size()) stop("a grid has more ranks than there are");
    Group made = {{}, MPI_COMM_NULL};
    for (int64_t k = 0; k < count; k++) made.numbers.add(begin[k]);
    rest = me;
    for (int64_t a = axes; a-- > 0; rest /= sizes[a]) at[a] = rest % sizes[a];
    List<int> members;
    for (int64_t other = 0; other < ranks && me < ranks; other++) {
        bool beside = true;
        rest = other;
        for (int64_t a = axes; a-- > 0; rest /= sizes[a]) {
            its[a] = rest % sizes[a];
            beside = beside && (along[a] || its[a] == at[a]);
        }
        if (beside) members.add(int(other));
    }
    if (members.count) {
        MPI_Group all, mine;
        DCPY_MPI(Comm_group(world, &all));
        DCPY_MPI(Group_incl(all, int(members.count), members.items, &mine));
        DCPY_MPI(Comm_create_group(world, mine, 3, &made.comm));
        DCPY_MPI(Comm_set_errhandler(made.comm, MPI_ERRORS_RETURN));
        DCPY_MPI(Group_free(&mine));
        DCPY_MPI(Group_free(&all));
    }
    members.release();
    groups.add(made);
    return made.comm;
}

static MPI_Datatype bytes_of(int64_t size)
{
    static List<MPI_Datatype> known;
    while (known.count <= size) known.add(MPI_DATATYPE_NULL);
    if (known[size] == MPI_DATATYPE_NULL) {
        DCPY_MPI(Type_contiguous(as_int(size), MPI_BYTE, &known[size]));
        DCPY_MPI(Type_commit(&known[size]));
    }
    return known[size];
}
#endif
} // namespace dcpy
