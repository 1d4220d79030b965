// main() of a stand-alone program. Numbers and arrays are named on the command line, arrays are .npy files. With
// DCPY_ON_RANKS each rank reads and writes the part that it owns, and files are where all ranks see them. Before this:
// standalone.h, tables of arguments, and call() and message(), from codegen/standalone_main.py.

namespace dcpy_main {
template <class T> static void put(char *at, double value)
{
    T made = T(value);
    memcpy(at, &made, sizeof made);
}

template <class T> static double get(const char *at)
{
    T found;
    memcpy(&found, at, sizeof found);
    return double(found);
}

// Elements as numbers, by the words of .npy files for their types.
static void store(char *at, const char *type, double value)
{
    switch (type[1] * 16 + type[2] - '0') {
    case 'f' * 16 + 4: return put<float>(at, value);
    case 'f' * 16 + 8: return put<double>(at, value);
    case 'i' * 16 + 1: return put<int8_t>(at, value);
    case 'i' * 16 + 2: return put<int16_t>(at, value);
    case 'i' * 16 + 4: return put<int32_t>(at, value);
    case 'i' * 16 + 8: return put<int64_t>(at, value);
    case 'u' * 16 + 1: return put<uint8_t>(at, value);
    case 'u' * 16 + 2: return put<uint16_t>(at, value);
    case 'u' * 16 + 4: return put<uint32_t>(at, value);
    case 'u' * 16 + 8: return put<uint64_t>(at, value);
    case 'b' * 16 + 1: return put<bool>(at, value);
    }
}

static double load(const char *at, const char *type)
{
    switch (type[1] * 16 + type[2] - '0') {
    case 'f' * 16 + 4: return get<float>(at);
    case 'f' * 16 + 8: return get<double>(at);
    case 'i' * 16 + 1: return get<int8_t>(at);
    case 'i' * 16 + 2: return get<int16_t>(at);
    case 'i' * 16 + 4: return get<int32_t>(at);
    case 'i' * 16 + 8: return double(get<int64_t>(at));
    case 'u' * 16 + 1: return get<uint8_t>(at);
    case 'u' * 16 + 2: return get<uint16_t>(at);
    case 'u' * 16 + 4: return get<uint32_t>(at);
    case 'u' * 16 + 8: return double(get<uint64_t>(at));
    case 'b' * 16 + 1: return get<bool>(at);
    }
    return 0;
}

static int rank = 0, ranks = 1;

[[noreturn]] static void stop(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s%s%s\n", PROGRAM, what, *name ? ": " : "", name);
    fflush(stderr);
#ifdef DCPY_ON_RANKS
    MPI_Abort(MPI_COMM_WORLD, 2);
#endif
    exit(2);
}

static void barrier()
{
#ifdef DCPY_ON_RANKS
    MPI_Barrier(MPI_COMM_WORLD);
#endif
}

static double seconds()
{
#ifdef DCPY_ON_RANKS
    return MPI_Wtime();
#else
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
#endif
}

static double largest(double value)
{
#ifdef DCPY_ON_RANKS
    double mine = value;
    MPI_Allreduce(&mine, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
#endif
    return value;
}

template <class T> static T *named(T *items, int count, const char *word, size_t length)
{
    for (int k = 0; k < count; k++)
        if (strlen(items[k].name) == length && !strncmp(items[k].name, word, length)) return items + k;
    return nullptr;
}

// The header of a .npy file: type, order and shape; returns where its elements begin.
static long long header(FILE *file, const Array &array, const char *path, long long *shape)
{
    unsigned char start[12];
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6)) stop("this is no .npy file", path);
    long long length = start[8] + 256 * start[9], before = 10;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2) stop("this .npy file ends too early", path);
        length += 65536LL * start[10] + 16777216LL * start[11];
        before = 12;
    }
    if (length > 65536) stop("the header of this .npy file is too long", path);
    char text[65537];
    if (fread(text, 1, size_t(length), file) != size_t(length)) stop("this .npy file ends too early", path);
    text[length] = 0;
    char type[40];
    snprintf(type, sizeof type, "'%s'", array.type);
    if (!strstr(text, type)) {
        fprintf(stderr, "%s is of %s\n", array.name, array.type);
        stop("the file has elements of another type", path);
    }
    char *open = strstr(text, "'shape':");
    open = open ? strchr(open, '(') : nullptr;
    if (!open) stop("this .npy file says no shape", path);
    int dims = 0;
    char *next = open + 1;
    while (*next && *next != ')') {
        char *end;
        long long size = strtoll(next, &end, 10);
        if (end == next || dims == MOST) break;
        shape[dims++] = size;
        for (next = end; *next == ',' || *next == ' '; next++) {}
    }
    if (dims != array.dims) stop("the file has another number of dimensions than the argument", path);
    if (dims > 1 && strstr(text, "'fortran_order': True")) stop("the file is in Fortran order, and C order is wanted", path);
    return before + length;
}

