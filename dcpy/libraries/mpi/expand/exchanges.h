// Halos of several arrays, all under way at once: what arrives is what nobody here owns, so none waits for another.
// What one rank sends to another is one message: of one array its derived datatype, of several a struct of these. The
// requests persist for the same numbers and addresses.

namespace dcpy {
#ifdef DCPY_ALONE
template <class... Words> void exchange_parts(const Words &...) {}
template <class... Words> void begin_exchange(const Words &...) {}
template <class... Words> void end_exchange(const Words &...) {}
#else
// A number of a call, or the address of an array and the size of its elements.
struct Word {
    int64_t number, size;
    char *address;
};
template <class Number> Word word_of(Number number) { return {int64_t(number), 0, nullptr}; }
template <class T> Word word_of(T *place)
{
    return {0, sizeof(T), const_cast<char *>(reinterpret_cast<const volatile char *>(place))};
}

struct Exchange {
    struct Started {
        List<char *> arrays;
        List<MPI_Request> requests;
        int64_t messages, bytes; // that are sent
    };
    List<Word> words;
    List<Plan *> parts; // one for each array
    List<char *> arrays; // of the call
    List<Started> started;
    int64_t oldest;
};

// The message to a rank, or from one: nothing where it has nothing to say.
static void add_request(const Exchange &exchange, int peer, bool sends, Exchange::Started &mine)
{
    List<MPI_Aint> places;
    List<MPI_Datatype> types;
    List<int> ones;
    for (int64_t k = 0; k < exchange.parts.count; k++) {
        const Plan &part = *exchange.parts[k];
        const List<Message> &messages = sends ? part.sends : part.takes;
        for (int64_t m = 0; m < messages.count; m++) {
            if (messages[m].peer != peer) continue;
            MPI_Aint place;
            DCPY_MPI(Get_address(mine.arrays[k] + messages[m].base, &place));
            places.add(place), ones.add(1), types.add(sends ? part.send_types[m] : part.take_types[m]);
            mine.bytes += sends ? messages[m].bytes : 0;
        }
    }
    if (places.count) {
        MPI_Datatype all = types[0];
        MPI_Request request;
        bool several = places.count > 1;
        void *first = several ? MPI_BOTTOM : reinterpret_cast<void *>(places[0]);
        if (several) {
            DCPY_MPI(Type_create_struct(as_int(places.count), ones.items, places.items, types.items, &all));
            DCPY_MPI(Type_commit(&all));
        }
        if (sends) {
            DCPY_MPI(Send_init(first, 1, all, peer, TAG, world, &request));
        } else {
            DCPY_MPI(Recv_init(first, 1, all, peer, TAG, world, &request));
        }
        if (several) DCPY_MPI(Type_free(&all)); // the request still has it
        mine.requests.add(request);
        mine.messages += sends;
    }
    places.release(), types.release(), ones.release();
}

static void release(Exchange::Started &old)
{
    for (MPI_Request &request : old.requests) DCPY_MPI(Request_free(&request));
    old.requests.release(), old.arrays.release();
}

static Exchange::Started &started_for(Exchange &exchange, const List<char *> &arrays)
{
    for (Exchange::Started &known : exchange.started)
        if (!memcmp(known.arrays.items, arrays.items, size_t(arrays.count) * sizeof(char *))) return known;
    Exchange::Started made = {};
    for (char *array : arrays) made.arrays.add(array);
    for (bool sends : {false, true})
        for (int peer = 0; peer < world_size(); peer++) add_request(exchange, peer, sends, made);
    if (exchange.started.count < 8) {
        exchange.started.add(made);
        return exchange.started[exchange.started.count - 1];
    }
    Exchange::Started &old = exchange.started[exchange.oldest++ % 8];
    release(old);
    return old = made;
}

static List<Exchange> exchanges;
static int64_t oldest_exchange;

static void release(Exchange &old)
{
    for (Exchange::Started &known : old.started) release(known);
    for (Plan *part : old.parts) release(part);
    old.words.release(), old.parts.release(), old.arrays.release(), old.started.release();
}

static Exchange &exchange_of(const Word *words, int64_t count)
{
    for (Exchange &known : exchanges) {
        bool same = known.words.count == count;
        for (int64_t k = 0; same && k < count; k++)
            same = known.words[k].number == words[k].number && known.words[k].size == words[k].size;
        if (same) return known;
    }
    Exchange made = {};
    for (int64_t k = 0; k < count; k++) made.words.add(words[k]);
    for (int64_t k = 1; k < count; k += 3 + words[k + 2].number) {
        List<int64_t> numbers;
        for (int64_t n = 0; n < words[k + 2].number; n++) numbers.add(words[k + 3 + n].number);
        made.parts.add(new_plan(numbers.items, numbers.count, words[k].size));
        numbers.release();
    }
    if (exchanges.count < PLANS) {
        exchanges.add(made);
        return exchanges[exchanges.count - 1];
    }
    Exchange &old = exchanges[oldest_exchange++ % PLANS];
    release(old);
    return old = made;
}

// For each array: where it is, twice, how many numbers there are, and these numbers; before all, how many arrays.
static Exchange::Started &started_by(const Word *words, int64_t count)
{
    Exchange &exchange = exchange_of(words, count);
    exchange.arrays.count = 0;
    for (int64_t k = 1; k < count; k += 3 + words[k + 2].number) exchange.arrays.add(words[k].address);
    return started_for(exchange, exchange.arrays);
}

static void start(Exchange::Started &mine)
{
    traffic.messages += mine.messages, traffic.bytes += mine.bytes;
    if (mine.requests.count) DCPY_MPI(Startall(as_int(mine.requests.count), mine.requests.items));
}

static void finish(Exchange::Started &mine)
{
    if (mine.requests.count)
        DCPY_MPI(Waitall(as_int(mine.requests.count), mine.requests.items, MPI_STATUSES_IGNORE));
}

static void exchange_all(const Word *words, int64_t count)
{
    Exchange::Started &mine = started_by(words, count);
    start(mine), finish(mine);
}

template <class... Words> void exchange_parts(Words... words)
{
    const Word all[] = {word_of(words)...};
    exchange_all(all, int64_t(sizeof...(words)));
}

template <class... Words> void begin_exchange(Words... words)
{
    const Word all[] = {word_of(words)...};
    start(started_by(all, int64_t(sizeof...(words))));
}

// What is waited for was started with the same words, and no other exchange of these arrays has been since.
template <class... Words> void end_exchange(Words... words)
{
    const Word all[] = {word_of(words)...};
    finish(started_by(all, int64_t(sizeof...(words))));
}
#endif
} // namespace dcpy
