// The general copy between two distributed arrays, of which each rank has a part. Messages are derived datatypes of
// both memories: nothing is packed. A plan is made once for all calls with the same numbers; its requests persist.
// What has to be combined goes through a stage, in the order of the ranks, so that sums are the same on all of them.

namespace dcpy {
struct Message {
    int64_t peer, base, bytes;
    Box box; // of what arrives to be combined
    bool first; // of the parts of an element
};

struct Plan {
    List<int64_t> numbers;
    int64_t size, wcr, operation; // of an element; what is made of old and new, and of parts
    List<Message> sends, takes;
    Box own, back; // what a rank has itself; from the stage to the target
    bool has_own, own_first, staged;
    Fan fan;
    int root; // of a broadcast
    List<int> counts, places; // in bytes, of what all ranks gather
    char *stage, *arrived;
#ifndef DCPY_ALONE
    List<MPI_Datatype> send_types, take_types;
    struct Started {
        const char *from;
        char *to;
        MPI_Request *requests;
    };
    List<Started> started;
    int64_t oldest;
#endif
};

// Makes room for all that a rank needs; `strides` are those of the stage.
static int64_t make_stage(const Sections &sections, int64_t me, Plan &plan, int64_t *strides)
{
    int64_t bytes = sections.takes_part(me) ? sections.size : 0;
    plan.back.dims = sections.dims;
    for (int64_t d = sections.dims; d-- > 0;) {
        Positions needs = sections.of(d, me, true);
        strides[d] = bytes;
        for (int64_t k = 0; k < needs.at.count; k++) {
            plan.back.from[d].add(k * bytes), plan.back.to[d].add(needs.place[k]);
        }
        bytes *= needs.at.count;
        needs.release();
    }
    plan.stage = memory(bytes);
    return bytes;
}

// What goes to all of them: the part of each rank, in the order of the ranks.
static void make_fan(const Sections &sections, int64_t me, int64_t ranks, Plan &plan)
{
    int64_t arriving = 0;
    plan.has_own = sections.between(me, me, nullptr, plan.own);
    for (int64_t other = 0; other < ranks; other++) {
        Box here;
        int64_t bytes = other == me ? plan.own.count * sections.size : 0;
        if (other == me && !plan.has_own) bytes = 0;
        if (other != me && plan.fan != SUMMED && sections.between(other, me, nullptr, here)) {
            bytes = here.count * sections.size;
            plan.takes.add({other, arriving, bytes, here, false});
        }
        plan.counts.add(as_int(bytes)), plan.places.add(as_int(arriving));
        if (bytes) plan.root = int(other);
        arriving += bytes;
    }
    plan.stage = memory(plan.has_own ? plan.own.count * sections.size : 0);
    plan.arrived = memory(arriving);
}

static void make(const Sections &sections, Plan &plan)
{
    int64_t me = world_rank(), ranks = world_size(), strides[DIMS], arriving = 0;
    sections.require_ranks(ranks);
    plan.operation = sections.source.partials ? sections.source.operation : int64_t(REPLACE);
    plan.fan = plan.wcr == REPLACE || sections.source.partials ? fan_of(sections, ranks) : MESSAGES;
    if (plan.fan != MESSAGES) return make_fan(sections, me, ranks, plan);
    plan.staged = plan.wcr != REPLACE || sections.source.partials;
    if (plan.staged) plan.back.count = make_stage(sections, me, plan, strides) / sections.size;
    plan.has_own = sections.between(me, me, plan.staged ? strides : nullptr, plan.own);
    plan.own_first = plan.has_own && sections.is_first(me);
    for (int64_t other = 0; other < ranks; other++) {
        Box there, here;
        if (other == me) continue;
        if (sections.between(me, other, nullptr, there))
            plan.sends.add({other, 0, there.count * sections.size, there, false});
        if (!sections.between(other, me, plan.staged ? strides : nullptr, here)) continue;
        plan.takes.add({other, arriving, here.count * sections.size, here, sections.is_first(other)});
        arriving += here.count * sections.size;
    }
    if (plan.staged) plan.arrived = memory(arriving);
}

#ifndef DCPY_ALONE
constexpr int TAG = 1;

// An element, or what is as long, as one of MPI's own types where there is one: these are packed fastest.
static MPI_Datatype element_of(int64_t size)
{
    MPI_Datatype known = size == 8 ? MPI_INT64_T : size == 4 ? MPI_INT32_T : size == 2 ? MPI_INT16_T : MPI_BYTE, type;
    int64_t unit = size == 8 || size == 4 || size == 2 ? size : 1;
    if (size > 8 && size % 8 == 0) known = MPI_INT64_T, unit = 8;
    DCPY_MPI(Type_contiguous(as_int(size / unit), known, &type));
    return type;
}

// The datatype of one side of a box; `base` is where its first element is.
static MPI_Datatype datatype(const List<int64_t> *places, int64_t dims, int64_t size, int64_t &base)
{
    MPI_Datatype type = element_of(size), outer;
    base = 0;
    for (int64_t d = dims; d-- > 0;) {
        const List<int64_t> &at = places[d];
        base += at[0];
        if (at.count == 1) continue;
        bool even = true;
        for (int64_t k = 1; k < at.count; k++) even = even && at[k] - at[k - 1] == at[1] - at[0];
        if (even) {
            DCPY_MPI(Type_create_hvector(as_int(at.count), 1, MPI_Aint(at[1] - at[0]), type, &outer));
        } else {
            List<MPI_Aint> away;
            for (int64_t place : at) away.add(MPI_Aint(place - at[0]));
            DCPY_MPI(Type_create_hindexed_block(as_int(at.count), 1, away.items, type, &outer));
            away.release();
        }
        DCPY_MPI(Type_free(&type));
        type = outer;
    }
    return type;
}

static MPI_Datatype row_of(int64_t count, int64_t size)
{
    MPI_Datatype element = element_of(size), type;
    DCPY_MPI(Type_contiguous(as_int(count), element, &type));
    DCPY_MPI(Type_free(&element));
    return type;
}

static void prepare(Plan &plan)
{
    if (plan.fan != MESSAGES) return;
    for (Message &send : plan.sends) {
        plan.send_types.add(datatype(send.box.from, send.box.dims, plan.size, send.base));
        send.box.release();
    }
    for (Message &take : plan.takes) {
        if (plan.staged) {
            plan.take_types.add(row_of(take.box.count, plan.size));
        } else {
            plan.take_types.add(datatype(take.box.to, take.box.dims, plan.size, take.base));
            take.box.release();
        }
    }
    for (List<MPI_Datatype> *types : {&plan.send_types, &plan.take_types})
        for (MPI_Datatype &type : *types) DCPY_MPI(Type_commit(&type));
}

// Persistent requests of a plan for two addresses; a few are kept.
static MPI_Request *requests_for(Plan &plan, const char *from, char *to)
{
    for (Plan::Started &known : plan.started)
        if (known.from == from && known.to == to) return known.requests;
    int64_t count = plan.takes.count + plan.sends.count;
    Plan::Started *mine;
    if (plan.started.count < 8) {
        plan.started.add({from, to, reinterpret_cast<MPI_Request *>(memory(count * int64_t(sizeof(MPI_Request))))});
        mine = &plan.started[plan.started.count - 1];
    } else {
        mine = &plan.started[plan.oldest++ % 8];
        for (int64_t k = 0; k < count; k++) DCPY_MPI(Request_free(&mine->requests[k]));
        mine->from = from, mine->to = to;
    }
    MPI_Request *request = mine->requests;
    for (int64_t k = 0; k < plan.takes.count; k++) {
        const Message &take = plan.takes[k];
        DCPY_MPI(Recv_init(to + take.base, 1, plan.take_types[k], int(take.peer), TAG, world, request++));
    }
    for (int64_t k = 0; k < plan.sends.count; k++) {
        const Message &send = plan.sends[k];
        const char *first = from + send.base;
        DCPY_MPI(Send_init(first, 1, plan.send_types[k], int(send.peer), TAG, world, request++));
    }
    return mine->requests;
}

static MPI_Request *start(Plan &plan, const char *from, char *to)
{
    int64_t count = plan.takes.count + plan.sends.count;
    if (!count) return nullptr;
    MPI_Request *requests = requests_for(plan, from, to);
    DCPY_MPI(Startall(as_int(count), requests));
    traffic.messages += plan.sends.count;
    for (const Message &send : plan.sends) traffic.bytes += send.bytes;
    return requests;
}

static void finish(const Plan &plan, MPI_Request *requests)
{
    if (requests) DCPY_MPI(Waitall(int(plan.takes.count + plan.sends.count), requests, MPI_STATUSES_IGNORE));
}

static void forget(Plan &plan)
{
    int64_t count = plan.takes.count + plan.sends.count;
    for (Plan::Started &known : plan.started) {
        for (int64_t k = 0; k < count; k++) DCPY_MPI(Request_free(&known.requests[k]));
        free(known.requests);
    }
    for (List<MPI_Datatype> *types : {&plan.send_types, &plan.take_types}) {
        for (MPI_Datatype &type : *types) DCPY_MPI(Type_free(&type));
        types->release();
    }
    plan.started.release();
}
#else
static void prepare(Plan &) {}
static int start(Plan &, const char *, char *) { return 0; }
static void finish(const Plan &, int) {}
static void forget(Plan &) {}
#endif

static void release(Plan *plan)
{
    forget(*plan);
    if (plan->staged || plan->fan != MESSAGES)
        for (Message &take : plan->takes) take.box.release();
    plan->counts.release(), plan->places.release();
    plan->own.release(), plan->back.release();
    plan->numbers.release(), plan->sends.release(), plan->takes.release();
    free(plan->stage), free(plan->arrived), free(plan);
}

static Plan *new_plan(const int64_t *numbers, int64_t count, int64_t size)
{
    void *room = memory(sizeof(Plan));
    Plan *made = static_cast<Plan *>(memset(room, 0, sizeof(Plan)));
    for (int64_t k = 0; k < count; k++) made->numbers.add(numbers[k]);
    made->size = size, made->wcr = numbers[0];
    Sections sections;
    sections.read(numbers + 1, size);
    make(sections, *made);
    prepare(*made);
    return made;
}

constexpr int PLANS = 64; // the numbers of a call may be others in each iteration of a loop: old plans go
static List<Plan *> plans;
static int64_t oldest_plan;

// The plan of these numbers, of which the first is the operation of the target.
static Plan &plan_of(const int64_t *numbers, int64_t count, int64_t size)
{
    for (Plan *known : plans) {
        bool same = known->numbers.count == count && known->size == size;
        if (same && !memcmp(known->numbers.items, numbers, size_t(count) * sizeof *numbers)) return *known;
    }
    Plan *made = new_plan(numbers, count, size);
    if (plans.count < PLANS) {
        plans.add(made);
    } else {
        Plan *&old = plans[oldest_plan++ % PLANS];
        release(old);
        old = made;
    }
    return *made;
}

template <class T> void combine(const Box &box, const char *from, char *to, int64_t how)
{
    if (box.count == 0) return;
    each(box, 0, from, to, [how](const char *a, char *b) {
        T old, other;
        memcpy(&old, b, sizeof old), memcpy(&other, a, sizeof other);
        old = combined(old, other, int(how));
        memcpy(b, &old, sizeof old);
    });
}

// What arrived lies in the order in which it was sent.
template <class T> void combine_packed(const Message &take, const char *from, char *stage, int64_t how)
{
    each(take.box, 0, stage, stage, [&from, stage, how](const char *, char *place) {
        T old, other;
        memcpy(&old, place, sizeof old), memcpy(&other, from, sizeof other);
        old = combined(old, other, int(how));
        memcpy(place, &old, sizeof old);
        from += sizeof other;
    });
}

template <class T> void run_staged(Plan &plan, const char *from, char *to)
{
    finish(plan, start(plan, from, plan.arrived));
    bool waits = plan.has_own;
    for (int64_t k = 0; k <= plan.takes.count; k++) {
        bool last = k == plan.takes.count;
        if (waits && (last || plan.takes[k].peer > world_rank())) {
            combine<T>(plan.own, from, plan.stage, plan.own_first ? int64_t(REPLACE) : plan.operation);
            waits = false;
        }
        if (last) break;
        const Message &take = plan.takes[k];
        combine_packed<T>(take, plan.arrived + take.base, plan.stage, take.first ? int64_t(REPLACE) : plan.operation);
    }
    combine<T>(plan.back, plan.stage, to, plan.wcr);
}

#ifdef DCPY_ALONE
template <class T> void run_fan(Plan &, const char *, char *) {}
#else
template <class T> void run_fan(Plan &plan, const char *from, char *to)
{
    int64_t count = plan.has_own ? plan.own.count : 0;
    int bytes = as_int(count * plan.size);
    MPI_Datatype type;
    if (count) pack(plan.own, from, plan.stage, plan.size);
    traffic.collectives++, traffic.bytes += bytes;
    if (plan.fan == SUMMED) {
        MPI_Op combines = operation<T>(plan.operation, type);
        DCPY_MPI(Allreduce(plan.stage, plan.arrived, as_int(count), type, combines, world));
        const char *next = plan.arrived;
        int64_t how = plan.wcr;
        if (count == 0) return;
        each(plan.own, 0, nullptr, to, [&next, how](const char *, char *place) {
            T old, other;
            memcpy(&old, place, sizeof old), memcpy(&other, next, sizeof other);
            old = combined(old, other, int(how));
            memcpy(place, &old, sizeof old);
            next += sizeof other;
        });
        return;
    }
    if (plan.fan == ONE) {
        char *whole = count ? plan.stage : plan.arrived;
        DCPY_MPI(Bcast(whole, plan.counts[plan.root], MPI_BYTE, plan.root, world));
    } else {
        const int *counts = plan.counts.items, *places = plan.places.items;
        DCPY_MPI(Allgatherv(plan.stage, bytes, MPI_BYTE, plan.arrived, counts, places, MPI_BYTE, world));
    }
    if (count) unpack(plan.own, plan.stage, to, plan.size);
    for (const Message &take : plan.takes) unpack(take.box, plan.arrived + take.base, to, plan.size);
}
#endif

template <class T> void run(Plan &plan, const char *from, char *to)
{
    if (plan.fan != MESSAGES) return run_fan<T>(plan, from, to);
    if (plan.staged) return run_staged<T>(plan, from, to);
    auto under_way = start(plan, from, to);
    if (plan.has_own) copy_box(plan.own, 0, from, to, plan.size);
    finish(plan, under_way);
}

template <class T, class... Numbers> void copy_parts(const T *source, T *target, Numbers... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Plan &plan = plan_of(all, int64_t(sizeof...(numbers)), sizeof(T));
    run<T>(plan, reinterpret_cast<const char *>(source), reinterpret_cast<char *>(target));
}
} // namespace dcpy