static FILE *opened(const char *path, const char *how)
{
    FILE *file = fopen(path, how);
    if (!file) stop(strerror(errno), path);
    return file;
}

// Which part of an array this rank has.
static void place(Array &array)
{
    for (int d = 0; d < array.dims; d++) {
        const Dim &dim = array.dim[d];
        long long size = array.shape[d], low = 0, high = size;
        if (dim.cut == BLOCKS) {
            const Grid &grid = grids[array.grid];
            long long on_axis = grid.size[dim.axis];
            long long block = dim.block ? dim.block : (size + dim.offset + on_axis - 1) / on_axis;
            low = grid.at[dim.axis] * block - dim.offset;
            high = low + block;
            if (grid.at[dim.axis] >= on_axis) low = high = size;
            low = low < 0 ? 0 : low > size ? size : low;
            high = high < low ? low : high > size ? size : high;
        }
        array.first[d] = low;
        array.count[d] = high - low;
    }
}

static long long elements(const Array &array)
{
    long long count = 1;
    for (int d = 0; d < array.dims; d++) count *= array.count[d];
    return count;
}

// Calls `use` for each row of this rank's part: where it begins in the file, in memory, and its bytes.
template <class Use> static void rows(const Array &array, Use use)
{
    if (!elements(array)) return;
    long long at[MOST] = {0}, done = 0;
    int last = array.dims - 1;
    long long length = array.dims ? array.count[last] : 1;
    while (true) {
        long long where = 0;
        for (int d = 0; d < array.dims; d++) where = where * array.shape[d] + array.first[d] + at[d];
        use(where * array.bytes, done, length * array.bytes);
        done += length * array.bytes;
        int d = last - 1;
        for (; d >= 0 && ++at[d] == array.count[d]; d--) at[d] = 0;
        if (d < 0) return;
    }
}

static void read(Array &array)
{
    if (!array.file) {
        for (long long k = 0; k < elements(array); k++) store(array.memory + k * array.bytes, array.type, array.fill);
        return;
    }
    FILE *file = opened(array.file, "rb");
    rows(array, [&](long long from, long long to, long long bytes) {
        if (fseeko(file, array.data + from, SEEK_SET) || fread(array.memory + to, 1, size_t(bytes), file) != size_t(bytes))
            stop("this .npy file ends too early", array.file);
    });
    fclose(file);
}

// One rank of those that have the same part: the first along the axes that cut no dimension.
static bool speaks(const Array &array)
{
    if (array.grid < 0) return rank == 0;
    const Grid &grid = grids[array.grid];
    for (int axis = 0; axis < grid.axes; axis++) {
        bool cuts = false;
        for (int d = 0; d < array.dims; d++) cuts |= array.dim[d].cut == BLOCKS && array.dim[d].axis == axis;
        if (grid.at[axis] >= grid.size[axis] || (!cuts && grid.at[axis])) return false;
    }
    return true;
}

static void write(const Array &array, const char *path)
{
    char text[512];
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", array.type);
    for (int d = 0; d < array.dims; d++)
        length += snprintf(text + length, sizeof text - size_t(length), "%lld,%s", array.shape[d], d + 1 < array.dims ? " " : "");
    length += snprintf(text + length, sizeof text - size_t(length), "), }");
    int whole = (10 + length + 1 + 63) / 64 * 64;
    while (10 + length + 1 < whole) text[length++] = ' ';
    text[length++] = '\n';
    if (rank == 0) {
        FILE *file = opened(path, "wb");
        unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(length % 256), (unsigned char)(length / 256)};
        if (fwrite(start, 1, 10, file) != 10 || fwrite(text, 1, size_t(length), file) != size_t(length)) stop(strerror(errno), path);
        if (fclose(file)) stop(strerror(errno), path);
    }
    barrier();
    if (speaks(array)) {
        FILE *file = opened(path, "r+b");
        rows(array, [&](long long to, long long from, long long bytes) {
            if (fseeko(file, whole + to, SEEK_SET) || fwrite(array.memory + from, 1, size_t(bytes), file) != size_t(bytes))
                stop(strerror(errno), path);
        });
        if (fclose(file)) stop(strerror(errno), path);
    }
    barrier();
}

