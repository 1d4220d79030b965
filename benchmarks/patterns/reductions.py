"""Reductions: sums, products, extrema with and without their places, under conditions, several at once."""

import numpy as np


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def product(a):
    p = 1.0
    for i in range(len(a)):
        p *= a[i]
    return p


def inner_product(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


def two_totals(a, b):
    s = 0.0
    t = 0.0
    for i in range(len(a)):
        s += a[i]
        t += a[i] * b[i]
    return s + t


def total_of_those_above(a):
    s = 0.0
    for i in range(len(a)):
        if a[i] > 0.5:
            s += a[i]
    return s


def count_of_those_above(a):
    k = 0
    for i in range(len(a)):
        if a[i] > 0.5:
            k += 1
    return k


def total_while_storing(a, b, c):
    s = 0.0
    for i in range(len(a)):
        a[i] = b[i] * c[i]
        s += a[i]
    return s


def maximum(a):
    x = a[0]
    for i in range(1, len(a)):
        if a[i] > x:
            x = a[i]
    return x


def minimum_by_function(a):
    x = a[0]
    for i in range(1, len(a)):
        x = min(x, a[i])
    return x


def maximum_of_sizes(a):
    x = 0.0
    for i in range(len(a)):
        x = max(x, abs(a[i]))
    return x


def place_of_the_maximum(a):
    x = a[0]
    k = 0
    for i in range(1, len(a)):
        if a[i] > x:
            x = a[i]
            k = i
    return x + k


def place_of_the_minimum(a):
    x = a[0]
    k = 0
    for i in range(len(a)):
        if a[i] < x:
            k = i
            x = a[i]
    return k


def place_of_the_last_maximum(a):
    x = a[0]
    k = 0
    for i in range(len(a)):
        if a[i] >= x:
            x = a[i]
            k = i
    return k


def place_of_the_largest_size(a):
    x = abs(a[0])
    k = 0
    for i in range(len(a)):
        if abs(a[i]) > x:
            x = abs(a[i])
            k = i
    return k


def place_with_a_stride(a):
    x = a[0]
    k = 0
    for i in range(len(a) // 2):
        if a[2 * i] > x:
            x = a[2 * i]
            k = i
    return x * k


def maximum_in_a_plane(A):
    x = A[0, 0]
    k = 0
    l = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > x:
                x = A[i, j]
                k = i
                l = j
    return x + k + l


def maximum_of_a_plane(A):
    x = A[0, 0]
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > x:
                x = A[i, j]
    return x


def both_extrema(a):
    x = a[0]
    y = a[0]
    for i in range(len(a)):
        if a[i] > x:
            x = a[i]
        if a[i] < y:
            y = a[i]
    return x - y


def any_negative(a):
    found = False
    for i in range(len(a)):
        if a[i] < 0.0:
            found = True
    return found


def all_below(a):
    good = True
    for i in range(len(a)):
        good = good and a[i] < 2.0
    return good


def difference_of_two(a, b):
    x = 0.0
    for i in range(len(a)):
        d = abs(a[i] - b[i])
        if d > x:
            x = d
    return x


def total_going_down(a, b):
    s = 0.0
    for i in range(len(a) - 1, -1, -1):
        s -= a[i] / (b[i] + 1.0)
    return s


def total_in_a_temporary(a, b):
    s = np.zeros(1)
    for i in range(len(a)):
        x = a[i] + b[i]
        s[0] = s[0] + x * x
    return s


def horner(a, s):
    x = 0.0
    for i in range(len(a)):
        x = x * s + a[i]
    return x
