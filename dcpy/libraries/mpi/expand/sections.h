// Sections of distributed arrays: which elements are on which rank, and what goes from one rank to another. That is a
// product: along each dimension, the positions that the sender owns and the receiver has room for. The formulas are
// those of ir/analysis/distributed/ownership.py.

namespace dcpy {
enum Kind { WHOLE, BLOCKS, CYCLIC, ABSENT };

// One dimension of a section in one of the two arrays: element start + k * step of `size` is at position k.
struct Side {
    int64_t stride, start, step, size, kind, axis, block, offset, before, behind;

    bool is_dealt() const { return kind == BLOCKS || kind == CYCLIC; }
};

struct Placement {
    int64_t placed, axes, roots, partials;
    int64_t sizes[8], root_axis[8], root_at[8], partial_axis[8], operation;

    int64_t ranks() const
    {
        int64_t count = 1;
        for (int64_t a = 0; a < axes; a++) count *= sizes[a];
        return count;
    }

    // Where on the grid a rank is; one outside of it has the grid's sizes.
    bool find(int64_t rank, int64_t *at) const
    {
        bool inside = rank < ranks();
        for (int64_t a = axes; a-- > 0;) {
            const int64_t size = sizes[a]; // in an index below, g++ 12 reads it too early for its sanitizers
            at[a] = inside ? rank % size : size;
            rank /= size > 0 ? size : 1;
        }
        return inside;
    }
};

// Positions of a section, and how many elements from the beginning of the array these are in a rank's memory.
struct Positions {
    List<int64_t> at, place;

    void release() { at.release(), place.release(); }
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t dealt(const Side &side, int64_t count, int64_t ranks, int64_t at)
{
    int64_t round = side.block * ranks;
    return count / round * side.block + least(side.block, most(0, count % round - at * side.block));
}

// The positions that the rank at a coordinate owns; with its halo, where `room` asks for all that it has memory for.
static Positions positions(const Side &side, int64_t count, int64_t ranks, int64_t at, bool room)
{
    Positions found;
    int64_t low = 0, high = side.size, first = 0;
    if (side.kind == BLOCKS) {
        low = most(0, at * side.block - side.offset);
        high = most(low, least(side.size, (at + 1) * side.block - side.offset));
        first = low - side.before;
        if (room) low = most(0, low - side.before), high = least(side.size, high + side.behind);
    }
    int64_t begin = 0, end = count;
    if (side.step > 0 && side.kind != ABSENT) {
        begin = most(0, (low - side.start + side.step - 1) / side.step);
        if (low <= side.start) begin = 0;
        end = high > side.start ? least(count, (high - side.start + side.step - 1) / side.step) : 0;
    }
    for (int64_t k = begin; k < end; k++) {
        int64_t element = side.kind == ABSENT ? 0 : side.start + k * side.step, place = element - first;
        if (side.kind != ABSENT && (element < low || element >= high)) continue;
        if (side.kind == CYCLIC) {
            int64_t moved = element + side.offset, round = side.block * ranks;
            if (at >= ranks || moved / side.block % ranks != at) continue;
            place = moved / round * side.block + moved % side.block - dealt(side, side.offset, ranks, at);
        }
        found.at.add(k);
        found.place.add(place * side.stride);
    }
    return found;
}

constexpr int DIMS = 12;

// A product of positions in two arrays: what goes from one to the other, in bytes from their beginnings.
struct Box {
    int64_t dims = 0, count = 1;
    List<int64_t> from[DIMS], to[DIMS];

    void release()
    {
        for (int64_t d = 0; d < dims; d++) from[d].release(), to[d].release();
    }
};

template <class Move> void each(const Box &box, int64_t dim, const char *from, char *to, Move &&move)
{
    if (dim == box.dims) return move(from, to);
    const List<int64_t> &a = box.from[dim], &b = box.to[dim];
    for (int64_t k = 0; k < b.count; k++) each(box, dim + 1, from + a[k], to + b[k], move);
}

// Rows without gaps are copied at once.
static void copy_box(const Box &box, int64_t dim, const char *from, char *to, int64_t size)
{
    if (dim == box.dims) {
        memcpy(to, from, size_t(size));
        return;
    }
    const List<int64_t> &a = box.from[dim], &b = box.to[dim];
    if (dim + 1 < box.dims) {
        for (int64_t k = 0; k < a.count; k++) copy_box(box, dim + 1, from + a[k], to + b[k], size);
        return;
    }
    for (int64_t k = 0, run; k < a.count; k += run) {
        for (run = 1; k + run < a.count && a[k + run] == a[k] + run * size && b[k + run] == b[k] + run * size;) run++;
        memcpy(to + b[k], from + a[k], size_t(run * size));
    }
}

// Reads the numbers of a call, and says what goes between two ranks.
struct Sections {
    const int64_t *next;
    int64_t dims, size, counts[DIMS];
    Placement source, target;
    Side from[DIMS], to[DIMS];

