// Streams: queues between processes, which are threads that wait for each other and for nothing else.

extern "C" int pthread_create(unsigned long *thread, const void *attributes, void *(*start)(void *), void *argument);
extern "C" int pthread_join(unsigned long thread, void **result);
extern "C" int pthread_mutex_init(void *mutex, const void *attributes) noexcept;
extern "C" int pthread_mutex_destroy(void *mutex) noexcept;
extern "C" int pthread_mutex_lock(void *mutex) noexcept;
extern "C" int pthread_mutex_unlock(void *mutex) noexcept;
extern "C" int pthread_cond_init(void *condition, const void *attributes) noexcept;
extern "C" int pthread_cond_destroy(void *condition) noexcept;
extern "C" int pthread_cond_signal(void *condition) noexcept;
extern "C" int pthread_cond_wait(void *condition, void *mutex);

// A thread that sleeps until the other end of a stream goes on; all those of a network form a list.
struct dcpy_sleeper {
    alignas(16) char signal[64];  // room for a pthread_cond_t
    dcpy_sleeper *next = nullptr;
    bool awake = false;

    dcpy_sleeper() { pthread_cond_init(signal, nullptr); }
    ~dcpy_sleeper() { pthread_cond_destroy(signal); }
    dcpy_sleeper(const dcpy_sleeper &) = delete;
};

// Where one end of a stream sleeps; the other end looks whether the seat is taken each time that it has moved on.
struct dcpy_seat {
    dcpy_sleeper *sleeper;
    int32_t taken;
};

// What the processes of one network share: how many can go on, and who sleeps. Nobody can go on: it is over.
struct dcpy_schedule {
    alignas(16) char mutex[64];  // room for a pthread_mutex_t
    int64_t running = 0;
    dcpy_sleeper *sleepers = nullptr;
    bool over = false;

    dcpy_schedule() { pthread_mutex_init(mutex, nullptr); }
    ~dcpy_schedule() { pthread_mutex_destroy(mutex); }
    dcpy_schedule(const dcpy_schedule &) = delete;

    // One less can go on; under the lock.
    void leave()
    {
        if (--running > 0) return;
        over = true;
        for (dcpy_sleeper *each = sleepers; each != nullptr; each = each->next) pthread_cond_signal(each->signal);
    }
};

// One process: its closure stands behind it in memory.
struct dcpy_process {
    dcpy_schedule *schedule;
    dcpy_process *next;
    int32_t (*call)(void *closure, int64_t *numbers);
    unsigned long thread;
    int64_t numbers[4];  // of the message of its failure
    int32_t status;
    bool endless, started, stuck;
};

// The process that this thread runs; null in a program that runs alone.
static inline dcpy_process *&dcpy_process_here()
{
    static thread_local dcpy_process *here;
    return here;
}

