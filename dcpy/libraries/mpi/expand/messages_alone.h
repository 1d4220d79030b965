// Messages of a rank alone: it sends to itself, in what it starts now and waits for later, and to nobody.

#ifdef DCPY_ALONE
namespace dcpy {
// A message, or a receive, that has not met the other yet. What is sent is copied: what is received is known late.
struct Waiting {
    View view;
    char *data;
    int64_t tag, request;
};
static List<Waiting> sent, taken;
static List<bool> met; // by request, which are numbers from 1 on

[[noreturn]] static void waits_for_itself() { stop("a rank alone waits for a message to itself, which it does not send"); }

static void require_itself(int64_t rank)
{
    if (rank > 0) stop("a rank alone sends to itself or to nobody: there is no other rank");
}

// Removes what fits a tag from those that wait: the first one. A receive takes messages of any tag where its own is -1.
static bool take(List<Waiting> &waiting, int64_t tag, bool receives, Waiting &found)
{
    for (int64_t k = 0; k < waiting.count; k++) {
        if (waiting[k].tag != tag && (receives ? tag : waiting[k].tag) >= 0) continue;
        found = waiting[k];
        for (; k + 1 < waiting.count; k++) waiting[k] = waiting[k + 1];
        waiting.count--;
        return true;
    }
    return false;
}

static void deliver(const View &from, const char *data, const View &to)
{
    if (from.elements() * from.size != to.elements() * to.size) stop("a message to itself has another length than is received");
    to.from(data);
}

template <class T, class... N> View view_of(const T *x, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all};
    group(rest);
    return view(rest, x, sizeof(T));
}

static char *copied(const View &view)
{
    char *data = memory(view.elements() * view.size);
    view.to(data);
    return data;
}

// Where a receive waits for this message, it is there now.
static bool sent_at_once(const View &given, int64_t tag)
{
    Waiting other;
    if (!take(taken, tag, false, other)) return false;
    char *data = copied(given);
    deliver(given, data, other.view), met[other.request - 1] = true;
    free(data);
    return true;
}

static bool received_at_once(const View &view, int64_t tag)
{
    Waiting other;
    if (!take(sent, tag, true, other)) return false;
    deliver(other.view, other.data, view);
    free(other.data);
    return true;
}

template <class T, class... N> void start_send(const T *x, int64_t *request, int64_t to, int64_t tag, N... numbers)
{
    *request = 0;
    if (to < 0) return;
    require_itself(to);
    View given = view_of(x, numbers...);
    if (!sent_at_once(given, tag)) sent.add({given, copied(given), tag, 0});
}

template <class T, class... N> void start_receive(T *out, int64_t *request, int64_t source, int64_t tag, N... numbers)
{
    *request = 0;
    if (source < 0) return;
    require_itself(source);
    View view = view_of(out, numbers...);
    if (received_at_once(view, tag)) return;
    met.add(false), *request = met.count;
    taken.add({view, nullptr, tag, met.count});
}

template <class... Memory> void wait_all(const int64_t *numbers, int64_t count, int64_t stride, int64_t, Memory *...)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t number = numbers[k * stride];
        if (number && !met[number - 1]) waits_for_itself();
    }
}

template <class T, class... N> void send(const T *x, int64_t to, int64_t tag, N... numbers)
{
    if (to < 0) return;
    require_itself(to);
    if (!sent_at_once(view_of(x, numbers...), tag)) waits_for_itself();
}

template <class T, class... N> void receive(T *out, int64_t source, int64_t tag, N... numbers)
{
    if (source < 0) return;
    require_itself(source);
    if (!received_at_once(view_of(out, numbers...), tag)) waits_for_itself();
}

template <class T, class... N> void send_receive(const T *x, T *out, int64_t to, int64_t source, int64_t tag, N... numbers)
{
    const int64_t all[] = {int64_t(numbers)...};
    Numbers rest = {all};
    group(rest);
    View given = view(rest, x, sizeof(T)), view_of_out = view(rest, out, sizeof(T));
    require_itself(to), require_itself(source);
    bool is_sent = to < 0 || sent_at_once(given, tag);
    if (!is_sent) sent.add({given, copied(given), tag, 0});
    if (source >= 0 && !received_at_once(view_of_out, tag)) waits_for_itself();
    if (!is_sent && source < 0) waits_for_itself();
}
} // namespace dcpy
#endif
