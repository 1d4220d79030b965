"""Loops that somebody has unrolled, arrays under two names, and functions that are called."""

import math


def sum_in_five_parts(a):
    s = 0.0
    for i in range(0, len(a) - 4, 5):
        s += a[i] + a[i + 1] + a[i + 2] + a[i + 3] + a[i + 4]
    return s


def update_by_four(a, b, s):
    for i in range(0, len(a) - 3, 4):
        a[i] += s * b[i]
        a[i + 1] += s * b[i + 1]
        a[i + 2] += s * b[i + 2]
        a[i + 3] += s * b[i + 3]


def gathered_by_two(a, b, q):
    for i in range(0, len(a) - 1, 2):
        a[i] = b[q[i]] * 2.0
        a[i + 1] = b[q[i + 1]] * 2.0


def inner_product_by_four(a, b):
    s = 0.0
    for i in range(0, len(a) - 3, 4):
        s = s + a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3]
    return s


def view_that_is_ahead(a, b):
    x = a[1:]
    for i in range(len(x)):
        a[i] = x[i] + b[i]


def view_that_is_behind(a, b):
    x = a[1:]
    for i in range(len(x)):
        x[i] = a[i] + b[i]


def view_far_ahead(a, b):
    half = len(a) // 2
    x = a[half:]
    for i in range(half):
        a[i] = x[i] * b[i]


def plane_as_a_line(A, b):
    x = A.reshape(-1)
    for i in range(len(b)):
        x[i] += b[i]


def _smooth(a, b, i):
    return (a[i] + b[i]) * 0.5


def function_of_arrays(a, b, c):
    for i in range(len(a)):
        c[i] = _smooth(a, b, i)


def _add_from(a, b, k):
    for i in range(len(a) - 1):
        a[i] = b[i + k] + 1.0


def function_with_a_loop(a, b):
    _add_from(a, b, 1)


def functions_of_mathematics(a, b):
    for i in range(len(a)):
        a[i] = math.sin(b[i]) + math.cos(b[i]) * math.exp(-b[i])


def roots(a, b, c):
    for i in range(len(a)):
        a[i] = math.sqrt(b[i]) + c[i] ** 2
