// Solvers of ScaLAPACK, on matrices by columns whose blocks go round on a grid: what it wants, so nothing is turned here.

extern "C" {
void Cblacs_gridinfo(int, int *, int *, int *, int *);
#define DCPY_SOLVERS(letter)                                                                                         \
    void p##letter##potrf_(const char *, const int *, void *, const int *, const int *, const int *, int *);         \
    void p##letter##getrf_(const int *, const int *, void *, const int *, const int *, const int *, int *, int *);   \
    void p##letter##getrs_(const char *, const int *, const int *, const void *, const int *, const int *,           \
                           const int *, const int *, void *, const int *, const int *, const int *, int *)
DCPY_SOLVERS(s);
DCPY_SOLVERS(d);
DCPY_SOLVERS(c);
DCPY_SOLVERS(z);
#undef DCPY_SOLVERS
}

namespace dcpy {
// The first diagonal elements that are bad, and NaN, and where somebody has stopped: counted from 1, or 0.
struct First {
    int bad, nan, stopped;
};

// A square matrix on this rank: which of the four precisions, how large the whole and its blocks are, how many rows and
// columns are here, where on the grid this rank is. Further numbers are left to the caller.
struct Square {
    int64_t precision, here_rows, here_columns, distance;
    int size, block, context, down, along, row, column;

    explicit Square(Numbers &numbers)
    {
        precision = numbers.take(), size = as_int(numbers.take()), block = as_int(numbers.take());
        here_rows = numbers.take(), here_columns = numbers.take(), distance = numbers.take();
        int64_t rows = numbers.take(), columns = numbers.take();
        context = context_of(numbers, columns, rows); // rows of the matrix are along `rows`
        if (context >= 0) Cblacs_gridinfo(context, &down, &along, &row, &column);
    }
    bool empty() const { return context < 0 || !size; }
    // Of the whole, which row or column one is that is here.
    int64_t whole_row(int64_t i) const { return (i / block * down + row) * block + i % block; }
    int64_t whole_column(int64_t j) const { return (j / block * along + column) * block + j % block; }
    template <class T> void copy(const T *from, T *to) const
    {
        for (int64_t j = 0; j < here_columns; j++)
            memcpy(static_cast<void *>(to + j * here_rows), from + j * distance, size_t(here_rows) * sizeof(T));
    }
    // What diagonal elements and ScaLAPACK say, on all ranks, those outside of the grid, too. It is not enough to ask
    // ScaLAPACK: MKL's forgets about pivots that are 0 where there are several blocks, and takes NaN for one.
    template <class T, class Bad> First first(const T *values, int stopped, Bad &&bad) const
    {
        if (stopped < 0) stop("ScaLAPACK does not take what it was given");
        int behind[] = {0, 0, stopped > 0 ? size + 1 - stopped : 0}, found[3] = {}; // greatest for the first one
        for (int64_t j = 0; !empty() && j < here_columns; j++) {
            const int64_t k = whole_column(j);
            if (k / block % down != row) continue;
            const T &element = values[j * here_rows + k / (block * down) * block + k % block];
            const int left = size - int(k);
            if (bad(element) && left > behind[0]) behind[0] = left;
            if (!(element == element) && left > behind[1]) behind[1] = left;
        }
        traffic.collectives++;
        DCPY_MPI(Allreduce(behind, found, 3, MPI_INT, MPI_MAX, world));
        for (int &each : found) each = each ? size + 1 - each : 0;
        return {found[0], found[1], found[2]};
    }
    template <class Call> Call chosen(Call s, Call d, Call c, Call z) const
    {
        return precision == 0 ? s : precision == 1 ? d : precision == 2 ? c : z;
    }
};

// A copy of a matrix that was made triangles of, and where rows were swapped.
template <class T> struct Factors {
    const Square &of;
    T *values = nullptr;
    int *pivots = nullptr, info = 0;

    Factors(const Square &matrix, const T *a) : of(matrix)
    {
        if (of.empty()) return;
        values = reinterpret_cast<T *>(memory(of.here_rows * of.here_columns * int64_t(sizeof(T))));
        pivots = reinterpret_cast<int *>(memory((of.here_rows + of.block) * int64_t(sizeof(int))));
        of.copy(a, values);
        Descriptor its(of.context, of.size, of.size, of.block, of.here_rows);
        const int one = 1;
        traffic.collectives++;
        of.chosen(psgetrf_, pdgetrf_, pcgetrf_, pzgetrf_)(
            &of.size, &of.size, values, &one, &one, its.fields, pivots, &info);
    }
    // Where the first pivot is that is 0, counted from 1; or 0. What has a NaN has no pivots to tell of.
    int singular() const
    {
        const T none = real_number<T>(of.precision % 2, 0);
        int has_nan = info < 0 ? info : 0;
        for (int64_t k = 0; !of.empty() && k < of.here_rows * of.here_columns; k++)
            if (!(values[k] == values[k])) has_nan = 1;
        const First first = of.first(values, has_nan, [&none](const T &pivot) { return pivot == none; });
        return first.stopped ? 0 : first.bad;
    }
    ~Factors() { free(values), free(pivots); }
    void solve(T *x, int columns) const
    {
        Descriptor its(of.context, of.size, of.size, of.block, of.here_rows);
        Descriptor right(of.context, of.size, columns, of.block, of.here_rows);
        const int one = 1;
        int found = 0;
        traffic.collectives++;
        of.chosen(psgetrs_, pdgetrs_, pcgetrs_, pzgetrs_)(
            "N", &of.size, &columns, values, &one, &one, its.fields, pivots, x, &one, &one, right.fields, &found);
        if (found) stop("ScaLAPACK does not take what it was given");
    }
};

template <class T, class... N> void cholesky_on_grid(const T *a, T *l, int *info, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all + 1};
    Square matrix(rest);
    int found = 0;
    const bool is_double = matrix.precision % 2;
    if (!matrix.empty()) {
        matrix.copy(a, l);
        Descriptor its(matrix.context, matrix.size, matrix.size, matrix.block, matrix.here_rows);
        const int one = 1;
        traffic.collectives++;
        matrix.chosen(pspotrf_, pdpotrf_, pcpotrf_, pzpotrf_)(
            all[0] ? "U" : "L", &matrix.size, l, &one, &one, its.fields, &found);
    }
    const First first = matrix.first(l, found, [is_double](const T &element) {
        const void *at = &element;
        return is_double ? *static_cast<const double *>(at) <= 0 : *static_cast<const float *>(at) <= 0;
    });
    const bool is_nan = first.stopped && first.stopped == first.nan; // no reason to stop: what follows is NaN, too
    *info = is_nan ? 0 : first.stopped ? first.stopped : first.bad;
    const T none = real_number<T>(is_double, 0);
    for (int64_t j = 0; !matrix.empty() && j < matrix.here_columns; j++) {
        const int64_t column = matrix.whole_column(j);
        for (int64_t i = 0; i < matrix.here_rows; i++) {
            const int64_t row = matrix.whole_row(i);
            T &element = l[j * matrix.here_rows + i];
            if (all[0] ? row > column : row < column) element = none; // the other triangle
            else if (is_nan && row >= first.nan - 1 && column >= first.nan - 1)
                memset(static_cast<void *>(&element), 0xff, sizeof(T)); // a NaN
        }
    }
}

