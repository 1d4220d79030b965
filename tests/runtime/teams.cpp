// Teams of two on clocks that the work itself moves: whether a team rests depends on nothing else.
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>

extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();

static std::atomic<int64_t> wall;
static thread_local int64_t own;

struct Time { long seconds, more; };

static int read_clock(int clock, Time *now)
{
    const int64_t time = clock == 1 || clock == 6 ? wall.load() : own;
    *now = {time/1000000000, time%1000000000};
    return 0;
}

#define clock_gettime(clock, now) read_clock(clock, (Time *)(now))
#include "teams.cpp.h"

static std::atomic<int> first_is_done;
static int threads;

// The first thread works for 50 microseconds; the other one, behind it, works or waits for a processor for 3 milliseconds.
static void call(int64_t works, int64_t waits)
{
    first_is_done = 0;
    dcpy_team([&] {
        if (omp_get_thread_num() == 0) {
            threads = omp_get_num_threads();
            own += 50000;
            wall += 50000;
            first_is_done = 1;
        } else {
            while (!first_is_done) usleep(100);
            usleep(2000);
            own += works;
            wall += works + waits;
        }
    });
}

static int calls_in_teams(int calls, int64_t works, int64_t waits)
{
    int teams = 0;
    for (int k = 0; k < calls; k++) {
        call(works, waits);
        teams += threads == 2;
    }
    return teams;
}

int main()
{
    printf("work is uneven: %d of 20\n", calls_in_teams(20, 3000000, 0));
    const int before = calls_in_teams(60, 0, 3000000);
    printf("processors are taken: %s\n", before < 20 ? "rests" : "tries all the time");
    wall += 1000000000;
    printf("later: %d of 20\n", calls_in_teams(20, 50000, 0));
}
