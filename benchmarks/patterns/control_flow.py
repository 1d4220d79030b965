"""Conditions in loops: masks, branches that depend on data, and loops that some condition ends."""


def where_positive(a, b, c):
    for i in range(len(a)):
        if b[i] > 0.5:
            a[i] += b[i] * c[i]


def if_and_else(a, b, c, d):
    for i in range(len(a)):
        if a[i] > b[i]:
            a[i] += b[i] * d[i]
        else:
            b[i] = a[i] + d[i] * c[i]


def nested_conditions(a, b, c, d):
    for i in range(len(a)):
        if a[i] > 0.5:
            if b[i] > c[i]:
                a[i] = b[i] * d[i]
            else:
                a[i] = c[i]
        else:
            b[i] = d[i]


def condition_on_what_was_written(a, b, c):
    for i in range(len(a)):
        a[i] -= b[i] * c[i]
        if a[i] < 0.0:
            a[i] = b[i]


def skips_some(a, b, c):
    for i in range(len(a)):
        if b[i] < 0.25:
            continue
        a[i] = b[i] + c[i]


def condition_of_an_argument(a, b, c, k):
    for i in range(len(a)):
        a[i] += b[i]
        if k > 0:
            c[i] = a[i] * 2.0


def condition_on_a_scalar(a, b, c, s):
    for i in range(len(a)):
        if s > 0.5:
            a[i] += b[i]
        else:
            a[i] += c[i]


def absolute_values(a, b):
    for i in range(len(a)):
        x = b[i] - 0.5
        if x < 0.0:
            x = -x
        a[i] = x


def clipped(a, b):
    for i in range(len(a)):
        a[i] = min(max(b[i], 0.25), 0.75)


def chosen_of_three(a, b, c, d):
    for i in range(len(a)):
        if d[i] < 0.3:
            a[i] = b[i]
        elif d[i] < 0.6:
            a[i] = c[i]
        else:
            a[i] = b[i] * c[i]


def condition_that_reads_ahead(a, b, c):
    for i in range(len(a) - 1):
        if c[i + 1] > 0.5:
            a[i] = a[i + 1] + b[i]


def recurrence_under_a_condition(a, b):
    for i in range(1, len(a)):
        if b[i] > 0.5:
            a[i] = a[i - 1] * b[i]


def restarted_recurrence(a, b, c):
    for i in range(1, len(a)):
        if c[i] > 0.5:
            a[i] = b[i]
        else:
            a[i] = a[i - 1] + b[i]


def condition_in_a_plane(A, B, b):
    n = len(b)
    for i in range(n):
        if b[i] > 0.5:
            for j in range(1, n):
                A[i, j] = B[i, j] * b[i]


def rows_with_a_recurrence_where(A, B, b):
    n = len(b)
    for i in range(n):
        if b[i] > 0.5:
            for j in range(1, n):
                A[j, i] = A[j - 1, i] + B[j, i]


def guarded_division(a, b, c):
    for i in range(len(a)):
        if c[i] != 0.0:
            a[i] = b[i] / c[i]


def both_sides_write(a, b, c, s):
    for i in range(len(a)):
        t = c[i] * s
        a[i] = b[i] + t if t > 0.5 else b[i] - t


def stops_at_a_value(a, b, c):
    for i in range(len(a)):
        a[i] += b[i] * c[i]
        if c[i] > 0.999:
            break


def stops_before_a_value(a, b, c):
    for i in range(len(a)):
        if c[i] > 0.999:
            break
        a[i] += b[i]
