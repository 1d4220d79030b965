"""Node splitting: a value is read before another iteration overwrites it, so that a copy of it frees the loop."""


def old_value_of_the_next(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] *= c[i]
        b[i] += a[i + 1] * d[i]


def both_neighbours(a, b, c):
    for i in range(1, len(a) - 1):
        b[i] = a[i - 1] + a[i + 1]
        a[i] = c[i] * 2.0


def through_a_scalar(a, b, c, d):
    for i in range(len(a) - 1):
        x = b[i] + c[i]
        a[i] = x + d[i]
        b[i] = a[i + 1] * x


def new_and_old(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i]
        d[i] = (a[i] + a[i + 1]) * 0.5


def overwritten_and_read_ahead(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] * c[i] + d[i]
        b[i] = d[i] - a[i + 1]


def average_in_place(a):
    for i in range(len(a) - 1):
        a[i] = 0.5 * (a[i] + a[i + 1])


def four_in_turn(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i + 1] + c[i]
        b[i] = c[i + 1] * d[i]
        c[i] = d[i + 1] + 1.0


def sum_of_neighbours_in_a_plane(A, b):
    n = len(b)
    for i in range(n - 1):
        for j in range(n):
            A[i, j] = A[i + 1, j] * b[j]
