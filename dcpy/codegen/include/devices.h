// What host code asks of a device, through the table that the runtime attaches (dcpy_table.h). The first command that
// fails says what became of the call: those behind it do nothing.

// The device of this program: none, until the runtime has attached one.
static inline dcpy_device *&dcpy_attached()
{
    static dcpy_device *device;
    return device;
}

// The commands of the call that this thread is in: their status, and whether the device has done all of them.
struct dcpy_commands {
    int32_t status, depth, failure;  // failure: the number of the call of a library that did not work
    bool done;
    void *stream;  // of the next call; null: the program's own one
};

static inline dcpy_commands &dcpy_own_commands()
{
    static thread_local dcpy_commands commands;
    return commands;
}

extern "C" int sched_yield() noexcept;

// Whether a call has the device.
static inline bool &dcpy_turn()
{
    static bool taken;
    return taken;
}

// The next call of this thread runs on a stream of the process.
static inline void dcpy_on_stream(void *stream) { dcpy_own_commands().stream = stream; }

// A device serves one call at a time: other threads wait for their turn. A call inside of a call has it already.
static inline int32_t dcpy_device_enter()
{
    dcpy_commands &own = dcpy_own_commands();
    if (own.depth++ == 0)
        while (__atomic_exchange_n(&dcpy_turn(), true, __ATOMIC_ACQUIRE)) sched_yield();
    const int32_t before = own.status;
    dcpy_device *device = dcpy_attached();
    own.status = device == nullptr ? DCPY_DEVICE_LOST : own.depth > 1 ? DCPY_DONE : device->use_stream(device, own.stream);
    own.stream = nullptr;
    own.failure = 0;
    return before;
}

// What the host has given the device to read and to write is the host's again.
static inline void dcpy_device_leave(int32_t before)
{
    dcpy_commands &own = dcpy_own_commands();
    dcpy_device *device = dcpy_attached();
    int64_t numbers[5];
    if (!own.done && device != nullptr && device->wait(device) == DCPY_DONE) device->failed(device, numbers);
    own.done = true;
    own.status = before;
    if (--own.depth == 0) __atomic_store_n(&dcpy_turn(), false, __ATOMIC_RELEASE);
}

// What the host has given the device to read may change from here on.
static inline void dcpy_device_wait()
{
    dcpy_commands &own = dcpy_own_commands();
    if (own.status == DCPY_DONE) own.status = dcpy_attached()->wait(dcpy_attached());
}

// Waits. 0; or the check that failed on the device, with its numbers; or one of the two for failures of the device.
static inline int32_t dcpy_device_finish(int64_t *error, int32_t no_memory, int32_t lost)
{
    dcpy_commands &own = dcpy_own_commands();
    dcpy_device *device = dcpy_attached();
    int64_t numbers[5] = {0, 0, 0, 0, 0};
    if (own.status == DCPY_DONE) own.status = device->wait(device);
    if (own.status == DCPY_DONE) own.status = device->failed(device, numbers);
    own.done = own.status == DCPY_DONE;
    for (int k = 0; k < 4; ++k) error[k] = numbers[k + 1];
    if (own.status != DCPY_DONE) return own.status == DCPY_OUT_OF_MEMORY ? no_memory : own.failure ? own.failure : lost;
    return (int32_t)numbers[0];
}

// Nobody waits for what has been asked for, unless it could not be.
static inline int32_t dcpy_device_end(int32_t no_memory, int32_t lost)
{
    dcpy_commands &own = dcpy_own_commands();
    own.done = own.status == DCPY_DONE;
    if (own.done) return 0;
    return own.status == DCPY_OUT_OF_MEMORY ? no_memory : lost;
}

// Host memory into which calls that nobody waits for copy the error block; null: none has yet.
static inline int64_t *&dcpy_mailbox()
{
    static int64_t *mailbox;
    return mailbox;
}

// What is known of earlier calls that nobody has waited for: 0, or the check that failed in one, as `dcpy_device_finish`.
static inline int32_t dcpy_device_recall(int64_t *error, int32_t no_memory, int32_t lost)
{
    volatile int64_t *const mailbox = dcpy_mailbox();
    if (mailbox == nullptr || mailbox[0] == 0) return 0;
    const int32_t status = dcpy_device_finish(error, no_memory, lost);
    mailbox[0] = 0;
    return status;
}

// Whether commands may be given; then there is something to wait for.
static inline bool dcpy_commanding()
{
    dcpy_commands &own = dcpy_own_commands();
    if (own.status != DCPY_DONE) return false;
    own.done = false;
    return true;
}

