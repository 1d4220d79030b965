"""Indirect addressing: which element it is, another array says. `p` is a permutation, `q` has any places."""


def gathered(a, b, q):
    for i in range(len(a)):
        a[i] = b[q[i]]


def gathered_and_added(a, b, c, q):
    for i in range(len(a)):
        a[i] += b[q[i]] * c[i]


def inner_product_of_a_gather(a, b, q):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[q[i]]
    return s


def scattered(a, b, p):
    for i in range(len(b)):
        a[p[i]] = b[i]


def scattered_sum(a, b, q):
    for i in range(len(b)):
        a[q[i]] += b[i]


def histogram(h, a):
    for i in range(len(a)):
        h[int(a[i] * 64.0)] += 1


def permuted_in_place(a, b, p):
    for i in range(len(b)):
        a[p[i]] = a[p[i]] * 2.0 + b[i]


def gathered_from_itself(a, b, q):
    half = len(a) // 2
    for i in range(half):
        a[i] = a[half + q[i] // 2] + b[i]


def gathered_twice(a, b, q, p):
    for i in range(len(a)):
        a[i] = b[q[p[i]]]


def gathered_with_a_shift(a, b, q, k):
    for i in range(len(a)):
        a[i] = b[(q[i] + k) % len(b)]


def sparse_product(y, v, r, q, x):
    for i in range(len(y)):
        s = 0.0
        for j in range(r[i], r[i + 1]):
            s += v[j] * x[q[j]]
        y[i] = s


def gathered_where(a, b, c, q):
    for i in range(len(a)):
        if c[i] > 0.5:
            a[i] = b[q[i]]
