/* OpenMP for ThreadSanitizer: what generated code calls of GNU's runtime, over POSIX threads.
 *
 * ThreadSanitizer knows pthread_create, pthread_join and mutexes; it does not know how libgomp wakes its threads and
 * waits for them, and would report every array that one parallel loop writes and the next one reads. Here each team is
 * made of new threads and joined, so that what OpenMP orders is ordered for the sanitizer too, and nothing else is:
 * two threads of one team that touch the same element are reported. Loaded before libgomp, with LD_PRELOAD.
 */
#include <pthread.h>
#include <stdlib.h>

typedef struct {
    void (*run)(void *);
    void *data;
    int number, count;
} Member;

static __thread int my_number = 0, my_count = 0; /* a count of 0: outside of every team */
static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER, atomic = PTHREAD_MUTEX_INITIALIZER;

static int threads(void) {
    const char *asked = getenv("OMP_NUM_THREADS");
    const int count = asked ? atoi(asked) : 0;
    return count > 0 ? count : 4;
}

static void *work(void *given) {
    const Member *member = given;
    my_number = member->number;
    my_count = member->count;
    member->run(member->data);
    return NULL;
}

/* `#pragma omp parallel`; inside of a team, and with one thread, the caller does it alone. */
void GOMP_parallel(void (*run)(void *), void *data, unsigned asked, unsigned flags) {
    const int outer_number = my_number, outer_count = my_count;
    const int count = outer_count ? 1 : asked ? (int)asked : threads();
    Member *members = malloc(sizeof(Member) * count);
    pthread_t *started = malloc(sizeof(pthread_t) * count);
    (void)flags;
    for (int i = 0; i < count; i++) members[i] = (Member){run, data, i, count};
    for (int i = 1; i < count; i++)
        if (pthread_create(&started[i], NULL, work, &members[i])) abort();
    work(&members[0]);
    for (int i = 1; i < count; i++) pthread_join(started[i], NULL);
    my_number = outer_number;
    my_count = outer_count;
    free(started);
    free(members);
}

int omp_get_thread_num(void) { return my_number; }
int omp_get_num_threads(void) { return my_count ? my_count : 1; }
int omp_get_max_threads(void) { return threads(); }
void omp_set_num_threads(int count) { (void)count; }

void GOMP_critical_start(void) { pthread_mutex_lock(&critical); }
void GOMP_critical_end(void) { pthread_mutex_unlock(&critical); }
void GOMP_atomic_start(void) { pthread_mutex_lock(&atomic); }
void GOMP_atomic_end(void) { pthread_mutex_unlock(&atomic); }
