// Loops whose shares are known: each iteration runs once, in a team of four. Prints the number of iterations that did not.
extern "C" int printf(const char *, ...);

int main()
{
    const long lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 64, 999}, chunks[] = {1, 3, 8, 2000};
    long wrong = 0;
    for (long n : lengths) {
        for (long chunk : chunks) {
            int seen[1000] = {};
#pragma omp parallel num_threads(4)
            {
#pragma omp for schedule(static, chunk) nowait
                for (long i = 0; i < n; i++)
#pragma omp atomic
                    seen[i]++;
#pragma omp for schedule(static) nowait
                for (long i = -n; i < 0; i++)
#pragma omp atomic
                    seen[-i - 1]++;
#pragma omp for schedule(static) nowait
                for (unsigned i = n; i > 0; i--)
#pragma omp atomic
                    seen[i - 1]++;
#pragma omp for collapse(2) schedule(static) nowait
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < 2; j++)
#pragma omp atomic
                        seen[i]++;
            }
#pragma omp for nowait
            for (long i = 0; i < n; i++) seen[i]++;
            for (long i = 0; i < 1000; i++) wrong += seen[i] != (i < n ? 6 : 0);
        }
    }
    printf("%ld\n", wrong);
}
