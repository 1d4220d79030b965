// One pool of threads: OpenBLAS, the one of programs and NumPy's own, runs its jobs on the team of OpenMP, which runs the
// parallel maps of programs.
//
// With pools of their own there are more threads that want to run than processors: after each call the workers of
// OpenBLAS spin for a tenth of a second, and maps and products wait for each other's time slices
// (docs/decisions/0125). Nothing is linked: a program that was loaded brings OpenMP and its BLAS, and this file finds
// their functions in it, as it finds those of NumPy's BLAS behind NumPy.
//
// The jobs of one call wait for each other, so each needs a thread. Where a team would be too small (inside a parallel
// map, in a child of a fork, or where OpenMP was given fewer threads) they run on threads of this file, which sleep
// between calls.
#include "pool.h"

#include <dlfcn.h>
#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace dcpy {

namespace {

using Job = void (*)(int thread, void *job, int argument);
using RunJobs = void (*)(int waits, Job run, int count, size_t size, void *jobs, int argument);

// Functions of OpenMP: GNU's entry of a parallel region, which LLVM's library has too.
struct OpenMP {
    void (*parallel)(void (*body)(void *), void *data, unsigned threads, unsigned flags);
    int (*thread)();
    int (*threads)();
    int (*most)();
    int (*inside)();
};

OpenMP omp;

struct Call {
    Job run;
    int count;
    size_t size;
    char *jobs;
    int argument;
    bool was_run;

    void one(int thread) const { run(thread, jobs + size * static_cast<size_t>(thread), argument); }
};

// What has no place in a team: the caller, and threads that sleep until they are needed.
class Others {
  public:
    void run(const Call &call) {
        std::unique_lock<std::mutex> lock(state_);
        for (; threads_ < call.count - 1; ++threads_) std::thread(&Others::serve, this, threads_ + 1, turn_).detach();
        call_ = call;
        left_ = call.count - 1;
        ++turn_;
        begin_.notify_all();
        lock.unlock();
        call.one(0);
        lock.lock();
        end_.wait(lock, [this] { return left_ == 0; });
    }

  private:
    void serve(int thread, unsigned long seen) {
        std::unique_lock<std::mutex> lock(state_);
        for (;;) {
            begin_.wait(lock, [&] { return turn_ != seen; });
            seen = turn_;
            if (thread >= call_.count) continue;
            const Call call = call_;
            lock.unlock();
            call.one(thread);
            lock.lock();
            if (--left_ == 0) end_.notify_one();
        }
    }

    std::mutex state_;
    std::condition_variable begin_, end_;
    Call call_ = {};
    int threads_ = 0, left_ = 0;
    unsigned long turn_ = 0;  // how many calls there were
};

// Never destroyed: threads may sleep in it when the process ends, and in a child of a fork their memory stays behind.
struct Pool {
    std::mutex one_call;  // OpenBLAS has one buffer for each number of a thread: calls of two Python threads take turns
    Others others;
};

Pool *pool = nullptr;

void member(void *data) {
    Call *call = static_cast<Call *>(data);
    if (omp.threads() != call->count) return;
    const int thread = omp.thread();
    if (thread == 0) call->was_run = true;
    call->one(thread);
}

void run_jobs(int, Job run, int count, size_t size, void *jobs, int argument) {
    const std::lock_guard<std::mutex> taken(pool->one_call);
    Call call = {run, count, size, static_cast<char *>(jobs), argument, false};
    if (count <= omp.most() && !omp.inside()) omp.parallel(member, &call, static_cast<unsigned>(count), 0);
    if (!call.was_run) pool->others.run(call);
}

template <typename Function>
bool find(void *library, const char *name, Function &found) {
    found = reinterpret_cast<Function>(dlsym(library, name));
    return found != nullptr;
}

bool find_openmp(void *library) {
    OpenMP found;
    if (!find(library, "GOMP_parallel", found.parallel) || !find(library, "omp_get_thread_num", found.thread) ||
        !find(library, "omp_get_num_threads", found.threads) || !find(library, "omp_get_max_threads", found.most) ||
        !find(library, "omp_in_parallel", found.inside))
        return false;
    omp = found;
    pool = new Pool;
    pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });  // the child has none of the threads
    return true;
}

bool hook(void *library, const char *name) {
    void (*set)(RunJobs) = nullptr;
    if (!library || !find(library, name, set)) return false;
    set(run_jobs);
    return true;
}

// The library that NumPy is in; behind it is NumPy's BLAS.
void *numpy_library() {
    Dl_info place;
    return dladdr(&PyArray_Type, &place) ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

PyObject *share_pool(PyObject *, PyObject *handle) {
    void *library = PyLong_AsVoidPtr(handle);
    if (!library && PyErr_Occurred()) return nullptr;
    static bool has_openmp = false, is_shared = false, is_numpys_shared = false;
    if (!has_openmp && (has_openmp = find_openmp(library)))
        is_numpys_shared = hook(numpy_library(), "scipy_openblas_set_threads_callback_function64_");
    if (has_openmp && !is_shared) is_shared = hook(library, "scipy_openblas_set_threads_callback_function");
    return Py_BuildValue("NN", PyBool_FromLong(is_shared), PyBool_FromLong(is_numpys_shared));
}

}  // namespace

PyMethodDef pool_methods[] = {
    {"share_pool", share_pool, METH_O,
     "Whether programs' OpenBLAS and NumPy's run on the threads of OpenMP: from when a loaded library, given by its "
     "handle, brings what is needed."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace dcpy
