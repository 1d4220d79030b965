"""Recurrences: each element is made of those before it."""


def running_total(a, b):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + b[i]


def running_product(a, b):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * b[i]


def running_maximum(a, b):
    for i in range(1, len(a)):
        a[i] = max(a[i - 1], b[i])


def running_total_going_down(a, b):
    for i in range(len(a) - 2, -1, -1):
        a[i] = a[i + 1] + b[i]


def linear_of_first_order(a, b, c):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * b[i] + c[i]


def linear_with_a_constant(a, b):
    for i in range(1, len(a)):
        a[i] = 0.5 * a[i - 1] + b[i]


def linear_of_second_order(a, b, c):
    for i in range(2, len(a)):
        a[i] = a[i] + a[i - 1] * b[i] + a[i - 2] * c[i]


def not_linear(a, b):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * a[i - 1] * 0.25 + b[i] * 0.5


def smoothed(a, b, s):
    x = 0.0
    for i in range(len(a)):
        x = x + s * (b[i] - x)
        a[i] = x


def running_count(a, b, m):
    k = 0
    for i in range(len(a)):
        if b[i] > 0.5:
            k += 1
        a[i] = k * 1.0