// Memory of the device for `count` elements; `data` is null where there is none.
template <class T>
struct dcpy_device_buffer {
    T *data;

    explicit dcpy_device_buffer(int64_t count) : data(nullptr)
    {
        void *place = nullptr;
        if (!dcpy_commanding()) return;
        dcpy_own_commands().status =
            count >> 48 ? DCPY_OUT_OF_MEMORY : dcpy_attached()->allocate(dcpy_attached(), count*(int64_t)sizeof(T), &place);
        data = (T *)place;
    }
    ~dcpy_device_buffer()
    {
        if (data != nullptr) dcpy_attached()->release(dcpy_attached(), data);
    }
    dcpy_device_buffer(const dcpy_device_buffer &) = delete;
};

static inline void dcpy_transfer(void *to, const void *from, size_t bytes, int32_t way)
{
    if (bytes != 0 && dcpy_commanding())
        dcpy_own_commands().status = dcpy_attached()->copy(dcpy_attached(), to, from, (int64_t)bytes, way);
}

// Strides are in elements.
template <int N>
static inline void dcpy_transfer_box(void *to, const void *from, size_t item, int32_t way, const int64_t (&shape)[N],
                                     const int64_t (&to_strides)[N], const int64_t (&from_strides)[N])
{
    int64_t there[N], here[N];
    for (int k = 0; k < N; ++k) {
        if (shape[k] <= 0) return;
        there[k] = to_strides[k]*(int64_t)item;
        here[k] = from_strides[k]*(int64_t)item;
    }
    if (dcpy_commanding())
        dcpy_own_commands().status =
            dcpy_attached()->copy_box(dcpy_attached(), to, from, (int64_t)item, N, shape, there, here, way);
}

// Numbers of blocks and of threads are along x, y and z; a grid without blocks is none.
template <class... T>
static inline void dcpy_launch(int32_t kernel, const int64_t (&blocks)[3], const int32_t (&threads)[3], T... args)
{
    void *places[] = {(void *)&args..., nullptr};
    if (blocks[0] > 0 && blocks[1] > 0 && blocks[2] > 0 && dcpy_commanding())
        dcpy_own_commands().status =
            dcpy_attached()->launch(dcpy_attached(), kernel, blocks, threads, 0, places);
}

// Whether launches can be recorded as graphs: all launches between `begin` and `end`, which run when one replays them.
static inline bool dcpy_has_graphs()
{
    return dcpy_attached() != nullptr && dcpy_attached()->graph_begin != nullptr;
}

static inline void dcpy_graph_begin(int64_t graph)
{
    if (dcpy_commanding()) dcpy_own_commands().status = dcpy_attached()->graph_begin(dcpy_attached(), (int32_t)graph);
}

static inline void dcpy_graph_end(int64_t graph)
{
    if (dcpy_commanding()) dcpy_own_commands().status = dcpy_attached()->graph_end(dcpy_attached(), (int32_t)graph);
}

static inline void dcpy_graph_replay(int64_t graph)
{
    if (dcpy_commanding()) dcpy_own_commands().status = dcpy_attached()->graph_replay(dcpy_attached(), (int32_t)graph);
}

// A function of a library; `failure` is the number of what is reported where it does not work.
static inline void dcpy_call_library(int32_t failure, int32_t function, const int64_t *numbers,
                                     const dcpy_factor *factors, void *const *places)
{
    if (!dcpy_commanding()) return;
    dcpy_commands &own = dcpy_own_commands();
    own.status = dcpy_attached()->libraries->call(dcpy_attached()->libraries, dcpy_attached(), function, numbers,
                                                  factors, places);
    if (own.status != DCPY_DONE) own.failure = failure;
}

// c = alpha*op(a)*op(b) + beta*c
static inline void dcpy_gemm(int32_t failure, int64_t type, int64_t op_a, int64_t op_b, int64_t m, int64_t n, int64_t k,
                             dcpy_factor alpha, dcpy_factor alpha_i, const void *a, int64_t lda, const void *b,
                             int64_t ldb, dcpy_factor beta, dcpy_factor beta_i, void *c, int64_t ldc)
{
    const int64_t numbers[] = {type, op_a, op_b, m, n, k, lda, ldb, ldc};
    const dcpy_factor factors[] = {alpha, alpha_i, beta, beta_i};
    void *const places[] = {(void *)a, (void *)b, c};
    dcpy_call_library(failure, DCPY_GEMM, numbers, factors, places);
}