// The greatest difference from a file, relative to what is there where that is above 1. NaN equals NaN.
static double difference(Array array, const char *path)
{
    long long shape[MOST];
    FILE *file = opened(path, "rb");
    array.data = header(file, array, path, shape);
    for (int d = 0; d < array.dims; d++)
        if (shape[d] != array.shape[d]) stop("the file has another shape than the argument", path);
    fclose(file);
    Array expected = array;
    expected.file = path;
    expected.memory = (char *)malloc(size_t(elements(array) * array.bytes + 1));
    if (!expected.memory) stop("out of memory", path);
    read(expected);
    double worst = 0;
    for (long long k = 0; k < elements(array); k++) {
        double is = load(array.memory + k * array.bytes, array.type), must = load(expected.memory + k * array.bytes, array.type);
        if (is == must || (is != is && must != must)) continue;
        double size = must < 0 ? -must : must, apart = is < must ? must - is : is - must;
        apart = apart == apart ? apart / (size > 1 ? size : 1) : INFINITY;
        worst = apart > worst ? apart : worst;
    }
    free(expected.memory);
    return largest(worst);
}

static const char USAGE[] =
    "each argument is NAME=number, NAME=file.npy, or, for an array whose size is known, NAME=number that fills it\n"
    "  --write NAME=file.npy   what the array is afterwards\n"
    "  --check NAME=file.npy   ends with 1 where it differs from that\n"
    "  --tolerance 1e-9        by how much, relative to numbers above 1, absolute below\n"
    "  --times 1               so many calls, each of which is timed; arrays go on from call to call\n";

// NAME=value: the array of this name, and the value.
static Array &array_in(const char *word, const char *&value)
{
    const char *equals = strchr(word, '=');
    Array *array = equals ? named(arrays, ARRAYS, word, size_t(equals - word)) : nullptr;
    if (!array) stop("NAME=file.npy is wanted, of an array, not", word);
    value = equals + 1;
    return *array;
}

static void argument(const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals) stop("NAME=value is wanted, not", word);
    size_t length = size_t(equals - word);
    char *end;
    if (Number *number = named(numbers, NUMBERS, word, length)) {
        if (number->kind == COORDINATE) stop("each rank finds this number by itself", word);
        number->integer = strtoll(equals + 1, &end, 10);
        if (number->is_real) number->real = strtod(equals + 1, &end);
        if (end == equals + 1 || *end) stop("this is no number, or not of the type that is wanted", word);
        number->known = true;
        return;
    }
    Array *array = named(arrays, ARRAYS, word, length);
    if (!array) stop("there is no argument of this name", word);
    array->fill = strtod(equals + 1, &end);
    if (end == equals + 1 || *end) array->file = equals + 1;
    array->memory = (char *)1;  // said
}

// Sizes of arrays, by their files first, then by numbers.
static void shapes()
{
    for (int pass = 0; pass < 2; pass++)
        for (int a = 0; a < ARRAYS; a++) {
            Array &array = arrays[a];
            if (!array.memory) stop("an argument is missing, NAME=file.npy", array.name);
            if (!pass != !!array.file) continue;
            if (array.file) {
                FILE *file = opened(array.file, "rb");
                array.data = header(file, array, array.file, array.shape);
                fclose(file);
            }
            for (int d = 0; d < array.dims; d++) {
                const Dim &dim = array.dim[d];
                Number *size = dim.size < 0 ? nullptr : numbers + dim.size;
                if (size && !size->known && array.file) {
                    size->integer = array.shape[d] - dim.more;
                    size->known = true;
                }
                if (size && !size->known) stop("a size is missing, NAME=number", size->name);
                long long wanted = dim.more + (size ? size->integer : 0);
                if (array.file && wanted != array.shape[d]) stop("the file has another size than other arguments say", array.file);
                if (wanted < 0) stop("a size is negative", array.name);
                array.shape[d] = wanted;
            }
        }
}

