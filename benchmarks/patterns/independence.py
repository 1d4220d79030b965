"""Linear dependence testing: which elements of one array two accesses of a loop meet at, if at all."""


def every_second(a, b):
    for i in range(0, len(a) - 1, 2):
        a[i] = b[i] + 1.0


def odd_from_even(a, b):
    for i in range(1, len(a), 2):
        a[i] = a[i - 1] + b[i]


def ahead(a, b):
    for i in range(len(a) - 1):
        a[i] = a[i + 1] + b[i]


def backwards_ahead(a, b):
    for i in range(len(a) - 2, -1, -1):
        a[i + 1] = a[i] + b[i]


def from_the_other_half(a, b):
    half = len(a) // 2
    for i in range(half):
        a[i] = a[i + half] + b[i]


def into_the_other_half(a, b):
    half = len(a) // 2
    for i in range(half):
        a[i + half] = a[i] + b[i]


def far_behind(a, b):
    for i in range(4, len(a)):
        a[i] = a[i - 4] + b[i]


def reversed_copy(a, b):
    n = len(a)
    for i in range(n):
        a[i] = b[n - i - 1] * 2.0


def mirrored_halves(a, b):
    n = len(a)
    for i in range(n // 2):
        a[i] = a[n - i - 1] + b[i]


def mirrored_in_place(a):
    n = len(a)
    for i in range(n):
        a[i] = a[n - i - 1] + 1.0


def lower_triangle_scaled(A, b):
    for j in range(len(b)):
        for i in range(j + 1, len(b)):
            A[i, j] = A[j, i] + b[j]


def triangular_solve_by_columns(A, b):
    for j in range(len(b)):
        for i in range(j + 1, len(b)):
            b[i] -= A[j, i] * b[j]


def triangular_solve_by_rows(A, b):
    for i in range(1, len(b)):
        for j in range(i):
            b[i] += A[i, j] * b[j]


def diagonal_neighbours(A, B):
    n = len(A)
    for i in range(1, n):
        for j in range(1, n):
            A[i, j] = A[i - 1, j - 1] + B[i, j]


def row_above(A, B):
    n = len(A)
    for i in range(1, n):
        for j in range(n):
            A[i, j] = A[i - 1, j] + B[i, j]


def other_row_of_two(A):
    for j in range(A.shape[1]):
        A[1, j] = A[0, j] * 2.0


def same_element_of_a_row(A, b):
    n = len(b)
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, 0] + b[j]


def from_a_fixed_element(a, b):
    for i in range(1, len(a)):
        a[i] = a[0] * b[i]


def read_where_the_middle_is_written(a, b):
    middle = len(a) // 2
    for i in range(len(a)):
        a[i] = a[middle] + b[i]
