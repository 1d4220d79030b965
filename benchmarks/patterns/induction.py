"""Induction variables, symbolic strides and offsets: numbers that grow with the iterations and index arrays."""


def counts_along(a, b):
    j = -1
    for i in range(len(a) // 2):
        j += 1
        a[j] = b[i] + 1.0


def counts_by_two(a, b):
    j = 0
    for i in range(len(b) // 2):
        a[j] = b[i]
        j += 2


def counts_down(a, b, n):
    k = n
    for i in range(n):
        k -= 1
        a[i] += b[k]


def counts_twice_in_a_step(a, b):
    j = -1
    for i in range(len(a) // 2):
        j += 1
        a[j] = b[i] * 2.0
        j += 1
        a[j] = b[i] + 3.0


def counts_through_a_plane(line, A):
    k = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            line[k] += A[i, j]
            k += 1


def counts_in_triangles(a, b, m):
    k = 0
    for i in range(m):
        for j in range(i):
            a[k] = b[j] + 1.0
            k += 1


def counts_where_positive(a, b, c):
    j = -1
    for i in range(len(a) // 2):
        if b[i] > 0.5:
            j += 1
            a[j] = b[i] + c[i]
        else:
            j += 1
            a[j] = c[i] * 2.0


def steps_by_an_argument(a, b, z):
    for i in range(0, len(a), z):
        a[i] += b[i]


def offset_by_an_argument(a, b, k):
    for i in range(len(a) - k):
        a[i] = a[i + k] + b[i]


def offset_that_is_a_bound(a, b, k):
    for i in range(k):
        a[i + k] = a[i] + b[i]


def starts_at_an_argument(a, b, k):
    for i in range(k, len(a)):
        a[i] = a[i - k] + b[i]


def strided_in_both(a, b, z):
    for i in range(len(a) // 4):
        a[z * i] += b[z * i]


def product_of_counters(A, b):
    n = len(b)
    for i in range(n):
        for j in range(n):
            A[i, j] = b[j] * (i * n + j)


def grows_by_a_value(a, b, s):
    x = 0.0
    for i in range(len(a)):
        x += s
        a[i] = x * b[i]


def reads_the_iteration(a, b):
    for i in range(len(a)):
        a[i] = b[i] * i


def doubles_each_time(a, b):
    k = 1
    while k < len(a):
        a[k] += b[k]
        k *= 2