// The factors of `count` that are as equal as they can be, the greatest first.
static void balance(long long count, int dims, long long *sizes)
{
    for (; dims > 1; dims--) {
        long long last = 1;
        for (long long n = 1; n <= count; n++) {
            double power = 1;
            for (int k = 0; k < dims; k++) power *= double(n);
            if (power > double(count)) break;
            if (count % n == 0) last = n;
        }
        sizes[dims - 1] = last;
        count /= last;
    }
    sizes[0] = count;
}

static void make_grids()
{
    for (int g = 0; g < GRIDS; g++) {
        Grid &grid = grids[g];
        long long used = 1, rest[MOST], open = 0;
        for (int axis = 0; axis < grid.axes; axis++) {
            if (grid.number[axis] >= 0 && numbers[grid.number[axis]].known) grid.size[axis] = numbers[grid.number[axis]].integer;
            if (grid.size[axis]) used *= grid.size[axis];
            else open++;
        }
        if (used < 1 || used > ranks) stop("the grid has more ranks than there are, or none", "");
        balance(ranks / used, int(open ? open : 1), rest);
        long long next = 0, left = rank, all = 1;
        for (int axis = 0; axis < grid.axes; axis++) {
            if (!grid.size[axis]) grid.size[axis] = rest[next++];
            all *= grid.size[axis];
            if (grid.number[axis] >= 0) numbers[grid.number[axis]].integer = grid.size[axis], numbers[grid.number[axis]].known = true;
        }
        for (int axis = grid.axes; axis-- > 0; left /= grid.size[axis]) grid.at[axis] = rank < all ? left % grid.size[axis] : grid.size[axis];
        for (int k = 0; k < NUMBERS; k++)
            if (numbers[k].kind == COORDINATE && numbers[k].grid == g) numbers[k].integer = grid.at[numbers[k].axis], numbers[k].known = true;
    }
}

static int run(int count, char **words)
{
    double tolerance = 1e-9;
    long times = 1;
    for (int k = 1; k < count; k++) {
        if (strncmp(words[k], "--", 2)) { argument(words[k]); continue; }
        if (k + 1 == count || !strcmp(words[k], "--help")) {
            if (rank == 0) fputs(USAGE, stdout);
            return strcmp(words[k], "--help") ? 2 : 0;
        }
        if (!strcmp(words[k], "--tolerance")) tolerance = atof(words[k + 1]);
        else if (!strcmp(words[k], "--times")) times = atol(words[k + 1]);
        else if (strcmp(words[k], "--write") && strcmp(words[k], "--check")) stop("there is no such option", words[k]);
        k++;
    }
    shapes();
    make_grids();
    for (int k = 0; k < NUMBERS; k++)
        if (!numbers[k].known) stop("an argument is missing, NAME=number", numbers[k].name);
    for (int a = 0; a < ARRAYS; a++) {
        place(arrays[a]);
        arrays[a].memory = (char *)aligned_alloc(64, size_t((elements(arrays[a]) * arrays[a].bytes + 127) / 64 * 64));
        if (!arrays[a].memory) stop("out of memory for", arrays[a].name);
        read(arrays[a]);
    }
    for (long k = 0; k < times; k++) {
        barrier();
        double start = seconds();
        int32_t status = call();
        if (status) stop(message(status), "");
        double took = largest(seconds() - start);
        if (rank == 0) printf("%.9f s\n", took);
    }
    bool equal = true;
    for (int k = 1; k + 1 < count; k++) {
        const char *path;
        if (!strcmp(words[k], "--write")) {
            const Array &array = array_in(words[k + 1], path);
            write(array, path);
        }
        if (!strcmp(words[k], "--check")) {
            const Array &array = array_in(words[k + 1], path);
            double apart = difference(array, path);
            if (rank == 0) printf("%s: %s, by at most %.3g\n", array.name, apart <= tolerance ? "equal" : "differs", apart);
            equal = equal && apart <= tolerance;
        }
    }
    for (int a = 0; a < ARRAYS; a++) free(arrays[a].memory);
    return equal ? 0 : 1;
}
} // namespace dcpy_main

int main(int count, char **words)
{
#ifdef DCPY_ON_RANKS
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &dcpy_main::rank);
    MPI_Comm_size(MPI_COMM_WORLD, &dcpy_main::ranks);
    if (dcpy_ranks_attach) dcpy_ranks_attach(int(MPI_Comm_c2f(MPI_COMM_WORLD)));
#endif
    int code = dcpy_main::run(count, words);
#ifdef DCPY_ON_RANKS
    MPI_Finalize();
#endif
    return code;
}