// Sleeps until the other end of a stream calls `dcpy_wake`; false where nobody is left who could. It may have been woken
// for what happened before it slept: ask `ready` again.
template <class F>
static inline bool dcpy_sleep(dcpy_process *process, dcpy_seat &seat, F ready)
{
    dcpy_schedule *const schedule = process->schedule;
    dcpy_sleeper me;
    pthread_mutex_lock(schedule->mutex);
    seat.sleeper = &me;
    __atomic_store_n(&seat.taken, 1, __ATOMIC_SEQ_CST);  // before the last look: whoever comes after it will wake us
    if (!ready()) {
        me.next = schedule->sleepers;
        schedule->sleepers = &me;
        schedule->leave();
        while (!me.awake && !schedule->over) pthread_cond_wait(me.signal, schedule->mutex);
        dcpy_sleeper **link = &schedule->sleepers;
        while (*link != &me) link = &(*link)->next;
        *link = me.next;
        process->stuck = !me.awake;
    }
    if (!me.awake) {  // else the one who woke us did so
        seat.sleeper = nullptr;
        __atomic_store_n(&seat.taken, 0, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(schedule->mutex);
    return !process->stuck;
}

// Waits until `ready()`: looks a few times, then sleeps. False where nobody is left who could make it so.
template <class F>
static inline bool dcpy_wait(dcpy_seat &seat, F ready)
{
    dcpy_process *const process = dcpy_process_here();
    do {
        for (int look = 0; look < 200; look++)
            if (ready()) return true;
    } while (process != nullptr && dcpy_sleep(process, seat, ready));
    return false;
}

// Wakes whoever sleeps there. The one who wakes counts it as running: it cannot take the network for dead.
static inline void dcpy_wake(dcpy_seat &seat)
{
    dcpy_schedule *const schedule = dcpy_process_here()->schedule;
    pthread_mutex_lock(schedule->mutex);
    if (seat.sleeper != nullptr) {
        seat.sleeper->awake = true;
        schedule->running++;
        pthread_cond_signal(seat.sleeper->signal);
        seat.sleeper = nullptr;
        __atomic_store_n(&seat.taken, 0, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(schedule->mutex);
}

// A piece of a stream's memory: the one who pushes makes it, the one who pops frees it.
template <class T>
struct dcpy_piece {
    dcpy_piece *next;
    T items[256];
};

// A queue with one end for each of two threads, on cache lines of their own. `capacity` 0 is unbounded.
template <class T>
struct dcpy_stream {
    alignas(64) int64_t pushed;  // written by who pushes, as `last` and what it has seen of the other end
    int64_t popped_seen;
    dcpy_piece<T> *last;
    alignas(64) int64_t popped;  // written by who pops; `first` by who pushes, once
    int64_t pushed_seen;
    dcpy_piece<T> *first;
    alignas(64) int64_t capacity;
    dcpy_seat pusher, popper;  // where either of them sleeps
};

// Pushes: 0 where that is done, 1 where there will never be room, 2 where there is no memory.
template <class T>
static inline int32_t dcpy_push(dcpy_stream<T> *stream, T value)
{
    const int64_t place = stream->pushed;
    const auto has_room = [=] {
        stream->popped_seen = __atomic_load_n(&stream->popped, __ATOMIC_SEQ_CST);
        return place - stream->popped_seen < stream->capacity;
    };
    if (stream->capacity > 0 && place - stream->popped_seen >= stream->capacity)
        if (!dcpy_wait(stream->pusher, has_room)) return 1;
    if (place % 256 == 0) {
        dcpy_piece<T> *const piece = (dcpy_piece<T> *)dcpy_allocate(1, sizeof(dcpy_piece<T>));
        if (piece == nullptr) return 2;
        piece->next = nullptr;
        (stream->last == nullptr ? stream->first : stream->last->next) = piece;
        stream->last = piece;
    }
    stream->last->items[place % 256] = value;
    __atomic_store_n(&stream->pushed, place + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&stream->popper.taken, __ATOMIC_SEQ_CST)) dcpy_wake(stream->popper);
    return 0;
}

// Pops into `value`: 0 where that is done, 1 where there will never be an element.
template <class T>
static inline int32_t dcpy_pop(dcpy_stream<T> *stream, T *value)
{
    const int64_t place = stream->popped;
    const auto has_element = [=] {
        stream->pushed_seen = __atomic_load_n(&stream->pushed, __ATOMIC_SEQ_CST);
        return place < stream->pushed_seen;
    };
    if (place >= stream->pushed_seen)
        if (!dcpy_wait(stream->popper, has_element)) return 1;
    if (place % 256 == 0 && place > 0) {
        dcpy_piece<T> *const piece = stream->first;
        stream->first = piece->next;
        free(piece);
    }
    *value = stream->first->items[place % 256];
    __atomic_store_n(&stream->popped, place + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&stream->pusher.taken, __ATOMIC_SEQ_CST)) dcpy_wake(stream->pusher);
    return 0;
}

// An array of streams; `data` is null where there is no memory.
template <class T>
struct dcpy_streams {
    dcpy_stream<T> *const data;
    const int64_t count;

    dcpy_streams(int64_t size, int64_t capacity)
        : data((dcpy_stream<T> *)dcpy_allocate(size, sizeof(dcpy_stream<T>))), count(data == nullptr ? 0 : size)
    {
        for (int64_t k = 0; k < count; k++) {
            __builtin_memset(&data[k], 0, sizeof(data[k]));
            data[k].capacity = capacity;
        }
    }
    ~dcpy_streams()
    {
        for (int64_t k = 0; k < count; k++)
            while (data[k].first != nullptr) {
                dcpy_piece<T> *const piece = data[k].first;
                data[k].first = piece->next;
                free(piece);
            }
        free(data);
    }
    dcpy_streams(const dcpy_streams &) = delete;
};

// Runs a process to its end.
static inline void *dcpy_live(void *argument)
{
    dcpy_process *const process = (dcpy_process *)argument;
    dcpy_process *const before = dcpy_process_here();
    dcpy_process_here() = process;
    process->status = process->call(process + 1, process->numbers);
    dcpy_process_here() = before;
    pthread_mutex_lock(process->schedule->mutex);
    process->schedule->leave();
    pthread_mutex_unlock(process->schedule->mutex);
    return nullptr;
}

// A network of processes: each gets a thread, but for the first, which runs in that of the caller.
struct dcpy_network {
    dcpy_schedule schedule;
    dcpy_process *first = nullptr, **end = &first;
    bool complete = true;

    dcpy_network() = default;
    dcpy_network(const dcpy_network &) = delete;
    ~dcpy_network()
    {
        while (first != nullptr) {
            dcpy_process *const next = first->next;
            free(first);
            first = next;
        }
    }

    // Adds a process; it starts when all do.
    template <class F>
    void add(bool endless, F closure)
    {
        dcpy_process *const process = (dcpy_process *)dcpy_allocate(1, sizeof(dcpy_process) + sizeof(F));
        if (process == nullptr) {
            complete = false;
            return;
        }
        *process = {&schedule, nullptr, nullptr, 0, {}, 0, endless, false, false};
        process->call = [](void *its, int64_t *numbers) { return (*(F *)its)(numbers); };
        __builtin_memcpy((void *)(process + 1), (void *)&closure, sizeof(F));
        *end = process;
        end = &process->next;
        schedule.running++;
    }

    // Runs all; the status of the first that failed, else of the first that waits for ever and is not endless, else 0.
    int32_t run(int64_t *error, int32_t no_threads)
    {
        if (!complete) return no_threads;
        for (dcpy_process *each = first; each != nullptr; each = each->next) {
            if (each == first) continue;
            each->started = pthread_create(&each->thread, nullptr, dcpy_live, each) == 0;
            if (!each->started) {
                each->status = no_threads;
                pthread_mutex_lock(schedule.mutex);
                schedule.leave();
                pthread_mutex_unlock(schedule.mutex);
            }
        }
        if (first != nullptr) dcpy_live(first);
        for (dcpy_process *each = first; each != nullptr; each = each->next)
            if (each->started) pthread_join(each->thread, nullptr);
        const dcpy_process *stopped = nullptr;
        for (const dcpy_process *each = first; each != nullptr; each = each->next) {
            const bool counts = each->status != 0 && !(each->stuck && each->endless);
            if (counts && (stopped == nullptr || (stopped->stuck && !each->stuck))) stopped = each;
        }
        if (stopped == nullptr) return 0;
        for (int k = 0; k < 4; k++) error[k] = stopped->numbers[k];
        return stopped->status;
    }
};

// Keeps the numbers of a failure for the thread that reports it.
static inline int32_t dcpy_report(int32_t status, const int64_t *error, int64_t *numbers)
{
    for (int k = 0; k < 4; k++) numbers[k] = error[k];
    return status;
}
