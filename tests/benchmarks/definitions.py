"""Kernels written out as plain loops over elements, from their definitions: `LOOPS[name](**arguments)`."""

import itertools

import numpy as np

LOOPS = {}


def loops(function):
    LOOPS[function.__name__] = function
    return function


def grid(*sizes):
    return itertools.product(*map(range, sizes))


def product(a, b):
    return np.array(
        [[sum(a[i, k] * b[k, j] for k in range(b.shape[0])) for j in range(b.shape[1])] for i in range(len(a))]
    )


@loops
def atax(A, x):
    m, n = A.shape
    y = np.zeros(n)
    for i in range(m):
        inner = sum(A[i, j] * x[j] for j in range(n))
        for j in range(n):
            y[j] += A[i, j] * inner
    return y


@loops
def bicg(A, p, r):
    n, m = A.shape
    return (
        np.array([sum(r[i] * A[i, j] for i in range(n)) for j in range(m)]),
        np.array([sum(A[i, j] * p[j] for j in range(m)) for i in range(n)]),
    )


@loops
def mvt(x1, x2, y_1, y_2, A):
    for i, j in grid(*A.shape):
        x1[i] += A[i, j] * y_1[j]
        x2[i] += A[j, i] * y_2[j]


@loops
def gesummv(alpha, beta, A, B, x):
    return np.array([sum((alpha * A[i, j] + beta * B[i, j]) * x[j] for j in range(len(x))) for i in range(len(x))])


@loops
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = len(x)
    for i, j in grid(n, n):
        A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        x[i] += sum(beta * A[j, i] * y[j] for j in range(n)) + z[i]
    for i in range(n):
        w[i] += sum(alpha * A[i, j] * x[j] for j in range(n))


@loops
def gemm(alpha, beta, C, A, B):
    C[:] = alpha * product(A, B) + beta * C


@loops
def k2mm(alpha, beta, A, B, C, D):
    D[:] = product(alpha * product(A, B), C) + beta * D


@loops
def k3mm(A, B, C, D):
    return product(product(A, B), product(C, D))


@loops
def doitgen(NR, NQ, NP, A, C4):
    for r, q in grid(NR, NQ):
        A[r, q] = [sum(A[r, q, s] * C4[s, p] for s in range(NP)) for p in range(NP)]


@loops
def symm(alpha, beta, C, A, B):
    full = np.tril(A) + np.tril(A, -1).T
    C[:] = alpha * product(full, B) + beta * C


@loops
def syrk(alpha, beta, C, A):
    update = product(A, A.T)
    for i, j in grid(*C.shape):
        if j <= i:
            C[i, j] = beta * C[i, j] + alpha * update[i, j]


@loops
def syr2k(alpha, beta, C, A, B):
    update = product(A, B.T) + product(B, A.T)
    for i, j in grid(*C.shape):
        if j <= i:
            C[i, j] = beta * C[i, j] + alpha * update[i, j]


@loops
def trmm(alpha, A, B):
    B[:] = alpha * product((np.tril(A, -1) + np.eye(len(A))).T, B)


@loops
def spmv(A_row, A_col, A_val, x):
    y = np.zeros(len(A_row) - 1)
    for i in range(len(y)):
        for k in range(int(A_row[i]), int(A_row[i + 1])):
            y[i] += A_val[k] * x[A_col[k]]
    return y


@loops
def go_fast(a):
    return a + sum(np.tanh(a[i, i]) for i in range(len(a)))


@loops
def compute(array_1, array_2, a, b, c):
    out = np.zeros_like(array_1)
    for at in grid(*array_1.shape):
        out[at] = min(max(array_1[at], 2), 10) * a + array_2[at] * b + c
    return out


@loops
def floyd_warshall(path):
    for k, i, j in grid(*[len(path)] * 3):
        path[i, j] = min(path[i, j], path[i, k] + path[k, j])


@loops
def mandelbrot1(xmin, xmax, ymin, ymax, XN, YN, maxiter, horizon):
    Z, N = np.zeros((YN, XN), complex), np.zeros((YN, XN), int)
    for y, x in grid(YN, XN):
        c = complex(np.linspace(xmin, xmax, XN)[x], np.linspace(ymin, ymax, YN)[y])
        for n in range(maxiter):
            if abs(Z[y, x]) < horizon:
                N[y, x] = n
                Z[y, x] = Z[y, x] ** 2 + c
        N[y, x] = 0 if N[y, x] == maxiter - 1 else N[y, x]
    return Z, N


@loops
def mandelbrot2(xmin, xmax, ymin, ymax, XN, YN, maxiter, horizon):
    Z, N = np.zeros((YN, XN), complex), np.zeros((YN, XN), int)
    for y, x in grid(YN, XN):
        c = complex(np.linspace(xmin, xmax, XN)[x], np.linspace(ymin, ymax, YN)[y])
        z = 0j
        for n in range(maxiter):
            z = z**2 + c
            if abs(z) > horizon:
                Z[y, x], N[y, x] = z, n + 1
                break
    return Z, N


@loops
def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    (nk, ne, na, _, _), (nq, nw, _, nb, n3, _) = G.shape, D.shape
    for k, e, q, w, i, j, a, b in grid(nk, ne, nq, nw, n3, n3, na, nb):
        if w <= e:
            Sigma[k, e, a] += (
                product(product(G[k, e - w, neigh_idx[a, b]], dH[a, b, i]), dH[a, b, j]) * D[q, w, a, b, i, j]
            )
