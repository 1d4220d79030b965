"""What any vectorizer must do: element by element, with and without scalars, in one and two dimensions."""


def assigned(a, b):
    for i in range(len(a)):
        a[i] = b[i]


def added(a, b, c):
    for i in range(len(a)):
        a[i] = b[i] + c[i]


def added_in_place(a, b):
    for i in range(len(a)):
        a[i] += b[i]


def multiplied_in_place(a, b):
    for i in range(len(a)):
        a[i] *= b[i]


def triad(a, b, c, s):
    for i in range(len(a)):
        a[i] = b[i] + s * c[i]


def product_and_sum(a, b, c, d):
    for i in range(len(a)):
        a[i] = a[i] + b[i] * c[i] + d[i]


def filled(a, s):
    for i in range(len(a)):
        a[i] = s


def swapped(a, b):
    for i in range(len(a)):
        x = a[i]
        a[i] = b[i]
        b[i] = x


def polynomial(a, b):
    for i in range(len(a)):
        a[i] = ((b[i] * 0.5 + 1.0) * b[i] - 2.0) * b[i] + 3.0


def plane_added(A, B):
    n = len(A)
    for i in range(n):
        for j in range(n):
            A[i, j] += B[i, j] * 2.0


def outer_product(A, b, c):
    for i in range(len(b)):
        for j in range(len(c)):
            A[i, j] = b[i] * c[j]


def three_point_average(a, b):
    for i in range(1, len(a) - 1):
        a[i] = (b[i - 1] + b[i] + b[i + 1]) * 0.333
