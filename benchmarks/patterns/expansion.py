"""Scalars that each iteration needs for itself, that carry a value to the next, or that are two in one name."""


def temporary(a, b, c):
    for i in range(len(a)):
        s = b[i] * c[i]
        a[i] = s + s * s


def temporary_of_an_array(a, b, c):
    x = a.copy()
    for i in range(len(a)):
        x[0] = b[i] + c[i]
        a[i] = x[0] * x[0]


def value_of_the_one_before(a, b):
    x = b[len(b) - 1]
    for i in range(len(a)):
        a[i] = (b[i] + x) * 0.5
        x = b[i]


def values_of_the_two_before(a, b):
    n = len(a)
    x = b[n - 1]
    y = b[n - 2]
    for i in range(n):
        a[i] = (b[i] + x + y) * 0.333
        y = x
        x = b[i]


def sum_with_the_one_before(a, b, c):
    t = 0.0
    for i in range(len(a)):
        s = b[i] + c[i]
        a[i] = s + t
        t = s


def carried_product(a, b, c):
    s = 1.0
    for i in range(len(a)):
        s *= c[i]
        a[i] = s + b[i]


def running_sum_of_two(a, b, c):
    s = 0.0
    for i in range(len(a)):
        s += b[i] + c[i]
        a[i] = s


def one_name_two_values(a, b, c, d):
    for i in range(len(a)):
        t = a[i] + b[i]
        c[i] = t * 2.0
        t = a[i] * b[i]
        d[i] = t + 1.0


def reused_behind_the_loop(a, b, c):
    t = 0.0
    for i in range(len(a)):
        t = a[i] + b[i]
        c[i] = t * t
    return t


def last_value_of_a_condition(a, b, c):
    t = 0.0
    for i in range(len(a)):
        if b[i] > 0.5:
            t = b[i]
        c[i] = a[i] * 2.0
    return t


def index_of_the_one_before(a, b):
    n = len(a)
    k = n - 1
    for i in range(n):
        a[i] = (b[i] + b[k]) * 0.5
        k = i


def indices_of_the_two_before(a, b):
    n = len(a)
    k = n - 1
    l = n - 2
    for i in range(n):
        a[i] = (b[i] + b[k] + b[l]) * 0.333
        l = k
        k = i


def first_iteration_is_special(a, b, c):
    for i in range(len(a)):
        if i == 0:
            a[i] = b[i]
        else:
            a[i] = b[i] + c[i - 1]


def last_iteration_is_special(a, b, c):
    n = len(a)
    for i in range(n):
        if i < n - 1:
            a[i] = b[i] + c[i + 1]
        else:
            a[i] = b[i]


def first_element_everywhere(a, b):
    for i in range(len(a)):
        a[i] = a[0] + b[i]


def half_and_half(a, b, c, k):
    for i in range(len(a)):
        if i < k:
            a[i] = b[i]
        else:
            a[i] = c[i]


def crosses_a_threshold(a, b, c):
    n = len(a)
    for i in range(n):
        x = a[n - i - 1] + b[i] * c[i]
        a[i] = x - 1.0
        b[i] = x


def temporary_row(A, B, w):
    n = len(A)
    for i in range(n):
        for j in range(n):
            w[j] = A[i, j] * 2.0
        for j in range(1, n):
            B[i, j] = w[j] + w[j - 1]