// As many products as `count` says, of matrices at these distances.
static inline void dcpy_gemm_batched(int32_t failure, int64_t type, int64_t op_a, int64_t op_b, int64_t m, int64_t n,
                                     int64_t k, dcpy_factor alpha, dcpy_factor alpha_i, const void *a, int64_t lda,
                                     int64_t far_a, const void *b, int64_t ldb, int64_t far_b, dcpy_factor beta,
                                     dcpy_factor beta_i, void *c, int64_t ldc, int64_t far_c, int64_t count)
{
    const int64_t numbers[] = {type, op_a, op_b, m, n, k, lda, ldb, ldc, far_a, far_b, far_c, count};
    const dcpy_factor factors[] = {alpha, alpha_i, beta, beta_i};
    void *const places[] = {(void *)a, (void *)b, c};
    dcpy_call_library(failure, DCPY_GEMM_BATCHED, numbers, factors, places);
}

// One half of c = alpha*op(a)*op(a)^T + beta*c
static inline void dcpy_syrk(int32_t failure, int64_t type, int64_t lower, int64_t op, int64_t n, int64_t k,
                             dcpy_factor alpha, dcpy_factor alpha_i, const void *a, int64_t lda, dcpy_factor beta,
                             dcpy_factor beta_i, void *c, int64_t ldc)
{
    const int64_t numbers[] = {type, lower, op, n, k, lda, ldc};
    const dcpy_factor factors[] = {alpha, alpha_i, beta, beta_i};
    void *const places[] = {(void *)a, c};
    dcpy_call_library(failure, DCPY_SYRK, numbers, factors, places);
}

// b = op(a)^-1*b with a triangle a; on the right: b = b*op(a)^-1
static inline void dcpy_trsm(int32_t failure, int64_t type, int64_t right, int64_t lower, int64_t op, int64_t unit,
                             int64_t m, int64_t n, const void *a, int64_t lda, void *b, int64_t ldb)
{
    const int64_t numbers[] = {type, right, lower, op, unit, m, n, lda, ldb};
    const dcpy_factor factors[] = {1, 0};
    void *const places[] = {(void *)a, b};
    dcpy_call_library(failure, DCPY_TRSM, numbers, factors, places);
}

// y = alpha*op(a)*x + beta*y
static inline void dcpy_gemv(int32_t failure, int64_t type, int64_t op, int64_t m, int64_t n, dcpy_factor alpha,
                             dcpy_factor alpha_i, const void *a, int64_t lda, const void *x, int64_t step_x,
                             dcpy_factor beta, dcpy_factor beta_i, void *y, int64_t step_y)
{
    const int64_t numbers[] = {type, op, m, n, lda, step_x, step_y};
    const dcpy_factor factors[] = {alpha, alpha_i, beta, beta_i};
    void *const places[] = {(void *)a, (void *)x, y};
    dcpy_call_library(failure, DCPY_GEMV, numbers, factors, places);
}

// a = alpha*x*y^T + a
static inline void dcpy_ger(int32_t failure, int64_t type, int64_t m, int64_t n, dcpy_factor alpha, dcpy_factor alpha_i,
                            const void *x, int64_t step_x, const void *y, int64_t step_y, void *a, int64_t lda)
{
    const int64_t numbers[] = {type, m, n, step_x, step_y, lda};
    const dcpy_factor factors[] = {alpha, alpha_i};
    void *const places[] = {(void *)x, (void *)y, a};
    dcpy_call_library(failure, DCPY_GER, numbers, factors, places);
}

// *result = sum(x*y)
static inline void dcpy_dot(int32_t failure, int64_t type, int64_t n, const void *x, int64_t step_x, const void *y,
                            int64_t step_y, void *result)
{
    const int64_t numbers[] = {type, n, step_x, step_y};
    void *const places[] = {(void *)x, (void *)y, result};
    dcpy_call_library(failure, DCPY_DOT, numbers, nullptr, places);
}

// a = l*l^H, in one triangle
static inline void dcpy_potrf(int32_t failure, int64_t type, int64_t lower, int64_t n, void *a, int64_t lda, void *info)
{
    const int64_t numbers[] = {type, lower, n, lda};
    void *const places[] = {a, info};
    dcpy_call_library(failure, DCPY_POTRF, numbers, nullptr, places);
}

