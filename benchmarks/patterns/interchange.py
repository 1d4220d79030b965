"""Nests whose loops change places, or are walked along diagonals, before one of them is parallel."""


def recurrence_along_columns(A, B):
    n = len(A)
    for i in range(n):
        for j in range(1, n):
            A[j, i] = A[j - 1, i] + B[j, i]


def recurrence_along_rows(A, B):
    n = len(A)
    for i in range(n):
        for j in range(1, n):
            A[i, j] = A[i, j - 1] + B[i, j]


def product_along_columns(A, B):
    n = len(A)
    for j in range(1, n):
        for i in range(n):
            A[j, i] = A[j - 1, i] * B[j, i]


def triangle_along_rows(A, B):
    n = len(A)
    for j in range(n):
        for i in range(1, j + 1):
            A[j, i] = A[j, i - 1] * A[j, i - 1] + B[j, i]


def two_recurrences_across(A, B, C):
    n = len(A)
    for i in range(1, n):
        for j in range(1, n):
            A[j, i] = A[j - 1, i] + C[j, i]
            B[j, i] = B[j, i - 1] + C[j, i]


def element_for_each_row(a, A, B):
    n = len(A)
    for i in range(n):
        a[i] += B[i, i]
        for j in range(1, n):
            A[j, i] = A[j - 1, i] + B[j, i] * a[i]


def sums_of_columns(a, A):
    n = len(A)
    for i in range(n):
        for j in range(n):
            a[j] += A[i, j]


def sums_of_rows(a, A):
    n = len(A)
    for i in range(n):
        for j in range(n):
            a[i] += A[i, j]


def product_of_matrices(A, B, C):
    n = len(A)
    for i in range(n):
        for j in range(n):
            for k in range(n):
                A[i, j] += B[i, k] * C[k, j]


def wavefront(A):
    n = len(A)
    for i in range(1, n):
        for j in range(1, n):
            A[i, j] = A[i - 1, j] + A[i, j - 1]


def main_diagonal(A, B, C):
    for i in range(len(A)):
        A[i, i] += B[i, i] * C[i, i]


def diagonals(A, B):
    n = len(A)
    for i in range(n):
        A[i, n - 1 - i] = B[i, i]


def identity_matrix(A):
    n = len(A)
    for i in range(n):
        for j in range(n):
            A[i, j] = 0.0
        A[i, i] = 1.0


def transposition(A, B):
    n = len(A)
    for i in range(n):
        for j in range(n):
            A[i, j] = B[j, i]


def transposed_update(A, B):
    n = len(A)
    for i in range(n):
        for j in range(i):
            A[i, j] = A[j, i] + B[i, j]


def three_planes(A, B, C):
    n = len(A)
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            C[i, j] = A[i - 1, j] + A[i + 1, j] - B[i, j - 1]
