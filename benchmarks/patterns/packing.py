"""Searching, packing and unpacking: how many elements are taken is known only when they have been looked at."""


def packed(a, b):
    k = 0
    for i in range(len(b)):
        if b[i] > 0.5:
            a[k] = b[i]
            k += 1
    return k


def packed_with_a_value(a, b, c):
    k = 0
    for i in range(len(b)):
        if b[i] > 0.5:
            a[k] = b[i] * c[i]
            k += 1
    return k


def packed_places(q, b):
    k = 0
    for i in range(len(b)):
        if b[i] > 0.5:
            q[k] = i
            k += 1
    return k


def unpacked(a, b):
    k = 0
    for i in range(len(a)):
        if a[i] > 0.5:
            a[i] = b[k]
            k += 1


def packed_in_two(a, b, c):
    k = 0
    l = 0
    for i in range(len(c)):
        if c[i] > 0.5:
            a[k] = c[i]
            k += 1
        else:
            b[l] = c[i]
            l += 1
    return k


def first_above(a):
    k = -1
    for i in range(len(a)):
        if a[i] > 0.999:
            k = i
            break
    return k


def last_above(a):
    k = -1
    for i in range(len(a)):
        if a[i] > 0.999:
            k = i
    return k


def last_below_with_value(a):
    k = -1
    x = -1.0
    for i in range(len(a)):
        if a[i] < 0.5:
            k = i
            x = a[i]
    return x + k


def first_equal(a, s):
    for i in range(len(a)):
        if a[i] == s:
            return i
    return -1