// The numbers begin with the columns of b, and how many elements of it are here.
template <class T, class... N> void solve_on_grid(const T *a, const T *b, T *x, int *info, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all + 2};
    Square matrix(rest);
    Factors<T> factors(matrix, a);
    *info = factors.singular();
    if (*info || matrix.empty() || !all[0]) return;
    memcpy(static_cast<void *>(x), b, size_t(all[1]) * sizeof(T));
    factors.solve(x, as_int(all[0]));
}

template <class T, class... N> void inverse_on_grid(const T *a, T *inverse, int *info, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all};
    Square matrix(rest);
    Factors<T> factors(matrix, a);
    *info = factors.singular();
    if (*info || matrix.empty()) return;
    const T none = real_number<T>(matrix.precision % 2, 0), unit = real_number<T>(matrix.precision % 2, 1);
    for (int64_t j = 0; j < matrix.here_columns; j++)
        for (int64_t i = 0; i < matrix.here_rows; i++)
            inverse[j * matrix.here_rows + i] = matrix.whole_row(i) == matrix.whole_column(j) ? unit : none;
    factors.solve(inverse, matrix.size);
}

// Each rank has the diagonal elements of U that are here, and knows whether their rows were swapped.
template <class T, class R, class... N> void slogdet_on_grid(const T *a, T *sign, R *logarithm, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all};
    Square matrix(rest);
    Factors<T> factors(matrix, a);
    const bool is_complex = sizeof(T) == 2 * sizeof(R);
    double mine[3] = {1, 0, 0}; // of the sign, both parts; of the logarithm
    for (int64_t j = 0; !matrix.empty() && j < matrix.here_columns; j++)
        for (int64_t i = 0; i < matrix.here_rows; i++) {
            if (matrix.whole_row(i) != matrix.whole_column(j)) continue;
            const R *element = reinterpret_cast<const R *>(factors.values + j * matrix.here_rows + i);
            const double real = double(element[0]), imaginary = is_complex ? double(element[1]) : 0;
            const double length = __builtin_hypot(real, imaginary);
            const double turn = factors.pivots[i] == matrix.whole_row(i) + 1 ? 1 : -1;
            const double x = turn * real / length, y = turn * imaginary / length, old = mine[0];
            mine[0] = old * x - mine[1] * y, mine[1] = old * y + mine[1] * x;
            mine[2] += __builtin_log(length);
        }
    const bool is_singular = factors.singular() > 0;
    List<double> of_all = {};
    for (int64_t rank = 0; rank < 3 * int64_t(world_size()); rank++) of_all.add(0);
    traffic.collectives++;
    DCPY_MPI(Allgather(mine, 3, MPI_DOUBLE, of_all.items, 3, MPI_DOUBLE, world));
    double found[3] = {1, 0, 0};
    for (int64_t k = 0; k < of_all.count; k += 3) {
        const double old = found[0], x = of_all[k], y = of_all[k + 1];
        found[0] = old * x - found[1] * y, found[1] = old * y + found[1] * x;
        found[2] += of_all[k + 2];
    }
    of_all.release();
    R *parts = reinterpret_cast<R *>(sign);
    parts[0] = R(is_singular ? 0 : found[0]), *logarithm = R(is_singular ? -__builtin_inf() : found[2]);
    if (is_complex) parts[1] = R(is_singular ? 0 : found[1]);
}
} // namespace dcpy