// p*a = l*u
static inline void dcpy_getrf(int32_t failure, int64_t type, int64_t m, int64_t n, void *a, int64_t lda, void *pivots,
                              void *info)
{
    const int64_t numbers[] = {type, m, n, lda};
    void *const places[] = {a, pivots, info};
    dcpy_call_library(failure, DCPY_GETRF, numbers, nullptr, places);
}

// b = a^-1*b, with what getrf has made of a
static inline void dcpy_getrs(int32_t failure, int64_t type, int64_t op, int64_t n, int64_t columns, const void *a,
                              int64_t lda, const void *pivots, void *b, int64_t ldb)
{
    const int64_t numbers[] = {type, op, n, columns, lda, ldb};
    void *const places[] = {(void *)a, (void *)pivots, b};
    dcpy_call_library(failure, DCPY_GETRS, numbers, nullptr, places);
}

// a = q*r, with reflections for q below the diagonal
static inline void dcpy_geqrf(int32_t failure, int64_t type, int64_t m, int64_t n, void *a, int64_t lda, void *tau,
                              void *info)
{
    const int64_t numbers[] = {type, m, n, lda};
    void *const places[] = {a, tau, info};
    dcpy_call_library(failure, DCPY_GEQRF, numbers, nullptr, places);
}

// q, from reflections
static inline void dcpy_orgqr(int32_t failure, int64_t type, int64_t m, int64_t n, int64_t count, void *a, int64_t lda,
                              const void *tau, void *info)
{
    const int64_t numbers[] = {type, m, n, count, lda};
    void *const places[] = {a, (void *)tau, info};
    dcpy_call_library(failure, DCPY_ORGQR, numbers, nullptr, places);
}

// a = v*diag(w)*v^H
static inline void dcpy_syevd(int32_t failure, int64_t type, int64_t vectors, int64_t lower, int64_t n, void *a,
                              int64_t lda, void *w, void *info)
{
    const int64_t numbers[] = {type, vectors, lower, n, lda};
    void *const places[] = {a, w, info};
    dcpy_call_library(failure, DCPY_SYEVD, numbers, nullptr, places);
}

// a = u*diag(s)*vt
static inline void dcpy_gesvd(int32_t failure, int64_t type, int64_t vectors, int64_t m, int64_t n, void *a, int64_t lda,
                              void *s, void *u, int64_t ldu, void *vt, int64_t ldvt, void *info)
{
    const int64_t numbers[] = {type, vectors, m, n, lda, ldu, ldvt};
    void *const places[] = {a, s, u, vt, info};
    dcpy_call_library(failure, DCPY_GESVD, numbers, nullptr, places);
}

// Transforms outer*inner lines of n points.
static inline void dcpy_fft(int32_t failure, int64_t type, int64_t kind, const void *x, void *y, int64_t n, int64_t outer,
                            int64_t xo, int64_t yo, int64_t inner, int64_t xi, int64_t yi, int64_t xk, int64_t yk)
{
    const int64_t numbers[] = {type, kind, n, outer, xo, yo, inner, xi, yi, xk, yk};
    void *const places[] = {(void *)x, y};
    dcpy_call_library(failure, DCPY_FFT, numbers, nullptr, places);
}

// The device's memory for the first check that fails.
static inline int64_t *dcpy_errors() { return dcpy_attached() == nullptr ? nullptr : dcpy_attached()->errors; }

// From now on, commands are for this device.
static inline void dcpy_attach(void *device) { dcpy_attached() = (dcpy_device *)device; }

// A check that has failed so far stops every kernel from here on, also the next launch of its own.
static inline void dcpy_device_seal()
{
    if (dcpy_commanding())
        dcpy_own_commands().status = dcpy_attached()->fill(dcpy_attached(), (char *)dcpy_errors() + 4, 0, 4);
}

// Nobody waits for what has been asked for; a later call finds in the mailbox whether a check has failed.
static inline int32_t dcpy_device_defer(int32_t no_memory, int32_t lost)
{
    dcpy_commands &own = dcpy_own_commands();
    void *place = nullptr;
    if (dcpy_mailbox() == nullptr && dcpy_commanding()) {
        own.status = dcpy_attached()->pin(dcpy_attached(), 5*sizeof(int64_t), &place);
        dcpy_mailbox() = (int64_t *)place;
        if (place != nullptr) dcpy_mailbox()[0] = 0;
    }
    if (dcpy_mailbox() != nullptr) dcpy_transfer(dcpy_mailbox(), dcpy_errors(), 5*sizeof(int64_t), DCPY_TO_HOST);
    return dcpy_device_end(no_memory, lost);
}
