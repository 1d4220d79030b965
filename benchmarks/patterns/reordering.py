"""Statements that have to change places, and loops that have to be divided, before they are parallel."""


def reader_before_the_writer(a, b, c, d):
    for i in range(1, len(a)):
        a[i] = b[i - 1] + c[i] * d[i]
        b[i] = c[i] * 2.0


def writer_reads_what_follows(a, b, c, d):
    for i in range(1, len(a) - 1):
        a[i] = b[i - 1] + c[i]
        b[i] = b[i + 1] - d[i]


def overwritten_by_the_next(a, b, c):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i]
        a[i + 1] = b[i] * 2.0


def behind_and_reader(a, b, c):
    for i in range(1, len(a)):
        b[i] = a[i - 1] + 1.0
        a[i] = c[i] * 3.0


def sum_beside_a_recurrence(a, b, c):
    for i in range(1, len(a)):
        a[i] += b[i] * c[i]
        b[i] = b[i - 1] + a[i]


def recurrence_between_two(a, b, c, d):
    for i in range(1, len(a)):
        a[i] += b[i]
        d[i] = d[i - 1] * 0.5 + a[i]
        c[i] = d[i] * 2.0


def recurrence_that_nobody_reads(a, b, c):
    for i in range(1, len(a)):
        c[i] = c[i - 1] * b[i]
        a[i] = b[i] + 1.0


def cycle_of_two(a, b, c):
    for i in range(1, len(a)):
        a[i] = b[i - 1] + c[i]
        b[i] = a[i - 1] * c[i]


def shifted_chain(a, b, c, d):
    for i in range(2, len(a)):
        a[i] = c[i] + 1.0
        b[i] = a[i - 1] * 2.0
        d[i] = b[i - 1] + a[i - 2]


def two_sweeps(a, b, c):
    n = len(a)
    for i in range(n):
        a[i] = b[i] + c[i]
    for i in range(1, n):
        b[i] = a[i - 1] * c[i]


def rows_and_a_sum_of_them(A, b, c):
    n = len(b)
    for i in range(n):
        b[i] = c[i] * 2.0
        for j in range(n):
            A[i, j] += b[i]


def row_update_and_recurrence(A, B, b):
    n = len(b)
    for i in range(1, n):
        b[i] = b[i - 1] * 0.5 + 1.0
        for j in range(n):
            A[i, j] = B[i, j] * b[i]
