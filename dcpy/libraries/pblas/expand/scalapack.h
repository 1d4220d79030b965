// Operations of ScaLAPACK on matrices in blocks on a grid. ScaLAPACK stores matrices by columns, and dcpy by rows: so
// what it sees are the transposed matrices, on the transposed grid, and nothing is copied for that.

extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cblacs_gridmap(int *, int *, int, int, int);
#define DCPY_PGEMM(name)                                                                                             \
    void name(const char *, const char *, const int *, const int *, const int *, const void *, const void *,         \
              const int *, const int *, const int *, const void *, const int *, const int *, const int *,            \
              const void *, void *, const int *, const int *, const int *)
DCPY_PGEMM(psgemm_);
DCPY_PGEMM(pdgemm_);
DCPY_PGEMM(pcgemm_);
DCPY_PGEMM(pzgemm_);
#undef DCPY_PGEMM
}

namespace dcpy {
struct Context {
    List<int64_t> numbers;
    int handle;
};
static List<Context> contexts;

// The BLACS context of a grid whose rows are along the axis `columns`, and whose columns are along `rows`; below 0 on
// ranks outside of it. `numbers` says which ranks these are (`group`). Made once, by all of them.
static int context_of(Numbers &numbers, int64_t rows, int64_t columns)
{
    const int64_t *begin = numbers.next + 1; // behind the line
    MPI_Comm comm = group(numbers);
    if (comm == MPI_COMM_NULL) return -1;
    List<int64_t> key = {};
    for (const int64_t *each = begin; each < numbers.next; each++) key.add(*each);
    key.add(rows), key.add(columns), key.add(int64_t(MPI_Comm_c2f(comm)));
    for (Context &known : contexts) {
        bool same = known.numbers.count == key.count;
        if (same && !memcmp(known.numbers.items, key.items, size_t(key.count) * sizeof *begin)) {
            key.release();
            return known.handle;
        }
    }
    int down = as_int(begin[1 + columns]), along = as_int(begin[1 + rows]);
    List<int> ranks = {};
    for (int j = 0; j < along; j++)
        for (int i = 0; i < down; i++) ranks.add(rows < columns ? j * down + i : i * along + j);
    Context made = {key, Csys2blacs_handle(comm)};
    Cblacs_gridmap(&made.handle, ranks.items, down, down, along);
    ranks.release();
    contexts.add(made);
    return made.handle;
}

// What ScaLAPACK calls a descriptor: a matrix by columns, with its sizes, blocks, and the distance between columns.
struct Descriptor {
    int fields[9];

    Descriptor(int context, Numbers &numbers)
    {
        int columns = as_int(numbers.take()), rows = as_int(numbers.take());
        int block_of_columns = as_int(numbers.take()), block_of_rows = as_int(numbers.take());
        int distance = as_int(numbers.take());
        const int values[] = {1, context, rows, columns, at_least_one(block_of_rows), at_least_one(block_of_columns),
                              0, 0, at_least_one(distance)};
        memcpy(fields, values, sizeof fields);
    }
    Descriptor(int context, int rows, int columns, int block, int64_t distance)
    {
        const int values[] = {1, context, rows, columns, block, block, 0, 0, at_least_one(as_int(distance))};
        memcpy(fields, values, sizeof fields);
    }
    static int at_least_one(int number) { return number > 0 ? number : 1; }
};

// 0 or 1 as an element, real or complex, of single or double precision.
template <class T> T real_number(bool is_double, int number)
{
    T made;
    memset(static_cast<void *>(&made), 0, sizeof made);
    const double wide = number;
    const float narrow = float(number);
    memcpy(static_cast<void *>(&made), is_double ? static_cast<const void *>(&wide) : &narrow, is_double ? 8 : 4);
    return made;
}

// c = alpha * op(a) @ op(b), added to what c has if it is a summand. The numbers: which of the four precisions, whether
// a and b are transposed, whether c is a summand, rows and columns of the result, the inner size, the axes, rows and
// columns of c on this rank, the grid, and of each matrix its sizes, blocks, and the distance of rows.
template <class A, class C, class... N> void product_on_grid(const A *a, const A *b, C *c, C alpha, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all + 11};
    int context = context_of(rest, all[7], all[8]);
    if (context < 0) return;
    Descriptor first(context, rest), second(context, rest), result(context, rest);
    const char *of_a = all[1] ? "T" : "N", *of_b = all[2] ? "T" : "N";
    const int one = 1, rows = as_int(all[4]), columns = as_int(all[5]), inner = as_int(all[6]);
    auto *call = all[0] == 0 ? psgemm_ : all[0] == 1 ? pdgemm_ : all[0] == 2 ? pcgemm_ : pzgemm_;
    const C none = real_number<C>(all[0] % 2, 0), unit = real_number<C>(all[0] % 2, 1);
    bool is_zero = alpha == none; // ScaLAPACK would not look at the operands, which may be infinite
    int64_t distance = result.fields[8], count = all[9] * distance;
    C *to = is_zero ? reinterpret_cast<C *>(memory(count * int64_t(sizeof(C)))) : c;
    traffic.collectives++;
    call(of_b, of_a, &columns, &rows, &inner, is_zero ? &unit : &alpha, b, &one, &one, second.fields, a, &one, &one,
         first.fields, all[3] && !is_zero ? &unit : &none, to, &one, &one, result.fields);
    if (!is_zero) return;
    for (int64_t i = 0; i < all[9]; i++)
        for (int64_t j = 0; j < all[10]; j++) {
            C product = alpha * to[i * distance + j], *place = c + i * distance + j;
            *place = all[3] ? C(*place + product) : product;
        }
    free(to);
}
} // namespace dcpy