    void read(Placement &placement)
    {
        placement.placed = *next++, placement.axes = *next++;
        if (placement.axes > 8) stop("grids have at most 8 axes");
        for (int64_t a = 0; a < placement.axes; a++) placement.sizes[a] = *next++;
        placement.roots = *next++;
        for (int64_t k = 0; k < placement.roots; k++) placement.root_axis[k] = *next++, placement.root_at[k] = *next++;
        placement.partials = *next++, placement.operation = *next++;
        for (int64_t k = 0; k < placement.partials; k++) placement.partial_axis[k] = *next++;
    }

    void read(const int64_t *numbers, int64_t bytes)
    {
        next = numbers, size = bytes;
        read(source);
        read(target);
        dims = *next++;
        for (int64_t d = 0; d < dims; d++) {
            counts[d] = *next++;
            for (Side *side : {&from[d], &to[d]}) memcpy(side, next, sizeof *side), next += sizeof *side / sizeof *next;
            from[d].stride *= size, to[d].stride *= size;
        }
    }

    // Whether a rank sends to another one, of those that have the same elements: the nearest along the axes of copies.
    bool serves(int64_t sender, int64_t receiver) const
    {
        if (!source.placed) return sender == receiver;
        int64_t at[8], its[8];
        if (!source.find(sender, at)) return false;
        source.find(receiver, its);
        for (int64_t a = 0; a < source.axes; a++) {
            bool used = false;
            for (int64_t d = 0; d < dims; d++) used = used || (from[d].is_dealt() && from[d].axis == a);
            for (int64_t k = 0; k < source.partials; k++) used = used || source.partial_axis[k] == a;
            int64_t wanted = its[a] < source.sizes[a] ? its[a] : receiver % source.sizes[a];
            for (int64_t k = 0; k < source.roots; k++) wanted = source.root_axis[k] == a ? source.root_at[k] : wanted;
            if (!used && at[a] != wanted) return false;
        }
        return true;
    }

    void require_ranks(int64_t ranks) const
    {
        for (const Placement *placement : {&source, &target})
            if (placement->placed && placement->ranks() > ranks) stop("a grid has more ranks than there are");
    }

    bool takes_part(int64_t receiver) const
    {
        int64_t at[8];
        if (!target.placed) return true;
        target.find(receiver, at);
        for (int64_t k = 0; k < target.roots; k++)
            if (at[target.root_axis[k]] != target.root_at[k]) return false;
        return true;
    }

    Positions of(int64_t d, int64_t rank, bool receives) const
    {
        const Side &side = receives ? to[d] : from[d];
        const Placement &placement = receives ? target : source;
        int64_t at[8] = {};
        if (placement.placed) placement.find(rank, at);
        int64_t ranks = side.is_dealt() ? placement.sizes[side.axis] : 1;
        return positions(side, counts[d], ranks, side.is_dealt() ? at[side.axis] : 0, receives);
    }

    // What goes from one rank to another: false where that is nothing. Where it is staged, `to` is in the stage.
    bool between(int64_t sender, int64_t receiver, const int64_t *stage, Box &box) const
    {
        if (!takes_part(receiver) || !serves(sender, receiver)) return false;
        box.dims = dims, box.count = 1;
        for (int64_t d = 0; d < dims; d++) {
            Positions has = of(d, sender, false), needs = of(d, receiver, true);
            for (int64_t a = 0, b = 0; a < has.at.count && b < needs.at.count;) {
                if (has.at[a] == needs.at[b]) {
                    box.from[d].add(has.place[a]);
                    box.to[d].add(stage ? b * stage[d] : needs.place[b]);
                }
                bool forward = has.at[a] <= needs.at[b];
                b += needs.at[b] <= has.at[a], a += forward;
            }
            has.release(), needs.release();
            box.count *= box.from[d].count;
        }
        if (box.count == 0) box.release();
        return box.count > 0;
    }

    // Whether the part of a rank is the first one of those that are combined.
    bool is_first(int64_t sender) const
    {
        int64_t at[8];
        source.find(sender, at);
        for (int64_t k = 0; k < source.partials; k++)
            if (at[source.partial_axis[k]] != 0) return false;
        return true;
    }
};
} // namespace dcpy
