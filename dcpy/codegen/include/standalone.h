// What a stand-alone program knows of its arguments. Tables of these follow, then standalone_main.h.

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#ifdef DCPY_ON_RANKS
#include <mpi.h>
#endif

namespace dcpy_main {
enum { MOST = 8 };
enum Kind { GIVEN, SIZE, EXTENT, COORDINATE };  // where the value of a number comes from
enum Cut { WHOLE, BLOCKS };

// A number of the call. EXTENT and COORDINATE are those of an axis of a grid.
struct Number {
    const char *name;
    Kind kind;
    int grid, axis;
    bool is_real;
    long long integer;
    double real;
    bool known;
};

// One dimension: numbers[size] + more elements, or `more` where size is -1; along an axis of the grid in blocks of
// `block` elements (0: balanced), element 0 being number `offset` of its block.
struct Dim {
    int size;
    long long more;
    Cut cut;
    int axis;
    long long block, offset;
};

struct Array {
    const char *name, *type;  // as .npy files have it, and how many bytes
    int bytes, dims, grid;
    Dim dim[MOST];
    const char *file;
    double fill;
    long long shape[MOST], first[MOST], count[MOST];
    long long data;  // where elements begin in the file
    char *memory;
};

struct Grid {
    int axes, number[MOST];  // the numbers that say how long axes are, or -1:
    long long size[MOST];
    long long at[MOST];
};
} // namespace dcpy_main
